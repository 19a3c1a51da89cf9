"""The account for changes is asked where a procedure is opened, and nowhere else (recorded replies of real servers)."""

from __future__ import annotations

from services.clock import SystemClock
from services.connections.ports import ObserverSession
from services.inventory.model import HostEntry, Inventory, SqlAccess
from services.procedures.gather.gather import gather
from services.procedures.journal.finding import nothing_found
from services.procedures.plan.part import Part
from services.procedures.plan.parts.server.rights import Rights
from services.procedures.plan.parts.server.sessions import Sessions
from services.secrets import SecretRef
from tests.unit.recorded.replies import ReplaySession, load

GALERA = load("situations/galera-healthy.json")["hosts"]
ASYNC = load("situations/async-healthy.json")["hosts"]
HOSTS = {**GALERA, **ASYNC}
SQL = SqlAccess("observer", operator_user="pilot", operator_password=SecretRef("env", "PILOT"))
INVENTORY = Inventory(hosts=tuple(HostEntry(name, host["address"], sql=SQL) for name, host in HOSTS.items()))


class Recorded:
    """Reading sessions that replay; keeps for whom the account for changes was used."""

    def __init__(self) -> None:
        self.as_operator: list[str] = []

    def observer(self, host: str) -> ObserverSession:
        return ReplaySession(host, HOSTS[host])

    def rights_reader(self, host: str) -> ObserverSession:
        self.as_operator.append(host)
        return ReplaySession(host, HOSTS[host])


def _asked(needs: frozenset[type[Part]], *, operator: bool) -> list[str]:
    hosts = Recorded()
    gather(hosts, INVENTORY, SystemClock(), needs=needs, operator=operator)  # type: ignore[arg-type]
    return sorted(hosts.as_operator)


def test_that_a_procedure_s_questions_are_shown_without_the_account_for_changes() -> None:
    assert _asked(frozenset({Rights}), operator=False) == []


def test_that_the_account_for_changes_is_left_alone_where_nobody_asks_for_rights() -> None:
    assert _asked(frozenset({Sessions}), operator=True) == []


def test_that_a_plan_asks_the_rights_on_its_cluster_and_not_on_another() -> None:
    assert _asked(frozenset({Rights}), operator=True) == ["n1", "n2", "n3"]


def test_that_a_remembered_member_is_reached_only_where_it_may_be() -> None:
    seed = HostEntry("n1", "10.213.1.11", sql=SQL)
    remembered = {"n2": ("10.213.1.12", "n1"), "gone": ("10.213.1.13", "somebody")}
    assert nothing_found(Inventory(hosts=(seed,))).entry("n2", remembered) is None
    allowed = nothing_found(Inventory(hosts=(seed,), also=("10.213.1.0/24",)))
    found = allowed.entry("n2", remembered)
    assert found is not None
    assert (found.address, found.ways_of, found.sql) == ("10.213.1.12", "n1", SqlAccess("observer"))
    assert allowed.entry("gone", remembered) is None
    assert allowed.addresses() == {"n1": ("10.213.1.11", "n1")}
