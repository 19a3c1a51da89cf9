"""What is asked of the resolver while an ssh_config is read and a host is dialled: little, and within a limit."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.connections.dial import dial
from services.connections.openssh import canonical_name
from services.connections.ssh.config import target_for
from services.connections.ssh.target import SshTarget
from services.errors import BadInput, TimedOut
from services.inventory.model import SshAccess

pytestmark = pytest.mark.usefixtures("without_ssh")  # ssh asks the resolver itself


class MockResolver:
    """Knows some names, keeps what it was asked, and gives no answer for as long as it is held."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.known: set[str] = set()
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.answers.set()
        for name in ("getaddrinfo", "gethostbyname", "getfqdn", "gethostbyaddr"):
            patch.setattr(socket, name, self._ask)

    def _ask(self, name: str = "own", *_more: object, **_kind: object) -> Any:
        self.asked.append(name)
        self.answers.wait(30)
        if name not in self.known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))]


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockResolver]:
    made = MockResolver(monkeypatch)
    yield made
    made.answers.set()


def target(folder: Path, text: str, address: str = "db1", *, jump: str | None = None) -> SshTarget:
    (folder / "config").write_text(text, encoding="utf-8")
    return target_for(SshAccess("dba", config=str(folder / "config"), jump=jump), address)


DOMAINS = "CanonicalizeHostname yes\nCanonicalDomains one.example two.example\n"


def test_that_the_first_domain_that_a_mock_resolver_knows_is_taken(mock: MockResolver, tmp_path: Path) -> None:
    mock.known = {"db1.two.example"}
    found = target(tmp_path, f"{DOMAINS}Match canonical host *.two.example\n Port 2200\n")
    assert (found.host, found.port, found.alias) == ("db1.two.example", 2200, "db1")
    assert mock.asked == ["db1.one.example", "db1.two.example"]


def test_that_a_mock_resolver_is_asked_for_the_host_name_and_not_for_its_alias(
    mock: MockResolver, tmp_path: Path
) -> None:
    """paramiko put the alias in the place of HostName: the login went to another host."""
    mock.known = {"web.one.example"}
    assert target(tmp_path, f"Host web\n HostName db1\nHost *\n {DOMAINS}", "web").host == "db1"
    assert mock.asked == ["db1.one.example", "db1.two.example"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (f"{DOMAINS}ProxyJump gate\n", "db1"),
        (f"{DOMAINS}ProxyCommand nc %h %p\n", "db1"),
        (DOMAINS, "10.0.0.1"),
        (DOMAINS, "::1"),
        (DOMAINS, "db1.eu.example"),
        ("CanonicalizeHostname yes\n", "db1"),
        ("CanonicalizeHostname yes\nCanonicalDomains none\n", "db1"),
        ("CanonicalizeHostname no\nCanonicalDomains one.example\n", "db1"),
        ("IdentityFile ~/.ssh/id_%h\nControlPath ~/.ssh/c-%C\nMatch exec true\n User x\n", "db1"),
    ],
)
def test_that_a_mock_resolver_is_not_asked_where_openssh_asks_nobody(
    mock: MockResolver, tmp_path: Path, text: str, address: str
) -> None:
    assert target(tmp_path, text, address).host == address
    assert mock.asked == []


def test_that_a_mock_resolver_is_not_asked_for_what_the_inventory_leads_through_a_jump_host(
    mock: MockResolver, tmp_path: Path
) -> None:
    assert target(tmp_path, DOMAINS, jump="gate").host == "db1"
    assert mock.asked == []


def test_that_a_mock_resolver_that_never_answers_ends_the_look_in_its_time(
    mock: MockResolver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical_name, "MOST_S", 0.3)
    mock.answers.clear()
    began = time.monotonic()
    for _ in range(3):  # each attempt to connect asks again: not with one more thread each
        with pytest.raises(TimedOut, match=r"did not answer within 0\.3 s which of the CanonicalDomains in ssh_config"):
            target(tmp_path, DOMAINS)
    assert time.monotonic() - began < 3.0
    assert mock.asked == ["db1.one.example"]


def test_that_more_domains_than_a_connection_may_ask_a_mock_resolver_for_are_refused(
    mock: MockResolver, tmp_path: Path
) -> None:
    domains = " ".join(f"d{number}.example" for number in range(9))
    with pytest.raises(BadInput, match="CanonicalDomains names more than 8 domains"):
        target(tmp_path, f"CanonicalizeHostname yes\nCanonicalDomains {domains}\n")
    assert mock.asked == []


@pytest.mark.parametrize("dots", ["x", "²", "9" * 5000, "-1"])
def test_that_odd_dots_are_a_sentence_before_a_mock_resolver_is_asked(
    mock: MockResolver, tmp_path: Path, dots: str
) -> None:
    with pytest.raises(BadInput, match="is not a whole number"):
        target(tmp_path, f"{DOMAINS}CanonicalizeMaxDots {dots}\n")
    assert mock.asked == []


def test_that_no_fallback_is_a_sentence_where_the_mock_resolver_knows_no_name(
    mock: MockResolver, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="find db1 in none of the CanonicalDomains"):
        target(tmp_path, f"{DOMAINS}CanonicalizeFallbackLocal no\n")
    assert len(mock.asked) == 2


def test_that_this_machines_name_is_its_own_word_whatever_a_mock_resolver_knows(
    mock: MockResolver, tmp_path: Path
) -> None:
    found = target(tmp_path, "IdentityFile /keys/%l\n")
    assert found.identity_files == (f"/keys/{socket.gethostname()}",)
    assert mock.asked == []


def test_that_a_dial_ends_in_its_time_where_a_mock_resolver_never_answers(mock: MockResolver) -> None:
    mock.answers.clear()
    began = time.monotonic()
    with pytest.raises(TimedOut):
        dial("db1.example", 22, what="SSH", host="db1", limit_s=0.3)
    assert time.monotonic() - began < 3.0
