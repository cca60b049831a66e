-- pg_dump of a database with the migrations up to 0020_tables.sql, made by the version of that time: two owners who each have
-- a text, a table, a conversation and a golden case. Comments, API keys and jobs are left out.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA causeway;

ALTER SCHEMA causeway OWNER TO postgres;

CREATE TYPE causeway.procrastinate_job_event_type AS ENUM (
    'deferred',
    'started',
    'deferred_for_retry',
    'failed',
    'succeeded',
    'cancelled',
    'abort_requested',
    'aborted',
    'scheduled',
    'retried'
);

ALTER TYPE causeway.procrastinate_job_event_type OWNER TO postgres;

CREATE TYPE causeway.procrastinate_job_status AS ENUM (
    'todo',
    'doing',
    'succeeded',
    'failed',
    'cancelled',
    'aborting',
    'aborted'
);

ALTER TYPE causeway.procrastinate_job_status OWNER TO postgres;

CREATE TYPE causeway.procrastinate_job_to_defer_v1 AS (
	queue_name character varying,
	task_name character varying,
	priority integer,
	lock text,
	queueing_lock text,
	args jsonb,
	scheduled_at timestamp with time zone
);

ALTER TYPE causeway.procrastinate_job_to_defer_v1 OWNER TO postgres;

CREATE FUNCTION causeway.all_phrases(languages text[], phrases text[]) RETURNS tsquery
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT string_agg('(' || variants || ')', ' & ')::tsquery FROM (
        SELECT string_agg(causeway.phrase(language, phrase)::text, ' | ') AS variants
        FROM unnest(phrases) WITH ORDINALITY AS asked (phrase, number), unnest(languages) AS language
        WHERE numnode(causeway.phrase(language, phrase)) > 0 GROUP BY number
    ) AS phrase
$$;

ALTER FUNCTION causeway.all_phrases(languages text[], phrases text[]) OWNER TO postgres;

CREATE FUNCTION causeway.bare(words text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT ' ' || btrim(regexp_replace(causeway.fold(words), '[^[:alnum:]]+', ' ', 'g')) || ' '
$$;

ALTER FUNCTION causeway.bare(words text) OWNER TO postgres;

CREATE FUNCTION causeway.code_parts(words text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
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
$_$;

ALTER FUNCTION causeway.code_parts(words text) OWNER TO postgres;

CREATE FUNCTION causeway.exact(language text) RETURNS regconfig
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE language
        WHEN 'es' THEN 'causeway.spanish'::regconfig WHEN 'fr' THEN 'causeway.french'::regconfig
        WHEN 'en' THEN 'causeway.english'::regconfig WHEN 'pt' THEN 'causeway.portuguese'::regconfig
        WHEN 'it' THEN 'causeway.italian'::regconfig WHEN 'de' THEN 'causeway.german'::regconfig
        ELSE 'pg_catalog.simple'::regconfig END
$$;

ALTER FUNCTION causeway.exact(language text) OWNER TO postgres;

CREATE FUNCTION causeway.find_api_key(wanted text) RETURNS TABLE(owner_id text, hash bytea, scopes text[], is_valid boolean, is_use_noted boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT owner_id, hash, scopes, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()),
           coalesce(last_used_at > now() - interval '1 minute', false)
    FROM causeway.api_keys WHERE key_id = wanted
$$;

ALTER FUNCTION causeway.find_api_key(wanted text) OWNER TO causeway_authentication;

CREATE FUNCTION causeway.fold(word text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE WHEN octet_length(word) = length(word) THEN lower(word)
           ELSE replace(translate(lower(word), 'áàâäãåéèêëíìîïóòôöõúùûüñçýÿ', 'aaaaaaeeeeiiiiooooouuuuncyy'), 'œ', 'oe') END
$$;

ALTER FUNCTION causeway.fold(word text) OWNER TO postgres;

CREATE FUNCTION causeway.forget_chunks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- By the index on the chunk, whatever the planner thinks.
    DELETE FROM causeway.mentions m WHERE chunk_id = ANY (ARRAY(SELECT chunk_id FROM gone))
        AND collection_id = ANY (ARRAY(SELECT DISTINCT collection_id FROM gone));
    DELETE FROM causeway.causal_edges e WHERE chunk_id = ANY (ARRAY(SELECT chunk_id FROM gone))
        AND collection_id = ANY (ARRAY(SELECT DISTINCT collection_id FROM gone));
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_chunks() OWNER TO postgres;

CREATE FUNCTION causeway.forget_document_proposals() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM causeway.golden_proposals
                   WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id)  -- of thousands, nearly all
       OR EXISTS (SELECT FROM causeway.documents WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id
                                                   AND content_hash = OLD.content_hash) THEN
        RETURN NULL;
    END IF;
    DELETE FROM causeway.golden_proposals
    WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id AND content_hash = OLD.content_hash
      AND state = 'proposed';
    UPDATE causeway.golden_proposals SET query = '', expected_answer = '', quote = '', tags = '{}'
    WHERE collection_id = OLD.collection_id AND document_id = OLD.document_id AND content_hash = OLD.content_hash;
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_document_proposals() OWNER TO postgres;

CREATE FUNCTION causeway.forget_entities() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM causeway.entity_links WHERE collection_id = OLD.collection_id;
    DELETE FROM causeway.entity_roots WHERE collection_id = OLD.collection_id;
    DELETE FROM causeway.entities WHERE collection_id = OLD.collection_id;
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_entities() OWNER TO postgres;

CREATE FUNCTION causeway.forget_lexemes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM causeway.lexeme_statistics WHERE collection_id = OLD.collection_id;
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_lexemes() OWNER TO postgres;

CREATE FUNCTION causeway.forget_message_proposals() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM causeway.golden_proposals p USING gone
    WHERE p.owner_id = gone.owner_id AND p.message_id = gone.message_id AND state = 'proposed';
    UPDATE causeway.golden_proposals p SET query = '', expected_answer = '', reason = '', tags = '{}' FROM gone
    WHERE p.owner_id = gone.owner_id AND p.message_id = gone.message_id;
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_message_proposals() OWNER TO postgres;

CREATE FUNCTION causeway.forget_thread() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM causeway.checkpoints WHERE thread_id = OLD.conversation_id::text;
    DELETE FROM causeway.checkpoint_blobs WHERE thread_id = OLD.conversation_id::text;
    DELETE FROM causeway.checkpoint_writes WHERE thread_id = OLD.conversation_id::text;
    RETURN NULL;
END $$;

ALTER FUNCTION causeway.forget_thread() OWNER TO postgres;

CREATE FUNCTION causeway.home(collection_id uuid) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT '@' || collection_id
$$;

ALTER FUNCTION causeway.home(collection_id uuid) OWNER TO postgres;

CREATE FUNCTION causeway.lexemes(language text, words text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT causeway.fold(to_tsvector(causeway.stemming(language), words)::text || ' '
                         || to_tsvector(causeway.exact(language), words)::text || ' '
                         || to_tsvector('pg_catalog.simple', causeway.code_parts(words))::text)::tsvector
$$;

ALTER FUNCTION causeway.lexemes(language text, words text) OWNER TO postgres;

CREATE FUNCTION causeway.matching_documents(collection uuid, filters jsonb) RETURNS SETOF uuid
    LANGUAGE sql STABLE
    AS $_$
    SELECT document_id FROM documents, LATERAL (
        SELECT ARRAY(SELECT lower(jsonb_array_elements_text(filters -> 'document_types'))) AS document_types,
               ARRAY(SELECT lower(jsonb_array_elements_text(filters -> 'filenames'))) AS filenames,
               ARRAY(SELECT jsonb_array_elements_text(filters -> 'tags')) AS tags
    ) AS wanted
    WHERE collection_id = collection
      AND (NOT filters ? 'document_types' OR media_type = ANY (document_types)
           OR lower(substring(filename FROM '\.([^.]+)$')) = ANY (document_types))
      AND (NOT filters ? 'filenames' OR lower(filename) = ANY (wanted.filenames))
      AND (NOT filters ? 'tags' OR documents.tags && wanted.tags)
      AND (NOT filters ? 'languages' OR filters -> 'languages' ? language)
      AND (NOT filters ? 'source_types' OR filters -> 'source_types' ? source_type)
      AND (NOT filters ? 'processing_strategies' OR filters -> 'processing_strategies' ? processing_strategy)
      AND (NOT filters ? 'created_from' OR created_at >= (filters ->> 'created_from')::timestamptz)
      AND (NOT filters ? 'created_until' OR created_at < (filters ->> 'created_until')::timestamptz)
$_$;

ALTER FUNCTION causeway.matching_documents(collection uuid, filters jsonb) OWNER TO postgres;

CREATE FUNCTION causeway.missing_documents(collection uuid, documents uuid[]) RETURNS uuid[]
    LANGUAGE sql STABLE
    AS $$
    SELECT array(
        SELECT wanted FROM unnest(documents) AS wanted
        WHERE NOT EXISTS (SELECT FROM causeway.documents d WHERE d.collection_id = collection AND d.document_id = wanted
                          AND (d.expires_at IS NULL OR d.expires_at > now())))
$$;

ALTER FUNCTION causeway.missing_documents(collection uuid, documents uuid[]) OWNER TO postgres;

CREATE FUNCTION causeway.phrase(language text, words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT causeway.fold(phraseto_tsquery(causeway.exact(language), words)::text)::tsquery
$$;

ALTER FUNCTION causeway.phrase(language text, words text) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_cancel_job_v1(job_id bigint, abort boolean, delete_job boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status = 'todo'
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        IF abort THEN
            UPDATE procrastinate_jobs
            SET abort_requested = true,
                status = CASE status
                    WHEN 'todo' THEN 'cancelled'::procrastinate_job_status ELSE status
                END
            WHERE id = job_id AND status IN ('todo', 'doing')
            RETURNING id INTO _job_id;
        ELSE
            UPDATE procrastinate_jobs
            SET status = 'cancelled'::procrastinate_job_status
            WHERE id = job_id AND status = 'todo'
            RETURNING id INTO _job_id;
        END IF;
    END IF;
    RETURN _job_id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_cancel_job_v1(job_id bigint, abort boolean, delete_job boolean) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_defer_jobs_v1(jobs causeway.procrastinate_job_to_defer_v1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    job_ids bigint[];
BEGIN
    WITH inserted_jobs AS (
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
        SELECT (job).queue_name,
               (job).task_name,
               (job).priority,
               (job).lock,
               (job).queueing_lock,
               (job).args,
               (job).scheduled_at
        FROM unnest(jobs) AS job
        RETURNING id
    )
    SELECT array_agg(id) FROM inserted_jobs INTO job_ids;

    RETURN job_ids;
END;
$$;

ALTER FUNCTION causeway.procrastinate_defer_jobs_v1(jobs causeway.procrastinate_job_to_defer_v1[]) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_defer_periodic_job_v2(_queue_name character varying, _lock character varying, _queueing_lock character varying, _task_name character varying, _priority integer, _periodic_id character varying, _defer_timestamp bigint, _args jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
	_job_id bigint;
	_defer_id bigint;
BEGIN
    INSERT
        INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
        VALUES (_task_name, _periodic_id, _defer_timestamp)
        ON CONFLICT DO NOTHING
        RETURNING id into _defer_id;

    IF _defer_id IS NULL THEN
        RETURN NULL;
    END IF;

    UPDATE procrastinate_periodic_defers
        SET job_id = (
            SELECT COALESCE((
                SELECT unnest(procrastinate_defer_jobs_v1(
                    ARRAY[
                        ROW(
                            _queue_name,
                            _task_name,
                            _priority,
                            _lock,
                            _queueing_lock,
                            _args,
                            NULL::timestamptz
                        )
                    ]::procrastinate_job_to_defer_v1[]
                ))
            ), NULL)
        )
        WHERE id = _defer_id
        RETURNING job_id INTO _job_id;

    DELETE
        FROM procrastinate_periodic_defers
        USING (
            SELECT id
            FROM procrastinate_periodic_defers
            WHERE procrastinate_periodic_defers.task_name = _task_name
            AND procrastinate_periodic_defers.periodic_id = _periodic_id
            AND procrastinate_periodic_defers.defer_timestamp < _defer_timestamp
            ORDER BY id
            FOR UPDATE
        ) to_delete
        WHERE procrastinate_periodic_defers.id = to_delete.id;

    RETURN _job_id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_defer_periodic_job_v2(_queue_name character varying, _lock character varying, _queueing_lock character varying, _task_name character varying, _priority integer, _periodic_id character varying, _defer_timestamp bigint, _args jsonb) OWNER TO postgres;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE causeway.procrastinate_jobs (
    id bigint NOT NULL,
    queue_name character varying(128) NOT NULL,
    task_name character varying(128) NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    lock text,
    queueing_lock text,
    args jsonb DEFAULT '{}'::jsonb NOT NULL,
    status causeway.procrastinate_job_status DEFAULT 'todo'::causeway.procrastinate_job_status NOT NULL,
    scheduled_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint,
    CONSTRAINT check_not_todo_abort_requested CHECK ((NOT ((status = 'todo'::causeway.procrastinate_job_status) AND (abort_requested = true))))
);

ALTER TABLE causeway.procrastinate_jobs OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_fetch_job_v2(target_queue_names character varying[], p_worker_id bigint) RETURNS causeway.procrastinate_jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
	found_jobs procrastinate_jobs;
BEGIN
    WITH candidate AS (
        SELECT jobs.*
            FROM procrastinate_jobs AS jobs
            WHERE
                -- reject the job if its lock has earlier or higher priority jobs
                NOT EXISTS (
                    SELECT 1
                        FROM procrastinate_jobs AS other_jobs
                        WHERE
                            jobs.lock IS NOT NULL
                            AND other_jobs.lock = jobs.lock
                            AND (
                                -- job with same lock is already running
                                other_jobs.status = 'doing'
                                OR
                                -- job with same lock is waiting and has higher priority (or same priority but was queued first)
                                (
                                    other_jobs.status = 'todo'
                                    AND (
                                        other_jobs.priority > jobs.priority
                                        OR (
                                        other_jobs.priority = jobs.priority
                                        AND other_jobs.id < jobs.id
                                        )
                                    )
                                )
                            )
                )
                AND jobs.status = 'todo'
                AND (target_queue_names IS NULL OR jobs.queue_name = ANY( target_queue_names ))
                AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
            ORDER BY jobs.priority DESC, jobs.id ASC LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
    )
    UPDATE procrastinate_jobs
        SET status = 'doing', worker_id = p_worker_id
        FROM candidate
        WHERE procrastinate_jobs.id = candidate.id
        RETURNING procrastinate_jobs.* INTO found_jobs;

 RETURN found_jobs;
END;
$$;

ALTER FUNCTION causeway.procrastinate_fetch_job_v2(target_queue_names character varying[], p_worker_id bigint) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_finish_job_v1(job_id bigint, end_status causeway.procrastinate_job_status, delete_job boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF end_status NOT IN ('succeeded', 'failed', 'aborted') THEN
        RAISE 'End status should be either "succeeded", "failed" or "aborted" (job id: %)', job_id;
    END IF;
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = end_status,
            abort_requested = false,
            attempts = CASE status
                WHEN 'doing' THEN attempts + 1 ELSE attempts
            END
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" or "todo" status (job id: %)', job_id;
    END IF;
END;
$$;

ALTER FUNCTION causeway.procrastinate_finish_job_v1(job_id bigint, end_status causeway.procrastinate_job_status, delete_job boolean) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_notify_queue_abort_job_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'abort_job_requested', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_notify_queue_abort_job_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_notify_queue_job_inserted_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'job_inserted', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_notify_queue_job_inserted_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_prune_stalled_workers_v1(seconds_since_heartbeat double precision) RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    DELETE FROM procrastinate_workers
    WHERE last_heartbeat < NOW() - (seconds_since_heartbeat || 'SECOND')::INTERVAL
    RETURNING procrastinate_workers.id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_prune_stalled_workers_v1(seconds_since_heartbeat double precision) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_register_worker_v1() RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    INSERT INTO procrastinate_workers DEFAULT VALUES
    RETURNING procrastinate_workers.id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_register_worker_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_retry_job_v1(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
BEGIN
    SELECT abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status = 'doing'
    FOR UPDATE
    INTO _abort_requested;
    IF _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" status (job id: %)', job_id;
    END IF;
END;
$$;

ALTER FUNCTION causeway.procrastinate_retry_job_v1(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_retry_job_v2(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
    _current_status procrastinate_job_status;
BEGIN
    SELECT status, abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status IN ('doing', 'failed')
    FOR UPDATE
    INTO _current_status, _abort_requested;
    IF _current_status = 'doing' AND _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status IN ('doing', 'failed')
        RETURNING id INTO _job_id;
    END IF;

    IF _job_id IS NULL THEN
        RAISE 'Job was not found or has an invalid status to retry (job id: %)', job_id;
    END IF;

END;
$$;

ALTER FUNCTION causeway.procrastinate_retry_job_v2(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_trigger_abort_requested_events_procedure_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'abort_requested'::procrastinate_job_event_type);
    RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_trigger_abort_requested_events_procedure_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_trigger_function_scheduled_events_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type, at)
        VALUES (NEW.id, 'scheduled'::procrastinate_job_event_type, NEW.scheduled_at);

	RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_trigger_function_scheduled_events_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_trigger_function_status_events_insert_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'deferred'::procrastinate_job_event_type);
	RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_trigger_function_status_events_insert_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_trigger_function_status_events_update_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH t AS (
        SELECT CASE
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND NEW.status = 'doing'::procrastinate_job_status
                THEN 'started'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'deferred_for_retry'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'failed'::procrastinate_job_status
                THEN 'failed'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'succeeded'::procrastinate_job_status
                THEN 'succeeded'::procrastinate_job_event_type
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND (
                    NEW.status = 'cancelled'::procrastinate_job_status
                    OR NEW.status = 'failed'::procrastinate_job_status
                    OR NEW.status = 'succeeded'::procrastinate_job_status
                )
                THEN 'cancelled'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'aborted'::procrastinate_job_status
                THEN 'aborted'::procrastinate_job_event_type
            WHEN OLD.status = 'failed'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'retried'::procrastinate_job_event_type
            ELSE NULL
        END as event_type
    )
    INSERT INTO procrastinate_events(job_id, type)
        SELECT NEW.id, t.event_type
        FROM t
        WHERE t.event_type IS NOT NULL;
	RETURN NEW;
END;
$$;

ALTER FUNCTION causeway.procrastinate_trigger_function_status_events_update_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_unlink_periodic_defers_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_periodic_defers
    SET job_id = NULL
    WHERE job_id = OLD.id;
    RETURN OLD;
END;
$$;

ALTER FUNCTION causeway.procrastinate_unlink_periodic_defers_v1() OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_unregister_worker_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM procrastinate_workers
    WHERE id = worker_id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_unregister_worker_v1(worker_id bigint) OWNER TO postgres;

CREATE FUNCTION causeway.procrastinate_update_heartbeat_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_workers
    SET last_heartbeat = NOW()
    WHERE id = worker_id;
END;
$$;

ALTER FUNCTION causeway.procrastinate_update_heartbeat_v1(worker_id bigint) OWNER TO postgres;

CREATE FUNCTION causeway.stemming(language text) RETURNS regconfig
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE language
        WHEN 'es' THEN 'pg_catalog.spanish'::regconfig WHEN 'fr' THEN 'pg_catalog.french'::regconfig
        WHEN 'en' THEN 'pg_catalog.english'::regconfig WHEN 'pt' THEN 'pg_catalog.portuguese'::regconfig
        WHEN 'it' THEN 'pg_catalog.italian'::regconfig WHEN 'de' THEN 'pg_catalog.german'::regconfig
        ELSE 'pg_catalog.simple'::regconfig END
$$;

ALTER FUNCTION causeway.stemming(language text) OWNER TO postgres;

CREATE FUNCTION causeway.stems(language text, words text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT causeway.fold(to_tsvector(causeway.stemming(language), words)::text)::tsvector
$$;

ALTER FUNCTION causeway.stems(language text, words text) OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.english (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'english' );

ALTER TEXT SEARCH DICTIONARY causeway.english OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.french (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'french' );

ALTER TEXT SEARCH DICTIONARY causeway.french OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.german (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'german' );

ALTER TEXT SEARCH DICTIONARY causeway.german OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.italian (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'italian' );

ALTER TEXT SEARCH DICTIONARY causeway.italian OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.portuguese (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'portuguese' );

ALTER TEXT SEARCH DICTIONARY causeway.portuguese OWNER TO postgres;

CREATE TEXT SEARCH DICTIONARY causeway.spanish (
    TEMPLATE = pg_catalog.simple,
    stopwords = 'spanish' );

ALTER TEXT SEARCH DICTIONARY causeway.spanish OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.english (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR asciiword WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR word WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR hword_part WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR hword_asciipart WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR asciihword WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR hword WITH causeway.english;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.english OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.french (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR asciiword WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR word WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR hword_part WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR hword_asciipart WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR asciihword WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR hword WITH causeway.french;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.french OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.german (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR asciiword WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR word WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR hword_part WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR hword_asciipart WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR asciihword WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR hword WITH causeway.german;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.german OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.italian (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR asciiword WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR word WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR hword_part WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR hword_asciipart WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR asciihword WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR hword WITH causeway.italian;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.italian OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.portuguese (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR asciiword WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR word WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR hword_part WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR hword_asciipart WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR asciihword WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR hword WITH causeway.portuguese;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.portuguese OWNER TO postgres;

CREATE TEXT SEARCH CONFIGURATION causeway.spanish (
    PARSER = pg_catalog."default" );

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR asciiword WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR word WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR numword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR email WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR url WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR host WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR sfloat WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR version WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR hword_numpart WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR hword_part WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR hword_asciipart WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR numhword WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR asciihword WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR hword WITH causeway.spanish;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR url_path WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR file WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR "float" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR "int" WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish
    ADD MAPPING FOR uint WITH simple;

ALTER TEXT SEARCH CONFIGURATION causeway.spanish OWNER TO postgres;

CREATE TABLE causeway.api_keys (
    owner_id text NOT NULL,
    key_id text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    CONSTRAINT api_keys_owner_id_check CHECK ((owner_id <> ''::text))
);

ALTER TABLE ONLY causeway.api_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.api_keys OWNER TO postgres;

CREATE UNLOGGED TABLE causeway.cache_entries (
    owner_id text NOT NULL,
    key text NOT NULL,
    value bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY causeway.cache_entries FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.cache_entries OWNER TO postgres;

CREATE TABLE causeway.causal_edges (
    collection_id uuid NOT NULL,
    edge_id uuid NOT NULL,
    owner_id text NOT NULL,
    chunk_id uuid NOT NULL,
    chunk_index integer NOT NULL,
    document_id uuid NOT NULL,
    cause_id uuid NOT NULL,
    effect_id uuid NOT NULL,
    type text NOT NULL,
    polarity text NOT NULL,
    confidence real NOT NULL,
    extractor text NOT NULL,
    quote text NOT NULL,
    start_char integer NOT NULL,
    end_char integer NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT causal_edges_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT causal_edges_polarity_check CHECK ((polarity = ANY (ARRAY['fact'::text, 'negated'::text, 'hypothetical'::text]))),
    CONSTRAINT causal_edges_type_check CHECK ((type = ANY (ARRAY['CAUSES'::text, 'TRIGGERS'::text, 'LEADS_TO'::text])))
);
ALTER TABLE ONLY causeway.causal_edges ALTER COLUMN collection_id SET STATISTICS 0;

ALTER TABLE ONLY causeway.causal_edges FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.causal_edges OWNER TO postgres;

CREATE TABLE causeway.documents (
    collection_id uuid NOT NULL,
    document_id uuid NOT NULL,
    owner_id text NOT NULL,
    source text NOT NULL,
    filename text NOT NULL,
    media_type text NOT NULL,
    content_hash text NOT NULL,
    language text NOT NULL,
    title text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    source_type text DEFAULT 'file'::text NOT NULL,
    processing_strategy text DEFAULT 'sentence'::text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    expires_at timestamp with time zone,
    byte_count bigint DEFAULT 0 NOT NULL,
    authors text[] DEFAULT '{}'::text[] NOT NULL,
    keywords text[] DEFAULT '{}'::text[] NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE ONLY causeway.documents FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.documents OWNER TO postgres;

CREATE TABLE causeway.entities (
    collection_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    owner_id text NOT NULL,
    key text NOT NULL,
    name text NOT NULL
);
ALTER TABLE ONLY causeway.entities ALTER COLUMN collection_id SET STATISTICS 0;

ALTER TABLE ONLY causeway.entities FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.entities OWNER TO postgres;

CREATE VIEW causeway.causal_edge_details WITH (security_invoker='true') AS
 SELECT e.collection_id,
    e.edge_id,
    e.type,
    e.polarity,
    e.confidence,
    e.extractor,
    e.quote,
    e.start_char,
    e.end_char,
    e.chunk_id,
    e.chunk_index,
    e.cause_id,
    cause.key AS cause_key,
    cause.name AS cause_name,
    e.effect_id,
    effect.key AS effect_key,
    effect.name AS effect_name,
    e.document_id,
    d.source,
    d.filename,
    d.media_type,
    d.content_hash,
    d.language,
    d.title,
    d.created_at,
    d.source_type,
    d.processing_strategy,
    d.tags,
    d.expires_at,
    d.byte_count,
    d.authors,
    d.keywords,
    d.warnings,
    d.metadata
   FROM (((causeway.causal_edges e
     JOIN causeway.documents d USING (collection_id, document_id))
     JOIN causeway.entities cause ON (((cause.collection_id = e.collection_id) AND (cause.entity_id = e.cause_id))))
     JOIN causeway.entities effect ON (((effect.collection_id = e.collection_id) AND (effect.entity_id = e.effect_id))));

ALTER VIEW causeway.causal_edge_details OWNER TO postgres;

CREATE TABLE causeway.checkpoint_blobs (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    channel text NOT NULL,
    version text NOT NULL,
    type text NOT NULL,
    blob bytea,
    owner_id text DEFAULT current_setting('app.user_id'::text, true) NOT NULL
);

ALTER TABLE ONLY causeway.checkpoint_blobs FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoint_blobs OWNER TO postgres;

CREATE TABLE causeway.checkpoint_migrations (
    v integer NOT NULL
);

ALTER TABLE causeway.checkpoint_migrations OWNER TO postgres;

CREATE TABLE causeway.checkpoint_writes (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    task_id text NOT NULL,
    idx integer NOT NULL,
    channel text NOT NULL,
    type text,
    blob bytea NOT NULL,
    task_path text DEFAULT ''::text NOT NULL,
    owner_id text DEFAULT current_setting('app.user_id'::text, true) NOT NULL
);

ALTER TABLE ONLY causeway.checkpoint_writes FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoint_writes OWNER TO postgres;

CREATE TABLE causeway.checkpoints (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    parent_checkpoint_id text,
    type text,
    checkpoint jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    owner_id text DEFAULT current_setting('app.user_id'::text, true) NOT NULL
);

ALTER TABLE ONLY causeway.checkpoints FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoints OWNER TO postgres;

CREATE TABLE causeway.chunks (
    collection_id uuid NOT NULL,
    chunk_id uuid NOT NULL,
    document_id uuid NOT NULL,
    owner_id text NOT NULL,
    chunk_index integer NOT NULL,
    start_char integer NOT NULL,
    end_char integer NOT NULL,
    window_start integer NOT NULL,
    context text NOT NULL,
    content text NOT NULL,
    language text NOT NULL,
    expires_at timestamp with time zone,
    tsv tsvector GENERATED ALWAYS AS ((causeway.lexemes(language, ((((context || '
'::text) || context) || '
'::text) || content)) || array_to_tsvector(ARRAY[causeway.home(collection_id)]))) STORED,
    places jsonb DEFAULT '[]'::jsonb NOT NULL,
    headers text[] DEFAULT '{}'::text[] NOT NULL,
    parent_start integer,
    parent_end integer,
    situation text DEFAULT ''::text NOT NULL
);
ALTER TABLE ONLY causeway.chunks ALTER COLUMN tsv SET STORAGE MAIN;

ALTER TABLE ONLY causeway.chunks FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.chunks OWNER TO postgres;

CREATE VIEW causeway.chunk_details WITH (security_invoker='true') AS
 SELECT c.collection_id,
    c.chunk_id,
    c.chunk_index,
    c.content,
    c.start_char,
    c.end_char,
    c.window_start,
    c.context,
    d.document_id,
    d.source,
    d.filename,
    d.media_type,
    d.content_hash,
    d.language,
    d.title,
    d.created_at,
    d.source_type,
    d.processing_strategy,
    d.tags,
    d.expires_at,
    d.byte_count,
    d.authors,
    d.keywords,
    d.warnings,
    c.places,
    c.headers,
    c.parent_start,
    c.parent_end,
    d.metadata
   FROM (causeway.chunks c
     JOIN causeway.documents d USING (collection_id, document_id));

ALTER VIEW causeway.chunk_details OWNER TO postgres;

CREATE TABLE causeway.chunk_embeddings (
    collection_id uuid NOT NULL,
    chunk_id uuid NOT NULL,
    owner_id text NOT NULL,
    model text NOT NULL,
    kind text NOT NULL,
    embedding public.halfvec NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT chunk_embeddings_kind_check CHECK ((kind = ANY (ARRAY['content'::text, 'contextual'::text])))
);
ALTER TABLE ONLY causeway.chunk_embeddings ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE ONLY causeway.chunk_embeddings FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.chunk_embeddings OWNER TO postgres;

CREATE TABLE causeway.collections (
    collection_id uuid NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    embedding_model text NOT NULL,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    chunk_count bigint DEFAULT 0 NOT NULL,
    total_chars bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    config jsonb DEFAULT '{}'::jsonb NOT NULL,
    ingestion_config jsonb DEFAULT '{}'::jsonb NOT NULL,
    previous_embedding_model text,
    has_contextual boolean DEFAULT false NOT NULL,
    generation_config jsonb DEFAULT '{}'::jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL
);

ALTER TABLE ONLY causeway.collections FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.collections OWNER TO postgres;

CREATE TABLE causeway.conversations (
    owner_id text NOT NULL,
    conversation_id uuid NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    titled_by text DEFAULT 'rules'::text NOT NULL,
    collection text,
    leaf_id uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    title_by_rules text,
    erasures integer DEFAULT 0 NOT NULL,
    CONSTRAINT conversations_titled_by_check CHECK ((titled_by = ANY (ARRAY['rules'::text, 'model'::text, 'person'::text])))
);

ALTER TABLE ONLY causeway.conversations FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.conversations OWNER TO postgres;

CREATE TABLE causeway.document_tables (
    collection_id uuid NOT NULL,
    document_id uuid NOT NULL,
    table_number integer NOT NULL,
    owner_id text NOT NULL,
    content bytea NOT NULL
);

ALTER TABLE ONLY causeway.document_tables FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.document_tables OWNER TO postgres;

CREATE TABLE causeway.entity_links (
    collection_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    other_id uuid NOT NULL,
    owner_id text NOT NULL,
    similarity real NOT NULL
);
ALTER TABLE ONLY causeway.entity_links ALTER COLUMN collection_id SET STATISTICS 0;

ALTER TABLE ONLY causeway.entity_links FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.entity_links OWNER TO postgres;

CREATE TABLE causeway.entity_roots (
    collection_id uuid NOT NULL,
    root text NOT NULL,
    entity_id uuid NOT NULL,
    owner_id text NOT NULL,
    size smallint NOT NULL
);
ALTER TABLE ONLY causeway.entity_roots ALTER COLUMN collection_id SET STATISTICS 0;

ALTER TABLE ONLY causeway.entity_roots FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.entity_roots OWNER TO postgres;

CREATE TABLE causeway.evaluation_results (
    collection_id uuid NOT NULL,
    run_id uuid NOT NULL,
    "position" integer NOT NULL,
    owner_id text NOT NULL,
    case_id uuid NOT NULL,
    query text NOT NULL,
    category text NOT NULL,
    difficulty text NOT NULL,
    relevant_document_ids uuid[] NOT NULL,
    status text DEFAULT 'waiting'::text NOT NULL,
    retrieved_document_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    missing_document_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    rank integer,
    metrics jsonb DEFAULT '{}'::jsonb NOT NULL,
    milliseconds double precision,
    failed text[] DEFAULT '{}'::text[] NOT NULL,
    expected_answer text DEFAULT ''::text NOT NULL,
    answer_milliseconds double precision,
    first_token_milliseconds double precision,
    chat_model text,
    answer_failed text[] DEFAULT '{}'::text[] NOT NULL,
    statements jsonb DEFAULT '{}'::jsonb NOT NULL,
    unjudged text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT evaluation_results_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'measured'::text, 'skipped'::text])))
);

ALTER TABLE ONLY causeway.evaluation_results FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_results OWNER TO postgres;

CREATE TABLE causeway.evaluation_runs (
    collection_id uuid NOT NULL,
    run_id uuid NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    status text DEFAULT 'waiting'::text NOT NULL,
    version integer,
    golden_hash text NOT NULL,
    config jsonb NOT NULL,
    embedding_model text NOT NULL,
    config_hash text NOT NULL,
    warnings text[] DEFAULT '{}'::text[] NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    total integer NOT NULL,
    summary jsonb,
    reason text DEFAULT ''::text NOT NULL,
    cause text DEFAULT ''::text NOT NULL,
    ticket uuid DEFAULT gen_random_uuid() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT evaluation_runs_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY causeway.evaluation_runs FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_runs OWNER TO postgres;

CREATE TABLE causeway.evaluation_schedules (
    collection_id uuid NOT NULL,
    schedule_id uuid NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    cron text NOT NULL,
    timezone text NOT NULL,
    choices jsonb NOT NULL,
    due_at timestamp with time zone NOT NULL,
    last_run_id uuid,
    ordered_at timestamp with time zone,
    reason text DEFAULT ''::text NOT NULL,
    cause text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY causeway.evaluation_schedules FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_schedules OWNER TO postgres;

CREATE TABLE causeway.feedback (
    owner_id text NOT NULL,
    message_id uuid NOT NULL,
    citation integer DEFAULT 0 NOT NULL,
    rating smallint NOT NULL,
    comment text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT feedback_citation_check CHECK ((citation >= 0)),
    CONSTRAINT feedback_rating_check CHECK ((rating = ANY (ARRAY['-1'::integer, 1])))
);

ALTER TABLE ONLY causeway.feedback FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.feedback OWNER TO postgres;

CREATE TABLE causeway.golden_cases (
    collection_id uuid NOT NULL,
    case_id uuid NOT NULL,
    owner_id text NOT NULL,
    query text NOT NULL,
    query_key text NOT NULL,
    relevant_document_ids uuid[] NOT NULL,
    expected_answer text NOT NULL,
    category text NOT NULL,
    difficulty text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    last_validated_at timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT golden_cases_category_check CHECK ((category = ANY (ARRAY['factual'::text, 'causal'::text, 'temporal'::text, 'multi_part'::text]))),
    CONSTRAINT golden_cases_difficulty_check CHECK ((difficulty = ANY (ARRAY['easy'::text, 'medium'::text, 'hard'::text])))
);

ALTER TABLE ONLY causeway.golden_cases FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_cases OWNER TO postgres;

CREATE TABLE causeway.golden_proposals (
    collection_id uuid NOT NULL,
    proposal_id uuid NOT NULL,
    owner_id text NOT NULL,
    query text NOT NULL,
    query_key text NOT NULL,
    relevant_document_ids uuid[] NOT NULL,
    candidate_document_ids uuid[] NOT NULL,
    expected_answer text NOT NULL,
    quote text NOT NULL,
    category text NOT NULL,
    difficulty text NOT NULL,
    tags text[] NOT NULL,
    origin text NOT NULL,
    method text NOT NULL,
    reason text NOT NULL,
    conversation_id uuid,
    message_id uuid,
    document_id uuid,
    content_hash text NOT NULL,
    state text DEFAULT 'proposed'::text NOT NULL,
    case_id uuid,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT golden_proposals_category_check CHECK ((category = ANY (ARRAY['factual'::text, 'causal'::text, 'temporal'::text, 'multi_part'::text]))),
    CONSTRAINT golden_proposals_check CHECK ((((origin = 'feedback'::text) = (message_id IS NOT NULL)) AND ((origin = 'document'::text) = (document_id IS NOT NULL)))),
    CONSTRAINT golden_proposals_difficulty_check CHECK ((difficulty = ANY (ARRAY['easy'::text, 'medium'::text, 'hard'::text]))),
    CONSTRAINT golden_proposals_method_check CHECK ((method = ANY (ARRAY['rules'::text, 'model'::text]))),
    CONSTRAINT golden_proposals_origin_check CHECK ((origin = ANY (ARRAY['feedback'::text, 'document'::text]))),
    CONSTRAINT golden_proposals_state_check CHECK ((state = ANY (ARRAY['proposed'::text, 'accepted'::text, 'rejected'::text])))
);

ALTER TABLE ONLY causeway.golden_proposals FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_proposals OWNER TO postgres;

CREATE VIEW causeway.golden_proposals_shown WITH (security_invoker='true') AS
 SELECT p.collection_id,
    p.proposal_id,
    p.origin,
    p.method,
    p.state,
    p.case_id,
    p.category,
    p.difficulty,
    p.relevant_document_ids,
    p.candidate_document_ids,
    p.reason,
    p.conversation_id,
    p.message_id,
    p.document_id,
    p.created_at,
    p.decided_at,
        CASE
            WHEN source.is_there THEN p.query
            ELSE ''::text
        END AS query,
        CASE
            WHEN source.is_there THEN p.expected_answer
            ELSE ''::text
        END AS expected_answer,
        CASE
            WHEN source.is_there THEN p.quote
            ELSE ''::text
        END AS quote,
        CASE
            WHEN source.is_there THEN p.tags
            ELSE '{}'::text[]
        END AS tags
   FROM causeway.golden_proposals p,
    LATERAL ( SELECT ((p.origin = 'feedback'::text) OR (EXISTS ( SELECT
                   FROM causeway.documents d
                  WHERE ((d.collection_id = p.collection_id) AND (d.document_id = p.document_id) AND (d.content_hash = p.content_hash) AND ((d.expires_at IS NULL) OR (d.expires_at > now())))))) AS is_there) source
  WHERE (source.is_there OR (p.state <> 'proposed'::text));

ALTER VIEW causeway.golden_proposals_shown OWNER TO postgres;

CREATE TABLE causeway.golden_versions (
    collection_id uuid NOT NULL,
    number integer NOT NULL,
    owner_id text NOT NULL,
    name text NOT NULL,
    content_hash text NOT NULL,
    case_count integer NOT NULL,
    cases jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT golden_versions_number_check CHECK ((number > 0))
);

ALTER TABLE ONLY causeway.golden_versions FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_versions OWNER TO postgres;

CREATE TABLE causeway.idempotency_keys (
    owner_id text NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    holder uuid NOT NULL,
    held_until timestamp with time zone NOT NULL,
    response jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY causeway.idempotency_keys FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.idempotency_keys OWNER TO postgres;

CREATE TABLE causeway.ingestions (
    collection_id uuid NOT NULL,
    document_id uuid NOT NULL,
    owner_id text NOT NULL,
    ticket uuid NOT NULL,
    source text NOT NULL,
    filename text NOT NULL,
    content_hash text NOT NULL,
    byte_count bigint NOT NULL,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    stage text DEFAULT ''::text NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    cause text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    failed_batches jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ingestions_status_check CHECK ((status = ANY (ARRAY['uploaded'::text, 'processing'::text, 'indexed'::text, 'error'::text])))
);

ALTER TABLE ONLY causeway.ingestions FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.ingestions OWNER TO postgres;

CREATE VIEW causeway.langchain_chunks WITH (security_invoker='true') AS
 SELECT details.chunk_id AS id,
    details.content,
    embedded.embedding,
    json_build_object('chunk_id', details.chunk_id, 'document_id', details.document_id, 'chunk_index', details.chunk_index, 'created_at', details.created_at, 'source', details.source, 'filename', details.filename, 'title', details.title, 'language', details.language, 'media_type', details.media_type, 'source_type', details.source_type, 'tags', details.tags, 'context', details.context, 'start_char', details.start_char, 'end_char', details.end_char) AS metadata
   FROM ((causeway.chunk_embeddings embedded
     JOIN causeway.collections USING (collection_id))
     JOIN causeway.chunk_details details USING (collection_id, chunk_id))
  WHERE ((embedded.collection_id = ( SELECT (NULLIF(current_setting('app.collection_id'::text, true), ''::text))::uuid AS "nullif")) AND (embedded.model = collections.embedding_model) AND (embedded.kind = 'content'::text) AND ((embedded.expires_at IS NULL) OR (embedded.expires_at > now())) AND (public.l2_norm(embedded.embedding) > (0)::double precision));

ALTER VIEW causeway.langchain_chunks OWNER TO postgres;

CREATE TABLE causeway.lexeme_statistics (
    collection_id uuid NOT NULL,
    lexeme text NOT NULL,
    owner_id text NOT NULL,
    document_frequency bigint NOT NULL,
    CONSTRAINT lexeme_statistics_document_frequency_check CHECK ((document_frequency > 0))
);

ALTER TABLE ONLY causeway.lexeme_statistics FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.lexeme_statistics OWNER TO postgres;

CREATE TABLE causeway.mentions (
    collection_id uuid NOT NULL,
    key text NOT NULL,
    chunk_id uuid NOT NULL,
    document_id uuid NOT NULL,
    owner_id text NOT NULL,
    weight real NOT NULL,
    expires_at timestamp with time zone
);
ALTER TABLE ONLY causeway.mentions ALTER COLUMN collection_id SET STATISTICS 0;

ALTER TABLE ONLY causeway.mentions FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.mentions OWNER TO postgres;

CREATE TABLE causeway.message_documents (
    owner_id text NOT NULL,
    message_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    document_id uuid NOT NULL,
    content_hash text NOT NULL
);

ALTER TABLE ONLY causeway.message_documents FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.message_documents OWNER TO postgres;

CREATE TABLE causeway.messages (
    owner_id text NOT NULL,
    message_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    parent_id uuid,
    role text NOT NULL,
    content text NOT NULL,
    status text NOT NULL,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    checkpoint_id text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT messages_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text]))),
    CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['complete'::text, 'interrupted'::text, 'failed'::text, 'cancelled'::text])))
);

ALTER TABLE ONLY causeway.messages FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.messages OWNER TO postgres;

CREATE TABLE causeway.migrations (
    name text NOT NULL,
    applied_at timestamp with time zone
);

ALTER TABLE causeway.migrations OWNER TO postgres;

CREATE TABLE causeway.procrastinate_events (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    type causeway.procrastinate_job_event_type,
    at timestamp with time zone DEFAULT now()
);

ALTER TABLE causeway.procrastinate_events OWNER TO postgres;

CREATE SEQUENCE causeway.procrastinate_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE causeway.procrastinate_events_id_seq OWNER TO postgres;

ALTER SEQUENCE causeway.procrastinate_events_id_seq OWNED BY causeway.procrastinate_events.id;

CREATE SEQUENCE causeway.procrastinate_jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE causeway.procrastinate_jobs_id_seq OWNER TO postgres;

ALTER SEQUENCE causeway.procrastinate_jobs_id_seq OWNED BY causeway.procrastinate_jobs.id;

CREATE TABLE causeway.procrastinate_periodic_defers (
    id bigint NOT NULL,
    task_name character varying(128) NOT NULL,
    defer_timestamp bigint,
    job_id bigint,
    periodic_id character varying(128) DEFAULT ''::character varying NOT NULL
);

ALTER TABLE causeway.procrastinate_periodic_defers OWNER TO postgres;

CREATE SEQUENCE causeway.procrastinate_periodic_defers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE causeway.procrastinate_periodic_defers_id_seq OWNER TO postgres;

ALTER SEQUENCE causeway.procrastinate_periodic_defers_id_seq OWNED BY causeway.procrastinate_periodic_defers.id;

CREATE TABLE causeway.procrastinate_workers (
    id bigint NOT NULL,
    last_heartbeat timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE causeway.procrastinate_workers OWNER TO postgres;

ALTER TABLE causeway.procrastinate_workers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME causeway.procrastinate_workers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE VIEW causeway.searchable_chunks AS
 SELECT collection_id,
    chunk_id,
    document_id,
    owner_id,
    chunk_index,
    start_char,
    end_char,
    window_start,
    context,
    content,
    language,
    expires_at,
    tsv
   FROM causeway.chunks
  WHERE ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")) AND ((expires_at IS NULL) OR (expires_at > now())));

ALTER VIEW causeway.searchable_chunks OWNER TO causeway_search;

CREATE UNLOGGED TABLE causeway.stream_events (
    owner_id text NOT NULL,
    stream_id text NOT NULL,
    first integer NOT NULL,
    events bytea[] NOT NULL,
    CONSTRAINT stream_events_first_check CHECK ((first > 0))
);

ALTER TABLE ONLY causeway.stream_events FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.stream_events OWNER TO postgres;

CREATE UNLOGGED TABLE causeway.streams (
    owner_id text NOT NULL,
    stream_id text NOT NULL,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    is_cancelled boolean DEFAULT false NOT NULL,
    read_at timestamp with time zone,
    read_up_to integer DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY causeway.streams FORCE ROW LEVEL SECURITY;

ALTER TABLE causeway.streams OWNER TO postgres;

ALTER TABLE ONLY causeway.procrastinate_events ALTER COLUMN id SET DEFAULT nextval('causeway.procrastinate_events_id_seq'::regclass);

ALTER TABLE ONLY causeway.procrastinate_jobs ALTER COLUMN id SET DEFAULT nextval('causeway.procrastinate_jobs_id_seq'::regclass);

ALTER TABLE ONLY causeway.procrastinate_periodic_defers ALTER COLUMN id SET DEFAULT nextval('causeway.procrastinate_periodic_defers_id_seq'::regclass);

INSERT INTO causeway.causal_edges VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '77db983a-3d41-5e7a-b47d-ff87ac83fd49', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'b1ff6bab-2614-57f7-b489-196114e5eafc', 0, 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', '1f927c23-4c37-5435-b538-324bdd722aa4', '3855fc58-257e-52b1-b84a-943015cd15af', 'CAUSES', 'fact', 0.95, 'rules', 'El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.', 0, 72, NULL);
INSERT INTO causeway.causal_edges VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '099c5f34-11c0-5f2e-8069-e1b33cd2dec5', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', '8c64b0ed-5c61-502b-bdf9-afbf94f5ad98', 0, 'bb451e1f-cec7-5789-a358-ea159781d871', 'df8614f5-74ea-5aa1-921d-f9d898801f85', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'CAUSES', 'fact', 0.95, 'rules', 'Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.', 0, 70, NULL);

INSERT INTO causeway.checkpoint_blobs VALUES ('e9733fa6-0b8d-4c5c-8835-09c254d714f5', '', 'messages', '00000000000000000000000000000009.0.5830373029787589', 'msgpack', '\x92c7cb0594bd6c616e67636861696e5f636f72652e6d657373616765732e68756d616eac48756d616e4d65737361676586a7636f6e74656e74d920c2bf506f72207175c3a920736520706172c3b320656c20686f726e6f2048323fb16164646974696f6e616c5f6b776172677380b1726573706f6e73655f6d6574616461746180a474797065a568756d616ea46e616d65c0a26964d92463653031383334372d336161302d343832632d393964352d636135356163653765306131b36d6f64656c5f76616c69646174655f6a736f6ec801cd0594ba6c616e67636861696e5f636f72652e6d657373616765732e6169a941494d65737361676589a7636f6e74656e74d9792a2a536520726f6d7069c3b320656c20726574c3a96e206465206c61207075657274612a2a20e2809420456c20686f726e6f20483220736520706172c3b320656c2033206465206d61796f20706f7271756520736520726f6d7069c3b320656c20726574c3a96e206465206c61207075657274612e205b315db16164646974696f6e616c5f6b776172677382ac63697465645f7469746c657391a5686f726e6fae63697465645f70617373616765739185a66e756d62657201ab646f63756d656e745f6964d92463626134636530312d613266642d356537382d623866612d373732386565393734633438ab6368756e6b5f696e64657800aa73746172745f6368617200a8656e645f6368617248b1726573706f6e73655f6d6574616461746180a474797065a26169a46e616d65c0a26964d92430656561383333362d666666622d343361352d623036642d376463383933633264333661aa746f6f6c5f63616c6c7390b2696e76616c69645f746f6f6c5f63616c6c7390ae75736167655f6d65746164617461c0b36d6f64656c5f76616c69646174655f6a736f6e', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c');
INSERT INTO causeway.checkpoint_blobs VALUES ('e9733fa6-0b8d-4c5c-8835-09c254d714f5', '', 'degraded', '00000000000000000000000000000009.0.5830373029787589', 'msgpack', '\x90', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c');
INSERT INTO causeway.checkpoint_blobs VALUES ('db94fcb2-c601-4182-8b29-27b0a5e2c5a7', '', 'messages', '00000000000000000000000000000009.0.03298541487690754', 'msgpack', '\x92c7d20594bd6c616e67636861696e5f636f72652e6d657373616765732e68756d616eac48756d616e4d65737361676586a7636f6e74656e74d927506f757271756f69206c6520666f75722046372073276573742d696c20617272c3aa74c3a9203fb16164646974696f6e616c5f6b776172677380b1726573706f6e73655f6d6574616461746180a474797065a568756d616ea46e616d65c0a26964d92461643230626638372d366335632d343339362d383138372d653132306461303363343937b36d6f64656c5f76616c69646174655f6a736f6ec801c20594ba6c616e67636861696e5f636f72652e6d657373616765732e6169a941494d65737361676589a7636f6e74656e74d96f2a2a4361707465757220c3a97461697420656e6372617373c3a92a2a20e28094204c6520666f757220463720732765737420617272c3aa74c3a9206c652039206a75696e20706172636520717565206c65206361707465757220c3a97461697420656e6372617373c3a92e205b315db16164646974696f6e616c5f6b776172677382ac63697465645f7469746c657391a4666f7572ae63697465645f70617373616765739185a66e756d62657201ab646f63756d656e745f6964d92462623435316531662d636563372d353738392d613335382d656131353937383164383731ab6368756e6b5f696e64657800aa73746172745f6368617200a8656e645f6368617246b1726573706f6e73655f6d6574616461746180a474797065a26169a46e616d65c0a26964d92437346130303137342d633161392d343665322d386363612d303961386237366165366535aa746f6f6c5f63616c6c7390b2696e76616c69645f746f6f6c5f63616c6c7390ae75736167655f6d65746164617461c0b36d6f64656c5f76616c69646174655f6a736f6e', 'owner-b-ac372985708c4aa587aa60c3d6061ffc');
INSERT INTO causeway.checkpoint_blobs VALUES ('db94fcb2-c601-4182-8b29-27b0a5e2c5a7', '', 'degraded', '00000000000000000000000000000009.0.03298541487690754', 'msgpack', '\x90', 'owner-b-ac372985708c4aa587aa60c3d6061ffc');

INSERT INTO causeway.checkpoint_migrations VALUES (0);
INSERT INTO causeway.checkpoint_migrations VALUES (1);
INSERT INTO causeway.checkpoint_migrations VALUES (2);
INSERT INTO causeway.checkpoint_migrations VALUES (3);
INSERT INTO causeway.checkpoint_migrations VALUES (4);
INSERT INTO causeway.checkpoint_migrations VALUES (5);
INSERT INTO causeway.checkpoint_migrations VALUES (6);
INSERT INTO causeway.checkpoint_migrations VALUES (7);
INSERT INTO causeway.checkpoint_migrations VALUES (8);
INSERT INTO causeway.checkpoint_migrations VALUES (9);

INSERT INTO causeway.checkpoints VALUES ('e9733fa6-0b8d-4c5c-8835-09c254d714f5', '', '1f1ea989-14cc-6a81-8007-ecba1c6d839a', NULL, NULL, '{"v": 4, "id": "1f1ea989-14cc-6a81-8007-ecba1c6d839a", "ts": "2026-11-27T19:27:21.885488+00:00", "versions_seen": {"expand": {"branch:to:expand": "00000000000000000000000000000006.0.89300561082334"}, "rerank": {"branch:to:rerank": "00000000000000000000000000000004.0.5283891447856539"}, "verify": {"branch:to:verify": "00000000000000000000000000000008.0.24380098055232757"}, "generate": {"branch:to:generate": "00000000000000000000000000000007.0.7598195385241224"}, "retrieve": {"branch:to:retrieve": "00000000000000000000000000000003.0.9242689155938387"}, "traverse": {"branch:to:traverse": "00000000000000000000000000000005.0.8756453738088581"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000001.0.4126504747788805"}, "transform": {"branch:to:transform": "00000000000000000000000000000002.0.11430343166418622"}}, "channel_values": {"question": "¿Por qué se paró el horno H2?"}, "channel_versions": {"task": "00000000000000000000000000000003.0.9242689155938387", "files": "00000000000000000000000000000004.0.5283891447856539", "paths": "00000000000000000000000000000006.0.89300561082334", "query": "00000000000000000000000000000003.0.9242689155938387", "config": "00000000000000000000000000000004.0.5283891447856539", "computed": "00000000000000000000000000000003.0.9242689155938387", "degraded": "00000000000000000000000000000009.0.5830373029787589", "evidence": "00000000000000000000000000000006.0.89300561082334", "messages": "00000000000000000000000000000009.0.5830373029787589", "passages": "00000000000000000000000000000007.0.7598195385241224", "question": "00000000000000000000000000000003.0.9242689155938387", "warnings": "00000000000000000000000000000008.0.24380098055232757", "__start__": "00000000000000000000000000000002.0.11430343166418622", "candidates": "00000000000000000000000000000005.0.8756453738088581", "chat_model": "00000000000000000000000000000008.0.24380098055232757", "collection": "00000000000000000000000000000004.0.5283891447856539", "verification": "00000000000000000000000000000009.0.5830373029787589", "branch:to:expand": "00000000000000000000000000000007.0.7598195385241224", "branch:to:rerank": "00000000000000000000000000000005.0.8756453738088581", "branch:to:verify": "00000000000000000000000000000009.0.5830373029787589", "branch:to:generate": "00000000000000000000000000000008.0.24380098055232757", "branch:to:retrieve": "00000000000000000000000000000004.0.5283891447856539", "branch:to:traverse": "00000000000000000000000000000006.0.89300561082334", "branch:to:transform": "00000000000000000000000000000003.0.9242689155938387"}, "updated_channels": ["degraded", "messages", "verification"]}', '{"step": 7, "source": "loop", "parents": {}}', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c');
INSERT INTO causeway.checkpoints VALUES ('db94fcb2-c601-4182-8b29-27b0a5e2c5a7', '', '1f1ea989-2898-6b6e-8007-9693f510f572', NULL, NULL, '{"v": 4, "id": "1f1ea989-2898-6b6e-8007-9693f510f572", "ts": "2026-11-27T19:27:23.961428+00:00", "versions_seen": {"expand": {"branch:to:expand": "00000000000000000000000000000006.0.28476242911456895"}, "rerank": {"branch:to:rerank": "00000000000000000000000000000004.0.21841971339618083"}, "verify": {"branch:to:verify": "00000000000000000000000000000008.0.5223923039695769"}, "generate": {"branch:to:generate": "00000000000000000000000000000007.0.12526466008795478"}, "retrieve": {"branch:to:retrieve": "00000000000000000000000000000003.0.09247729089197598"}, "traverse": {"branch:to:traverse": "00000000000000000000000000000005.0.0008138139403235378"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000001.0.5890652210632784"}, "transform": {"branch:to:transform": "00000000000000000000000000000002.0.3888563665355368"}}, "channel_values": {"question": "Pourquoi le four F7 s''est-il arrêté ?"}, "channel_versions": {"task": "00000000000000000000000000000003.0.09247729089197598", "files": "00000000000000000000000000000004.0.21841971339618083", "paths": "00000000000000000000000000000006.0.28476242911456895", "query": "00000000000000000000000000000003.0.09247729089197598", "config": "00000000000000000000000000000004.0.21841971339618083", "computed": "00000000000000000000000000000003.0.09247729089197598", "degraded": "00000000000000000000000000000009.0.03298541487690754", "evidence": "00000000000000000000000000000006.0.28476242911456895", "messages": "00000000000000000000000000000009.0.03298541487690754", "passages": "00000000000000000000000000000007.0.12526466008795478", "question": "00000000000000000000000000000003.0.09247729089197598", "warnings": "00000000000000000000000000000008.0.5223923039695769", "__start__": "00000000000000000000000000000002.0.3888563665355368", "candidates": "00000000000000000000000000000005.0.0008138139403235378", "chat_model": "00000000000000000000000000000008.0.5223923039695769", "collection": "00000000000000000000000000000004.0.21841971339618083", "verification": "00000000000000000000000000000009.0.03298541487690754", "branch:to:expand": "00000000000000000000000000000007.0.12526466008795478", "branch:to:rerank": "00000000000000000000000000000005.0.0008138139403235378", "branch:to:verify": "00000000000000000000000000000009.0.03298541487690754", "branch:to:generate": "00000000000000000000000000000008.0.5223923039695769", "branch:to:retrieve": "00000000000000000000000000000004.0.21841971339618083", "branch:to:traverse": "00000000000000000000000000000006.0.28476242911456895", "branch:to:transform": "00000000000000000000000000000003.0.09247729089197598"}, "updated_channels": ["degraded", "messages", "verification"]}', '{"step": 7, "source": "loop", "parents": {}}', 'owner-b-ac372985708c4aa587aa60c3d6061ffc');

INSERT INTO causeway.chunk_embeddings VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'b1ff6bab-2614-57f7-b489-196114e5eafc', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'e5', 'content', '[0.0541687,-0.021728516,-0.001832962,-0.03515625,0.06463623,-0.049072266,-0.014793396,0.021759033,0.09503174,0.033813477,0.06085205,0.012664795,0.0552063,-0.032165527,-0.08911133,0.017425537,0.060638428,-0.012649536,-0.070129395,-0.028060913,0.005130768,-0.020004272,-0.03945923,0.064575195,0.09185791,0.04348755,-0.01977539,0.022003174,0.07867432,-0.09362793,-0.015457153,-0.055389404,0.044799805,-0.08728027,0.04928589,0.026184082,-0.05996704,-0.054840088,0.028274536,-0.05340576,-0.05859375,0.03173828,0.041870117,0.117614746,0.07244873,0.0625,-0.06567383,0.06915283,-0.023101807,-0.01108551,-0.052825928,0.07489014,0.009811401,0.043426514,0.04348755,-0.07220459,-0.039642334,-0.042785645,-0.07891846,0.101989746,0.037322998,0.011253357,0.02381897,0.032073975,0.0635376,0.06866455,0.015083313,0.06854248,-0.014434814,0.0041160583,-0.07470703,0.07287598,-0.012580872,-0.03817749,0.035614014,-0.028442383,0.034973145,-0.092041016,0.018493652,-0.013008118,-0.013092041,-0.028717041,-0.046905518,0.011161804,-0.049835205,0.0871582,0.026657104,-0.043395996,0.06011963,0.021987915,0.09313965,0.047698975,-0.05569458,-0.034606934,-0.025604248,-0.062561035,-0.024276733,0.043060303,0.068115234,-0.08123779,0.08087158,-0.04272461,0.012710571,-0.06829834,-0.085632324,0.026870728,0.006164551,-0.0597229,0.07519531,-0.072021484,-0.054229736,0.022384644,0.02053833,0.046905518,-0.055419922,-0.0039749146,0.028778076,-0.078063965,0.02104187,-0.039733887,0.03286743,-0.04711914,-0.03579712,-0.03878784,-0.053955078,-0.05505371,0.038757324,0.013534546,0.007423401,-0.018310547,0.07147217,0.0029296875,0.004497528,0.07006836,0.029937744,0.074035645,-0.029418945,-0.015579224,-0.04321289,-0.013786316,-0.051208496,0.018569946,-0.02293396,-0.015548706,0.024887085,0.07952881,0.07489014,-0.042175293,0.08068848,-0.06732178,0.025375366,-0.047607422,0.079833984,0.03894043,0.02911377,-0.066223145,-0.056365967,-0.033966064,0.050994873,0.074035645,-0.05557251,-0.045196533,-0.06774902,-0.05239868,-0.075805664,-0.06640625,0.032806396,0.060058594,-0.052764893,-0.0003759861,-0.0021400452,0.014335632,-0.002790451,0.029510498,-0.028869629,0.08929443,-0.07220459,0.06878662,0.076049805,0.053649902,0.008918762,-0.031280518,-0.062927246,-0.040893555,-0.05822754,-0.03503418,-0.04385376,0.06121826,0.019882202,-0.009681702,-0.009010315,0.038146973,-0.03829956,-0.02645874,-0.0061950684,0.03363037,-0.06137085,0.04006958,0.06970215,0.072143555,-0.017150879,-0.003124237,0.06964111,0.03677368,0.037139893,0.022994995,-0.040039062,0.04574585,-0.047088623,0.053344727,0.04321289,-0.09814453,-0.05078125,0.090270996,-0.09008789,0.035125732,0.01007843,0.04888916,-0.054718018,0.056762695,0.031082153,-0.00038266182,0.053985596,-0.10797119,-0.060028076,0.055877686,0.005088806,-0.03451538,-0.0725708,0.01335144,-0.0473938,-0.0107040405,-0.07940674,-0.076293945,-0.049835205,-0.051330566,0.03982544,0.055908203,0.05935669,-0.06951904,-0.024887085,-0.041229248,0.016021729,-0.043060303,0.08312988,-0.016098022,-0.024810791,0.030670166,-0.025497437,0.0017585754,0.054626465,-0.058685303,-0.060455322,-0.08117676,-0.016525269,0.012557983,0.07598877,0.06530762,-0.034576416,0.007583618,0.012779236,-0.018035889,0.07824707,0.06933594,0.07373047,0.016403198,-0.07409668,-0.02960205,-0.06518555,-0.045806885,-0.039855957,0.0597229,0.022766113,-0.050598145,-0.0625,-0.023727417,0.060028076,0.07543945,-0.00592041,-0.03829956,0.09008789,0.06542969,0.0713501,0.048675537,0.027282715,-0.046905518,-0.025039673,0.063964844,-0.028121948,-0.059753418,-0.08459473,-0.061584473,0.07293701,-0.04244995,0.009216309,0.05206299,0.0005750656,0.09094238,-0.054992676,0.018325806,-0.005264282,-0.03717041,-0.01436615,0.015159607,-0.10144043,-0.008094788,0.025985718,0.022750854,0.0033798218,0.037994385,0.05328369,0.020645142,-0.062927246,-0.0076560974,0.051818848,0.07678223,0.022277832,0.039001465,-0.029067993,-0.047180176,-0.0869751,-0.077819824,-0.0042419434,-0.029449463,0.04244995,0.072753906,-0.016723633,-0.05532837,0.05718994,0.029296875,0.043914795,-0.042419434,-0.073913574,0.04940796,-0.07977295,-0.015068054,-0.044921875,0.0096206665,-0.030700684,-0.046783447,0.03060913,0.0619812,-0.03012085,0.04034424,-0.040374756,-0.05822754,0.070495605,-0.04586792,-0.035827637,0.031341553,-0.017181396,-0.08129883,-0.012924194,0.062561035,-0.054626465,0.04208374,-0.03692627,-0.05883789,0.011383057,0.044403076,-0.08721924,-0.028717041,0.05227661,0.055999756,0.08935547,-0.012039185,0.00065279007,-0.02909851,0.01953125,-0.0836792,0.0066108704,0.027999878,-0.060913086,-0.018203735,-0.04043579,-0.03555298,-0.028640747,0.067993164,-0.08135986,-0.08502197,0.055999756,0.05038452,0.030578613,0.06542969]', NULL);
INSERT INTO causeway.chunk_embeddings VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'e5', 'content', '[-0.024047852,-0.014320374,-0.06536865,-0.053131104,0.02281189,-0.04711914,-0.008361816,0.043823242,0.07495117,0.015899658,0.059814453,0.008522034,0.066467285,-0.029434204,-0.0769043,0.033477783,-0.002872467,-0.031463623,-0.024093628,-0.062316895,0.004398346,0.01449585,-0.082092285,0.03881836,0.05206299,0.07720947,-0.02079773,0.022125244,0.010948181,-0.062927246,-0.08050537,-0.02368164,0.043304443,-0.08282471,0.04397583,0.05441284,-0.061035156,-0.05770874,0.03479004,-0.06994629,-0.045532227,0.060180664,0.048706055,0.073791504,0.037322998,0.055023193,-0.017349243,0.068237305,-0.043701172,-0.022903442,-0.017669678,0.03277588,0.051513672,0.010757446,0.049346924,-0.046905518,-0.027038574,-0.07110596,-0.05206299,0.061340332,0.06854248,0.00038051605,0.019088745,0.053619385,0.10369873,0.07281494,0.05050659,0.04135132,-0.05154419,-0.008590698,-0.034576416,0.084472656,-0.024902344,-0.012184143,0.0071144104,0.009033203,0.024749756,-0.07696533,0.025680542,-0.061035156,-0.0440979,-0.046020508,-0.03930664,0.0062217712,0.01424408,0.060302734,0.053527832,-0.062072754,0.032684326,-0.019744873,0.059570312,0.04525757,-0.055236816,-0.044708252,-0.0690918,-0.07116699,-6.622076e-05,0.028961182,0.08880615,-0.013450623,0.09460449,-0.064086914,0.026504517,-0.081848145,-0.015388489,0.026977539,0.053649902,-0.0625,0.10406494,-0.072265625,-0.037750244,0.019561768,0.08148193,0.067871094,-0.028747559,-0.021331787,-0.012161255,-0.087524414,0.004184723,-0.06652832,0.04458618,-0.022537231,-0.033935547,-0.06524658,-0.055145264,-0.022354126,0.018478394,0.04510498,-0.03062439,0.0052337646,0.013313293,0.028442383,-0.03366089,0.076660156,0.051849365,0.07128906,-0.054534912,0.018463135,-0.021835327,-0.06317139,-0.06359863,0.03060913,-0.060455322,0.00027680397,0.046325684,0.041809082,0.09307861,-0.02017212,0.06976318,-0.034576416,0.04360962,-0.04434204,0.055023193,0.04058838,0.04434204,-0.042755127,-0.04385376,-0.0569458,0.022735596,0.046722412,-0.020690918,-0.06378174,-0.04220581,-0.012496948,-0.07116699,-0.06237793,0.02420044,0.045440674,-0.050354004,-0.050201416,-0.053894043,0.046051025,-0.040618896,0.03656006,-0.008842468,0.09136963,-0.1026001,0.023147583,0.068603516,0.030593872,-0.07318115,-0.043273926,-0.06549072,-0.03466797,-0.09320068,-0.053833008,-0.06549072,0.04473877,0.018005371,-0.038116455,0.020645142,0.04751587,-0.055267334,-0.054870605,-0.067871094,0.04537964,-0.021743774,0.052734375,0.030792236,0.049957275,-0.014328003,-0.04046631,0.05731201,0.00623703,0.06756592,-0.031280518,-0.05529785,0.06970215,-0.035980225,0.019546509,0.0871582,-0.018203735,-0.039245605,0.044799805,-0.04537964,-0.029434204,0.0025405884,0.081726074,-0.036590576,0.07116699,0.021270752,0.026535034,0.039764404,-0.087402344,-0.05606079,0.0552063,0.056152344,-0.06536865,-0.045135498,0.055786133,-0.031341553,-0.026123047,-0.04458618,-0.075805664,-0.08154297,-0.0054969788,-0.005580902,0.064575195,0.04623413,-0.07092285,-0.043395996,-0.11230469,0.011260986,-0.072753906,0.06951904,-0.029449463,-0.040161133,0.0037002563,-0.04144287,0.00089263916,0.0143966675,-0.059631348,-0.064331055,-0.031555176,-0.080078125,0.015655518,0.036132812,0.06506348,-0.05859375,0.044311523,0.014099121,-0.009384155,0.13891602,0.04171753,0.026626587,0.023223877,-0.024414062,-0.058288574,-0.056671143,-0.03491211,-0.04272461,0.050689697,0.011543274,-0.0496521,-0.07684326,-0.0008382797,0.050598145,0.062683105,-0.049194336,-0.04824829,0.06842041,-0.010879517,0.016952515,0.05810547,0.069885254,-0.017547607,-0.030212402,0.03164673,-0.022033691,-0.061553955,-0.03161621,-0.05596924,0.06970215,-0.0007596016,0.026107788,0.07067871,-0.009971619,0.07336426,-0.00333786,0.013008118,-0.027359009,-0.03945923,0.0128479,0.06982422,-0.064941406,0.030929565,0.023925781,0.033813477,0.0680542,0.061676025,0.05407715,0.04058838,-0.073791504,0.002401352,0.05154419,0.08013916,0.027175903,0.05999756,-0.040649414,-0.046539307,-0.06512451,-0.078430176,-0.0025405884,-0.021759033,0.061309814,0.07531738,-0.07421875,-0.075683594,0.023468018,-0.0046310425,0.07098389,-0.033447266,-0.072265625,0.05883789,-0.034057617,-0.052703857,-0.011779785,0.05859375,-0.042053223,-0.042236328,0.0061454773,0.02067566,-0.029815674,0.06524658,-0.0146865845,-0.07098389,0.06304932,-0.036712646,-0.04586792,0.0635376,0.05886841,-0.062927246,0.0011968613,0.052246094,-0.016357422,0.057128906,0.0018749237,-0.017440796,0.08544922,0.053527832,-0.038116455,-0.058013916,0.05508423,0.035125732,0.07141113,0.05178833,-0.03543091,-0.026184082,0.043518066,-0.05935669,0.057678223,0.049041748,-0.046905518,-5.143881e-05,-0.04534912,-0.05267334,-0.095336914,0.024810791,-0.11529541,-0.046813965,0.051696777,0.107055664,0.027908325,0.071899414]', NULL);
INSERT INTO causeway.chunk_embeddings VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '8c64b0ed-5c61-502b-bdf9-afbf94f5ad98', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'e5', 'content', '[0.035125732,0.008491516,-0.008476257,-0.05517578,0.06573486,0.0011615753,-0.038757324,0.0647583,0.070495605,0.030090332,0.05419922,0.033843994,0.081726074,-0.052947998,-0.03213501,0.027679443,0.049591064,-0.036010742,-0.06378174,-0.034179688,-0.009056091,-0.014251709,-0.03955078,0.008956909,0.06573486,0.07318115,-0.0012741089,0.018829346,0.06945801,-0.10882568,-0.057647705,-0.051757812,0.03164673,-0.024017334,0.06173706,0.0090789795,-0.04397583,-0.061767578,0.022247314,-0.015670776,-0.02255249,0.020553589,-0.0051498413,0.12347412,0.078552246,0.04724121,-0.07080078,0.049804688,-0.023010254,-0.03289795,-0.06842041,0.070007324,-0.019088745,0.040039062,0.011245728,-0.031463623,-0.03564453,-0.035827637,-0.08337402,0.042541504,0.045318604,-0.01739502,0.01448822,0.026901245,0.07574463,0.05239868,0.01713562,0.032470703,-0.052368164,-0.019165039,-0.06817627,0.062805176,0.012306213,-0.029800415,0.021865845,0.029708862,0.0519104,-0.06317139,0.026000977,0.009803772,-0.010719299,-0.046722412,-0.043670654,-0.018630981,-0.07873535,0.053588867,0.04574585,-0.06573486,0.045928955,-0.0024662018,0.100097656,0.059417725,-0.022003174,-0.049804688,-0.011741638,-0.04220581,-0.04486084,0.03616333,0.06628418,-0.05117798,0.06762695,-0.03274536,0.071899414,-0.042053223,-0.04168701,0.0491333,0.0057678223,-0.064575195,0.057647705,-0.05203247,-0.04196167,0.037231445,0.007671356,0.027755737,-0.070739746,-0.035461426,-0.01424408,-0.02885437,-0.004917145,-0.049621582,0.037841797,-0.026000977,-0.043548584,-0.04537964,-0.03225708,-0.036865234,0.04525757,0.023468018,0.011886597,-0.0013589859,0.047668457,0.017929077,-0.014884949,0.07287598,0.020263672,0.07495117,-0.047851562,-4.0769577e-05,-0.017303467,-0.021774292,-0.0619812,0.07086182,-0.0317688,0.05581665,0.054748535,0.062408447,0.07208252,-0.03491211,0.076049805,-0.09008789,0.05630493,-0.051239014,0.095825195,0.015396118,0.04498291,-0.083496094,-0.07067871,-0.04940796,0.03894043,0.03050232,-0.0209198,-0.0680542,-0.059417725,-0.042755127,-0.061706543,-0.032684326,0.06451416,0.088012695,-0.08392334,0.005847931,-0.010185242,0.086120605,-0.005584717,0.03527832,-0.0030517578,0.060272217,-0.041137695,0.054504395,0.07531738,0.055236816,-0.025817871,-0.026351929,-0.08972168,-0.03427124,-0.07922363,-0.061462402,-0.042388916,0.0418396,-0.0056419373,-0.029388428,-0.010169983,0.033325195,-0.04827881,-0.077697754,0.004699707,0.045928955,-0.05718994,0.019058228,0.03515625,0.021362305,0.018600464,-0.029449463,0.08276367,0.008010864,0.05038452,-0.0011558533,-0.07104492,0.03878784,-0.0184021,0.07495117,0.03656006,-0.10675049,-0.058135986,0.06707764,-0.08905029,0.02456665,0.048431396,0.032440186,-0.047546387,0.05041504,0.042816162,-0.03982544,0.07293701,-0.057495117,-0.032806396,0.021011353,0.0131073,-0.04953003,-0.048309326,0.04421997,-0.033935547,-0.05105591,-0.105407715,0.006793976,-0.0713501,-0.051330566,0.000579834,0.03527832,0.03540039,-0.03692627,-0.025924683,-0.02557373,0.055877686,-0.05319214,0.097351074,-0.026748657,-0.0209198,-0.011566162,-9.673834e-05,0.03060913,0.06427002,-0.044311523,-0.05307007,-0.035491943,-0.03942871,0.04373169,0.051330566,0.03741455,-0.032684326,0.003932953,0.025939941,-0.03665161,0.10534668,0.06359863,0.06237793,0.06137085,-0.07171631,-0.035369873,-0.08508301,-0.05380249,-0.040771484,0.051940918,0.011199951,-0.07055664,-0.052612305,-0.03289795,0.012290955,0.05041504,-0.013397217,-0.04321289,0.06317139,0.07940674,0.07165527,0.036956787,0.05999756,-0.014076233,-0.054992676,0.061401367,-0.055603027,-0.045166016,-0.041137695,-0.1138916,0.067993164,-0.034301758,0.022903442,0.0041503906,0.028045654,0.08581543,-0.040802002,0.025360107,0.023788452,-0.062927246,0.047180176,-0.0014801025,-0.109436035,0.0014810562,-0.019836426,0.040527344,0.031311035,0.041748047,0.037841797,0.03074646,-0.04763794,-0.017059326,0.03564453,0.057128906,0.006000519,0.05026245,-0.058013916,-0.089782715,-0.07501221,-0.030838013,-0.026550293,-0.0473938,0.047973633,0.089416504,-0.009178162,-0.06512451,0.06652832,-0.014717102,0.07165527,-0.036865234,-0.05947876,0.08001709,-0.07556152,-0.03390503,-0.043670654,0.080566406,-0.035491943,-0.07128906,0.038116455,0.059661865,-0.066345215,0.068115234,0.027511597,-0.06738281,0.05331421,-0.02230835,-0.059753418,0.020263672,0.019561768,-0.123168945,0.015144348,0.041900635,-0.061645508,0.0418396,-0.0715332,-0.03475952,0.06137085,0.044036865,-0.078430176,0.015655518,0.04373169,0.032562256,0.04849243,0.047607422,-0.05291748,-0.050231934,0.031463623,-0.09564209,0.03527832,0.04055786,-0.047943115,-5.4121017e-05,-0.027954102,-0.019210815,-0.03781128,0.030288696,-0.083984375,-0.097229004,0.06567383,0.08557129,0.026824951,0.0925293]', NULL);
INSERT INTO causeway.chunk_embeddings VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '918da18a-385a-50fe-aba2-5f2973d81a3f', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'e5', 'content', '[-0.024047852,-0.014320374,-0.06536865,-0.053131104,0.02281189,-0.04711914,-0.008361816,0.043823242,0.07495117,0.015899658,0.059814453,0.008522034,0.066467285,-0.029434204,-0.0769043,0.033477783,-0.002872467,-0.031463623,-0.024093628,-0.062316895,0.004398346,0.01449585,-0.082092285,0.03881836,0.05206299,0.07720947,-0.02079773,0.022125244,0.010948181,-0.062927246,-0.08050537,-0.02368164,0.043304443,-0.08282471,0.04397583,0.05441284,-0.061035156,-0.05770874,0.03479004,-0.06994629,-0.045532227,0.060180664,0.048706055,0.073791504,0.037322998,0.055023193,-0.017349243,0.068237305,-0.043701172,-0.022903442,-0.017669678,0.03277588,0.051513672,0.010757446,0.049346924,-0.046905518,-0.027038574,-0.07110596,-0.05206299,0.061340332,0.06854248,0.00038051605,0.019088745,0.053619385,0.10369873,0.07281494,0.05050659,0.04135132,-0.05154419,-0.008590698,-0.034576416,0.084472656,-0.024902344,-0.012184143,0.0071144104,0.009033203,0.024749756,-0.07696533,0.025680542,-0.061035156,-0.0440979,-0.046020508,-0.03930664,0.0062217712,0.01424408,0.060302734,0.053527832,-0.062072754,0.032684326,-0.019744873,0.059570312,0.04525757,-0.055236816,-0.044708252,-0.0690918,-0.07116699,-6.622076e-05,0.028961182,0.08880615,-0.013450623,0.09460449,-0.064086914,0.026504517,-0.081848145,-0.015388489,0.026977539,0.053649902,-0.0625,0.10406494,-0.072265625,-0.037750244,0.019561768,0.08148193,0.067871094,-0.028747559,-0.021331787,-0.012161255,-0.087524414,0.004184723,-0.06652832,0.04458618,-0.022537231,-0.033935547,-0.06524658,-0.055145264,-0.022354126,0.018478394,0.04510498,-0.03062439,0.0052337646,0.013313293,0.028442383,-0.03366089,0.076660156,0.051849365,0.07128906,-0.054534912,0.018463135,-0.021835327,-0.06317139,-0.06359863,0.03060913,-0.060455322,0.00027680397,0.046325684,0.041809082,0.09307861,-0.02017212,0.06976318,-0.034576416,0.04360962,-0.04434204,0.055023193,0.04058838,0.04434204,-0.042755127,-0.04385376,-0.0569458,0.022735596,0.046722412,-0.020690918,-0.06378174,-0.04220581,-0.012496948,-0.07116699,-0.06237793,0.02420044,0.045440674,-0.050354004,-0.050201416,-0.053894043,0.046051025,-0.040618896,0.03656006,-0.008842468,0.09136963,-0.1026001,0.023147583,0.068603516,0.030593872,-0.07318115,-0.043273926,-0.06549072,-0.03466797,-0.09320068,-0.053833008,-0.06549072,0.04473877,0.018005371,-0.038116455,0.020645142,0.04751587,-0.055267334,-0.054870605,-0.067871094,0.04537964,-0.021743774,0.052734375,0.030792236,0.049957275,-0.014328003,-0.04046631,0.05731201,0.00623703,0.06756592,-0.031280518,-0.05529785,0.06970215,-0.035980225,0.019546509,0.0871582,-0.018203735,-0.039245605,0.044799805,-0.04537964,-0.029434204,0.0025405884,0.081726074,-0.036590576,0.07116699,0.021270752,0.026535034,0.039764404,-0.087402344,-0.05606079,0.0552063,0.056152344,-0.06536865,-0.045135498,0.055786133,-0.031341553,-0.026123047,-0.04458618,-0.075805664,-0.08154297,-0.0054969788,-0.005580902,0.064575195,0.04623413,-0.07092285,-0.043395996,-0.11230469,0.011260986,-0.072753906,0.06951904,-0.029449463,-0.040161133,0.0037002563,-0.04144287,0.00089263916,0.0143966675,-0.059631348,-0.064331055,-0.031555176,-0.080078125,0.015655518,0.036132812,0.06506348,-0.05859375,0.044311523,0.014099121,-0.009384155,0.13891602,0.04171753,0.026626587,0.023223877,-0.024414062,-0.058288574,-0.056671143,-0.03491211,-0.04272461,0.050689697,0.011543274,-0.0496521,-0.07684326,-0.0008382797,0.050598145,0.062683105,-0.049194336,-0.04824829,0.06842041,-0.010879517,0.016952515,0.05810547,0.069885254,-0.017547607,-0.030212402,0.03164673,-0.022033691,-0.061553955,-0.03161621,-0.05596924,0.06970215,-0.0007596016,0.026107788,0.07067871,-0.009971619,0.07336426,-0.00333786,0.013008118,-0.027359009,-0.03945923,0.0128479,0.06982422,-0.064941406,0.030929565,0.023925781,0.033813477,0.0680542,0.061676025,0.05407715,0.04058838,-0.073791504,0.002401352,0.05154419,0.08013916,0.027175903,0.05999756,-0.040649414,-0.046539307,-0.06512451,-0.078430176,-0.0025405884,-0.021759033,0.061309814,0.07531738,-0.07421875,-0.075683594,0.023468018,-0.0046310425,0.07098389,-0.033447266,-0.072265625,0.05883789,-0.034057617,-0.052703857,-0.011779785,0.05859375,-0.042053223,-0.042236328,0.0061454773,0.02067566,-0.029815674,0.06524658,-0.0146865845,-0.07098389,0.06304932,-0.036712646,-0.04586792,0.0635376,0.05886841,-0.062927246,0.0011968613,0.052246094,-0.016357422,0.057128906,0.0018749237,-0.017440796,0.08544922,0.053527832,-0.038116455,-0.058013916,0.05508423,0.035125732,0.07141113,0.05178833,-0.03543091,-0.026184082,0.043518066,-0.05935669,0.057678223,0.049041748,-0.046905518,-5.143881e-05,-0.04534912,-0.05267334,-0.095336914,0.024810791,-0.11529541,-0.046813965,0.051696777,0.107055664,0.027908325,0.071899414]', NULL);

INSERT INTO causeway.chunks VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'b1ff6bab-2614-57f7-b489-196114e5eafc', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 0, 0, 72, 0, 'horno', 'El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.', 'es', NULL, DEFAULT, '[]', '{}', NULL, NULL, '');
INSERT INTO causeway.chunks VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 0, 0, 343, 0, 'ventas', 'Mes: enero; Toneladas: 12
Mes: febrero; Toneladas: 15

Total Toneladas (January – February): 27, the sum of 2 values.
Minimum Toneladas: 12 (January).
Maximum Toneladas: 15 (February).
Average Toneladas (January – February): 13.5, of 2 values.
Toneladas, January: 12.
Toneladas, February: 15, +25% on the previous month (January: 12): up by 3.', 'und', NULL, DEFAULT, '[[0, 25, null, "", "A2:B2"], [26, 53, null, "", "A3:B3"], [55, 117, null, "", "B2:B3"], [118, 150, null, "", "B2:B3"], [151, 184, null, "", "B2:B3"], [185, 243, null, "", "B2:B3"], [244, 267, null, "", "B2"], [268, 343, null, "", "B2:B3"]]', '{Mes,Toneladas}', NULL, NULL, '');
INSERT INTO causeway.chunks VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '8c64b0ed-5c61-502b-bdf9-afbf94f5ad98', 'bb451e1f-cec7-5789-a358-ea159781d871', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 0, 0, 70, 0, 'four', 'Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.', 'fr', NULL, DEFAULT, '[]', '{}', NULL, NULL, '');
INSERT INTO causeway.chunks VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 0, 0, 343, 0, 'ventas', 'Mes: enero; Toneladas: 12
Mes: febrero; Toneladas: 15

Total Toneladas (January – February): 27, the sum of 2 values.
Minimum Toneladas: 12 (January).
Maximum Toneladas: 15 (February).
Average Toneladas (January – February): 13.5, of 2 values.
Toneladas, January: 12.
Toneladas, February: 15, +25% on the previous month (January: 12): up by 3.', 'und', NULL, DEFAULT, '[[0, 25, null, "", "A2:B2"], [26, 53, null, "", "A3:B3"], [55, 117, null, "", "B2:B3"], [118, 150, null, "", "B2:B3"], [151, 184, null, "", "B2:B3"], [185, 243, null, "", "B2:B3"], [244, 267, null, "", "B2"], [268, 343, null, "", "B2:B3"]]', '{Mes,Toneladas}', NULL, NULL, '');

INSERT INTO causeway.collections VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'taller', 'e5', '{es,und}', 2, 415, '2026-11-27 19:27:18.120686+00', 2, '{}', '{}', NULL, false, '{}', '{}');
INSERT INTO causeway.collections VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'taller', 'e5', '{fr,und}', 2, 413, '2026-11-27 19:27:22.482574+00', 2, '{}', '{}', NULL, false, '{}', '{}');

INSERT INTO causeway.conversations VALUES ('owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'e9733fa6-0b8d-4c5c-8835-09c254d714f5', 'Por qué se paró el horno H2', 'rules', 'taller', 'b29dfde3-c67e-462a-ada9-e00b003a98e5', '2026-11-27 19:27:21.304892+00', '2026-11-27 19:27:21.886861+00', NULL, 0);
INSERT INTO causeway.conversations VALUES ('owner-b-ac372985708c4aa587aa60c3d6061ffc', 'db94fcb2-c601-4182-8b29-27b0a5e2c5a7', 'Pourquoi le four F7 s''est-il arrêté', 'rules', 'taller', '57eff692-1a9f-4ef3-b35b-507f3f625209', '2026-11-27 19:27:23.583321+00', '2026-11-27 19:27:23.962561+00', NULL, 0);

INSERT INTO causeway.document_tables VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 0, 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', '\x504b03042d000000000000002100e586ad74ffffffffffffffff0a0014007374617274732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a000000001a000000504b03042d0000000000000021008d1308efffffffffffffffff08001400656e64732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a1900000035000000504b03042d0000000000000021001e31094bffffffffffffffff0a0014006368756e6b732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0000000000000000504b03042d000000000000002100aa00a6ceffffffffffffffff0900140074657874732e6e70790100100001010000000000000101000000000000934e554d5059010076007b276465736372273a20277c7531272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a20283132392c292c207d202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a5b22756e64222c20747275652c202276656e7461732076656e7461732e63737620222c205b5b224d6573222c206e756c6c2c2022222c205b22222c2022656e65726f222c20226665627265726f225d5d2c205b22546f6e656c61646173222c2022616d6f756e74222c2022222c205b22222c20223132222c20223135225d5d5d5d504b03042d0000000000000021000bf9aa2dffffffffffffffff0a001400636f646573302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0100000002000000504b03042d00000000000000210097678c28ffffffffffffffff0a0014006669727374302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a08240b0027240b00504b03042d000000000000002100a7773470ffffffffffffffff090014006c617374302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a26240b0043240b00504b03042d0000000000000021000bf9aa2dffffffffffffffff0a001400636f646573312e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0100000002000000504b03042d000000000000002100f19171d7ffffffffffffffff0c0014006e756d62657273312e6e70790100100090000000000000009000000000000000934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a00000000000028400000000000002e40504b01022d032d000000000000002100e586ad7488000000880000000a00000000000000000000008001000000007374617274732e6e7079504b01022d032d0000000000000021008d1308ef88000000880000000800000000000000000000008001c4000000656e64732e6e7079504b01022d032d0000000000000021001e31094b88000000880000000a00000000000000000000008001860100006368756e6b732e6e7079504b01022d032d000000000000002100aa00a6ce010100000101000009000000000000000000000080014a02000074657874732e6e7079504b01022d032d0000000000000021000bf9aa2d88000000880000000a0000000000000000000000800186030000636f646573302e6e7079504b01022d032d00000000000000210097678c2888000000880000000a000000000000000000000080014a0400006669727374302e6e7079504b01022d032d000000000000002100a7773470880000008800000009000000000000000000000080010e0500006c617374302e6e7079504b01022d032d0000000000000021000bf9aa2d88000000880000000a00000000000000000000008001d1050000636f646573312e6e7079504b01022d032d000000000000002100f19171d790000000900000000c00000000000000000000008001950600006e756d62657273312e6e7079504b05060000000009000900f6010000630700000000');
INSERT INTO causeway.document_tables VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 0, 'owner-b-ac372985708c4aa587aa60c3d6061ffc', '\x504b03042d000000000000002100e586ad74ffffffffffffffff0a0014007374617274732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a000000001a000000504b03042d0000000000000021008d1308efffffffffffffffff08001400656e64732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a1900000035000000504b03042d0000000000000021001e31094bffffffffffffffff0a0014006368756e6b732e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0000000000000000504b03042d000000000000002100aa00a6ceffffffffffffffff0900140074657874732e6e70790100100001010000000000000101000000000000934e554d5059010076007b276465736372273a20277c7531272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a20283132392c292c207d202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a5b22756e64222c20747275652c202276656e7461732076656e7461732e63737620222c205b5b224d6573222c206e756c6c2c2022222c205b22222c2022656e65726f222c20226665627265726f225d5d2c205b22546f6e656c61646173222c2022616d6f756e74222c2022222c205b22222c20223132222c20223135225d5d5d5d504b03042d0000000000000021000bf9aa2dffffffffffffffff0a001400636f646573302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0100000002000000504b03042d00000000000000210097678c28ffffffffffffffff0a0014006669727374302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a08240b0027240b00504b03042d000000000000002100a7773470ffffffffffffffff090014006c617374302e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a26240b0043240b00504b03042d0000000000000021000bf9aa2dffffffffffffffff0a001400636f646573312e6e70790100100088000000000000008800000000000000934e554d5059010076007b276465736372273a20273c6934272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a0100000002000000504b03042d000000000000002100f19171d7ffffffffffffffff0c0014006e756d62657273312e6e70790100100090000000000000009000000000000000934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a00000000000028400000000000002e40504b01022d032d000000000000002100e586ad7488000000880000000a00000000000000000000008001000000007374617274732e6e7079504b01022d032d0000000000000021008d1308ef88000000880000000800000000000000000000008001c4000000656e64732e6e7079504b01022d032d0000000000000021001e31094b88000000880000000a00000000000000000000008001860100006368756e6b732e6e7079504b01022d032d000000000000002100aa00a6ce010100000101000009000000000000000000000080014a02000074657874732e6e7079504b01022d032d0000000000000021000bf9aa2d88000000880000000a0000000000000000000000800186030000636f646573302e6e7079504b01022d032d00000000000000210097678c2888000000880000000a000000000000000000000080014a0400006669727374302e6e7079504b01022d032d000000000000002100a7773470880000008800000009000000000000000000000080010e0500006c617374302e6e7079504b01022d032d0000000000000021000bf9aa2d88000000880000000a00000000000000000000008001d1050000636f646573312e6e7079504b01022d032d000000000000002100f19171d790000000900000000c00000000000000000000008001950600006e756d62657273312e6e7079504b05060000000009000900f6010000630700000000');

INSERT INTO causeway.documents VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'horno.txt', 'horno.txt', 'text/plain', '1710a6b33b7ffdbb4abd05dc7f4c26556d073424d03179f219d94f79f71dc6f2', 'es', 'horno', '2026-11-27 19:27:18.149452+00', 'upload', 'sentence', '{}', NULL, 76, '{}', '{"horno H2","rompió el retén de la puerta",paró}', '{}', '{}');
INSERT INTO causeway.documents VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'ventas.csv', 'ventas.csv', 'text/csv', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42', 'und', 'ventas', '2026-11-27 19:27:21.002725+00', 'upload', 'rows', '{}', NULL, 34, '{}', '{Toneladas}', '{}', '{}');
INSERT INTO causeway.documents VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'bb451e1f-cec7-5789-a358-ea159781d871', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'four.txt', 'four.txt', 'text/plain', 'dc96420a2f80907b5975d9337a33e9878d4f17d6c52373baa8fb65dccbf0b715', 'fr', 'four', '2026-11-27 19:27:22.537903+00', 'upload', 'sentence', '{}', NULL, 75, '{}', '{"four F7",arrêté,capteur,encrassé}', '{}', '{}');
INSERT INTO causeway.documents VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'ventas.csv', 'ventas.csv', 'text/csv', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42', 'und', 'ventas', '2026-11-27 19:27:23.256885+00', 'upload', 'rows', '{}', NULL, 34, '{}', '{Toneladas}', '{}', '{}');

INSERT INTO causeway.entities VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '1f927c23-4c37-5435-b538-324bdd722aa4', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'rompi ret puert', 'se rompió el retén de la puerta');
INSERT INTO causeway.entities VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'horn h2 par 3 may', 'El horno H2 se paró el 3 de mayo');
INSERT INTO causeway.entities VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'df8614f5-74ea-5aa1-921d-f9d898801f85', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'capteur encrass', 'le capteur était encrassé');
INSERT INTO causeway.entities VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'four f7 arret 9 juin', 'Le four F7 s''est arrêté le 9 juin');

INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'puert', '1f927c23-4c37-5435-b538-324bdd722aa4', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 3);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'ret', '1f927c23-4c37-5435-b538-324bdd722aa4', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 3);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'rompi', '1f927c23-4c37-5435-b538-324bdd722aa4', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 3);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 5);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'h2', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 5);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'horn', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 5);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'mai', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 5);
INSERT INTO causeway.entity_roots VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'par', '3855fc58-257e-52b1-b84a-943015cd15af', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 5);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'capte', 'df8614f5-74ea-5aa1-921d-f9d898801f85', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 2);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'encra', 'df8614f5-74ea-5aa1-921d-f9d898801f85', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 2);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '9', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 5);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'aret', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 5);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'f7', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 5);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'four', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 5);
INSERT INTO causeway.entity_roots VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'juin', '25d5d787-88c4-592e-8db4-dde2a8609b8a', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 5);

INSERT INTO causeway.golden_cases VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'fa736eb9-19fc-4361-ab90-0fc011446526', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', '¿Por qué se paró el horno H2?', '95c3dd83120910a127ec6f57f71938189ce35ff235c27fd971e0ff148aeb5248', '{3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c}', '', 'factual', 'medium', '{}', '2026-11-27 19:27:22.287449+00', '2026-11-27 19:27:22.295318+00', '2026-11-27 19:27:22.287449+00');
INSERT INTO causeway.golden_cases VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '20725eec-34e2-43ee-ae3d-72946ccf8b48', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 'Pourquoi le four F7 s''est-il arrêté ?', '7ad2b35848e1698ceb12d286d7951460066e422f763126e421bc5dceb563e331', '{5a7ccb27-f124-5fa5-b16d-c879a5308227}', '', 'factual', 'medium', '{}', '2026-11-27 19:27:24.016247+00', '2026-11-27 19:27:24.023165+00', '2026-11-27 19:27:24.016247+00');

INSERT INTO causeway.ingestions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', '9a419753-be1a-4512-ac97-1d3a470a9522', 'ventas.csv', 'ventas.csv', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42', 34, '{"tags": [], "chunking": null, "metadata": {}, "expires_at": null, "source_type": "upload"}', 'indexed', '', 1, 1, '', '', '[]', '2026-11-27 19:27:23.256885+00', '2026-11-27 19:27:23.414888+00');
INSERT INTO causeway.ingestions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', '54b74d11-07f7-4630-b3b7-70e0c09b37a2', 'horno.txt', 'horno.txt', '1710a6b33b7ffdbb4abd05dc7f4c26556d073424d03179f219d94f79f71dc6f2', 76, '{"tags": [], "chunking": null, "metadata": {}, "expires_at": null, "source_type": "upload"}', 'indexed', '', 1, 1, '', '', '[]', '2026-11-27 19:27:18.149452+00', '2026-11-27 19:27:20.804247+00');
INSERT INTO causeway.ingestions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'eb66b90f-f7b7-4dbd-a20b-470f04602674', 'ventas.csv', 'ventas.csv', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42', 34, '{"tags": [], "chunking": null, "metadata": {}, "expires_at": null, "source_type": "upload"}', 'indexed', '', 1, 1, '', '', '[]', '2026-11-27 19:27:21.002725+00', '2026-11-27 19:27:21.205924+00');
INSERT INTO causeway.ingestions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'bb451e1f-cec7-5789-a358-ea159781d871', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', '033c063b-c39a-4aa8-ae4b-b4a14da4cf26', 'four.txt', 'four.txt', 'dc96420a2f80907b5975d9337a33e9878d4f17d6c52373baa8fb65dccbf0b715', 75, '{"tags": [], "chunking": null, "metadata": {}, "expires_at": null, "source_type": "upload"}', 'indexed', '', 1, 1, '', '', '[]', '2026-11-27 19:27:22.537903+00', '2026-11-27 19:27:22.931377+00');

INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'puerta', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'romp', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'may', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'puert', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'paro', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'horno', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'rompio', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'h2', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'reten', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'mayo', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'horn', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'par', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'ventas', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'sum', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'average', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'of', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'by', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'up', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'total', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '12', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'values', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '13.5', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'maximum', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'febrero', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'previous', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'month', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'enero', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'january', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '15', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'on', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'mes', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'the', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'toneladas', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '3', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 2);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '–', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'minimum', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '27', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '2', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', '+25', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'february', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'parc', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'arrete', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'parce', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'f7', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'capteur', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'four', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'arret', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'juin', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'encrasse', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'encrass', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '9', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'ventas', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'sum', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'average', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'of', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'by', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'up', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'total', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '12', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'values', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '13.5', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'maximum', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'febrero', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'previous', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'month', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'enero', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'january', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '15', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'on', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'mes', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'the', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'toneladas', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '3', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '–', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'minimum', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '27', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '2', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', '+25', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);
INSERT INTO causeway.lexeme_statistics VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'february', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1);

INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'horno', 'b1ff6bab-2614-57f7-b489-196114e5eafc', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 3, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'h2', 'b1ff6bab-2614-57f7-b489-196114e5eafc', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'ventas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 3, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'toneladas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'total toneladas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'minimum toneladas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'maximum toneladas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('812ac5c6-256e-40b5-858e-ad543bbbc3fd', 'average toneladas', 'ed71ca63-4410-553a-9649-2f2dbe4070b7', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', 'owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'four', '8c64b0ed-5c61-502b-bdf9-afbf94f5ad98', 'bb451e1f-cec7-5789-a358-ea159781d871', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 3, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'f7', '8c64b0ed-5c61-502b-bdf9-afbf94f5ad98', 'bb451e1f-cec7-5789-a358-ea159781d871', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'ventas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 3, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'toneladas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'total toneladas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'minimum toneladas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'maximum toneladas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);
INSERT INTO causeway.mentions VALUES ('58bf4a5d-1c87-4052-bf59-869f516d7326', 'average toneladas', '918da18a-385a-50fe-aba2-5f2973d81a3f', '5a7ccb27-f124-5fa5-b16d-c879a5308227', 'owner-b-ac372985708c4aa587aa60c3d6061ffc', 1, NULL);

INSERT INTO causeway.message_documents VALUES ('owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'b29dfde3-c67e-462a-ada9-e00b003a98e5', 'e9733fa6-0b8d-4c5c-8835-09c254d714f5', '3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42');
INSERT INTO causeway.message_documents VALUES ('owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'b29dfde3-c67e-462a-ada9-e00b003a98e5', 'e9733fa6-0b8d-4c5c-8835-09c254d714f5', 'cba4ce01-a2fd-5e78-b8fa-7728ee974c48', '1710a6b33b7ffdbb4abd05dc7f4c26556d073424d03179f219d94f79f71dc6f2');
INSERT INTO causeway.message_documents VALUES ('owner-b-ac372985708c4aa587aa60c3d6061ffc', '57eff692-1a9f-4ef3-b35b-507f3f625209', 'db94fcb2-c601-4182-8b29-27b0a5e2c5a7', '5a7ccb27-f124-5fa5-b16d-c879a5308227', '56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42');
INSERT INTO causeway.message_documents VALUES ('owner-b-ac372985708c4aa587aa60c3d6061ffc', '57eff692-1a9f-4ef3-b35b-507f3f625209', 'db94fcb2-c601-4182-8b29-27b0a5e2c5a7', 'bb451e1f-cec7-5789-a358-ea159781d871', 'dc96420a2f80907b5975d9337a33e9878d4f17d6c52373baa8fb65dccbf0b715');

INSERT INTO causeway.messages VALUES ('owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'ce018347-3aa0-482c-99d5-ca55ace7e0a1', 'e9733fa6-0b8d-4c5c-8835-09c254d714f5', NULL, 'user', '¿Por qué se paró el horno H2?', 'complete', '{}', NULL, '2026-11-27 19:27:21.31515+00');
INSERT INTO causeway.messages VALUES ('owner-a-f4d1791e1f954db7b8f07f4c896c2d4c', 'b29dfde3-c67e-462a-ada9-e00b003a98e5', 'e9733fa6-0b8d-4c5c-8835-09c254d714f5', 'ce018347-3aa0-482c-99d5-ca55ace7e0a1', 'assistant', '**Se rompió el retén de la puerta** — El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta. [1]', 'complete', '{"task": "why", "found": true, "parts": [], "paths": [{"edges": [{"type": "CAUSES", "cause": "se rompió el retén de la puerta", "quote": "El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "effect": "El horno H2 se paró el 3 de mayo", "source": 1, "end_char": 72, "filename": "horno.txt", "confidence": 0.95, "link_score": null, "start_char": 0, "chunk_index": 0, "document_id": "cba4ce01-a2fd-5e78-b8fa-7728ee974c48", "content_hash": "1710a6b33b7ffdbb4abd05dc7f4c26556d073424d03179f219d94f79f71dc6f2"}], "score": 0.9425, "entities": ["se rompió el retén de la puerta", "El horno H2 se paró el 3 de mayo"]}], "table": null, "intent": "causal", "outcome": "answered", "sources": [{"score": 0.9333, "title": "horno", "number": 1, "content": "El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "end_char": 72, "filename": "horno.txt", "language": "es", "elsewhere": false, "start_char": 0, "chunk_index": 0, "document_id": "cba4ce01-a2fd-5e78-b8fa-7728ee974c48", "content_hash": "1710a6b33b7ffdbb4abd05dc7f4c26556d073424d03179f219d94f79f71dc6f2"}, {"score": 0.0, "title": "ventas", "number": 2, "content": "Mes: enero; Toneladas: 12\nMes: febrero; Toneladas: 15\n\nTotal Toneladas (January – February): 27, the sum of 2 values.\nMinimum Toneladas: 12 (January).\nMaximum Toneladas: 15 (February).\nAverage Toneladas (January – February): 13.5, of 2 values.\nToneladas, January: 12.\nToneladas, February: 15, +25% on the previous month (January: 12): up by 3.", "end_char": 343, "filename": "ventas.csv", "language": "und", "elsewhere": false, "start_char": 0, "chunk_index": 0, "document_id": "3ff94731-df6f-5f47-ab83-6c7c9e0e2d8c", "content_hash": "56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42"}], "degraded": [], "language": "es", "warnings": [], "citations": [{"cell": null, "date": null, "page": null, "quote": "El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "score": 1.0, "sheet": null, "title": "horno", "trend": null, "number": 1, "status": "supported", "implied": false, "reasons": [], "end_char": 72, "filename": "horno.txt", "sentence": "Según la línea 1 (archivo horno.txt): El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "last_line": 1, "reference": "[cba4ce01-a2fd-5e78-b8fa-7728ee974c48:0]", "statement": "**Se rompió el retén de la puerta** — El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta", "first_line": 1, "start_char": 0, "chunk_index": 0, "document_id": "cba4ce01-a2fd-5e78-b8fa-7728ee974c48"}], "chat_model": "extractive", "statements": [{"end": 114, "score": 1.0, "start": 0, "status": "supported", "reasons": [], "citations": [{"cell": null, "date": null, "page": null, "quote": "El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "score": 1.0, "sheet": null, "title": "horno", "trend": null, "number": 1, "status": "supported", "implied": false, "reasons": [], "end_char": 72, "filename": "horno.txt", "sentence": "Según la línea 1 (archivo horno.txt): El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta.", "last_line": 1, "reference": "[cba4ce01-a2fd-5e78-b8fa-7728ee974c48:0]", "statement": "**Se rompió el retén de la puerta** — El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta", "first_line": 1, "start_char": 0, "chunk_index": 0, "document_id": "cba4ce01-a2fd-5e78-b8fa-7728ee974c48"}], "statement": "**Se rompió el retén de la puerta** — El horno H2 se paró el 3 de mayo porque se rompió el retén de la puerta."}], "timings_ms": {"fuse": 0.32, "total": 556.37, "expand": 17.61, "rerank": 5.19, "vector": 19.15, "verify": 1.02, "fulltext": 22.73, "generate": 414.78, "retrieve": 26.84, "traverse": 24.84, "transform": 8.86}, "answer_kind": "reason", "reliability": 0.5, "short_answer": "Se rompió el retén de la puerta", "degraded_messages": [], "unsupported_statements": []}', '1f1ea989-14cc-6a81-8007-ecba1c6d839a', '2026-11-27 19:27:21.90478+00');
INSERT INTO causeway.messages VALUES ('owner-b-ac372985708c4aa587aa60c3d6061ffc', 'ad20bf87-6c5c-4396-8187-e120da03c497', 'db94fcb2-c601-4182-8b29-27b0a5e2c5a7', NULL, 'user', 'Pourquoi le four F7 s''est-il arrêté ?', 'complete', '{}', NULL, '2026-11-27 19:27:23.584036+00');
INSERT INTO causeway.messages VALUES ('owner-b-ac372985708c4aa587aa60c3d6061ffc', '57eff692-1a9f-4ef3-b35b-507f3f625209', 'db94fcb2-c601-4182-8b29-27b0a5e2c5a7', 'ad20bf87-6c5c-4396-8187-e120da03c497', 'assistant', '**Capteur était encrassé** — Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé. [1]', 'complete', '{"task": "why", "found": true, "parts": [], "paths": [{"edges": [{"type": "CAUSES", "cause": "le capteur était encrassé", "quote": "Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "effect": "Le four F7 s''est arrêté le 9 juin", "source": 1, "end_char": 70, "filename": "four.txt", "confidence": 0.95, "link_score": null, "start_char": 0, "chunk_index": 0, "document_id": "bb451e1f-cec7-5789-a358-ea159781d871", "content_hash": "dc96420a2f80907b5975d9337a33e9878d4f17d6c52373baa8fb65dccbf0b715"}], "score": 0.9332, "entities": ["le capteur était encrassé", "Le four F7 s''est arrêté le 9 juin"]}], "table": null, "intent": "causal", "outcome": "answered", "sources": [{"score": 0.9143, "title": "four", "number": 1, "content": "Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "end_char": 70, "filename": "four.txt", "language": "fr", "elsewhere": false, "start_char": 0, "chunk_index": 0, "document_id": "bb451e1f-cec7-5789-a358-ea159781d871", "content_hash": "dc96420a2f80907b5975d9337a33e9878d4f17d6c52373baa8fb65dccbf0b715"}, {"score": 0.0, "title": "ventas", "number": 2, "content": "Mes: enero; Toneladas: 12\nMes: febrero; Toneladas: 15\n\nTotal Toneladas (January – February): 27, the sum of 2 values.\nMinimum Toneladas: 12 (January).\nMaximum Toneladas: 15 (February).\nAverage Toneladas (January – February): 13.5, of 2 values.\nToneladas, January: 12.\nToneladas, February: 15, +25% on the previous month (January: 12): up by 3.", "end_char": 343, "filename": "ventas.csv", "language": "und", "elsewhere": false, "start_char": 0, "chunk_index": 0, "document_id": "5a7ccb27-f124-5fa5-b16d-c879a5308227", "content_hash": "56cda5ba8b410b64e6d2571e9ca2849e6d1e9b174c523e1614055acd7ebd6b42"}], "degraded": [], "language": "fr", "warnings": [], "citations": [{"cell": null, "date": null, "page": null, "quote": "Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "score": 1.0, "sheet": null, "title": "four", "trend": null, "number": 1, "status": "supported", "implied": false, "reasons": [], "end_char": 70, "filename": "four.txt", "sentence": "Selon la ligne 1 (fichier four.txt): Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "last_line": 1, "reference": "[bb451e1f-cec7-5789-a358-ea159781d871:0]", "statement": "**Capteur était encrassé** — Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé", "first_line": 1, "start_char": 0, "chunk_index": 0, "document_id": "bb451e1f-cec7-5789-a358-ea159781d871"}], "chat_model": "extractive", "statements": [{"end": 103, "score": 1.0, "start": 0, "status": "supported", "reasons": [], "citations": [{"cell": null, "date": null, "page": null, "quote": "Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "score": 1.0, "sheet": null, "title": "four", "trend": null, "number": 1, "status": "supported", "implied": false, "reasons": [], "end_char": 70, "filename": "four.txt", "sentence": "Selon la ligne 1 (fichier four.txt): Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé.", "last_line": 1, "reference": "[bb451e1f-cec7-5789-a358-ea159781d871:0]", "statement": "**Capteur était encrassé** — Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé", "first_line": 1, "start_char": 0, "chunk_index": 0, "document_id": "bb451e1f-cec7-5789-a358-ea159781d871"}], "statement": "**Capteur était encrassé** — Le four F7 s''est arrêté le 9 juin parce que le capteur était encrassé."}], "timings_ms": {"fuse": 0.12, "total": 373.95, "expand": 13.91, "rerank": 1.02, "vector": 17.61, "verify": 1.32, "fulltext": 30.93, "generate": 154.42, "retrieve": 38.1, "traverse": 39.68, "transform": 33.47}, "answer_kind": "reason", "reliability": 0.5, "short_answer": "Capteur était encrassé", "degraded_messages": [], "unsupported_statements": []}', '1f1ea989-2898-6b6e-8007-9693f510f572', '2026-11-27 19:27:23.969544+00');

INSERT INTO causeway.migrations VALUES ('0001_initial.sql', '2026-11-27 19:26:46.254971+00');
INSERT INTO causeway.migrations VALUES ('0002_retrieval.sql', '2026-11-27 19:26:46.352762+00');
INSERT INTO causeway.migrations VALUES ('0003_langchain.sql', '2026-11-27 19:26:46.383978+00');
INSERT INTO causeway.migrations VALUES ('0004_ingestion.sql', '2026-11-27 19:26:46.388374+00');
INSERT INTO causeway.migrations VALUES ('0005_embeddings.sql', '2026-11-27 19:26:46.402171+00');
INSERT INTO causeway.migrations VALUES ('0006_graph.sql', '2026-11-27 19:26:46.406072+00');
INSERT INTO causeway.migrations VALUES ('0007_conversations.sql', '2026-11-27 19:26:46.421766+00');
INSERT INTO causeway.migrations VALUES ('0008_generation.sql', '2026-11-27 19:26:46.441333+00');
INSERT INTO causeway.migrations VALUES ('0009_api_keys.sql', '2026-11-27 19:26:46.444477+00');
INSERT INTO causeway.migrations VALUES ('0010_documents.sql', '2026-11-27 19:26:46.448786+00');
INSERT INTO causeway.migrations VALUES ('0011_erasure.sql', '2026-11-27 19:26:46.462199+00');
INSERT INTO causeway.migrations VALUES ('0012_evaluation.sql', '2026-11-27 19:26:46.471769+00');
INSERT INTO causeway.migrations VALUES ('0013_streams.sql', '2026-11-27 19:26:46.509246+00');
INSERT INTO causeway.migrations VALUES ('0014_answers.sql', '2026-11-27 19:26:46.524738+00');
INSERT INTO causeway.migrations VALUES ('0015_proposals.sql', '2026-11-27 19:26:46.538575+00');
INSERT INTO causeway.migrations VALUES ('0016_schedules.sql', '2026-11-27 19:26:46.564393+00');
INSERT INTO causeway.migrations VALUES ('0017_experiments.sql', '2026-11-27 19:26:46.58234+00');
INSERT INTO causeway.migrations VALUES ('0018_drop_experiments.sql', '2026-11-27 19:26:46.599776+00');
INSERT INTO causeway.migrations VALUES ('0019_codes.sql', '2026-11-27 19:26:46.630804+00');
INSERT INTO causeway.migrations VALUES ('0020_tables.sql', '2026-11-27 19:26:46.656064+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.00.00_01_initial.sql', '2026-11-27 19:26:46.670504+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.05.00_01_drop_started_at_column.sql', '2026-11-27 19:26:46.674037+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.05.00_02_drop_started_at_column.sql', '2026-11-27 19:26:46.678944+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.05.00_03_drop_procrastinate_version_table.sql', '2026-11-27 19:26:46.68807+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.06.00_01_fix_procrastinate_fetch_job.sql', '2026-11-27 19:26:46.692414+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.07.01_01_fix_trigger_status_events_insert.sql', '2026-11-27 19:26:46.704229+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.08.01_01_add_queueing_lock_column.sql', '2026-11-27 19:26:46.708521+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.10.00_01_close_fetch_job_race_condition.sql', '2026-11-27 19:26:46.714121+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.10.00_02_add_defer_job_function.sql', '2026-11-27 19:26:46.721261+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.11.00_03_add_procrastinate_periodic_defers.sql', '2026-11-27 19:26:46.728431+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.12.00_01_add_foreign_key_index.sql', '2026-11-27 19:26:46.732704+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.14.00_01_add_locks_to_periodic_defer.sql', '2026-11-27 19:26:46.735603+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.15.02_01_fix_procrastinate_defer_periodic_job.sql', '2026-11-27 19:26:46.746016+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.16.00_01_add_finish_job_and_retry_job_functions.sql', '2026-11-27 19:26:46.749997+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.17.00_01_add_trigger_on_job_deletion.sql', '2026-11-27 19:26:46.770105+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.17.00_02_delete_finished_jobs.sql', '2026-11-27 19:26:46.777622+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.17.00_03_add_checks_to_finish_job.sql', '2026-11-27 19:26:46.782499+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.17.00_04_add_checks_to_retry_job.sql', '2026-11-27 19:26:46.785741+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.18.01_01_fix_finish_job_compat_issue.sql', '2026-11-27 19:26:46.787266+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.19.00_01_add_index_on_procrastinate_jobs.sql', '2026-11-27 19:26:46.788485+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.22.00_01_add_kwargs_to_defer_periodic_job.sql', '2026-11-27 19:26:46.791475+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/00.23.00_01_null_locks_excluded.sql', '2026-11-27 19:26:46.793739+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/01.00.00_01_remove_old_finish_job_function.sql', '2026-11-27 19:26:46.797497+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/01.01.01_01_job_id_bigint.sql', '2026-11-27 19:26:46.80041+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/02.00.03_01_add_job_priority.sql', '2026-11-27 19:26:46.802436+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/02.05.00_01_add_periodic_job_priority.sql', '2026-11-27 19:26:46.805714+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/02.06.00_01_add_cancel_states.sql', '2026-11-27 19:26:46.810763+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/02.08.00_01_add_additional_params_to_retry_job.sql', '2026-11-27 19:26:46.817247+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/02.14.01_01_add_indexes_for_fetch_job.sql', '2026-11-27 19:26:46.818746+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.00.00_01_pre_cancel_notification.sql', '2026-11-27 19:26:46.822693+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.00.00_50_post_cancel_notification.sql', '2026-11-27 19:26:46.824461+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.01.00_01_pre_add_heartbeat.sql', '2026-11-27 19:26:46.827132+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.01.00_50_post_add_heartbeat.sql', '2026-11-27 19:26:46.827701+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.02.00_01_pre_batch_defer_jobs.sql', '2026-11-27 19:26:46.830692+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.02.00_50_post_batch_defer_jobs.sql', '2026-11-27 19:26:46.832371+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.03.00_01_pre_priority_lock_fetch_job.sql', '2026-11-27 19:26:46.833161+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.04.00_01_pre_add_retry_failed_job_procedure.sql', '2026-11-27 19:26:46.834983+00');
INSERT INTO causeway.migrations VALUES ('procrastinate/03.04.00_50_post_add_retry_failed_job_procedure.sql', '2026-11-27 19:26:46.836789+00');

SELECT pg_catalog.setval('causeway.procrastinate_events_id_seq', 12, true);

SELECT pg_catalog.setval('causeway.procrastinate_jobs_id_seq', 8, true);

SELECT pg_catalog.setval('causeway.procrastinate_periodic_defers_id_seq', 1, false);

SELECT pg_catalog.setval('causeway.procrastinate_workers_id_seq', 1, true);

ALTER TABLE ONLY causeway.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY causeway.cache_entries
    ADD CONSTRAINT cache_entries_pkey PRIMARY KEY (owner_id, key);

ALTER TABLE ONLY causeway.causal_edges
    ADD CONSTRAINT causal_edges_pkey PRIMARY KEY (collection_id, edge_id);

ALTER TABLE ONLY causeway.checkpoint_blobs
    ADD CONSTRAINT checkpoint_blobs_pkey PRIMARY KEY (thread_id, checkpoint_ns, channel, version);

ALTER TABLE ONLY causeway.checkpoint_migrations
    ADD CONSTRAINT checkpoint_migrations_pkey PRIMARY KEY (v);

ALTER TABLE ONLY causeway.checkpoint_writes
    ADD CONSTRAINT checkpoint_writes_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx);

ALTER TABLE ONLY causeway.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id);

ALTER TABLE ONLY causeway.chunk_embeddings
    ADD CONSTRAINT chunk_embeddings_pkey PRIMARY KEY (collection_id, chunk_id, model, kind);

ALTER TABLE ONLY causeway.chunks
    ADD CONSTRAINT chunks_collection_id_document_id_chunk_index_key UNIQUE (collection_id, document_id, chunk_index);

ALTER TABLE ONLY causeway.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (collection_id, chunk_id);

ALTER TABLE ONLY causeway.collections
    ADD CONSTRAINT collections_owner_id_name_key UNIQUE (owner_id, name);

ALTER TABLE ONLY causeway.collections
    ADD CONSTRAINT collections_pkey PRIMARY KEY (collection_id);

ALTER TABLE ONLY causeway.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (owner_id, conversation_id);

ALTER TABLE ONLY causeway.document_tables
    ADD CONSTRAINT document_tables_pkey PRIMARY KEY (collection_id, document_id, table_number);

ALTER TABLE ONLY causeway.documents
    ADD CONSTRAINT documents_collection_id_source_key UNIQUE (collection_id, source);

ALTER TABLE ONLY causeway.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (collection_id, document_id);

ALTER TABLE ONLY causeway.entities
    ADD CONSTRAINT entities_pkey PRIMARY KEY (collection_id, entity_id);

ALTER TABLE ONLY causeway.entity_links
    ADD CONSTRAINT entity_links_pkey PRIMARY KEY (collection_id, entity_id, other_id);

ALTER TABLE ONLY causeway.entity_roots
    ADD CONSTRAINT entity_roots_pkey PRIMARY KEY (collection_id, root, entity_id) INCLUDE (owner_id, size);

ALTER TABLE ONLY causeway.evaluation_results
    ADD CONSTRAINT evaluation_results_pkey PRIMARY KEY (collection_id, run_id, "position");

ALTER TABLE ONLY causeway.evaluation_runs
    ADD CONSTRAINT evaluation_runs_pkey PRIMARY KEY (collection_id, run_id);

ALTER TABLE ONLY causeway.evaluation_schedules
    ADD CONSTRAINT evaluation_schedules_pkey PRIMARY KEY (schedule_id);

ALTER TABLE ONLY causeway.feedback
    ADD CONSTRAINT feedback_pkey PRIMARY KEY (owner_id, message_id, citation);

ALTER TABLE ONLY causeway.golden_cases
    ADD CONSTRAINT golden_cases_collection_id_query_key_key UNIQUE (collection_id, query_key);

ALTER TABLE ONLY causeway.golden_cases
    ADD CONSTRAINT golden_cases_pkey PRIMARY KEY (collection_id, case_id);

ALTER TABLE ONLY causeway.golden_proposals
    ADD CONSTRAINT golden_proposals_collection_id_query_key_key UNIQUE (collection_id, query_key);

ALTER TABLE ONLY causeway.golden_proposals
    ADD CONSTRAINT golden_proposals_pkey PRIMARY KEY (collection_id, proposal_id);

ALTER TABLE ONLY causeway.golden_versions
    ADD CONSTRAINT golden_versions_pkey PRIMARY KEY (collection_id, number);

ALTER TABLE ONLY causeway.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (owner_id, key);

ALTER TABLE ONLY causeway.ingestions
    ADD CONSTRAINT ingestions_pkey PRIMARY KEY (collection_id, document_id);

ALTER TABLE ONLY causeway.lexeme_statistics
    ADD CONSTRAINT lexeme_statistics_pkey PRIMARY KEY (collection_id, lexeme);

ALTER TABLE ONLY causeway.mentions
    ADD CONSTRAINT mentions_pkey PRIMARY KEY (collection_id, key, chunk_id) INCLUDE (owner_id, document_id, weight, expires_at);

ALTER TABLE ONLY causeway.message_documents
    ADD CONSTRAINT message_documents_pkey PRIMARY KEY (owner_id, message_id, document_id, content_hash);

ALTER TABLE ONLY causeway.messages
    ADD CONSTRAINT messages_owner_id_conversation_id_message_id_key UNIQUE (owner_id, conversation_id, message_id);

ALTER TABLE ONLY causeway.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (owner_id, message_id);

ALTER TABLE ONLY causeway.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY causeway.procrastinate_events
    ADD CONSTRAINT procrastinate_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY causeway.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY causeway.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY causeway.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_unique UNIQUE (task_name, periodic_id, defer_timestamp);

ALTER TABLE ONLY causeway.procrastinate_workers
    ADD CONSTRAINT procrastinate_workers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY causeway.stream_events
    ADD CONSTRAINT stream_events_pkey PRIMARY KEY (owner_id, stream_id, first);

ALTER TABLE ONLY causeway.streams
    ADD CONSTRAINT streams_pkey PRIMARY KEY (owner_id, stream_id);

CREATE INDEX api_keys_owner_id_created_at_idx ON causeway.api_keys USING btree (owner_id, created_at);

CREATE INDEX cache_entries_expires_at_idx ON causeway.cache_entries USING btree (expires_at);

CREATE INDEX causal_edges_cause_id_collection_id_polarity_confidence_edg_idx ON causeway.causal_edges USING btree (cause_id, collection_id, polarity, confidence DESC, edge_id) INCLUDE (owner_id, effect_id, document_id, expires_at);

CREATE INDEX causal_edges_chunk_id_collection_id_idx ON causeway.causal_edges USING btree (chunk_id, collection_id);

CREATE INDEX causal_edges_effect_id_collection_id_polarity_confidence_ed_idx ON causeway.causal_edges USING btree (effect_id, collection_id, polarity, confidence DESC, edge_id) INCLUDE (owner_id, cause_id, document_id, expires_at);

CREATE INDEX checkpoint_blobs_thread_id_idx ON causeway.checkpoint_blobs USING btree (thread_id);

CREATE INDEX checkpoint_writes_thread_id_idx ON causeway.checkpoint_writes USING btree (thread_id);

CREATE INDEX checkpoints_thread_id_idx ON causeway.checkpoints USING btree (thread_id);

CREATE INDEX chunks_tsv ON causeway.chunks USING gin (tsv);

CREATE INDEX conversations_owner_id_updated_at_conversation_id_idx ON causeway.conversations USING btree (owner_id, updated_at DESC, conversation_id DESC);

CREATE INDEX documents_by_id ON causeway.documents USING btree (document_id);

CREATE INDEX documents_collection_id_content_hash_idx ON causeway.documents USING btree (collection_id, content_hash);

CREATE INDEX documents_collection_id_created_at_document_id_idx ON causeway.documents USING btree (collection_id, created_at, document_id);

CREATE INDEX documents_collection_id_fold_idx ON causeway.documents USING btree (collection_id, causeway.fold(filename));

CREATE INDEX documents_collection_id_language_idx ON causeway.documents USING btree (collection_id, language);

CREATE INDEX documents_owner_id_expires_at_idx ON causeway.documents USING btree (owner_id, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX entity_links_entity_id_collection_id_similarity_other_id_ow_idx ON causeway.entity_links USING btree (entity_id, collection_id, similarity DESC, other_id) INCLUDE (owner_id);

CREATE INDEX entity_links_other_id_collection_id_idx ON causeway.entity_links USING btree (other_id, collection_id);

CREATE INDEX entity_roots_entity_id_collection_id_idx ON causeway.entity_roots USING btree (entity_id, collection_id);

CREATE INDEX evaluation_runs_owner_id_created_at_run_id_idx ON causeway.evaluation_runs USING btree (owner_id, created_at DESC, run_id DESC);

CREATE INDEX evaluation_runs_run_id_idx ON causeway.evaluation_runs USING btree (run_id);

CREATE INDEX evaluation_schedules_collection_id_last_run_id_idx ON causeway.evaluation_schedules USING btree (collection_id, last_run_id);

CREATE INDEX evaluation_schedules_owner_id_created_at_schedule_id_idx ON causeway.evaluation_schedules USING btree (owner_id, created_at, schedule_id);

CREATE INDEX feedback_owner_id_updated_at_idx ON causeway.feedback USING btree (owner_id, updated_at DESC);

CREATE INDEX golden_cases_case_id_idx ON causeway.golden_cases USING btree (case_id);

CREATE INDEX golden_cases_collection_id_created_at_case_id_idx ON causeway.golden_cases USING btree (collection_id, created_at, case_id);

CREATE INDEX golden_proposals_collection_id_created_at_proposal_id_idx ON causeway.golden_proposals USING btree (collection_id, created_at, proposal_id);

CREATE INDEX golden_proposals_collection_id_document_id_idx ON causeway.golden_proposals USING btree (collection_id, document_id) WHERE (document_id IS NOT NULL);

CREATE INDEX golden_proposals_owner_id_message_id_idx ON causeway.golden_proposals USING btree (owner_id, message_id) WHERE (message_id IS NOT NULL);

CREATE INDEX golden_proposals_proposal_id_idx ON causeway.golden_proposals USING btree (proposal_id);

CREATE INDEX idempotency_keys_owner_id_expires_at_idx ON causeway.idempotency_keys USING btree (owner_id, expires_at);

CREATE INDEX idx_procrastinate_jobs_worker_not_null ON causeway.procrastinate_jobs USING btree (worker_id) WHERE ((worker_id IS NOT NULL) AND (status = 'doing'::causeway.procrastinate_job_status));

CREATE INDEX idx_procrastinate_workers_last_heartbeat ON causeway.procrastinate_workers USING btree (last_heartbeat);

CREATE INDEX ingestions_collection_id_content_hash_idx ON causeway.ingestions USING btree (collection_id, content_hash);

CREATE INDEX ingestions_collection_id_created_at_document_id_idx ON causeway.ingestions USING btree (collection_id, created_at, document_id);

CREATE INDEX mentions_chunk_id_collection_id_owner_id_document_id_key_we_idx ON causeway.mentions USING btree (chunk_id, collection_id) INCLUDE (owner_id, document_id, key, weight, expires_at);

CREATE INDEX message_documents_owner_id_conversation_id_idx ON causeway.message_documents USING btree (owner_id, conversation_id);

CREATE INDEX message_documents_owner_id_document_id_idx ON causeway.message_documents USING btree (owner_id, document_id);

CREATE INDEX messages_owner_id_conversation_id_parent_id_idx ON causeway.messages USING btree (owner_id, conversation_id, parent_id);

CREATE INDEX procrastinate_events_job_id_fkey_v1 ON causeway.procrastinate_events USING btree (job_id);

CREATE INDEX procrastinate_jobs_id_lock_idx_v1 ON causeway.procrastinate_jobs USING btree (id, lock) WHERE (status = ANY (ARRAY['todo'::causeway.procrastinate_job_status, 'doing'::causeway.procrastinate_job_status]));

CREATE UNIQUE INDEX procrastinate_jobs_lock_idx_v1 ON causeway.procrastinate_jobs USING btree (lock) WHERE (status = 'doing'::causeway.procrastinate_job_status);

CREATE INDEX procrastinate_jobs_priority_idx_v1 ON causeway.procrastinate_jobs USING btree (priority DESC, id) WHERE (status = 'todo'::causeway.procrastinate_job_status);

CREATE INDEX procrastinate_jobs_queue_name_idx_v1 ON causeway.procrastinate_jobs USING btree (queue_name);

CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1 ON causeway.procrastinate_jobs USING btree (queueing_lock) WHERE (status = 'todo'::causeway.procrastinate_job_status);

CREATE INDEX procrastinate_periodic_defers_job_id_fkey_v1 ON causeway.procrastinate_periodic_defers USING btree (job_id);

CREATE TRIGGER forget_chunks AFTER DELETE ON causeway.chunks REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION causeway.forget_chunks();

CREATE CONSTRAINT TRIGGER forget_document_proposals AFTER DELETE ON causeway.documents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION causeway.forget_document_proposals();

CREATE TRIGGER forget_entities AFTER DELETE ON causeway.collections FOR EACH ROW EXECUTE FUNCTION causeway.forget_entities();

CREATE TRIGGER forget_lexemes AFTER DELETE ON causeway.collections FOR EACH ROW EXECUTE FUNCTION causeway.forget_lexemes();

CREATE TRIGGER forget_message_proposals AFTER DELETE ON causeway.messages REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION causeway.forget_message_proposals();

CREATE TRIGGER forget_thread AFTER DELETE ON causeway.conversations FOR EACH ROW EXECUTE FUNCTION causeway.forget_thread();

CREATE TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1 AFTER UPDATE OF abort_requested ON causeway.procrastinate_jobs FOR EACH ROW WHEN (((old.abort_requested = false) AND (new.abort_requested = true) AND (new.status = 'doing'::causeway.procrastinate_job_status))) EXECUTE FUNCTION causeway.procrastinate_notify_queue_abort_job_v1();

CREATE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1 AFTER INSERT ON causeway.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::causeway.procrastinate_job_status)) EXECUTE FUNCTION causeway.procrastinate_notify_queue_job_inserted_v1();

CREATE TRIGGER procrastinate_trigger_abort_requested_events_v1 AFTER UPDATE OF abort_requested ON causeway.procrastinate_jobs FOR EACH ROW WHEN ((new.abort_requested = true)) EXECUTE FUNCTION causeway.procrastinate_trigger_abort_requested_events_procedure_v1();

CREATE TRIGGER procrastinate_trigger_delete_jobs_v1 BEFORE DELETE ON causeway.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION causeway.procrastinate_unlink_periodic_defers_v1();

CREATE TRIGGER procrastinate_trigger_scheduled_events_v1 AFTER INSERT OR UPDATE ON causeway.procrastinate_jobs FOR EACH ROW WHEN (((new.scheduled_at IS NOT NULL) AND (new.status = 'todo'::causeway.procrastinate_job_status))) EXECUTE FUNCTION causeway.procrastinate_trigger_function_scheduled_events_v1();

CREATE TRIGGER procrastinate_trigger_status_events_insert_v1 AFTER INSERT ON causeway.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::causeway.procrastinate_job_status)) EXECUTE FUNCTION causeway.procrastinate_trigger_function_status_events_insert_v1();

CREATE TRIGGER procrastinate_trigger_status_events_update_v1 AFTER UPDATE OF status ON causeway.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION causeway.procrastinate_trigger_function_status_events_update_v1();

ALTER TABLE ONLY causeway.chunk_embeddings
    ADD CONSTRAINT chunk_embeddings_collection_id_chunk_id_fkey FOREIGN KEY (collection_id, chunk_id) REFERENCES causeway.chunks(collection_id, chunk_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.chunks
    ADD CONSTRAINT chunks_collection_id_document_id_fkey FOREIGN KEY (collection_id, document_id) REFERENCES causeway.documents(collection_id, document_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.document_tables
    ADD CONSTRAINT document_tables_collection_id_document_id_fkey FOREIGN KEY (collection_id, document_id) REFERENCES causeway.documents(collection_id, document_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.documents
    ADD CONSTRAINT documents_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.evaluation_results
    ADD CONSTRAINT evaluation_results_collection_id_run_id_fkey FOREIGN KEY (collection_id, run_id) REFERENCES causeway.evaluation_runs(collection_id, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.evaluation_runs
    ADD CONSTRAINT evaluation_runs_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.evaluation_schedules
    ADD CONSTRAINT evaluation_schedules_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.evaluation_schedules
    ADD CONSTRAINT evaluation_schedules_collection_id_last_run_id_fkey FOREIGN KEY (collection_id, last_run_id) REFERENCES causeway.evaluation_runs(collection_id, run_id) ON DELETE SET NULL (last_run_id);

ALTER TABLE ONLY causeway.feedback
    ADD CONSTRAINT feedback_owner_id_message_id_fkey FOREIGN KEY (owner_id, message_id) REFERENCES causeway.messages(owner_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.golden_cases
    ADD CONSTRAINT golden_cases_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.golden_proposals
    ADD CONSTRAINT golden_proposals_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.golden_versions
    ADD CONSTRAINT golden_versions_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.ingestions
    ADD CONSTRAINT ingestions_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES causeway.collections(collection_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.message_documents
    ADD CONSTRAINT message_documents_owner_id_message_id_fkey FOREIGN KEY (owner_id, message_id) REFERENCES causeway.messages(owner_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.messages
    ADD CONSTRAINT messages_owner_id_conversation_id_fkey FOREIGN KEY (owner_id, conversation_id) REFERENCES causeway.conversations(owner_id, conversation_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.messages
    ADD CONSTRAINT messages_owner_id_conversation_id_parent_id_fkey FOREIGN KEY (owner_id, conversation_id, parent_id) REFERENCES causeway.messages(owner_id, conversation_id, message_id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.procrastinate_events
    ADD CONSTRAINT procrastinate_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES causeway.procrastinate_jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY causeway.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES causeway.procrastinate_workers(id) ON DELETE SET NULL;

ALTER TABLE ONLY causeway.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_job_id_fkey FOREIGN KEY (job_id) REFERENCES causeway.procrastinate_jobs(id);

ALTER TABLE ONLY causeway.stream_events
    ADD CONSTRAINT stream_events_owner_id_stream_id_fkey FOREIGN KEY (owner_id, stream_id) REFERENCES causeway.streams(owner_id, stream_id) ON DELETE CASCADE;

ALTER TABLE causeway.api_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY authentication ON causeway.api_keys FOR SELECT TO causeway_authentication USING (true);

ALTER TABLE causeway.cache_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.causal_edges ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoint_blobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoint_writes ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.checkpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.chunk_embeddings ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.chunks ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.collections ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.document_tables ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.entities ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.entity_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.entity_roots ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_results ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.evaluation_schedules ENABLE ROW LEVEL SECURITY;

CREATE POLICY expired ON causeway.streams FOR DELETE USING ((expires_at < now()));

ALTER TABLE causeway.feedback ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_cases ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_proposals ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.golden_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.ingestions ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.lexeme_statistics ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.mentions ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.message_documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.messages ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner ON causeway.api_keys USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.cache_entries USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.causal_edges USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.checkpoint_blobs USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.checkpoint_writes USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.checkpoints USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.chunk_embeddings USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.chunks USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.collections USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.conversations USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.document_tables USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.documents USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.entities USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.entity_links USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.entity_roots USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.evaluation_results USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.evaluation_runs USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.evaluation_schedules USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.feedback USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.golden_cases USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.golden_proposals USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.golden_versions USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.idempotency_keys USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.ingestions USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.lexeme_statistics USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.mentions USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.message_documents USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.messages USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.stream_events USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY owner ON causeway.streams USING ((owner_id = ( SELECT NULLIF(current_setting('app.user_id'::text, true), ''::text) AS "nullif")));

CREATE POLICY search ON causeway.chunks FOR SELECT TO causeway_search USING (true);

ALTER TABLE causeway.stream_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE causeway.streams ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA causeway TO causeway_app;
GRANT USAGE ON SCHEMA causeway TO causeway_search;
GRANT USAGE ON SCHEMA causeway TO causeway_authentication;

REVOKE ALL ON FUNCTION causeway.find_api_key(wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION causeway.find_api_key(wanted text) TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.procrastinate_jobs TO causeway_app;

GRANT SELECT,INSERT,UPDATE ON TABLE causeway.api_keys TO causeway_app;
GRANT SELECT ON TABLE causeway.api_keys TO causeway_authentication;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.cache_entries TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.causal_edges TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.documents TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.entities TO causeway_app;

GRANT SELECT ON TABLE causeway.causal_edge_details TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.checkpoint_blobs TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.checkpoint_writes TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.checkpoints TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.chunks TO causeway_app;
GRANT SELECT ON TABLE causeway.chunks TO causeway_search;

GRANT SELECT ON TABLE causeway.chunk_details TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.chunk_embeddings TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.collections TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.conversations TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.document_tables TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.entity_links TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.entity_roots TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.evaluation_results TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.evaluation_runs TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.evaluation_schedules TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.feedback TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.golden_cases TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.golden_proposals TO causeway_app;

GRANT SELECT ON TABLE causeway.golden_proposals_shown TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.golden_versions TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.idempotency_keys TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.ingestions TO causeway_app;

GRANT SELECT ON TABLE causeway.langchain_chunks TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.lexeme_statistics TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.mentions TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.message_documents TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.messages TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.procrastinate_events TO causeway_app;

GRANT USAGE ON SEQUENCE causeway.procrastinate_events_id_seq TO causeway_app;

GRANT USAGE ON SEQUENCE causeway.procrastinate_jobs_id_seq TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.procrastinate_periodic_defers TO causeway_app;

GRANT USAGE ON SEQUENCE causeway.procrastinate_periodic_defers_id_seq TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.procrastinate_workers TO causeway_app;

GRANT USAGE ON SEQUENCE causeway.procrastinate_workers_id_seq TO causeway_app;

GRANT SELECT ON TABLE causeway.searchable_chunks TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.stream_events TO causeway_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE causeway.streams TO causeway_app;


