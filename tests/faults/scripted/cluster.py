"""A Galera cluster in memory: what hosts, servers, files and units are after each act. It proves the engine and the
plans, never the commands themselves: those are proven on the lab.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import TypeVar

_T = TypeVar("_T")
CLUSTER = "6f1e7d3c-1111-11f0-9c0e-3b2f8d5a7c11"
_MOVES = {"version", "primary"}
"""Of a replica set: a configuration's version only rises, and who leads is nobody's setting."""
ZERO = "00000000-0000-0000-0000-000000000000"
DATADIR = "/var/lib/mysql"
OPTION = "gcache.freeze_purge_at_seqno"
BACKUPS = "/backup/"
"""Where every host has a full backup and an incremental of this cluster: they end at RESTORED, LATER seqnos apart."""
RESTORED, LATER = 990, 10
DIRTY = ("innodb_max_dirty_pages_pct", "90")
"""A variable that a server has by itself."""
SNAPSHOT = "/srv/snapshot"
"""What an operator's command makes on a donor: a file with the seqno at which it was taken."""


@dataclass(slots=True)
class Host:
    """One host. `running` is a server that is up; `primary` one that is a Synced member."""

    name: str
    running: bool = False
    primary: bool = False
    member: bool = True
    seqno: int = 0
    cached_from: int = 1
    grastate_uuid: str = CLUSTER
    grastate_seqno: int = -1
    safe_to_bootstrap: int = 0
    has_data: bool = True
    state_kept: str = ""  # the state that a run kept before a start
    variables: dict[str, str] = field(default_factory=dict)
    frozen_at: str | None = "-1"
    files: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str | None] = field(default_factory=dict)  # the originals that an edit kept aside
    wrote: dict[str, str] = field(default_factory=dict)  # files as a run wrote them last
    aside: dict[str, tuple[str, bool]] = field(default_factory=dict)  # data folders: path -> its uuid, of a member
    units: dict[str, str] = field(default_factory=dict)  # transient units: name -> state
    works: dict[str, str] = field(default_factory=dict)  # detached works that ended: name -> output
    at_work: dict[str, list[str]] = field(default_factory=dict)  # detached works that still run: name -> command
    loaded: tuple[str, ...] = ()  # the drop-ins that systemd knows
    orders: dict[str, str] = field(default_factory=dict)  # a HAProxy's: node -> 'ready', 'drain' or 'maint'
    sessions: dict[str, int] = field(default_factory=dict)  # a HAProxy's: node -> sessions that never end by themselves
    free: int = 500 * 10**9
    reachable: bool = True
    back_in: int = 0  # so many tries until it answers again
    answer_lost: bool = False  # the next act is done, and the way breaks before its answer
    refuses: bool = False  # every act fails before it begins
    came_by: str = ""
    came_from: str = ""
    fails_to_start: bool = False
    broken: bool = False  # its InnoDB can't be read: no position is recovered, and it does not start
    founds: bool = False  # systemd's environment would have its next start found a cluster
    view: tuple[str, ...] = ()  # gvwstate.dat: the members of its last Primary Component
    mute: bool = False  # the other members of that view don't hear it
    starts: int = 0  # how often a server was started on its data
    parted: bool = False  # it was made Primary beside the others, and wrote
    apart: bool = False  # it is a Primary Component of its own now
    changes: int = 0  # of its replica set, made on it
    surveyed: str = ""  # what is found in its backup and its binary logs, where that is not what rejoining.py has
    release: str = ""  # what a MongoDB server says of itself: a person replaces it, and no undo does

    def answers(self) -> bool:
        """Return whether a try to reach it succeeds; a way that is broken for a while comes back."""
        if self.back_in > 0:
            self.back_in -= 1
            return False
        return self.reachable

    @property
    def drop_ins(self) -> tuple[str, ...]:
        """Return the drop-ins that lie there; systemd follows them from its next reload on."""
        return tuple(
            sorted(text for path, text in self.files.items() if path.startswith(("/run/systemd", "/etc/systemd")))
        )

    @property
    def no_restart(self) -> bool:
        """Whether systemd, as it was reloaded last, does not restart the server."""
        return any("Restart=no" in text for text in self.loaded)

    @property
    def locked(self) -> bool:
        """Whether a run's read lock is held."""
        return any(unit.startswith("pilothouse-lock-") for unit in self.units)

    @property
    def held(self) -> bool:
        """Whether a drop-in that systemd has read forbids starts, its file being there."""
        return any(text in self.files.values() for text in self.loaded if "AssertPathExists=!" in text)


@dataclass(slots=True)
class Cluster:
    """The hosts, what was done to them (`log`), and acknowledged rows (`written`)."""

    hosts: dict[str, Host]
    log: list[str] = field(default_factory=list)
    written: int = 0
    acknowledged: int = 0
    quorum: tuple[str, ...] = ()  # members of which only one at a time may be stopped
    alarms: list[str] = field(default_factory=list)
    replica_set: dict[str, int | str] = field(default_factory=dict)  # of MongoDB (mongo.py); {} for Galera

    def primaries(self) -> list[Host]:
        """Return the Synced members."""
        return [h for h in self.hosts.values() if h.primary]

    def write(self, number: int = 1) -> None:
        """Let an application commit on the Primary Component; every member has it at once."""
        alive = self.primaries()
        if not alive:
            return
        self.written += number
        for host in alive:
            host.seqno += number
        self.acknowledged = alive[0].seqno

    def stop(self, host: Host) -> None:
        """Stop a server cleanly: it leaves with its position; the last one to leave can be bootstrapped."""
        others = [self.hosts[name] for name in self.quorum if name != host.name]
        if host.primary and host.name in self.quorum and not all(other.primary for other in others):
            self.alarms.append(f"{host.name} was stopped while another member was away")
        self._leave(host)

    def kill(self, host: Host) -> None:
        """End a server as kill -9 does: its position is unknown until it is recovered."""
        self._leave(host)
        host.grastate_seqno, host.safe_to_bootstrap = -1, 0

    def found_beside(self, host: Host) -> None:
        """Let a colleague run galera_new_cluster on a stopped node: Primary and Synced, of a component of its own."""
        host.running = host.primary = host.apart = host.parted = True
        host.starts += 1

    def _leave(self, host: Host) -> None:
        if not host.running:
            return
        last = [h.name for h in self.primaries()] == [host.name]
        host.grastate_seqno = host.seqno
        host.safe_to_bootstrap = int(last)
        host.running = host.primary = host.apart = False
        host.variables = {}
        if host.frozen_at is not None:
            host.frozen_at = "-1"  # a restart ends a freeze

    def start(self, host: Host, *, new_cluster: bool = False) -> None:
        """Start a server: it joins the Primary Component, founds one, or waits for ever."""
        if host.running or host.fails_to_start or host.broken or host.free == 0 or host.held:
            return
        alive = self.primaries()
        if new_cluster:
            if not host.safe_to_bootstrap:
                return
            host.running = host.primary = host.member = True
        elif alive:
            donor = self._donor(host, alive)
            ist = host.has_data and host.grastate_uuid == CLUSTER and donor.frozen_at is not None
            empty = not host.has_data or host.grastate_uuid == ZERO
            host.came_by = "IST" if ist or not empty else "SST"
            if host.parted and host.came_by == "IST":
                self.alarms.append(f"{host.name} came by IST over a past that is another one")
            host.parted = False
            host.came_from = donor.name
            host.seqno, host.has_data = donor.seqno, True
            host.running = host.primary = host.member = True
        else:
            host.running = True  # up, but of no component
            self._form_again(host)
        host.grastate_uuid, host.grastate_seqno = CLUSTER, -1
        host.safe_to_bootstrap = 0
        host.starts += 1
        for option in ("wsrep_sst_donor", "wsrep_reject_queries"):  # a start reads the option files
            if given := _given(host, option):
                host.variables[option] = given

    def _form_again(self, host: Host) -> None:
        """The members of the last component form it again as soon as all of them are there."""
        view = [self.hosts[name] for name in host.view]
        if view and all(other.running and not other.mute and other.view == host.view for other in view):
            newest = max(other.seqno for other in view)
            for other in view:
                other.seqno, other.primary, other.member = newest, True, True

    def _donor(self, host: Host, alive: list[Host]) -> Host:
        wanted = _given(host, "wsrep_sst_donor").partition(",")[0]
        return next((h for h in alive if h.name == wanted), alive[0])

    def kept_rows(self) -> bool:
        """Return whether some host that keeps its data has every row that was ever acknowledged."""
        return any(h.has_data and h.seqno >= self.acknowledged for h in self.hosts.values())

    def state(self) -> dict[str, object]:
        """Return what must be the same after a broken run as after an unbroken one."""
        return {
            h.name: (
                h.running, h.primary, h.member, h.frozen_at, tuple(sorted(h.variables.items())),
                tuple(sorted(h.files.items())), tuple(sorted(h.units.items())), h.safe_to_bootstrap, h.has_data,
                tuple(sorted(h.aside.items())), h.loaded, tuple(sorted(h.orders.items())),
            )
            for h in self.hosts.values()
        } | {"": tuple((key, value) for key, value in self.replica_set.items() if key not in _MOVES)}  # fmt: skip

    def only_marked(self, before: dict[str, object]) -> bool:
        """Return whether the state is as before but for the mark of the node that was stopped last."""
        now = copied(self)
        for host in now.hosts.values():
            host.safe_to_bootstrap = 0
        return now.state() == before


def copied(thing: _T) -> _T:
    """Return a deep copy: by a pickle's way there and back it takes a fraction of the time of `copy.deepcopy`."""
    again: _T = pickle.loads(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL))
    return again


def _given(host: Host, option: str) -> str:
    """Return the value that a host's option files give an option for its next start."""
    texts = (text for path, text in sorted(host.files.items()) if path.endswith(".cnf"))
    found = [text.partition(f"{option}=")[2].splitlines()[0] for text in texts if f"{option}=" in text]
    return found[-1] if found else ""


def whole(*names: str, spare: str = "") -> Cluster:
    """Return a cluster of Synced members, and a spare host with the package's empty server."""
    hosts = {n: Host(n, running=True, primary=True, seqno=1_000, files=_files(n, names)) for n in names}
    if spare:
        hosts[spare] = Host(
            spare, member=False, grastate_uuid="", has_data=True,
            files={"/etc/mysql/mariadb.conf.d/50-server.cnf": "[mysqld]\nbind-address = 127.0.0.1\n"},
        )  # fmt: skip
    return Cluster(hosts)


def balanced(*names: str, pooled: bool = False) -> Cluster:
    """Return a cluster of Synced members behind a HAProxy on a host of its own; `pooled`: sessions that stay open."""
    cluster = whole(*names, spare="lb")
    lb = cluster.hosts["lb"]
    lb.orders = dict.fromkeys(names, "ready")
    lb.sessions = dict.fromkeys(names, 3 if pooled else 0)
    return cluster


def crashed(*names: str, ahead: int = 0) -> Cluster:
    """Return a cluster of which every node was killed; the last one named is `ahead` write sets further."""
    cluster = whole(*names)
    for name in names:
        cluster.kill(cluster.hosts[name])
    cluster.hosts[names[-1]].seqno += ahead
    return cluster


def powered_off(*names: str, mute: str = "") -> Cluster:
    """Return a crashed cluster whose nodes keep their last view; `mute`: one that the others don't hear any more."""
    cluster = crashed(*names, ahead=5)
    for host in cluster.hosts.values():
        host.view, host.mute = names, host.name == mute
    return cluster


def stalled(*names: str) -> Cluster:
    """Return a cluster of which every server is up and none is Primary: a network split that is over."""
    cluster = whole(*names)
    for host in cluster.hosts.values():
        host.primary = False
    return cluster


def parted(*names: str) -> Cluster:
    """Return a cluster whose last node was made Primary beside the others, wrote, and is down now."""
    cluster = whole(*names)
    last = cluster.hosts[names[-1]]
    cluster.stop(last)
    last.parted = True
    return cluster


def _files(name: str, names: tuple[str, ...]) -> dict[str, str]:
    addresses = ",".join(f"10.0.0.{i + 1}" for i, _ in enumerate(names))
    own = f"10.0.0.{names.index(name) + 1}"
    text = (
        f"[mysqld]\nlog_bin = mysql-bin\nwsrep_on = ON\nwsrep_cluster_address = gcomm://{addresses}\n"
        f"wsrep_node_name = {name}\nwsrep_node_address = {own}\n"
    )
    return {"/etc/mysql/mariadb.conf.d/90-lab.cnf": text}
