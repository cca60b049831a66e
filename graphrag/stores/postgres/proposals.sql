-- name: lock_documents
-- They are neither deleted nor replaced before the proposals are stored.
SELECT document_id, content_hash FROM documents
WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s) AND (expires_at IS NULL OR expires_at > now())
ORDER BY document_id FOR KEY SHARE

-- name: find_known
SELECT query_key FROM golden_cases WHERE collection_id = %(collection_id)s AND query_key = ANY (%(keys)s)
UNION SELECT query_key FROM golden_proposals WHERE collection_id = %(collection_id)s AND query_key = ANY (%(keys)s)

-- name: insert
INSERT INTO golden_proposals (collection_id, proposal_id, owner_id, query, query_key, relevant_document_ids,
                              candidate_document_ids, expected_answer, quote, category, difficulty, tags, origin, method,
                              reason, document_id, content_hash)
VALUES (%(collection_id)s, %(proposal_id)s, %(owner_id)s, %(query)s, %(query_key)s, %(relevant_document_ids)s,
        %(candidate_document_ids)s, %(expected_answer)s, %(quote)s, %(category)s, %(difficulty)s, %(tags)s, 'document', %(method)s, '',
        %(document_id)s, %(content_hash)s)

-- name: find
SELECT * FROM golden_proposals_shown WHERE proposal_id = %(proposal_id)s

-- name: list
SELECT * FROM golden_proposals_shown
WHERE collection_id = %(collection_id)s
  AND (%(state)s::text IS NULL OR state = %(state)s)
  AND (%(origin)s::text IS NULL OR origin = %(origin)s)
  AND (%(case_id)s::uuid IS NULL OR case_id = %(case_id)s)
  AND (%(created_at)s::timestamptz IS NULL OR (created_at, proposal_id) > (%(created_at)s, %(proposal_id)s::uuid))
ORDER BY created_at, proposal_id LIMIT %(limit)s

-- name: decide
UPDATE golden_proposals SET state = %(state)s, case_id = %(case_id)s, decided_at = now()
WHERE proposal_id = %(proposal_id)s AND state = 'proposed'

-- name: lock_answer
-- Of one answer's ratings one is given after the other, so that each proposes as all before it say.
SELECT pg_advisory_xact_lock(hashtextextended('rated answer ' || %(message_id)s::uuid, 0))

-- name: rated_turn
-- An answer with its question, those before it, the ratings, and the collection that was asked.
WITH RECURSIVE branch AS (
    SELECT message_id, parent_id, role, content, details, 0 AS distance FROM messages
    WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND message_id = %(message_id)s
    UNION ALL
    SELECT m.message_id, m.parent_id, m.role, m.content, m.details, distance + 1 FROM branch b
    JOIN messages m ON m.owner_id = %(owner_id)s AND m.message_id = b.parent_id WHERE distance < %(most)s
)
SELECT answer.details, asked.collection,
       (SELECT array_agg(content ORDER BY distance DESC) FROM branch WHERE role = 'user') AS questions,
       (SELECT coalesce(jsonb_agg(f), '[]') FROM feedback f
        WHERE f.owner_id = %(owner_id)s AND f.message_id = %(message_id)s) AS ratings
FROM branch answer, conversations asked
WHERE distance = 0 AND asked.owner_id = %(owner_id)s AND asked.conversation_id = %(conversation_id)s

-- name: find_read
-- Of the documents that an answer was made from, those that there are.
SELECT collection_id, document_id FROM documents
WHERE owner_id = %(owner_id)s AND document_id = ANY (%(documents)s) AND (expires_at IS NULL OR expires_at > now())

-- name: find_asked
-- By its name; else the only one that there is.
SELECT collection_id FROM collections
WHERE owner_id = %(owner_id)s AND (name = %(name)s OR (SELECT count(*) FROM collections WHERE owner_id = %(owner_id)s) = 1)
ORDER BY name = %(name)s DESC LIMIT 1

-- name: propose_rated
-- One an answer; what is decided, or was proposed by something else, stays as it is.
INSERT INTO golden_proposals (collection_id, proposal_id, owner_id, query, query_key, relevant_document_ids,
                              candidate_document_ids, expected_answer, quote, category, difficulty, tags, origin, method,
                              reason, conversation_id, message_id, content_hash)
SELECT %(collection_id)s, %(proposal_id)s, %(owner_id)s, %(query)s, %(query_key)s, %(relevant_document_ids)s,
       %(candidate_document_ids)s, '', '', %(category)s, %(difficulty)s, '{}', 'feedback', 'rules', %(reason)s,
       %(conversation_id)s, %(message_id)s, ''
WHERE NOT EXISTS (SELECT FROM golden_cases WHERE collection_id = %(collection_id)s AND query_key = %(query_key)s)
ON CONFLICT (collection_id, query_key) DO UPDATE
    SET relevant_document_ids = excluded.relevant_document_ids, candidate_document_ids = excluded.candidate_document_ids,
        reason = excluded.reason
    WHERE golden_proposals.state = 'proposed' AND golden_proposals.message_id = excluded.message_id

-- name: withdraw_rated
DELETE FROM golden_proposals WHERE owner_id = %(owner_id)s AND message_id = %(message_id)s AND state = 'proposed'
