"""Every part of a host's facts, read where nothing may be read: it knows nothing, and never that there is none.

The parts are found by themselves. Backups, timers' units, programs, certificates, files and folders are among them.
"""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Reply
from services.connections.ports import Output, Rows
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import command_of
from services.errors import QueryFailed, SudoFailed, TimedOut
from services.facts.model import GaleraFacts, NodeFacts, ServerFacts
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer
from services.facts.transfer.certificate_files import parse_pair
from services.facts.transfer.certificates import faults_of
from services.procedures.conditions.machine.unit import UnitNotEnabled, UnitSetting
from services.procedures.gather.reader import Reader
from services.procedures.plan.part import Company, Part
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.galera.links import Listening
from services.procedures.plan.parts.galera.traffic_files import TrafficFiles
from services.types import Reach
from tests.unit.pairs import NOW, PATHS, Authority, told
from tests.unit.procedures.host_of import every_part, host_of
from tests.unit.procedures.scripted_sessions import ScriptedSession

ANSWERS = {
    "denied": Output(1, b"", b"x: Permission denied\n"),
    "denied, and goes on": Output(2, b"", b"ls: cannot open directory '/x': Permission denied\n"),
    "no such program": Output(127, b"", b"bash: line 1: x: command not found\n"),
    "no program at all": Output(126, b"", b"This account is currently not available.\n"),
    "nothing": Output(1, b"", b""),
}
REALLY_TRIED = {"works"}
"""A login that was tried and failed does not work, whatever its client says."""
OWN = {"path", "folder", "known", "said", "name", "text", "who", "evidence", "whole", "disk", "temporary", "tried"}
"""Fields that are told by other parts, by what the person wrote, or that say that nothing is known."""
TLS = (
    ("mysqld", "wsrep_provider", "/usr/lib/galera/libgalera_smm.so"),
    ("sst", "tca", "/etc/mysql/ca.pem"), ("sst", "tcert", "/etc/mysql/cert.pem"), ("sst", "tkey", "/etc/mysql/key.pem"),
)  # fmt: skip


class Closed(ScriptedSession):
    """A host that answers everything in one way; `late` and `no sudo` are raised."""

    def __init__(self, how: str) -> None:
        super().__init__("n1")
        self.how = how

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        if self.how == "late":
            raise TimedOut("No answer.", host=self.host)
        if self.how == "no sudo" and command_of(read).sudo:
            raise SudoFailed("No sudo.", host=self.host)
        return ANSWERS.get(self.how, ANSWERS["denied"])

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        raise QueryFailed("Access denied.", host=self.host, errno=1227)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        raise QueryFailed("not authorized", host=self.host)


def _read(kind: type[Part], how: str) -> Part | None:
    mongo = MongoFacts(MongoServer(role="standalone", config="mirrored"))
    node = NodeFacts("n1", 1.0, Reach.FULL, server=ServerFacts(), galera=GaleraFacts(), mongo=mongo)
    one = host_of("n1", node=node, data_folder_path="/var/lib/mysql", options_given=TLS, server_up=False)
    reader = Reader(cast("Any", Closed(how)), ManualClock())
    reader.company = Company({"n1": one, "n2": host_of("n2", address="10.0.0.2", options_given=TLS)}, ("n1", "n2"))
    return kind.read(one, reader)


@pytest.mark.parametrize("how", [*ANSWERS, "late", "no sudo"])
@pytest.mark.parametrize("kind", every_part(), ids=lambda kind: kind.__name__)
def test_that_nothing_is_said_to_be_absent_where_nothing_may_be_read(kind: type[Part], how: str) -> None:
    part = _read(kind, how)
    if part is None:
        return
    empty = kind()
    names: list[str] = list(kind.__slots__)
    known = {name for name in names if getattr(part, name) != getattr(empty, name)} - OWN - REALLY_TRIED
    assert known == set(), part


# -- what is told in part ----------------------------------------------------------------------------------------------


class Partly(Closed):
    """A host on which one program answers so, and the others as `how` says."""

    def __init__(self, how: str, answer: Output) -> None:
        super().__init__(how)
        self.answer = answer

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        if self.how == "no sudo" and not command_of(read).sudo:
            return self.answer
        return super().run(read, limit_s=limit_s)


def _of(kind: type[Part], answer: Output) -> Part | None:
    one = host_of("n1", data_folder_path="/var/lib/mysql", options_given=TLS)
    reader = Reader(cast("Any", Partly("no sudo", answer)), ManualClock())
    reader.company = Company({"n1": one}, ("n1",))
    return kind.read(one, reader)


def test_that_a_search_for_backups_without_roots_rights_finds_no_backup_and_does_not_say_that_none_is_there() -> None:
    assert _of(Backups, Output(0, b"", b"")) == Backups(None, whole=False)
    seen = _of(Backups, Output(0, b"backup /backup/full\nreal /backup/full\nend\n", b""))
    assert isinstance(seen, Backups)
    assert ([one.path for one in seen.found or ()], seen.whole) == (["/backup/full"], False)


@pytest.mark.parametrize("code", [69, 124, 137])
def test_that_a_search_for_backups_that_broke_off_says_of_none_that_it_is_not_there(code: int) -> None:
    assert _of(Backups, Output(code, b"", b"find is not there\n")) == Backups(None, whole=False)


def test_that_a_listing_of_ports_that_shows_nothing_is_no_word_of_them() -> None:
    assert _of(Listening, Output(127, b"", b"ss: command not found\n")) is None
    assert _of(TrafficFiles, Output(1, b"", b"stat: cannot statx '/etc/mysql/ca.pem': Permission denied\n")) is None


# -- certificates ------------------------------------------------------------------------------------------------------


def test_that_a_certificate_is_not_blamed_where_a_tool_is_missing_on_its_host() -> None:
    authority = Authority()
    good = told(authority.pem, *authority.pair())
    no_tools = good[: good.index("public|")].replace("|readable", "|unknown") + "public|unknown\n"
    pair = parse_pair(no_tools, PATHS)
    assert pair is not None
    assert (pair.ca.readable, pair.key.readable, pair.public) == (None, None, ("", ""))
    assert [(fault.code, fault.blocks) for fault in faults_of(pair, NOW)] == [("key-unknown", False)]


def test_that_a_certificate_of_a_kind_that_is_not_known_here_is_not_said_to_be_none() -> None:
    authority = Authority()
    cert, key = authority.pair()
    line = cert.split("\n")[2]
    pair = parse_pair(told(authority.pem, cert, key).replace(line, line[::-1]), PATHS)
    assert pair is not None
    assert [(fault.code, fault.blocks) for fault in faults_of(pair, NOW)] == [("kind-unknown", False)]


# -- units and timers --------------------------------------------------------------------------------------------------


class Asking:
    """What a look asks."""

    facts = None

    def __init__(self, how: str) -> None:
        self.session = Closed(how)

    def run(self, host: str, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del host
        return self.session.run(read, limit_s=limit_s)


@pytest.mark.parametrize("how", list(ANSWERS))
@pytest.mark.parametrize(
    "condition",
    [
        UnitSetting("n1", "pilothouse-release-6f1e7d3c.timer", "ActiveState", "inactive"),
        UnitNotEnabled("n1", "mariadb-backup.timer"),
    ],
)
def test_that_a_timer_that_systemd_does_not_tell_of_is_neither_there_nor_gone(condition: Any, how: str) -> None:
    assert condition.look(cast("Any", Asking(how))).holds is None


def test_that_a_host_which_lists_no_port_at_all_is_not_said_to_listen_nowhere() -> None:
    """The console is on it over SSH, so it listens: a way that seems free could be a transfer's own."""
    assert _of(Listening, Output(0, b"", b"")) is None
    seen = _of(Listening, Output(0, b"LISTEN 0 128 [::]:22 [::]:*\nLISTEN 0 80 *:3306 *:*\n", b""))
    assert seen == Listening(frozenset({22, 3306}))
