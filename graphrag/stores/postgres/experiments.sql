-- name: create
INSERT INTO experiments (owner_id, experiment_id, collection_id, name, share, retrieval, generation, config_hash_a, config_hash_b)
VALUES (%(owner_id)s, %(experiment_id)s, %(collection_id)s, %(name)s, %(share)s, %(retrieval)s, %(generation)s,
        %(config_hash_a)s, %(config_hash_b)s)
ON CONFLICT (collection_id) WHERE stopped_at IS NULL DO NOTHING

-- name: find
SELECT e.*, c.name AS collection FROM experiments e JOIN collections c USING (collection_id)
WHERE e.owner_id = %(owner_id)s AND experiment_id = %(experiment_id)s

-- name: find_running
SELECT e.*, c.name AS collection FROM experiments e JOIN collections c USING (collection_id)
WHERE e.collection_id = %(collection_id)s AND stopped_at IS NULL

-- name: list
SELECT e.*, c.name AS collection FROM experiments e JOIN collections c USING (collection_id)
WHERE e.owner_id = %(owner_id)s AND (%(collection_id)s::uuid IS NULL OR e.collection_id = %(collection_id)s)
  AND (%(running)s::boolean IS NULL OR (stopped_at IS NULL) = %(running)s)
  AND (%(started_at)s::timestamptz IS NULL OR (started_at, experiment_id) < (%(started_at)s::timestamptz, %(before)s::uuid))
ORDER BY started_at DESC, experiment_id DESC LIMIT %(limit)s

-- name: stop
UPDATE experiments SET stopped_at = now()
WHERE owner_id = %(owner_id)s AND experiment_id = %(experiment_id)s AND stopped_at IS NULL

-- name: delete
DELETE FROM experiments WHERE owner_id = %(owner_id)s AND experiment_id = %(experiment_id)s

-- name: begin_answer
INSERT INTO experiment_answers (owner_id, answer_id, experiment_id, variant, conversation_id)
VALUES (%(owner_id)s, %(answer_id)s, %(experiment_id)s, %(variant)s, %(conversation_id)s)

-- name: finish_answer
UPDATE experiment_answers SET message_id = %(message_id)s, outcome = %(outcome)s, found = %(found)s, degraded = %(degraded)s,
    supported = %(supported)s, first_token_ms = %(first_token_ms)s, total_ms = %(total_ms)s
WHERE owner_id = %(owner_id)s AND answer_id = %(answer_id)s

-- name: count_sides
SELECT variant, count(DISTINCT coalesce(conversation_id, answer_id)) AS conversations, count(*) AS answers,
       count(*) FILTER (WHERE outcome IS NULL) AS unfinished, count(*) FILTER (WHERE outcome = 'failed') AS failed,
       count(*) FILTER (WHERE degraded) AS degraded, count(*) FILTER (WHERE found) AS found,
       count(*) FILTER (WHERE rating > 0) AS liked, count(*) FILTER (WHERE rating < 0) AS disliked,
       percentile_cont(.5) WITHIN GROUP (ORDER BY first_token_ms) AS first_token_p50_ms,
       percentile_cont(.95) WITHIN GROUP (ORDER BY first_token_ms) AS first_token_p95_ms,
       percentile_cont(.5) WITHIN GROUP (ORDER BY total_ms) AS total_p50_ms,
       percentile_cont(.95) WITHIN GROUP (ORDER BY total_ms) AS total_p95_ms
FROM experiment_answers a
LEFT JOIN feedback f ON f.owner_id = a.owner_id AND f.message_id = a.message_id AND citation = 0
WHERE a.owner_id = %(owner_id)s AND experiment_id = %(experiment_id)s GROUP BY variant

-- name: read_units
-- An answer that failed has found nothing: left out, a side that fails often would look better for it.
SELECT variant, avg(found::int) FILTER (WHERE outcome IS NOT NULL)::float8 AS found, avg(supported) AS supported,
       avg((rating > 0)::int)::float8 AS liked, avg(degraded::int)::float8 AS degraded,
       avg((outcome = 'failed')::int)::float8 AS failed, avg(first_token_ms) AS first_token_ms, avg(total_ms) AS total_ms
FROM experiment_answers a
LEFT JOIN feedback f ON f.owner_id = a.owner_id AND f.message_id = a.message_id AND citation = 0
WHERE a.owner_id = %(owner_id)s AND experiment_id = %(experiment_id)s
GROUP BY variant, coalesce(conversation_id, answer_id) ORDER BY coalesce(conversation_id, answer_id)
