-- What `causeway doctor` asks PostgreSQL. Nothing here writes.

-- name: pgvector
SELECT extversion FROM pg_extension WHERE extname = 'vector'

-- name: is_member
-- From version 16 on, who made a role is a member of it that may not become it.
SELECT pg_has_role(%(role)s, oid, CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)
FROM pg_roles WHERE rolname = %(application)s

-- name: bypasses
SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %(role)s

-- name: proves
-- With the key, or as who owns it, the login of requests could prove any owner.
SELECT pg_has_role(%(role)s, relowner, 'MEMBER') OR has_table_privilege(%(role)s, oid, 'SELECT')
FROM pg_class WHERE oid = 'causeway.identity_key'::regclass

-- name: bare_tables
-- Partitions have no policy: without one nobody reads them but through their table.
SELECT relname AS name FROM pg_class c
WHERE relkind IN ('r', 'p') AND relnamespace = 'causeway'::regnamespace
    AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'owner_id')
    AND NOT (relrowsecurity AND relforcerowsecurity AND (relispartition OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid)))
ORDER BY relname

-- name: queue
SELECT (SELECT coalesce(sum(count), 0) FROM causeway.waiting_jobs()) AS waiting, causeway.live_workers() AS workers

-- name: failed_documents
SELECT count(*) FROM ingestions WHERE status = 'error' AND owner_id = %(owner)s

-- name: keys
SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())

-- name: directionless_chunks
-- Which an index of vectors need not hold.
SELECT DISTINCT chunk_id FROM chunk_embeddings
WHERE collection_id = %(collection_id)s AND model = %(model)s AND l2_norm(embedding) = 0
