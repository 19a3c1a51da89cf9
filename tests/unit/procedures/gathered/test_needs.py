"""Only what a card says that its procedure needs is looked at, and only that is read of a host."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from services.clock import ManualClock
from services.connections.ports import ObserverSession, Output
from services.connections.reads import commands
from services.connections.reads.registry import command_of
from services.errors import Unreachable
from services.inventory.model import HostEntry, Inventory, SqlAccess
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.gather.gather import gather
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.looks import LOOKED_AT
from services.procedures.plan.part import Part, Turn, in_order
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.parts.galera.links import Links, Listening
from services.procedures.plan.parts.galera.provider import Provider
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.sessions import Sessions
from services.procedures.plan.parts.server.variables import Variables
from services.procedures.plan.procedure import Procedure
from tests.faults.scripted import config_servers, mongo
from tests.faults.scripted.cluster import crashed, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures import needs_guard
from tests.unit.procedures.host_of import every_part
from tests.unit.procedures.scripted_sessions import ScriptedSession
from tests.unit.procedures.toys.catalogue.toy.hoist_flag.procedure import HoistFlag
from tests.unit.procedures.toys.parts.toy.flag import Flag
from tests.unit.recorded.replies import ReplaySession, load

GALERA = load("situations/galera-healthy.json")["hosts"]
INVENTORY = Inventory(hosts=tuple(HostEntry(n, h["address"], sql=SqlAccess("observer")) for n, h in GALERA.items()))
FOR_PROGRESS: dict[str, set[type[Part]]] = {"bootstrap-after-crash": {DataSize, Gcache}}
"""What a card names for looks of its run alone: how far an SST has come."""


class Recorded:
    """Reading sessions that replay; keeps what each was asked."""

    def __init__(self) -> None:
        self.sessions: dict[str, ReplaySession] = {}

    def observer(self, host: str) -> ObserverSession:
        return self.sessions.setdefault(host, ReplaySession(host, GALERA[host]))

    rights_reader = observer

    def asked(self) -> list[str]:
        return self.sessions["n1"].asked


def gathered(*needs: type[Part]) -> tuple[Facts, list[str]]:
    hosts = Recorded()
    facts = gather(hosts, INVENTORY, ManualClock(), needs=frozenset(needs))  # type: ignore[arg-type]
    return facts, hosts.asked()


# -- what is looked at -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
def test_that_no_question_check_or_plan_looks_at_a_part_that_its_card_does_not_name(procedure: Procedure) -> None:
    name = procedure.about.name
    seen = needs_guard.asked[name]  # by the guard that stands at every answer of every test of this folder
    cluster = whole("n1", "n2", "n3", spare="spare") if name == "add-node" else whole("n1", "n2", "n3")
    cluster = crashed("n1", "n2", "n3") if name == "bootstrap-after-crash" else cluster
    if name.startswith("mongo-"):
        old = name == "mongo-config-rs"
        cluster = config_servers.sharded("n1", "n2") if old else mongo.sharded("m1", "m2", "m3", router="r1")
    facts = facts_of(cluster)
    inputs = filled(procedure.fields(facts, {}), {"version": mongo.NEW} if name == "mongo-rolling-upgrade" else {})
    procedure.preflight(facts, inputs)
    if not procedure.faults(facts, inputs) and (plan := procedure.plan(facts, inputs)).steps:
        procedure.continued(facts, inputs, plan)
    assert seen
    assert seen <= procedure.about.needs


def test_that_the_guard_tells_a_procedure_that_looks_at_more_than_its_card_names() -> None:
    class Curious(HoistFlag):
        about = replace(HoistFlag.about, needs=frozenset({Unit}))

        def preflight(self, facts: Facts, inputs: dict[str, str]) -> tuple[()]:  # type: ignore[override]
            del inputs
            assert facts.hosts[0][Unit].name
            assert facts.hosts[0][Sessions].clients is not None
            return ()

    facts = facts_of(whole("n1", "n2"))
    with pytest.MonkeyPatch.context() as patch:
        needs_guard.stand(patch, Curious())
        with pytest.raises(needs_guard.NotNeeded, match="hoist-flag looks at Sessions"):
            Curious().preflight(facts, {})


def test_that_the_guard_tells_a_look_that_takes_more_than_is_read_for_every_run() -> None:
    class Asking:
        facts = facts_of(whole("n1", "n2"))

    def curious(self: Stopped, asking: Asking) -> bool:
        del self
        assert asking.facts.host("n1")[Unit].name
        return bool(asking.facts.host("n1")[Sessions].clients)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stopped, "look", curious)
        needs_guard.stand(patch)
        with pytest.raises(needs_guard.NotNeeded, match="a look takes Sessions"):
            Stopped("n1", "mariadb.service").look(Asking())  # type: ignore[arg-type]


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
def test_that_a_card_names_no_part_that_nobody_could_look_at(procedure: Procedure) -> None:
    assert procedure.about.needs <= set(every_part())
    assert procedure.about.needs >= FOR_PROGRESS.get(procedure.about.name, set())
    assert not procedure.about.needs & {Listening}  # what another part is made from is read without being named


# -- what is read ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [procedure.about.name for procedure in all_procedures()])
def test_that_nothing_is_read_that_neither_the_card_nor_a_look_needs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[type[Part]] = set()
    for kind in every_part():
        monkeypatch.setattr(kind, "read", _noting(kind, read))
    needs = procedure_named(name).about.needs | LOOKED_AT
    facts, _ = gathered(*needs)
    assert read
    assert read <= set(in_order(needs))
    assert {type(part) for host in facts.hosts for part in host.parts} <= set(in_order(needs))
    assert set(every_part()) - set(in_order(needs))  # of every procedure something is left unread


def _noting(kind: type[Part], read: set[type[Part]]) -> classmethod:  # type: ignore[type-arg]
    real = kind.read.__func__  # type: ignore[attr-defined]

    def noting(cls: type[Part], host: HostFacts, reading: object) -> Part | None:
        read.add(kind)
        found: Part | None = real(cls, host, reading)
        return found

    return classmethod(noting)


def test_that_a_part_costs_its_own_reads_and_no_others() -> None:
    bare = gathered()[1]
    listening = " ".join(command_of(commands.LISTENING).argv)
    costs = {Sessions: "information_schema.processlist", Listening: listening, Variables: "SHOW GLOBAL VARIABLES"}
    for kind, words in costs.items():
        more = [one for one in gathered(kind)[1] if words in one]
        assert len(more) == len([one for one in bare if words in one]) + 1, words  # discovery itself reads some


def test_that_what_several_parts_are_made_from_is_read_once() -> None:
    alone, together = gathered(Variables)[1], gathered(Variables, Provider, Gcache)[1]
    for words in ("SHOW GLOBAL VARIABLES", "df -PB1 /var/lib/mysql", "ls -lAn --time-style=+%s /var/lib/mysql"):
        assert together.count(words) == alone.count(words), words


def test_that_the_option_files_of_a_running_server_are_left_alone_by_a_mere_look_at_the_cluster() -> None:
    facts, asked = gathered()
    assert facts.cluster is not None
    assert not any("print-defaults" in one or "my.cnf" in one for one in asked)
    assert any("my.cnf" in one for one in gathered(Sessions)[1])  # who is a member may stand in them


# -- parts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", every_part(), ids=lambda kind: kind.__name__)
def test_that_a_part_that_was_not_read_knows_nothing(kind: type[Part]) -> None:
    assert HostFacts("n1")[kind] == kind()
    assert not any(getattr(kind(), name) for name in kind.__slots__ if name != "disk")


def test_that_a_part_stands_once_on_a_host_and_the_newest_counts() -> None:
    host = HostFacts("n1").with_part(Unit("mariadb.service")).with_part(Options(sst_user="sst"))
    host = host.with_part(Unit("mysql.service"))
    assert (host[Unit].name, host[Options].sst_user, len(host.parts)) == ("mysql.service", "sst", 2)


def test_that_parts_are_read_after_those_that_they_are_made_from() -> None:
    for order in (in_order(every_part()), in_order({Gcache, Links})):
        for place, kind in enumerate(order):
            assert set(kind.made_from) <= set(order[:place]), kind
            turns = [before.turn.value for before in kind.made_from]
            assert max(turns, default=0) <= kind.turn.value
    assert Listening in in_order({Links})


def test_that_a_toy_part_is_read_without_an_edit_of_production() -> None:
    session = ScriptedSession("n1")
    session.programs = {"cat": Output(0, b"flag = red\n", b"")}
    session.state = Unreachable("No server.", host="n1")

    class Hosts:
        def observer(self, host: str) -> ObserverSession:
            assert host == "n1"
            return session

    inventory = Inventory(hosts=(HostEntry("n1", "10.0.0.1"),))
    for needs, colour in ((frozenset({Flag}), "red"), (frozenset({Unit}), "")):
        facts = gather(Hosts(), inventory, ManualClock(), needs=needs)  # type: ignore[arg-type]
        assert facts.host("n1")[Flag].colour == colour


def test_that_the_account_for_changes_is_known_in_the_turn_of_rights_only() -> None:
    @dataclass(frozen=True, slots=True)
    class Eyes(Part):
        turn: ClassVar[Turn] = Turn.COMPANY
        operator: bool = False

        @classmethod
        def read(cls, host: HostFacts, reading: object) -> Eyes:
            del host
            return cls(reading.operator is not None)  # type: ignore[attr-defined]

    facts = gather(
        Recorded(),  # type: ignore[arg-type]
        INVENTORY,
        ManualClock(),
        needs=frozenset({Eyes, Rights}),
        operator=True,
    )
    assert not any(host[Eyes].operator for host in facts.hosts)
