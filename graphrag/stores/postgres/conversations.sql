-- name: begin
-- The first question of a conversation that is made for it.
WITH made AS (
    INSERT INTO conversations (owner_id, conversation_id, title, collection, other_collections)
    VALUES (%(owner_id)s, %(conversation_id)s, %(title)s, %(collection)s, %(other_collections)s)
)
INSERT INTO messages (owner_id, message_id, conversation_id, parent_id, role, content, status)
VALUES (%(owner_id)s, %(message_id)s, %(conversation_id)s, NULL, 'user', %(content)s, 'complete')
RETURNING *

-- name: add_question
WITH named AS (
    UPDATE conversations SET title = %(title)s
    WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND title = ''
)
INSERT INTO messages (owner_id, message_id, conversation_id, parent_id, role, content, status)
VALUES (%(owner_id)s, %(message_id)s, %(conversation_id)s, %(parent_id)s, 'user', %(content)s, 'complete')
RETURNING *

-- name: add_answer
WITH answer AS (
    INSERT INTO messages (owner_id, message_id, conversation_id, parent_id, role, content, status, details, checkpoint_id)
    VALUES (%(owner_id)s, %(message_id)s, %(conversation_id)s, %(parent_id)s, 'assistant', %(content)s, %(status)s,
            %(details)s, %(checkpoint_id)s)
)
UPDATE conversations SET leaf_id = %(message_id)s, updated_at = now()
WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s

-- name: read_recent
-- A message and what led to it, back to the last answer that the thread has a checkpoint of.
WITH RECURSIVE recent AS (
    SELECT m.*, 1 AS distance FROM messages m
    WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND message_id = %(message_id)s
    UNION ALL
    SELECT m.*, distance + 1 FROM messages m JOIN recent r USING (owner_id)
    WHERE m.message_id = r.parent_id AND r.checkpoint_id IS NULL AND distance < %(most)s
)
SELECT * FROM recent ORDER BY distance DESC

-- name: make
INSERT INTO conversations (owner_id, conversation_id, title, titled_by, collection, other_collections)
VALUES (%(owner_id)s, %(conversation_id)s, %(title)s, CASE WHEN %(title)s = '' THEN 'rules' ELSE 'person' END, %(collection)s,
        %(other_collections)s)
RETURNING *, false AS is_shared

-- name: find
SELECT *, EXISTS (SELECT FROM shares s WHERE s.owner_id = c.owner_id AND s.conversation_id = c.conversation_id) AS is_shared
FROM conversations c WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s

-- name: list
SELECT *, EXISTS (SELECT FROM shares s WHERE s.owner_id = c.owner_id AND s.conversation_id = c.conversation_id) AS is_shared
FROM conversations c
WHERE owner_id = %(owner_id)s AND strpos(causeway.fold(title), causeway.fold(%(query)s)) > 0
  AND (%(updated_at)s::timestamptz IS NULL OR (updated_at, conversation_id) < (%(updated_at)s, %(conversation_id)s::uuid))
ORDER BY updated_at DESC, conversation_id DESC LIMIT %(limit)s

-- name: rename
-- What a person calls it stays. A model is asked for a title of its first answer, unless that had to be taken back.
UPDATE conversations c SET title = %(title)s, titled_by = %(titled_by)s,
                           title_by_rules = CASE WHEN titled_by = 'rules' THEN title ELSE title_by_rules END
WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s
  AND (%(titled_by)s = 'person' OR titled_by <> 'person' AND erasures = 0)
RETURNING *, EXISTS (SELECT FROM shares s WHERE s.owner_id = c.owner_id AND s.conversation_id = c.conversation_id) AS is_shared

-- name: ask_of
UPDATE conversations c SET collection = %(collection)s, other_collections = %(other_collections)s
WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s
RETURNING *, EXISTS (SELECT FROM shares s WHERE s.owner_id = c.owner_id AND s.conversation_id = c.conversation_id) AS is_shared

-- name: show
UPDATE conversations SET leaf_id = %(leaf_id)s WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s

-- name: delete
DELETE FROM conversations WHERE owner_id = %(owner_id)s AND conversation_id = ANY (%(conversations)s) RETURNING conversation_id

-- name: purge
DELETE FROM conversations WHERE owner_id = %(owner_id)s AND updated_at <= now() - %(retention)s

-- name: oldest
SELECT min(updated_at) AS updated_at FROM conversations WHERE owner_id = %(owner_id)s

-- name: outline
SELECT message_id, parent_id FROM messages WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s
ORDER BY created_at, message_id

-- name: read_messages
SELECT * FROM messages WHERE owner_id = %(owner_id)s AND message_id = ANY (%(messages)s)

-- name: page_of_messages
SELECT message_id FROM messages WHERE owner_id = %(owner_id)s AND message_id = ANY (%(messages)s)
  AND (%(created_at)s::timestamptz IS NULL OR (created_at, message_id) > (%(created_at)s, %(message_id)s::uuid))
ORDER BY created_at, message_id LIMIT %(limit)s

-- name: share
INSERT INTO shares (owner_id, hash, conversation_id, message_id)
SELECT owner_id, %(hash)s, conversation_id, message_id FROM messages
WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND message_id = %(message_id)s
RETURNING message_id

-- name: unshare
DELETE FROM shares WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s

-- name: find_share
SELECT * FROM causeway.find_share(%(hash)s)

-- name: delete_message
DELETE FROM messages WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND message_id = %(message_id)s

-- name: add_documents
INSERT INTO message_documents (owner_id, message_id, conversation_id, document_id, content_hash)
SELECT %(owner_id)s, %(message_id)s, %(conversation_id)s, * FROM unnest(%(documents)s::uuid[], %(hashes)s::text[])

-- name: rate
INSERT INTO feedback (owner_id, message_id, citation, rating, comment)
SELECT owner_id, message_id, %(citation)s, %(rating)s, %(comment)s FROM messages
WHERE owner_id = %(owner_id)s AND conversation_id = %(conversation_id)s AND message_id = %(message_id)s
  AND role = 'assistant' AND %(citation)s <= jsonb_array_length(coalesce(details -> 'citations', '[]'))
ON CONFLICT (owner_id, message_id, citation) DO UPDATE
    SET rating = excluded.rating, comment = excluded.comment, updated_at = now()
RETURNING *

-- name: unrate
DELETE FROM feedback f USING messages m
WHERE m.owner_id = %(owner_id)s AND m.conversation_id = %(conversation_id)s AND m.message_id = %(message_id)s
  AND f.owner_id = m.owner_id AND f.message_id = m.message_id AND citation = %(citation)s

-- name: feedback_of
SELECT * FROM feedback WHERE owner_id = %(owner_id)s AND message_id = ANY (%(messages)s) ORDER BY message_id, citation

-- name: list_feedback
SELECT f.*, m.conversation_id, m.content AS answer, question.content AS question,
       CASE WHEN citation > 0 THEN m.details -> 'citations' -> (citation - 1) END AS cited
FROM feedback f
JOIN messages m USING (owner_id, message_id)
JOIN messages question ON question.owner_id = m.owner_id AND question.message_id = m.parent_id
JOIN conversations c ON c.owner_id = m.owner_id AND c.conversation_id = m.conversation_id
WHERE f.owner_id = %(owner_id)s AND (%(rating)s::int IS NULL OR rating = %(rating)s)
  AND (%(conversation_id)s::uuid IS NULL OR m.conversation_id = %(conversation_id)s)
  AND (%(collection)s::text IS NULL OR coalesce(c.collection, %(default)s) = %(collection)s
       OR %(collection)s = ANY (other_collections))
  AND (%(updated_at)s::timestamptz IS NULL OR
       (f.updated_at, f.message_id, f.citation) < (%(updated_at)s, %(message_id)s::uuid, %(citation)s::int))
ORDER BY f.updated_at DESC, f.message_id DESC, f.citation DESC LIMIT %(limit)s
