-- Vectors in context beside the plain ones, and what it takes to make them again with another model.

ALTER TABLE collections
    ADD COLUMN has_contextual boolean NOT NULL DEFAULT false;   -- then each of its chunks has vectors of both kinds

ALTER TABLE chunks
    ADD COLUMN situation text NOT NULL DEFAULT '';              -- what a model said of where it stands
