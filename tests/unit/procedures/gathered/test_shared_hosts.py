"""What a host carries stands in the inventory: whatever its servers call themselves, and whether they answer or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.connections.ports import ObserverSession
from services.discovery.looks.crawl import CrawlResult, crawl
from services.discovery.snapshot import updated_estate
from services.errors import AuthFailed, BadInput
from services.history.state.store import StateStore
from services.inventory.model import ClusterEntry, HostEntry, Instance, Inventory, SqlAccess, with_instances
from services.inventory.trust import Trust, trust_of
from services.procedures.catalogue import all_procedures
from services.procedures.journal.finding import Found, hosts_meant, refuse_shared_hosts
from services.procedures.plan.host_facts import Facts
from services.procedures.service import service as module
from services.procedures.service.service import Draft, ProcedureService
from services.secrets import MemoryVault
from tests.unit.procedures.engine_world import FixedKey, plan_of, switch
from tests.unit.recorded.replies import ReplaySession, load

GALERA = load("situations/galera-healthy.json")["hosts"]
WORDS = "n1 has more than one server; procedures support one server per host."
SQL = SqlAccess("observer")
N1, N2, N3 = (HostEntry(name, GALERA[name]["address"], sql=SQL) for name in ("n1", "n2", "n3"))
SHARED = replace(N1, beside=(Instance("n1", "mysql", 3307, SqlAccess("other", port=3307)),))
INVENTORY = Inventory(2, "", (SHARED, N2, N3), (ClusterEntry("orders", ("n1", "n2", "n3")),))


def _refusing(entry: HostEntry) -> ObserverSession:
    if entry.name == "n1":
        raise AuthFailed("The secret is missing.", host="n1")
    return _answering(entry)


def _answering(entry: HostEntry) -> ReplaySession:
    return ReplaySession(entry.name, {"ssh": False} if entry.on else {**GALERA[entry.name], "ssh": False})


class _Hanging(ReplaySession):
    """A server whose login takes longer than anybody waits."""

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        del limit_s
        SystemClock().sleep(0.6)
        return {}


def _slow(entry: HostEntry) -> ObserverSession:
    return _Hanging("n1", {}) if entry.name == "n1" else _answering(entry)


def _crawled(opened: object = _answering) -> CrawlResult:
    return crawl(with_instances(INVENTORY.hosts), opened, SystemClock(), trust=Trust(), limit_s=0.3)  # type: ignore[arg-type]


def _found(inventory: Inventory) -> Found:
    estate = updated_estate(None, _crawled().facts, SystemClock().wall())
    return Found(inventory, trust_of(inventory), estate.clusters)


@pytest.mark.parametrize("opened", [_slow, _refusing])
def test_that_a_host_that_gives_no_answer_carries_what_is_written_of_it(opened: object) -> None:
    facts = _crawled(opened).facts["n1"]
    assert facts.server is None
    assert facts.beside == ("n1:3307",)


def test_that_a_shared_host_is_refused_by_the_inventory_alone() -> None:
    for key in ("n1", "n1:3307"):
        with pytest.raises(BadInput) as refused:
            refuse_shared_hosts(INVENTORY, ("n2", key))
        assert refused.value.sentence == WORDS
    refuse_shared_hosts(INVENTORY, ("n2", "n3", "nobody"))


def test_that_the_hosts_of_a_cluster_are_known_by_each_of_its_names() -> None:
    seen = _found(INVENTORY).clusters
    group = next(one for one in seen if one.components)
    assert group.name != "orders"
    for name in ("orders", group.name, group.cluster_id, ""):
        assert set(hosts_meant(name, INVENTORY, seen)) >= {"n1", "n2", "n3"}
    assert hosts_meant("orders", INVENTORY, ()) == ("n1", "n2", "n3")
    assert hosts_meant("another", INVENTORY, seen) == ()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcedureService]:
    def mock_of_finding(inventory: Inventory, *_: object) -> Found:
        return _found(inventory)

    monkeypatch.setattr(module, "find_hosts", mock_of_finding)
    store = StateStore.open(tmp_path / "state.sqlite")
    yield ProcedureService(INVENTORY, MemoryVault(), store, SystemClock(), FixedKey())
    store.close()


def test_that_nothing_is_gathered_of_a_cluster_that_the_inventory_names_by_its_own_word(
    service: ProcedureService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "gather", lambda *_, **__: pytest.fail("hosts were read"))
    with pytest.raises(BadInput, match="more than one server"):
        service.gather("orders", "rolling-restart")


def test_that_members_known_by_their_disks_are_judged_before_any_question(
    service: ProcedureService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mock_of_gathering(*_: object, **__: object) -> Facts:
        return Facts(0.0, "uuid", "c", members=("n2", "n1"))

    monkeypatch.setattr(module, "gather", mock_of_gathering)
    with pytest.raises(BadInput, match="more than one server"):
        service.gather("another")


def test_that_no_run_is_begun_on_a_host_that_another_server_was_written_to_since(service: ProcedureService) -> None:
    plan = plan_of(switch("n1", "a"))
    draft = Draft(all_procedures()[0].about, Facts(0.0, "uuid", "c1"), (), {}, (), (), plan)
    with pytest.raises(BadInput, match="more than one server"):
        service.new_run(draft)
    assert service.journal.runs() == ()
    service.use(replace(INVENTORY, hosts=(N1, N2, N3)))
    assert service.new_run(draft) == "1"
