"""The steps that hold a node that came back against another member, and their questions. Pure.

Always: all that is defined, and the rows of all tables, large ones by samples. Beside that the tables that a person
names, each to its end by CHECKSUM TABLE.
"""

from __future__ import annotations

from dataclasses import replace

from services.facts.plain_names import is_table
from services.facts.server.read_rights import ReadRights
from services.i18n import tr
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.conditions.server.comparable import Comparable
from services.procedures.conditions.server.same_defined import SameDefined
from services.procedures.conditions.server.same_rows import SameRows
from services.procedures.conditions.server.same_sums import SameSums
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.forms.inputs import bytes_of, flag_of, hosts_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.server.reader import Reader
from services.procedures.plan.parts.server.root_login import RootLogin

MOST_TABLES = 32
WHOLE_BELOW = "1 GiB"
COMPARE_LIMIT_S, ALL_LIMIT_S = 900.0, 86_400.0


def fields() -> tuple[Field, ...]:
    """Return the questions: up to which size all is read, which tables besides, what becomes of one not compared."""
    return (
        Field(
            "whole_below",
            "Compare tables up to this size completely, larger ones by samples",
            "bytes",
            WHOLE_BELOW,
            help="The rows of all InnoDB tables are summed on both nodes. For a larger table, and for a table that is "
            "written continuously, 32 ranges of its primary key are compared.",
        ),
        Field(
            "tables",
            "Tables to compare completely as well (schema.table, separated by commas)",
            "text",
            "",
            help="CHECKSUM TABLE reads each table completely on both nodes; the observing account needs SELECT on it. "
            "A table with a generated column cannot be compared this way.",
            required=False,
            advanced=True,
        ),
        Field(
            "tables_unknown",
            "Accept tables that could not be compared",
            "flag",
            "no",
            help="A table without an integer primary key that is written continuously may never be comparable. A "
            "difference is never accepted.",
            advanced=True,
        ),
    )


def tables_of(values: Inputs) -> tuple[str, ...]:
    """Return the tables that were chosen."""
    return hosts_of(values.get("tables", ""))


def faults(values: Inputs) -> tuple[Fault, ...]:
    """Return what is wrong with the tables: each is two plain identifiers, as a named read takes them."""
    chosen = tables_of(values)
    odd = [name for name in chosen if not is_table(name)]
    found = [Fault("tables", tr("Write {table} as schema.table, in plain letters.", table=odd[0]))] if odd else []
    if len(chosen) > MOST_TABLES:
        found.append(Fault("tables", tr("At most {most} tables are compared.", most=MOST_TABLES)))
    return tuple(found)


def compared(joiner: str, donor: str, values: Inputs, others: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """Return the steps that compare: what is defined, the rows of all tables, the tables that a person named.

    Args:
        others: more members, asked where something is defined otherwise than on the donor.
    """
    more = tuple(name for name in others if name not in {joiner, donor})
    return (*_all_compared(joiner, donor, values, more), *_named_compared(joiner, donor, values))


def _all_compared(joiner: str, donor: str, values: Inputs, others: tuple[str, ...]) -> tuple[Step, ...]:
    accepted = flag_of(values.get("tables_unknown", "")) is True
    below = bytes_of(values.get("whole_below", "")) or 2**30
    return (
        Step(
            step_id=f"same-defined-{joiner}",
            host=joiner,
            title=f"Compare all definitions of {joiner} with {donor}: tables, columns, indexes, routines, accounts",
            done=f"The definitions of {joiner} and {donor} were compared"
            if accepted
            else f"{joiner} has all definitions of {donor}, and each of its tables can be opened",
            why="With an incomplete copy of a backup, the node joins and serves clients although tables are missing.",
            action=WaitFor((SameDefined(joiner, donor, accepted, others),), f"the definitions of {joiner} and {donor}"),
            risk=Risk.READS,
            limit_s=COMPARE_LIMIT_S,
            repeatable=True,
            estimate_s=3.0,
        ),
        Step(
            step_id=f"same-rows-{joiner}",
            host=joiner,
            title=f"Compare the rows of all tables of {joiner} with {donor}; over {below / 2**20:.0f} MiB by samples",
            done=f"The comparison of all tables of {joiner} and {donor} ended; tables that could not be compared are "
            "accepted"
            if accepted
            else f"All rows that were compared on {joiner} and {donor} are equal",
            why="IST also succeeds between diverged nodes and on data with missing pages: only a comparison of rows "
            "proves more.",
            action=WaitFor(
                (SameSums(joiner, donor, below, accepted),), f"the rows of all tables on {joiner} and {donor}"
            ),
            risk=Risk.READS,
            limit_s=ALL_LIMIT_S,
            repeatable=True,
            estimate_s=20.0,
        ),
    )


def _named_compared(joiner: str, donor: str, values: Inputs) -> tuple[Step, ...]:
    """Return the step that compares the tables that were named; none where none was."""
    tables = tables_of(values)
    if not tables:
        return ()
    condition = SameRows(joiner, donor, tables, accepted=flag_of(values.get("tables_unknown", "")) is True)
    many = f"{len(tables)} table{'' if len(tables) == 1 else 's'}"
    return (
        Step(
            step_id=f"compare-{joiner}",
            host=joiner,
            title=f"Compare {many} of {joiner} with {donor} by checksum",
            done=f"The comparison of {many} of {joiner} and {donor} ended; tables that could not be compared are "
            "accepted"
            if condition.accepted
            else f"{many[0].upper()}{many[1:]} of {joiner} and {donor} {'is' if len(tables) == 1 else 'are'} equal",
            why="IST also succeeds between diverged nodes: only a comparison of rows proves more.",
            action=WaitFor((condition,), f"the checksums of {many} on {joiner} and {donor}"),
            risk=Risk.READS,
            limit_s=COMPARE_LIMIT_S,
            repeatable=True,
            estimate_s=5.0,
        ),
    )


def comparable(first: Step, donor: str, values: Inputs) -> Step:
    """Return the first step of a plan, which begins only where a checksum will be able to compare the tables."""
    tables = tables_of(values)
    if not tables or flag_of(values.get("tables_unknown", "")) is True:
        return first
    return replace(first, before=(*first.before, Comparable(donor, tables)))


def chosen(facts: Facts, values: Inputs) -> Check:
    """Say whether anything will show that the rows are equal: root's login at its server, the observer's rights.

    Asked of the donor: the accounts are the cluster's, and a node that comes back has the same.
    """
    tables, donor = tables_of(values), facts.host(values["donor"])
    rights, accepted = donor[Reader].rights or ReadRights(), flag_of(values.get("tables_unknown", "")) is True
    root = donor[RootLogin].works
    denied = [table for table in tables if rights.reads(table) is False]
    blind = [table for table in tables if rights.reads(table) is None]
    said = [f"the server of {donor.host} refuses its root over the socket"] if root is False else []
    said += [f"whether the server of {donor.host} accepts its root was not read"] if root is None else []
    said += [f"{rights.account} has no SELECT on {', '.join(denied)}"] if denied else []
    said += [f"whether the observing account may read {', '.join(blind)} is not known"] if blind else []
    compared = ["all tables, by root of both hosts"] if root else []
    compared += [f"by checksum: {', '.join(tables)}"] if tables else []
    return Check(
        code="COMPARE",
        title="Rows are compared after the join",
        verdict=verdict(denied and not accepted, said),
        not_known=not denied and bool(blind or root is None),
        evidence="; ".join([*compared, *said]),
        why="Equal positions reveal neither different rows nor missing tables; a comparison with a member does.",
        try_=(
            *(
                ("Allow root@localhost to log in by unix_socket; otherwise the run pauses before its end.",)
                if not root
                else ()
            ),
            *(_grant(table, rights.account) for table in denied),
        ),
        host=donor.host if said else "",
    )


def _grant(table: str, account: str) -> str:
    """Return the statement for a person to type; table and account stand as they are quoted in a grant."""
    schema, _, name = table.partition(".")
    return f"On a member: GRANT SELECT ON `{schema}`.`{name}` TO {account};"
