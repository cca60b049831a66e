-- The graph: who and what the chunks name, and what they say caused what. All of it goes with its chunk.
--
-- Thousands of rows come with each load: triggers do once, at the end, what foreign keys check for each of them. Only primary keys
-- begin with the collection, of which there are no statistics: a planner that knows the big collections takes a new one for a few
-- rows, holds every index that begins with it for as good as any, and may read all of it for a single row.

-- What joins chunks. Keys are names without case, accents and articles: see graphrag/causal_graph/naming.py.
CREATE TABLE mentions (
    collection_id uuid NOT NULL,
    key           text NOT NULL,
    chunk_id      uuid NOT NULL,
    document_id   uuid NOT NULL,
    owner_id      text NOT NULL,
    weight        real NOT NULL,                  -- 3 or more: it is the document's title
    expires_at    timestamptz,                    -- as the chunk's: the graph is walked without it
    -- A walk reads this index and the next alone, where a name's chunks and a chunk's names lie side by side.
    PRIMARY KEY (collection_id, key, chunk_id) INCLUDE (owner_id, document_id, weight, expires_at)
);
CREATE INDEX ON mentions (chunk_id, collection_id) INCLUDE (owner_id, document_id, key, weight, expires_at);

-- Causes and effects.
CREATE TABLE entities (
    collection_id uuid NOT NULL,
    entity_id     uuid NOT NULL,
    owner_id      text NOT NULL,
    key           text NOT NULL,                  -- its words, by spaces
    name          text NOT NULL,
    PRIMARY KEY (collection_id, entity_id)
);

-- How an entity is found by one of its words. A table, for no operator that a GIN index of arrays knows is leakproof, and a
-- policy keeps such an index from being used.
CREATE TABLE entity_roots (
    collection_id uuid NOT NULL,
    root          text NOT NULL,                  -- the first letters of a word: see graphrag/causal_graph/linking.py
    entity_id     uuid NOT NULL,
    owner_id      text NOT NULL,
    size          smallint NOT NULL,              -- how many roots the entity has
    PRIMARY KEY (collection_id, root, entity_id) INCLUDE (owner_id, size)
);
CREATE INDEX ON entity_roots (entity_id, collection_id);

CREATE TABLE causal_edges (
    collection_id uuid NOT NULL,
    edge_id       uuid NOT NULL,
    owner_id      text NOT NULL,
    chunk_id      uuid NOT NULL,                  -- that the quote begins in
    chunk_index   integer NOT NULL,
    document_id   uuid NOT NULL,
    cause_id      uuid NOT NULL,
    effect_id     uuid NOT NULL,
    type          text NOT NULL CHECK (type IN ('CAUSES', 'TRIGGERS', 'LEADS_TO')),
    polarity      text NOT NULL CHECK (polarity IN ('fact', 'negated', 'hypothetical')),
    confidence    real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    extractor     text NOT NULL,
    quote         text NOT NULL,
    start_char    integer NOT NULL,               -- of the quote, in the document
    end_char      integer NOT NULL,
    expires_at    timestamptz,                    -- as the chunk's: the graph is walked without it
    PRIMARY KEY (collection_id, edge_id)
);
-- A walk reads these alone, and of an entity that everything causes the surest alone.
CREATE INDEX ON causal_edges (cause_id, collection_id, polarity, confidence DESC, edge_id)
    INCLUDE (owner_id, effect_id, document_id, expires_at);
CREATE INDEX ON causal_edges (effect_id, collection_id, polarity, confidence DESC, edge_id)
    INCLUDE (owner_id, cause_id, document_id, expires_at);
CREATE INDEX ON causal_edges (chunk_id, collection_id);

-- Entities that mean nearly the same: an effect in one document, the cause in another. Both directions are kept.
CREATE TABLE entity_links (
    collection_id uuid NOT NULL,
    entity_id     uuid NOT NULL,
    other_id      uuid NOT NULL,
    owner_id      text NOT NULL,
    similarity    real NOT NULL,
    PRIMARY KEY (collection_id, entity_id, other_id)
);
CREATE INDEX ON entity_links (entity_id, collection_id, similarity DESC, other_id) INCLUDE (owner_id);
CREATE INDEX ON entity_links (other_id, collection_id);

CREATE FUNCTION causeway.forget_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- By the index on the chunk, whatever the planner thinks.
    DELETE FROM causeway.mentions m WHERE chunk_id = ANY (ARRAY(SELECT chunk_id FROM gone))
        AND collection_id = ANY (ARRAY(SELECT DISTINCT collection_id FROM gone));
    DELETE FROM causeway.causal_edges e WHERE chunk_id = ANY (ARRAY(SELECT chunk_id FROM gone))
        AND collection_id = ANY (ARRAY(SELECT DISTINCT collection_id FROM gone));
    RETURN NULL;
END $$;
CREATE TRIGGER forget_chunks AFTER DELETE ON chunks REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION causeway.forget_chunks();

CREATE FUNCTION causeway.forget_entities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM causeway.entity_links WHERE collection_id = OLD.collection_id;
    DELETE FROM causeway.entity_roots WHERE collection_id = OLD.collection_id;
    DELETE FROM causeway.entities WHERE collection_id = OLD.collection_id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_entities AFTER DELETE ON collections FOR EACH ROW EXECUTE FUNCTION causeway.forget_entities();

-- A causal edge as it is read back.
CREATE VIEW causal_edge_details WITH (security_invoker = true) AS
    SELECT e.collection_id, e.edge_id, e.type, e.polarity, e.confidence, e.extractor, e.quote, e.start_char, e.end_char,
           e.chunk_id, e.chunk_index, cause_id, cause.key AS cause_key, cause.name AS cause_name,
           effect_id, effect.key AS effect_key, effect.name AS effect_name,
           document_id, d.source, d.filename, d.media_type, d.content_hash, d.language, d.title, d.created_at,
           d.source_type, d.processing_strategy, d.tags, d.expires_at, d.byte_count, d.authors, d.keywords, d.warnings
    FROM causal_edges e
    JOIN documents d USING (collection_id, document_id)
    JOIN entities cause ON cause.collection_id = e.collection_id AND cause.entity_id = cause_id
    JOIN entities effect ON effect.collection_id = e.collection_id AND effect.entity_id = effect_id;
GRANT SELECT ON causal_edge_details TO causeway_app;

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['mentions', 'entities', 'entity_roots', 'causal_edges', 'entity_links'] LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN collection_id SET STATISTICS 0', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT nullif(current_setting(''app.user_id'', true), '''')))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
END $$;
