"""Facts as hypothesis draws them: a Galera cluster in any mood, for the plans' invariants."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.facts.haproxy import Haproxy, HaproxyServer
from services.facts.model import GaleraFacts, NodeFacts, ServerFacts
from services.facts.replication.write_rate import Rates
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.procedure import Procedure
from services.types import Reach
from tests.unit.procedures.host_of import host_of

CLUSTER = "6f1e7d3c-1111-11f0-9c0e-3b2f8d5a7c11"
OTHER = "aaaaaaaa-2222-11f0-9c0e-3b2f8d5a7c11"
NAMES = ("n1", "n2", "n3", "n4", "spare")
FILE = "/etc/mysql/mariadb.conf.d/90-lab.cnf"

maybe = st.booleans()
seqnos = st.integers(min_value=0, max_value=10**9)

# Made once: hypothesis looks through a strategy anew that is made while it draws, four times the cost of drawing.
SOCKETS = st.sampled_from(("/run/haproxy/admin.sock", "/run/haproxy-2/admin.sock"))
LEVELS = st.sampled_from(("admin", "admin", "operator", ""))
BEHIND = st.lists(st.tuples(st.sampled_from(("galera", "reads")), st.integers(1, 5)), unique=True)
PORTS = st.sampled_from((3306, 3306, 3307, None))
HEALTHS = st.sampled_from(("UP", "UP", "DOWN", "no check"))
SESSIONS = st.sampled_from((0, 0, 0, 1, 8, None))
CHECKED = st.none() | st.integers(0, 40)
STATE_UUIDS = st.sampled_from((CLUSTER, CLUSTER, CLUSTER, OTHER))
LOCAL_STATES = st.sampled_from((4, 4, 4, 2, None))
SEGMENTS = st.none() | st.integers(0, 2)
REJECTS = st.sampled_from(("NONE", "NONE", "ALL", "ALL_KILL", ""))
DONORS = st.sampled_from(("", "n1,", "n2"))
GCACHES = st.none() | st.just(128 * 2**20)
UPTIMES = st.floats(1, 10**6)
SERVER_IDS = st.integers(1, 9)
GRASTATE_UUIDS = st.sampled_from((CLUSTER, CLUSTER, ZERO_UUID, OTHER, ""))
GRASTATE_SEQNOS = st.sampled_from((-1, None)) | seqnos
UNITS = st.sampled_from(("", "mariadb.service", "mysql.service"))
PROGRAMS = st.sampled_from(("", "mariadbd Ver 10.11.18-MariaDB", "mysqld Ver 8.0.36"))
FOLDERS = st.sampled_from(("", "/var/lib/mysql", "/data/mysql"))
SIZES = st.none() | st.integers(0, 10**13)
VIEWS = st.none() | st.just(("view", ("a", "b")))
MAYBE_KNOWN = st.none() | maybe
REMEMBERED = st.just(()) | st.tuples(st.builds(Remembered, st.just(CLUSTER), seqnos, st.just(5.0)))
OPTION_FILES = st.just(()) | st.just(((FILE, "[mysqld]\nwsrep_cluster_address = gcomm://\n"),))
STOPS = st.none() | st.floats(1, 2_000)
PROVIDED = st.just(()) | st.just((("gcache.freeze_purge_at_seqno", "-1"),))
CLIENTS = st.none() | st.integers(0, 500)
REPLICAS = st.none() | st.integers(0, 3)
BALANCERS = st.lists(st.sampled_from(("haproxy", "proxysql")), unique=True)
RATES = st.none() | st.builds(Rates, st.floats(0, 1e9), st.floats(0, 1e6), st.just(2.0))
MEMBERS = st.integers(2, 4)
MOODS = st.sampled_from(("whole", "mixed", "down"))
RECOVERED_UUIDS = st.sampled_from((CLUSTER, CLUSTER, ZERO_UUID))
RECOVERED_SEQNOS = st.integers(-1, 10**9)


@st.composite
def haproxies(draw: st.DrawFn) -> Haproxy:
    """One HAProxy: read at any level or not, with backends that know some of the members, up, down or drained."""
    socket = draw(SOCKETS)
    level = draw(LEVELS)
    if not level:
        return Haproxy(socket, fault="Permission denied")
    behind = draw(BEHIND)
    servers = tuple(
        HaproxyServer(
            backend,
            f"db{number}",
            f"10.0.0.{number}",
            draw(PORTS),
            draw(HEALTHS),
            draw(SESSIONS),
            1,
            draw(CHECKED),
        )
        for backend, number in behind
    )
    return Haproxy(socket, level, "2.6.12", 7, servers)


HAPROXIES = st.lists(haproxies(), max_size=2, unique_by=lambda one: one.socket)


@st.composite
def hosts(draw: st.DrawFn, name: str, *, up: bool | None = None) -> HostFacts:
    """One host: up as Primary, up and non-Primary, or down with any kind of state file."""
    running = draw(maybe) if up is None else up
    primary = running and (up is True or draw(maybe))
    last = draw(seqnos)
    galera = GaleraFacts(
        node_name=name,
        state_uuid=CLUSTER,
        local_state_uuid=draw(STATE_UUIDS),
        cluster_status="Primary" if primary else "non-Primary",
        local_state=draw(LOCAL_STATES),
        last_committed=last,
        cached_downto=None if draw(maybe) else draw(st.integers(min_value=0, max_value=last)),
        segment=draw(SEGMENTS),
        reject_queries=draw(REJECTS),
        sst_donor=draw(DONORS),
        node_address=f"10.0.0.{NAMES.index(name) + 1}",
        gcache_size=draw(GCACHES),
    )
    seen = running or draw(maybe)
    node = NodeFacts(
        host=name,
        at=1_000.0,
        reach=Reach.FULL if running else Reach.SSH_ONLY if seen else Reach.NONE,
        server=ServerFacts(started_at=10.0, uptime_s=draw(UPTIMES), server_id=draw(SERVER_IDS)) if running else None,
        galera=galera if running else None,
    )
    state = Grastate(
        draw(GRASTATE_UUIDS),
        draw(GRASTATE_SEQNOS),
        draw(maybe),
    )
    absent = draw(maybe) if not running else False
    options = [("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1,10.0.0.2")] if name != "spare" else []
    if draw(maybe):
        options += [("mysqld", "wsrep_sst_auth", "********"), ("sst", "encrypt", "4")]
    return host_of(
        host=name,
        address=f"10.0.0.{NAMES.index(name) + 1}",
        node=node,
        node_name=name,
        server_up=running,
        unit_name=draw(UNITS),
        program_text=draw(PROGRAMS),
        data_folder_path=draw(FOLDERS),
        data_folder_entries=draw(CHECKED),
        data_size_in_bytes=draw(SIZES),
        data_folder_disk_free=draw(SIZES),
        data_folder_disk_size=draw(SIZES),
        gcache_disk_free=draw(SIZES),
        gcache_disk_size=draw(SIZES),
        grastate=None if absent else state,
        grastate_absent=absent,
        gvwstate=draw(VIEWS),
        sst_in_progress=draw(MAYBE_KNOWN),
        tablespace=draw(MAYBE_KNOWN),
        remembered=draw(REMEMBERED),
        options_given=tuple(options),
        options_files=draw(OPTION_FILES),
        timeout_stop_s=draw(STOPS),
        provider_options=draw(PROVIDED),
        sessions_clients=draw(CLIENTS),
        sessions_replicas=draw(REPLICAS),
        balancers_found=tuple(draw(BALANCERS)),
        haproxies=tuple(draw(HAPROXIES)),
        rates=draw(RATES),
    )


@cache
def of_host(name: str, up: bool | None) -> st.SearchStrategy[HostFacts]:
    """Return the strategy of that host, the same each time."""
    return hosts(name, up=up)


@st.composite
def estates(draw: st.DrawFn) -> Facts:
    """A cluster of two to four members, a spare host, and sometimes everything down."""
    members = NAMES[: draw(MEMBERS)]
    mood = draw(MOODS)
    up = {"whole": True, "down": False}.get(mood)
    drawn = tuple(draw(of_host(name, up)) for name in members)
    kept = tuple(
        (f"recovered-{name}", f"{draw(RECOVERED_UUIDS)}:{draw(RECOVERED_SEQNOS)}") for name in members if draw(maybe)
    )
    return Facts(
        at=1_000.0,
        cluster_id=CLUSTER,
        cluster_name="orders",
        members=members,
        candidates=("spare",),
        hosts=(*drawn, draw(of_host("spare", False))),
        kept=kept,
    )


@st.composite
def typed(draw: st.DrawFn, procedure: Procedure, facts: Facts) -> Inputs:
    """Inputs as a person may type them: choices where there are some, any host's name, the default elsewhere."""
    inputs, folders = Inputs(), draw(maybe)
    for field in procedure.fields(facts, {}):
        if field.kind == "host" and draw(st.integers(0, 3)) == 0:
            inputs[field.name] = draw(st.sampled_from([host.host for host in facts.hosts]))
        elif field.kind in {"host", "choice"} and field.choices and draw(maybe):
            inputs[field.name] = draw(st.sampled_from([value for value, _ in field.choices]))
        elif field.kind == "flag" and draw(maybe):
            inputs[field.name] = draw(st.sampled_from(("yes", "no")))
        elif field.kind == "text" and field.required and not field.default:
            inputs[field.name] = f"/srv/{len(inputs)}" if folders else "cp -a {datadir} /srv/{snapshot}"
        elif field.kind == "hosts" and field.choices and draw(maybe):
            some = draw(st.lists(st.sampled_from([value for value, _ in field.choices]), min_size=1, unique=True))
            inputs[field.name] = ", ".join(some)
    return filled(procedure.fields(facts, inputs), inputs)
