"""Logins of a test's own on the embedded server, which asks each for a password."""

from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo


def create_login(url: str, name: str, rights: LiteralString = "") -> str:
    """Create a role that may log in, anew where there is one; return its address."""
    role, password = sql.Identifier(name), str(conninfo_to_dict(url)["password"])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
        statement = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} {}")
        connection.execute(statement.format(role, password, sql.SQL(rights)))
    return make_conninfo(url, user=name)
