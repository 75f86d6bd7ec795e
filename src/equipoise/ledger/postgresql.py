"""Who may do what to a ledger in PostgreSQL: a spend is a call of a function of the database, the rest is the owner's.

`postgresql.sql` holds the function, and what it checks; docs/ledger-postgresql.md what that stops and what it does not.
"""

from __future__ import annotations

import hashlib
from importlib import resources

import sqlalchemy as sql
from sqlalchemy.exc import DBAPIError

from equipoise.errors import LedgerError, LedgerRefused, LedgerTampered, Overdraft
from equipoise.ledger.chain import Entry

# What an analyst may append; everything else is the owner's.
APPENDED_BY_ANALYSTS = ("spend", "outcome")

_FUNCTION = "public.equipoise_append(text, text)"
_RELATIONS = ("entries", "grounds", "callers", "quarantined")

_OWN = f"""
SELECT obj_description(p.oid, 'pg_proc') FROM pg_proc p, pg_class c
WHERE p.oid = to_regprocedure('{_FUNCTION}') AND c.oid = to_regclass('public.entries') AND p.proowner = c.relowner
"""  # noqa: S608  (a constant)
_OWNS_ENTRIES = "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('public.entries')"
_FOREIGN = f"""
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname IN {_RELATIONS}
AND relowner <> (SELECT relowner FROM pg_class WHERE oid = to_regclass('public.entries'))
UNION ALL SELECT tgname FROM pg_trigger t, pg_proc p, pg_class c WHERE c.oid = to_regclass('public.entries')
AND t.tgrelid = c.oid AND p.oid = t.tgfoid AND p.proowner <> c.relowner AND NOT t.tgisinternal
"""  # noqa: S608  (a constant)

_READERS = """
SELECT DISTINCT coalesce(quote_ident(r.rolname), 'PUBLIC')
FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a LEFT JOIN pg_roles AS r ON r.oid = a.grantee
WHERE c.oid = to_regclass('public.entries') AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
"""


def require_owner(connection: sql.Connection) -> None:
    """Refuse what is the owner's to anybody else; where there is no table yet, whoever makes it owns it."""
    if connection.exec_driver_sql(_OWNS_ENTRIES).scalar() is False:
        found = "a role that does not own the table `entries`"
        remedy = "connect as the ledger's owner"
        raise LedgerRefused("to create, migrate or recover a budget in PostgreSQL", found, remedy)


def let_read(connection: sql.Connection, relation: str) -> None:
    """Let whoever may read entries read another table of the ledger; in a file there are no rights to give."""
    if connection.dialect.name != "postgresql":
        return
    for role in connection.exec_driver_sql(_READERS).scalars().all():
        connection.exec_driver_sql(f"GRANT SELECT ON public.{relation} TO {role}")


def install(connection: sql.Connection) -> None:
    """Put the function into the database, as the owner of its table `entries`, unless this very one is there.

    Whoever had the right to insert entries, as in 0.1.0 and 0.2.0, may call the function from then on instead.
    """
    script = resources.files("equipoise.ledger").joinpath("postgresql.sql").read_text(encoding="utf-8")
    version = f"equipoise ledger {hashlib.sha256(script.encode()).hexdigest()}"
    if connection.exec_driver_sql(_OWN).scalar() == version:
        return
    script += f"COMMENT ON FUNCTION {_FUNCTION} IS '{version}';"
    # Without parameters the driver sends the statements as they are, all at once.
    connection.exec_driver_sql(script, execution_options={"no_parameters": True})
    # A table or a trigger of somebody else's would run that person's code with the owner's rights.
    if (foreign := connection.exec_driver_sql(_FOREIGN).scalar()) is not None:
        found = f"`{foreign}` in the schema public, which belongs to somebody else"
        remedy = "give the ledger a database of its own, in which nobody else creates: docs/ledger-postgresql.md"
        raise LedgerTampered("a ledger whose tables are its owner's", found, remedy)


def serves(connection: sql.Connection, kind: str) -> bool:
    """Return whether an entry of this kind is appended by the function: it is there, and the owner's.

    A function that somebody else put in its place would be run with the rights of whoever spends. A ledger of
    0.1.0 or 0.2.0 has none until its owner creates or migrates a budget in it; spenders insert into that, as before.
    """
    if connection.dialect.name != "postgresql" or kind not in APPENDED_BY_ANALYSTS:
        return False
    return connection.exec_driver_sql(_OWN).scalar() is not None


def append(connection: sql.Connection, entry: Entry, grounds: str, shown: str) -> None:
    """Append a spend or an outcome by the function; its refusals are errors of the ledger.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        A transaction at READ COMMITTED.
    entry : Entry
        What is appended.
    grounds : str
        What a spend without a record rests on; empty where there is one.
    shown : str
        The ledger's address, for errors.
    """
    try:
        connection.execute(
            sql.text("SELECT public.equipoise_append(:line, :grounds)"), {"line": entry.line, "grounds": grounds}
        )
    except DBAPIError as error:
        refusal = _refusal(error, entry, shown)
        if refusal is None:
            raise
        raise refusal from None


def _refusal(error: DBAPIError, entry: Entry, shown: str) -> LedgerError | None:
    """Return the error of the ledger for an error of the function; None for any other error of the server."""
    asked = f"to append entry {entry.number} to {shown}"
    said = str(getattr(getattr(error.orig, "diag", None), "message_primary", ""))
    state = getattr(error.orig, "sqlstate", None)
    if state == "EQ002":
        return Overdraft(asked, said, "lower epsilon and delta to what remains, or stop: nothing was spent")
    if state == "EQ003":
        return LedgerTampered(asked, said, "nothing is admitted before the owner has run `equipoise ledger recover`")
    if state == "EQ001":
        return LedgerRefused(asked, said, "update equipoise here and in the database: its owner runs `ledger create`")
    return None
