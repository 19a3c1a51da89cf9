"""What is read of a MongoDB server's process, file, folder and data before a plan: texts as a lab's host gave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.mongo.document import Reply
from services.connections.ports import Output
from services.connections.reads.mongo import MongoRead
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.facts.model import NodeFacts
from services.facts.mongodb.process import may_be_shown, parse_processes, program_of, unit_of
from services.facts.mongodb.sharding import ShardedCluster
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.last_vote import NEVER, LastVote
from services.procedures.plan.parts.mongodb.process import MongoProcess
from services.procedures.plan.parts.mongodb.set_document import SetDocument
from services.types import Reach
from tests.unit.discovery.mongo_scenes import AT, hosts, member, mirror, row, view
from tests.unit.procedures.scripted_sessions import ScriptedSession, out

FILE = """\
net:
  bindIp: 127.0.0.1,10.213.16.21
  port: 27019
  ssl:
    PEMKeyPassword: very-secret
sharding:
  clusterRole: configsvr
storage:
  dbPath: /var/lib/mysql/db
"""


class Host(ScriptedSession):
    """A host that answers each command by its words."""

    def __init__(self, **more: str) -> None:
        super().__init__("c1")
        self.kind = "mongodb"
        self.said = {
            "ps": "     45 Ssl  mongod\n",
            "/proc/45/cmdline": "/usr/local/bin/mongod\0--config\0/etc/mongod.conf\0",
            "/proc/45/cgroup": "0::/system.slice/mongod.service\n",
            "/etc/mongod.conf": FILE,
            "UnitFileState": "UnitFileState=enabled\n",
            "ls": "WiredTiger\nlost+found\nstorage.bson\n",
            "du": "335544320\t/var/lib/mysql/db\n",
            "stat": "100\n",
            **more,
        }

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        words = command_of(read).argv
        found = next((text for key, text in self.said.items() if key in words), None)
        return out(found) if found is not None else out(code=1, errors="No such file or directory")

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del read, limit_s
        return Reply({"cursor": {"firstBatch": [{"_id": "csrs", "version": 4}]}})


def _node(**more: str) -> HostFacts:
    node = mirror(1, ShardedCluster("77", hosts("c1:27019")))
    assert node.mongo is not None
    told = {"configuration": "/etc/mongod.conf", "data_path": "/var/lib/mysql/db", **more}
    server = replace(node.mongo.server, **told)  # type: ignore[arg-type]
    return HostFacts("c1", "c1", replace(node, mongo=replace(node.mongo, server=server)))


def _process(host: Host, facts: HostFacts | None = None) -> MongoProcess:
    found = MongoProcess.read(facts or _node(), Reader(host, ManualClock()))
    assert found is not None
    return found


def test_that_a_server_under_systemd_is_known_by_program_unit_and_file() -> None:
    found = _process(Host())
    assert (found.running, found.program, found.unit) == (1, "/usr/local/bin/mongod", "mongod.service")
    assert (found.enabled, found.path, found.trouble) == (True, "/etc/mongod.conf", "")
    assert found.setting("net.port") == 27019


def test_that_no_password_of_the_file_is_kept() -> None:
    found = _process(Host())
    assert "very-secret" not in repr(found)
    assert found.others == ("net.ssl.PEMKeyPassword",)


@pytest.mark.parametrize(
    ("more", "trouble"),
    [
        ({"ps": "     45 Ssl  mongod\n     46 Ssl  mongos\n"}, "several servers run there"),
        (
            {"/etc/mongod.conf": "a: [\n"},
            "it is no YAML",
        ),
        (
            {"/etc/mongod.conf": "just words"},
            "it holds no settings",
        ),
    ],
)
def test_that_what_can_t_be_edited_is_told_with_why(more: dict[str, str], trouble: str) -> None:
    assert trouble in _process(Host(**more)).trouble


def test_that_a_file_in_a_persons_folder_is_not_read() -> None:
    found = _process(Host(), _node(configuration="/home/me/mongod.conf"))
    assert found.settings == ()
    assert "no place that the console reads" in found.trouble
    assert _process(Host(), _node(configuration="")).trouble == "it was started without a configuration file"


def test_that_a_server_started_by_hand_has_no_unit() -> None:
    assert _process(Host(**{"/proc/45/cgroup": "0::/user.slice/user-0.slice/session-1.scope\n"})).unit == ""


def test_that_a_data_folder_is_told_with_its_size_and_that_a_spare_hosts_is_the_others() -> None:
    found = MongoData.read(_node(), Reader(Host(), ManualClock()))
    assert found == MongoData("/var/lib/mysql/db", 335_544_320, 2, 100, ("WiredTiger", "lost+found", "storage.bson"))
    assert [found.holds(f"/var/lib/{path}") for path in ("mysql/lost+found", "mysql/other", "lost+found")] == [
        True,
        False,
        False,
    ]
    spare = HostFacts("n1", "n1", NodeFacts("n1", AT, Reach.SSH_ONLY, "n1"))
    assert MongoData.read(spare, Reader(Host(), ManualClock())) is None  # nobody told which one


def test_that_a_set_which_lies_in_a_mirrors_data_is_named() -> None:
    assert SetDocument.read(_node(), Reader(Host(), ManualClock())) == SetDocument(("csrs",))


class Voter(Host):
    """A member that answers with what lies in local.replset.election, as 3.2.5 gave it."""

    def __init__(self, *rows: dict[str, Any]) -> None:
        super().__init__()
        self._rows = list(rows)

    def ask(self, read: MongoRead, *, limit_s: float = 5.0) -> Reply:
        del read, limit_s
        return Reply({"cursor": {"firstBatch": self._rows}})


@pytest.mark.parametrize(
    ("rows", "term"), [((), NEVER), (({"term": 0},), 0), (({"term": 3},), 3), (({"term": "3"},), None), (({},), None)]
)
def test_that_a_members_last_vote_is_told_and_nothing_is_made_of_what_is_no_number(
    rows: tuple[dict[str, Any], ...], term: int | None
) -> None:
    node = member(1, view(1, (row(1, "PRIMARY"), row(2))))
    assert LastVote.read(HostFacts("m1", "m1", node), Reader(Voter(*rows), ManualClock())) == LastVote(term)


def test_that_who_is_in_no_set_has_no_vote_to_tell() -> None:
    assert LastVote.read(_node(), Reader(Voter(), ManualClock())) is None


@pytest.mark.parametrize("text", ["", "nonsense", "  45\n", " 45 Z mongod\n", "45 Ssl mysqld\n"])
def test_that_what_is_no_running_server_is_none(text: str) -> None:
    assert parse_processes(text) == ()


@pytest.mark.parametrize("text", ["", "mongod\0-f\0", "/bin/$(x)\0", "/bin/a b\0"])
def test_that_no_program_is_made_of_a_hostile_command_line(text: str) -> None:
    assert program_of(text) == ""


@pytest.mark.parametrize("text", ["", "0::/", "0::/a.scope", "0::/system.slice/$(x).service"])
def test_that_no_unit_is_made_of_a_hostile_group(text: str) -> None:
    assert unit_of(text) == ""


def test_that_only_settings_of_a_closed_list_are_looked_at() -> None:
    assert may_be_shown("storage.dbPath")
    assert may_be_shown("security.keyFile")
    for name in ("net.ssl.PEMKeyPassword", "security.ldap.bind.queryPassword", "setParameter.x", "security"):
        assert not may_be_shown(name)
