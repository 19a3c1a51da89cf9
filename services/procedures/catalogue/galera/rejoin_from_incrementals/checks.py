"""The checks of the joiner of rejoin-from-incrementals, of room and reach, and whether an SST is the better choice."""

from __future__ import annotations

import math

from services.facts.galera.whole import SYNCED
from services.procedures.catalogue.checks.one_folder import one_folder
from services.procedures.catalogue.checks.parts import checked, galera_of, unread, verdict
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.catalogue.galera.rejoin_from_incrementals.forecast import (
    Need,
    needs,
    reaches,
    sst_seconds,
    times,
)
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables

ENOUGH = 2.0
_MUST_AGREE = ("lower_case_table_names", "innodb_page_size", "innodb_data_file_path")


# -- the joiner --------------------------------------------------------------------------------------------------------


def joiner_ready(facts: Facts, joiner: str) -> tuple[Check, ...]:
    """It is a node of this cluster by its own files, no server runs on it, and all its data lie in one folder."""
    host = facts.host(joiner)
    own = bool(host[Options].option("mysqld", "wsrep_cluster_address"))
    busy = [f"a server runs on {joiner}"] if host.server_up else []
    busy += [unread(host, "whether a server runs", "ssh", "sql")] if host.server_up is None else []
    return (
        checked(
            "JOINER-CONFIGURED",
            f"{joiner} is configured as a node",
            block=[] if own else [f"the option files of {joiner} do not configure it as a cluster node"],
            good=f"its option files contain {host[Options].option('mysqld', 'wsrep_cluster_address')}",
            why="This procedure restores data, not a configuration.",
            try_=("Add it with add-node, which writes its configuration.",),
            host=joiner,
            absolute=True,
        ),
        checked(
            "JOINER-STOPPED",
            f"No server runs on {joiner}",
            block=busy,
            good=f"no server runs; its unit is {host[Unit].active_state or 'not known'}",
            why="You must decide whether its data or clients are needed before the run moves its data.",
            try_=(f"Stop it once you know what it serves: systemctl stop {host[Unit].name or 'mariadb'}.",),
            host=joiner,
            absolute=True,
        ),
        one_folder(host),
        _settings(facts, host),
    )


def _settings(facts: Facts, host: HostFacts) -> Check:
    """What decides how data files and names are read is the same on the joiner and on every member."""
    differ, blind = list[str](), list[str]()
    for name in member_hosts(facts):
        member = facts.host(name)
        if not member[Variables].values:
            blind.append(unread(member, "the variables", "variables", "sql"))
        for setting in _MUST_AGREE:
            own, theirs = host[Options].option("mysqld", setting), member[Variables].value(setting)
            if own is not None and theirs is not None and own.strip().lower() != theirs.strip().lower():
                differ.append(f"{setting} is {own} in the files of {host.host}, but {theirs} on {name}")
            elif (
                own is None and theirs is not None and (given := member[Options].option("mysqld", setting)) is not None
            ):
                differ.append(f"{setting} is {given} in the files of {name}, but not set on {host.host}")
    return checked(
        "SETTINGS",
        f"{host.host} has the members' data file settings",
        block=differ,
        warn=blind,
        good=f"{', '.join(_MUST_AGREE)} agree",
        why="The backup comes from a server with the members' settings.",
        try_=(f"Set these options of {host.host} to the members' values.",) if differ else (),
        host=host.host,
        absolute=True,
    )


# -- room, reach, SST --------------------------------------------------------------------------------------------------


def room(facts: Facts, joiner: str, chain: Chain, scratch: str) -> Check:
    """Each volume has what is put on it, the old data staying where they are."""
    every = needs(facts, joiner, chain, scratch)
    unsized = [one.path for one in chain.backups if one.size is None]
    blind = [f"the size of {', '.join(unsized)} is not known"] if unsized else []
    blind += [f"the free space on {need.mount} is not known" for need in every if need.free is None]
    short = [need.mount for need in every if need.free is not None and need.free < need.needed]
    return checked(
        "DISK-ROOM",
        f"Each volume of {joiner} has enough space",
        block=[*blind, *short],
        evidence="; ".join([*blind, *(_volume(need) for need in every)]),
        why="On a full disk the copy fails near its end. The old data are kept until you remove them.",
        try_=("Free disk space, or choose a folder on another volume for the copies.",),
        host=joiner,
        absolute=bool(short),
    )


def _volume(need: Need) -> str:
    free = "not known" if need.free is None else f"{need.free / 1e9:.2f} GB"
    short = need.free is not None and need.free < need.needed
    lacks = f", {(need.needed - (need.free or 0)) / 1e9:.2f} GB missing" if short else ""
    return f"{need.mount}: {free} free, {need.needed / 1e9:.2f} GB needed ({' and '.join(need.what)}){lacks}"


def ist_reach(facts: Facts, joiner: str, chain: Chain) -> Check:
    """Somebody still caches what follows the last backup, and will until the node is started."""
    seqno = chain.last.seqno if chain.last is not None else None
    seen = reaches(facts, joiner, seqno)
    able = [one for one in seen if not one.against]
    wanted = times(facts, joiner, chain).until_start
    left = max((one.left_s for one in able if one.left_s is not None), default=None)
    blind = any(one.left_s is None for one in able) and (left is None or left < wanted)
    late = left is not None and left < wanted and not blind
    close = left is None or left < ENOUGH * wanted
    known = "" if left is None or math.isinf(left) else f"; about {wanted:.0f} s are needed until the start"
    caches = "; ".join(one.words for one in seen) or "no member answers"
    return Check(
        code="IST-REACH",
        title="A member caches the write sets after the last backup",
        verdict=verdict(not able or late, close),
        evidence=f"the chain ends at seqno {seqno}: {caches}{known}"
        if seqno is not None
        else "the last seqno of the backups is not known",
        why="Otherwise Galera would replace the restored data by SST; the cache is read again right before the start.",
        try_=(
            "Take another incremental now, on a node that is desynced for it, and add it to the end of the list.",
            "If the provider supports it, freeze the donor's gcache first (freeze-gcache).",
            "Or bring the node back by SST with add-node.",
        )
        if not able or late or close
        else (),
        not_known=blind,
        absolute=not able,
        to_read=True,
    )


def donor_synced(facts: Facts, donor: str) -> Check:
    """The donor that is named is a Synced member."""
    galera = galera_of(facts.host(donor)) if donor else None
    wrong = galera is None or galera.local_state != SYNCED or galera.cluster_status != "Primary"
    state = galera.local_state_comment if galera is not None else "no answer"
    return checked(
        "DONOR-SYNCED",
        "The donor is Synced",
        block=wrong,
        evidence=f"{donor or 'no donor'}: {state or 'of unknown state'}",
        why="Only a Synced member can send IST.",
        try_=("Wait until a member is Synced.",),
        host=donor,
        absolute=True,
    )


def sst_instead(facts: Facts, joiner: str, donor: str, chain: Chain) -> Check:
    """Say whether an SST would be the better choice, from what numbers."""
    ours, theirs = times(facts, joiner, chain), sst_seconds(facts, donor)
    whole_s = ours.until_start + ours.ist
    size = chain.size
    comparison = (
        f"restoring {(size or 0) / 1e9:.2f} GB takes about {whole_s:.0f} s, and {donor or 'a donor'} sends only the "
    )
    comparison += "missed write sets; "
    comparison += (
        "the duration of an SST is not known" if theirs is None else f"an SST from {donor} about {theirs:.0f} s"
    )
    unreachable = not any(not one.against for one in reaches(facts, joiner, chain.last.seqno if chain.last else None))
    better = unreachable or (theirs is not None and theirs * ENOUGH < whole_s)
    why_sst = "an SST is the better choice: " if better else ""
    return checked(
        "SST-INSTEAD",
        "Restoring is better than an SST",
        warn=better,
        evidence=f"{why_sst}{comparison}",
        why="An SST copies everything and takes its donor out of flow control; a restore spares the donor.",
        try_=("Bring the node back with add-node.",),
        to_read=True,
    )
