-- Links to conversations, for whoever has one. Of its token only the SHA-256 is kept: it is random and long, so that nobody
-- finds it from that. A link ends with the message up to which it shows the conversation.

CREATE TABLE shares (
    owner_id        text NOT NULL,
    hash            bytea NOT NULL PRIMARY KEY,
    conversation_id uuid NOT NULL,
    message_id      uuid NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (owner_id, conversation_id, message_id) REFERENCES messages (owner_id, conversation_id, message_id)
        ON DELETE CASCADE
);
CREATE INDEX ON shares (owner_id, conversation_id, message_id);
ALTER TABLE shares ENABLE ROW LEVEL SECURITY;
ALTER TABLE shares FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON shares USING (owner_id = (SELECT causeway.current_owner()));
GRANT SELECT, INSERT, DELETE ON shares TO causeway_app;

-- Whose a link is, is not known before it is read: as with API keys, a function sees the one row whose hash it is given.
CREATE POLICY authentication ON shares FOR SELECT TO causeway_authentication USING (true);
GRANT SELECT ON shares TO causeway_authentication;
CREATE FUNCTION causeway.find_share(wanted bytea) RETURNS TABLE (owner_id text, conversation_id uuid, message_id uuid)
    STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT owner_id, conversation_id, message_id FROM causeway.shares WHERE hash = wanted
$$;
REVOKE ALL ON FUNCTION causeway.find_share FROM PUBLIC;
GRANT EXECUTE ON FUNCTION causeway.find_share TO causeway_app;
DO $$ BEGIN
    EXECUTE format('GRANT causeway_authentication TO %I', current_user);
    GRANT CREATE ON SCHEMA causeway TO causeway_authentication;
    ALTER FUNCTION causeway.find_share OWNER TO causeway_authentication;
    REVOKE CREATE ON SCHEMA causeway FROM causeway_authentication;
    EXECUTE format('REVOKE causeway_authentication FROM %I', current_user);
END $$;
