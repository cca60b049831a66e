-- A collection as LangChain's PGVectorStore reads a table: the owner in app.user_id, the collection in app.collection_id.

CREATE VIEW langchain_chunks WITH (security_invoker = true) AS
    SELECT details.chunk_id AS id, content, embedding,
           json_build_object(
               'chunk_id', details.chunk_id, 'document_id', document_id, 'chunk_index', chunk_index,
               'created_at', details.created_at, 'source', source, 'filename', filename, 'title', title, 'language', language,
               'media_type', media_type, 'source_type', source_type, 'tags', tags, 'context', context,
               'start_char', start_char, 'end_char', end_char) AS metadata
    FROM chunk_embeddings AS embedded
    JOIN collections USING (collection_id)
    JOIN chunk_details AS details USING (collection_id, chunk_id)
    WHERE collection_id = (SELECT nullif(current_setting('app.collection_id', true), '')::uuid)
      AND model = embedding_model AND kind = 'content'
      AND (embedded.expires_at IS NULL OR embedded.expires_at > now())
      AND l2_norm(embedding) > 0;  -- a text without any known token has no direction, and is near nothing
GRANT SELECT ON langchain_chunks TO causeway_app;
