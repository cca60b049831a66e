-- Bulk loads: what was done anew for each chunk.

-- The check of a vector's key looks its chunk up. While the statistics are those of a small table, as they are when much is
-- loaded into it, the planner took an index that begins with the collection for it, and read all of the collection for each vector.
-- (A chunk's id is made of its document's and its place in it, so that the primary key keeps places unique.)
ALTER TABLE chunks DROP CONSTRAINT chunks_collection_id_document_id_chunk_index_key;
CREATE INDEX chunks_document ON chunks (document_id, chunk_index);

-- As before, but only words that may be codes are taken apart, not every word of a text.
CREATE OR REPLACE FUNCTION causeway.code_parts(words text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql AS $$
    SELECT coalesce(string_agg(part, ' '), '')
    FROM regexp_matches(words, '\S*[0-9@/\\_]\S*', 'g') AS found, unnest(found) AS code,
         regexp_split_to_table(
            CASE WHEN code ~ '^[^[:alnum:]]*[0-9]+([.,][0-9]+)+[^[:alnum:]]*$'
                 THEN substring(regexp_replace(code, '[^0-9]+', '', 'g') FROM '^.{4,}$')
                 ELSE regexp_replace(regexp_replace(
                        code, '([[:alpha:]])([0-9]{3})', '\1 \2', 'g'), '([0-9]{3})([[:alpha:]])', '\1 \2', 'g') END,
            '[^[:alnum:]]+') AS part
    WHERE length(code) BETWEEN 3 AND 100 AND length(part) > 1
      AND code ~ '[[:alnum:]][-.,/@_\\:#][[:alnum:]]|[[:alpha:]][0-9]{3}|[0-9]{3}[[:alpha:]]'
$$;
