-- What filters, expiry, caches and searches of big shared tables need.

ALTER TABLE collections
    ADD COLUMN revision bigint NOT NULL DEFAULT 0,          -- grows with every change of its documents
    ADD COLUMN config   jsonb  NOT NULL DEFAULT '{}';

ALTER TABLE documents
    ADD COLUMN source_type         text   NOT NULL DEFAULT 'file',
    ADD COLUMN processing_strategy text   NOT NULL DEFAULT 'sentence',
    ADD COLUMN tags                text[] NOT NULL DEFAULT '{}',
    ADD COLUMN expires_at          timestamptz;
CREATE INDEX ON documents (collection_id, language);
CREATE INDEX ON documents (collection_id, causeway.fold(filename));
CREATE INDEX ON documents (owner_id, expires_at) WHERE expires_at IS NOT NULL;

-- A search reads these rows without their document's: its time to live lies in them too.
ALTER TABLE chunk_embeddings ADD COLUMN expires_at timestamptz;
ALTER TABLE chunks ADD COLUMN expires_at timestamptz;

-- A chunk as a search gives it back.
CREATE VIEW chunk_details WITH (security_invoker = true) AS
    SELECT c.collection_id, c.chunk_id, c.chunk_index, c.content, c.start_char, c.end_char, c.window_start, c.context,
           d.document_id, d.source, d.filename, d.media_type, d.content_hash, d.language, d.title, d.created_at,
           d.source_type, d.processing_strategy, d.tags, d.expires_at
    FROM chunks c JOIN documents d USING (collection_id, document_id);
GRANT SELECT ON chunk_details TO causeway_app;

-- `filters` holds the values of each field that is filtered by; any of a field's values will do.
CREATE FUNCTION causeway.matching_documents(collection uuid, filters jsonb) RETURNS SETOF uuid STABLE LANGUAGE sql AS $$
    SELECT document_id FROM documents, LATERAL (
        SELECT ARRAY(SELECT lower(jsonb_array_elements_text(filters -> 'document_types'))) AS document_types,
               ARRAY(SELECT lower(jsonb_array_elements_text(filters -> 'filenames'))) AS filenames,
               ARRAY(SELECT jsonb_array_elements_text(filters -> 'tags')) AS tags
    ) AS wanted
    WHERE collection_id = collection
      AND (NOT filters ? 'document_types' OR media_type = ANY (document_types)
           OR lower(substring(filename FROM '\.([^.]+)$')) = ANY (document_types))
      AND (NOT filters ? 'filenames' OR lower(filename) = ANY (wanted.filenames))
      AND (NOT filters ? 'tags' OR documents.tags && wanted.tags)
      AND (NOT filters ? 'languages' OR filters -> 'languages' ? language)
      AND (NOT filters ? 'source_types' OR filters -> 'source_types' ? source_type)
      AND (NOT filters ? 'processing_strategies' OR filters -> 'processing_strategies' ? processing_strategy)
      AND (NOT filters ? 'created_from' OR created_at >= (filters ->> 'created_from')::timestamptz)
      AND (NOT filters ? 'created_until' OR created_at < (filters ->> 'created_until')::timestamptz)
$$;


-- Full text -----------------------------------------------------------------------------------------------------------

-- A lexeme that all chunks of a collection share, and no other chunk: with it the index goes straight to the collection's,
-- however many chunks of others hold the same words. No word begins like it.
CREATE FUNCTION causeway.home(collection_id uuid) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT '@' || collection_id
$$;

ALTER TABLE chunks DROP COLUMN tsv;
-- Titles and headings count twice: on development sets in three languages that ranks as well or better.
-- What searches read for thousands of chunks stays in the row (MAIN); the text, which they read for a few, moves out of it.
ALTER TABLE chunks
    ADD COLUMN tsv tsvector GENERATED ALWAYS AS (
        causeway.lexemes(language, context || E'\n' || context || E'\n' || content) || array_to_tsvector(ARRAY[causeway.home(collection_id)])) STORED,
    ALTER COLUMN tsv SET STORAGE MAIN;
CREATE INDEX chunks_tsv ON chunks USING gin (tsv);
ALTER TABLE chunk_embeddings ALTER COLUMN embedding SET STORAGE MAIN;

-- All the phrases, each in any of the languages; null where that says nothing, as for a phrase of stop words.
CREATE FUNCTION causeway.all_phrases(languages text[], phrases text[]) RETURNS tsquery IMMUTABLE LANGUAGE sql AS $$
    SELECT string_agg('(' || variants || ')', ' & ')::tsquery FROM (
        SELECT string_agg(causeway.phrase(language, phrase)::text, ' | ') AS variants
        FROM unnest(phrases) WITH ORDINALITY AS asked (phrase, number), unnest(languages) AS language
        WHERE numnode(causeway.phrase(language, phrase)) > 0 GROUP BY number
    ) AS phrase
$$;

-- The way round the policy, which keeps the planner from the index wherever "@@" may not be marked leakproof: a view whose owner
-- sees every row, and which itself demands the identity. Nobody can become that owner.
DO $$ BEGIN
    CREATE ROLE causeway_search NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
CREATE POLICY search ON chunks FOR SELECT TO causeway_search USING (true);
GRANT SELECT ON chunks TO causeway_search;
CREATE VIEW searchable_chunks AS
    SELECT * FROM chunks WHERE owner_id = (SELECT nullif(current_setting('app.user_id', true), ''))
                           AND (expires_at IS NULL OR expires_at > now());
GRANT SELECT ON searchable_chunks TO causeway_app;
DO $$ BEGIN
    GRANT CREATE, USAGE ON SCHEMA causeway TO causeway_search;
    EXECUTE format('GRANT causeway_search TO %I', current_user);
    ALTER VIEW searchable_chunks OWNER TO causeway_search;
    EXECUTE format('REVOKE causeway_search FROM %I', current_user);
    REVOKE CREATE ON SCHEMA causeway FROM causeway_search;
END $$;


-- Cache ---------------------------------------------------------------------------------------------------------------

CREATE UNLOGGED TABLE cache_entries (
    owner_id   text NOT NULL,
    key        text NOT NULL,
    value      bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (owner_id, key)
);
CREATE INDEX ON cache_entries (expires_at);
ALTER TABLE cache_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE cache_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON cache_entries USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON cache_entries TO causeway_app;
