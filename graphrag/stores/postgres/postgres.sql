-- name: list_collections
SELECT collection_id, owner_id, name, embedding_model, chunk_count, revision, config, ingestion_config, has_contextual, generation_config, metadata FROM collections ORDER BY name

-- name: find_collection
SELECT collection_id, owner_id, name, embedding_model, chunk_count, revision, config, ingestion_config, has_contextual, generation_config, metadata FROM collections WHERE name = %(name)s

-- name: lock_owner
SELECT pg_advisory_xact_lock(hashtext('causeway quota'), hashtext(%(owner_id)s))

-- name: count_collections
SELECT count(*) AS collections FROM collections

-- name: create_collection
INSERT INTO collections (collection_id, owner_id, name, embedding_model)
VALUES (%(collection_id)s, %(owner_id)s, %(name)s, %(embedding_model)s)
ON CONFLICT (owner_id, name) DO NOTHING

-- name: rename_in_conversations
UPDATE conversations c SET collection = CASE WHEN c.collection = known.name THEN %(name)s ELSE c.collection END,
                           other_collections = array_replace(other_collections, known.name, %(name)s)
FROM (SELECT name FROM collections WHERE collection_id = %(collection_id)s) AS known
WHERE c.owner_id = %(owner_id)s AND known.name = ANY (other_collections || c.collection)

-- name: rename_collection
UPDATE collections SET name = %(name)s WHERE collection_id = %(collection_id)s
RETURNING collection_id, owner_id, name, embedding_model, chunk_count, revision, config, ingestion_config, has_contextual, generation_config, metadata

-- name: delete_collection
DELETE FROM collections WHERE collection_id = %(collection_id)s

-- name: configure_collection
UPDATE collections SET config = coalesce(%(config)s, config), ingestion_config = coalesce(%(ingestion_config)s, ingestion_config),
                       generation_config = coalesce(%(generation_config)s, generation_config),
                       metadata = coalesce(%(metadata)s, metadata)
WHERE collection_id = %(collection_id)s
RETURNING collection_id, owner_id, name, embedding_model, chunk_count, revision, config, ingestion_config, has_contextual, generation_config, metadata

-- name: find_documents
SELECT d.* FROM documents d
WHERE collection_id = %(collection_id)s AND (content_hash = ANY (%(content_hashes)s) OR document_id = ANY (%(documents)s))
  AND (expires_at IS NULL OR expires_at > now())

-- name: list_documents
SELECT d.* FROM documents d
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at, document_id

-- name: find_filenames
SELECT DISTINCT filename FROM documents
WHERE collection_id = %(collection_id)s
  AND causeway.fold(filename) = ANY (ARRAY(SELECT causeway.fold(unnest(%(names)s::text[]))))
  AND (expires_at IS NULL OR expires_at > now()) ORDER BY filename

-- name: measure_vectors
SELECT chunk_count, has_contextual, coalesce((SELECT vector_dims(embedding) FROM chunk_embeddings e
                              WHERE e.collection_id = %(collection_id)s AND model = embedding_model LIMIT 1), 0) AS dimensions
FROM collections WHERE collection_id = %(collection_id)s

-- name: lock_maintenance
-- Tried again and again: one that waits in the server keeps a snapshot, for which the building of an index would wait.
SELECT pg_try_advisory_xact_lock(hashtext('causeway maintenance')) AS is_free

-- name: tidy_fulltext_index
SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'causeway.chunks_tsv'::regclass

-- name: tell_planner
ANALYZE causeway.collections, causeway.documents, causeway.chunks, causeway.chunk_embeddings, causeway.lexeme_statistics

-- name: tidy_graph
-- Walks read indexes alone, of pages that are known to hold nothing but what everybody sees.
VACUUM (ANALYZE) causeway.mentions, causeway.entities, causeway.entity_roots, causeway.causal_edges, causeway.entity_links

-- name: prepare_writing
-- Of a table that has just grown, and of a text's lexemes, the planner expects a few rows where there are thousands.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_nestloop', 'off', true),
       set_config('work_mem', '64MB', true)

-- name: share_collection
-- It stays, with its embedding model, to the end of the transaction; others write to it too.
SELECT embedding_model, has_contextual FROM collections WHERE collection_id = %(collection_id)s FOR KEY SHARE

-- name: lock_collection
-- Nobody else writes to it.
SELECT embedding_model, has_contextual FROM collections WHERE collection_id = %(collection_id)s FOR UPDATE

-- name: take_turn
-- Writers of one collection take turns from here to the end of their transaction: its statistics are shared.
SELECT FROM collections WHERE collection_id = %(collection_id)s FOR NO KEY UPDATE

-- name: find_stored
SELECT document_id FROM documents WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: remove_statistics
WITH gone AS (
    SELECT lexeme, count(*) AS chunks FROM chunks, unnest(tsvector_to_array(ts_delete(tsv, causeway.home(collection_id)))) AS lexeme
    WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) GROUP BY lexeme
), emptied AS (
    DELETE FROM lexeme_statistics s USING gone
    WHERE s.collection_id = %(collection_id)s AND s.lexeme = ANY (ARRAY(SELECT lexeme FROM gone))  -- by the index
      AND s.lexeme = gone.lexeme AND s.document_frequency = gone.chunks
)
UPDATE lexeme_statistics s SET document_frequency = document_frequency - gone.chunks FROM gone
WHERE s.collection_id = %(collection_id)s AND s.lexeme = ANY (ARRAY(SELECT lexeme FROM gone))
  AND s.lexeme = gone.lexeme AND s.document_frequency > gone.chunks

-- name: delete_documents
DELETE FROM documents WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) RETURNING document_id

-- name: finish_ingestions
UPDATE ingestions SET status = 'indexed', stage = '', done = chunks, total = chunks, cause = '', reason = '', updated_at = now()
FROM unnest(%(tickets)s::uuid[], %(chunks)s::int[]) AS made (made_ticket, chunks)
WHERE collection_id = %(collection_id)s AND ticket = made_ticket AND status = 'processing'
RETURNING ticket

-- name: insert_document
INSERT INTO documents (collection_id, document_id, owner_id, source, filename, media_type, content_hash, language, title,
                       created_at, source_type, processing_strategy, tags, expires_at, byte_count, authors, keywords, warnings,
                       metadata)
VALUES (%(collection_id)s, %(document_id)s, %(owner_id)s, %(source)s, %(filename)s, %(media_type)s, %(content_hash)s,
        %(language)s, %(title)s, %(created_at)s, %(source_type)s, %(processing_strategy)s, %(tags)s, %(expires_at)s,
        %(byte_count)s, %(authors)s, %(keywords)s, %(warnings)s, %(metadata)s)

-- name: insert_chunks
INSERT INTO chunks (collection_id, chunk_id, document_id, owner_id, chunk_index, start_char, end_char, window_start,
                    context, content, language, expires_at, places, headers, parent_start, parent_end, situation)
SELECT %(collection_id)s, chunk_id, document_id, %(owner_id)s, chunk_index, start_char, end_char, window_start,
       context, content, language, expires_at, places, ARRAY(SELECT jsonb_array_elements_text(headers)),
       parent_start, parent_end, situation
FROM unnest(
    %(chunk_id)b::uuid[], %(document_id)b::uuid[], %(chunk_index)b::int[], %(start_char)b::int[], %(end_char)b::int[],
    %(window_start)b::int[], %(context)b::text[], %(content)b::text[], %(language)b::text[], %(expires_at)s::timestamptz[],
    %(places)b::jsonb[], %(headers)b::jsonb[], %(parent_start)b::int[], %(parent_end)b::int[], %(situation)b::text[]
) AS made (chunk_id, document_id, chunk_index, start_char, end_char, window_start, context, content, language, expires_at,
           places, headers, parent_start, parent_end, situation)

-- name: insert_embeddings
INSERT INTO chunk_embeddings (collection_id, owner_id, model, chunk_id, kind, embedding, expires_at)
SELECT %(collection_id)s, %(owner_id)s, %(model)s, made.*
FROM unnest(%(chunk_id)b::uuid[], %(kind)b::text[], %(embedding)b::halfvec[], %(expires_at)s::timestamptz[]) AS made

-- name: insert_table
INSERT INTO document_tables (collection_id, document_id, table_number, owner_id, content)
VALUES (%(collection_id)s, %(document_id)s, %(table_number)s, %(owner_id)s, %(content)s)

-- name: begin_contextual
-- From now on every chunk has a vector of this kind: those that were stored before are found by their plain one.
WITH begun AS (
    UPDATE collections SET has_contextual = true WHERE collection_id = %(collection_id)s
)
INSERT INTO chunk_embeddings (collection_id, chunk_id, owner_id, model, kind, embedding, expires_at)
SELECT collection_id, chunk_id, owner_id, model, 'contextual', embedding, expires_at FROM chunk_embeddings
WHERE collection_id = %(collection_id)s AND model = %(model)s AND kind = 'content'
ON CONFLICT DO NOTHING

-- name: add_statistics
INSERT INTO lexeme_statistics (collection_id, owner_id, lexeme, document_frequency)
SELECT collection_id, owner_id, lexeme, count(*) FROM chunks, unnest(tsvector_to_array(ts_delete(tsv, causeway.home(collection_id)))) AS lexeme
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)
GROUP BY collection_id, owner_id, lexeme
ON CONFLICT (collection_id, lexeme)
DO UPDATE SET document_frequency = lexeme_statistics.document_frequency + excluded.document_frequency

-- name: measure_documents
SELECT count(*) AS chunks, coalesce(sum(end_char - start_char), 0)::bigint AS chars FROM chunks
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)

-- name: refresh_collection
UPDATE collections SET
    chunk_count = chunk_count + %(chunks)s,
    total_chars = total_chars + %(chars)s,
    revision = revision + 1,
    languages = ARRAY(SELECT DISTINCT language FROM unnest(languages || %(languages)s::text[]) AS language
                      WHERE EXISTS (SELECT FROM documents d WHERE d.collection_id = %(collection_id)s AND d.language = language.language)
                      ORDER BY language)
WHERE collection_id = %(collection_id)s

-- name: find_lexemes
-- The forms of each asked word, stemmed and as written, in the collection's languages, that its chunks hold.
WITH collection AS MATERIALIZED (
    SELECT collection_id, languages, chunk_count, total_chars::float8 / greatest(chunk_count, 1) AS average_chars,
           causeway.all_phrases(languages, %(phrases)s) AS phrases
    FROM collections WHERE collection_id = %(collection_id)s
), form AS MATERIALIZED (
    SELECT word_number, lexeme, bool_or(is_stem) AS is_stem, bool_and(is_synonym) AS is_synonym
    FROM (
        SELECT word_number, lexeme, is_stem, false AS is_synonym
        FROM collection, unnest(languages) AS language, unnest(%(words)s::text[]) WITH ORDINALITY AS asked (word, word_number),
             LATERAL (
                SELECT unnest(tsvector_to_array(causeway.stems(language, word))) AS lexeme, true AS is_stem
                UNION ALL
                SELECT unnest(tsvector_to_array(causeway.lexemes(language, word))), false
                UNION ALL
                SELECT '-' || word, true WHERE word ~ '^\d+(\.\d+)*$'  -- the parser takes the hyphen of «E-108» for a sign
             ) AS forms
        UNION ALL
        SELECT word_number, unnest(tsvector_to_array(causeway.stems(language, word))), true, true
        FROM collection, unnest(%(synonym_of)s::int[], %(into)s::text[], %(synonyms)s::text[]) AS told (word_number, language, word)
        WHERE language = ANY (languages)
    ) AS found
    GROUP BY word_number, lexeme
)
SELECT word_number, lexeme, is_stem, document_frequency, is_synonym, chunk_count, average_chars, phrases
FROM form JOIN lexeme_statistics USING (lexeme) JOIN collection USING (collection_id)
WHERE collection_id = %(collection_id)s
  AND lexeme = ANY (ARRAY(SELECT lexeme FROM form))  -- by the index, whatever the planner guesses
ORDER BY word_number, lexeme

-- name: find_similar_lexemes
-- Of each word that no chunk holds, the lexemes that it could be: of about its length, with its first letter.
WITH asked AS MATERIALIZED (
    SELECT word, causeway.fold(word) AS folded
    FROM collections, unnest(%(words)s::text[]) AS word
    WHERE collection_id = %(collection_id)s AND NOT EXISTS (
        SELECT FROM unnest(languages) AS language, LATERAL unnest(tsvector_to_array(causeway.lexemes(language, word))) AS form
        JOIN lexeme_statistics s ON s.collection_id = %(collection_id)s AND s.lexeme = form)
)
SELECT word, ARRAY(
    SELECT lexeme FROM lexeme_statistics s
    WHERE s.collection_id = %(collection_id)s
      AND lexeme >= left(folded, 1) AND lexeme < left(folded, 1) || 'zzzzzz' AND starts_with(lexeme, left(folded, 1))
      AND length(lexeme) BETWEEN length(folded) - 2 AND length(folded) + 2
    ORDER BY document_frequency DESC LIMIT %(limit)s) AS lexemes
FROM asked

-- name: find_chunk_with
SELECT context || E'\n' || content AS text FROM chunks
WHERE collection_id = %(collection_id)s AND tsv @@ %(candidates)s::tsquery
  AND (expires_at IS NULL OR expires_at > now()) LIMIT 1

-- name: find_matching_documents
SELECT causeway.matching_documents(%(collection_id)s, %(filters)s) AS document_id LIMIT %(limit)s

-- name: count_chunks
SELECT count(*) AS chunks FROM (
    SELECT FROM chunks WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) LIMIT %(limit)s
) AS counted

-- name: search_fulltext
-- A budget bounds the chunks that are looked at.
WITH candidate AS MATERIALIZED (
    SELECT chunk_id, tsv, end_char - start_char AS chars FROM searchable_chunks
    WHERE collection_id = %(collection_id)s AND tsv @@ %(candidates)s::tsquery AND {filter}
      AND (cardinality(%(phrases)s::text[]) = 0 OR NOT EXISTS (
            SELECT FROM unnest(%(phrases)s::text[]) AS phrase
            WHERE strpos(causeway.bare(context || ' ' || content), causeway.bare(phrase)) = 0))
    LIMIT %(budget)s
), scored AS (
    {score}
), best AS MATERIALIZED (
    SELECT * FROM scored ORDER BY score DESC FETCH FIRST %(limit)s ROWS WITH TIES
)
SELECT * FROM best JOIN chunk_details USING (chunk_id)
WHERE collection_id = %(collection_id)s
ORDER BY score DESC, created_at DESC, chunk_id LIMIT %(limit)s

-- name: bm25
-- Robertson & Zaragoza 2009 with k1 = 1.2, b = .75; divided by the most it could be, so the score is in [0, 1].
SELECT chunk_id, least(1, sum(idf * tf * 2.2 / (tf + 1.2 * (.25::float8 + .75::float8 * chars / %(average_chars)s))) / %(most)s) AS score
FROM candidate, LATERAL (
    -- Only the question's lexemes, picked out by a weight, are taken apart: a chunk has hundreds.
    SELECT idf, cardinality(positions) AS tf
    FROM unnest(ts_filter(setweight(tsv, 'A', %(lexemes)s::text[]), '{a}')) AS word
    JOIN unnest(%(lexemes)s::text[], %(idf)s::float8[]) AS known (lexeme, idf) USING (lexeme)
) AS held
GROUP BY chunk_id

-- name: ts_rank_cd
SELECT chunk_id, ts_rank_cd(tsv, %(any_lexeme)s::tsquery, 1 | 32)::float8 AS score FROM candidate

-- name: search_vectors_exactly
-- Of a small collection, or of the few documents that a filter leaves, every vector is compared.
WITH nearest AS MATERIALIZED (
    SELECT chunk_id, embedding <=> %(vector)s AS distance FROM chunk_embeddings
    WHERE collection_id = %(collection_id)s AND model = %(model)s AND kind = %(kind)s
      AND (expires_at IS NULL OR expires_at > now()) AND {filter}
    ORDER BY distance FETCH FIRST %(limit)s ROWS WITH TIES
)
SELECT greatest(1 - distance, 0) AS score, details.* FROM nearest JOIN chunk_details AS details USING (chunk_id)
WHERE collection_id = %(collection_id)s AND distance <> 'NaN'  -- a text without any known token has the zero vector
ORDER BY distance, created_at DESC, chunk_id LIMIT %(limit)s

-- name: find_index
SELECT partition, EXISTS (
    SELECT FROM pg_index WHERE indexrelid = to_regclass('causeway.' || partition || %(suffix)s) AND indisvalid) AS is_built
FROM causeway.vector_partition(%(collection_id)s) AS partition

-- name: prepare_index_scan
-- A row where the index is there and worth its scan, which goes on until it has found enough of the collection's own.
SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', least(%(ef_search)s, 1000)::text, true),
       set_config('hnsw.max_scan_tuples', '40000', true)
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indexrelid = to_regclass((
        SELECT tableoid::regclass FROM chunk_embeddings WHERE collection_id = %(collection_id)s
        ORDER BY chunk_id LIMIT 1  -- in order: by its key, whatever the planner guesses
    ) || %(suffix)s) AND indisvalid
  AND %(chunk_count)s > %(exact_chunks)s + %(detour_chunks)s * greatest(reltuples / %(chunk_count)s - 1, 0)

-- name: search_vectors_by_index
WITH nearest AS MATERIALIZED (
    SELECT chunk_id, {embedding} <=> %(vector)s AS distance FROM chunk_embeddings
    WHERE collection_id = %(collection_id)s AND model = {model} AND kind = '{kind}'
      AND (expires_at IS NULL OR expires_at > now()) AND {filter}
    ORDER BY distance LIMIT %(limit)s
)
SELECT greatest(1 - distance, 0) AS score, details.* FROM nearest JOIN chunk_details AS details USING (chunk_id)
WHERE collection_id = %(collection_id)s
ORDER BY distance, created_at DESC, chunk_id

-- name: read_chunks
SELECT details.* FROM unnest(%(documents)s::uuid[], %(first)s::int[], %(last)s::int[]) AS wanted (document_id, first, last)
JOIN chunk_details AS details USING (document_id)
WHERE collection_id = %(collection_id)s AND chunk_index BETWEEN first AND last AND (expires_at IS NULL OR expires_at > now())
ORDER BY document_id, chunk_index

-- name: read_tables
SELECT document_id, content FROM document_tables JOIN documents d USING (collection_id, document_id)
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND (expires_at IS NULL OR expires_at > now())
ORDER BY document_id, table_number
