-- A document keeps its id when its file is renamed, so its id is found by its source; no two documents have the same.
CREATE UNIQUE INDEX ON ingestions (collection_id, source);
-- Sources of further files with the same content.
ALTER TABLE ingestions ADD COLUMN copies text[] NOT NULL DEFAULT '{}';
CREATE INDEX ON ingestions (collection_id) WHERE copies <> '{}';
