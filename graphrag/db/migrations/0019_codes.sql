-- A code is found by its parts too, and where it is written with other separators: «INV/2025/0042» by "0042", «BC66131» as
-- "BC-66131". The parser keeps an address, a path or a version whole, and takes the hyphen before digits for a sign.

-- The parts of words with a digit or a sign of codes, and a sign between letters or digits; of letters and digits that are
-- written together, where there are three digits or more. Of a number of four digits or more its digits alone: «1.948,75».
CREATE FUNCTION causeway.code_parts(words text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT coalesce(string_agg(part, ' '), '')
    FROM regexp_split_to_table(words, '\s+') AS code,
         regexp_split_to_table(
            CASE WHEN code ~ '^[^[:alnum:]]*[0-9]+([.,][0-9]+)+[^[:alnum:]]*$'
                 THEN substring(regexp_replace(code, '[^0-9]+', '', 'g') FROM '^.{4,}$')
                 ELSE regexp_replace(regexp_replace(
                        code, '([[:alpha:]])([0-9]{3})', '\1 \2', 'g'), '([0-9]{3})([[:alpha:]])', '\1 \2', 'g') END,
            '[^[:alnum:]]+') AS part
    WHERE length(code) BETWEEN 3 AND 100 AND length(part) > 1 AND code ~ '[0-9@/\\_]'
      AND code ~ '[[:alnum:]][-.,/@_\\:#][[:alnum:]]|[[:alpha:]][0-9]{3}|[0-9]{3}[[:alpha:]]'
$$;

CREATE OR REPLACE FUNCTION causeway.lexemes(language text, words text) RETURNS tsvector IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT causeway.fold(to_tsvector(causeway.stemming(language), words)::text || ' '
                         || to_tsvector(causeway.exact(language), words)::text || ' '
                         || to_tsvector('pg_catalog.simple', causeway.code_parts(words))::text)::tsvector
$$;

-- Their owner, too, sees only an owner's rows where that is forced.
ALTER TABLE chunks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE lexeme_statistics NO FORCE ROW LEVEL SECURITY;
UPDATE chunks SET context = context WHERE causeway.code_parts(context || E'\n' || content) <> '';  -- which makes its lexemes anew
TRUNCATE lexeme_statistics;
INSERT INTO lexeme_statistics (collection_id, owner_id, lexeme, document_frequency)
SELECT collection_id, owner_id, lexeme, count(*)
FROM chunks, unnest(tsvector_to_array(ts_delete(tsv, causeway.home(collection_id)))) AS lexeme
GROUP BY collection_id, owner_id, lexeme;
ALTER TABLE chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE lexeme_statistics FORCE ROW LEVEL SECURITY;
