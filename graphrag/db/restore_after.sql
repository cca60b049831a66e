-- All is now the restoring role's. What sees more than its caller belongs to roles that own, and see, nothing else.
DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['causeway_authentication', 'causeway_search'] LOOP
        EXECUTE format('GRANT CREATE, USAGE ON SCHEMA causeway TO %I', name);
        EXECUTE format('GRANT %I TO %I', name, current_user);
    END LOOP;
    ALTER FUNCTION causeway.find_api_key OWNER TO causeway_authentication;
    IF to_regproc('causeway.current_owner') IS NOT NULL THEN  -- what an earlier version has backed up is migrated afterwards
        ALTER FUNCTION causeway.current_owner OWNER TO causeway_authentication;
    END IF;
    IF to_regproc('causeway.find_share') IS NOT NULL THEN
        ALTER FUNCTION causeway.find_share OWNER TO causeway_authentication;
    END IF;
    ALTER VIEW causeway.searchable_chunks OWNER TO causeway_search;
    FOREACH name IN ARRAY ARRAY['causeway_authentication', 'causeway_search'] LOOP
        EXECUTE format('REVOKE %I FROM %I', name, current_user);
        EXECUTE format('REVOKE CREATE ON SCHEMA causeway FROM %I', name);
    END LOOP;
END $$;
