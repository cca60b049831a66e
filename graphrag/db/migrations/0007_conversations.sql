-- Conversations: their messages, what people think of the answers, and LangGraph's checkpoints of their threads.

CREATE TABLE conversations (
    owner_id        text NOT NULL,
    conversation_id uuid NOT NULL,
    title           text NOT NULL DEFAULT '',
    titled_by       text NOT NULL DEFAULT 'rules' CHECK (titled_by IN ('rules', 'model', 'person')),
    collection      text,                             -- the name of the one that is asked; null: the default one
    leaf_id         uuid,                             -- the last message of the branch that is shown
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),  -- retention counts from here
    PRIMARY KEY (owner_id, conversation_id)
);
CREATE INDEX ON conversations (owner_id, updated_at DESC, conversation_id DESC);

-- A tree: an edited question is a sibling of the question, another answer a sibling of the answer.
CREATE TABLE messages (
    owner_id        text NOT NULL,
    message_id      uuid NOT NULL,
    conversation_id uuid NOT NULL,
    parent_id       uuid,                             -- null: a conversation may begin more than once
    role            text NOT NULL CHECK (role IN ('user', 'assistant')),
    content         text NOT NULL,
    status          text NOT NULL CHECK (status IN ('complete', 'interrupted', 'failed', 'cancelled')),
    details         jsonb NOT NULL DEFAULT '{}',      -- of an answer: what its last event says of it, but for the text
    checkpoint_id   text,                             -- of the thread after this answer: what follows goes on from there
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (owner_id, message_id),
    UNIQUE (owner_id, conversation_id, message_id),
    FOREIGN KEY (owner_id, conversation_id) REFERENCES conversations ON DELETE CASCADE,
    FOREIGN KEY (owner_id, conversation_id, parent_id) REFERENCES messages (owner_id, conversation_id, message_id)
        ON DELETE CASCADE
);
CREATE INDEX ON messages (owner_id, conversation_id, parent_id);

CREATE TABLE feedback (
    owner_id   text NOT NULL,
    message_id uuid NOT NULL,
    citation   integer NOT NULL DEFAULT 0 CHECK (citation >= 0),  -- of the answer's, from 1; 0: the answer itself
    rating     smallint NOT NULL CHECK (rating IN (-1, 1)),
    comment    text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (owner_id, message_id, citation),
    FOREIGN KEY (owner_id, message_id) REFERENCES messages ON DELETE CASCADE
);
CREATE INDEX ON feedback (owner_id, updated_at DESC);


-- The tables of langgraph-checkpoint-postgres as its own migrations leave them, and an owner, which it does not know of: the
-- transaction's identity. A test compares them with the library's.

CREATE TABLE checkpoint_migrations (v integer PRIMARY KEY);
INSERT INTO checkpoint_migrations SELECT generate_series(0, 9);

CREATE TABLE checkpoints (
    thread_id            text NOT NULL,
    checkpoint_ns        text NOT NULL DEFAULT '',
    checkpoint_id        text NOT NULL,
    parent_checkpoint_id text,
    type                 text,
    checkpoint           jsonb NOT NULL,
    metadata             jsonb NOT NULL DEFAULT '{}',
    owner_id             text NOT NULL DEFAULT current_setting('app.user_id', true),
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE INDEX checkpoints_thread_id_idx ON checkpoints (thread_id);

CREATE TABLE checkpoint_blobs (
    thread_id     text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    channel       text NOT NULL,
    version       text NOT NULL,
    type          text NOT NULL,
    blob          bytea,
    owner_id      text NOT NULL DEFAULT current_setting('app.user_id', true),
    PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
);
CREATE INDEX checkpoint_blobs_thread_id_idx ON checkpoint_blobs (thread_id);

CREATE TABLE checkpoint_writes (
    thread_id     text NOT NULL,
    checkpoint_ns text NOT NULL DEFAULT '',
    checkpoint_id text NOT NULL,
    task_id       text NOT NULL,
    idx           integer NOT NULL,
    channel       text NOT NULL,
    type          text,
    blob          bytea NOT NULL,
    task_path     text NOT NULL DEFAULT '',
    owner_id      text NOT NULL DEFAULT current_setting('app.user_id', true),
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
CREATE INDEX checkpoint_writes_thread_id_idx ON checkpoint_writes (thread_id);

CREATE FUNCTION causeway.forget_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM causeway.checkpoints WHERE thread_id = OLD.conversation_id::text;
    DELETE FROM causeway.checkpoint_blobs WHERE thread_id = OLD.conversation_id::text;
    DELETE FROM causeway.checkpoint_writes WHERE thread_id = OLD.conversation_id::text;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_thread AFTER DELETE ON conversations FOR EACH ROW EXECUTE FUNCTION causeway.forget_thread();

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'messages', 'feedback', 'checkpoints', 'checkpoint_blobs', 'checkpoint_writes'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;
