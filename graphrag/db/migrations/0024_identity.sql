-- Who a transaction works for is a name and its proof: an HMAC-SHA-256 (RFC 2104) over the moment at which the transaction
-- began and the name, made by the service with a key that the role of requests can't read. Raw SQL may name another owner;
-- it can't prove that, and a proof that it has seen is none in another transaction.

-- One row. The key, a block of SHA-256, with what HMAC makes of it for its two rounds.
CREATE TABLE identity_key (
    key       bytea NOT NULL,
    inner_pad bytea NOT NULL,
    outer_pad bytea NOT NULL
);
INSERT INTO identity_key
SELECT key, (SELECT string_agg(set_byte('\x00', 0, get_byte(key, i) # 54), '' ORDER BY i) FROM generate_series(0, 63) AS i),
            (SELECT string_agg(set_byte('\x00', 0, get_byte(key, i) # 92), '' ORDER BY i) FROM generate_series(0, 63) AS i)
FROM (SELECT string_agg(uuid_send(gen_random_uuid()), '') AS key FROM generate_series(1, 4)) AS random;

-- Null: nobody's. A name without its proof is an error, not a view of no rows. No two transactions of a connection begin at
-- the same microsecond. Macs are compared by their hashes, so that the time it takes says nothing of them; planned once,
-- because a statement calls this for every table that it names.
CREATE FUNCTION causeway.current_owner() RETURNS text STABLE PARALLEL SAFE SECURITY DEFINER LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    owner text := nullif(current_setting('app.user_id', true), '');
    proof text := coalesce(current_setting('app.proof', true), '');
BEGIN
    IF owner IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM FROM causeway.identity_key
    WHERE sha256(convert_to(proof, 'UTF8')) = sha256(convert_to(encode(
        sha256(outer_pad || sha256(inner_pad || timestamptz_send(now()) || convert_to(owner, 'UTF8'))), 'hex'), 'UTF8'));
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = 'the owner of this transaction is not proven';
    END IF;
    RETURN owner;
END $$;

-- Those of the queue are made anew by queue_rights.sql.
DO $$ DECLARE policy record; BEGIN
    FOR policy IN SELECT tablename, policyname FROM pg_policies
                  WHERE schemaname = 'causeway' AND qual LIKE '(owner_id = %app.user_id%' LOOP
        EXECUTE format('ALTER POLICY %I ON %I USING (owner_id = (SELECT causeway.current_owner()))',
                       policy.policyname, policy.tablename);
    END LOOP;
END $$;

GRANT SELECT ON identity_key TO causeway_authentication;
DO $$ BEGIN
    EXECUTE format('GRANT causeway_authentication, causeway_search TO %I', current_user);
    EXECUTE (SELECT 'CREATE OR REPLACE VIEW searchable_chunks AS '
                    || replace(pg_get_viewdef('searchable_chunks'::regclass),
                               'NULLIF(current_setting(''app.user_id''::text, true), ''''::text)', 'causeway.current_owner()'));
    GRANT CREATE ON SCHEMA causeway TO causeway_authentication;
    ALTER FUNCTION causeway.current_owner OWNER TO causeway_authentication;
    REVOKE CREATE ON SCHEMA causeway FROM causeway_authentication;
    EXECUTE format('REVOKE causeway_authentication, causeway_search FROM %I', current_user);
END $$;
