-- name: find_collection
SELECT collection_id, owner_id, name, embedding_model FROM collections WHERE name = %(name)s

-- name: list_collections
SELECT collection_id, owner_id, name, embedding_model FROM collections ORDER BY name

-- name: create_collection
INSERT INTO collections (collection_id, owner_id, name, embedding_model)
VALUES (%(collection_id)s, %(owner_id)s, %(name)s, %(embedding_model)s)
ON CONFLICT (owner_id, name) DO NOTHING

-- name: find_document
SELECT document_id, collection_id, source, filename, media_type, content_hash, language, title, created_at FROM documents
WHERE collection_id = %(collection_id)s AND content_hash = %(content_hash)s LIMIT 1

-- name: list_documents
SELECT document_id, collection_id, source, filename, media_type, content_hash, language, title, created_at
FROM documents WHERE collection_id = %(collection_id)s ORDER BY created_at, document_id

-- name: lock_collection
-- Writers of one collection take turns from here to the end of their transaction: its statistics are shared.
SELECT FROM collections WHERE collection_id = %(collection_id)s FOR UPDATE

-- name: remove_statistics
WITH gone AS (
    SELECT lexeme, count(*) AS chunks FROM chunks, unnest(tsvector_to_array(tsv)) AS lexeme
    WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s GROUP BY lexeme
), emptied AS (
    DELETE FROM lexeme_statistics s USING gone
    WHERE s.collection_id = %(collection_id)s AND s.lexeme = gone.lexeme AND s.document_frequency = gone.chunks
)
UPDATE lexeme_statistics s SET document_frequency = document_frequency - gone.chunks FROM gone
WHERE s.collection_id = %(collection_id)s AND s.lexeme = gone.lexeme AND s.document_frequency > gone.chunks

-- name: delete_document
DELETE FROM documents WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s

-- name: insert_document
INSERT INTO documents (collection_id, document_id, owner_id, source, filename, media_type, content_hash, language, title, created_at)
VALUES (%(collection_id)s, %(document_id)s, %(owner_id)s, %(source)s, %(filename)s, %(media_type)s, %(content_hash)s,
        %(language)s, %(title)s, %(created_at)s)

-- name: insert_chunk
INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id, chunk_index, start_char, end_char, window_start,
                    context, content, language)
VALUES (%(collection_id)s, %(chunk_id)s, %(document_id)s, %(owner_id)s, %(chunk_index)s, %(start_char)s, %(end_char)s,
        %(window_start)s, %(context)s, %(content)s, %(language)s)

-- name: insert_embedding
INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding)
VALUES (%(collection_id)s, %(chunk_id)s, %(owner_id)s, %(model)s, 'content', %(embedding)s)

-- name: add_statistics
INSERT INTO lexeme_statistics (collection_id, owner_id, lexeme, document_frequency)
SELECT collection_id, owner_id, lexeme, count(*) FROM chunks, unnest(tsvector_to_array(tsv)) AS lexeme
WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s GROUP BY collection_id, owner_id, lexeme
ON CONFLICT (collection_id, lexeme)
DO UPDATE SET document_frequency = lexeme_statistics.document_frequency + excluded.document_frequency

-- name: refresh_collection
UPDATE collections SET
    chunk_count = chunk_count + %(chunks)s,
    total_chars = total_chars + %(chars)s,
    languages = ARRAY(SELECT DISTINCT language FROM documents WHERE collection_id = %(collection_id)s ORDER BY language)
WHERE collection_id = %(collection_id)s

-- name: measure_document
SELECT count(*) AS chunks, coalesce(sum(end_char - start_char), 0)::bigint AS chars FROM chunks
WHERE collection_id = %(collection_id)s AND document_id = %(document_id)s

-- name: search_fulltext
-- BM25 (Robertson & Zaragoza 2009) with k1 = 1.2, b = .75. The rarest lexemes, up to a budget of matching chunks, choose the
-- candidates; ts_rank keeps the best of them; BM25 orders these. Divided by the most it could be, so the score is in [0, 1].
WITH collection AS (
    SELECT languages, chunk_count AS n, total_chars::float8 / greatest(chunk_count, 1) AS average_chars
    FROM collections WHERE collection_id = %(collection_id)s
), term AS MATERIALIZED (
    SELECT lexeme, max(weight) AS weight
    FROM collection, unnest(languages) AS language, LATERAL (
        SELECT unnest(tsvector_to_array(causeway.stems(language, %(words)s))) AS lexeme, 1.0 AS weight
        UNION ALL
        SELECT unnest(tsvector_to_array(causeway.lexemes(language, %(words)s))), %(exact_weight)s
    ) AS form
    GROUP BY lexeme
), known AS (
    SELECT lexeme, document_frequency,
           weight * ln(1 + (n - document_frequency + .5) / (document_frequency + .5)) AS idf,
           sum(document_frequency) OVER (ORDER BY document_frequency, lexeme) AS matches
    FROM term JOIN lexeme_statistics USING (lexeme), collection
    WHERE lexeme_statistics.collection_id = %(collection_id)s
      AND lexeme_statistics.lexeme = ANY (ARRAY(SELECT lexeme FROM term))  -- by the index, whatever the planner guesses
), rarest AS (
    SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery AS query
    FROM known WHERE matches - document_frequency < %(budget)s
), candidate AS MATERIALIZED (
    SELECT chunk_id, tsv, end_char - start_char AS chars FROM rarest, chunks
    WHERE collection_id = %(collection_id)s AND tsv @@ rarest.query
      AND NOT EXISTS (
        SELECT FROM unnest(%(phrases)s::text[]) AS words
        WHERE NOT EXISTS (SELECT FROM collection, unnest(languages) AS language, causeway.phrase(language, words) AS phrase
                          WHERE numnode(phrase) = 0 OR tsv @@ phrase)
           OR strpos(causeway.bare(context || ' ' || content), causeway.bare(words)) = 0)
    ORDER BY ts_rank(tsv, rarest.query, 1) DESC, chunk_id LIMIT %(candidates)s
), scored AS (
    SELECT chunk_id, sum(idf * tf * 2.2 / (tf + 1.2 * (.25 + .75 * chars / average_chars))) / (SELECT sum(idf) * 2.2 FROM known) AS score
    FROM collection, candidate, LATERAL (
        -- Only the question's lexemes, picked out by a weight, are taken apart: a chunk has hundreds.
        SELECT idf, cardinality(positions) AS tf
        FROM unnest(ts_filter(setweight(tsv, 'A', ARRAY(SELECT lexeme FROM known)), '{a}')) AS word JOIN known USING (lexeme)
    ) AS matched
    GROUP BY chunk_id
)
SELECT chunk_id, chunk_index, content, start_char, end_char, window_start, context, score,
       document_id, collection_id, source, filename, media_type, content_hash, d.language, title, created_at
FROM scored JOIN chunks USING (chunk_id) JOIN documents d USING (collection_id, document_id)
WHERE collection_id = %(collection_id)s
ORDER BY score DESC, created_at DESC, chunk_id LIMIT %(limit)s

-- name: search_vectors
SELECT chunk_id, chunk_index, content, start_char, end_char, window_start, context, greatest(similarity, 0) AS score,
       document_id, collection_id, source, filename, media_type, content_hash, d.language, title, created_at
FROM (
    SELECT chunk_id, collection_id, 1 - (embedding <=> %(vector)s) AS similarity FROM chunk_embeddings
    WHERE collection_id = %(collection_id)s AND model = %(model)s AND kind = 'content'
) AS compared
JOIN chunks USING (collection_id, chunk_id) JOIN documents d USING (collection_id, document_id)
WHERE similarity <> 'NaN'  -- a text without any known token has the zero vector
ORDER BY similarity DESC, created_at DESC, chunk_id LIMIT %(limit)s

-- name: read_chunks
SELECT chunk_id, chunk_index, content, start_char, end_char, window_start, context, 0 AS score,
       document_id, collection_id, source, filename, media_type, content_hash, d.language, title, created_at
FROM unnest(%(documents)s::uuid[], %(first)s::int[], %(last)s::int[]) AS wanted (document_id, first, last)
JOIN chunks USING (document_id) JOIN documents d USING (collection_id, document_id)
WHERE collection_id = %(collection_id)s AND chunk_index BETWEEN first AND last
ORDER BY document_id, chunk_index
