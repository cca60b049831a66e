-- What a document's file was, where its chunks stand in it, and how far its ingestion is.

ALTER TABLE collections
    ADD COLUMN ingestion_config jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN previous_embedding_model text;       -- to go back to; its vectors are still there

ALTER TABLE documents
    ADD COLUMN byte_count bigint NOT NULL DEFAULT 0,
    ADD COLUMN authors    text[] NOT NULL DEFAULT '{}',
    ADD COLUMN keywords   text[] NOT NULL DEFAULT '{}',
    ADD COLUMN warnings   text[] NOT NULL DEFAULT '{}';

ALTER TABLE chunks
    ADD COLUMN places       jsonb  NOT NULL DEFAULT '[]',
    ADD COLUMN headers      text[] NOT NULL DEFAULT '{}',
    ADD COLUMN parent_start integer,
    ADD COLUMN parent_end   integer;

CREATE OR REPLACE VIEW chunk_details WITH (security_invoker = true) AS
    SELECT c.collection_id, c.chunk_id, c.chunk_index, c.content, c.start_char, c.end_char, c.window_start, c.context,
           d.document_id, d.source, d.filename, d.media_type, d.content_hash, d.language, d.title, d.created_at,
           d.source_type, d.processing_strategy, d.tags, d.expires_at,
           d.byte_count, d.authors, d.keywords, d.warnings, c.places, c.headers, c.parent_start, c.parent_end
    FROM chunks c JOIN documents d USING (collection_id, document_id);

-- One row a document that came as a file: its last ingestion. The document itself stays as it was until that has ended well.
CREATE TABLE ingestions (
    collection_id  uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    document_id    uuid NOT NULL,
    owner_id       text NOT NULL,
    ticket         uuid NOT NULL,                  -- another one with every upload, retry and reindexing
    source         text NOT NULL,
    filename       text NOT NULL,
    content_hash   text NOT NULL,                  -- of the file, which lies in the file storage under it
    byte_count     bigint NOT NULL,
    options        jsonb NOT NULL DEFAULT '{}',    -- tags, strategy, time to live: what its sender wants
    status         text NOT NULL CHECK (status IN ('uploaded', 'processing', 'indexed', 'error')),
    stage          text NOT NULL DEFAULT '',
    done           integer NOT NULL DEFAULT 0,     -- of `total` in this stage
    total          integer NOT NULL DEFAULT 0,
    cause          text NOT NULL DEFAULT '',       -- of an error
    reason         text NOT NULL DEFAULT '',       -- its code
    failed_batches jsonb NOT NULL DEFAULT '[]',    -- of chunks: their ids and the cause
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (collection_id, document_id)
);
CREATE INDEX ON ingestions (collection_id, content_hash);
ALTER TABLE ingestions ENABLE ROW LEVEL SECURITY;
ALTER TABLE ingestions FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON ingestions USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON ingestions TO causeway_app;

-- Thousands of lexemes come with each load: a trigger does once, at the end, what a foreign key checks for each of them.
ALTER TABLE lexeme_statistics DROP CONSTRAINT lexeme_statistics_collection_id_fkey;
CREATE FUNCTION causeway.forget_lexemes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM causeway.lexeme_statistics WHERE collection_id = OLD.collection_id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_lexemes AFTER DELETE ON collections FOR EACH ROW EXECUTE FUNCTION causeway.forget_lexemes();

-- Text of plain letters alone needs no search for accents, which costs as much as finding the words.
CREATE OR REPLACE FUNCTION causeway.fold(word text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE WHEN octet_length(word) = length(word) THEN lower(word)
           ELSE replace(translate(lower(word), 'áàâäãåéèêëíìîïóòôöõúùûüñçýÿ', 'aaaaaaeeeeiiiiooooouuuuncyy'), 'œ', 'oe') END
$$;
