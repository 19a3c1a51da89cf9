"""What HAProxy 2.6.12 answered at its stats socket (recorded), read into facts, conditions, checks and steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.observer.allowlist import check_command
from services.connections.ports import ObserverSession, OperatorSession, Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts.haproxy import Haproxy, config_paths, parse_show, show_read, sockets_of
from services.facts.model import GaleraFacts, NodeFacts, Problem, ServerFacts
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks.haproxy import ADMIN, balancers, haproxy_checks
from services.procedures.catalogue.steps.haproxy import SET_STATE, drain_steps, out_of, return_steps
from services.procedures.catalogue.steps.haproxy_places import (
    all_behind,
    balancer_hosts,
    can_drain,
    open_places,
    places_of,
)
from services.procedures.conditions.haproxy.server import BalancerServer
from services.procedures.conditions.machine.listening import Listening
from services.procedures.plan.checks import Verdict
from services.procedures.plan.condition import Answer
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.looks import Past
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.remembering import Memory
from services.procedures.plan.wording import wording
from services.procedures.verify.prover import RealProver
from services.types import Reach
from tests.unit.procedures.host_of import changed, host_of

RECORDED = Path(__file__).parents[2] / "recorded" / "haproxy"
SOCKET = "/run/haproxy/admin.sock"
WHOLE = Output(0, (RECORDED / "2.6.12-whole.txt").read_bytes(), b"")
DRAINED = Output(0, (RECORDED / "2.6.12-drained.txt").read_bytes(), b"")
PLACE = BalancerServer("lb", SOCKET, "galera", "s2", "free")


def _of(output: Output) -> Haproxy:
    return parse_show(SOCKET, output)


def test_that_every_server_is_read_with_its_address_state_sessions_and_weight() -> None:
    found = _of(WHOLE)
    assert (found.level, found.version, found.fault) == ("admin", "2.6.12-1+deb12u4", "")
    assert found.pid is not None
    assert [(s.backend, s.name, s.address, s.port, s.status, s.admin, s.sessions) for s in found.servers] == [
        ("galera", "s1", "127.7.0.2", 13306, "UP", 0, 0),
        ("galera", "s2", "127.7.0.3", 13306, "UP", 0, 1),
        ("galera", "s3", "127.7.0.4", 13306, "UP", 0, 0),
        ("plain", "s1", "127.7.0.2", 13306, "no check", 0, 0),
        ("plain", "gone", "127.7.0.9", 13306, "DOWN", 0, 0),
    ]
    assert [s.name for s in found.servers if s.serves] == ["s1", "s2", "s3", "s1"]


def test_that_a_drained_server_is_told_from_one_that_is_up() -> None:
    found = {s.name: s for s in _of(DRAINED).servers if s.backend == "galera"}
    assert (found["s2"].status, found["s2"].ordered_out, found["s2"].serves) == ("DRAIN", True, False)
    assert (found["s1"].status, found["s1"].ordered_out, found["s1"].serves) == ("UP", False, True)
    assert _of(DRAINED).level == "operator"


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        (None, "could not be asked"),
        (Output(1, b"", b"socat[7] E connect(5, AF=1 /run/haproxy/admin.sock, 25): Permission denied"), "Permission"),
        (Output(127, b"", b"bash: line 1: socat: command not found"), "socat: command not found"),
        (Output(0, b"5.5.5-10.11.18-MariaDB\n", b""), "what answered at the stats socket is no HAProxy"),
        (Output(0, b"", b""), "the stats socket gave no answer"),
    ],
)
def test_that_a_socket_that_gives_no_answer_of_haproxy_is_a_fault(output: Output | None, fault: str) -> None:
    found = parse_show(SOCKET, output)
    assert fault in found.fault
    assert (found.level, found.servers) == ("", ())


def test_that_a_name_that_could_be_read_as_more_than_a_name_is_left_out() -> None:
    text = WHOLE.text.replace("galera,s2,", '"galera","s2;shutdown",').replace("galera 2 s2 ", "galera 2 s2;shutdown ")
    assert [s.name for s in _of(Output(0, text.encode(), b"")).servers if s.backend == "galera"] == ["s1", "s3"]


def test_that_sockets_are_found_in_the_files_the_command_line_names_and_nothing_else_is_kept() -> None:
    table = (
        "  1 90 /usr/sbin/haproxy -Ws -f /etc/haproxy/haproxy.cfg -f /etc/haproxy/conf.d -p /run/haproxy.pid\n"
        "  2 90 /usr/sbin/mariadbd -f /etc/shadow\n"
    )
    assert config_paths(table) == ("/etc/haproxy/haproxy.cfg", "/etc/haproxy/conf.d")
    assert config_paths("  1 90 /usr/sbin/haproxy -Ws\n") == ("/etc/haproxy/haproxy.cfg",)
    config = (
        "global\n\tstats socket /run/haproxy/admin.sock mode 660 level admin\n  stats socket ipv4@127.0.0.1:9999\n"
        "  stats socket unix@/var/lib/haproxy/stats\n  # stats socket /run/haproxy/old.sock\n"
        "  stats socket /run/mysqld/mysqld.sock\nlisten x\n  stats auth admin:secret\n"
    )
    assert sockets_of(config) == ("/run/haproxy/admin.sock", "/var/lib/haproxy/stats")


# -- the reading road -------------------------------------------------------------------------------------------------


def test_that_the_reading_road_asks_haproxy_in_one_frozen_form_only() -> None:
    words = command_of(show_read(SOCKET)).argv
    command_of(commands.CONTENT.read("/etc/haproxy/haproxy.cfg", sudo=True))
    refused = [
        (*words[:-1], "/run/mysqld/mysqld.sock"),
        (*words[:-1], "/run/haproxy/admin.sock,fork"),
        (*words[:-1], "/run/haproxy/../haproxy.sock"),
        (*words[:-1], "haproxy.sock"),
        (*words, "more"),
        (*words[:4], words[4].replace("show stat", "set server galera/s1 state drain"), *words[5:]),
        ("bash", "-c", words[4], "pilothouse", SOCKET),
        ("bash", "-c", SET_STATE, "pilothouse", SOCKET, "galera/s1", "drain"),
        ("timeout", "8", "bash", "-c", SET_STATE, "pilothouse", SOCKET),
        ("socat", "-", f"UNIX-CONNECT:{SOCKET}"),
        ("cat", "/etc/haproxy/certs/key.pem"),
    ]
    for argv in refused:
        with pytest.raises(Refused):
            check_command(Command(argv))
    for path in ("/run/mysqld/mysqld.sock", "/run/haproxy/admin.sock,fork", "/run/haproxy/../haproxy.sock", "a.sock"):
        with pytest.raises(Refused, match="stats socket"):
            command_of(show_read(path))


# -- conditions -------------------------------------------------------------------------------------------------------


class _OneAnswer:
    """A host whose stats socket answers what the test says."""

    has_ssh, has_sql, kind = True, False, "mysql"

    def __init__(self, output: Output) -> None:
        self.output = output

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        assert read == show_read(SOCKET).in_c_locale()
        assert read.sudo
        del limit_s
        return self.output


class _Hosts:
    def __init__(self, output: Output) -> None:
        self.session = _OneAnswer(output)

    def observer(self, host: str) -> ObserverSession:
        assert host == "lb"
        return self.session  # type: ignore[return-value]

    def rights_reader(self, host: str) -> ObserverSession:
        raise NotImplementedError(host)

    def operator(self, host: str) -> OperatorSession:
        raise NotImplementedError(host)

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        raise NotImplementedError(run_id, hosts)

    def disarm(self) -> None:
        raise NotImplementedError

    @property
    def armed(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        raise NotImplementedError


def _look(output: Output, condition: BalancerServer) -> Answer:
    return RealProver(_Hosts(output), ManualClock()).look(condition, Past({}, {}), Memory())


@pytest.mark.parametrize(
    ("output", "state", "holds"),
    [
        (WHOLE, "free", True),
        (WHOLE, "serving", True),
        (WHOLE, "drained", False),
        (DRAINED, "free", False),
        (DRAINED, "serving", False),
        (DRAINED, "drained", True),
        (Output(1, b"", b"Permission denied"), "drained", None),
    ],
)
def test_that_a_proof_reads_the_order_and_the_health_of_a_server(
    output: Output, state: str, holds: bool | None
) -> None:
    answer = _look(output, replace(PLACE, state=state))  # type: ignore[arg-type]
    assert answer.holds is holds
    assert "HAProxy on lb" in answer.evidence


def test_that_a_drained_server_that_is_down_is_still_drained_and_said_to_be_so() -> None:
    """As HAProxy 2.6.12 shows it: the CSV says DOWN, only srv_admin_state tells of the drain."""
    text = DRAINED.text.replace("2 galera 2 s2 127.7.0.3 2 8 ", "2 galera 2 s2 127.7.0.3 0 8 ")
    text = text.replace("0,0,DRAIN,1", "0,0,DOWN,1")
    answer = _look(Output(0, text.encode(), b""), replace(PLACE, state="drained"))
    assert answer.holds is True
    assert "DOWN, set to drain or maintenance" in answer.evidence


def test_that_sessions_are_waited_for_and_with_patience_only_so_long() -> None:
    hosts, clock = _Hosts(DRAINED), ManualClock()
    prover, memory = RealProver(hosts, clock), Memory()
    strict = replace(PLACE, state="drained", at_most=0)
    patient = replace(strict, patience_s=20.0)
    assert prover.look(strict, Past({}, {}), memory).holds is False
    assert prover.look(patient, Past({}, {}), memory).holds is False
    clock.advance(19.0)
    assert prover.look(patient, Past({}, {}), memory).holds is False
    clock.advance(1.5)
    assert prover.look(patient, Past({}, {}), memory).holds is True
    assert prover.look(strict, Past({}, {}), memory).holds is False
    hosts.session.output = Output(0, DRAINED.text.replace("galera,s2,0,0,1,", "galera,s2,0,0,0,").encode(), b"")
    assert prover.look(strict, Past({}, {}), memory).holds is True


def test_that_a_server_haproxy_does_not_know_proves_nothing() -> None:
    assert _look(WHOLE, replace(PLACE, server="s9")).holds is None


# -- places, checks, steps --------------------------------------------------------------------------------------------


def _node(name: str, address: str, port: int = 13306) -> HostFacts:
    galera = GaleraFacts(node_name=name, node_address=address, cluster_status="Primary", state_uuid="uuid")
    node = NodeFacts(name, 1.0, Reach.FULL, server=ServerFacts(port=port), galera=galera)
    return HostFacts(name, address="db.example.org", node=node, server_up=True)


def _facts(output: Output = WHOLE, **lb: object) -> Facts:
    nodes = (_node("n1", "127.7.0.2:4567"), _node("n2", "127.7.0.3"), _node("n3", "127.7.0.4"))
    balancer = host_of("lb", balancers_found=("haproxy",), haproxies=(_of(output),))
    hosts = (*nodes, changed(balancer, **lb))
    return Facts(1.0, "uuid", "orders", members=("n1", "n2", "n3"), candidates=("lb",), hosts=hosts)


def test_that_a_node_is_found_by_address_and_port_in_every_backend() -> None:
    facts = _facts()
    assert [place.name for place in places_of(facts, "n1")] == ["galera/s1", "plain/s1"]
    assert balancer_hosts(facts, ("n1", "n2")) == ("lb",)
    assert all_behind(facts, ("n1", "n2", "n3"))
    stranger = replace(facts, hosts=(_node("n1", "127.7.0.2", 3306), *facts.hosts[1:]))
    assert places_of(stranger, "n1") == ()
    assert not all_behind(stranger, ("n1", "n2"))


def test_that_a_proxysql_leaves_the_choice_to_the_person() -> None:
    facts = _facts(balancers_found=("haproxy", "proxysql"))
    assert not all_behind(facts, ("n1", "n2", "n3"))
    check = balancers(facts, "haproxy")
    assert check.verdict is Verdict.WARN
    assert "does not notify ProxySQL" in check.evidence
    assert "the run asks you" in check.try_[0]
    assert balancers(facts, "person").verdict is Verdict.PASS


def test_that_a_node_somebody_drained_before_is_neither_drained_nor_put_back() -> None:
    facts = _facts(DRAINED)
    assert open_places(facts, "n2") == ()
    assert drain_steps(facts, "n2", 60.0) == []
    assert return_steps(facts, "n2") == []
    found = haproxy_checks(facts, ("n2",))[0]
    assert found.verdict is Verdict.BLOCK
    assert "drained before this run: stays drained" in found.evidence


def test_that_a_backend_without_another_server_up_blocks() -> None:
    check = haproxy_checks(_facts(), ("n1",))[1]
    assert check.verdict is Verdict.BLOCK
    assert check.evidence == "plain on lb has no server up except s1"
    assert haproxy_checks(_facts(), ("n2", "n3"))[1].verdict is Verdict.PASS


def test_that_a_socket_that_may_not_drain_blocks_with_the_line_to_add() -> None:
    facts = _facts()
    assert haproxy_checks(facts, ("n2",))[2].verdict is Verdict.PASS
    for one in (replace(_of(WHOLE), level="operator"), Haproxy("", fault="no 'stats socket' was found")):
        check = haproxy_checks(_facts(haproxies=(_of(WHOLE), one)), ("n2",))[2]
        assert check.verdict is Verdict.BLOCK
        assert ADMIN in check.try_[0]


def test_that_each_place_is_an_obligation_whose_order_is_shown_word_for_word() -> None:
    facts = _facts()
    first, second, wait = drain_steps(facts, "n1", 60.0, "n1:")
    assert (first.host, second.host, wait.host) == ("lb", "lb", "")
    assert first.takes is not None
    assert second.takes is not None
    assert first.takes.key != second.takes.key
    assert wording(first.action)[0] == (
        """sudo bash -c 'said=$(printf "set server %s state %s\\n" "$2" "$3" | socat -t 5 - "UNIX-CONNECT:$1") """
        """&& echo "$said" && test -z "$said"' pilothouse /run/haproxy/admin.sock galera/s1 drain"""
    )
    assert wording(first.takes.release)[0].endswith("galera/s1 ready")
    assert first.takes.release_proof == (BalancerServer("lb", SOCKET, "galera", "s1", "free"),)
    back = return_steps(facts, "n1", "n1:")
    assert [step.discharges for step in back] == [(first.takes.key,), (second.takes.key,)]
    assert back[0].proof == (BalancerServer("lb", SOCKET, "galera", "s1", "serving"),)
    assert Listening("lb", "127.7.0.2", 13306) in back[1].proof  # HAProxy does not check this one itself
    assert [c.backend for c in out_of(facts, "n1") if isinstance(c, BalancerServer)] == ["galera", "plain"]


def test_that_sessions_are_closed_only_when_the_person_says_so() -> None:
    facts = _facts()
    assert not any("shutdown sessions" in line for s in drain_steps(facts, "n2", 9.0) for line in wording(s.action))
    *_, wait, cut = drain_steps(facts, "n2", 9.0, cut=True)
    assert wait.limit_s > 9.0
    assert [line.rpartition(SOCKET)[2] for line in wording(cut.action)] == [" galera/s2 maint", " galera/s2"]
    assert "shutdown sessions server" in wording(cut.action)[1]
    assert cut.already == cut.proof == (BalancerServer("lb", SOCKET, "galera", "s2", "drained", 0),)


def test_that_a_node_is_drained_in_haproxy_before_a_freeze_only_where_that_can_be_done() -> None:
    assert can_drain(_facts(), "n2")
    assert not can_drain(_facts(), "n1")  # the only server of one backend
    assert not can_drain(_facts(DRAINED), "n3")  # its socket is of level operator
    assert not can_drain(_facts(haproxies=()), "n2")
    (*_, wait) = drain_steps(_facts(), "n2", 9.0, patient=True)
    assert wait.limit_s > 9.0
    assert not any("shutdown sessions" in line for line in wording(wait.action))


def _drain_field(facts: Facts, **inputs: str) -> tuple[str, tuple[str, ...]]:
    field = next(f for f in procedure_named("rolling-restart").fields(facts, inputs) if f.name == "drain")
    return field.default, tuple(value for value, _ in field.choices)


def test_that_haproxy_is_proposed_only_where_every_node_of_the_plan_is_behind_it() -> None:
    ways = ("server", "person", "none")
    assert _drain_field(_facts()) == ("haproxy", ("haproxy", *ways))
    assert _drain_field(_facts(DRAINED)) == ("server", ("haproxy", *ways))
    assert _drain_field(_facts(DRAINED), nodes="n1, n3") == ("haproxy", ("haproxy", *ways))
    assert _drain_field(_facts(balancers_found=("haproxy", "proxysql"))) == ("server", ("haproxy", *ways))
    assert _drain_field(_facts(balancers_found=(), haproxies=())) == ("server", ways)


def test_that_a_node_goes_down_only_while_haproxy_holds_to_its_orders_and_its_host_is_in_the_plan() -> None:
    procedure, facts = procedure_named("rolling-restart"), _facts()
    plan = procedure.plan(facts, {"nodes": "n2"})
    assert violations(plan) == ()
    assert (plan.hosts, plan.voters) == (("n1", "n2", "n3", "lb"), ("n1", "n2", "n3"))
    ids = [step.step_id for step in plan.steps]
    wanted = ["n2:haproxy-drain-n2-1", "n2:haproxy-empty-n2", "n2:stop-n2", "n2:start-n2", "n2:haproxy-ready-n2-1"]
    assert [step_id for step_id in ids if step_id in wanted] == wanted
    assert set(out_of(facts, "n2")) <= set(plan.step("n2:stop-n2").before)
    other = procedure.plan(facts, {"nodes": "n2", "drain": "server"})
    assert other.hosts == ("n1", "n2", "n3")
    assert not any("haproxy" in step.step_id for step in other.steps)


class Table:
    """A host that shows this table of processes, and nothing else."""

    def __init__(self, table: str | None) -> None:
        self.table = table

    def shared(self, part: str, read: CommandRead) -> str | None:
        del part, read
        return self.table

    def run(self, part: str, read: CommandRead, *, limit_s: float = 4.0) -> None:
        del part, read, limit_s


OWN_ALONE = "  910  40 -bash\n  944   0 ps -e -ww -o pid= -o etimes= -o args=\n"
"""What a login sees where /proc is mounted with hidepid=2 (proc(5))."""


@pytest.mark.parametrize(
    ("table", "found", "shown"),
    [
        (None, (), False),
        ("", (), False),
        (OWN_ALONE, (), False),
        ("    1 900 /sbin/init\n" + OWN_ALONE, (), True),
        ("    1 900 /sbin/init\n  77 9 /usr/bin/maxscale -d\n", ("maxscale",), True),
        ("    1 900 /sbin/init\n  77 9 /bin/mysqlrouter -c /etc/r.conf\n", ("mysqlrouter",), True),
    ],
)
def test_that_no_balancer_is_told_to_be_there_where_no_process_of_others_was_seen(
    table: str | None, found: tuple[str, ...], shown: bool
) -> None:
    read = Balancers.read(host_of("n1"), cast("Any", Table(table)))
    assert (read.found, read.hidden is False, read.hidden is None) == (found, shown, table is None)
    facts = Facts(1.0, "uuid", "orders", members=("n1",), candidates=(), hosts=(host_of("n1").with_part(read),))
    check = balancers(facts, "nobody")
    assert (check.verdict is Verdict.PASS) is (shown and not found)
    assert check.unknown is not shown
    assert ("not known for n1" in check.evidence) is not shown
    assert balancers(facts, "person").verdict is Verdict.PASS


def test_that_of_a_host_that_was_not_read_at_all_no_balancer_is_said_to_be_absent() -> None:
    read = Balancers.read(host_of("n1"), cast("Any", Table("    1 900 /sbin/init\n")))
    dark = host_of("lb1", problems=(Problem("ssh", "No answer on port 22."),))
    check = balancers(Facts(1.0, "uuid", "orders", hosts=(host_of("n1").with_part(read), dark)), "nobody")
    assert check.unknown
    assert "not known for lb1: the process table of lb1 could not be read (No answer on port 22)" in check.evidence
