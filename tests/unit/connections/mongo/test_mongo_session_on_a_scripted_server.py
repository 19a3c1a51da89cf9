"""The session to a MongoDB server, on a scripted one that speaks the protocol's old form (3.2) and today's."""

from __future__ import annotations

import gc
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import bson
import pytest

from services.clock import ManualClock
from services.connections.host import HostSession
from services.connections.limits import Limits
from services.connections.mongo.document import Stamp
from services.connections.reads import mongo as reads
from services.connections.tls.known_certificates import accept_certificate
from services.errors import (
    AuthFailed,
    BadInput,
    CertificateChanged,
    CertificateUnknown,
    OtherProtocol,
    QueryFailed,
    Refused,
    TimedOut,
    TlsFailed,
    Unreachable,
)
from services.inventory.model import HostEntry, MongoAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.mongo_peer import HELLO_32, HELLO_80, MongoPeer
from tests.unit.connections.tls_peer import Authority

FORMS = pytest.mark.parametrize("hello", [HELLO_32, HELLO_80], ids=["as 3.2", "as 8.0"])
LIMITS = Limits(connect_s=10.0, handshake_s=10.0)
USERS = {"monitor": "s3cret"}


def session(peer: MongoPeer, *, user: str = "", password: str = "s3cret", **more: Any) -> HostSession:
    sql = MongoAccess(user, SecretRef("env", "P"), port=peer.port, **{"tls": "off", **more})
    vault = MemoryVault({"env:P": password})
    return HostSession(HostEntry("n1", "127.0.0.1", sql=sql, kind="mongodb"), vault, clock=ManualClock(), limits=LIMITS)


@FORMS
def test_that_a_read_brings_the_servers_answer_in_either_form_of_the_protocol(hello: Mapping[str, Any]) -> None:
    stamp = bson.Timestamp(1700000000, 7)
    status = {
        "set": "rs0",
        "optime": stamp,
        "date": bson.DatetimeMS(1_700_000_000_500),
        "id": bson.ObjectId(),
        "ok": 1.0,
    }
    with MongoPeer({"replSetGetStatus": status}, hello=hello) as peer:
        own = session(peer)
        body = own.ask(reads.SET_STATUS).body
        own.close()
    assert (body["set"], body["optime"], body["date"]) == ("rs0", Stamp(1700000000, 7), 1_700_000_000.5)
    assert body["id"] == str(status["id"])
    modern = hello is HELLO_80
    assert [kind for _, _, kind in peer.asked] == [2004, 2013 if modern else 2004]
    assert peer.asked[1][1]["maxTimeMS"] == 4500
    assert ("$readPreference" in peer.asked[1][1]) is modern


@FORMS
def test_that_one_connection_is_made_and_nobody_who_is_named_is_dialled(hello: Mapping[str, Any]) -> None:
    with MongoPeer({}) as other, MongoPeer({"buildInfo": {"version": "x", "ok": 1.0}}, hello=hello) as peer:
        named = f"127.0.0.1:{other.port}"
        peer.hello |= {"setName": "rs0", "hosts": [named], "primary": named, "me": named}
        own = session(peer)
        for _ in range(3):
            own.ask(reads.BUILD_INFO)
        assert own.ask(reads.HELLO).body["primary"] == named
        own.close()
        assert (peer.opened, other.opened) == (1, 0)


@FORMS
def test_that_a_password_is_proven_by_scram_and_stands_in_no_message(hello: Mapping[str, Any]) -> None:
    kinds = ("SCRAM-SHA-256", "SCRAM-SHA-1")
    with MongoPeer({"buildInfo": {"ok": 1.0}}, hello=hello, users=USERS, mechanisms=kinds) as peer:
        own = session(peer, user="monitor")
        own.ask(reads.BUILD_INFO)
        own.close()
    start = next(command for _, command, _ in peer.asked if "saslStart" in command)
    assert start["mechanism"] == ("SCRAM-SHA-256" if hello is HELLO_80 else "SCRAM-SHA-1")
    assert "s3cret" not in str(peer.asked)


def test_that_a_server_can_name_no_login_that_sends_the_password() -> None:
    with MongoPeer({"buildInfo": {"ok": 1.0}}, hello=HELLO_80, users=USERS, mechanisms=("PLAIN", "GSSAPI")) as peer:
        own = session(peer, user="monitor")
        own.ask(reads.BUILD_INFO)
        own.close()
    assert {command["mechanism"] for _, command, _ in peer.asked if "saslStart" in command} == {"SCRAM-SHA-1"}


@FORMS
def test_that_a_wrong_password_is_told_as_that(hello: Mapping[str, Any]) -> None:
    with MongoPeer({}, hello=hello, users=USERS) as peer:
        own = session(peer, user="monitor", password="wrong")
        with pytest.raises(AuthFailed, match="refused the login of monitor"):
            own.ask(reads.BUILD_INFO)
        own.close()


def test_that_a_peer_which_does_not_know_the_password_is_no_server_of_ours() -> None:
    with MongoPeer({"buildInfo": {"ok": 1.0}}, users=USERS, knows_password=False) as peer:
        own = session(peer, user="monitor")
        with pytest.raises(AuthFailed, match="does not prove that it knows the password"):
            own.ask(reads.BUILD_INFO)
        own.close()
    assert "buildInfo" not in peer.commands()


def test_that_a_peer_which_asks_for_few_rounds_gets_no_proof() -> None:
    with MongoPeer({}, users=USERS, rounds=100) as peer:
        own = session(peer, user="monitor")
        with pytest.raises(AuthFailed, match="requests 100 iterations"):
            own.ask(reads.BUILD_INFO)
        own.close()
    assert "saslContinue" not in peer.commands()


def test_that_an_arbiter_is_left_at_hello_because_it_holds_no_users() -> None:
    with MongoPeer({}, hello={**HELLO_32, "arbiterOnly": True}, users=USERS) as peer:
        own = session(peer, user="monitor")
        assert own.ask(reads.HELLO).body["arbiterOnly"] is True
        with pytest.raises(QueryFailed) as raised:
            own.ask(reads.SET_STATUS)
        own.close()
    assert raised.value.errno == 13
    assert "saslStart" not in peer.commands()


def test_that_what_an_account_may_not_ask_names_the_role_and_leaves_the_session_standing() -> None:
    denied = {"ok": 0.0, "code": 13, "errmsg": "not authorized on admin to execute command { serverStatus: 1.0 }"}
    with MongoPeer({"serverStatus": denied, "buildInfo": {"ok": 1.0}}) as peer:
        own = session(peer)
        with pytest.raises(QueryFailed, match="The account is not authorized for this command:") as raised:
            own.ask(reads.SERVER_STATUS)
        assert "clusterMonitor" in raised.value.try_[0]
        own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.opened == 1


def test_that_a_find_takes_no_more_than_it_asked_for_and_says_that_there_is_more() -> None:
    found = [{"_id": f"s{n}"} for n in range(20)]
    replies = {"settings": {"cursor": {"id": 0, "ns": "config.settings", "firstBatch": found}, "ok": 1.0}}
    with MongoPeer(replies) as peer:
        own = session(peer)
        reply = own.ask(reads.CONFIG_SETTINGS)
        own.close()
    assert (len(reply.documents), reply.more) == (20, True)
    database, command, _ = peer.asked[-1]
    assert (database, command["limit"], command["singleBatch"]) == ("config", 20, True)


def test_that_a_mongos_is_not_told_to_ask_some_secondary() -> None:
    with MongoPeer({"listShards": {"ok": 1.0}}, hello={**HELLO_80, "msg": "isdbgrid"}) as peer:
        own = session(peer)
        own.ask(reads.LIST_SHARDS)
        own.close()
    assert "$readPreference" not in peer.asked[-1][1]


@pytest.mark.parametrize(
    ("least", "most", "words"), [(0, 3, "older than MongoDB 3.2"), (30, 40, "supports only wire versions 30 to 40")]
)
def test_that_a_server_of_another_age_is_told_as_that(least: int, most: int, words: str) -> None:
    with MongoPeer({}, hello={**HELLO_32, "minWireVersion": least, "maxWireVersion": most}) as peer:
        own = session(peer)
        with pytest.raises(OtherProtocol, match=words):
            own.ask(reads.BUILD_INFO)
        own.close()


def test_that_free_text_and_unknown_names_are_refused_before_anything_is_opened() -> None:
    with MongoPeer({}) as peer:
        own = session(peer)
        for read in (reads.MongoRead("shutdown"), {"shutdown": 1}):
            with pytest.raises(Refused):
                own.ask(read)  # type: ignore[arg-type]
        own.close()
        assert peer.opened == 0


# -- replies that are none ---------------------------------------------------------------------------------------------


def framed(number: int, payload: bytes, *, kind: int = 1, length: int | None = None) -> bytes:
    return struct.pack("<iiii", len(payload) + 16 if length is None else length, 1, number, kind) + payload


def one(document: bytes, count: int = 1) -> bytes:
    return struct.pack("<iqii", 8, 0, 0, count) + document


def deep(levels: int) -> bytes:
    heads = (struct.pack("<i", 5 + 8 * level) + b"\x03a\x00" for level in range(levels, 0, -1))
    return b"".join(heads) + b"\x05\x00\x00\x00\x00" + b"\x00" * levels


DAMAGED: dict[str, Callable[[], bytes]] = {
    "an answer to something else": lambda: framed(99, one(bson.encode({"ok": 1.0}))),
    "a length below its head": lambda: framed(2, b"", length=3),
    "a negative length": lambda: framed(2, b"", length=-1),
    "two gigabytes announced": lambda: framed(2, b"", length=2**31 - 1),
    "an unknown kind": lambda: framed(2, b"x" * 30, kind=2012),
    "no document": lambda: framed(2, one(b"", 0)),
    "two documents": lambda: framed(2, one(bson.encode({"ok": 1.0}) * 2, 2)),
    "a document of another length": lambda: framed(2, one(b"\xff\xff\x00\x00" + bson.encode({"ok": 1.0})[4:])),
    "a document of damaged bytes": lambda: framed(2, one(b"\x0c\x00\x00\x00\x99a\x00aaaa\x00")),
    "200 levels": lambda: framed(2, one(deep(200))),
    "100,000 levels": lambda: framed(2, one(deep(100_000))),
    "200,000 values": lambda: framed(2, one(bson.encode({"a": [1] * 200_000}))),
    "neither ok nor not": lambda: framed(2, one(bson.encode({"a": 1}))),
    "an end in the middle": lambda: framed(2, one(bson.encode({"ok": 1.0})), length=4000),
}


@pytest.mark.parametrize("damage", sorted(DAMAGED))
def test_that_a_reply_which_is_none_ends_the_session_with_one_sentence(damage: str) -> None:
    with MongoPeer({"buildInfo": lambda _: DAMAGED[damage]()}) as peer:
        own = session(peer)
        with pytest.raises(Unreachable) as raised:
            own.ask(reads.BUILD_INFO)
        assert "\n" not in raised.value.sentence
        peer.replies["buildInfo"] = {"version": "x", "ok": 1.0}
        assert own.ask(reads.BUILD_INFO).body["version"] == "x"
        own.close()
        assert peer.opened == 2


def test_that_a_server_which_drips_is_left_after_the_limit() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        sock, _ = listener.accept()
        with sock:
            try:
                for byte in framed(1, one(bson.encode({"ok": 1.0, "a": "x" * 500}))):
                    sock.sendall(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                return

    thread = threading.Thread(target=drip)
    thread.start()
    entry = HostEntry("n1", "127.0.0.1", sql=MongoAccess("", port=listener.getsockname()[1], tls="off"), kind="mongodb")
    limits = Limits(connect_s=2.0, handshake_s=2.0)
    own = HostSession(entry, MemoryVault(), clock=ManualClock(), limits=limits)
    begun = time.monotonic()
    with pytest.raises(TimedOut):
        own.ask(reads.BUILD_INFO, limit_s=1.0)
    assert time.monotonic() - begun < 20  # it would drip for a minute
    own.close()
    listener.close()
    thread.join(5)


def test_that_closing_from_another_thread_wakes_whoever_waits() -> None:
    over = threading.Event()

    def silent(_: Mapping[str, Any]) -> Mapping[str, Any]:
        over.wait(30)
        return {"ok": 1.0}

    with MongoPeer({"buildInfo": silent}) as peer:
        own = session(peer)
        own.ask(reads.HELLO)
        closing = threading.Timer(0.2, own.close)
        closing.start()
        with pytest.raises(Unreachable, match="closed the connection"):
            own.ask(reads.BUILD_INFO, limit_s=60)
        closing.join()
        over.set()
        with pytest.raises(Unreachable, match="The session is closed"):
            own.ask(reads.BUILD_INFO)


def test_that_after_a_failed_attempt_the_next_one_waits_its_turn() -> None:
    with MongoPeer({}, hello={**HELLO_32, "maxWireVersion": 3}) as peer:
        own = session(peer)
        for _ in range(3):
            with pytest.raises(Unreachable):
                own.ask(reads.BUILD_INFO)
        assert peer.opened == 1
        own.try_now()
        with pytest.raises(Unreachable):
            own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.opened == 2


# -- TLS ---------------------------------------------------------------------------------------------------------------


def serving(certificate: Path, *, ca: Path | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if ca is not None:
        context.load_verify_locations(ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


@FORMS
def test_that_a_server_of_the_named_authority_is_logged_in_to(hello: Mapping[str, Any], tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    tls = serving(ca.issue("n1", "127.0.0.1").file)
    with MongoPeer({"buildInfo": {"ok": 1.0}}, hello=hello, users=USERS, tls=tls) as peer:
        own = session(peer, user="monitor", tls="verify-identity", ca=str(ca.file))
        own.ask(reads.BUILD_INFO)
        own.close()


def test_that_a_login_that_is_refused_over_tls_leaves_no_socket_open(tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    with MongoPeer({}, users=USERS, tls=serving(ca.issue("n1", "127.0.0.1").file)) as peer:
        own = session(peer, user="monitor", password="wrong", tls="verify-ca", ca=str(ca.file))
        with pytest.raises(AuthFailed):
            own.ask(reads.BUILD_INFO)
        gc.collect()  # a socket that is left to it warns, and a warning fails the test
        own.close()


def test_that_closing_ends_a_login_over_tls_that_nobody_answers(tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    context = serving(ca.issue("n1", "127.0.0.1").file)
    listener = socket.create_server(("127.0.0.1", 0))
    shaken = threading.Event()

    def hold() -> None:
        sock, _ = listener.accept()
        with context.wrap_socket(sock, server_side=True) as tls:
            shaken.set()
            with suppress(OSError):
                while tls.recv(4096):
                    pass

    thread = threading.Thread(target=hold)
    thread.start()
    sql = MongoAccess("", port=listener.getsockname()[1], tls="verify-ca", ca=str(ca.file))
    own = HostSession(
        HostEntry("n1", "127.0.0.1", sql=sql, kind="mongodb"), MemoryVault(), clock=ManualClock(), limits=Limits()
    )
    closing = threading.Thread(target=lambda: (shaken.wait(30), time.sleep(0.3), own.close()))
    closing.start()
    with pytest.raises(Unreachable) as raised:
        own.ask(reads.BUILD_INFO, limit_s=60)
    assert not isinstance(raised.value, TimedOut)
    closing.join()
    thread.join(30)
    listener.close()


@pytest.mark.parametrize("mode", ["verify-identity", "verify-ca"])
def test_that_a_server_of_another_authority_is_sent_nothing(mode: str, tmp_path: Path) -> None:
    ca, other = Authority(tmp_path), Authority(tmp_path, "other CA")
    with MongoPeer({}, users=USERS, tls=serving(other.issue("n1", "127.0.0.1").file)) as peer:
        own = session(peer, user="monitor", tls=mode, ca=str(ca.file))
        with pytest.raises(TlsFailed, match="is not accepted"):
            own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.asked == []


def test_that_an_unknown_certificate_is_asked_about_and_a_changed_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ca = Authority(tmp_path)
    first, second = ca.issue("n1", "127.0.0.1"), ca.issue("n1", "127.0.0.1")
    with MongoPeer({"buildInfo": {"ok": 1.0}}, users=USERS, tls=serving(first.file)) as peer:
        own = session(peer, user="monitor", tls="verify")
        with pytest.raises(CertificateUnknown) as asked:
            own.ask(reads.BUILD_INFO)
        assert asked.value.fingerprint == first.fingerprint
        assert peer.asked == []
        accept_certificate(asked.value)
        own.try_now()
        own.ask(reads.BUILD_INFO)
        own.close()
        peer._tls = serving(second.file)
        again = session(peer, user="monitor", tls="verify")
        before = len(peer.asked)
        with pytest.raises(CertificateChanged):
            again.ask(reads.BUILD_INFO)
        again.close()
        assert len(peer.asked) == before


def test_that_a_server_without_tls_is_sent_nothing_where_tls_is_asked_for(tmp_path: Path) -> None:
    with MongoPeer({}, users=USERS) as peer:
        own = session(peer, user="monitor", tls="required")
        with pytest.raises((TlsFailed, Unreachable)):
            own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.asked == []


@pytest.mark.parametrize(("hello", "user"), [(HELLO_32, "CN=monitor"), (HELLO_80, None)])
def test_that_a_login_by_certificate_shows_it_and_sends_no_password(hello: Any, user: Any, tmp_path: Path) -> None:
    ca = Authority(tmp_path)
    tls = serving(ca.issue("n1", "127.0.0.1").file, ca=ca.file)
    mine = ca.issue("monitor")
    with MongoPeer({"buildInfo": {"ok": 1.0}}, hello=hello, users={}, tls=tls) as peer:
        own = session(peer, mechanism="x509", tls="verify-ca", ca=str(ca.file), cert=str(mine.file))
        own.ask(reads.BUILD_INFO)
        own.close()
    database, command, _ = peer.asked[1]
    assert (database, command["mechanism"], command.get("user")) == ("$external", "MONGODB-X509", user)


@pytest.mark.parametrize("more", [{"tls": "off", "cert": "x"}, {"tls": "verify-ca"}])
def test_that_a_login_by_certificate_without_one_or_without_tls_is_refused(more: Mapping[str, Any]) -> None:
    with MongoPeer({}, users={}) as peer:
        own = session(peer, mechanism="x509", **more)
        with pytest.raises(BadInput):
            own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.asked == []
