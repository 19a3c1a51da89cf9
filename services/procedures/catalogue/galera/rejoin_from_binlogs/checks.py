"""The checks that only rejoin-from-binlogs has, before anything is looked at on the joiner."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.procedures.catalogue.checks.parts import checked, known, server_of, unread, unread_state
from services.procedures.catalogue.galera.rejoin_from_binlogs.forecast import reaches
from services.procedures.catalogue.galera.shared.cache_arithmetic import OPTION
from services.procedures.catalogue.steps import comparing
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.machine.tools import Tools
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.program import Program
from services.procedures.plan.parts.server.root_login import RootLogin
from services.procedures.plan.parts.server.socket_login import SocketLogin
from services.procedures.plan.parts.server.variables import Variables
from services.types import Flavour

LEAST = (10, 4)
"""MariaDB from here on has Galera 4, which takes a position from InnoDB and not from grastate.dat."""
_ON = frozenset({"", "1", "on", "true", "yes"})
_LET_IN = (
    "Also let root@localhost log in by unix_socket (ALTER USER on a member), and take a new backup: a backup has the "
    "accounts of the time when it was taken."
)
_SST = "Bring the node back by SST with add-node."


def way(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """The way by InnoDB's own position is MariaDB's from 10.4 on: elsewhere it is not possible, or never tried."""
    host = facts.host(joiner)
    pxc = [h.host for h in known(facts, members) if (s := server_of(h)) is not None and s.flavour is Flavour.PXC]
    wrong, eight = "", False
    if pxc or (host[Program].text and "MariaDB" not in host[Program].text):
        version = next((s.version_key for name in pxc if (s := server_of(facts.host(name))) is not None), ())
        eight = (version or host[Program].version or (8,))[0] >= 8
        wrong = (
            "Percona XtraDB Cluster 8 has no supported way to set the storage engine's position"
            if eight
            else "Galera 3 (PXC 5.7) reads the position from grastate.dat, which was not tested"
        )
    elif host[Program].version and host[Program].version[:2] < LEAST:
        wrong = "Galera 3 (MariaDB before 10.4) reads the position from grastate.dat, which was not tested"
    blind = not wrong and not host[Program].version
    return checked(
        "PXC-POSITION" if eight else "GALERA-THREE" if wrong else "WAY",
        f"The position of {joiner} can be set where its server reads it",
        block=bool(wrong),
        must_read=blind,
        evidence=wrong or (unread(host, "the server program", "program") if blind else host[Program].text),
        why="With a wrong position an IST fails, or rows are applied twice or not at all.",
        try_=(_SST,),
        host=joiner,
        absolute=True,
    )


def stopped(facts: Facts, joiner: str) -> Check:
    """The joiner's server does not run: the run takes its data folder away."""
    host = facts.host(joiner)
    runs = host.server_up is not False
    return checked(
        "STOPPED",
        f"The server of {joiner} is stopped",
        block=runs,
        evidence=f"{joiner}: {'a server runs, or it is not known' if runs else 'no server runs'}",
        why="Its data folder is kept and replaced; do not rebuild a node that serves clients.",
        try_=(f"Stop it yourself first if you want to rebuild {joiner}.",),
        host=joiner,
        absolute=True,
    )


def own_reach(facts: Facts, joiner: str) -> Check:
    """The joiner's own data are not near enough for an IST: then nothing has to be restored."""
    state = facts.host(joiner)[DataFolder].grastate
    seqno = state.seqno if state is not None and state.uuid == facts.cluster_id else None
    able = [r for r in reaches(facts, joiner, seqno) if r.able] if seqno is not None and seqno >= 0 else []
    cached = able[0].told if able else "no member caches from that position"
    blind = unread_state(facts.host(joiner))
    return checked(
        "OWN-REACH",
        f"The data of {joiner} need more than an IST",
        block=bool(able),
        unread=blind,
        evidence="; ".join(blind)
        or f"grastate.dat of {joiner} contains {seqno if seqno is not None else 'no position'}; {cached}",
        why="A plain start brings such a node back in seconds, without a restore.",
        try_=(f"Start {joiner} with add-node: it joins by IST.",),
        host=joiner,
    )


def own_log(facts: Facts, joiner: str) -> Check:
    """The joiner's binary log lies in its data folder: it is kept aside with it, and a new one begins."""
    host = facts.host(joiner)
    named = {key: host[Options].option("mysqld", key) or "" for key in ("log_bin", "log_bin_index")}
    outside = [f"{k} = {v}" for k, v in named.items() if v and not _inside(v, host)]
    return checked(
        "OWN-LOG",
        f"The binary log of {joiner} is in its data folder",
        block=outside,
        good="in the data folder, or there is none",
        why="A new binary log must begin with the GTIDs of the replay; an old one elsewhere would be continued.",
        try_=(_SST,),
        host=joiner,
        absolute=True,
    )


def _inside(path: str, host: HostFacts) -> bool:
    """Return whether a log lies right in the data folder: a name that is no whole path is taken from there."""
    return posixpath.dirname(posixpath.normpath(posixpath.join(folder_of(host), path))) == folder_of(host)


def gtid_mode(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """wsrep_gtid_mode is off everywhere: with it the position holds a GTID too, which this way does not set."""
    modes = {joiner: facts.host(joiner)[Options].option("mysqld", "wsrep_gtid_mode") or "off"}
    modes |= {h.host: h[Variables].value("wsrep_gtid_mode") or "not known" for h in known(facts, members)}
    modes = {name: said.strip().lower() for name, said in modes.items()}
    on, blind = [n for n, said in modes.items() if said in _ON], [n for n, said in modes.items() if said == "not known"]
    return checked(
        "GTID-MODE",
        "wsrep_gtid_mode is off",
        block=on,
        warn=blind,
        evidence="; ".join(f"{name}: wsrep_gtid_mode = {said}" for name, said in modes.items()),
        why="With it the stored position also contains a GTID; setting that was not tested.",
        try_=(_SST,) if on else (),
        host=joiner,
        absolute=True,
    )


def streaming(facts: Facts, joiner: str, members: tuple[str, ...]) -> Check:
    """Nobody sends transactions in parts: those open at the target are in no binary log yet, and come by halves."""
    name = "wsrep_trx_fragment_size"
    said = {joiner: facts.host(joiner)[Options].option("mysqld", name) or "0"}
    said |= {h.host: h[Variables].value(name) or "not known" for h in known(facts, members)}
    on = [host for host, size in said.items() if size not in {"0", "not known"}]
    blind = [host for host, size in said.items() if size == "not known"]
    return checked(
        "STREAMING",
        "Streaming replication is off",
        block=on,
        unread=blind,
        evidence="; ".join(f"{host}: {name} = {size}" for host, size in said.items()),
        why="A fragment before the target would be missing. A session can enable it for itself: then only a "
        "gap (HOLES) or the node's own log reveals it.",
        try_=(_SST,),
        host=joiner,
    )


def tools(facts: Facts, joiner: str) -> Check:
    """mariadb-backup is on the joiner; the clients are asked by the run itself."""
    there = set(facts.host(joiner)[Tools].there)
    lacks = not there & {"mariadb-backup", "mariabackup"}
    return checked(
        "BACKUP-TOOL",
        f"mariadb-backup is on {joiner}",
        block=lacks,
        evidence=f"{joiner}: {'neither mariadb-backup nor mariabackup was found' if lacks else 'found'}",
        why="It prepares the copy and moves it to the data folder.",
        try_=("Install the package mariadb-backup of the server's version.",),
        host=joiner,
        absolute=True,
    )


def private_login(facts: Facts, members: tuple[str, ...]) -> Check:
    """The private server lets the run's programs in: by the accounts of the members, which the backup has as well."""
    tried = {h.host: h[SocketLogin] for h in known(facts, members)}
    able = [f"{name}: {one.who}" for name, one in tried.items() if one.works is True]
    refused = [f"{name} refuses {one.who.replace(' ', ' and ')}" for name, one in tried.items() if one.works is False]
    blind = [] if able or refused else [f"not known: {', '.join(members) or 'no member'} was not queried"]
    return checked(
        "PRIVATE-LOGIN",
        "A local program can log in to the node's server by its account",
        block=refused,
        unread=blind,
        good=f"without a password over the socket: {', '.join(able)}",
        why="The run starts a private server on the restored data and uses no password: if neither root@localhost nor "
        "the server's own account uses unix_socket, the replay cannot start.",
        try_=(
            _LET_IN,
            _SST,
        ),
    )


def compared(facts: Facts, values: Inputs) -> Check:
    """Some rows are compared afterwards: here they were made anew, by a way that no server checks."""
    found = comparing.chosen(facts, values)
    if comparing.tables_of(values) or facts.host(values["donor"])[RootLogin].works is not False:
        return found
    why = "The rows are replayed without Galera: equal GTIDs and positions do not verify them, but a checksum does."
    return replace(found, verdict=Verdict.BLOCK, why=why)


def freeze(facts: Facts, members: tuple[str, ...]) -> Check:
    """Say which donors could be frozen meanwhile, by their own provider's options; this procedure freezes none."""
    can = [name for name in members if facts.host(name)[Provider].option(OPTION) is not None]
    blind = [name for name in members if not facts.host(name)[Provider].options]
    rest = [name for name in members if name not in {*can, *blind}]
    evidence = [f"{', '.join(can)} can freeze its cache"] if can else []
    evidence += [f"the provider of {', '.join(rest)} has no such option"] if rest else []
    evidence += [f"not read: {', '.join(blind)}"] if blind else []
    return checked(
        "FREEZE",
        "No donor's cache can be frozen meanwhile",
        warn=can,
        unread=blind,
        evidence="; ".join(evidence) or "no member answers",
        why=f"Only a provider with {OPTION} can be frozen; without it the run reports the race during the replay.",
        try_=tuple(f"Freeze {name} first with freeze-gcache." for name in can[:1]),
    )
