-- Experiments over live conversations are gone; evaluation runs are compared instead.

DROP TABLE experiment_answers, experiments;
