-- name: claim
-- Of two at once one waits here until the other's row is there. A key whose time is over is new, and so is one that nobody
-- holds any more and that has no response.
INSERT INTO idempotency_keys AS known (owner_id, key, request_hash, holder, held_until, expires_at)
VALUES (%(owner_id)s, %(key)s, %(request_hash)s, %(holder)s, now() + %(claim_duration)s, now() + %(response_duration)s)
ON CONFLICT (owner_id, key) DO UPDATE SET
    request_hash = excluded.request_hash, holder = excluded.holder, held_until = excluded.held_until, response = NULL,
    created_at = now(), expires_at = excluded.expires_at
WHERE known.expires_at <= now() OR (known.response IS NULL AND known.held_until <= now())
RETURNING expires_at

-- name: read
SELECT request_hash, response FROM idempotency_keys WHERE owner_id = %(owner_id)s AND key = %(key)s

-- name: renew
UPDATE idempotency_keys SET held_until = now() + %(claim_duration)s
WHERE owner_id = %(owner_id)s AND key = %(key)s AND holder = %(holder)s AND response IS NULL

-- name: keep
UPDATE idempotency_keys SET response = %(response)s
WHERE owner_id = %(owner_id)s AND key = %(key)s AND holder = %(holder)s

-- name: release
DELETE FROM idempotency_keys WHERE owner_id = %(owner_id)s AND key = %(key)s AND holder = %(holder)s AND response IS NULL

-- name: purge
DELETE FROM idempotency_keys WHERE owner_id = %(owner_id)s AND expires_at <= now()

-- name: next_expiry
SELECT min(expires_at) AS expires_at FROM idempotency_keys WHERE owner_id = %(owner_id)s
