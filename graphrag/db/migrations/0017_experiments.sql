-- Experiments: a share of a collection's conversations is answered with another configuration, and both sides are compared.

CREATE TABLE experiments (
    owner_id      text NOT NULL,
    experiment_id uuid NOT NULL,
    collection_id uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    name          text NOT NULL,
    share         double precision NOT NULL CHECK (share > 0 AND share <= 1),  -- of conversations that B answers
    retrieval     jsonb NOT NULL,                     -- of B: values of RetrievalConfig in place of the collection's
    generation    jsonb NOT NULL,                     -- of B: values of GenerationConfig
    config_hash_a text NOT NULL,                      -- of all that has a say in an answer, as it was at the start
    config_hash_b text NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    stopped_at    timestamptz,                        -- null: it runs
    PRIMARY KEY (owner_id, experiment_id)
);
CREATE UNIQUE INDEX running_experiments ON experiments (collection_id) WHERE stopped_at IS NULL;
CREATE INDEX ON experiments (collection_id);
CREATE INDEX ON experiments (owner_id, started_at DESC, experiment_id DESC);

-- Noted when an answer is begun, so that whoever leaves before its end is counted too. No text is here.
CREATE TABLE experiment_answers (
    owner_id        text NOT NULL,
    answer_id       uuid NOT NULL,
    experiment_id   uuid NOT NULL,
    variant         text NOT NULL CHECK (variant IN ('A', 'B')),
    conversation_id uuid,                             -- null: it is not kept; the answer was drawn for itself
    message_id      uuid,
    began_at        timestamptz NOT NULL DEFAULT now(),
    outcome         text CHECK (outcome IN ('complete', 'failed')),  -- null: it has not ended, or nobody waited for it
    found           boolean,
    degraded        boolean,
    supported       double precision,                 -- share of the answer's marks; null: it has none
    first_token_ms  double precision,
    total_ms        double precision,
    PRIMARY KEY (owner_id, answer_id),
    FOREIGN KEY (owner_id, experiment_id) REFERENCES experiments ON DELETE CASCADE,
    FOREIGN KEY (owner_id, conversation_id) REFERENCES conversations ON DELETE CASCADE,
    FOREIGN KEY (owner_id, message_id) REFERENCES messages ON DELETE CASCADE
);
CREATE INDEX ON experiment_answers (owner_id, experiment_id);
CREATE INDEX ON experiment_answers (owner_id, conversation_id);
CREATE INDEX ON experiment_answers (owner_id, message_id);

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['experiments', 'experiment_answers'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;
