"""The Test of the operator's account, on scripted sessions: what its rights are, and that it is tried read-only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.connections.limits import Limits
from services.connections.ports import Rows
from services.connections.probe.operator import rights_in
from services.connections.probe.test import Step, _Probe
from services.connections.sql import setup as sql_setup
from services.connections.sql.session import SqlLink
from services.errors import AuthFailed, Unreachable, UserError
from services.inventory.model import HostEntry, SqlAccess
from services.secrets import MemoryVault, SecretRef

PILOT = SecretRef("env", "PILOT")
ALL = "GRANT ALL PRIVILEGES ON *.* TO `pilot`@`%` WITH GRANT OPTION"


@pytest.mark.parametrize(
    ("grants", "rights"),
    [
        ((ALL,), {"ALL PRIVILEGES"}),
        (("GRANT PROCESS, SUPER ON *.* TO `pilot`@`%`",), {"SUPER"}),
        (("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO `pilot`@`%`",), {"SYSTEM_VARIABLES_ADMIN"}),
        (("GRANT ALL PRIVILEGES ON `shop`.* TO `pilot`@`%`",), set()),
        (("GRANT USAGE ON *.* TO `pilot`@`%` IDENTIFIED BY PASSWORD '*SUPER'",), set()),
        (("GRANT `dba` TO `pilot`@`%`",), set()),
        ((), set()),
    ],
)
def test_that_only_rights_on_the_whole_server_count(grants: tuple[str, ...], rights: set[str]) -> None:
    assert rights_in(grants) == rights


@dataclass
class Scripted:
    """A way to a server that answers SHOW GRANTS, or refuses the login; what was opened and asked is kept."""

    grants: tuple[str, ...] = ()
    refusal: UserError | None = None
    opened: list[tuple[str, SecretRef | None, tuple[str, ...]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    closed: int = 0

    def open(
        self, entry: HostEntry, vault: object, ssh: object, *, setup: tuple[str, ...] = sql_setup.ON_CONNECT, **_: Any
    ) -> Scripted:
        """Log in."""
        del vault, ssh
        assert entry.sql is not None
        self.opened.append((entry.sql.user, entry.sql.password, setup))
        if self.refusal is not None:
            raise self.refusal
        return self

    def query(self, statement: str, *, limit_s: float) -> Rows:
        """Answer."""
        assert limit_s <= 10
        self.asked.append(statement)
        return Rows(("Grants",), tuple((grant,) for grant in self.grants))

    def close(self) -> None:
        """Leave."""
        self.closed += 1


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Step, ...]]:
    def run(way: Scripted, *, user: str | None = "pilot") -> tuple[Step, ...]:
        monkeypatch.setattr(SqlLink, "open", way.open)
        sql = SqlAccess("observer", via="direct", operator_user=user, operator_password=PILOT if user else None)
        probe = _Probe(HostEntry("n1", "10.0.0.1", sql=sql), MemoryVault({}), None, Limits(), None)
        probe._operator(None)
        return tuple(probe.steps)

    return run


def test_that_the_operator_is_tried_in_a_read_only_session_and_its_rights_are_named(
    tried: Callable[..., tuple[Step, ...]],
) -> None:
    way = Scripted((ALL,))
    (step,) = tried(way)
    assert (step.name, step.state) == ("operator", "passed")
    assert step.sentence == "pilot may change the server (ALL PRIVILEGES)."
    assert way.opened == [("pilot", PILOT, sql_setup.ON_CONNECT)]
    assert sql_setup.READ_ONLY in sql_setup.ON_CONNECT
    assert way.asked == ["SELECT 1", "SHOW GRANTS"]
    assert way.closed == 1


def test_that_an_operator_without_rights_is_a_warning(tried: Callable[..., tuple[Step, ...]]) -> None:
    (step,) = tried(Scripted(("GRANT PROCESS ON *.* TO `pilot`@`%`",)))
    assert step.state == "warned"
    assert "neither SUPER nor SYSTEM_VARIABLES_ADMIN" in step.sentence


def test_that_an_observer_that_may_change_the_server_is_a_warning(tried: Callable[..., tuple[Step, ...]]) -> None:
    (step,) = tried(Scripted((ALL,)), user="observer")
    assert step.state == "warned"
    assert step.sentence == "observer is also the observer's account: watching could change the server."


@pytest.mark.parametrize("refusal", [AuthFailed("The server refused the login of pilot."), Unreachable("No answer.")])
def test_that_a_refused_operator_fails_its_own_step(tried: Callable[..., tuple[Step, ...]], refusal: UserError) -> None:
    (step,) = tried(Scripted(refusal=refusal))
    assert (step.state, step.sentence, step.error) == ("failed", refusal.sentence, refusal)


def test_that_without_an_operator_nothing_is_tried(tried: Callable[..., tuple[Step, ...]]) -> None:
    way = Scripted((ALL,))
    assert tried(way, user=None) == ()
    assert way.opened == []
