-- name: lock
-- One schedule of an owner after the other is added, so that each counts the ones before it.
SELECT pg_advisory_xact_lock(hashtext('causeway schedules'), hashtext(%(owner_id)s))

-- name: count
SELECT count(*) AS count FROM evaluation_schedules WHERE owner_id = %(owner_id)s

-- name: add
INSERT INTO evaluation_schedules (collection_id, schedule_id, owner_id, name, cron, timezone, choices, due_at)
VALUES (%(collection_id)s, %(schedule_id)s, %(owner_id)s, %(name)s, %(cron)s, %(timezone)s, %(choices)s, %(due_at)s)

-- name: find
SELECT s.*, c.name AS collection FROM evaluation_schedules s JOIN collections c USING (collection_id)
WHERE schedule_id = %(schedule_id)s

-- name: list
SELECT s.*, c.name AS collection FROM evaluation_schedules s JOIN collections c USING (collection_id)
WHERE s.owner_id = %(owner_id)s AND (%(collection_id)s::uuid IS NULL OR s.collection_id = %(collection_id)s)
  AND (%(created_at)s::timestamptz IS NULL
       OR (s.created_at, schedule_id) > (%(created_at)s::timestamptz, %(after_id)s::uuid))
ORDER BY s.created_at, schedule_id LIMIT %(limit)s

-- name: advance
-- Once for each due time: who comes second, waits here for the first one's end and finds it done.
UPDATE evaluation_schedules
SET due_at = %(following)s, last_run_id = coalesce(%(run_id)s, last_run_id), reason = %(reason)s, cause = %(cause)s,
    ordered_at = CASE WHEN %(run_id)s::uuid IS NULL THEN ordered_at ELSE now() END
WHERE schedule_id = %(schedule_id)s AND due_at = %(due_at)s

-- name: delete
DELETE FROM evaluation_schedules WHERE schedule_id = %(schedule_id)s
