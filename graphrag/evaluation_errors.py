"""Errors of golden cases, evaluations, schedules and experiments."""

from graphrag.errors import CausewayError


class GoldenCaseNotFound(CausewayError):
    """`details`: case."""

    code = "golden_case_not_found"


class InvalidGoldenCase(CausewayError):
    """`details`: reason, in words of ours; index, of the first bad one of several."""

    code = "invalid_golden_case"


class GoldenCaseExists(CausewayError):
    """Another one asks the same. `details`: case."""

    code = "golden_case_exists"


class GoldenVersionNotFound(CausewayError):
    """`details`: version."""

    code = "golden_version_not_found"


class NoGoldenCases(CausewayError):
    """There is nothing to measure with. `details`: collection."""

    code = "no_golden_cases"


class JudgeUnavailable(CausewayError):
    """No chat model may judge the collection's answers. `details`: collection."""

    code = "judge_unavailable"


class EvaluationNotFound(CausewayError):
    """`details`: run."""

    code = "evaluation_not_found"


class EvaluationUnfinished(CausewayError):
    """It has no figures yet, or none at all. `details`: run, status."""

    code = "evaluation_unfinished"


class ScheduleNotFound(CausewayError):
    """`details`: schedule."""

    code = "schedule_not_found"


class InvalidSchedule(CausewayError):
    """`details["reason"]`: cron_expression or timezone; cron, timezone."""

    code = "invalid_schedule"


class ExperimentNotFound(CausewayError):
    """`details`: experiment."""

    code = "experiment_not_found"


class ExperimentRunning(CausewayError):
    """A collection has one at a time. `details`: collection."""

    code = "experiment_running"
