"""Translation of PostgreSQL's errors into Causeway's."""

import psycopg

from graphrag.errors import DatabaseFull, DatabaseUnavailable, DatabaseUnprepared

# Tables that are gone or not there yet, an index that is damaged, a replica that takes no writes.
OUT_OF_STEP = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedObject,
    psycopg.errors.InternalError_,
    psycopg.errors.DataCorrupted,
    psycopg.errors.IndexCorrupted,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.InsufficientPrivilege,
)
FAILURES = (psycopg.OperationalError, *OUT_OF_STEP)
POLICY_CHECK = "ExecWithCheckOptions"  # PostgreSQL's own function: its words come in many languages


def is_operational(exc: psycopg.Error) -> bool:
    """Return whether an operator can mend the error; a violated row level policy is a bug instead."""
    return exc.diag.source_function != POLICY_CHECK


def translated(exc: psycopg.Error) -> DatabaseUnavailable:
    """Return the Causeway error for one of FAILURES."""
    if isinstance(exc.__context__, psycopg.errors.DiskFull):  # which took the server, and the connection, down
        exc = exc.__context__
    message = one_line(exc)
    match exc:
        case psycopg.errors.QueryCanceled():
            return DatabaseUnavailable(f"PostgreSQL took too long: {message}.")
        case psycopg.errors.DiskFull():
            return DatabaseFull(f"PostgreSQL has no space left: {message}. Free some where it is.")
        case psycopg.OperationalError():
            return DatabaseUnavailable(f"PostgreSQL does not answer: {message}. Check DATABASE_URL and the server.")
    return DatabaseUnprepared(
        f"PostgreSQL has not what is asked for: {message}. Run `causeway migrate`, or restore a backup."
    )


def one_line(exc: Exception) -> str:
    return " ".join(str(exc).split()).rstrip(".")
