-- What grows with the chunks lies in eight partitions, by the hash of its collection: what is done for one collection reads
-- one of them, and a vacuum or a vectors' index is as big as a partition. See docs/scale.md.
-- A table can't become one with partitions: its rows are copied, and all that hangs on it is made anew as it was defined.

SET LOCAL maintenance_work_mem = '512MB';
DO $$ BEGIN EXECUTE format('GRANT causeway_search TO %I', current_user); END $$;  -- who owns one of the views

DO $$ DECLARE
    tables CONSTANT text[] := '{chunks, chunk_embeddings, lexeme_statistics, mentions, causal_edges}';
    old_tables CONSTANT regclass[] := tables;
    statements text[];    -- that define constraints, indexes and triggers
    vector_indexes text[];
    views text[];         -- that select from the tables, those first that others select from
    view_statements text[];
    statement text;
    name text;
    part text;
    columns text;
BEGIN
    SELECT array_agg(definition ORDER BY stage) INTO statements FROM (
        SELECT CASE contype WHEN 'p' THEN 1 ELSE 3 END AS stage,
               format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS definition
        FROM pg_constraint WHERE conrelid = ANY (old_tables) AND contype IN ('p', 'f')
        UNION ALL
        SELECT 2, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON oid = indexrelid
        WHERE indrelid = ANY (old_tables) AND NOT indisprimary AND relname NOT LIKE '%\_hnsw\_%'
        UNION ALL
        SELECT 4, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = ANY (old_tables) AND NOT tgisinternal
    ) AS defined;
    SELECT coalesce(array_agg(pg_get_indexdef(indexrelid)), '{}') INTO vector_indexes FROM pg_index
    WHERE indrelid = 'chunk_embeddings'::regclass AND indexrelid::regclass::text LIKE '%\_hnsw\_%' AND indisvalid;
    SELECT array_agg(relname ORDER BY oid),
           array_agg(format('CREATE VIEW %1$I %2$s AS %3$s; GRANT SELECT ON %1$I TO causeway_app; ALTER VIEW %1$I OWNER TO %4$s', relname,
                            'WITH (' || array_to_string(reloptions, ', ') || ')', rtrim(pg_get_viewdef(oid), ';'),
                            relowner::regrole) ORDER BY oid)
    INTO views, view_statements
    FROM pg_class WHERE relnamespace = 'causeway'::regnamespace AND relkind = 'v';
    -- Whoever has read one of them may be about to read another: then all are given back for a moment, so that neither fails.
    LOOP
        BEGIN
            SET LOCAL lock_timeout = '300ms';  -- less than what PostgreSQL takes for a deadlock
            EXECUTE (SELECT 'DROP VIEW ' || string_agg(quote_ident(v), ', ') FROM unnest(views) AS v);
            LOCK TABLE documents, chunks, chunk_embeddings, lexeme_statistics, mentions, causal_edges;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    SET LOCAL lock_timeout = 0;

    FOREACH name IN ARRAY tables LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);  -- its owner copies the rows of all
        EXECUTE format('ALTER TABLE %I RENAME TO %I', name, name || '_whole');
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (collection_id)',
                       name, name || '_whole');
        FOR number IN 0 .. 7 LOOP
            part := name || '_' || number;
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part, name, number);
            -- It has no policy and no rights: it is read and written through its table alone, whose triggers check the rows.
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part);
        END LOOP;
        SELECT string_agg(quote_ident(attname), ', ') INTO columns FROM pg_attribute
        WHERE attrelid = name::regclass AND attnum > 0 AND attgenerated = '';
        EXECUTE format('INSERT INTO %I (%s) SELECT %2$s FROM %I', name, columns, name || '_whole');
    END LOOP;
    EXECUTE (SELECT 'DROP TABLE ' || string_agg(quote_ident(t || '_whole'), ', ') FROM unnest(tables) AS t);
    -- Up to so many vectors are compared one by one: see search.py, which finds the indexes by these names.
    FOREACH part IN ARRAY ARRAY(SELECT tableoid::regclass::text FROM chunk_embeddings GROUP BY tableoid HAVING count(*) > 5000) LOOP
        FOREACH statement IN ARRAY vector_indexes LOOP
            EXECUTE replace(statement, 'chunk_embeddings', part);
        END LOOP;
    END LOOP;

    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    FOREACH name IN ARRAY tables LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY owner ON %I USING (owner_id = (SELECT causeway.current_owner()))', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO causeway_app', name);
    END LOOP;
    CREATE POLICY search ON chunks FOR SELECT TO causeway_search USING (true);
    GRANT SELECT ON chunks TO causeway_search;
    ALTER TABLE mentions ALTER COLUMN collection_id SET STATISTICS 0;
    ALTER TABLE causal_edges ALTER COLUMN collection_id SET STATISTICS 0;

    GRANT CREATE ON SCHEMA causeway TO causeway_search;
    FOREACH statement IN ARRAY view_statements LOOP
        EXECUTE statement;
    END LOOP;
    REVOKE CREATE ON SCHEMA causeway FROM causeway_search;
    EXECUTE format('REVOKE causeway_search FROM %I', current_user);
END $$;

-- As before, but each collection by its value, by which the planner chooses the partition.
CREATE OR REPLACE FUNCTION causeway.forget_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    collection uuid;
    chunks uuid[];
BEGIN
    FOR collection, chunks IN SELECT collection_id, array_agg(chunk_id) FROM gone GROUP BY collection_id LOOP
        DELETE FROM causeway.mentions WHERE chunk_id = ANY (chunks) AND collection_id = collection;
        DELETE FROM causeway.causal_edges WHERE chunk_id = ANY (chunks) AND collection_id = collection;
    END LOOP;
    RETURN NULL;
END $$;

-- The partition of a collection's vectors, however many there are.
CREATE FUNCTION causeway.vector_partition(collection uuid) RETURNS text STABLE LANGUAGE sql AS $$
    SELECT relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
           regexp_match(pg_get_expr(relpartbound, c.oid), 'modulus (\d+), remainder (\d+)') AS bound
    WHERE inhparent = 'causeway.chunk_embeddings'::regclass
      AND satisfies_hash_partition(inhparent, bound[1]::int, bound[2]::int, collection)
$$;

ANALYZE chunks, chunk_embeddings, lexeme_statistics, mentions, causal_edges;
