-- A conversation may be over several collections: `collection` is the first.
ALTER TABLE conversations ADD COLUMN other_collections text[] NOT NULL DEFAULT '{}';  -- the names of the others
