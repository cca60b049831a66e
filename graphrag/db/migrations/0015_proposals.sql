-- Golden cases that are proposed, from feedback and from documents, until a person accepts or rejects them.

CREATE TABLE golden_proposals (
    collection_id          uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    proposal_id            uuid NOT NULL,
    owner_id               text NOT NULL,
    query                  text NOT NULL,
    query_key              text NOT NULL,             -- as that of golden_cases; it outlives the question's words
    relevant_document_ids  uuid[] NOT NULL,
    candidate_document_ids uuid[] NOT NULL,           -- that may be relevant, too: let a person choose
    expected_answer        text NOT NULL,
    quote                  text NOT NULL,             -- of the document that answers
    category               text NOT NULL CHECK (category IN ('factual', 'causal', 'temporal', 'multi_part')),
    difficulty             text NOT NULL CHECK (difficulty IN ('easy', 'medium', 'hard')),
    tags                   text[] NOT NULL,
    origin                 text NOT NULL CHECK (origin IN ('feedback', 'document')),
    method                 text NOT NULL CHECK (method IN ('rules', 'model')),
    reason                 text NOT NULL,             -- what a person said of the answer
    conversation_id        uuid,
    message_id             uuid,                      -- the answer; no foreign key: what is decided stays when it goes
    document_id            uuid,
    content_hash           text NOT NULL,             -- of the document that it was made from
    state                  text NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'accepted', 'rejected')),
    case_id                uuid,                      -- the golden case that became of it
    created_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    decided_at             timestamptz,
    PRIMARY KEY (collection_id, proposal_id),
    UNIQUE (collection_id, query_key),
    CHECK ((origin = 'feedback') = (message_id IS NOT NULL) AND (origin = 'document') = (document_id IS NOT NULL))
);
CREATE INDEX ON golden_proposals (proposal_id);
CREATE INDEX ON golden_proposals (collection_id, created_at, proposal_id);
CREATE INDEX ON golden_proposals (owner_id, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX ON golden_proposals (collection_id, document_id) WHERE document_id IS NOT NULL;

ALTER TABLE golden_proposals ENABLE ROW LEVEL SECURITY;
ALTER TABLE golden_proposals FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON golden_proposals USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON golden_proposals TO causeway_app;

-- A document that is gone, or has another content, takes along what nobody has decided of. Of the rest the key is left, so
-- that it is not proposed again. At the end of the transaction: a document that is cut anew is deleted and written again.
CREATE FUNCTION causeway.forget_document_proposals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM causeway.golden_proposals
                   WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id)  -- of thousands, nearly all
       OR EXISTS (SELECT FROM causeway.documents WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id
                                                   AND content_hash = OLD.content_hash) THEN
        RETURN NULL;
    END IF;
    DELETE FROM causeway.golden_proposals
    WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id AND content_hash = OLD.content_hash
      AND state = 'proposed';
    UPDATE causeway.golden_proposals SET query = '', expected_answer = '', quote = '', tags = '{}'
    WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id AND content_hash = OLD.content_hash;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER forget_document_proposals AFTER DELETE ON documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION causeway.forget_document_proposals();

-- The same of an answer that is deleted: what was asked and said of it.
CREATE FUNCTION causeway.forget_message_proposals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM causeway.golden_proposals p USING gone
    WHERE p.owner_id = gone.owner_id AND p.message_id = gone.message_id AND state = 'proposed';
    UPDATE causeway.golden_proposals p SET query = '', expected_answer = '', reason = '', tags = '{}' FROM gone
    WHERE p.owner_id = gone.owner_id AND p.message_id = gone.message_id;
    RETURN NULL;
END $$;
CREATE TRIGGER forget_message_proposals AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION causeway.forget_message_proposals();

-- As they are shown: an expired document is as good as gone, and waits only for the job that deletes it.
CREATE VIEW golden_proposals_shown WITH (security_invoker) AS
SELECT collection_id, proposal_id, origin, method, state, case_id, category, difficulty, relevant_document_ids,
       candidate_document_ids, reason, conversation_id, message_id, document_id, created_at, decided_at,
       CASE WHEN is_there THEN query ELSE '' END AS query,
       CASE WHEN is_there THEN expected_answer ELSE '' END AS expected_answer,
       CASE WHEN is_there THEN quote ELSE '' END AS quote,
       CASE WHEN is_there THEN tags ELSE '{}' END AS tags
FROM golden_proposals p, LATERAL (
    SELECT origin = 'feedback' OR EXISTS (
        SELECT FROM documents d
        WHERE d.collection_id = p.collection_id AND d.document_id = p.document_id AND d.content_hash = p.content_hash
          AND (expires_at IS NULL OR expires_at > now())) AS is_there
) AS source
WHERE is_there OR state <> 'proposed';
GRANT SELECT ON golden_proposals_shown TO causeway_app;
