-- How often a worker has died while it had a document; after a few times the document is given up: see ingestions.sql.
ALTER TABLE ingestions ADD COLUMN stalls integer NOT NULL DEFAULT 0;
