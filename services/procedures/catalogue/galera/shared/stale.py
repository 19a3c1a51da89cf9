"""A grastate.dat whose seqno InnoDB contradicts: the server must not start from it. Pure.

Seen on the lab (MariaDB 10.11, Galera 26.4): grastate.dat said 3, InnoDB recovered more. The unit's galera_recovery
handed that over, the provider began at 3 all the same, and the proof of the bootstrap waited in vain. A seqno of -1 has
the provider take the position that was recovered.
"""

from __future__ import annotations

import posixpath

from services.procedures.catalogue.galera.shared.positions import NodePosition
from services.procedures.catalogue.steps.restored import data_folders as steps
from services.procedures.conditions.machine.files import FileSays
from services.procedures.plan.actions import Run
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Step, Undo


def innodb_counts(facts: Facts, found: tuple[NodePosition, ...], prefix: str = "") -> tuple[Step, ...]:
    """Return a step for each of these nodes whose state file tells another position than InnoDB."""
    return tuple(_innodb_counts(facts, one, prefix) for one in found if one.stale)


def _innodb_counts(facts: Facts, found: NodePosition, prefix: str) -> Step:
    name, claimed = found.host, found.grastate.rpartition(":")[2]
    host = facts.host(name)
    path = posixpath.join(steps.folder_of(host), "grastate.dat")

    def write(seqno: str) -> Run:
        return steps.edited(host, "grastate.dat", f"s/^seqno:.*$/seqno:   {seqno}/")

    def says(seqno: str) -> tuple[FileSays, ...]:
        return (FileSays(name, path, f"^seqno: +{seqno}$"),)

    return Step(
        step_id=f"{prefix}stale-{name}",
        host=name,
        title=f"Replace the stale seqno {claimed} in grastate.dat on {name}: InnoDB recovered {found.seqno}",
        done=f"{name} starts at the position that InnoDB has",
        why="A seqno in grastate.dat takes precedence over InnoDB's: the node would start at a position that does not "
        "match its data, and repeat or skip write sets.",
        action=write("-1"),
        already=says("-1"),
        proof=says("-1"),
        undo=Undo(f"Restore the seqno {claimed} in grastate.dat on {name}", write(claimed), says(claimed)),
        repeatable=True,
        estimate_s=0.5,
    )
