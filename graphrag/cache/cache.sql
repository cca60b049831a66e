-- name: get_many
SELECT key, value FROM cache_entries WHERE owner_id = %(owner_id)s AND key = ANY (%(keys)s) AND expires_at > now()

-- name: purge
-- What another writer holds is left to the next purge: this one waits for nobody.
DELETE FROM cache_entries WHERE owner_id = %(owner_id)s AND key IN (
    SELECT key FROM cache_entries WHERE owner_id = %(owner_id)s AND expires_at <= now() FOR UPDATE SKIP LOCKED)

-- name: set_many
INSERT INTO cache_entries (owner_id, key, value, expires_at)
SELECT %(owner_id)s, key, value, now() + make_interval(secs => %(seconds)s)
FROM unnest(%(keys)s::text[], %(values)s::bytea[]) AS entry (key, value)
ORDER BY key  -- always in one order: two writers of the same keys wait for each other, and never both
ON CONFLICT (owner_id, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at

-- name: forget
DELETE FROM cache_entries WHERE owner_id = %(owner_id)s AND starts_with(key, %(beginning)s)
