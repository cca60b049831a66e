-- What evaluations measure of answers. No word of an answer is here: it would be a document's, and subject to erasure.
ALTER TABLE evaluation_results
    ADD COLUMN expected_answer          text NOT NULL DEFAULT '',  -- the case's, as it was when the run was ordered
    ADD COLUMN answer_milliseconds      double precision,          -- null: it was not answered
    ADD COLUMN first_token_milliseconds double precision,
    ADD COLUMN chat_model               text,                      -- that wrote the answer, by name
    ADD COLUMN answer_failed            text[] NOT NULL DEFAULT '{}',
    ADD COLUMN statements               jsonb NOT NULL DEFAULT '{}',  -- of the answer: how many, by the status that each has
    ADD COLUMN unjudged                 text[] NOT NULL DEFAULT '{}';  -- metrics of which the judge said nothing usable
