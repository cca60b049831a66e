-- name: lock_migration
SELECT pg_try_advisory_xact_lock(hashtext('causeway reembed'), hashtext(%(collection_id)s::text)) AS is_free

-- name: read_state
SELECT embedding_model, previous_embedding_model, has_contextual, chunk_count FROM collections WHERE collection_id = %(collection_id)s

-- name: lock_state
SELECT embedding_model, previous_embedding_model, has_contextual, chunk_count FROM collections WHERE collection_id = %(collection_id)s FOR UPDATE

-- name: count_missing
SELECT count(*) AS chunks FROM chunks c
WHERE collection_id = %(collection_id)s
  AND (SELECT count(*) FROM chunk_embeddings e
       WHERE e.collection_id = %(collection_id)s AND e.chunk_id = c.chunk_id AND e.model = %(model)s) < %(kinds)s

-- name: find_missing
-- In the order of a document's text, from a place on; with the overlap that was embedded with a chunk. xmin tells a chunk from
-- another one that takes its place, id and all: rows of chunks are never updated.
SELECT document_id, chunk_index, chunk_id, xmin::text AS version, context, content, situation, headers,
       coalesce(right((SELECT string_agg(p.content, '' ORDER BY p.chunk_index) FROM chunks p
                       WHERE p.collection_id = %(collection_id)s AND p.document_id = c.document_id
                         AND p.chunk_index < c.chunk_index AND p.end_char > c.window_start),
                      start_char - window_start), '') AS overlap
FROM chunks c
WHERE collection_id = %(collection_id)s AND (document_id, chunk_index) > (%(document_id)s, %(chunk_index)s)
  AND (SELECT count(*) FROM chunk_embeddings e
       WHERE e.collection_id = %(collection_id)s AND e.chunk_id = c.chunk_id AND e.model = %(model)s) < %(kinds)s
ORDER BY document_id, chunk_index LIMIT %(limit)s

-- name: add_vector
-- Nothing where the chunk is gone by now; the lock keeps it until the transaction ends.
INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding, expires_at)
SELECT collection_id, chunk_id, owner_id, %(model)s, %(kind)s, %(embedding)s, expires_at FROM chunks
WHERE collection_id = %(collection_id)s AND chunk_id = %(chunk_id)s AND xmin::text = %(version)s
FOR KEY SHARE
ON CONFLICT DO NOTHING

-- name: switch
UPDATE collections SET previous_embedding_model = embedding_model, embedding_model = %(model)s, revision = revision + 1
WHERE collection_id = %(collection_id)s

-- name: drop_others
DELETE FROM chunk_embeddings WHERE collection_id = %(collection_id)s AND model <> ALL (%(models)s)
