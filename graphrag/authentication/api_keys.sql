-- name: find
SELECT * FROM causeway.find_api_key(%(key_id)s)

-- name: create
INSERT INTO api_keys (owner_id, key_id, name, hash, scopes, expires_at)
VALUES (%(owner_id)s, %(key_id)s, %(name)s, %(hash)s, %(scopes)s, now() + %(valid_for)s::interval)
RETURNING owner_id, key_id, name, scopes, created_at, expires_at, revoked_at, last_used_at

-- name: list_all
SELECT owner_id, key_id, name, scopes, created_at, expires_at, revoked_at, last_used_at
FROM api_keys WHERE owner_id = %(owner_id)s ORDER BY created_at, key_id

-- name: revoke
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE owner_id = %(owner_id)s AND key_id = %(key_id)s
RETURNING owner_id, key_id, name, scopes, created_at, expires_at, revoked_at, last_used_at

-- name: note_use
UPDATE api_keys SET last_used_at = now() WHERE owner_id = %(owner_id)s AND key_id = %(key_id)s
AND (last_used_at IS NULL OR last_used_at <= now() - interval '1 minute')
