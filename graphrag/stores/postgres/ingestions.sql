-- name: register
INSERT INTO ingestions (collection_id, document_id, owner_id, ticket, source, filename, content_hash, byte_count, options, status)
VALUES (%(collection_id)s, %(document_id)s, %(owner_id)s, %(ticket)s, %(source)s, %(filename)s, %(content_hash)s,
        %(byte_count)s, %(options)s, 'uploaded')
ON CONFLICT (collection_id, document_id) DO UPDATE SET
    ticket = excluded.ticket, filename = excluded.filename, content_hash = excluded.content_hash,
    byte_count = excluded.byte_count, options = excluded.options, status = 'uploaded', stage = '', done = 0, total = 0,
    cause = '', reason = '', failed_batches = '[]', updated_at = now()

-- name: restart
UPDATE ingestions SET ticket = gen_random_uuid(), options = options || %(options)s, status = 'uploaded', stage = '',
                      done = 0, total = 0, cause = '', reason = '', failed_batches = '[]', updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status IN ('indexed', 'error')
RETURNING *

-- name: begin
UPDATE ingestions SET status = 'processing', stage = '', done = 0, total = 0, updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status IN ('uploaded', 'processing')
RETURNING *

-- name: report
UPDATE ingestions SET stage = new_stage, done = new_done, total = new_total, updated_at = now()
FROM unnest(%(tickets)s::uuid[], %(stages)s::text[], %(done)s::int[], %(total)s::int[]) AS r (new_ticket, new_stage, new_done, new_total)
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND ticket = new_ticket AND status = 'processing'

-- name: fail
UPDATE ingestions SET status = 'error', cause = %(cause)s, reason = %(reason)s, failed_batches = %(failed_batches)s, updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND ticket = ANY (%(tickets)s)
  AND status IN ('uploaded', 'processing')

-- name: cancel
UPDATE ingestions SET status = 'error', cause = 'it was cancelled', reason = 'cancelled', updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status IN ('uploaded', 'processing')
RETURNING *

-- name: delete
DELETE FROM ingestions WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: find
SELECT * FROM ingestions WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: find_states
SELECT document_id, status FROM ingestions WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: list
SELECT i.* FROM ingestions i LEFT JOIN documents d USING (collection_id, document_id)
WHERE collection_id = %(collection_id)s AND NOT (i.status = 'indexed' AND coalesce(d.expires_at <= now(), false))
ORDER BY i.created_at, document_id

-- name: find_by_hash
SELECT * FROM ingestions WHERE collection_id = %(collection_id)s AND content_hash = ANY (%(hashes)s)
  AND status IN ('uploaded', 'processing')

-- name: locate
-- By the primary keys, which begin with the collection.
SELECT collection_id, document_id FROM collections JOIN ingestions i USING (collection_id)
LEFT JOIN documents d USING (collection_id, document_id)
WHERE document_id = ANY (%(documents)s) AND NOT (i.status = 'indexed' AND coalesce(d.expires_at <= now(), false))
UNION SELECT collection_id, document_id FROM collections JOIN documents USING (collection_id)
WHERE document_id = ANY (%(documents)s) AND (expires_at IS NULL OR expires_at > now())

-- name: hold
SELECT ticket FROM ingestions WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) FOR UPDATE

-- name: find_expired
SELECT document_id FROM documents WHERE collection_id = %(collection_id)s AND expires_at <= now()

-- name: count_documents
-- Those that are there and those on their way.
SELECT count(*) AS documents FROM (
    SELECT document_id FROM documents WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
    UNION SELECT document_id FROM ingestions WHERE collection_id = %(collection_id)s
) AS known WHERE NOT document_id = ANY (%(documents)s)

-- name: count_bytes
-- Of the owner's files, those on their way included; without those that are replaced.
SELECT coalesce(sum(byte_count), 0)::bigint AS bytes FROM ingestions
WHERE NOT (collection_id = %(collection_id)s AND document_id = ANY (%(documents)s))
