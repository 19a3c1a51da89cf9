"""The checks that only snapshot-node has: may the donor stand still, what is in its snapshot, does the joiner fit."""

from __future__ import annotations

import math
import posixpath
from dataclasses import replace

from services.facts.binlog.files import index_of
from services.facts.galera.ist import lasts_s
from services.facts.galera.state_files import KEPT_INSIDE
from services.procedures.catalogue.checks.parts import checked, server_of, unread, verdict
from services.procedures.catalogue.galera.shared import desync
from services.procedures.catalogue.galera.shared.joiner_config import COPIED
from services.procedures.catalogue.galera.shared.order import writer_of
from services.procedures.catalogue.galera.snapshot_node.donor_part import dirty_share
from services.procedures.catalogue.galera.snapshot_node.newcomer_part import is_new
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.haproxy_places import open_places
from services.procedures.catalogue.steps.restored.restoring import folder_of, is_mount
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.traffic_files import tls_files
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.variables import Variables
from services.types import Flavour

PLACES = (
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
    "aria_log_dir_path",
    "log_bin_basename",
    "log_bin_index",
    "relay_log_basename",
)
"""Variables of a running server that name a folder or the beginning of files that belong to its data."""
GIVEN = (
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
    "aria_log_dir_path",
    "log_bin",
    "log_bin_index",
    "relay_log",
)
"""The options that give them."""
ALIKE = (
    ("innodb_page_size", "16384"),
    ("lower_case_table_names", "0"),
    ("innodb_data_file_path", "ibdata1:12M:autoextend"),
    ("file_key_management_filename", ""),
    ("plugin_load_add", ""),
)
"""Options by which a server reads a data folder, with MariaDB's defaults (MariaDB KB, "InnoDB System Variables")."""
CERTIFICATES = ("ssl_ca", "ssl_cert", "ssl_key", "ssl_crl")
FREE_TIMES, REACH_TIMES = 1.1, 2.0


# -- the donor ---------------------------------------------------------------------------------------------------------


def others_stay(facts: Facts, donor: str) -> Check:
    """Two full members beside the donor; without any nobody serves at all while it stands still: no override."""
    check = desync.others_stay(facts, donor)
    none = not [name for name in member_hosts(facts) if name != donor]
    return replace(check, absolute=none)


def not_the_writer(facts: Facts, donor: str) -> Check:
    """Under the read lock every write on the donor waits, and every client behind it."""
    sessions = facts.host(donor)[Sessions].clients
    writes = writer_of(facts) == donor and bool(sessions)
    blind = [unread(facts.host(donor), "the process list", "processes", "sql")] if sessions is None else []
    return checked(
        "DONOR-WRITER",
        f"{donor} is not the writer",
        block=writes,
        warn=blind,
        evidence="; ".join(blind)
        or f"{sessions} client sessions on {donor}" + (": more than on any other member" if writes else ""),
        why="While the read lock is held, writes wait, and so does the application.",
        try_=("Choose another donor, or switch the application to another writer first.",) if writes else (),
        host=donor,
    )


def out_of_the_pool(facts: Facts, donor: str, *, drained: bool) -> Check:
    """A balancer that sends clients to a node that stands still lets them wait."""
    check = desync.clients(facts, donor, drained=drained)
    pooled = not drained and bool(open_places(facts, donor))
    return replace(check, verdict=Verdict.BLOCK) if pooled else check


def long_statements(facts: Facts, donor: str) -> Check:
    """The lock waits for what runs, and everybody behind it waits too: nothing begins beside a long one."""
    check = desync.long_statements(facts, donor)
    longest = facts.host(donor)[Sessions].longest_transaction_s
    return check if longest is None or longest < desync.LONGEST_S else replace(check, verdict=Verdict.BLOCK)


def root_logs_in(facts: Facts, donor: str) -> Check:
    """The lock is a session of root of the donor, so that it ends with the donor's own script and no console."""
    login, server = facts.host(donor)[RootLogin], server_of(facts.host(donor))
    other = server is not None and server.flavour is not Flavour.MARIADB
    blocks = [f"{donor} is not a MariaDB server: its lock and its files were not tested"] if other else []
    blocks += [f"root of {donor} cannot log in: {login.said or 'refused'}"] if login.works is False else []
    blind = [unread(facts.host(donor), "whether root can log in", "root-login", "root")] if login.works is None else []
    return Check(
        code="ROOT-LOGIN",
        title=f"Root of {donor} can log in to its MariaDB server",
        verdict=verdict([*blocks, *blind]),
        evidence="; ".join([*blocks, *blind]) or f"root of {donor} logs in over the socket",
        why="A script on the donor holds the read lock: the lock ends there even if this console fails.",
        try_=(f"Let root@localhost of {donor} log in by unix_socket.",) if blocks or blind else (),
        host=donor,
        absolute=other or login.works is False,
    )


# -- what is in the snapshot, and where it goes ------------------------------------------------------------------------


def one_volume(facts: Facts, donor: str, joiner: str) -> Check:
    """The data folder contains all of the data, on both hosts; the cache too, or what it has is not known.

    A cache of the joiner elsewhere would come up beside data that are not its own. What an earlier run kept inside the
    donor's folder would be written into the folder of the same name that holds the joiner's old data.
    """
    source, target = facts.host(donor), facts.host(joiner)
    blocks = [f"{name} of {donor} is {value}" for name, value in _outside_running(source)]
    blocks += [f"{name} of {joiner} is {value}" for name, value in _outside_given(target)]
    cache = target[Gcache].folder
    if cache and not _inside(cache, folder_of(target)):
        blocks.append(f"gcache.dir of {joiner} is {cache}")
    if source[Variables].value("rocksdb_datadir"):
        blocks.append(f"{donor} has the engine RocksDB, whose files change under a read lock")
    if any(problem.code == KEPT_INSIDE for problem in source.problems):
        blocks.append(f"older data are kept inside {folder_of(source)} of {donor} and would be copied as well")
    blind = [unread(source, "the variables", "variables", "sql")] if not source[Variables].values else []
    blind += [unread(target, "the option files", "options", "ssh")] if not target[Options].known else []
    return checked(
        "ONE-VOLUME",
        "The data folder contains all of the data",
        block=blocks,
        must_read=blind,
        good=f"{folder_of(source)} of {donor}, {folder_of(target)} of {joiner}",
        why="Files elsewhere are not in the snapshot: data, redo log and binary log would not match.",
        try_=("Move it to the data folder, or bring the node back by SST with add-node.",),
        absolute=bool(blocks),
    )


def stays_its_own(facts: Facts, donor: str, joiner: str) -> Check:
    """The joiner's certificates lie outside its data folder, and its binary log goes on where the donor's ends.

    The folder is kept aside: a certificate in it would be gone, or the donor's. A log of another name begins anew, and
    so does the count of its GTIDs, as if it had no past.
    """
    source, target = facts.host(donor), facts.host(joiner)
    fresh, folder = is_new(facts, joiner), folder_of(target)
    named = [*tls_files(source if fresh else target), *_given(target, CERTIFICATES)]
    blocks = [f"{option} of {joiner} is {path}" for option, path in named if path and _inside(path, folder)]
    theirs = posixpath.basename(source[Variables].value("log_bin_basename") or "")
    given = (source if fresh else target)[Options].option("mysqld", "log_bin")
    mine = posixpath.splitext(posixpath.basename(index_of(given or "")))[0]
    blocks += (
        [f"the binary log of {joiner} is {mine}, but that of {donor} is {theirs}"]
        if mine and theirs not in {mine, ""}
        else []
    )
    bare = given is not None and not mine and bool(theirs) and given.lower() not in {"off", "0"}
    blind = [f"log_bin of {joiner} has no name and follows the host name; that of {donor} is {theirs}"] if bare else []
    return Check(
        code="OWN-FILES",
        title=f"{joiner}'s own files survive the replacement of its data folder",
        verdict=verdict(blocks, blind),
        not_known=bool(blind) and not blocks,
        evidence="; ".join([*blocks, *blind])
        or f"its certificates are outside of {folder}, its log is {mine or 'off'}",
        why="A certificate in the data folder would be lost or replaced by the donor's. With another name the binary "
        "log's GTIDs restart: a replica that reads from it cannot continue.",
        try_=(f"Move the certificates of {joiner} elsewhere; set its log_bin to the name that {donor} uses.",)
        if blocks or blind
        else (),
        host=joiner,
    )


def _given(host: HostFacts, names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, host[Options].option("mysqld", name) or "") for name in names]


def _outside_running(host: HostFacts) -> list[tuple[str, str]]:
    found = [(name, host[Variables].value(name) or "") for name in PLACES]
    return [(name, value) for name, value in found if not _inside(value, folder_of(host))]


def _outside_given(host: HostFacts) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in _given(host, GIVEN)
        if value.startswith("/") and not _inside(value, folder_of(host))
    ]


def _inside(path: str, folder: str) -> bool:
    """Return whether a path lies in a folder; one that is empty or relative counts from the data folder."""
    whole = posixpath.normpath(posixpath.join(folder, path))
    return whole == folder or whole.startswith(f"{folder}/")


def same_server(facts: Facts, donor: str, joiner: str) -> Check:
    """The joiner's server is the donor's, to its last number, and reads a data folder alike."""
    source, target = facts.host(donor), facts.host(joiner)
    mine, theirs = target[Program].version, source[Program].version
    differ = (
        [f"{joiner} has {_dotted(mine)}, but {donor} {_dotted(theirs)}"] if mine and theirs and mine != theirs else []
    )
    blind = [unread(h, "the server's version", "program", "ssh") for h in (source, target) if not h[Program].version]
    for name, default in ALIKE:
        given = source[Options].option("mysqld", name)
        have = given if is_new(facts, joiner) and name in COPIED else target[Options].option("mysqld", name)
        wanted = source[Variables].value(name) or given or default
        if (have if have is not None else default) != wanted:
            differ.append(f"{name} is {have or default or 'not set'} on {joiner}, but {wanted or 'not set'} on {donor}")
    return checked(
        "SAME-SERVER",
        f"{joiner} can use the data folder of {donor}",
        block=differ,
        must_read=blind,
        good=f"both have {_dotted(mine)} and the same layout",
        why="Files are used unchanged: another version would upgrade or reject them, another layout would misread "
        "them.",
        try_=(f"Give {joiner} the version and layout of {donor} first.",),
        host=joiner,
        absolute=bool(differ),
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version)) or "an unknown version"


def mount_detached(facts: Facts, joiner: str, *, detach: bool) -> Check:
    """A volume that is attached over the data folder needs the operator's own command to be detached, or undo stops."""
    host = facts.host(joiner)
    said = [] if detach else ["no command detaches a volume that the command on the joiner may mount"]
    said.append(
        "the run does not write /etc/fstab: a volume that your command mounts is not mounted after a reboot unless "
        "you configure it"
    )
    where = "a separate file system" if is_mount(host) else "a plain folder"
    return Check(
        code="DETACH",
        title="An attached volume can be detached again",
        verdict=Verdict.PASS,
        evidence="; ".join([f"{folder_of(host)} of {joiner} is {where}", *said]),
        why="Undo removes the copy and restores the old data: a volume mounted there prevents this.",
        host=joiner,
    )


def comes_to_rest(facts: Facts, donor: str, *, copies: bool) -> Check:
    """A copy of files begins when InnoDB has written all; what it may be told for that must be known, and put back."""
    share = dirty_share(facts, donor)
    lowered = f"innodb_max_dirty_pages_pct of {donor} is {share}: the run sets it to 0 until it has the lock"
    alone = f"innodb_max_dirty_pages_pct of {donor} was not read or is not an integer: it is not changed"
    return Check(
        code="INNODB-RESTS",
        title=f"InnoDB of {donor} can become idle for a copy",
        verdict=verdict((), copies and share is None),
        not_known=copies and share is None,
        evidence=(lowered if share is not None else alone) if copies else "the snapshot of a volume is one moment",
        why="A copy of files does not begin while pages wait to be written, and is cancelled after two minutes.",
        host=donor,
    )


# -- room and time -----------------------------------------------------------------------------------------------------


def room(facts: Facts, donor: str, joiner: str, *, copies: bool) -> Check:
    """A copy must fit beside the old data, which stay; one that is made on the donor must fit there too."""
    host, source = facts.host(joiner), facts.host(donor)
    free, size = host[DataFolder].disk.free, source[DataSize].in_bytes
    blind = [unread(host, "the free disk", "disk", "ssh")] if free is None else []
    blind += [unread(source, "the size of the data", "datadir", "ssh")] if size is None else []
    short = not blind and (free or 0) < FREE_TIMES * (size or 0)
    left = source[DataFolder].disk.free
    full = copies and None not in (left, size) and (left or 0) < FREE_TIMES * (size or 0)
    warns = (
        [f"{donor} has {(left or 0) / 1e9:.2f} GB free: a copy on the disk of its data would fill it"] if full else []
    )
    return Check(
        code="DISK-FREE",
        title=f"{joiner} has space for a copy and its old data",
        verdict=verdict(short, [*blind, *warns]),
        not_known=bool(blind),
        evidence="; ".join(
            [*(blind or [f"{(free or 0) / 1e9:.2f} GB free, {(size or 0) / 1e9:.2f} GB on {donor}"]), *warns]
        ),
        why="With a full disk the copy fails near its end. An attached volume needs no space there. "
        f"A full disk on {donor} stops its server.",
        try_=(f"Free disk space on {joiner}, or override this check if a volume is attached.",) if short else (),
        host=joiner,
    )


def reach(facts: Facts, donors: tuple[str, ...], seconds: float) -> Check:
    """What is written between the lock and the start must still be cached by two members, with room to spare."""
    wanted = REACH_TIMES * seconds
    lasts = {name: _lasts(facts.host(name)) for name in donors}
    known = {name: one for name, one in lasts.items() if one is not None}
    long_enough = [name for name, one in known.items() if one >= wanted]
    blind = [unread(facts.host(name), "how long its cache lasts", "write-rate", "sql") for name in lasts.keys() - known]
    short = len(long_enough) < min(2, len(donors)) and not blind
    words = {name: "indefinitely" if math.isinf(one) else f"{one:.0f} s" for name, one in known.items()}
    shown = ", ".join(f"{name} {told}" for name, told in words.items())
    return checked(
        "IST-REACH",
        "The members' caches last until the node is back",
        block=short,
        unread=blind,
        evidence="; ".join([f"at the current rate: {shown or 'not known'}; required {wanted:.0f} s", *blind]),
        why="A cache that no longer has the write sets after the snapshot cannot send IST: the snapshot would be "
        "useless. It is read again right before the start.",
        try_=("Choose a quieter time, increase gcache.size, or freeze a cache first.",),
    )


def _lasts(host: HostFacts) -> float | None:
    """Return for how many seconds a ring keeps what is written now; None where that is not known."""
    galera = host.node.galera if host.node is not None else None
    rates, size = host[WriteRate].rates, galera.gcache_size if galera is not None else None
    return lasts_s(size, None if rates is None else rates.bytes_s)
