-- name: fetch_job
-- Procrastinate's own (procrastinate_fetch_job_v2) takes the oldest. Here owners take turns: of each owner's first job
-- the one of the highest priority is taken, then the one of the owner who was served least recently by this worker.
-- Neither an owner nor bulk loads may have all of the worker's slots: `most` is one less.
WITH running AS (
    SELECT args ->> 'owner_id' AS owner, count(*) AS jobs, count(*) FILTER (WHERE priority < 0) AS bulk
    FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker_id)s GROUP BY 1
), firsts AS (
    SELECT DISTINCT ON (jobs.args ->> 'owner_id') jobs.id, jobs.args ->> 'owner_id' AS owner
    FROM procrastinate_jobs AS jobs
    WHERE status = 'todo' AND queue_name = ANY (%(queues)s) AND (scheduled_at IS NULL OR scheduled_at <= now())
      AND (priority >= 0 OR (SELECT coalesce(sum(bulk), 0) FROM running) < %(most)s)
      AND NOT EXISTS (  -- of jobs with one lock, one at a time and in their order
        SELECT FROM procrastinate_jobs AS other
        WHERE other.lock = jobs.lock AND (other.status = 'doing' OR (other.status = 'todo'
          AND (other.priority > jobs.priority OR (other.priority = jobs.priority AND other.id < jobs.id))))
      )
    ORDER BY jobs.args ->> 'owner_id', priority DESC, id
), chosen AS (
    SELECT jobs.id FROM procrastinate_jobs AS jobs JOIN firsts USING (id) LEFT JOIN running USING (owner)
    WHERE jobs.status = 'todo' AND coalesce(running.jobs, 0) < %(most)s
    ORDER BY jobs.priority DESC, array_position(%(served)s::text[], owner) NULLS FIRST, jobs.id
    LIMIT 1 FOR UPDATE OF jobs SKIP LOCKED
)
UPDATE procrastinate_jobs AS jobs SET status = 'doing', worker_id = %(worker_id)s
FROM chosen WHERE jobs.id = chosen.id RETURNING jobs.*

-- name: wait_for_lock
SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s, 0))

-- name: is_queued
SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE queueing_lock = %(lock)s AND status = 'todo') AS is_queued

-- name: find_places
SELECT document_id, place FROM causeway.ingestion_places(%(collection)s, %(documents)s)

-- name: retry_stalled
SELECT true WHERE causeway.retry_stalled_job(%(job)s, %(attempts)s)

-- name: count_waiting
SELECT task_name, count FROM causeway.waiting_jobs()
