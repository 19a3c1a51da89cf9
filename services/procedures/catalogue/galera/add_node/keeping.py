"""Are the old data of a joiner kept, and what leads on where they can't be: the checks of add-node. Pure."""

from __future__ import annotations

from services.facts.galera.state_files import KEPT, KEPT_ASIDE, KEPT_INSIDE
from services.procedures.catalogue.checks.joiner_state import ahead
from services.procedures.catalogue.checks.parts import unread, verdict
from services.procedures.catalogue.galera.shared.estimate import Expected
from services.procedures.catalogue.galera.shared.joining import FRESH_BYTES, aside_path, gives_up, own_file_system
from services.procedures.plan.checks import Check, Remedy, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.galera.data_folder import INSIDE, INSIDE_BEFORE, DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize


def kept_aside(facts: Facts, joiner: str, expected: Expected, *, keep: bool) -> bool:
    """Return whether the plan renames the old data folder: an IST goes on from it, where it is.

    Where the server takes an SST all the same, nothing is kept: it erases what is there (`erasing_told`).
    """
    return expected.kind == "SST" and keep and facts.host(joiner)[DataFolder].entries != 0


def aside_free(facts: Facts, joiner: str, expected: Expected, *, keep: bool) -> Check:
    """An older copy that was kept is somebody's data: it is not written over. It is named where it lies."""
    codes = {problem.code for problem in facts.host(joiner).problems} & KEPT
    folder = (facts.host(joiner)[DataFolder].path or "/var/lib/mysql").rstrip("/")
    beside, inside = aside_path(facts, joiner), f"{folder}/{INSIDE}"
    said = [f"{beside} exists"] if KEPT_ASIDE in codes else []
    said += [f"{inside} exists, or {INSIDE_BEFORE} from an earlier version"] if KEPT_INSIDE in codes else []
    moved = kept_aside(facts, joiner, expected, keep=keep)
    if codes and not moved:
        said.append("it stays: this plan moves no data folder")
        said += ["an SST by rsync cannot start while it exists"] if KEPT_INSIDE in codes else []
    elif codes and expected.pending:
        said.append("it matters only for an SST: checked again when the position is known")
    tries = [f"Remove or rename {beside} on {joiner}."] if KEPT_ASIDE in codes else []
    # Renamed where it lies, it would be a schema of the server's.
    tries += [f"Remove {inside} on {joiner}, or move it out of {folder}."] if KEPT_INSIDE in codes else []
    return Check(
        code="ASIDE-FREE",
        title="No older data folder is in the place where this plan keeps one",
        verdict=verdict(codes and moved and not expected.pending, codes),
        evidence="; ".join(said) or f"{beside} does not exist",
        why="Data that an earlier run kept may be the only copy of rows, so it is never overwritten.",
        try_=tuple(tries),
        host=joiner,
    )


def aside_possible(facts: Facts, joiner: str, expected: Expected, *, keep: bool, given_up: bool = False) -> Check:
    """A mount point can't be renamed; say what that means for the old data of a node that an SST is coming to."""
    datadir = facts.host(joiner)[DataFolder].path or "its data folder"
    sst = expected.kind == "SST"
    mounted = sst and own_file_system(facts, joiner)
    erased = sst and not keep and facts.host(joiner)[DataFolder].entries != 0
    lost = erased and ahead(facts, joiner) and not given_up  # write sets that nobody else has
    size = facts.host(joiner)[DataSize].in_bytes
    said = [f"{datadir} is a mount point and cannot be renamed"] if mounted else []
    much = f", {size / 1e9:.2f} GB" if size is not None else ""
    beyond = ", and the transactions that only this node has" if lost else ""
    said += [f"the SST erases {datadir}{much}, including its binary logs{beyond}"] if erased else []
    if sst and facts.host(joiner)[DataFolder].entries is None:
        said.append(unread(facts.host(joiner), datadir, "datadir", "ssh"))
    calm = f"{datadir} is renamed" if sst else f"{datadir} stays; if an SST is needed after all, the SST erases it"
    # No state file: never a node's data. More than a fresh installation is somebody's.
    somebodys = erased and facts.host(joiner)[DataFolder].grastate is None and (size or 0) > FRESH_BYTES
    said += ["grastate.dat does not exist: these are not the data of a Galera node"] if somebodys else []
    outcome = verdict(((mounted and keep) or lost or somebodys) and not expected.pending, said)
    return Check(
        code="KEEP-DATA",
        title="The old data folder is kept",
        verdict=outcome,
        evidence="; ".join(said) or calm,
        why="Renaming the old data copies nothing, and undo restores it; otherwise an SST erases it permanently.",
        try_=(f"Copy the files that you need from {datadir} elsewhere first.",) if mounted else (),
        answers=_about_keeping(joiner, keep=keep, mounted=mounted, erased=erased, lost=lost),
        host=joiner,
        # The rename would fail, or data that nobody else has would be gone.
        absolute=outcome is Verdict.BLOCK and ((mounted and keep) or lost),
    )


def _about_keeping(joiner: str, *, keep: bool, mounted: bool, erased: bool, lost: bool) -> tuple[Remedy, ...]:
    """Return which answers lead on: a mount point is never kept, and what nobody else has is written out before."""
    if mounted and keep:
        return (Remedy("Once that is done, choose not to keep it", "keep_data", ("no",)),)
    kept = (Remedy("Keep it", "keep_data", ("yes",)),) if erased and not mounted else ()
    return (*kept, *((gives_up(joiner),) if lost else ()))
