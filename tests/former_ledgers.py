"""Ledgers as version 0.2.0 made them."""

from dataclasses import asdict

import sqlalchemy as sql

from equipoise.ledger import chain
from equipoise.vocabulary.facts import Budget


def make_former(engine: sql.Engine, *budgets: tuple[str, Budget]) -> None:
    """Make a ledger as version 0.2.0 made it: nine columns, grounds in a table beside them, and budgets."""
    texts = ("kind", "epsilon", "delta", "certificate", "made", "previous", "digest")
    with engine.begin() as connection:
        for table, columns in (("entries", texts), ("grounds", ("grounds",))):
            written = ", ".join(f"{column} VARCHAR NOT NULL" for column in columns)
            without = " WITHOUT ROWID" if engine.dialect.name == "sqlite" else ""
            connection.exec_driver_sql(
                f"CREATE TABLE {table} (number INTEGER NOT NULL, dataset VARCHAR NOT NULL, {written}, "
                f"PRIMARY KEY (number, dataset)){without}"
            )
            for statement in _former_triggers(engine.dialect.name, table):
                connection.exec_driver_sql(statement)
    table = sql.Table("entries", sql.MetaData(), autoload_with=engine)
    for dataset, budget in budgets:
        entry = chain.following((), dataset, "budget", budget)
        with engine.begin() as connection:
            values = {name: value for name, value in asdict(entry).items() if name != "record"}
            connection.execute(sql.insert(table).values(values))


def _former_triggers(dialect: str, table: str) -> list[str]:
    prefix, refusal = "" if table == "entries" else f"{table}_", "'the ledger is append-only'"
    if dialect == "sqlite":
        taken = f"WHEN (NEW.number, NEW.dataset) IN (SELECT number, dataset FROM {table})"  # noqa: S608
        return [
            f"CREATE TRIGGER {prefix}no_{event} BEFORE {event} ON {table} {condition} "
            f"BEGIN SELECT RAISE(ABORT, {refusal}); END"
            for event, condition in (("update", ""), ("delete", ""), ("insert", taken))
        ]
    return [
        f"CREATE FUNCTION {table}_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION {refusal}; END $$",
        f"CREATE TRIGGER {prefix}append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"EXECUTE FUNCTION {table}_append_only()",
    ]
