-- Golden cases, their versions, and runs of retrieval over them.

CREATE TABLE golden_cases (
    collection_id         uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    case_id               uuid NOT NULL,
    owner_id              text NOT NULL,
    query                 text NOT NULL,
    query_key             text NOT NULL,             -- a hash of the normalised question: no index holds a long one
    relevant_document_ids uuid[] NOT NULL,           -- no foreign key: a deleted document leaves a case to be mended
    expected_answer       text NOT NULL,
    category              text NOT NULL CHECK (category IN ('factual', 'causal', 'temporal', 'multi_part')),
    difficulty            text NOT NULL CHECK (difficulty IN ('easy', 'medium', 'hard')),
    tags                  text[] NOT NULL DEFAULT '{}',
    last_validated_at     timestamptz NOT NULL DEFAULT now(),
    created_at            timestamptz NOT NULL DEFAULT clock_timestamp(),  -- the order of a file that is imported
    updated_at            timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection_id, case_id),
    UNIQUE (collection_id, query_key)
);
CREATE INDEX ON golden_cases (case_id);
CREATE INDEX ON golden_cases (collection_id, created_at, case_id);

CREATE TABLE golden_versions (
    collection_id uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    number        integer NOT NULL CHECK (number > 0),
    owner_id      text NOT NULL,
    name          text NOT NULL,
    content_hash  text NOT NULL,
    case_count    integer NOT NULL,
    cases         jsonb NOT NULL,                    -- the rows of that moment: never changed
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection_id, number)
);

CREATE TABLE evaluation_runs (
    collection_id   uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    run_id          uuid NOT NULL,
    owner_id        text NOT NULL,
    name            text NOT NULL,
    status          text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    version         integer,                         -- of the golden cases; null: those of the moment
    golden_hash     text NOT NULL,
    config          jsonb NOT NULL,
    embedding_model text NOT NULL,
    config_hash     text NOT NULL,
    warnings        text[] NOT NULL DEFAULT '{}',
    done            integer NOT NULL DEFAULT 0,
    total           integer NOT NULL,
    summary         jsonb,
    reason          text NOT NULL DEFAULT '',
    cause           text NOT NULL DEFAULT '',
    ticket          uuid NOT NULL DEFAULT gen_random_uuid(),  -- another one with every worker that takes it in hand
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at      timestamptz,
    finished_at     timestamptz,
    PRIMARY KEY (collection_id, run_id)
);
CREATE INDEX ON evaluation_runs (run_id);
CREATE INDEX ON evaluation_runs (owner_id, created_at DESC, run_id DESC);

-- The cases of a run, copied when it is ordered: what is changed meanwhile is another run's. No document's text is here.
CREATE TABLE evaluation_results (
    collection_id          uuid NOT NULL,
    run_id                 uuid NOT NULL,
    position               integer NOT NULL,
    owner_id               text NOT NULL,
    case_id                uuid NOT NULL,
    query                  text NOT NULL,
    category               text NOT NULL,
    difficulty             text NOT NULL,
    relevant_document_ids  uuid[] NOT NULL,
    status                 text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'measured', 'skipped')),
    retrieved_document_ids uuid[] NOT NULL DEFAULT '{}',
    missing_document_ids   uuid[] NOT NULL DEFAULT '{}',
    rank                   integer,
    metrics                jsonb NOT NULL DEFAULT '{}',
    milliseconds           double precision,
    failed                 text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (collection_id, run_id, position),
    FOREIGN KEY (collection_id, run_id) REFERENCES evaluation_runs ON DELETE CASCADE
);

CREATE FUNCTION causeway.missing_documents(collection uuid, documents uuid[]) RETURNS uuid[] STABLE LANGUAGE sql AS $$
    SELECT array(
        SELECT wanted FROM unnest(documents) AS wanted
        WHERE NOT EXISTS (SELECT FROM causeway.documents d WHERE d.collection_id = collection AND d.document_id = wanted
                          AND (d.expires_at IS NULL OR d.expires_at > now())))
$$;

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['golden_cases', 'golden_versions', 'evaluation_runs', 'evaluation_results'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;
