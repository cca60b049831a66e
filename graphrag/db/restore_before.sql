-- Roles are the server's, and a dump grants them rights; the extension is made by who may.
DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['causeway_app', 'causeway_authentication', 'causeway_search', 'causeway_worker'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', name);
        END IF;
    END LOOP;
END $$;
DO $$ BEGIN
    EXECUTE format('GRANT causeway_app TO %I', current_user);
EXCEPTION WHEN insufficient_privilege THEN NULL;  -- who may not grant it, has it or is told so later
END $$;
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;
