-- name: register
INSERT INTO ingestions (collection_id, document_id, owner_id, ticket, source, filename, content_hash, byte_count, options, status)
VALUES (%(collection_id)s, %(document_id)s, %(owner_id)s, %(ticket)s, %(source)s, %(filename)s, %(content_hash)s,
        %(byte_count)s, %(options)s, 'uploaded')
ON CONFLICT (collection_id, document_id) DO UPDATE SET
    ticket = excluded.ticket, filename = excluded.filename, content_hash = excluded.content_hash,
    byte_count = excluded.byte_count, options = excluded.options, status = 'uploaded', stage = '', done = 0, total = 0,
    copies = CASE WHEN ingestions.content_hash = excluded.content_hash THEN ingestions.copies ELSE '{}' END,
    cause = '', reason = '', failed_batches = '[]', stalls = 0, updated_at = now()

-- name: restart
UPDATE ingestions SET ticket = gen_random_uuid(), options = options || %(options)s, status = 'uploaded', stage = '',
                      done = 0, total = 0, cause = '', reason = '', failed_batches = '[]', stalls = 0, updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status IN ('indexed', 'error')
RETURNING *

-- name: begin
UPDATE ingestions SET status = 'processing', stage = '', done = 0, total = 0, updated_at = now()
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status IN ('uploaded', 'processing')
RETURNING *

-- name: count_stall
-- A document that every worker dies of would be taken up for ever.
UPDATE ingestions SET stalls = stalls + 1, stage = '', done = 0, total = 0, updated_at = now(),
    status = CASE WHEN stalls + 1 < %(most)s THEN 'uploaded' ELSE 'error' END,
    cause = CASE WHEN stalls + 1 < %(most)s THEN '' ELSE 'its worker stopped ' || (stalls + 1) || ' times' END,
    reason = CASE WHEN stalls + 1 < %(most)s THEN '' ELSE 'stalled' END
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status = 'processing'

-- name: report
-- A watcher asks several times a second: only what has changed is written.
WITH wanted AS (
    SELECT document_id, ticket, new_stage, new_done, new_total FROM ingestions
    JOIN unnest(%(tickets)s::uuid[], %(stages)s::text[], %(done)s::int[], %(total)s::int[])
        AS r (new_ticket, new_stage, new_done, new_total) ON ticket = new_ticket
    WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND status = 'processing'
), written AS (
    UPDATE ingestions i SET stage = new_stage, done = new_done, total = new_total, updated_at = now() FROM wanted w
    WHERE collection_id = %(collection_id)s AND i.document_id = w.document_id AND i.ticket = w.ticket
      AND (stage, done, total) IS DISTINCT FROM (new_stage, new_done, new_total) AND status = 'processing'
)
SELECT ticket FROM wanted

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

-- name: find_ended_by_hash
SELECT * FROM ingestions WHERE collection_id = %(collection_id)s AND content_hash = ANY (%(hashes)s)
  AND status IN ('indexed', 'error') ORDER BY created_at, document_id

-- name: find_sources
-- Documents that have one of the sources, or one of the ids.
SELECT source, document_id FROM ingestions
WHERE collection_id = %(collection_id)s AND (source = ANY (%(sources)s) OR document_id = ANY (%(documents)s))
UNION SELECT source, document_id FROM documents
WHERE collection_id = %(collection_id)s AND (source = ANY (%(sources)s) OR document_id = ANY (%(documents)s))

-- name: rename
-- A title that was the old name becomes the new one. Cached results, which name the file, end with the revision.
WITH renamed AS (
    UPDATE ingestions i SET source = %(source)s, filename = %(filename)s, updated_at = now()
    WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s AND ticket = %(ticket)s
      AND status IN ('indexed', 'error')
      AND NOT EXISTS (SELECT FROM ingestions o WHERE o.collection_id = i.collection_id AND o.source = %(source)s)
    RETURNING collection_id, document_id
), shown AS (
    UPDATE documents d SET source = %(source)s, filename = %(filename)s,
                           title = CASE WHEN title = %(old_title)s THEN %(title)s ELSE title END
    FROM renamed r WHERE d.collection_id = r.collection_id AND d.document_id = r.document_id
), revised AS (
    UPDATE collections c SET revision = revision + 1 FROM renamed r WHERE c.collection_id = r.collection_id
)
SELECT document_id FROM renamed

-- name: set_copies
-- Each of the sources is a copy of its document, or of none.
WITH given AS (
    SELECT document_id, array_agg(source) AS sources
    FROM unnest(%(sources)s::text[], %(documents)s::uuid[]) AS g (source, document_id)
    WHERE document_id IS NOT NULL GROUP BY document_id
), changed AS (
    SELECT document_id, ARRAY(SELECT unnest(copies) EXCEPT SELECT unnest(%(sources)s::text[])
                              UNION SELECT unnest(sources) ORDER BY 1) AS copies
    FROM ingestions LEFT JOIN given USING (document_id)
    WHERE collection_id = %(collection_id)s
      AND (copies <> '{}' AND copies && %(sources)s OR document_id = ANY (ARRAY(SELECT document_id FROM given)))
)
UPDATE ingestions i SET copies = c.copies FROM changed c
WHERE collection_id = %(collection_id)s AND i.document_id = c.document_id AND i.copies <> c.copies

-- name: list_copies
SELECT unnest(copies) AS source FROM ingestions WHERE collection_id = %(collection_id)s AND copies <> '{}'

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
-- Those that are there and those on their way; `replaced`: those of the given ones that are among them.
SELECT count(*) AS documents, coalesce(array_agg(document_id) FILTER (WHERE document_id = ANY (%(documents)s)), '{}') AS replaced
FROM (
    SELECT document_id FROM documents WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
    UNION SELECT document_id FROM ingestions WHERE collection_id = %(collection_id)s
) AS known

-- name: count_bytes
-- Of the owner's files, those on their way included; `replaced`: those of the given documents, by document.
SELECT coalesce(sum(byte_count), 0)::bigint AS bytes,
       coalesce(jsonb_object_agg(document_id, byte_count)
                FILTER (WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)), '{}') AS replaced
FROM ingestions
