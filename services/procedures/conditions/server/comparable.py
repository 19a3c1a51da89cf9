"""Whether CHECKSUM TABLE can show at all that chosen tables are equal, asked before anything is changed.

MariaDB sums up a table with a generated column from memory that nobody filled: the same rows gave another sum after
each FLUSH TABLES, and on each member (seen on 10.11.18, STORED and VIRTUAL alike). Its difference says nothing.
"""

from __future__ import annotations

from services.connections.reads import statements
from services.errors import QueryFailed
from services.facts.server.table_columns import generated_columns
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import SQL_LIMIT_S, Asking

_ADVICE = "Exclude such tables, or accept with tables_unknown=yes that they are not compared"
_NOT_THERE = frozenset({1049, 1146})


@condition("server.comparable", "tables of {host} that CHECKSUM TABLE can compare")
class Comparable(OfHost):
    """Each of `tables` ('schema.table') is there on `host`, and has no generated column."""

    tables: tuple[str, ...]

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}))

    def look(self, asking: Asking) -> Answer:
        """Read the columns of each."""
        said = tuple(why for table in self.tables if (why := _why_not(asking, self.host, table)))
        if said:
            return Answer(holds=False, evidence=f"{'; '.join(said)}. {_ADVICE}", final=True)
        return Answer(holds=True, evidence=f"a checksum can compare {', '.join(self.tables)}")


def _why_not(asking: Asking, host: str, table: str) -> str:
    try:
        columns = generated(asking, host, table)
    except QueryFailed as error:
        if error.errno in _NOT_THERE:
            return f"{table} does not exist on {host}"
        raise
    return no_sum(table, columns) if columns else ""


def generated(asking: Asking, host: str, table: str) -> tuple[str, ...]:
    """Return the generated columns of 'schema.table'."""
    schema, _, name = table.partition(".")
    return generated_columns(asking.session(host).query(statements.COLUMNS.read(schema, name), limit_s=SQL_LIMIT_S))


def no_sum(table: str, columns: tuple[str, ...]) -> str:
    """Return why a table with these columns can't be compared."""
    return f"{table} has a generated column ({', '.join(columns)}): there CHECKSUM TABLE can differ for equal rows"
