-- A row belongs to the owner of its collection, document or run: keys hold the owner as well. Row level security says
-- whose rows are seen; without this a row of one owner could still take a key in a collection of another.

ALTER TABLE collections ADD UNIQUE (collection_id, owner_id);
ALTER TABLE documents ADD UNIQUE (collection_id, document_id, owner_id);
ALTER TABLE evaluation_runs ADD UNIQUE (collection_id, run_id, owner_id);

-- What is there is validated; a row that breaks a key stops the migration, and nothing of it is applied.
DO $$ DECLARE
    key record;
    old name;
BEGIN
    FOR key IN SELECT * FROM (VALUES
        ('documents', 'collections', '', 'collection_id', 'CASCADE'),
        ('ingestions', 'collections', '', 'collection_id', 'CASCADE'),
        ('golden_cases', 'collections', '', 'collection_id', 'CASCADE'),
        ('golden_versions', 'collections', '', 'collection_id', 'CASCADE'),
        ('golden_proposals', 'collections', '', 'collection_id', 'CASCADE'),
        ('evaluation_runs', 'collections', '', 'collection_id', 'CASCADE'),
        ('evaluation_schedules', 'collections', '', 'collection_id', 'CASCADE'),
        ('chunks', 'documents', ', document_id', 'collection_id', 'CASCADE'),
        ('document_tables', 'documents', ', document_id', 'collection_id', 'CASCADE'),
        ('evaluation_results', 'evaluation_runs', ', run_id', 'collection_id', 'CASCADE'),
        ('evaluation_schedules', 'evaluation_runs', ', last_run_id', 'collection_id', 'SET NULL (last_run_id)')
    ) AS keys (child, parent, rest, first, on_delete) LOOP
        SELECT conname INTO STRICT old FROM pg_constraint
        WHERE contype = 'f' AND conrelid = key.child::regclass AND confrelid = key.parent::regclass;
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', key.child, old);
        EXECUTE format('ALTER TABLE %I ADD FOREIGN KEY (%s%s, owner_id) REFERENCES %I (%s%s, owner_id) ON DELETE %s',
                       key.child, key.first, key.rest, key.parent, key.first,
                       replace(key.rest, 'last_run_id', 'run_id'), key.on_delete);
    END LOOP;
END $$;

-- Rows of these come by the thousand, and a key would be checked for each of them: a trigger checks once for a statement.
-- (Nor may an index of chunks hold the owner, whom every policy names: the planner would prefer it to that of the words.)
-- It sees what its caller sees: another owner's collection is none.
CREATE FUNCTION causeway.check_collections() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM (SELECT DISTINCT collection_id, owner_id FROM added) AS a
               WHERE NOT EXISTS (SELECT FROM causeway.collections AS c
                                 WHERE c.collection_id = a.collection_id AND c.owner_id = a.owner_id)) THEN
        RAISE foreign_key_violation USING MESSAGE = format('a row of %I is in no collection of its owner', TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END $$;
DO $$ DECLARE name text; BEGIN
    ALTER TABLE collections NO FORCE ROW LEVEL SECURITY;  -- of all owners, at once
    FOREACH name IN ARRAY ARRAY['chunk_embeddings', 'lexeme_statistics', 'mentions', 'entities', 'entity_roots', 'entity_links', 'causal_edges'] LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DELETE FROM %I AS r WHERE NOT EXISTS (SELECT FROM collections AS c
                        WHERE c.collection_id = r.collection_id AND c.owner_id = r.owner_id)', name);  -- nobody can reach them
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE TRIGGER check_added AFTER INSERT ON %I REFERENCING NEW TABLE AS added
                        FOR EACH STATEMENT EXECUTE FUNCTION causeway.check_collections()', name);
        EXECUTE format('CREATE TRIGGER check_changed AFTER UPDATE ON %I REFERENCING NEW TABLE AS added
                        FOR EACH STATEMENT EXECUTE FUNCTION causeway.check_collections()', name);
    END LOOP;
    ALTER TABLE collections FORCE ROW LEVEL SECURITY;
END $$;
