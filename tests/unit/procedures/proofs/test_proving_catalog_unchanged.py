"""What a colleague changed in the set that a run has made: told by the metadata themselves, named, remembered."""

from __future__ import annotations

from services.clock import ManualClock
from services.errors import Unreachable
from services.procedures.conditions.config_servers.unchanged import CatalogNoted, CatalogUnchanged, ChangesKept
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from tests.unit.procedures.proofs.test_proving_config_servers import Server
from tests.unit.procedures.scripted_sessions import Attempt, ScriptedHosts
from tests.unit.recorded.mongo_replies import recorded

MADE = {"initiate": 5.0}
UNCHANGED = CatalogUnchanged("c1", "initiate")


def _server(databases: tuple[str, ...] = ("shop",), collections: tuple[str, ...] = ("shop.orders",)) -> Server:
    """A config server as 3.2.5 told its hashes, with these names."""
    server = Server("c1", "1-sccc")
    server.found = {
        "config-databases": tuple({"_id": one} for one in databases),
        "config-collections": tuple({"_id": one} for one in collections),
    }
    return server


def _changed(server: Server, *names: str) -> Server:
    same = recorded("1-sccc.c1").answer("config.dbhash")
    assert same is not None
    told = same["collections"]
    assert isinstance(told, dict)
    server.told["config-hash"] = {**same, "collections": told | dict.fromkeys(names, "0" * 32)}
    return server


def _look(condition: CatalogNoted | CatalogUnchanged | ChangesKept, server: Server, past: Past) -> Answer:
    hosts = ScriptedHosts()
    hosts.sessions["c1"] = server
    return Attempt(hosts, ManualClock()).look(condition, past)


def _noted(began: dict[str, float] = MADE) -> Past:
    found = _look(CatalogNoted("c1"), _server(), Past({}, {}))
    assert found.holds is True
    return Past(dict(found.kept), began)


def test_that_what_came_is_named() -> None:
    new = _changed(_server(("colleague", "shop"), ("colleague.x", "shop.orders")), "databases", "collections", "chunks")
    found = _look(UNCHANGED, new, _noted())
    assert found.holds is False
    assert "chunks; collections (new: colleague.x); databases (new: colleague)" in found.evidence


def test_that_what_went_is_named_and_of_many_a_few() -> None:
    gone = _changed(_server((), tuple(f"shop.c{n}" for n in range(9))), "databases", "collections")
    evidence = _look(UNCHANGED, gone, _noted()).evidence
    assert "databases (gone: shop)" in evidence
    assert "shop.c4" in evidence
    assert "shop.c5" not in evidence


def test_that_nothing_is_changed_while_the_set_was_not_made_or_holds_the_same() -> None:
    assert _look(UNCHANGED, _changed(_server(), "chunks"), _noted({})).holds is True
    assert _look(UNCHANGED, _server(), _noted()).holds is True


def test_that_what_was_never_noted_is_not_known() -> None:
    assert _look(UNCHANGED, _server(), Past({}, MADE)).holds is None


def test_that_of_a_server_which_the_undo_has_stopped_what_was_seen_last_counts() -> None:
    past, gone = _noted(), _server()
    gone.told["config-hash"] = Unreachable("No route to host.", host="c1")
    assert _look(UNCHANGED, gone, past).holds is None
    same = _look(UNCHANGED, _server(), past)
    assert _look(UNCHANGED, gone, Past({**past.kept, **dict(same.kept)}, MADE)).holds is True
    other = _look(UNCHANGED, _changed(_server(), "chunks"), past)
    assert _look(UNCHANGED, gone, Past({**past.kept, **dict(other.kept)}, MADE)).holds is None


def test_that_a_person_s_word_is_looked_back_to() -> None:
    keeps = ChangesKept("c1", "goes-on")
    assert _look(keeps, _server(), Past({"goes-on": "yes"}, {})).holds is True
    assert _look(keeps, _server(), Past({"goes-on": "stop"}, {})).holds is False
    assert _look(keeps, _server(), Past({}, {})).holds is False
