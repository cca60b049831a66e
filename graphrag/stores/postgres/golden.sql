-- name: lock
-- Of a collection's cases one writer at a time: a duplicate is told by name, versions are numbered without a gap.
SELECT pg_advisory_xact_lock(hashtextextended('golden cases ' || %(collection_id)s::uuid, 0))

-- name: find_collection
SELECT FROM collections WHERE collection_id = %(collection_id)s FOR KEY SHARE

-- name: find_documents
SELECT document_id, source, filename FROM documents
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
  AND (document_id = ANY (%(ids)s) OR source = ANY (%(sources)s) OR filename = ANY (%(filenames)s))

-- name: name_documents
SELECT document_id, source, filename FROM documents
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now()) AND document_id = ANY (%(ids)s)

-- name: find_same
SELECT case_id, query_key FROM golden_cases WHERE collection_id = %(collection_id)s AND query_key = ANY (%(keys)s)

-- name: insert
INSERT INTO golden_cases (collection_id, case_id, owner_id, query, query_key, relevant_document_ids, expected_answer,
                          category, difficulty, tags)
VALUES (%(collection_id)s, %(case_id)s, %(owner_id)s, %(query)s, %(query_key)s, %(relevant_document_ids)s,
        %(expected_answer)s, %(category)s, %(difficulty)s, %(tags)s)

-- name: update
UPDATE golden_cases SET query = %(query)s, query_key = %(query_key)s, relevant_document_ids = %(relevant_document_ids)s,
                        expected_answer = %(expected_answer)s, category = %(category)s, difficulty = %(difficulty)s,
                        tags = %(tags)s, last_validated_at = now(), updated_at = now()
WHERE collection_id = %(collection_id)s AND case_id = %(case_id)s

-- name: find
SELECT *, causeway.missing_documents(collection_id, relevant_document_ids) AS missing_document_ids
FROM golden_cases WHERE case_id = %(case_id)s

-- name: list
SELECT * FROM (
    SELECT *, causeway.missing_documents(collection_id, relevant_document_ids) AS missing_document_ids
    FROM golden_cases
    WHERE collection_id = %(collection_id)s
      AND (%(created_at)s::timestamptz IS NULL OR (created_at, case_id) > (%(created_at)s, %(case_id)s::uuid))
      AND (%(category)s::text IS NULL OR category = %(category)s)
      AND (%(difficulty)s::text IS NULL OR difficulty = %(difficulty)s)
      AND (%(query)s::text IS NULL OR position(causeway.fold(%(query)s) IN causeway.fold(query)) > 0)
) AS cases
WHERE %(broken)s::bool IS NULL OR (missing_document_ids <> '{}') = %(broken)s
ORDER BY created_at, case_id LIMIT %(limit)s

-- name: delete
DELETE FROM golden_cases WHERE case_id = %(case_id)s

-- name: validate
UPDATE golden_cases SET last_validated_at = now()
WHERE collection_id = %(collection_id)s AND causeway.missing_documents(collection_id, relevant_document_ids) = '{}'

-- name: count_broken
SELECT count(*) AS cases FROM golden_cases
WHERE collection_id = %(collection_id)s AND causeway.missing_documents(collection_id, relevant_document_ids) <> '{}'

-- name: add_version
INSERT INTO golden_versions (collection_id, number, owner_id, name, content_hash, case_count, cases)
SELECT %(collection_id)s, coalesce(max(number), 0) + 1, %(owner_id)s, %(name)s, %(content_hash)s, %(case_count)s, %(cases)s
FROM golden_versions WHERE collection_id = %(collection_id)s
RETURNING *

-- name: list_versions
SELECT number, name, content_hash, case_count, created_at FROM golden_versions
WHERE collection_id = %(collection_id)s AND (%(before)s::int IS NULL OR number < %(before)s)
ORDER BY number DESC LIMIT %(limit)s

-- name: find_version
SELECT * FROM golden_versions WHERE collection_id = %(collection_id)s AND number = %(number)s

-- name: find_missing
SELECT causeway.missing_documents(%(collection_id)s, %(ids)s) AS missing
