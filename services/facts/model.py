"""What one node said of itself at one moment: frozen values, every field optional because servers differ.

Times are UTC epoch seconds by the workstation's clock unless a name says otherwise; sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.facts.machine.process_owner import HAND, is_anothers, is_of_database
from services.facts.mongodb.model import MongoFacts
from services.types import Flavour, Reach

DISK_FULL_B, DISK_WARN_SHARE = 16 * 2**20, 0.05


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a part of the facts is missing or doubtful: partial truth with a reason, never an exception."""

    part: str  # "sql", "ssh", "galera", "replication", "machine", "clock", ...
    sentence: str
    code: str = ""
    bare: str = ""  # the sentence without what changes each second, '' where nothing does


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Identity and settings of the database server."""

    flavour: Flavour = Flavour.UNKNOWN
    version: str = ""  # as shown to people: "10.11.14"
    version_text: str = ""  # @@version, whole
    version_key: tuple[int, ...] = ()
    comment: str = ""
    hostname: str = ""
    port: int | None = 3306  # None: it tells one that is none, 0 where it listens to no network
    server_id: int | None = None
    server_uuid: str = ""  # MySQL family; MariaDB has none before 11.x: ''
    uptime_s: float | None = None
    started_at: float | None = None
    read_only: bool | None = None
    super_read_only: bool | None = None
    engine_read_only: bool | None = None  # innodb_read_only, what a reader of Aurora has alone
    shares_volume: bool = False  # an instance of Aurora: one that only reads is a reader on purpose
    service: str = ""  # the managed service that it is an instance of: nobody logs in on its host
    session_read_only: bool | None = None  # transaction_read_only: new sessions begin without the right to write
    forced_recovery: int | None = None  # innodb_force_recovery: 0 is a server that serves as usual
    offline: bool | None = None  # offline_mode: only administrators get in
    read_only_word: str = ""  # of a value of read_only that is not known
    datadir: str = ""
    socket: str = ""
    log_error: str = ""
    log_bin: bool | None = None
    server_uid: str = ""  # MariaDB 10.11 and newer: made from the host's network card and port, not kept in the data
    report_host: str = ""
    variables: tuple[tuple[str, str], ...] = ()  # the settings that matter, for the inspector


@dataclass(frozen=True, slots=True)
class GaleraFacts:
    """The node's own view of its Galera group (status wsrep_*, provider options)."""

    node_name: str = ""
    node_uuid: str = ""  # wsrep_gcomm_uuid: this incarnation's id in the group
    state_uuid: str = ""  # wsrep_cluster_state_uuid: identifies the cluster
    local_state_uuid: str = ""
    cluster_name: str = ""
    cluster_status: str = ""  # Primary, non-Primary, Disconnected
    cluster_size: int | None = None
    conf_id: int | None = None
    local_state: int | None = None
    local_state_comment: str = ""
    ready: bool | None = None
    connected: bool | None = None
    desync_count: int | None = None
    last_committed: int | None = None
    cached_downto: int | None = None
    recv_queue: int | None = None
    send_queue: int | None = None
    flow_control_paused_ns: int | None = None
    flow_control_sent: int | None = None
    flow_control_high: float | None = None
    incoming_addresses: tuple[str, ...] = ()
    cluster_address: str = ""  # gcomm://...
    node_address: str = ""
    members: tuple[GaleraMember, ...] = ()
    segment: int | None = None
    weight: int | None = None
    provider_version: str = ""
    provider_vendor: str = ""
    gcache_size: int | None = None
    gcache_dir: str = ""  # absolute
    gcache_freeze_supported: bool | None = None
    gcache_frozen_at: int | None = None  # the seqno from which on nothing is purged; None: not frozen, or not able to
    proto_max: int | None = None
    sst_method: str = ""
    sst_donor: str = ""
    reject_queries: str = ""
    applier_threads: int | None = None
    deps_distance: float | None = None
    evs_state: str = ""
    cluster_weight: int | None = None  # summed pc.weight of the component this node sees (wsrep_cluster_weight)
    single_primary: bool | None = None  # gcs.fc_single_primary: flow control's limit does not grow with the group
    provider_suspect: bool = False  # the provider's fields are shifted or foreign: show them grey
    ist_first: int | None = None  # PXC: wsrep_ist_receive_seqno_start
    ist_current: int | None = None
    ist_last: int | None = None
    off: bool = False  # wsrep_on is OFF while the provider is loaded: writes made there are not replicated
    maint_mode: str = ""  # PXC: pxc_maint_mode, DISABLED while clients may come; '' where there is none


@dataclass(frozen=True, slots=True)
class GaleraMember:
    """One member as an observer lists it (wsrep_incoming_addresses, evs delayed lists, wsrep_membership)."""

    uuid: str = ""
    name: str = ""
    address: str = ""
    segment: int | None = None


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One row of performance_schema.replication_group_members: a member as one server sees it."""

    member_id: str = ""  # its server_uuid; '' of a server that is in no group
    host: str = ""
    port: int | None = 3306
    state: str = ""  # ONLINE, RECOVERING, OFFLINE, ERROR, UNREACHABLE; '' not told, or none of them
    role: str = ""  # PRIMARY, SECONDARY, '' where it is not told
    state_word: str = ""  # of a state that is none of these, as the server says it


@dataclass(frozen=True, slots=True)
class GroupRecovery:
    """How far a member that is RECOVERING has come: by clone, or by the channel group_replication_recovery."""

    donor_id: str = ""  # server_uuid of the member it fetches from
    missing: int | None = None  # transactions received by the channel and not applied yet
    error: str = ""  # why the channel does not fetch
    clone_stage: str = ""  # FILE COPY, PAGE COPY, REDO COPY, ...; '' where nothing is cloned
    clone_done: int | None = None  # bytes of the whole copy
    clone_whole: int | None = None


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """The server's own view of its group (MySQL Group Replication); None where it was not read."""

    group_name: str = ""  # identifies the cluster
    member_id: str = ""  # this server's
    members: tuple[GroupMember, ...] = ()
    members_at: float | None = None  # when they were read; None: not, and nothing is known of its state
    single_primary: bool | None = None
    view_id: str = ""
    certify_queue: int | None = None  # transactions that wait to be checked for conflicts
    applier_queue: int | None = None  # received from others and not applied yet
    conflicts: int | None = None
    applier_limit: int | None = None  # flow control begins here
    certify_limit: int | None = None
    seeds: tuple[str, ...] = ()  # configured, with the group's own port
    recovery: GroupRecovery | None = None  # read while it is RECOVERING

    @property
    def own(self) -> GroupMember | None:
        """Return this server's own row; None where it was not read or is not in the table."""
        found = next((m for m in self.members if m.member_id and m.member_id == self.member_id), None)
        alone = self.members[0] if len(self.members) == 1 and not self.members[0].member_id else None
        return found or alone


@dataclass(frozen=True, slots=True)
class ReplicationChannel:
    """One row of SHOW ALL SLAVES STATUS / SHOW REPLICA STATUS, names normalised."""

    name: str = ""  # '' is the default channel
    source_host: str = ""
    source_port: int | None = 3306
    source_uuid: str = ""
    source_server_id: int | None = None
    io_running: str = ""  # Yes, No, Connecting, Preparing
    sql_running: str = ""
    seconds_behind: float | None = None  # None is NULL: not 0
    io_error: str = ""
    io_errno: int = 0
    sql_error: str = ""
    sql_errno: int = 0
    gtid_mode: str = ""  # "Slave_Pos", "Current_Pos", "No", "AUTO"
    gtid_received: str = ""
    gtid_executed: str = ""
    source_log_file: str = ""
    read_log_pos: int | None = None
    exec_log_pos: int | None = None
    relay_log_file: str = ""
    relay_log_space: int | None = None
    delay_s: int | None = 0  # None: it tells one that can't be read
    remaining_delay_s: float | None = None
    sql_state: str = ""
    io_state: str = ""


@dataclass(frozen=True, slots=True)
class ReplicaSeen:
    """A replica as its source sees it (SHOW REPLICA HOSTS, Binlog Dump threads)."""

    server_id: int | None = None
    host: str = ""
    port: int | None = 3306
    server_uuid: str = ""


@dataclass(frozen=True, slots=True)
class ReplicationFacts:
    """Asynchronous replication as this server knows it, both directions."""

    channels: tuple[ReplicationChannel, ...] = ()
    replicas: tuple[ReplicaSeen, ...] = ()
    gtid_binlog_pos: str = ""
    gtid_executed: str = ""
    gtid_strict: bool | None = None
    heartbeat_lag_s: float | None = None
    at: float | None = None  # when the channels were read; None: never, and whether there are any is not known
    replicas_at: float | None = None  # when somebody last told who replicates from here; None: nobody
    gtid_at: float | None = None  # when gtid_binlog_pos and gtid_executed were read (variables come less often)


@dataclass(frozen=True, slots=True)
class SemiSyncFacts:
    """Semi-synchronous replication as this server knows it, as a source and as a replica; counters since its start."""

    source_enabled: bool | None = None  # None: no plugin
    source_active: bool | None = None  # commits wait for acknowledgements now; False: fallen back to asynchronous
    clients: int | None = None  # semi-synchronous replicas that are connected; one that is just gone counts on
    wanted: int | None = 1  # acknowledgements that a commit waits for; MariaDB has no setting of it and waits for one
    timeout_ms: int | None = None
    wait_point: str = ""  # AFTER_SYNC, AFTER_COMMIT
    acknowledged: int | None = None
    not_acknowledged: int | None = None
    waiting: int | None = None  # sessions in their commit
    replica_enabled: bool | None = None
    replica_active: bool | None = None

    @property
    def few(self) -> bool:
        """Return whether fewer replicas are there than the next commit waits for; it waits for one at least."""
        return self.clients is not None and self.clients < (self.wanted or 1)


@dataclass(frozen=True, slots=True)
class DiskFacts:
    """One file system."""

    mount: str
    device: str = ""
    size: int | None = None
    free: int | None = None  # bytes available to ordinary users

    @property
    def is_full(self) -> bool:
        """Return whether a server stops writing for want of room: less than 16 MiB."""
        return self.free is not None and self.free < DISK_FULL_B

    @property
    def is_nearly_full(self) -> bool:
        """Return whether less than a twentieth is free, or nothing."""
        return self.is_full or bool(self.size and self.free is not None and self.free < self.size * DISK_WARN_SHARE)


@dataclass(frozen=True, slots=True)
class TransferCertificate:
    """The certificate by which a server's state transfers are encrypted.

    Attributes:
        ends: when the first of its chain and its CA runs out, UTC epoch seconds; None: it is not there, or is none.
        name: its common name.
    """

    ends: float | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The host below the server."""

    os: str = ""
    kernel: str = ""
    cores: int | None = None
    memory: int | None = None
    hostname: str = ""
    machine_id: str = ""
    disks: tuple[DiskFacts, ...] = ()
    data_disk: DiskFacts | None = None
    clock_offset_s: float | None = None  # host minus workstation, halved round trip
    process_state: str = "?"  # of mysqld/mariadbd: R, S, D, T (stopped by a signal), Z; '' = shown: none, ? = not known
    process_pid: int | None = None
    process_owner: str = ""  # whose it is (process_owner.py): a unit's name, or what else its group tells; '' not told
    process_doubt: str = ""  # why '?', where none was seen: a code of facts.absence
    founded_pid: int | None = None  # the server that was started to found a cluster, by its own command line
    unit_state: str = ""  # systemd ActiveState/SubState, "active/running"
    unit_status_text: str = ""  # systemd StatusText, "Receiving IST 45% ..."
    gcache_pages_bytes: int | None = None
    gcache_disk_free: int | None = None  # of the volume of gcache.dir, where that is not in the data directory
    sst_bytes: int | None = None
    group_error: str = ""  # why the server left its group, by its own log
    unit: str = ""  # the systemd unit that was found: "mariadb.service"
    transfer: TransferCertificate | None = None  # of its state transfers; None: not encrypted by one, or not read
    disk_devices: tuple[str, ...] = ()  # whole disks and layers that the kernel counts, "sda", "dm-0"
    net_devices: tuple[str, ...] = ()  # cards first, then what passes on what they carry

    @property
    def server_state(self) -> str:
        """Return `process_state` as far as that process is this host's server: '' none runs, '?' not known.

        A container's, or a person's own, is another's: without it none runs where the unit says so too. One of a name
        only, while the unit says that it rests, may be anybody's.
        """
        state, owner = self.process_state, self.process_owner
        if state in {"", "?"} or owner == HAND:
            return state
        rests = self.unit_state.startswith(("inactive", "failed"))
        if is_anothers(owner):
            return "" if rests else "?"
        other = bool(owner) and owner != self.unit and not is_of_database(owner)
        return "?" if rests and (not owner or other) else state


@dataclass(frozen=True, slots=True)
class TransferFacts:
    """A state transfer as a log told it (any node logs the request; joiner and donor log progress)."""

    joiner_name: str = ""
    donor_name: str = ""
    kind: str = ""  # "SST", "IST", '' not known yet
    method: str = ""
    since: float | None = None
    ended: float | None = None
    failed: bool = False
    donor_done: bool = False  # the donor has sent everything; the joiner still prepares or applies
    first_seqno: int | None = None
    last_seqno: int | None = None
    current_seqno: int | None = None


LOG_KEPT_S = 60.0
"""Seconds after which a transfer that its log had not ended is not known any more: a log is read every 15 at least."""
CHANNELS = "replication"
"""The part of a problem that says why the channels were not read."""
KEPT_S = 25.0
"""Seconds after which channels and replicas are not known any more: two reads that gave nothing, at the slowest pace.

They are read every `members_s` of the watch's settings, with the first sample that is due then.
"""
SSH, SQL = "ssh", "sql"
"""The two ways in, as problems and `NodeFacts.no_way` name them."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Everything one poll of one host gave. `host` is the inventory (or discovered) name."""

    host: str
    at: float
    reach: Reach = Reach.NOT_TRIED
    address: str = ""
    server: ServerFacts | None = None
    galera: GaleraFacts | None = None
    replication: ReplicationFacts | None = None
    machine: MachineFacts | None = None
    group: GroupFacts | None = None
    semi_sync: SemiSyncFacts | None = None  # None: the server knows nothing of it
    transfers: tuple[TransferFacts, ...] = ()
    transfers_at: float | None = None  # when the log that tells them was read; None: by no look that says when
    round_trip_s: float | None = None
    sql_at: float | None = None  # when SQL last answered; older than `at` means these parts are stale
    ssh_at: float | None = None
    problems: tuple[Problem, ...] = ()
    no_way: tuple[str, ...] = ()  # SSH or SQL, where nobody wrote down a way in: what it would tell is not asked
    on: str = ""  # the host on which this server stands beside the first one: the machine is told with that one
    beside: tuple[str, ...] = ()  # the other servers on this host, by what they are called
    kind: str = ""  # of an instance that the inventory names and nobody reads: its kind there
    mongo: MongoFacts | None = None  # of a mongod or mongos
    asked_port: int | None = None  # the port of its host that leads to it; its own may be another, in a container
    speaks: str = "SQL"  # what its server is asked over, for sentences
    reached: tuple[str, ...] = ()  # where SSH leads: ssh_config's HostName, and the address that answered here

    @property
    def channels_old(self) -> bool:
        """Return whether what is known of its channels is not of now: their last read failed, or is too long ago."""
        read_at = self.replication.at if self.replication is not None else None
        late = read_at is not None and self.sql_at is not None and self.sql_at - read_at > KEPT_S
        return late or any(problem.part == CHANNELS for problem in self.problems)

    @property
    def known_transfers(self) -> tuple[TransferFacts, ...]:
        """Return the transfers of its log that are known: those without an end only while that log is read."""
        read_at = self.transfers_at
        old = read_at is not None and self.at - read_at > LOG_KEPT_S
        return tuple(t for t in self.transfers if not old or t.ended is not None or t.failed)

    @property
    def in_group(self) -> bool:
        """Return whether the server ever told a group of its own."""
        in_set = self.mongo is not None and self.mongo.set is not None
        return self.galera is not None or self.group is not None or in_set
