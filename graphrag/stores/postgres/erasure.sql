-- name: find_gone
-- Answers that were made from documents which are deleted, expired, or have another content by now.
SELECT message_id, conversation_id, array_agg(DISTINCT document_id) AS documents FROM message_documents r
WHERE owner_id = %(owner_id)s
  AND (%(conversations)s::uuid[] IS NULL OR conversation_id = ANY (%(conversations)s))
  AND (%(messages)s::uuid[] IS NULL OR conversation_id IN (
      SELECT conversation_id FROM messages WHERE owner_id = %(owner_id)s AND message_id = ANY (%(messages)s)))
  AND NOT EXISTS (SELECT FROM documents d WHERE d.document_id = r.document_id AND d.content_hash = r.content_hash
                                            AND (expires_at IS NULL OR expires_at > now()))
GROUP BY message_id, conversation_id ORDER BY conversation_id, message_id LIMIT %(limit)s

-- name: find_missing
SELECT DISTINCT document_id FROM unnest(%(documents)s::uuid[], %(hashes)s::text[]) AS r (document_id, content_hash)
WHERE NOT EXISTS (SELECT FROM documents d WHERE d.document_id = r.document_id AND d.content_hash = r.content_hash
                                            AND (expires_at IS NULL OR expires_at > now()))

-- name: lock_conversations
SELECT FROM conversations WHERE owner_id = %(owner_id)s AND conversation_id = ANY (%(conversations)s)
ORDER BY conversation_id FOR NO KEY UPDATE

-- name: read_answers
SELECT m.*, question.content AS question FROM messages m
LEFT JOIN messages question ON question.owner_id = m.owner_id AND question.message_id = m.parent_id
WHERE m.owner_id = %(owner_id)s AND m.conversation_id = ANY (%(conversations)s) AND m.role = 'assistant'

-- name: rewrite_answer
UPDATE messages SET content = %(content)s, details = %(details)s WHERE owner_id = %(owner_id)s AND message_id = %(message_id)s

-- name: forget_documents
DELETE FROM message_documents WHERE owner_id = %(owner_id)s AND message_id = %(message_id)s AND document_id = ANY (%(documents)s)

-- name: forget_ratings
-- Of citations that are gone.
DELETE FROM feedback WHERE owner_id = %(owner_id)s AND message_id = %(message_id)s AND citation > 0 AND citation <> ALL (%(left)s::int[])

-- name: renumber_rating
UPDATE feedback SET citation = %(now)s WHERE owner_id = %(owner_id)s AND message_id = %(message_id)s AND citation = %(before)s

-- name: retitle
-- A model made the title from an answer.
UPDATE conversations c SET titled_by = 'rules', title = coalesce(title_by_rules, (
    SELECT left(content, 60) FROM messages m
    WHERE m.owner_id = c.owner_id AND m.conversation_id = c.conversation_id AND parent_id IS NULL ORDER BY created_at LIMIT 1), '')
WHERE owner_id = %(owner_id)s AND conversation_id = ANY (%(conversations)s) AND titled_by = 'model'

-- name: forget_threads
-- The next question goes on from the stored messages.
WITH latest AS (
    DELETE FROM checkpoints WHERE thread_id = ANY (%(conversations)s::uuid[]::text[])
), blobs AS (
    DELETE FROM checkpoint_blobs WHERE thread_id = ANY (%(conversations)s::uuid[]::text[])
), writes AS (
    DELETE FROM checkpoint_writes WHERE thread_id = ANY (%(conversations)s::uuid[]::text[])
), unnamed AS (
    UPDATE messages SET checkpoint_id = NULL
    WHERE owner_id = %(owner_id)s AND conversation_id = ANY (%(conversations)s) AND checkpoint_id IS NOT NULL
)
UPDATE conversations SET erasures = erasures + 1 WHERE owner_id = %(owner_id)s AND conversation_id = ANY (%(conversations)s)
