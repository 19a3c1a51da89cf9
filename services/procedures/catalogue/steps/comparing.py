"""The step that compares chosen tables of a node that came back with another member's, and its questions. Pure."""

from __future__ import annotations

from dataclasses import replace

from services.facts.plain_names import is_table
from services.facts.read_rights import ReadRights
from services.i18n import tr
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.conditions.server.comparable import Comparable
from services.procedures.conditions.server.same_rows import SameRows
from services.procedures.plan.actions import WaitFor
from services.procedures.plan.checks import Check
from services.procedures.plan.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.inputs import flag_of, hosts_of
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.server.reader import Reader

MOST_TABLES = 32
COMPARE_LIMIT_S = 900.0


def fields() -> tuple[Field, ...]:
    """Return the questions: which tables, and what becomes of one that never stands still."""
    return (
        Field(
            "tables",
            "Tables to compare (schema.table, with commas)",
            "text",
            "",
            help="CHECKSUM TABLE reads each to its end on both nodes; the observing account needs SELECT on them. One "
            "with a generated column can't be compared so.",
            required=False,
        ),
        Field(
            "tables_unknown",
            "A table that could not be compared is accepted",
            "flag",
            "no",
            help="One that is written all the time never stands still. A difference is never accepted.",
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
    found = [Fault("tables", tr("{table} is not written schema.table in plain letters.", table=odd[0]))] if odd else []
    if len(chosen) > MOST_TABLES:
        found.append(Fault("tables", tr("At most {most} tables are compared.", most=MOST_TABLES)))
    return tuple(found)


def compared(joiner: str, donor: str, values: Inputs, prefix: str = "") -> tuple[Step, ...]:
    """Return the step that compares; none where no table was chosen."""
    tables = tables_of(values)
    if not tables:
        return ()
    condition = SameRows(joiner, donor, tables, accepted=flag_of(values.get("tables_unknown", "")) is True)
    many = f"{len(tables)} table{'' if len(tables) == 1 else 's'}"
    return (
        Step(
            step_id=f"{prefix}compare-{joiner}",
            host=joiner,
            title=f"Compare {many} of {joiner} with {donor} by checksum",
            done=f"The comparison of {many} of {joiner} and {donor} ended; what could not be compared is accepted"
            if condition.accepted
            else f"{many[0].upper()}{many[1:]} of {joiner} and {donor} {'is' if len(tables) == 1 else 'are'} equal",
            why="IST ends well between forks too: rows are what counts.",
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
    """Say whether anything will show that the rows are equal, and whether the observing account may read it.

    Asked of the donor: the accounts are the cluster's, and a node that comes back has the same.
    """
    tables, donor = tables_of(values), facts.host(values["donor"])
    rights, accepted = donor[Reader].rights or ReadRights(), flag_of(values.get("tables_unknown", "")) is True
    denied = [table for table in tables if rights.reads(table) is False]
    blind = [table for table in tables if rights.reads(table) is None]
    said = [f"{rights.account} has no SELECT on {', '.join(denied)}"] if denied else []
    said += [f"whether the observing account may read {', '.join(blind)} is not known"] if blind else []
    return Check(
        code="COMPARE",
        title="Rows are compared afterwards",
        verdict=verdict(denied and not accepted, not tables or said),
        not_known=bool(blind) and not denied,
        evidence="; ".join([f"by checksum: {', '.join(tables)}" if tables else "no table was chosen", *said]),
        why="Positions that agree show no rows; a checksum of both nodes does.",
        try_=tuple(_grant(table, rights.account) for table in denied)
        if denied
        else ()
        if tables
        else ("Name tables of some size that are not written all the time.",),
        host=donor.host if said else "",
    )


def _grant(table: str, account: str) -> str:
    """Return the statement for a person to type; table and account stand as they are quoted in a grant."""
    schema, _, name = table.partition(".")
    return f"On a member: GRANT SELECT ON `{schema}`.`{name}` TO {account};"
