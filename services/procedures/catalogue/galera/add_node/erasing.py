"""What an SST into the joiner's data folder costs, told where a start is taken back after it had begun. Pure."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.checks.joiner_state import lies_in, position_of
from services.procedures.conditions.galera.data.data_stands import DataStands
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.galera.data_folder import DataFolder


def erasing_told(start: Step, facts: Facts, joiner: HostFacts) -> Step:
    """Return the start whose undo looks whether an SST had begun to erase what lay there.

    A database that was there and was not kept is a person's to bring back; of anything else it is told only.
    """
    folder = joiner[DataFolder]
    if start.undo is None or not folder.path:
        return start
    uuid = folder.grastate.uuid if folder.grastate is not None and folder.names_state else ""
    stands = DataStands(joiner.host, folder.path, what_lay_there(facts, joiner), uuid)
    if folder.entries == 0 or folder.erased_by_transfer or folder.tablespace is False:
        stands = replace(stands, held=False)
        return replace(start, undo=replace(start.undo, leaves=(stands, *start.undo.leaves)))
    return replace(start, undo=replace(start.undo, loses=(stands,)))


def what_lay_there(facts: Facts, joiner: HostFacts) -> str:
    """Return what the data folder held when the plan was made, as a person is told."""
    folder, lies = joiner[DataFolder], lies_in(facts, joiner.host)
    if folder.entries == 0:
        return "an empty folder"
    if folder.erased_by_transfer:
        return "leftovers of an interrupted SST, no database"
    if folder.tablespace is False:
        return "files, but no database (no ibdata1)"
    if folder.tablespace is None:
        return "not known because the folder could not be listed; not kept (keep_data)"
    uuid, seqno = position_of(facts, joiner.host)
    held = {
        "a spare's own": f"a database of {joiner.host} itself, not a member's",
        "this cluster's": f"this cluster's data up to {seqno if seqno is not None else 'an unknown position'}",
        "another's": f"the data of another cluster ({uuid})",
        "state lost": "the data of a member that lost its state file",
        "nothing": "no database",
    }[lies]
    return f"{held}; not kept (keep_data)"
