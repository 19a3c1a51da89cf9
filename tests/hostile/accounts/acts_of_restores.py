"""The acts of the Galera procedures on a data folder, each as the host gets it, for an attacker who races them."""

from __future__ import annotations

from services.connections.command import Command
from services.connections.operator import folders_of_others
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import REMOVE_COPY, TIDY
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import (
    CLEAR_COPIES,
    COPY_CHAIN,
    PREPARE_ONCE,
)
from services.procedures.catalogue.galera.snapshot_node.hold import LISTED, RUN, UNLOCK
from services.procedures.catalogue.galera.snapshot_node.look_through import BRING, LOOK_THROUGH
from services.procedures.catalogue.steps.restored import restoring_programs as programs
from services.procedures.catalogue.steps.restored import state_kept
from services.procedures.plan.parts.galera.data_folder import ASIDE, INSIDE

NAMES = ("data", f"data{ASIDE}", "data.pilothouse-restored", "data.pilothouse-prepared", "copies")
"""What the acts name in the folder that the attacker may write."""


def acts(own: str, kept: str, account: str) -> dict[str, Command]:
    """Return each act by its name.

    Args:
        own: the folder that the account may write; its data folder is `data` in it.
        kept: where root keeps copies. account: user and group by number.
    """
    data, uid = f"{own}/data", account.partition(":")[0]
    inside, beside, work = f"{data}/{INSIDE}", f"{data}{ASIDE}", f"{data}.pilothouse-prepared"
    came, copies = f"{data}.pilothouse-restored", f"{own}/copies"
    return {
        "keep-inside": _bash(programs.KEEP_INSIDE, data, inside, uid),
        "take": _bash(programs.TAKE, data, uid),
        "copy-back": _bash(programs.COPY_BACK, data, beside, "sh", "-c", f"echo page > {data}/ibdata1"),
        "bring": _bash(BRING, data, beside, RUN, "5", "true"),
        "look-through": _bash(LOOK_THROUGH, data, inside, "snapshot-x", "bring-x.scope"),
        "without-identity": _bash(programs.WITHOUT_IDENTITY, data, LISTED),
        "tidy": _bash(TIDY, data, work, "binlog"),
        "give": _bash(programs.GIVE_TO_SERVER, data, inside, uid),
        "empty-beside": _bash(programs.EMPTY_BESIDE, data, inside, uid),
        "back-from-inside": _bash(programs.BACK_FROM_INSIDE, data, inside, uid),
        "rename": folders_of_others.renamed(data, beside, account),
        "make-closed": _bash(programs.MAKE_CLOSED, data),
        "make": folders_of_others.made(data, account),
        "give-beside": _bash(programs.GIVE_TO_SERVER, data, beside, uid),
        "put-away": folders_of_others.put_away(data, beside, came, account),
        "rename-back": folders_of_others.renamed(beside, data, account),
        "remove-copy": _bash(REMOVE_COPY, work),
        "copy-chain": _bash(COPY_CHAIN, copies, data, data),
        "prepare-once": _bash(PREPARE_ONCE, f"{copies}/began-0", "true"),
        "clear-copies": _bash(CLEAR_COPIES, copies),
        "keep-state": _bash(state_kept.KEEP_STATE, account, data, f"{kept}/state", ""),
        "save-state": _bash(state_kept.SAVE_STATE, account, data, f"{kept}/saved", "grastate.dat", "gvwstate.dat"),
        "state-back": _bash(
            state_kept.PUT_STATE_BACK, account, data, f"{kept}/state", "no.service", "", "u", "WSREP: "
        ),
        "unlock": _bash(UNLOCK, account, "pilothouse-lock-x.scope", data),
    }


def _bash(program: str, *words: str) -> Command:
    return Command(("bash", "-c", program, "pilothouse", *words), sudo=True)
