-- name: create
INSERT INTO evaluation_runs (collection_id, run_id, owner_id, name, version, golden_hash, config, embedding_model, config_hash, warnings, total)
VALUES (%(collection_id)s, %(run_id)s, %(owner_id)s, %(name)s, %(version)s, %(golden_hash)s, %(config)s,
        %(embedding_model)s, %(config_hash)s, %(warnings)s, %(total)s)

-- name: add_case
INSERT INTO evaluation_results (collection_id, run_id, position, owner_id, case_id, query, category, difficulty, relevant_document_ids,
    expected_answer)
VALUES (%(collection_id)s, %(run_id)s, %(position)s, %(owner_id)s, %(case_id)s, %(query)s, %(category)s, %(difficulty)s,
        %(relevant_document_ids)s, %(expected_answer)s)

-- name: find
SELECT r.*, c.name AS collection FROM evaluation_runs r JOIN collections c USING (collection_id) WHERE run_id = %(run_id)s

-- name: list
SELECT r.*, c.name AS collection FROM evaluation_runs r JOIN collections c USING (collection_id)
WHERE r.owner_id = %(owner_id)s AND (%(collection_id)s::uuid IS NULL OR r.collection_id = %(collection_id)s)
  AND (%(status)s::text IS NULL OR r.status = %(status)s)
  AND (%(created_at)s::timestamptz IS NULL OR (r.created_at, run_id) < (%(created_at)s::timestamptz, %(run_id)s::uuid))
ORDER BY r.created_at DESC, run_id DESC LIMIT %(limit)s

-- name: begin
UPDATE evaluation_runs r
SET status = 'running', ticket = gen_random_uuid(), started_at = coalesce(started_at, now())
FROM collections c
WHERE c.collection_id = r.collection_id AND r.collection_id = %(collection_id)s AND run_id = %(run_id)s
  AND status IN ('waiting', 'running')
RETURNING r.*, c.name AS collection

-- name: take
SELECT *, causeway.missing_documents(collection_id, relevant_document_ids) AS gone FROM evaluation_results
WHERE collection_id = %(collection_id)s AND run_id = %(run_id)s AND status = 'waiting' ORDER BY position LIMIT %(limit)s

-- name: save
-- By the worker that has the run in hand alone, and each case once.
WITH counted AS (
    UPDATE evaluation_runs SET done = done + 1
    WHERE collection_id = %(collection_id)s AND run_id = %(run_id)s AND ticket = %(ticket)s AND status = 'running'
    RETURNING run_id
)
UPDATE evaluation_results e SET status = %(status)s, retrieved_document_ids = %(retrieved_document_ids)s,
    missing_document_ids = %(missing_document_ids)s, rank = %(rank)s, metrics = %(metrics)s,
    milliseconds = %(milliseconds)s, failed = %(failed)s, answer_milliseconds = %(answer_milliseconds)s,
    first_token_milliseconds = %(first_token_milliseconds)s, chat_model = %(chat_model)s,
    answer_failed = %(answer_failed)s, statements = %(statements)s, unjudged = %(unjudged)s
FROM counted
WHERE collection_id = %(collection_id)s AND e.run_id = counted.run_id AND position = %(position)s AND status = 'waiting'

-- name: finish
UPDATE evaluation_runs SET status = 'done', summary = %(summary)s, finished_at = now(),
    warnings = warnings || %(warnings)s::text[]
WHERE collection_id = %(collection_id)s AND run_id = %(run_id)s AND ticket = %(ticket)s AND status = 'running'

-- name: fail
-- By the worker that has it in hand; by one that has not begun it, without a ticket.
UPDATE evaluation_runs SET status = 'failed', reason = %(reason)s, cause = %(cause)s, finished_at = now()
WHERE collection_id = %(collection_id)s AND run_id = %(run_id)s AND status IN ('waiting', 'running')
  AND (%(ticket)s::uuid IS NULL OR ticket = %(ticket)s)

-- name: cancel
UPDATE evaluation_runs SET status = 'cancelled', finished_at = now()
WHERE run_id = %(run_id)s AND status IN ('waiting', 'running')

-- name: delete
DELETE FROM evaluation_runs WHERE run_id = %(run_id)s

-- name: read_results
SELECT * FROM evaluation_results
WHERE collection_id = %(collection_id)s AND run_id = %(run_id)s AND position > %(after)s ORDER BY position LIMIT %(limit)s
