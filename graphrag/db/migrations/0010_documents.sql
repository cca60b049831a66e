-- What senders know of their collections and documents, lists a page at a time, and requests that are made again.

ALTER TABLE collections ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';
ALTER TABLE documents ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';

CREATE INDEX ON documents (collection_id, created_at, document_id);
CREATE INDEX ON ingestions (collection_id, created_at, document_id);

CREATE OR REPLACE VIEW chunk_details WITH (security_invoker = true) AS
    SELECT c.collection_id, c.chunk_id, c.chunk_index, c.content, c.start_char, c.end_char, c.window_start, c.context,
           d.document_id, d.source, d.filename, d.media_type, d.content_hash, d.language, d.title, d.created_at,
           d.source_type, d.processing_strategy, d.tags, d.expires_at,
           d.byte_count, d.authors, d.keywords, d.warnings, c.places, c.headers, c.parent_start, c.parent_end, d.metadata
    FROM chunks c JOIN documents d USING (collection_id, document_id);

CREATE OR REPLACE VIEW causal_edge_details WITH (security_invoker = true) AS
    SELECT e.collection_id, e.edge_id, e.type, e.polarity, e.confidence, e.extractor, e.quote, e.start_char, e.end_char,
           e.chunk_id, e.chunk_index, cause_id, cause.key AS cause_key, cause.name AS cause_name,
           effect_id, effect.key AS effect_key, effect.name AS effect_name,
           document_id, d.source, d.filename, d.media_type, d.content_hash, d.language, d.title, d.created_at,
           d.source_type, d.processing_strategy, d.tags, d.expires_at, d.byte_count, d.authors, d.keywords, d.warnings, d.metadata
    FROM causal_edges e
    JOIN documents d USING (collection_id, document_id)
    JOIN entities cause ON cause.collection_id = e.collection_id AND cause.entity_id = cause_id
    JOIN entities effect ON effect.collection_id = e.collection_id AND effect.entity_id = effect_id;

-- One row a key that a request was sent with. Who has it renews `held_until` while the request is done; one whose process
-- has died leaves it to the next.
CREATE TABLE idempotency_keys (
    owner_id     text NOT NULL,
    key          text NOT NULL,
    request_hash text NOT NULL,
    holder       uuid NOT NULL,
    held_until   timestamptz NOT NULL,
    response     jsonb,                            -- null: it is still being done
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (owner_id, key)
);
CREATE INDEX ON idempotency_keys (owner_id, expires_at);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON idempotency_keys USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO causeway_app;
