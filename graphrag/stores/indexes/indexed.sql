-- name: list_chunk_versions
-- What the ids of entries are made from; of these documents, or of all, without what has expired.
SELECT c.chunk_id, window_start, c.expires_at, sha256(convert_to(context || E'\n' || content, 'UTF8')) AS digest,
       coalesce(situated.embedding <> plain.embedding, false) AS is_situated
FROM chunks c
JOIN chunk_embeddings plain
  ON plain.collection_id = c.collection_id AND plain.chunk_id = c.chunk_id AND plain.model = %(model)s AND plain.kind = 'content'
LEFT JOIN chunk_embeddings situated
  ON situated.collection_id = c.collection_id AND situated.chunk_id = c.chunk_id AND situated.model = %(model)s
 AND situated.kind = 'contextual'
WHERE c.collection_id = %(collection_id)s AND (%(documents)s::uuid[] IS NULL OR document_id = ANY (%(documents)s))
  AND (c.expires_at IS NULL OR c.expires_at > now())

-- name: read_chunk_vectors
SELECT c.*, plain.embedding AS plain, coalesce(situated.embedding, plain.embedding) AS situated
FROM chunk_details c
JOIN chunk_embeddings plain
  ON plain.collection_id = c.collection_id AND plain.chunk_id = c.chunk_id AND plain.model = %(model)s AND plain.kind = 'content'
LEFT JOIN chunk_embeddings situated
  ON situated.collection_id = c.collection_id AND situated.chunk_id = c.chunk_id AND situated.model = %(model)s
 AND situated.kind = 'contextual'
WHERE c.collection_id = %(collection_id)s AND c.chunk_id = ANY (%(chunks)s)

-- name: find_phrases
SELECT chunk_id FROM chunks
WHERE collection_id = %(collection_id)s AND chunk_id = ANY (%(chunks)s) AND NOT EXISTS (
    SELECT FROM unnest(%(phrases)s::text[]) AS phrase
    WHERE strpos(causeway.bare(context || ' ' || content), causeway.bare(phrase)) = 0)
