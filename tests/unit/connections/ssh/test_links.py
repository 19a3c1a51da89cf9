"""When a connection is opened, kept, opened again and given up. Real connections are in tests/lab."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.connections.limits import Limits
from services.connections.links import Links, Road
from services.connections.sql.session import SqlLink
from services.connections.ssh.connection import SshLink
from services.connections.ssh.target import SshTarget
from services.errors import Refused, TimedOut
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.secrets import MemoryVault

ENTRY = HostEntry("db1", "127.0.0.1", ssh=SshAccess("dba", config=""), sql=SqlAccess("obs"))


class FakeLink:
    """A connection that only knows whether it is up, and where it leads."""

    def __init__(self, host: str, peer: str) -> None:
        self.alive = True
        self.target = SshTarget("db1", host, 22, "dba", "db1")
        self.peer = peer

    def close(self) -> None:
        self.alive = False


class FakeWay:
    """One of the two ways, `ssh` or `sql`, with connections that are no connections."""

    def __init__(self, name: str, patch: pytest.MonkeyPatch) -> None:
        self.links = Links(ENTRY, MemoryVault(), Road(lambda: Refused("It is over.")), policy=None, limits=Limits())
        self.opened: list[FakeLink] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.host, self.peer = "10.0.0.11", ""
        patch.setattr(SshLink if name == "ssh" else SqlLink, "open", self._connect)
        self.ask: Callable[[], object] = self.links.ssh if name == "ssh" else lambda: self.links.sql(1.0)

    def _connect(self, *_: object, sought: Callable[[str], None] = lambda _: None, **__: object) -> FakeLink:
        sought(self.host)
        self.meanwhile()
        self.opened.append(FakeLink(self.host, self.peer))
        return self.opened[-1]


@pytest.fixture(params=["ssh", "sql"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeWay:
    return FakeWay(request.param, monkeypatch)


def test_that_a_faked_connection_is_kept_while_it_is_up_and_opened_again_after_a_drop(way: FakeWay) -> None:
    first = way.ask()
    assert way.ask() is first
    way.opened[0].close()
    second = way.ask()
    assert second is not first
    assert [link.alive for link in way.opened] == [False, True]


def test_that_a_faked_connection_which_came_after_the_end_is_closed_and_not_given_out(way: FakeWay) -> None:
    way.meanwhile = way.links.close  # as another thread does while this one waits for the host
    with pytest.raises(Refused, match="It is over"):
        way.ask()
    assert [link.alive for link in way.opened] == [False]


def test_that_nothing_is_opened_after_the_end_even_by_a_fake(way: FakeWay) -> None:
    way.ask()
    way.links.close()
    way.links.close()
    with pytest.raises(Refused, match="It is over"):
        way.ask()
    assert [link.alive for link in way.opened] == [False]


def test_that_a_database_connection_made_through_a_fake_is_remembered_until_it_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sql = FakeWay("sql", monkeypatch)
    assert not sql.links.server_was_open
    sql.ask()
    sql.opened[0].close()
    assert sql.links.server_was_open, "a statement may have been sent before it broke"
    sql.links.close()
    assert not sql.links.server_was_open


def _silent() -> None:
    raise TimedOut("No answer.")


def test_that_where_ssh_leads_is_known_of_a_host_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    way = FakeWay("ssh", monkeypatch)
    assert way.links.reached == ()
    way.meanwhile = _silent
    with pytest.raises(TimedOut):
        way.ask()
    assert way.links.reached == ("10.0.0.11",)


def test_that_the_address_that_answered_a_fake_stands_while_the_next_try_goes_to_the_same_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    way = FakeWay("ssh", monkeypatch)
    way.host, way.peer = "db1.example", "10.0.0.11"
    way.ask()
    assert way.links.reached == ("db1.example", "10.0.0.11")
    way.opened[0].close()
    way.meanwhile = _silent
    with pytest.raises(TimedOut):
        way.ask()
    assert way.links.reached == ("db1.example", "10.0.0.11")
    way.host = "db1.other"  # the file was edited
    with pytest.raises(TimedOut):
        way.ask()
    assert way.links.reached == ("db1.other",)
