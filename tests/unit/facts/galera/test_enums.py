"""A variable with several words is no switch: each word is known for what it is, another one is not known and shown."""

from __future__ import annotations

import pytest

from services.discovery.model import NodeView
from services.facts.galera.status import parse_galera
from services.facts.galera.whole import Lack, lacks
from services.facts.model import ReplicationFacts
from services.facts.mongodb.sharding import parse_cluster
from services.facts.numeric import replication_values
from services.facts.server.server import parse_server
from services.types import Health
from tests.unit.discovery.scenes import channel, estate, galera, member, node, plain, server
from tests.unit.facts.server.test_cut_texts import DATA


@pytest.mark.parametrize(
    ("word", "read_only", "strict"),
    [
        ("OFF", False, None), ("ON", True, None), ("NO_LOCK", True, None), ("NO_LOCK_NO_ADMIN", True, True),
        ("no_lock", True, None), ("0", False, None), ("1", True, None), ("", None, None), ("NO_WRITES", None, None),
    ],
)  # fmt: skip
def test_that_each_word_of_read_only_is_known_for_what_it_is(
    word: str, *, read_only: bool | None, strict: bool | None
) -> None:
    told = parse_server({"version": "12.3.1-MariaDB", "read_only": word}, {}, 1.0)
    assert (told.read_only, told.super_read_only) == (read_only, strict)


def _card(read_only: str) -> NodeView:
    told = parse_server({"read_only": read_only}, {}, 1.0)
    own = server(1, read_only=told.read_only, super_read_only=told.super_read_only, read_only_word=told.read_only_word)
    return node(estate(plain(1, server=own)), "db1")


def test_that_a_server_of_mariadb_12_that_takes_no_writes_is_read_only_on_its_card() -> None:
    variables = dict(line.split("\t") for line in (DATA / "mariadb-12.3.1-variables.tsv").read_text().splitlines())
    assert _card(variables["read_only"]).role == "read only"
    assert _card("OFF").role == ""


def test_that_a_word_of_read_only_that_nobody_knows_stands_on_the_card_as_it_is() -> None:
    assert _card("NO_WRITES_AT_ALL").role == "read_only NO_WRITES_AT_ALL"


@pytest.mark.parametrize("mode", ["DISABLED", "disabled", ""])
def test_that_a_node_in_no_maintenance_lacks_nothing(mode: str) -> None:
    assert Lack.MAINTAINED not in lacks(galera(1, maint_mode=mode))
    assert node(estate(member(1, maint_mode=mode), member(2), member(3)), "db1").health is Health.GOOD


@pytest.mark.parametrize("mode", ["MAINTENANCE", "SHUTDOWN", "Maintenance"])
def test_that_a_node_in_maintenance_is_not_green_and_says_why(mode: str) -> None:
    options = {"wsrep_provider": "/usr/lib/galera4/libgalera_smm.so", "pxc_maint_mode": mode}
    view = parse_galera({}, options)
    assert view is not None
    card = node(estate(member(1, maint_mode=view.maint_mode), member(2), member(3)), "db1")
    assert card.health is Health.WARN
    assert f"accepts no clients from a proxy: pxc_maint_mode is {mode.upper()}" in card.reason


def test_that_a_maintenance_mode_that_nobody_knows_is_shown_as_it_is() -> None:
    card = node(estate(member(1, maint_mode="DRAINING"), member(2), member(3)), "db1")
    assert (card.health, "pxc_maint_mode of db1 is DRAINING, which is not known" in card.reason) == (Health.WARN, True)


@pytest.mark.parametrize(
    ("status", "settings", "on"),
    [
        ({"mode": "full"}, None, True), ({"mode": "off"}, None, False), ({"mode": "autoSplitOnly"}, None, False),
        ({"mode": "paused"}, None, None), (None, [], True), (None, [{"_id": "balancer", "stopped": True}], False),
        (None, [{"_id": "balancer", "mode": "full"}], True),
        (None, [{"_id": "balancer", "mode": "autoSplitOnly"}], False),
        (None, [{"_id": "balancer", "mode": "paused"}], None), (None, None, None),
        (None, [{"_id": "balancer", "stopped": True, "mode": "paused"}], False),
        (None, [{"_id": "balancer", "stopped": "maybe"}], None),
    ],
)  # fmt: skip
def test_that_each_mode_of_the_balancer_is_known_for_what_it_does(
    status: dict[str, str] | None, settings: list[dict[str, object]] | None, *, on: bool | None
) -> None:
    cluster = parse_cluster(balancer=status, settings=settings)  # type: ignore[arg-type]
    assert cluster.balancer is on
    assert cluster.balancer_mode == (status or {}).get("mode", "")


def test_that_a_state_of_the_group_that_nobody_knows_is_not_known_and_shown() -> None:
    card = node(estate(member(1, cluster_status="Quorate"), member(2), member(3)), "db1")
    assert card.health is Health.UNKNOWN
    assert "Quorate" in card.reason


@pytest.mark.parametrize(
    ("word", "value"), [("Yes", 1.0), ("No", 0.0), ("Connecting", 0.0), ("Paused", None), ("", None)]
)
def test_that_a_thread_in_a_state_that_nobody_knows_is_no_number(word: str, value: float | None) -> None:
    values = replication_values(ReplicationFacts(channels=(channel(1, io_running=word),)))
    assert values.get("repl.default.io_running") == value
