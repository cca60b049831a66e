-- Answers that are being streamed, and those that just were: what any process needs to go on with a stream that another
-- one makes. Unlogged: nothing here is worth a wait, and after a crash of the server there is no stream to go on with.

CREATE UNLOGGED TABLE streams (
    owner_id     text NOT NULL,
    stream_id    text NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),  -- by its maker, all the time: silent is dead
    ended_at     timestamptz,
    expires_at   timestamptz NOT NULL,                -- then it is as if it had never been
    is_cancelled boolean NOT NULL DEFAULT false,      -- by whoever; its maker stops when it sees it
    read_at      timestamptz,                         -- by another process's reader
    read_up_to   integer NOT NULL DEFAULT 0,          -- the number of the last event that such a reader was sent
    PRIMARY KEY (owner_id, stream_id)
);

CREATE UNLOGGED TABLE stream_events (
    owner_id  text NOT NULL,
    stream_id text NOT NULL,
    first     integer NOT NULL CHECK (first > 0),     -- the number of the first of these
    events    bytea[] NOT NULL,                       -- as they are sent
    PRIMARY KEY (owner_id, stream_id, first),
    FOREIGN KEY (owner_id, stream_id) REFERENCES streams ON DELETE CASCADE
);

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['streams', 'stream_events'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;

-- Nobody sees them, anybody may sweep them out: the process that made them may be gone.
CREATE POLICY expired ON streams FOR DELETE USING (expires_at < now());
