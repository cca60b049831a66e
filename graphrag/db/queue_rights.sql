-- Who sees which jobs: whoever is asked by a person, those of that person; a worker, all of them and nothing else.
-- Runs after each change of the queue's own schema, so that new tables of it are covered.

DO $$ DECLARE login name; BEGIN
    CREATE ROLE causeway_worker NOLOGIN NOBYPASSRLS;
    -- Until now who ran jobs was a member of the other role.
    FOR login IN SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
                 WHERE m.roleid = 'causeway_app'::regrole AND r.rolcanlogin LOOP
        EXECUTE format('GRANT causeway_worker TO %I', login);
    END LOOP;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ DECLARE name text; BEGIN
    EXECUTE format('GRANT causeway_worker TO %I', current_user);
    GRANT USAGE ON SCHEMA causeway TO causeway_worker;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA causeway TO causeway_app, causeway_worker;
    FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                WHERE schemaname = 'causeway' AND tablename LIKE 'procrastinate%' LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS worker ON %s', name);
        EXECUTE format('CREATE POLICY worker ON %s TO causeway_worker USING (true)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO causeway_worker', name);
        EXECUTE format('REVOKE ALL ON %s FROM causeway_app', name);
    END LOOP;
END $$;

DROP POLICY IF EXISTS owner ON causeway.procrastinate_jobs;
CREATE POLICY owner ON causeway.procrastinate_jobs TO causeway_app
    USING (args ->> 'owner_id' = (SELECT causeway.current_owner()));
GRANT SELECT, INSERT ON causeway.procrastinate_jobs TO causeway_app;

-- The queue's trigger notes each new job.
DROP POLICY IF EXISTS owner ON causeway.procrastinate_events;
CREATE POLICY owner ON causeway.procrastinate_events FOR INSERT TO causeway_app
    WITH CHECK (EXISTS (SELECT FROM causeway.procrastinate_jobs AS job WHERE job.id = job_id));
GRANT INSERT ON causeway.procrastinate_events TO causeway_app;

-- How many wait and how many work on them, of all owners: numbers, and no more.
CREATE OR REPLACE FUNCTION causeway.waiting_jobs() RETURNS TABLE (task_name text, count bigint)
    STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT task_name, count(*) FROM causeway.procrastinate_jobs
    WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()) GROUP BY task_name
$$;
CREATE OR REPLACE FUNCTION causeway.live_workers() RETURNS bigint
    STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(*) FROM causeway.procrastinate_workers WHERE last_heartbeat > now() - interval '10 seconds'
$$;
-- The places of an owner's documents among all that wait, in the order in which one worker that serves nobody else now
-- would take them.
CREATE OR REPLACE FUNCTION causeway.ingestion_places(collection text, documents text[])
    RETURNS TABLE (document_id uuid, place bigint)
    STABLE SECURITY DEFINER LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH waiting AS (
        SELECT id, priority, args, row_number() OVER (PARTITION BY args ->> 'owner_id', priority ORDER BY id) AS turn
        FROM causeway.procrastinate_jobs WHERE task_name = 'ingest' AND status = 'todo'
    ), placed AS (
        SELECT args, row_number() OVER (ORDER BY priority DESC, turn, id) AS place FROM waiting
    )
    SELECT document::uuid, min(placed.place)
    FROM placed, jsonb_array_elements_text(args -> 'documents') AS document
    WHERE args ->> 'owner_id' = (SELECT causeway.current_owner())
      AND args ->> 'collection_id' = collection AND document = ANY (documents)
    GROUP BY document
$$;
-- A job of the owner whose worker died is tried again, in the transaction that counts it. Another worker may have seen
-- it too, and the job may run again: then `attempts` is another.
CREATE OR REPLACE FUNCTION causeway.retry_stalled_job(job bigint, tried integer) RETURNS boolean
    SECURITY DEFINER LANGUAGE plpgsql SET search_path = causeway, pg_temp AS $$
BEGIN
    PERFORM FROM procrastinate_jobs AS stalled
    WHERE stalled.id = job AND stalled.status = 'doing' AND stalled.attempts = tried
      AND stalled.args ->> 'owner_id' = (SELECT causeway.current_owner())
      AND NOT EXISTS (SELECT FROM procrastinate_workers AS worker
                      WHERE worker.id = stalled.worker_id AND worker.last_heartbeat > now() - interval '10 seconds')
    FOR UPDATE;
    IF FOUND THEN
        PERFORM procrastinate_retry_job_v2(job, now(), NULL, NULL, NULL);
    END IF;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION causeway.waiting_jobs, causeway.live_workers, causeway.ingestion_places,
    causeway.retry_stalled_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION causeway.waiting_jobs, causeway.live_workers, causeway.ingestion_places,
    causeway.retry_stalled_job TO causeway_app;
GRANT CREATE ON SCHEMA causeway TO causeway_worker;
ALTER FUNCTION causeway.waiting_jobs OWNER TO causeway_worker;
ALTER FUNCTION causeway.live_workers OWNER TO causeway_worker;
ALTER FUNCTION causeway.ingestion_places OWNER TO causeway_worker;
ALTER FUNCTION causeway.retry_stalled_job OWNER TO causeway_worker;
REVOKE CREATE ON SCHEMA causeway FROM causeway_worker;
