-- Evaluations that the clock orders. Each due time is a job of the queue, which does nothing once another has advanced `due_at`.

CREATE TABLE evaluation_schedules (
    collection_id uuid NOT NULL REFERENCES collections ON DELETE CASCADE,
    schedule_id   uuid NOT NULL PRIMARY KEY,
    owner_id      text NOT NULL,
    name          text NOT NULL,                     -- of its runs
    cron          text NOT NULL,
    timezone      text NOT NULL,
    choices       jsonb NOT NULL,                    -- what its runs are ordered with
    due_at        timestamptz NOT NULL,
    last_run_id   uuid,
    ordered_at    timestamptz,                       -- the last run
    reason        text NOT NULL DEFAULT '',          -- why the last time that it was due ordered nothing
    cause         text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (collection_id, last_run_id) REFERENCES evaluation_runs ON DELETE SET NULL (last_run_id)
);
CREATE INDEX ON evaluation_schedules (owner_id, created_at, schedule_id);
CREATE INDEX ON evaluation_schedules (collection_id, last_run_id);

ALTER TABLE evaluation_schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE evaluation_schedules FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON evaluation_schedules USING (owner_id = (SELECT nullif(current_setting('app.user_id', true), '')));
GRANT SELECT, INSERT, UPDATE, DELETE ON evaluation_schedules TO causeway_app;
