-- Keys that say who asks. Of a secret only its SHA-256 is kept: it is random and long, so that nobody finds it from that.

CREATE TABLE api_keys (
    owner_id     text NOT NULL CHECK (owner_id <> ''),
    key_id       text NOT NULL PRIMARY KEY,
    name         text NOT NULL DEFAULT '',
    hash         bytea NOT NULL,
    scopes       text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz                          -- to the minute
);
CREATE INDEX ON api_keys (owner_id, created_at);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON api_keys USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE ON api_keys TO causeway_app;

-- Whose a key is, is not known before it is read: a function sees the one row whose id it is given. Its owner reads this table
-- alone, and nobody can become it.
DO $$ BEGIN
    CREATE ROLE causeway_authentication NOLOGIN NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
CREATE POLICY authentication ON api_keys FOR SELECT TO causeway_authentication USING (true);
GRANT SELECT ON api_keys TO causeway_authentication;
CREATE FUNCTION causeway.find_api_key(wanted text)
    RETURNS TABLE (owner_id text, hash bytea, scopes text[], is_valid boolean, is_use_noted boolean)
    STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT owner_id, hash, scopes, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()),
           coalesce(last_used_at > now() - interval '1 minute', false)
    FROM causeway.api_keys WHERE key_id = wanted
$$;
REVOKE ALL ON FUNCTION causeway.find_api_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION causeway.find_api_key TO causeway_app;
DO $$ BEGIN
    GRANT CREATE, USAGE ON SCHEMA causeway TO causeway_authentication;
    EXECUTE format('GRANT causeway_authentication TO %I', current_user);
    ALTER FUNCTION causeway.find_api_key OWNER TO causeway_authentication;
    EXECUTE format('REVOKE causeway_authentication FROM %I', current_user);
    REVOKE CREATE ON SCHEMA causeway FROM causeway_authentication;
END $$;
