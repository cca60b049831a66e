-- name: insert_entities
-- Those that are new; the others keep the name that they were first given.
INSERT INTO entities (collection_id, entity_id, owner_id, key, name)
SELECT %(collection_id)s, entity_id, %(owner_id)s, key, name
FROM unnest(%(ids)b::uuid[], %(keys)b::text[], %(names)b::text[]) AS made (entity_id, key, name)
ON CONFLICT DO NOTHING RETURNING entity_id

-- name: insert_roots
INSERT INTO entity_roots (collection_id, root, entity_id, owner_id, size)
SELECT %(collection_id)s, root, entity_id, %(owner_id)s, size
FROM unnest(%(roots)b::text[], %(ids)b::uuid[], %(sizes)b::int[]) AS made (root, entity_id, size)

-- name: insert_edges
INSERT INTO causal_edges (collection_id, owner_id, edge_id, chunk_id, chunk_index, document_id, cause_id, effect_id, type, polarity,
                          confidence, extractor, quote, start_char, end_char, expires_at)
SELECT %(collection_id)s, %(owner_id)s, made.* FROM unnest(
    %(edge_id)b::uuid[], %(chunk_id)b::uuid[], %(chunk_index)b::int[], %(document_id)b::uuid[], %(cause_id)b::uuid[], %(effect_id)b::uuid[],
    %(type)s::text[], %(polarity)s::text[], %(confidence)b::real[], %(extractor)b::text[], %(quote)b::text[],
    %(start_char)b::int[], %(end_char)b::int[], %(expires_at)s::timestamptz[]) AS made

-- name: insert_mentions
INSERT INTO mentions (collection_id, owner_id, key, chunk_id, document_id, weight, expires_at)
SELECT %(collection_id)s, %(owner_id)s, made.* FROM unnest(
    %(key)b::text[], %(chunk_id)b::uuid[], %(document_id)b::uuid[], %(weight)b::real[],
    %(expires_at)s::timestamptz[]) AS made

-- name: find_touched_entities
SELECT DISTINCT entity_id FROM causal_edges, unnest(ARRAY[cause_id, effect_id]) AS entity_id
WHERE collection_id = %(collection_id)s AND chunk_id = ANY (ARRAY(
    SELECT chunk_id FROM chunks WHERE collection_id = %(collection_id)s AND document_id = ANY (%(documents)s)))

-- name: delete_lone_entities
-- With what leads to them. OFFSET keeps a look-up by the index from becoming a join.
WITH lone AS MATERIALIZED (
    SELECT entity_id FROM unnest(%(ids)s::uuid[]) AS touched (entity_id)
    WHERE NOT EXISTS (SELECT FROM causal_edges WHERE collection_id = %(collection_id)s AND cause_id = entity_id OFFSET 0)
      AND NOT EXISTS (SELECT FROM causal_edges WHERE collection_id = %(collection_id)s AND effect_id = entity_id OFFSET 0)
), roots AS (
    DELETE FROM entity_roots WHERE collection_id = %(collection_id)s AND entity_id = ANY (ARRAY(SELECT entity_id FROM lone))
), links AS (
    DELETE FROM entity_links WHERE collection_id = %(collection_id)s
       AND (entity_id = ANY (ARRAY(SELECT entity_id FROM lone)) OR other_id = ANY (ARRAY(SELECT entity_id FROM lone)))
)
DELETE FROM entities WHERE collection_id = %(collection_id)s AND entity_id = ANY (ARRAY(SELECT entity_id FROM lone))

-- name: prepare_walk
-- Whatever the planner thinks of the arrays between them, its steps look a few rows up by the index.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_memoize', 'off', true)

-- name: prepare_joins
-- Each look-up is LATERAL, which is a loop in any case; what has been looked up is joined by hashes, though the planner
-- expects a few rows of it.
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_memoize', 'off', true),
       set_config('enable_nestloop', 'off', true)

-- name: find_link_candidates
-- Of each new entity those that share a rare root with it, of the rarest roots first, or its two rarest where none is rare; of
-- frequent roots the entities are read in one order, so that of both the same part is seen. LIMITs keep a scan by the index.
WITH held AS MATERIALIZED (
    SELECT entity_id, root, size FROM entity_roots WHERE collection_id = %(collection_id)s AND entity_id = ANY (%(ids)s)
), known AS MATERIALIZED (
    SELECT root, (SELECT count(*) FROM (
        SELECT FROM entity_roots r WHERE collection_id = %(collection_id)s AND r.root = wanted.root LIMIT %(frequent)s
    ) AS counted) AS entities
    FROM (SELECT DISTINCT root FROM held) AS wanted
), ranked AS MATERIALIZED (
    SELECT entity_id, root, size, entities, row_number() OVER rarest AS number, sum(entities) OVER rarest - entities AS before
    FROM held JOIN known USING (root) WHERE entities > 1
    WINDOW rarest AS (PARTITION BY entity_id ORDER BY entities, root)
), pair AS (
    SELECT entity_id, other_id, sum(1.0::float8 / entities) / (min(size) + min(other_size)) AS weight
    FROM ranked, LATERAL (
        SELECT o.entity_id AS other_id, o.size AS other_size FROM entity_roots o
        WHERE collection_id = %(collection_id)s AND o.root = ranked.root ORDER BY o.entity_id LIMIT %(rare)s
    ) AS other
    WHERE entities <= %(rare)s AND before < %(rare)s AND other_id <> entity_id
      AND 3 * least(size, other_size) >= greatest(size, other_size)
    GROUP BY entity_id, other_id
    UNION ALL
    SELECT entity_id, other_id, 0 FROM (
        SELECT roots, array_agg(entity_id) AS entities FROM (
            SELECT entity_id, array_agg(root ORDER BY number) FILTER (WHERE number <= 2) AS roots FROM ranked
            GROUP BY entity_id HAVING min(entities) > %(rare)s AND count(*) > 1
        ) AS frequent GROUP BY roots
    ) AS frequent, LATERAL (
        SELECT entity_id AS other_id FROM (
            SELECT entity_id, size FROM entity_roots WHERE collection_id = %(collection_id)s AND root = roots[1]
            ORDER BY entity_id LIMIT %(frequent)s
        ) AS one JOIN (
            SELECT entity_id FROM entity_roots WHERE collection_id = %(collection_id)s AND root = roots[2]
            ORDER BY entity_id LIMIT %(frequent)s
        ) AS other USING (entity_id)
        ORDER BY size, entity_id LIMIT %(limit)s
    ) AS pair, unnest(entities) AS entity_id
    WHERE entity_id <> other_id
), best AS (
    SELECT *, row_number() OVER (PARTITION BY entity_id ORDER BY weight DESC, other_id) AS number FROM pair
)
SELECT entity_id, array_agg(other_id) AS others FROM best WHERE number <= %(limit)s GROUP BY entity_id

-- name: find_keys
SELECT entity_id, key FROM entities WHERE collection_id = %(collection_id)s AND entity_id = ANY (%(ids)s)

-- name: insert_links
INSERT INTO entity_links (collection_id, owner_id, entity_id, other_id, similarity)
SELECT %(collection_id)s, %(owner_id)s, one, other, similarity
FROM unnest(%(ids)s::uuid[], %(others)s::uuid[], %(similarities)s::real[]) AS made (entity_id, other_id, similarity),
     LATERAL (VALUES (entity_id, other_id), (other_id, entity_id)) AS link (one, other)
ON CONFLICT DO NOTHING

-- name: count_entities
SELECT root, (SELECT count(*) FROM (
    SELECT FROM entity_roots r WHERE collection_id = %(collection_id)s AND r.root = asked.root LIMIT %(limit)s
) AS counted) AS entities
FROM unnest(%(roots)s::text[]) AS asked (root)

-- name: find_start_candidates
-- Those that hold most of the rarest roots and little else; of a frequent root a part, the same of each.
WITH found AS MATERIALIZED (
    SELECT entity_id, sum(weight) AS weight, min(size) AS size
    FROM unnest(%(roots)s::text[], %(weights)s::float8[]) AS asked (root, weight), LATERAL (
        SELECT entity_id, size FROM entity_roots r WHERE collection_id = %(collection_id)s AND r.root = asked.root
        ORDER BY entity_id LIMIT %(most)s
    ) AS held
    GROUP BY entity_id
    UNION ALL
    SELECT %(exact)s, 1e9, 0
), best AS MATERIALIZED (
    SELECT DISTINCT entity_id FROM (SELECT entity_id FROM found ORDER BY weight DESC, size, entity_id LIMIT %(limit)s) AS first
)
SELECT entity_id, key FROM best JOIN entities USING (entity_id)
WHERE collection_id = %(collection_id)s AND (
    EXISTS (SELECT FROM causal_edges WHERE collection_id = %(collection_id)s AND cause_id = entity_id AND polarity = 'fact'
              AND (expires_at IS NULL OR expires_at > now()) AND {filter} OFFSET 0)
    OR EXISTS (SELECT FROM causal_edges WHERE collection_id = %(collection_id)s AND effect_id = entity_id AND polarity = 'fact'
                 AND (expires_at IS NULL OR expires_at > now()) AND {filter} OFFSET 0))

-- name: find_starts_in_chunks
-- What the chunks state is meant as surely as they are near, what their documents state elsewhere less so.
WITH near AS MATERIALIZED (
    SELECT chunk_id, document_id, score FROM unnest(%(chunks)s::uuid[], %(scores)s::float8[]) AS given (chunk_id, score)
    JOIN chunks USING (chunk_id) WHERE collection_id = %(collection_id)s
), place AS MATERIALIZED (
    SELECT document_id, max(score) AS score FROM near GROUP BY document_id
)
SELECT entity_id, max(score) AS score FROM (
    SELECT CASE direction WHEN 'causes' THEN effect_id ELSE cause_id END AS entity_id,
           coalesce((SELECT score FROM near WHERE near.chunk_id = e.chunk_id), place.score * %(beside)s) AS score
    FROM place JOIN chunks c USING (document_id) JOIN causal_edges e USING (collection_id, chunk_id),
         unnest(%(directions)s::text[]) AS direction
    WHERE collection_id = %(collection_id)s AND polarity = 'fact' AND (e.expires_at IS NULL OR e.expires_at > now())
      AND place.document_id IN (SELECT document_id FROM documents WHERE collection_id = %(collection_id)s AND {filter})
) AS stated
GROUP BY entity_id ORDER BY score DESC, entity_id LIMIT %(limit)s

-- name: walk_causes
-- A row a step and direction. `entities` are those to go on from, `seen` those that the walk has gone on from or will.
WITH RECURSIVE walk AS (
    SELECT direction, 0 AS step, %(starts)s::uuid[] AS entities, %(scores)s::float8[] AS scores, %(starts)s::uuid[] AS seen,
           '{}'::uuid[] AS edges, '{}'::float8[] AS edge_scores
    FROM unnest(%(directions)s::text[]) AS direction
    UNION ALL
    SELECT direction, step + 1, next.entities, next.scores, walk.seen || next.seen, next.edges, next.edge_scores
    FROM walk, LATERAL (
        WITH here AS MATERIALIZED (
            SELECT * FROM unnest(walk.entities, walk.scores) AS given (entity_id, score)
        ), hub AS MATERIALIZED (
            SELECT entity_id, score FROM here
            UNION ALL
            SELECT other_id, max(score * similarity) FROM here, LATERAL (
                SELECT other_id, similarity FROM entity_links l
                WHERE collection_id = %(collection_id)s AND l.entity_id = here.entity_id
                ORDER BY similarity DESC, other_id LIMIT %(links)s
            ) AS link
            WHERE other_id <> ALL (walk.seen) GROUP BY other_id
        ), taken AS MATERIALIZED (
            SELECT edge_id, next_id, score * confidence AS score FROM hub, LATERAL (
                (SELECT edge_id, cause_id AS next_id, confidence FROM causal_edges
                 WHERE walk.direction = 'causes' AND collection_id = %(collection_id)s AND effect_id = hub.entity_id
                   AND polarity = 'fact' AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE
                 ORDER BY confidence DESC, edge_id LIMIT %(width)s)
                UNION ALL
                (SELECT edge_id, effect_id, confidence FROM causal_edges
                 WHERE walk.direction = 'effects' AND collection_id = %(collection_id)s AND cause_id = hub.entity_id
                   AND polarity = 'fact' AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE
                 ORDER BY confidence DESC, edge_id LIMIT %(width)s)
            ) AS edge
            ORDER BY score DESC, edge_id LIMIT %(width)s
        ), reached AS MATERIALIZED (
            SELECT next_id, max(score) AS score FROM taken
            WHERE next_id <> ALL (walk.seen) AND next_id NOT IN (SELECT entity_id FROM hub) GROUP BY next_id
        )
        SELECT ARRAY(SELECT next_id FROM reached ORDER BY next_id) AS entities,
               ARRAY(SELECT score FROM reached ORDER BY next_id) AS scores,
               ARRAY(SELECT entity_id FROM hub UNION ALL SELECT next_id FROM reached) AS seen,
               ARRAY(SELECT edge_id FROM taken ORDER BY edge_id) AS edges,
               ARRAY(SELECT score FROM taken ORDER BY edge_id) AS edge_scores
    ) AS next
    WHERE step < %(depth)s AND cardinality(walk.entities) > 0
), found AS MATERIALIZED (
    SELECT edge_id, min(step) AS step, max(score) AS score FROM walk, unnest(edges, edge_scores) AS edge (edge_id, score)
    GROUP BY edge_id
)
SELECT details.* FROM found JOIN causal_edge_details AS details USING (edge_id)
WHERE collection_id = %(collection_id)s ORDER BY step, score DESC, edge_id

-- name: find_links
SELECT entity_id, other_id, similarity FROM entity_links
WHERE collection_id = %(collection_id)s AND entity_id = ANY (%(ids)s) AND other_id = ANY (%(ids)s) AND entity_id < other_id
ORDER BY entity_id, other_id

-- name: list_edges
SELECT * FROM causal_edge_details
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
ORDER BY confidence DESC, edge_id LIMIT %(limit)s

-- name: list_edges_near
-- The nearest first: one edge away from the entities that hold all roots of one of the variants, then two.
WITH wanted AS (
    SELECT entity_id FROM unnest(%(variants)s::int[], %(roots)s::text[]) AS asked (variant, root) JOIN entity_roots USING (root)
    WHERE collection_id = %(collection_id)s
    GROUP BY variant, entity_id HAVING count(*) = (%(sizes)s::int[])[variant]
), first AS MATERIALIZED (
    SELECT edge_id, cause_id, effect_id FROM causal_edges
    WHERE collection_id = %(collection_id)s AND cause_id IN (SELECT entity_id FROM wanted)
    UNION
    SELECT edge_id, cause_id, effect_id FROM causal_edges
    WHERE collection_id = %(collection_id)s AND effect_id IN (SELECT entity_id FROM wanted)
), reached AS MATERIALIZED (
    SELECT cause_id AS entity_id FROM first UNION SELECT effect_id FROM first
), near AS MATERIALIZED (
    SELECT edge_id, min(step) AS step FROM (
        SELECT edge_id, 1 AS step FROM first
        UNION ALL
        SELECT edge_id, 2 FROM causal_edges
        WHERE collection_id = %(collection_id)s AND cause_id IN (SELECT entity_id FROM reached)
        UNION ALL
        SELECT edge_id, 2 FROM causal_edges
        WHERE collection_id = %(collection_id)s AND effect_id IN (SELECT entity_id FROM reached)
    ) AS edge GROUP BY edge_id
)
SELECT details.* FROM near JOIN causal_edge_details AS details USING (edge_id)
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now())
ORDER BY step, confidence DESC, edge_id LIMIT %(limit)s

-- name: walk_mentions
-- A row a step. Each name shares its weight among the chunks that hold it: those with most of it are reached. OFFSET keeps a
-- look-up by the index from becoming a join.
WITH RECURSIVE walk AS (
    SELECT 0 AS step, %(chunks)s::uuid[] AS chunks, %(chunks)s::uuid[] AS seen, %(keys)s::text[] AS keys
    UNION ALL
    SELECT step + 1, next.chunks, walk.seen || next.chunks, '{}'
    FROM walk, LATERAL (
        WITH held AS MATERIALIZED (
            SELECT mention.key FROM unnest(walk.chunks) AS here (chunk_id), LATERAL (
                SELECT m.key FROM mentions m WHERE collection_id = %(collection_id)s AND m.chunk_id = here.chunk_id
                  AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE OFFSET 0
            ) AS mention
            UNION
            SELECT unnest(walk.keys)
        ), share AS MATERIALIZED (
            SELECT chunk_id, sum(weight / name.count) AS share FROM held, LATERAL (
                SELECT count(*) AS count, array_agg(chunk_id) FILTER (WHERE is_there) AS chunks,
                       array_agg(weight) FILTER (WHERE is_there) AS weights
                FROM (
                    SELECT m.chunk_id, weight, (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE AS is_there
                    FROM mentions m WHERE collection_id = %(collection_id)s AND m.key = held.key LIMIT %(most)s + 1
                ) AS mention
            ) AS name, LATERAL unnest(name.chunks, name.weights) AS mention (chunk_id, weight)
            WHERE name.count <= %(most)s
            GROUP BY chunk_id
        )
        SELECT ARRAY(
            SELECT chunk_id FROM share WHERE chunk_id NOT IN (SELECT unnest(walk.seen))
            ORDER BY share DESC, chunk_id LIMIT %(width)s
        ) AS chunks
    ) AS next
    WHERE step < %(steps)s AND cardinality(walk.chunks) + cardinality(walk.keys) > 0
), edge AS MATERIALIZED (
    SELECT here.chunk_id, mention.key, mention.weight
    FROM (SELECT DISTINCT unnest(chunks) AS chunk_id FROM walk) AS here, LATERAL (
        SELECT m.key, m.weight FROM mentions m WHERE collection_id = %(collection_id)s AND m.chunk_id = here.chunk_id
          AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE OFFSET 0
    ) AS mention
), name AS MATERIALIZED (
    SELECT held.key, size.count FROM (
        SELECT key FROM edge GROUP BY key HAVING count(*) > 1 OR key = ANY (%(keys)s)
    ) AS held, LATERAL (
        SELECT count(*) AS count FROM (
            SELECT FROM mentions m WHERE collection_id = %(collection_id)s AND m.key = held.key LIMIT %(most)s + 1
        ) AS counted
    ) AS size
    WHERE size.count <= %(most)s
)
SELECT chunk_id, key, weight, count AS chunk_count FROM edge JOIN name USING (key) ORDER BY chunk_id, key

-- name: find_titles
SELECT key, chunk_id FROM (
    SELECT DISTINCT ON (key, document_id) key, chunk_id, document_id FROM mentions m
    WHERE collection_id = %(collection_id)s AND key = ANY (%(keys)s) AND weight >= %(title_weight)s
      AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE
    ORDER BY key, document_id, (SELECT chunk_index FROM chunks c WHERE c.collection_id = %(collection_id)s AND c.chunk_id = m.chunk_id)
) AS title
ORDER BY key, document_id

-- name: read_hits
SELECT details.* FROM unnest(%(chunks)s::uuid[]) WITH ORDINALITY AS wanted (chunk_id, number)
JOIN chunk_details AS details USING (chunk_id)
WHERE collection_id = %(collection_id)s AND (expires_at IS NULL OR expires_at > now()) AND ({filter}) IS TRUE
ORDER BY number
