-- How a collection's answers are written: its own values of GenerationConfig.

ALTER TABLE collections ADD COLUMN generation_config jsonb NOT NULL DEFAULT '{}';
