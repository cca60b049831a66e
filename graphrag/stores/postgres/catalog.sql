-- name: page
-- Those that came as a file and those that did not, each by its own index; of either no more than the page holds.
SELECT document_id, created_at FROM (
    (SELECT i.document_id, i.created_at
     FROM ingestions i LEFT JOIN documents d ON d.collection_id = i.collection_id AND d.document_id = i.document_id
     WHERE i.collection_id = %(collection_id)s AND (i.created_at, i.document_id) > (%(created_at)s, %(document_id)s)
       AND NOT (i.status = 'indexed' AND d.expires_at IS NOT NULL AND d.expires_at <= now())
       AND (%(status)s::text IS NULL OR i.status = %(status)s)
       AND (%(filename)s::text IS NULL
            OR strpos(causeway.fold(i.filename), causeway.fold(%(filename)s)) > 0
            OR EXISTS (SELECT FROM unnest(i.copies) AS copy
                       WHERE strpos(causeway.fold(substring(copy FROM '[^/]+$')), causeway.fold(%(filename)s)) > 0))
       AND (cardinality(%(tags)s::text[]) = 0
            OR coalesce(d.tags, ARRAY(SELECT jsonb_array_elements_text(i.options -> 'tags'))) && %(tags)s::text[])
     ORDER BY i.created_at, i.document_id LIMIT %(limit)s)
    UNION ALL
    (SELECT d.document_id, d.created_at FROM documents d
     WHERE d.collection_id = %(collection_id)s AND (d.created_at, d.document_id) > (%(created_at)s, %(document_id)s)
       AND NOT EXISTS (SELECT FROM ingestions i WHERE i.collection_id = d.collection_id AND i.document_id = d.document_id)
       AND (d.expires_at IS NULL OR d.expires_at > now())
       AND (%(status)s::text IS NULL OR %(status)s = 'indexed')
       AND (%(filename)s::text IS NULL OR strpos(causeway.fold(d.filename), causeway.fold(%(filename)s)) > 0)
       AND (cardinality(%(tags)s::text[]) = 0 OR d.tags && %(tags)s::text[])
     ORDER BY d.created_at, d.document_id LIMIT %(limit)s)
) AS found ORDER BY created_at, document_id LIMIT %(limit)s

-- name: read_text
SELECT details.* FROM chunk_details AS details
WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s
  AND end_char > %(start_char)s AND start_char < %(end_char)s AND (expires_at IS NULL OR expires_at > now())
ORDER BY chunk_index

-- name: measure_text
SELECT coalesce(max(end_char), 0) AS length,
       coalesce(sum(length(content) - length(replace(content, E'\n', ''))) FILTER (WHERE end_char <= %(start_char)s), 0) AS line_ends
FROM chunks WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s

-- name: find_ingestions
SELECT * FROM ingestions WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: find_documents
SELECT * FROM documents WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)
  AND (expires_at IS NULL OR expires_at > now())

-- name: facets
-- Of the file names, the first of the alphabet.
WITH found AS (
    SELECT * FROM documents WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
)
SELECT count(*) AS document_count, min(created_at) AS created_first, max(created_at) AS created_last,
       ARRAY(SELECT DISTINCT language FROM found ORDER BY 1) AS languages,
       ARRAY(SELECT DISTINCT lower(substring(filename FROM '\.([^.]+)$')) AS ending FROM found
             WHERE filename LIKE '%%.%%' ORDER BY 1) AS document_types,
       ARRAY(SELECT DISTINCT unnest(tags) FROM found ORDER BY 1 LIMIT %(limit)s) AS tags,
       ARRAY(SELECT DISTINCT filename FROM found ORDER BY 1 LIMIT %(limit)s) AS filenames
FROM found
