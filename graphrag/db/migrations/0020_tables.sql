-- Tables of documents as questions are put to them: typed columns as arrays, one row a table. It is read whole, so its bytes
-- are kept as they are: see graphrag/ingestion/tables/typed_tables.py. What was stored before has none until it is deleted and sent again.
CREATE TABLE document_tables (
    collection_id uuid NOT NULL,
    document_id   uuid NOT NULL,
    table_number  integer NOT NULL,               -- in its document, from 0
    owner_id      text NOT NULL,
    content       bytea NOT NULL,
    PRIMARY KEY (collection_id, document_id, table_number),
    FOREIGN KEY (collection_id, document_id) REFERENCES documents ON DELETE CASCADE
);
ALTER TABLE document_tables ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_tables FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON document_tables USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON document_tables TO causeway_app;
