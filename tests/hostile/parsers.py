"""Every reader of a remote command's output beside a text as a real host printed it: what the fuzzer damages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from services.connections.ports import Output
from services.facts import haproxy
from services.facts.binlog.marks import parse_marks, why_unread
from services.facts.galera import other_server, primary_views, provider_options
from services.facts.galera import state_files as state
from services.facts.galera.ran_alone import ran_alone
from services.facts.logs import error_log
from services.facts.logs.client_text import without_client_text
from services.facts.machine import machine, system
from services.facts.machine.os_stream import OsParser
from services.facts.machine.system import parse_sizes
from services.facts.machine.tcp_ways import outcome_of, parse_listening
from services.facts.reading import host_port, size, sized, words
from services.facts.replication import gtid
from services.facts.replication.gtid import gap as gtid_gap
from services.facts.server import option_files as options
from services.facts.server.variable_changes import changed_variables
from tests.unit.facts import test_parsers_of_hosts as printed
from tests.unit.recorded.replies import HERE, load

Parser = Callable[[str], object]
SOCKET = "/run/haproxy/admin.sock"


def _recorded(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8", errors="replace")


def _command(begins: str, situation: str = "galera-sst.json") -> str:
    """Return the longest output of a recorded command."""
    hosts = load(f"situations/{situation}")["hosts"].values()
    found = [out["stdout"] for host in hosts for line, out in host["commands"].items()
             if line.startswith(begins) and "stdout" in out]  # fmt: skip
    return max(found, key=len)


def _lines(parse: Callable[[list[str]], object]) -> Parser:
    return lambda text: parse(text.splitlines())


def _os(text: str) -> object:
    parser = OsParser()
    return [parser.feed(line) for line in text.encode("utf-8", "replace").split(b"\n")]


def _provider(text: str) -> object:
    return options.provider_options_of(text), provider_options.provider_options(text)


def _tcp_try(text: str) -> object:
    return outcome_of(Output(1, b"", text.encode("utf-8", "replace")))


def _haproxy(text: str) -> object:
    return haproxy.parse_show(SOCKET, Output(0, text.encode("utf-8", "replace"), b""))


def _changed(text: str) -> object:
    return changed_variables({"wsrep_provider_options": PROVIDER}, {"wsrep_provider_options": text})


OS_LINE = (
    "t 1795265449123456;@stat;cpu  10 2 3 400 5 0 1 0 0 0;ctxt 123;btime 1795000000;procs_running 2;@disk;"
    "   8       0 sda 10 0 80 4 20 0 160 9 0 8 13;   8       1 sda1 9 0 72 4 20 0 160 9 0 8 13;@mem;"
    "MemTotal:        8000000 kB;MemAvailable:    4000000 kB;@load;0.10 0.20 0.30 1/200 4321;@vm;pgpgin 10;"
    "pswpin 0;@net;  eth0: 100 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0;@psi cpu;some avg10=0.10 avg60=0.1 avg300=0 total=99;"
    "@proc;4321 S;@fs;8:1 4096 1000000 500000"
)
HAPROXY_PS = "  812   4000 /usr/sbin/haproxy -Ws -f /etc/haproxy/haproxy.cfg -f /etc/haproxy/more -p /run/haproxy.pid\n"
HAPROXY_CFG = f"global\n  stats socket {SOCKET} mode 660 level admin\n  log /dev/log local0\n"
PS = HAPROXY_PS + "  900  10 mariadbd\n 901 20 /bin/bash -ue /usr//bin/wsrep_sst_mariabackup --role joiner --auth u:p\n"
SS = "LISTEN 0 80 0.0.0.0:3306 0.0.0.0:*\nLISTEN 0 80 [::]:4567 [::]:*\n"
UNITS = "Restart=on-abnormal\nTimeoutStopUSec=15min\nActiveState=active\nSubState=running\nLoadState=loaded\n"
SAID = "2026-11-22 19:13:50 0 [ERROR] mariadbd: unknown variable 'x=1'\n2026-11-22 19:13:50 0 [ERROR] Aborting\n"
GTIDS = "2db77be0-e5aa-11f1-ae7d-76e16c615942:1-77:90-100,\n3db77be0-e5aa-11f1-ae7d-76e16c615942:5"
PROVIDER = "base_dir = /var/lib/mysql/; gcache.size = 128M; gcs.fc_limit = 16; socket.ssl_key = /etc/k.pem; evs.x = 1"

PARSERS: Mapping[str, tuple[Parser, str]] = MappingProxyType(
    {
        "host files": (machine.parse_host_files, _command("cat ")),
        "df": (machine.parse_df, _command("df ")),
        "ps of the server": (machine.parse_process, _command("ps ")),
        "date": (lambda text: machine.clock_offset(text, 1.7e9, 1.7e9 + 1), _command("date ")),
        "zone": (machine.zone_offset, "+0130\n"),
        "systemctl": (machine.parse_units, _command("systemctl ")),
        "ls of the data": (machine.parse_datadir, _command("ls ")),
        "du": (machine.parse_du, "123456\t/var/lib/mysql/.sst\n"),
        "OS stream": (_os, OS_LINE),
        "transfers of a journal": (_lines(error_log.parse_transfers), _command("journalctl ")),
        "transfers of a log": (_lines(error_log.parse_transfers), _recorded("codership-ist.log")),
        "status text": (error_log.status_progress, "State transfer in progress, setting sleep higher (42.5% of 12 GB)"),
        "without clients' text": (_lines(without_client_text), _recorded("histories/lines-of-clients.log")),
        "failed statements": (_lines(without_client_text), _recorded("histories/failed-statements-applier.log")),
        "views": (_lines(primary_views.parse_views), _recorded("histories/fork-s3.views")),
        "views after a copy": (_lines(primary_views.parse_views), _recorded("histories/sst-s3.views")),
        "how far": (_lines(primary_views.how_far), "read 123 4\nread 456 7\n"),
        "marks": (_lines(parse_marks), _recorded("histories/fork-s1.marks")),
        "marks with wsrep off": (_lines(parse_marks), _recorded("histories/wsrep-off-s3.marks")),
        "why unread": (lambda text: why_unread(3, text, text), "mariadb-binlog: ERROR: File not found (Errcode: 2)"),
        "ran alone": (_lines(ran_alone), _recorded("histories/sst-s3.views")),
        "mtimes": (other_server.parse_mtimes, "1795265449 /var/lib/mysql/ib_buffer_pool\n1795265450 /var/log/x.log\n"),
        "stamped": (_lines(other_server.stamped), _recorded("histories/fork-s1.views")),
        "other server by journal": (
            lambda text: other_server.by_journal(1795328022.0, text.splitlines()[:5], text.splitlines()[5:]),
            _recorded("histories/fork-s1.views"),
        ),
        "other server by file": (
            lambda text: other_server.by_file(1795328022.0, 1795328000.0, text.splitlines()),
            _recorded("histories/lines-of-clients.log"),
        ),
        "grastate": (state.parse_grastate, printed.GRASTATE),
        "gvwstate": (lambda text: (state.parse_gvwstate(text), state.made_by_hand(text)), printed.GVWSTATE),
        "listing": (state.parse_listing, printed.LISTING),
        "defaults": (lambda text: options.parse_defaults(text, "mysqld"), printed.DEFAULTS),
        "SST account": (options.sst_user, printed.DEFAULTS),
        "option file": (lambda text: (options.masked_file(text), options.includes(text)), printed.DEFAULTS),
        "names of a folder": (options.read_in_folder, "50-server.cnf\nx.cnf~\n60-galera.cnf\n"),
        "provider options": (_provider, PROVIDER),
        "cluster address": (options.group_members, "gcomm://10.0.0.1:4567,db2,[::1]:4567?pc.wait_prim=no"),
        "unit properties": (system.properties, UNITS),
        "span": (system.seconds_of, "15min 30s"),
        "processes": (lambda text: (system.orphans(text), system.backups(text), system.balancers(text)), PS),
        "version": (system.version_of, "mariadbd  Ver 10.11.18-MariaDB-0+deb12u1-log for debian-linux-gnu on x86_64\n"),
        "programs": (system.programs_there, "/usr/bin/socat\n/usr/bin/rsync\n"),
        "config faults": (lambda text: (system.errors_of(text), system.config_fault(1, text)), SAID),
        "sizes": (lambda text: parse_sizes(text, text, ("/etc/k.pem",)), "1704 /etc/k.pem\n"),
        "listening": (parse_listening, SS),
        "TCP try": (_tcp_try, "bash: connect: Connection refused"),
        "command lines of HAProxy": (haproxy.config_paths, HAPROXY_PS),
        "HAProxy's configuration": (haproxy.sockets_of, HAPROXY_CFG),
        "HAProxy": (_haproxy, _recorded("haproxy/2.6.12-whole.txt")),
        "HAProxy, drained": (_haproxy, _recorded("haproxy/2.6.12-drained.txt")),
        "GTID sets": (lambda text: (gtid.parse(text), gtid.gap(GTIDS, text), gtid.gap(text, GTIDS)), GTIDS),
        "GTID positions": (lambda text: (gtid_gap(text, "0-1-7"), gtid_gap("0-1-9,1-1-7", text)), "0-1-9,1-2-77"),
        "address": (lambda text: (host_port(text), words(text), size(text), sized(text)), "[::1]:3306"),
        "changed settings": (_changed, PROVIDER),
    }
)  # fmt: skip


def as_printed(text: str) -> str:
    """Return a text as `Output.text` hands it to whoever reads it."""
    return Output(0, text.encode("utf-8", "replace"), b"").text
