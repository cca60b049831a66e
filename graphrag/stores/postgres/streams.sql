-- name: lock_owner
-- Two that begin at once are counted one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('causeway streams ' || %(owner_id)s, 0))

-- name: begin
-- Where there is room; the longest ended give way to it.
WITH given_way AS (
    DELETE FROM streams
    WHERE owner_id = %(owner_id)s AND ended_at IS NOT NULL AND stream_id IN (
        SELECT stream_id FROM streams WHERE owner_id = %(owner_id)s AND expires_at > now()
        ORDER BY ended_at DESC NULLS FIRST OFFSET %(most)s::integer - 1
    )
)
INSERT INTO streams (owner_id, stream_id, expires_at)
SELECT %(owner_id)s, %(stream_id)s, now() + make_interval(secs => %(kept_seconds)s + %(dead_seconds)s)
WHERE (
    SELECT count(*) FROM streams
    WHERE owner_id = %(owner_id)s AND ended_at IS NULL AND NOT is_cancelled
        AND updated_at > now() - make_interval(secs => %(dead_seconds)s) AND stream_id != ALL(%(over)s)
) < %(most)s

-- name: write
-- One that is not there is made: its beginning could not be written, or the server has lost what it held.
INSERT INTO streams (owner_id, stream_id, ended_at, expires_at)
SELECT %(owner_id)s, stream_id, CASE WHEN is_ended THEN now() END,
    now() + make_interval(secs => %(kept_seconds)s + CASE WHEN is_ended THEN 0 ELSE %(dead_seconds)s END)
FROM unnest(%(streams)s::text[], %(ended)s::boolean[]) AS given (stream_id, is_ended)
ORDER BY stream_id
ON CONFLICT (owner_id, stream_id) DO UPDATE
SET updated_at = now(), ended_at = EXCLUDED.ended_at, expires_at = EXCLUDED.expires_at
RETURNING stream_id, is_cancelled, read_at, read_up_to, xmax = 0 AS is_new

-- name: add_events
-- What is there already was written before, by a maker that was not told so: it sends all of that, and what came since.
INSERT INTO stream_events (owner_id, stream_id, first, events) VALUES (%(owner_id)s, %(stream_id)s, %(first)s, %(events)s)
ON CONFLICT (owner_id, stream_id, first) DO UPDATE SET events = EXCLUDED.events

-- name: break_off
UPDATE streams SET updated_at = '-infinity' WHERE owner_id = %(owner_id)s AND stream_id = ANY(%(streams)s)

-- name: visit
UPDATE streams SET read_at = clock_timestamp(), read_up_to = greatest(read_up_to, %(after)s)
WHERE owner_id = %(owner_id)s AND stream_id = %(stream_id)s AND NOT is_cancelled AND expires_at > now()
RETURNING ended_at IS NOT NULL AS is_ended, updated_at < now() - make_interval(secs => %(dead_seconds)s) AS is_silent

-- name: count_events
SELECT coalesce(max(first + cardinality(events) - 1), 0) AS count FROM stream_events
WHERE owner_id = %(owner_id)s AND stream_id = %(stream_id)s

-- name: read_events
SELECT first, events FROM stream_events
WHERE owner_id = %(owner_id)s AND stream_id = %(stream_id)s AND first + cardinality(events) - 1 > %(after)s
ORDER BY first

-- name: cancel
UPDATE streams SET is_cancelled = true
WHERE owner_id = %(owner_id)s AND stream_id = %(stream_id)s AND NOT is_cancelled AND expires_at > now()

-- name: remove
DELETE FROM streams WHERE owner_id = %(owner_id)s AND stream_id = ANY(%(streams)s)

-- name: forget
-- Those that were broken off, too; not one that is to stop: its maker has yet to see that.
DELETE FROM streams WHERE owner_id = %(owner_id)s
    AND (ended_at IS NOT NULL OR updated_at < now() - make_interval(secs => %(dead_seconds)s))

-- name: sweep
-- Without a condition: as nobody, the policy `expired` is the only one that holds.
DELETE FROM streams
