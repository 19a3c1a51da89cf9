"""What a procedure knows before it plans: read over Observer sessions only, frozen, secrets masked at parsing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.discovery.model import ClusterSnapshot
from services.facts.binlog_marks import Mark
from services.facts.model import NodeFacts, Problem
from services.facts.other_server import OtherServer
from services.facts.primary_views import PrimaryView
from services.facts.ran_alone import RanAlone
from services.facts.start_line import StartLine
from services.types import Reach

ZERO_UUID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Grastate:
    """grastate.dat. `seqno` -1 means unknown, not nothing; a zero uuid means: was inconsistent or never a member."""

    uuid: str = ""
    seqno: int | None = None
    safe_to_bootstrap: bool | None = None

    @property
    def names_state(self) -> bool:
        """Return whether it names what the data are a part of: without that only an SST can come."""
        return self.uuid not in {"", ZERO_UUID}


@dataclass(frozen=True, slots=True)
class Remembered:
    """What our own history knows of this host's position in a cluster, whoever read it and from wherever.

    The highest may be from before a bootstrap that left it behind, or from a side that lost; the newest may be lower
    than what the node has. Neither is a position of now.

    Attributes:
        seqno, at: the newest position read, and when; None: it was seen as a member, its position was never read.
        source: 'running', 'grastate', 'recovered', 'binlog'; by: 'watch', 'topology', 'check', 'plan', 'run 47'.
        top, top_at, top_source, top_by: the same of the highest position ever read.
    """

    cluster_uuid: str
    seqno: int | None
    at: float | None
    source: str = ""
    by: str = ""
    top: int | None = None
    top_at: float | None = None
    top_source: str = ""
    top_by: str = ""

    @property
    def origin(self) -> str:
        """Return from where the newest position is, and by whom: 'running, watch'."""
        return ", ".join(word for word in (self.source, self.by) if word)

    @property
    def highest(self) -> int | None:
        """Return the highest seqno ever read, None where none was."""
        return max((s for s in (self.top, self.seqno) if s is not None), default=None)


@dataclass(frozen=True, slots=True)
class TwoPrimaries:
    """Two Primary Components of one state UUID, once seen at the same time: it stands until a person settles it.

    Attributes:
        sides: the hosts of each component; at: when it was seen (UTC epoch seconds); evidence: by what, one sentence.
    """

    cluster_uuid: str
    at: float
    sides: tuple[tuple[str, ...], ...]
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a node's own traces tell of its past (see histories.py).

    Attributes:
        views: the Primary Components it was in, by its error log, oldest first.
        marks: the newest transactions of its binary log, oldest first.
        since: host -> its marks from the first of that host's newest ones on: to be laid beside them.
        at_turn: host -> its marks from where that host's Xids step back on (own_transactions.py).
        shared: host -> the last Xid that both binary logs have alike, where it was searched for.
        index: path of the binary log's index file, '' where there is no binary log, or it was not found.
        log_told: whether its newest marks were read, or no binary log is there: no marks are no transactions then.
        partial: its binary log has only what was written on the node itself (log_slave_updates is off).
        other_server: one with another log, or without the cluster, on its data; None: nothing read tells of one.
        unread: what could not be read and why, one sentence each.
    """

    views: tuple[PrimaryView, ...] = ()
    marks: tuple[Mark, ...] = ()
    since: tuple[tuple[str, tuple[Mark, ...]], ...] = ()
    at_turn: tuple[tuple[str, tuple[Mark, ...]], ...] = ()
    shared: tuple[tuple[str, int], ...] = ()
    index: str = ""
    log_told: bool = False
    partial: bool = False
    other_server: OtherServer | RanAlone | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A TCP attempt from one host to another's port: really tried.

    'refused' means the way is open and nobody listens (4444 and 4568 outside transfers); 'filtered' is no answer.
    """

    to_host: str
    address: str
    port: int
    outcome: Literal["open", "refused", "filtered", "unknown"]
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class LockSeen:
    """A lock of some console on this host."""

    owner: str
    run_id: str
    since: float | None
    procedure: str
    cluster_id: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Write rates measured by two looks: bytes/s into the gcache ring (headers included) and write sets/s."""

    bytes_s: float
    seqno_s: float
    over_s: float


@dataclass(frozen=True, slots=True)
class HaproxyServer:
    """One server of a backend, as a running HAProxy sees it ('show stat' and 'show servers state').

    Attributes:
        status: 'UP', 'DOWN', 'DRAIN', 'MAINT', 'no check', ...: a drained server that is down is shown as 'DOWN'.
        admin: srv_admin_state, a mask: 0x01 and 0x08 are maintenance and drain that somebody ordered here, 0x02 and
            0x10 what it has from the server it tracks, 0x20 a name that doesn't resolve.
    """

    backend: str
    name: str
    address: str
    port: int | None
    status: str
    admin: int | None
    weight: int | None = None
    sessions: int | None = None

    @property
    def ordered_out(self) -> bool | None:
        """Return whether somebody set it to drain or maintenance; None when that was not read."""
        return None if self.admin is None else bool(self.admin & 0x09)

    @property
    def serves(self) -> bool:
        """Return whether it takes new sessions."""
        return self.admin is not None and not self.admin & 0x3B and self.status.startswith(("UP", "no check"))


@dataclass(frozen=True, slots=True)
class Haproxy:
    """One running HAProxy: the stats socket that may do most ('admin' may drain), and its servers.

    Attributes:
        level: 'admin', 'operator', 'user'; '' when it was not read: `fault` says why.
    """

    socket: str
    level: str = ""
    version: str = ""
    pid: int | None = None
    servers: tuple[HaproxyServer, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One host as a procedure sees it. None or '' = not known (see `problems`)."""

    host: str
    address: str = ""
    node: NodeFacts | None = None
    node_name: str = ""
    is_root: bool | None = None  # the login is root or may become it
    may_change: bool | None = None  # the operator's SQL account has the rights for SET GLOBAL
    rights_evidence: str = ""
    root_login: bool | None = None  # root of the host logs in at its server without a password: really tried
    root_login_said: str = ""
    server_up: bool | None = None
    unit: str = ""  # 'mariadb.service'
    unit_state: str = ""  # 'active/running'
    unit_result: str = ""  # systemd Result= of the unit's last run: 'success', 'signal', 'oom-kill', ...
    server_program: str = ""  # version text of the installed program: 'mariadbd Ver 10.11.18-MariaDB'
    program_version: tuple[int, ...] = ()
    datadir: str = ""
    datadir_entries: int | None = None
    data_bytes: int | None = None
    disk_free: int | None = None
    disk_size: int | None = None
    disk_mount: str = ""
    gcache_dir: str = ""
    gcache_mount: str = ""  # differs from disk_mount where the cache lies on another volume
    gcache_free: int | None = None
    gcache_disk_size: int | None = None
    gcache_pages: tuple[tuple[str, int, float], ...] = ()  # name, bytes, changed at
    gcache_page_size: int | None = None
    galera_cache: bool | None = None
    grastate: Grastate | None = None  # None: absent, damaged or not read; see the next two
    grastate_absent: bool | None = None
    grastate_damaged: bool = False  # it is there, was read, and holds no whole state
    gvwstate: tuple[str, tuple[str, ...]] | None = None  # view id, member uuids
    gvwstate_by_hand: bool | None = None  # a person made that view Primary; None: no gvwstate.dat
    trace: Trace | None = None  # None: not read, because nothing is compared with it
    sst_in_progress: bool | None = None  # files of a joiner's script lie in the data folder: it runs, or broke off
    tablespace: bool | None = None  # InnoDB's ibdata1 lies in the data folder
    remembered: tuple[Remembered, ...] = ()
    options: tuple[tuple[str, str, str], ...] = ()  # section, option with underscores, value (secrets ********)
    option_files: tuple[tuple[str, str], ...] = ()  # path, text with secrets masked, in the order the server reads them
    programs: tuple[str, ...] = ()  # which of the looked-for programs exist
    files: tuple[tuple[str, int | None], ...] = ()  # libraries, certificates: path, bytes; None: not there; () not read
    mysql_uid: int | None = None
    sst_orphans: tuple[tuple[int, float, str], ...] = ()  # pid, seconds, command line
    restart_policy: str = ""  # systemd Restart=
    timeout_stop_s: float | None = None
    provider_path: str = ""
    provider_options: tuple[tuple[str, str], ...] = ()
    client_sessions: int | None = None
    client_users: tuple[str, ...] = ()
    longest_transaction_s: float | None = None
    running_ddl: tuple[str, ...] = ()  # DDL and backup statements in the process list, cut, without values
    async_replicas: int | None = None  # Binlog Dump sessions
    config_fault: str = ""  # what `mariadbd --help --verbose` says against the option files; '' = valid or not tried
    config_checked: bool = False
    sst_account: str = ""  # 'ok', else the sentence what is missing; '' = not tried
    last_errors: tuple[str, ...] = ()
    balancers: tuple[str, ...] = ()  # 'haproxy', 'proxysql' found on the host
    haproxies: tuple[Haproxy, ...] = ()  # one for each that runs there; one with a fault where none could be read
    links: tuple[Link, ...] = ()
    lock: LockSeen | None = None
    rates: Rates | None = None
    durability: tuple[tuple[str, str], ...] = ()  # innodb_flush_log_at_trx_commit, sync_binlog
    variables: tuple[tuple[str, str], ...] = ()  # every global variable of the running server, without secrets
    temporary: tuple[tuple[str, int | None], ...] = ()  # folders for temporary files: path, free bytes; () not read
    names: tuple[tuple[str, bool | None], ...] = ()  # names in the option files: does the host resolve it?
    start_line: StartLine | None = None  # what systemd gives the server's start besides; None: not read
    running_backups: tuple[str, ...] = ()  # programs in ps that copy a server's data: 'mariadb-backup (pid 7)'
    problems: tuple[Problem, ...] = ()

    @property
    def transfer_broke_off(self) -> bool:
        """Return whether a transfer into the data folder had begun and was not finished: nobody's data but a part.

        The joiner's script leaves its file before it is decided whether IST or SST comes; the provider takes the state
        out of grastate.dat before either begins (seen on the lab, MariaDB 10.11.18).
        """
        named = self.grastate is not None and self.grastate.names_state
        return bool(self.sst_in_progress) and not named

    @property
    def erased_by_transfer(self) -> bool:
        """Return whether such a transfer had begun to erase what lay there: only an SST removes ibdata1."""
        return self.transfer_broke_off and self.tablespace is not True

    def option(self, section: str, name: str) -> str | None:
        """Return the last value the option files give (names compared with underscores), None when not set."""
        wanted = name.replace("-", "_")
        found = [value for sec, option, value in self.options if sec == section and option == wanted]
        return found[-1] if found else None

    def variable(self, name: str) -> str | None:
        """Return a variable's value in the running server, None when it was not read or there is none."""
        return next((value for known, value in self.variables if known == name), None)

    def provider_option(self, name: str) -> str | None:
        """Return a live provider option's text, None when the provider has none of that name."""
        return next((value for option, value in self.provider_options if option == name), None)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything gathered for one procedure on one cluster.

    Attributes:
        at: UTC epoch seconds when gathering ended.
        cluster: the snapshot discovery gave, None when no member answers.
        members: hosts that are, or by our history and inventory were, members; candidates: other inventory hosts.
        hosts: facts of every host gathered, members first.
        kept: values that the run kept so far (for a continued plan).
    """

    at: float
    cluster_id: str
    cluster_name: str
    cluster: ClusterSnapshot | None = None
    expected: int | None = None
    members: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    hosts: tuple[HostFacts, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    two_primaries: tuple[TwoPrimaries, ...] = ()  # of this cluster, by our own history, not settled yet

    def addresses(self) -> dict[str, str]:
        """Return host -> the address at which it was read."""
        return {one.host: one.address for one in self.hosts}

    def host(self, name: str) -> HostFacts:
        """Return a host's facts; an empty record for one that was not gathered."""
        return next((h for h in self.hosts if h.host == name), HostFacts(host=name))

    def value(self, name: str) -> str | None:
        """Return a kept value."""
        return next((value for key, value in self.kept if key == name), None)


def nobody_answered(facts: Facts) -> bool:
    """Return whether hosts were asked and none gave an answer, over any way."""
    return bool(facts.hosts) and not any(_answered(host) for host in facts.hosts)


def _answered(host: HostFacts) -> bool:
    reached = host.node is not None and host.node.reach not in {Reach.NONE, Reach.NOT_TRIED}
    return reached or host.is_root is not None or host.server_up is not None
