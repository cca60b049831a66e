-- Collections, documents, chunks, their embeddings, and the statistics that BM25 needs. Every row is owned.
-- Runs with search_path = causeway, public. Needs PostgreSQL 15 and pgvector 0.8.

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

-- The application's role owns nothing and bypasses nothing. Roles belong to the server, so another database may have made it.
DO $$ BEGIN
    CREATE ROLE causeway_app NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
    EXECUTE format('GRANT causeway_app TO %I', current_user);
END $$;
GRANT USAGE ON SCHEMA causeway TO causeway_app;


-- Full text: every word counts twice, by its stem and as written, both without accents -------------------------------

DO $$ DECLARE language text; BEGIN
    FOREACH language IN ARRAY ARRAY['spanish', 'french', 'english', 'portuguese', 'italian', 'german'] LOOP
        EXECUTE format('CREATE TEXT SEARCH DICTIONARY causeway.%I (TEMPLATE = simple, STOPWORDS = %I)', language, language);
        EXECUTE format('CREATE TEXT SEARCH CONFIGURATION causeway.%I (COPY = simple)', language);
        EXECUTE format('ALTER TEXT SEARCH CONFIGURATION causeway.%1$I ALTER MAPPING FOR asciiword, asciihword,
                        hword_asciipart, word, hword, hword_part WITH causeway.%1$I', language);
    END LOOP;
END $$;

CREATE FUNCTION causeway.stemming(language text) RETURNS regconfig IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE language
        WHEN 'es' THEN 'pg_catalog.spanish'::regconfig WHEN 'fr' THEN 'pg_catalog.french'::regconfig
        WHEN 'en' THEN 'pg_catalog.english'::regconfig WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
        WHEN 'it' THEN 'pg_catalog.italian'::regconfig WHEN 'de' THEN 'pg_catalog.german'::regconfig
        ELSE 'pg_catalog.simple'::regconfig END
$$;

CREATE FUNCTION causeway.exact(language text) RETURNS regconfig IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT CASE language
        WHEN 'es' THEN 'causeway.spanish'::regconfig WHEN 'fr' THEN 'causeway.french'::regconfig
        WHEN 'en' THEN 'causeway.english'::regconfig WHEN 'pt' THEN 'causeway.portuguese'::regconfig
        WHEN 'it' THEN 'causeway.italian'::regconfig WHEN 'de' THEN 'causeway.german'::regconfig
        ELSE 'pg_catalog.simple'::regconfig END
$$;

CREATE FUNCTION causeway.fold(word text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT replace(translate(lower(word), 'áàâäãåéèêëíìîïóòôöõúùûüñçýÿ', 'aaaaaaeeeeiiiiooooouuuuncyy'), 'œ', 'oe')
$$;

-- Folding comes after stemming: stemmers need the accents.
CREATE FUNCTION causeway.stems(language text, words text) RETURNS tsvector IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT causeway.fold(to_tsvector(causeway.stemming(language), words)::text)::tsvector
$$;

CREATE FUNCTION causeway.lexemes(language text, words text) RETURNS tsvector IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT causeway.fold(to_tsvector(causeway.stemming(language), words)::text || ' '
                         || to_tsvector(causeway.exact(language), words)::text)::tsvector
$$;

CREATE FUNCTION causeway.phrase(language text, words text) RETURNS tsquery IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT causeway.fold(phraseto_tsquery(causeway.exact(language), words)::text)::tsquery
$$;

-- A text's words alone, for a phrase with stop words, which no tsvector holds.
CREATE FUNCTION causeway.bare(words text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT ' ' || btrim(regexp_replace(causeway.fold(words), '[^[:alnum:]]+', ' ', 'g')) || ' '
$$;

-- "@@" is not leakproof as shipped, and a policy then keeps the planner from using the GIN index. Only a superuser may say
-- that it is (as it is: it raises no error that holds a row's data); without that right, search is right but slower.
DO $$ BEGIN
    ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'ts_match_vq stays not leakproof: full-text search runs without its index';
END $$;


-- Tables -------------------------------------------------------------------------------------------------------------

CREATE TABLE collections (
    collection_id   uuid PRIMARY KEY,
    owner_id        text NOT NULL,
    name            text NOT NULL,
    embedding_model text NOT NULL,
    languages       text[] NOT NULL DEFAULT '{}',      -- of its documents
    chunk_count     bigint NOT NULL DEFAULT 0,
    total_chars     bigint NOT NULL DEFAULT 0,         -- of its chunks
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (owner_id, name)
);

CREATE TABLE documents (
    collection_id uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    document_id   uuid NOT NULL,
    owner_id      text NOT NULL,
    source        text NOT NULL,
    filename      text NOT NULL,
    media_type    text NOT NULL,
    content_hash  text NOT NULL,
    language      text NOT NULL,
    title         text NOT NULL,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (collection_id, document_id),
    UNIQUE (collection_id, source)
);
CREATE INDEX ON documents (collection_id, content_hash);

-- The chunks of a document tile its text: this is where the text is kept.
CREATE TABLE chunks (
    collection_id uuid NOT NULL,
    chunk_id      uuid NOT NULL,
    document_id   uuid NOT NULL,
    owner_id      text NOT NULL,
    chunk_index   integer NOT NULL,
    start_char    integer NOT NULL,
    end_char      integer NOT NULL,
    window_start  integer NOT NULL,
    context       text NOT NULL,
    content       text NOT NULL,
    language      text NOT NULL,
    tsv           tsvector GENERATED ALWAYS AS (causeway.lexemes(language, context || E'\n' || content)) STORED,
    PRIMARY KEY (collection_id, chunk_id),
    UNIQUE (collection_id, document_id, chunk_index),
    FOREIGN KEY (collection_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX chunks_tsv ON chunks USING gin (tsv);

CREATE TABLE chunk_embeddings (
    collection_id uuid NOT NULL,
    chunk_id      uuid NOT NULL,
    owner_id      text NOT NULL,
    model         text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('content', 'contextual')),
    embedding     halfvec NOT NULL,
    PRIMARY KEY (collection_id, chunk_id, model, kind),
    FOREIGN KEY (collection_id, chunk_id) REFERENCES chunks ON DELETE CASCADE
);

CREATE TABLE lexeme_statistics (
    collection_id      uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    lexeme             text NOT NULL,
    owner_id           text NOT NULL,
    document_frequency bigint NOT NULL CHECK (document_frequency > 0),
    PRIMARY KEY (collection_id, lexeme)
);


-- Isolation ----------------------------------------------------------------------------------------------------------

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['collections', 'documents', 'chunks', 'chunk_embeddings', 'lexeme_statistics'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- Unset identity: the setting is null or empty, and no row is anybody's.
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;
