"""An act that is refused before it changed anything says so by its type, with file and line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.operator.files import NotRead, NotWritten
from services.connections.ports import FileSeen, Output
from services.procedures.engine.ports import Acted, ActFailed, Untouched
from services.procedures.execute.acting import RealActor
from services.procedures.plan.actions import Action, EditYaml, PutFile, Run, Several
from services.secrets import Secret
from tests.unit.procedures.scripted_sessions import out

PATH = "/etc/mongos.conf"
DAMAGED = "net:\n  port: 27017\nsharding: {configDB: 'a,b,c'\n"
EDIT = EditYaml(PATH, (("sharding.configDB", "cfg/a,b,c"),))
START = Run(Command(("systemctl", "restart", "mongos.service"), sudo=True))


class Session:
    """A changing session whose files are kept here, some as symbolic links."""

    def __init__(self, files: Mapping[str, str], links: frozenset[str] = frozenset()) -> None:
        self.host = "r1"
        self.files = dict(files)
        self.links = links
        self.refuses = 0  # the exit code of what is written, or kept, as root
        self.wrote: list[str] = []
        self.ran: list[str] = []

    def run(self, command: Command, *, limit_s: float = 30.0) -> Output:
        del limit_s
        self.ran.append(str(command))
        if command.argv[:2] == ("sh", "-c") and self.refuses:
            return Output(self.refuses, b"", b"/srv/tool/mongos.conf is a symbolic link")
        return out(code=0 if command.argv[0] != "test" or command.argv[-1] in self.files else 1)

    def look_file(self, path: str, *, whole: bool = True, follow: bool = True, limit_s: float = 10.0) -> FileSeen:
        del whole, limit_s
        if path in self.links and not follow:
            raise NotRead(f"{path} is a symbolic link")
        text = self.files.get(path)
        return FileSeen(text is not None, (text or "").encode(), "0:0", "0644", own=True, alone=True)

    def write_file(self, path: str, content: Secret, **more: object) -> None:
        del more
        self.wrote.append(path)
        self.files[path] = content.reveal()


class Hosts:
    """Gives one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def operator(self, host: str) -> Session:
        del host
        return self._session


def _performed(session: Session, action: Action) -> Acted:
    actor = RealActor(Hosts(session), "7", ManualClock())  # type: ignore[arg-type]
    return actor.perform("r1:new-string", "r1", action, {}, limit_s=30.0)


def test_that_an_edit_that_is_refused_names_the_file_and_the_line_and_has_written_nothing() -> None:
    session = Session({PATH: DAMAGED})
    with pytest.raises(Untouched, match=r"/etc/mongos\.conf, line 3: ") as raised:
        _performed(session, EDIT)
    assert raised.value.safe == "Nothing was written."
    assert session.wrote == []
    assert session.ran == []


def test_that_a_refused_edit_as_the_first_part_of_an_act_has_touched_nothing_either() -> None:
    session = Session({PATH: DAMAGED})
    with pytest.raises(Untouched):
        _performed(session, Several((EDIT, START)))
    assert session.ran == []


def test_that_a_refused_edit_behind_another_part_is_an_act_that_failed_in_the_middle() -> None:
    session = Session({PATH: DAMAGED})
    with pytest.raises(ActFailed) as raised:
        _performed(session, Several((START, EDIT)))
    assert not isinstance(raised.value, Untouched)
    assert session.ran == ["sudo systemctl restart mongos.service"]


def test_that_a_file_of_the_servers_that_is_a_link_is_refused_with_nothing_touched() -> None:
    session = Session({PATH: "a: 1\n"}, frozenset({PATH}))
    with pytest.raises(Untouched, match="symbolic link"):
        _performed(session, PutFile(PATH, ("a: 2\n",), "0644", "mongodb:mongodb"))
    assert session.wrote == []


@pytest.mark.parametrize("action", [EDIT, PutFile(PATH, ("a: 2\n",), "0644", "root:root")], ids=["edit", "put"])
def test_that_a_file_which_root_may_not_follow_is_refused_with_nothing_touched(action: EditYaml | PutFile) -> None:
    """A link that another user laid: seen at the point of no return, which counted as passed by that."""
    session = Session({PATH: "sharding:\n  configDB: a,b,c\n"})
    session.refuses = 73
    with pytest.raises(Untouched, match="is a symbolic link") as raised:
        _performed(session, Several((action, START)))
    assert raised.value.safe == "Nothing was written."
    assert START.command.argv[0] not in " ".join(session.ran)


def test_that_an_edit_that_is_not_needed_keeps_no_server_from_its_start_and_tells_why() -> None:
    """An undo would have the string of before in the file, which nobody had changed: the mongos stayed down for it."""
    session = Session({PATH: "sharding:\n  configDB: a,b,c\n"})
    session.refuses = 73
    acted = _performed(session, Several((replace(EDIT, needed=False), START)))
    assert session.wrote == []
    assert START.command.argv[0] in " ".join(session.ran)
    assert [line for line in acted.output if line.startswith("not changed: ") and "symbolic link" in line]


def test_that_a_writing_program_that_was_killed_may_have_replaced_the_file() -> None:
    session = Session({PATH: "sharding:\n  configDB: a,b,c\n"})
    session.refuses = 137
    with pytest.raises(NotWritten) as raised:
        _performed(session, EDIT)
    assert not raised.value.sure
    assert "or completely replaced" in raised.value.safe
