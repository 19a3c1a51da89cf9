"""The verbs on a real estate: what a bad night and a hurried colleague do to it. Each is bounded; none need succeed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pymysql

from tests.lab.estate import client, vault
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container
from tests.lab.estate.servers import database
from tests.lab.random_states import setting_traps
from tests.lab.random_states.branches import Tree
from tests.lab.random_states.ledger import Ledger, SqlTalk
from tests.lab.random_states.nights import BACKUP
from tests.lab.random_states.verbs import MEMBERS, TRAPS, Kind, Verb

_STATE = "/var/lib/mysql/grastate.dat"
_COPY = "/var/lib/lab-copy"
_LEFT = "/etc/mysql/mariadb.conf.d/99-left.cnf"
_DAMAGE = {
    "truncated": f"truncate -s 30 {_STATE}",
    "zeros": f"dd if=/dev/zero of={_STATE} bs=1 count=113 2>/dev/null",
    "deleted": f"rm -f {_STATE}",
    "zero-uuid": f"sed -i 's/^uuid:.*/uuid:    00000000-0000-0000-0000-000000000000/' {_STATE}",
    "low-seqno": f"sed -i 's/^seqno:.*/seqno:   3/' {_STATE}",
    "high-seqno": f"sed -i 's/^seqno:.*/seqno:   100000/' {_STATE}",
}
_BY_HAND = {
    Kind.GVWSTATE: "rm -f /var/lib/mysql/gvwstate.dat",
    Kind.SAFE: f"sed -i '/^safe_to_bootstrap: /y/01/10/' {_STATE}",
    Kind.GCACHE: "rm -f /var/lib/mysql/galera.cache",
    Kind.FOUNDS: f"printf '[mysqld]\\nwsrep_new_cluster = 1\\n' > {_LEFT}",
    # As a snapshot of the volume would take it: no write gets between two files.
    Kind.COPY: f"pkill -STOP -x -u mysql mariadbd; rm -rf {_COPY}; cp -a --sparse=always /var/lib/mysql {_COPY}; "
    "pkill -CONT -x -u mysql mariadbd; true",
    Kind.RESTORE: f"find /var/lib/mysql -mindepth 1 -delete; cp -a --sparse=always {_COPY}/. /var/lib/mysql",
}
_BACKUP = (
    f"rm -rf {BACKUP}; timeout 60 mariadb-backup --backup --galera-info --target-dir={BACKUP} > /tmp/lab-backup 2>&1"
)
_JOINS = frozenset({Kind.START, Kind.FILTER})
"""Comes to the others where there are others; alone it begins a branch."""
_SETTLE_S = 9.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What a node says of itself, as the one who watches is told."""

    primary: bool
    synced: bool
    view: tuple[str, str, str]  # state UUID, conf_id, addresses of the component's members


class Hands:
    """Does verbs to one estate, keeping ledger and tree."""

    def __init__(self, estate: Estate, ledger: Ledger, look: Callable[[], None], filtered: str = "") -> None:
        """`filtered`: the host that a filter leaves rows out of the binary log of, '' for none."""
        self._estate = estate
        self._filtered = filtered
        self.chain: tuple[str, ...] = ()
        self._look = look
        self._password = vault.load()["observer"]
        self._copied: tuple[int, frozenset[int]] | None = None
        self._serving: frozenset[str] = frozenset(MEMBERS)
        self.ledger = ledger
        self.tree = Tree.of(MEMBERS)

    def do(self, verb: Verb) -> str:
        """Do one verb; return how it went, in a word or two."""
        try:
            return self._do(verb)
        except LabError as problem:
            return f"in vain ({str(problem).splitlines()[0][:80]})"

    def _do(self, verb: Verb) -> str:
        name = verb.host
        if verb.kind is Kind.WRITE:
            return self._write(name)
        if verb.kind is Kind.LOOK:
            self._look()
        elif verb.kind is Kind.KILL_ALL:
            with ThreadPoolExecutor(len(MEMBERS)) as pool:
                tuple(pool.map(self._kill, MEMBERS))
        elif verb.kind is Kind.UNWRITTEN:
            self._unwrite(name)
        elif verb.kind is Kind.BACKUP:
            self._sh(name, _BACKUP)
        elif verb.kind is Kind.GRASTATE:
            self._sh(name, _DAMAGE[verb.value])
        elif verb.kind in TRAPS:
            return self._trap(verb)
        elif verb.kind in _BY_HAND:
            self._by_hand(verb)
        else:
            return self._on_server(verb)
        return "done"

    def _trap(self, verb: Verb) -> str:
        name, estate = verb.host, self._estate
        if verb.kind is Kind.INCREMENT:
            self.chain += (setting_traps.increment(estate, name, len(self.chain) + 1),)
        elif verb.kind is Kind.HALF:
            setting_traps.halve(estate, name, verb.value)
        elif verb.kind is Kind.KEPT:
            setting_traps.keep(estate, name, verb.value)
        elif verb.kind is Kind.FILTER:
            setting_traps.filtered(estate, name, verb.value)
            return self._came_up(verb)
        elif verb.kind is Kind.LOST:
            setting_traps.lose(estate, name)
            self.tree.put_back(name, self.tree.on[name], frozenset())
        else:
            donors = self.synced()
            if name in donors or len(donors) != len(MEMBERS) - 1 or len(self.sides()) != 1:
                raise LabError("nobody could be its donor")
            setting_traps.never_began(estate, name, donors)
        return "done"

    def _on_server(self, verb: Verb) -> str:
        name, estate = verb.host, self._estate
        acts: dict[Kind, Callable[[], object]] = {
            Kind.KILL: lambda: self._kill(name),
            Kind.STOP: lambda: estate.stop(name, limit_s=10),
            Kind.PART: lambda: estate.partition([name]),
            Kind.HEAL: estate.heal,
            Kind.PAUSE: lambda: estate.pause(name),
            Kind.RESUME: lambda: estate.resume(name),
        }
        if verb.kind in acts:
            acts[verb.kind]()
            return self._settled(lambda seen: name not in seen or not seen[name].primary or verb.kind is Kind.PAUSE)
        if verb.kind is Kind.BOOTSTRAP:
            estate.sql(name, "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'", limit_s=10)
        elif verb.kind is Kind.FOUND:
            edit = f"sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' {_STATE}; systemctl reset-failed mariadb; "
            container.sh(estate.spec, name, edit + "timeout 20 galera_new_cluster", limit_s=30)
        else:
            database.begin_start(estate.spec, name)
        return self._came_up(verb)

    def _came_up(self, verb: Verb) -> str:
        """Wait for Synced; a node that made itself Primary begins a branch, one that came to others takes theirs."""
        name = verb.host
        told = self._settled(lambda seen: name in seen and seen[name].synced)
        seen = self._look_round()
        if name not in seen or not seen[name].primary:
            return "in vain"
        with_it = {other for other in seen if seen[other].view == seen[name].view} - {name}
        if verb.kind not in _JOINS or not with_it:
            self.tree.bootstrapped(name, verb.kind.value)
        self._note(seen, name if verb.kind not in _JOINS else "")
        return told

    def _write(self, name: str) -> str:
        seen = self._look_round()
        self._note(seen, "")
        taken = self.ledger.burst(name, lambda host: SqlTalk(self._estate, host, side=bool(self._filtered)))
        if taken:
            here = self._look_round()
            self._note(here, "")
            side = [other for other in here if name in here and here[other].view == here[name].view] or [name]
            self.tree.wrote(side, taken)
        return f"{len(taken)} rows"

    def _by_hand(self, verb: Verb) -> None:
        if verb.kind is Kind.RESTORE and self._copied is None:
            raise LabError("no copy was made")
        self._sh(verb.host, _BY_HAND[verb.kind])
        if verb.kind is Kind.COPY:
            self._copied = (self.tree.on[verb.host], self.tree.held[verb.host])
        elif verb.kind is Kind.RESTORE and self._copied is not None:
            self.tree.put_back(verb.host, *self._copied)

    def _kill(self, name: str) -> None:
        container.sh(self._estate.spec, name, "pkill -CONT -x -u mysql mariadbd", limit_s=15)
        database.kill(self._estate.spec, name)

    def _sh(self, name: str, command: str) -> None:
        self._estate.host(name).sh(command)

    def _unwrite(self, name: str) -> None:
        """Take a member out of every node's wsrep_cluster_address, its own too: it counts from the next start on."""
        self._addressed(tuple(other for other in MEMBERS if other != name))

    def _addressed(self, names: tuple[str, ...]) -> None:
        others = ",".join(self._estate.spec.address(name) for name in names)
        edit = f"s|^wsrep_cluster_address.*|wsrep_cluster_address = gcomm://{others}|"
        for member in MEMBERS:
            self._sh(member, f"grep -rl ^wsrep_cluster_address /etc/mysql/mariadb.conf.d | xargs -r sed -i '{edit}'")

    def written_down(self) -> str:
        """Write every member into every node's wsrep_cluster_address; return an inventory that has them all."""
        self._addressed(MEMBERS)
        return client.inventory(self._estate.spec, MEMBERS)

    def tidy(self) -> None:
        """Take the option that founds a cluster of its own out of every node's files."""
        for name in MEMBERS:
            self._sh(name, f"rm -f {_LEFT}")

    def keeps_logs(self, name: str) -> None:
        """Copy binary logs for a stopped node: of the server with a filter, else its own, else a member's."""
        own = name if setting_traps.has_logs(self._estate, name) else next(iter(self.synced()), name)
        setting_traps.carry_logs(self._estate, self._filtered or own, name)

    def kept(self) -> Mapping[str, int]:
        """Return by node how many folders with older data, that a verb laid there, it has."""
        return {name: setting_traps.kept_on(self._estate, name) for name in MEMBERS}

    def heal(self) -> None:
        """Let the nodes reach each other again."""
        self._estate.heal()

    def sides(self) -> tuple[tuple[str, ...], ...]:
        """Return the members of each Primary Component that serves now."""
        seen = self._look_round()
        views = sorted({one.view for one in seen.values() if one.synced})
        return tuple(tuple(n for n in MEMBERS if n in seen and seen[n].synced and seen[n].view == v) for v in views)

    def synced(self) -> tuple[str, ...]:
        """Return every node that is Synced in a Primary Component."""
        return tuple(name for side in self.sides() for name in side)

    # -- looking ------------------------------------------------------------------------------------------------------

    def _look_round(self) -> dict[str, Seen]:
        with ThreadPoolExecutor(len(MEMBERS)) as pool:
            found = dict(zip(MEMBERS, pool.map(self._see, MEMBERS), strict=True))
        return {name: seen for name, seen in found.items() if seen is not None}

    def _see(self, name: str) -> Seen | None:
        with contextlib.suppress(OSError, pymysql.err.Error):
            rows = self._status(name)
            view = (rows.get("wsrep_cluster_state_uuid", ""), rows.get("wsrep_cluster_conf_id", ""))
            primary = rows.get("wsrep_cluster_status") == "Primary"
            synced = primary and rows.get("wsrep_local_state_comment") == "Synced"
            peers = ",".join(sorted(rows.get("wsrep_incoming_addresses", "").split(",")))
            return Seen(primary, synced, (*view, peers))
        return None

    def _status(self, name: str) -> dict[str, str]:
        connection = pymysql.connect(
            host=self._estate.addresses[name],
            user="observer",
            password=self._password,
            ssl_disabled=True,  # a handshake of its own for each look would cost more than all the rest
            connect_timeout=2,
            read_timeout=3,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute("SHOW GLOBAL STATUS WHERE Variable_name RLIKE '^wsrep_(cluster|local_state|incoming)'")
            return {str(row[0]): str(row[1]) for row in cursor.fetchall()}

    def _note(self, seen: dict[str, Seen], founder: str) -> None:
        """Tell the tree who is together now, after the node that served before the others came to it."""
        for view in {one.view for one in seen.values() if one.synced}:
            side = [name for name in MEMBERS if name in seen and seen[name].synced and seen[name].view == view]
            before = [name for name in side if name == founder] or [name for name in side if name in self._serving]
            self.tree.together(side, (before or side)[0])
        self._serving = frozenset(name for name, one in seen.items() if one.synced)

    def _settled(self, enough: Callable[[dict[str, Seen]], bool]) -> str:
        """Wait until every server that runs is either Synced or outside a Primary, and `enough` is so; else go on."""
        until = time.monotonic() + _SETTLE_S
        while time.monotonic() < until:
            seen = self._look_round()
            if enough(seen) and all(one.synced or not one.primary for one in seen.values()):
                return "done"
            time.sleep(0.3)
        return f"not settled after {_SETTLE_S:g} s"
