"""The checks of the backups of rejoin-from-incrementals: that each is whole and unused, and that they go together."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from services.facts.backup.backups import Backup
from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.galera.rejoin_from_incrementals import chain as chains
from services.procedures.catalogue.galera.rejoin_from_incrementals.chain import Chain
from services.procedures.catalogue.galera.rejoin_from_incrementals.one_node import one_nodes_data
from services.procedures.catalogue.steps.restored.restoring import is_mariadb
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.program import Program

TOOL = "mariadb-backup"


# -- the backups -------------------------------------------------------------------------------------------------------


def found(facts: Facts, joiner: str, chain: Chain) -> Check:
    """The backups are on the joiner's own disks; those of other hosts are told, and not brought over."""
    host = facts.host(joiner)
    blind = [unread(host, "which backups exist", "backups", "root", "ssh")] if host[Backups].found is None else []
    if not host[Backups].whole and chain.lacking and not blind:
        blind = [unread(host, "every folder that may contain a backup", "backups", "root", "ssh")]
    lacking = [] if blind else [f"no backup was found in {path} on {joiner}" for path in chain.lacking]
    lacking += [] if chain.backups or lacking or blind else [f"no backup was found on the disks of {joiner}"]
    elsewhere = [f"{h.host} has {len(h[Backups].found or ())}" for h in facts.hosts if h.host != joiner
                 and h[Backups].found]  # fmt: skip
    seen = ", ".join(f"{one.path} ({one.ended or 'time not known'}, at {one.position or 'no position'}{_writers(one)})"
                     for one in chain.backups)  # fmt: skip
    hint = f"; {', '.join(elsewhere)}" if elsewhere and (lacking or blind) else ""
    return checked(
        "BACKUP-FOUND",
        f"The backups are on {joiner}",
        block=[*lacking, *blind],
        evidence=("; ".join([*lacking, *blind]) + hint) if lacking or blind else seen,
        why="They are prepared and copied on the node itself; the console copies no backups between hosts.",
        try_=(
            f"Copy the folders to a disk of {joiner} (six folders deep at most), or mount them there.",
            "If they are there, rename them: only paths of letters, digits, blanks and _.@:+=- are read.",
        ),
        host=joiner,
        absolute=True,
        to_read=True,
    )


def _writers(one: Backup) -> str:
    """Return who else may have written it, in words: nobody else's is proposed, and what a person named is told."""
    if one.is_guarded:
        return ""
    if not one.writers:
        return ", who can write there is not known"
    return f", accounts other than root can write to {one.writers}"


def _each(chain: Chain, wrong: Callable[[Backup], str]) -> list[str]:
    """Return what is wrong with each of the backups."""
    return [f"{one.path}: {said}" for one in chain.backups if (said := wrong(one))]


def whole(chain: Chain) -> tuple[Check, ...]:
    """Each backup is what it was when it was made: real files, plain, never used, with its position."""
    linked, packed, used = _each(chain, _linked), _each(chain, _packed), _each(chain, _used)
    blind = _each(chain, lambda one: "" if one.position else "no galera_info: it was made without --galera-info")
    odd = _each(chain, lambda one: "its own options could not be read" if one.options is None else one.options)
    calm = f"{len(chain.backups)} folders were checked"
    return (
        checked(
            "BACKUP-LINKED",
            "The backups contain no links",
            block=linked,
            good=calm,
            why="The target of a link belongs to something else and may change during the copy.",
            try_=("Copy the backup with its files to a separate folder.",),
            absolute=True,
        ),
        checked(
            "BACKUP-PACKED",
            "The backups are not compressed or encrypted",
            block=packed,
            good=calm,
            why="A compressed or encrypted backup cannot be prepared, and a partial backup is not a data folder.",
            try_=(
                "Decompress a copy of it (--decompress, --decrypt, with --remove-original), or use a complete backup.",
            ),
            absolute=True,
        ),
        checked(
            "BACKUP-USED",
            "No backup was used in a prepare",
            block=used,
            good=calm,
            why="A prepare removes the changed pages and new tables from an incremental: a second prepare with it ends "
            "'completed OK!', but those tables are missing (tested with mariadb-backup 10.11.18).",
            try_=("Use the original backup again.",),
            absolute=True,
        ),
        checked(
            "BACKUP-OPTIONS",
            "The options in the backups are safe",
            block=odd,
            good=calm,
            why="A prepare runs as root and loads whatever a backup's backup-my.cnf names.",
            try_=("Bring the node back by SST with add-node. Backups of encrypted servers are not supported.",),
            absolute=True,
        ),
        checked(
            "BACKUP-POSITION",
            "Each backup contains its position",
            block=blind,
            good=calm,
            why="Without it the position from which the node continues is not known.",
            try_=("Make backups with --galera-info.",),
            absolute=True,
        ),
    )


def _linked(one: Backup) -> str:
    if one.real and one.real != one.path:
        return f"it is a symbolic link to {one.real}"
    if one.links is None or one.hard is None or not one.real:
        return "whether it has links could not be read"
    links = [f"{one.links} symbolic links, or tables outside of it (.isl)"] if one.links else []
    links += [f"{one.hard} files have a hard link elsewhere"] if one.hard else []
    return ", ".join(links)


def _packed(one: Backup) -> str:
    if one.partial:
        return "it is a partial backup"
    if not one.is_packed:
        return ""
    if one.packed:
        return f"it contains {one.packed} compressed or encrypted files"
    how = "encrypted" if one.encrypted else "compressed"
    return f"it is {how} according to its metadata, and its files were not counted"


def _used(one: Backup) -> str:
    if one.is_prepared:
        return f"it was already prepared ({one.kind})"
    if one.is_incremental and (one.spent or not one.metas):
        return f"the pages of {one.spent} of {one.metas} files are gone: it was used in a prepare" if one.metas else (
            "it contains no changed pages: it was used in a prepare, or is incomplete"
        )  # fmt: skip
    if one.is_incremental and one.spent is None:
        return "whether it was used in a prepare could not be read"
    return "" if one.is_full or one.is_incremental else f"of an unknown kind ({one.kind or 'not stated'})"


# -- the chain ---------------------------------------------------------------------------------------------------------


HOLE = "Prepared out of order or with a gap, the data look complete but are not."


def chain_checks(facts: Facts, joiner: str, chain: Chain) -> tuple[Check, ...]:
    """They belong together, in this order, and to this cluster and server."""
    return (
        _begins_full(chain),
        one_nodes_data(facts, joiner, chain),
        *_in_order(chain),
        _cluster(facts, chain),
        _server(facts.host(joiner), chain),
    )


def _begins_full(chain: Chain) -> Check:
    first = chain.backups[0] if chain.backups else None
    wrong = [f"{first.path} is not a full backup"] if first is not None and first.is_incremental else []
    wrong += [f"{one.path} is not an incremental" for one in chain.backups[1:] if not one.is_incremental]
    wrong += [f"{first.path} begins at LSN {first.from_lsn}"] if first is not None and first.from_lsn else []
    return checked(
        "CHAIN-FULL",
        "The chain begins with a full backup, followed by incrementals",
        block=wrong,
        good=_shown(chain),
        why=HOLE,
        try_=("List the full backup first, then its incrementals.",),
        absolute=True,
    )


def _in_order(chain: Chain) -> tuple[Check, ...]:
    pairs = chains.steps_of(chain)
    order = _told([(a, b) for a, b in pairs if chains.out_of_order(a, b)])
    lost = _told([(a, b) for a, b in pairs if chains.missing(a, b)])
    over = _told([(a, b) for a, b in pairs if chains.overlaps(a, b)])
    return (
        checked(
            "CHAIN-ORDER",
            "The incrementals are in the order in which they were made",
            block=order,
            good=_shown(chain),
            why=HOLE,
            try_=("List them from the oldest to the newest.",),
            absolute=True,
        ),
        checked(
            "CHAIN-MISSING",
            "No incremental is missing",
            block=lost,
            good=_shown(chain),
            why=HOLE,
            try_=("Add the incremental that begins where the previous one ended.",),
            absolute=True,
        ),
        checked(
            "CHAIN-LSN",
            "Each begins where the previous one ended",
            block=over,
            good=_shown(chain),
            why=HOLE,
            try_=("It is based on another backup: use the one that is based on this backup.",),
            absolute=True,
        ),
    )


def _told(pairs: list[tuple[Backup, Backup]]) -> list[str]:
    return [
        f"{b.path} (from LSN {b.from_lsn}, to {b.to_lsn}, last {b.last_lsn}, seqno {b.seqno}, {b.began}) after "
        f"{a.path} (to LSN {a.to_lsn}, last {a.last_lsn}, seqno {a.seqno}, {a.began})"
        for a, b in pairs
    ]


def _shown(chain: Chain) -> str:
    """Return the chain with the LSNs and the position of each: 'full [0-5000/5100] seqno 980 > ...'."""
    links = (f"{posixpath.basename(one.path)} [{one.from_lsn}-{one.to_lsn}/{one.last_lsn}] seqno {one.seqno}"
            for one in chain.backups)  # fmt: skip
    return " > ".join(links) or "no backup was chosen"


def _cluster(facts: Facts, chain: Chain) -> Check:
    other = [f"{one.path} is from {one.state_uuid}" for one in chain.backups
             if one.state_uuid and one.state_uuid != facts.cluster_id]  # fmt: skip
    return checked(
        "BACKUP-CLUSTER",
        "The backups are from this cluster",
        block=other,
        good=f"all are from {facts.cluster_id}",
        why="Another state UUID means another history: no IST can continue from it.",
        try_=("Use backups of this cluster that were taken since its last bootstrap.",),
        absolute=True,
    )


def _server(host: HostFacts, chain: Chain) -> Check:
    """mariadb-backup prepares for the very version of the server that it belongs to (MariaDB KB, "Compatibility")."""
    own = host[Program].version[:3]
    shown = ".".join(map(str, own))
    wrong = [f"{one.path} is from {'.'.join(map(str, one.server)) or 'an unknown version'}, but {host.host} has {shown}"
             for one in chain.backups if one.server != own]  # fmt: skip
    wrong += [f"{one.path} is not a backup of MariaDB" for one in chain.backups if one.server and not one.is_mariadb]
    wrong += [f"{one.path} was taken with tool version {'.'.join(map(str, one.tool))}" for one in chain.backups
              if one.tool != one.server]  # fmt: skip
    wrong += [] if own else [unread(host, "the version of its server program", "program", "ssh")]
    wrong += [] if is_mariadb(host) else [f"{host.host} is not MariaDB: this was not tested there"]
    wrong += [] if TOOL in host[Tools].there else [f"{TOOL} was not found on {host.host}"]
    return checked(
        "BACKUP-SERVER",
        f"The backups fit the server of {host.host}",
        block=wrong,
        good=f"{shown}, and {TOOL}",
        why="A prepare with another version may succeed but leave data that the server cannot read.",
        try_=(f"Install the server and {TOOL} of the version that took the backups.",),
        host=host.host,
        absolute=True,
    )
