"""What a procedure may send to a MongoDB server: as data, as text, and over the changing road to a scripted server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import bson
import pytest

from services.connections.limits import Limits
from services.connections.mongo.change import Documents, MongoCommand, Pair, SetChange, command, fields
from services.connections.mongo.reconfigure import changed
from services.connections.operator.session import HostOperator
from services.connections.ports import Output
from services.connections.sql.statement import set_global
from services.errors import BadInput, QueryFailed, Refused, Unreachable
from services.inventory.model import HostEntry, Instance, MongoAccess, SqlAccess, SshAccess
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.actions import Mongo, Reconfigure
from services.procedures.plan.wording import wording
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.mongo_peer import HELLO_32, HELLO_80, MongoPeer

FORMS = pytest.mark.parametrize("hello", [HELLO_32, HELLO_80], ids=["as 3.2", "as 8.0"])
LIMITS = Limits(connect_s=10.0, handshake_s=10.0)
WRITE = command("trial", insert="rows", documents=Documents((fields(by="us", n=1),)), writeConcern=fields(w="majority"))
SET_ID = bson.ObjectId()
CONFIG = {
    "_id": "rs0",
    "version": 7,
    "members": [{"_id": 0, "host": "m1:27018", "votes": bson.Int64(1)}, {"_id": 3, "host": "m2:27018", "votes": 1}],
    "settings": {"replicaSetId": SET_ID, "electionTimeoutMillis": 10_000},
    "ofTomorrow": {"kept": True},
}


def operator(peer: MongoPeer, **more: Any) -> HostOperator:
    sql = MongoAccess("watch" if more else "", SecretRef("env", "P"), port=peer.port, tls="off", **more)
    entry = HostEntry("n1", "127.0.0.1", sql=sql, kind="mongodb")
    return HostOperator(entry, MemoryVault({"env:P": "w", "env:Q": "p"}), limits=LIMITS)


def _set_server(kept: list[Mapping[str, Any]]) -> dict[str, Any]:
    def reconfig(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        kept.append(asked["replSetReconfig"])
        return {"ok": 1.0}

    return {"replSetGetConfig": {"config": CONFIG, "ok": 1.0}, "replSetReconfig": reconfig}


def test_that_a_command_is_printed_as_it_would_be_typed_and_sent_in_its_order() -> None:
    assert str(WRITE) == (
        'db.getSiblingDB("trial").runCommand({insert: "rows", documents: [{by: "us", n: 1}], '
        'writeConcern: {w: "majority"}})'
    )
    assert list(WRITE.document.as_dict()) == ["insert", "documents", "writeConcern"]
    assert wording(Mongo(WRITE), "n1") == (f"n1: {WRITE}",)


@pytest.mark.parametrize("name", ["", "a.b", "$where", "a b", 'a"'])
def test_that_no_name_of_a_field_is_anything_but_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="not a field's name"):
        Pair(name, 1)


@pytest.mark.parametrize("database", ["", "a.b", "$external", "a/b", "x" * 64])
def test_that_no_command_goes_to_what_is_no_database(database: str) -> None:
    with pytest.raises(ValueError, match="not a command to a database"):
        MongoCommand(database, fields(ping=1))


@pytest.mark.parametrize("where", ["", "members.x.votes", "members.1.$set", "_id.x", "members.1", "a.b.c"])
def test_that_no_change_goes_where_a_set_has_no_setting(where: str) -> None:
    with pytest.raises(ValueError, match="not a setting"):
        SetChange(1, ((where, 1),))


def test_that_both_survive_the_journal() -> None:
    for action in (Mongo(WRITE), Reconfigure(SetChange(3, (("protocolVersion", 1), ("members.2.hidden", True))))):
        assert decode(type(action), encode(action)) == action


def test_that_a_change_of_a_set_is_printed_as_a_person_makes_it() -> None:
    change = SetChange(3, (("protocolVersion", 1), ("members.2.votes", 0), ("settings.chainingAllowed", False)))
    assert wording(Reconfigure(change)) == (
        "cfg = rs.conf()   // only while cfg.version is 3",
        "cfg.protocolVersion = 1",
        "cfg.members.find(m => m._id == 2).votes = 0",
        "cfg.settings.chainingAllowed = false",
        "rs.reconfig(cfg)",
    )


def test_that_a_changed_configuration_has_every_other_field_and_the_next_version() -> None:
    made = changed(CONFIG, SetChange(7, (("members.3.votes", 0), ("settings.chainingAllowed", False))), "n1")
    assert made == {
        **CONFIG,
        "version": 8,
        "members": [CONFIG["members"][0], {"_id": 3, "host": "m2:27018", "votes": 0}],  # type: ignore[index]
        "settings": {**CONFIG["settings"], "chainingAllowed": False},  # type: ignore[dict-item]
    }
    assert CONFIG["version"] == 7
    assert CONFIG["members"][1]["votes"] == 1  # type: ignore[index]


def test_that_a_configuration_of_another_version_and_a_member_that_is_none_are_refused() -> None:
    with pytest.raises(
        QueryFailed, match=r"has version 7, and the change was planned for 6: somebody else has changed"
    ) as raised:
        changed(CONFIG, SetChange(6, (("protocolVersion", 1),)), "n1")
    assert any("manually" in one for one in raised.value.try_), "past a point of no return it is the only way on"
    with pytest.raises(BadInput, match="has no member 9"):
        changed(CONFIG, SetChange(7, (("members.9.votes", 1),)), "n1")


def test_that_an_undo_changes_its_own_settings_alone_in_a_configuration_that_others_changed_since() -> None:
    """It was refused for good where a colleague had reconfigured the set since."""
    back = SetChange(5, (("protocolVersion", 0),), newer=True)
    assert changed(CONFIG, back, "n1") == {**CONFIG, "version": 8, "protocolVersion": 0}
    assert back.lines[0] == "cfg = rs.conf()   // only while cfg.version is 5 or newer"
    with pytest.raises(QueryFailed, match="planned for 9"):
        changed(CONFIG, SetChange(9, (("protocolVersion", 0),), newer=True), "n1")
    with pytest.raises(ValueError, match="one version"):
        SetChange(5, removes=(0,), newer=True)


@FORMS
def test_that_a_set_is_changed_with_every_value_in_its_own_type(hello: Mapping[str, Any]) -> None:
    kept: list[Mapping[str, Any]] = []
    with MongoPeer(_set_server(kept), hello=hello) as peer:
        road = operator(peer)
        road.reconfigure(SetChange(7, (("protocolVersion", 1),)))
        road.close()
    assert [dict(one) for one in kept] == [{**CONFIG, "version": 8, "protocolVersion": 1}]
    assert kept[0]["settings"]["replicaSetId"] == SET_ID


@FORMS
def test_that_nothing_is_sent_to_a_set_that_somebody_else_changed(hello: Mapping[str, Any]) -> None:
    kept: list[Mapping[str, Any]] = []
    with MongoPeer(_set_server(kept), hello=hello) as peer:
        road = operator(peer)
        with pytest.raises(QueryFailed, match="somebody else has changed it"):
            road.reconfigure(SetChange(3, (("protocolVersion", 1),)))
        assert kept == []
        road.reconfigure(SetChange(3, (("protocolVersion", 0),), newer=True))  # an undo's
        road.close()
    assert [dict(one) for one in kept] == [{**CONFIG, "version": 8, "protocolVersion": 0}]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"n": 0, "writeErrors": [{"code": 11000, "errmsg": "duplicate key"}], "ok": 1.0}, "11000: duplicate key"),
        ({"n": 1, "writeConcernError": {"code": 64, "errmsg": "waiting timed out"}, "ok": 1.0}, "64: waiting timed"),
        ({"ok": 0.0, "code": 10107, "errmsg": "not master"}, "10107: not master"),
        ({"n": 1, "writeErrors": ["odd"], "ok": 1.0}, "gives no reason"),
        ({"n": 1, "writeConcernError": "odd", "ok": 1.0}, "gives no reason"),
        ({"n": 0, "ok": 1.0}, "gives no reason"),
        ({"n": float("nan"), "ok": 1.0}, "gives no reason"),
        ({"ok": 1.0}, "gives no reason"),
    ],
)
def test_that_a_write_that_was_not_made_or_not_by_as_many_is_an_error(answer: Mapping[str, Any], told: str) -> None:
    with MongoPeer({"insert": answer}) as peer:
        road = operator(peer)
        with pytest.raises(QueryFailed, match=told):
            road.change(WRITE)
        road.close()


def test_that_the_account_for_changes_logs_in_where_the_inventory_names_one_and_a_lacking_role_is_named() -> None:
    refused = {"ok": 0.0, "code": 13, "errmsg": "not authorized on trial"}
    with MongoPeer({"insert": refused}, users={"pilot": "p"}) as peer:
        road = operator(peer, operator_user="pilot", operator_password=SecretRef("env", "Q"))
        with pytest.raises(QueryFailed) as raised:
            road.change(WRITE)
        road.close()
    assert "clusterManager" in raised.value.try_[0]


def test_that_a_road_that_was_closed_or_leads_to_another_kind_of_server_sends_nothing() -> None:
    with MongoPeer({"insert": {"ok": 1.0}}) as peer:
        road = operator(peer)
        road.close()
        with pytest.raises(Refused):
            road.change(WRITE)
        other = HostOperator(HostEntry("n1", "127.0.0.1", sql=SqlAccess("u", port=peer.port)), MemoryVault({}))
        with pytest.raises(BadInput, match="names no MongoDB server"):
            other.change(WRITE)
        other.close()
    assert peer.asked == []


def test_that_a_statement_for_a_mongodb_server_is_refused_before_root_sends_it_to_another_one_of_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[object] = []

    def run(_own: HostOperator, what: object, **_: object) -> Output:
        sent.append(what)
        return Output(0, b"", b"")

    monkeypatch.setattr(HostOperator, "run", run)
    with MongoPeer({"insert": {"ok": 1.0}}) as peer:
        access = MongoAccess(port=peer.port, tls="off")
        first = HostEntry("n1", "127.0.0.1", SshAccess("dba"), access, kind="mongodb")
        mixed = replace(first, sql=SqlAccess("u"), kind="mysql", beside=(Instance("n1", "mongodb", peer.port, access),))
        for entry in (first, mixed.of_instance(mixed.beside[0])):
            road = HostOperator(entry, MemoryVault({}), limits=LIMITS)
            with pytest.raises(BadInput, match="is MongoDB and does not accept a statement") as raised:
                road.execute(set_global("max_connections", 400))
            assert raised.value.safe == "Nothing was sent to the server."
            road.close()
            with pytest.raises(Refused):
                road.execute(set_global("max_connections", 400))
        assert (peer.opened, sent) == (0, [])


def test_that_an_answer_that_never_came_may_have_had_its_effect() -> None:
    with MongoPeer({"insert": lambda _: b""}) as peer:
        road = operator(peer)
        with pytest.raises(Unreachable) as raised:
            road.change(WRITE)
        road.close()
    assert "may have taken effect" in raised.value.safe
