"""Is the [sst] section of all nodes in a state from which it can be changed on all of them at once? Pure."""

from __future__ import annotations

from services.facts.server.harmless_options import is_secret
from services.facts.transfer.sst_options import GROUPS, groups_of
from services.procedures.catalogue.checks.parts import (
    checked,
    known,
    listed,
    unread,
    unseen_processes,
)
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.drop_ins import HOLD, DropIns
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.machine.processes import Processes


def one_place(facts: Facts, hosts: tuple[str, ...], options: tuple[str, ...]) -> Check:
    """Each of these options stands in one place at most, on every host, and in no group that [sst] loses against.

    Args:
        options: what the plan sets.
    """
    everyone = known(facts, hosts)
    faults = [fault for host in everyone for option in options for fault in _places(host, option)]
    blind = [unread(h, "the [sst] section", "sst-options", "ssh") for h in everyone if not h[SstOptions].known]
    found = [
        f"{h.host}: {', '.join(h[SstOptions].section_files) or 'no [sst] in its files'}"
        for h in everyone
        if h[SstOptions].known
    ]
    return checked(
        "SST-ONE-PLACE",
        "Each transfer option is set in one place",
        block=faults,
        must_read=blind,
        good="; ".join(found) or "no host was asked",
        why="If an option is set twice, the last one takes effect: a change in the other place does nothing, and the "
        "nodes differ. The scripts read the server's own groups before [sst].",
        try_=("Keep one of the settings, then check again.",),
    )


def _places(host: HostFacts, option: str) -> list[str]:
    part, found = host[SstOptions], []
    places = part.standing(option)
    if len(places) > 1:
        lines = " and ".join(f"{p.path} line {p.line}" for p in places)
        found.append(f"{host.host}: {option} is set {len(places)} times in [sst]: {lines}")
    counted = sum((group, name) == ("sst", option) for group, name, _ in part.given)
    if counted > len(places):
        found.append(f"{host.host}: {option} of [sst] is set in a file that is not among its option files")
    where = {(group, name) for group, name, _ in part.given}
    if (GROUPS[0], option) in where and groups_of(option)[0] == GROUPS[0]:
        found.append(f"{host.host}: {option} is also set in a server group, which the scripts read first")
    files = part.section_files
    if places and files and places[-1].path != files[-1]:
        found.append(f"{host.host}: {option} is set in {places[-1].path}, but {files[-1]} has a later [sst]")
    return found


def alike(facts: Facts, hosts: tuple[str, ...], options: tuple[str, ...]) -> Check:
    """The scripts of all hosts use the same of these options now: a mixture is mended by a person first."""
    everyone = known(facts, hosts)
    blind = [unread(h, "the [sst] section", "sst-options", "ssh") for h in everyone if not h[SstOptions].known]
    seen = [h for h in everyone if h[SstOptions].known]
    differ, same = [], []
    for option in options:
        values = {h.host: h[SstOptions].value(option) for h in seen}
        shown = ", ".join(f"{name} {_shown(option, value)}" for name, value in values.items())
        if len(set(values.values())) > 1:
            differ.append(f"{option}: {shown}")
        elif values:
            same.append(f"{option} {_shown(option, next(iter(values.values())))}")
    return checked(
        "SST-ALIKE",
        "The nodes have the same transfer settings",
        block=differ,
        must_read=blind,
        good=f"on {listed(hosts)}: {', '.join(same)}",
        why="Different settings mean that transfers between the nodes already fail or hang, and that an earlier change "
        "was not completed: only you can know which settings are correct.",
        try_=("Make the [sst] sections equal, then check again.",),
    )


def joins_free(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """Nobody holds the starts of a node off: what this run let go would be another one's hold."""
    everyone = known(facts, hosts)
    held = [f"{h.host}: {HOLD} exists for its unit" for h in everyone if HOLD in (h[DropIns].files or ())]
    blind = [unread(h, "whether starts are blocked", "drop-ins", "ssh") for h in everyone if h[DropIns].files is None]
    return checked(
        "JOINS-HELD",
        "No other run blocks joins",
        block=held,
        must_read=blind,
        good=f"none on {listed(hosts)}",
        why="Another run is changing the transfer settings, or was left unfinished: this run would remove its block.",
        try_=("Resume or undo that run first.",),
        absolute=bool(held),
    )


def _shown(option: str, value: str | None) -> str:
    return "not set" if value is None else "set" if is_secret(option) else f"= {value}"


def no_transfer(facts: Facts, hosts: tuple[str, ...]) -> Check:
    """No script or stream of a transfer runs on any host."""
    everyone = known(facts, hosts)
    busy = [
        f"{h.host}: pid {pid} for {seconds:.0f} s: {line}"
        for h in everyone
        for pid, seconds, line in h[Processes].sst_orphans
    ]
    blind = [line for h in everyone for line in unseen_processes(h)]
    return checked(
        "NO-SST",
        "No state transfer is running",
        block=busy,
        must_read=blind,
        good=f"none on {listed(hosts)}",
        why="A transfer reads its settings when it starts: one side would use the old settings, the other the new "
        "ones.",
        try_=("Wait until it has ended, or end the processes of an earlier transfer, then check again.",),
    )
