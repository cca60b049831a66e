-- What an answer has read: when a document is gone, or has another content, every answer that holds words of it is found.

-- A table: no operator that a GIN index of arrays knows is leakproof, and a policy keeps such an index from being used.
CREATE TABLE message_documents (
    owner_id        text NOT NULL,
    message_id      uuid NOT NULL,
    conversation_id uuid NOT NULL,
    document_id     uuid NOT NULL,
    content_hash    text NOT NULL,                    -- of the file that was read; '': it is not known, and taken for gone
    PRIMARY KEY (owner_id, message_id, document_id, content_hash),
    FOREIGN KEY (owner_id, message_id) REFERENCES messages ON DELETE CASCADE
);
CREATE INDEX ON message_documents (owner_id, conversation_id);
CREATE INDEX ON message_documents (owner_id, document_id);
CREATE INDEX documents_by_id ON documents (document_id);

ALTER TABLE message_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE message_documents FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON message_documents USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON message_documents TO causeway_app;

-- A model's title may hold an answer's words: where that is taken back, the title of the rules comes back too.
ALTER TABLE conversations
    ADD COLUMN title_by_rules text,
    ADD COLUMN erasures integer NOT NULL DEFAULT 0;   -- of words in it: an answer that began before one is no part of its thread

-- Answers that were given before: what they quote either stands in the document as it is now, or is gone.
DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['messages', 'message_documents', 'documents', 'chunks'] LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);  -- of all owners, at once
    END LOOP;
END $$;

WITH quoted AS (
    SELECT m.owner_id, m.message_id, m.conversation_id, (q ->> 'document_id')::uuid AS document_id,
           (q ->> 'start_char')::int AS first, (q ->> 'end_char')::int AS last, coalesce(q ->> 'content', q ->> 'quote') AS words
    FROM messages m, LATERAL (
        SELECT * FROM jsonb_array_elements(coalesce(details -> 'sources', '[]'))
        UNION ALL SELECT * FROM jsonb_path_query(details, '$.paths[*].edges[*]')
    ) AS known (q)
    WHERE role = 'assistant'
)
INSERT INTO message_documents
SELECT owner_id, message_id, conversation_id, document_id,
       CASE WHEN bool_and(coalesce(strpos(known.content, words), 0) > 0) THEN coalesce(min(d.content_hash), '') ELSE '' END
FROM quoted q
LEFT JOIN documents d USING (owner_id, document_id)
LEFT JOIN LATERAL (
    SELECT string_agg(content, '' ORDER BY chunk_index) AS content FROM chunks c
    WHERE c.collection_id = d.collection_id AND c.document_id = d.document_id AND start_char < q.last AND end_char > q.first
) AS known ON true
GROUP BY owner_id, message_id, conversation_id, document_id;

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['messages', 'message_documents', 'documents', 'chunks'] LOOP
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END $$;
