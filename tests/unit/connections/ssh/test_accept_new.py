"""accept-new takes the key of a host of which nothing was known, and of no other: a real SSH peer shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.connections.ssh.host_key_check import _is_new, accept_host_key
from services.connections.ssh.host_keys import KnownHosts, _hash
from services.connections.ssh.target import SshTarget
from services.errors import BadInput, HostKeyChanged, HostKeyUnknown
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

SHOWN, KNOWN = paramiko.ECDSAKey.generate(), paramiko.RSAKey.generate(2048)
Enter = Callable[..., None]


@pytest.fixture
def peer() -> Iterator[SshPeer]:
    made = SshPeer(SHOWN)
    yield made
    made.close()


@pytest.fixture
def enter(peer: SshPeer, tmp_path: Path) -> Enter:
    """Log in with these lines in known_hosts and these in ssh_config."""

    def log_in(known: str, config: str, files: str = "") -> None:
        (tmp_path / "known").write_text(known, encoding="utf-8")
        said = f"Host *\n UserKnownHostsFile {files or tmp_path / 'known'}\n GlobalKnownHostsFile none\n {config}\n"
        (tmp_path / "config").write_text(said, encoding="utf-8")
        access = SshAccess(
            "dba", port=peer.port, password=SecretRef("env", "P"), config=str(tmp_path / "config"), agent=False
        )
        entry = HostEntry("db1", "127.0.0.1", access)
        vault = MemoryVault({"env:P": "geheim"})
        SshLink.open(entry, vault, policy=None, limits=Limits(handshake_s=60.0)).close()

    return log_in


def test_that_a_host_of_which_nothing_is_known_is_taken_in_and_written_down(
    peer: SshPeer, enter: Enter, tmp_path: Path
) -> None:
    enter(f"# mine\n{peer.known_as(KNOWN, 'other')}", "StrictHostKeyChecking accept-new")
    assert peer.passwords == ["geheim"]
    assert (tmp_path / "known").read_text().endswith(peer.known_as(SHOWN))


@pytest.mark.parametrize("strict", ["accept-new", "ask", "yes", "no"])
def test_that_a_key_of_a_type_that_is_not_known_is_a_change_where_another_type_is(
    peer: SshPeer, enter: Enter, tmp_path: Path, strict: str
) -> None:
    for line in (peer.known_as(KNOWN), peer.known_as(KNOWN, _hash(f"[127.0.0.1]:{peer.port}")),
                 peer.known_as(KNOWN, f"[127.0.0.*]:{peer.port}")):  # fmt: skip
        with pytest.raises(HostKeyChanged, match="is not the one in"):
            enter(line, f"StrictHostKeyChecking {strict}")
        assert (tmp_path / "known").read_text() == line
    assert peer.passwords == []


def test_that_a_key_known_to_a_later_file_only_counts_as_much(peer: SshPeer, enter: Enter, tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.write_text(peer.known_as(KNOWN), encoding="utf-8")
    with pytest.raises(HostKeyChanged, match="later:1"):
        enter("", "StrictHostKeyChecking accept-new", f"{tmp_path / 'known'} {later}")
    assert peer.passwords == []


@pytest.mark.parametrize("marker", ["@revoked", "@cert-authority"])
def test_that_an_authority_or_a_revoked_key_says_that_the_host_is_no_new_one(
    peer: SshPeer, enter: Enter, marker: str
) -> None:
    with pytest.raises(HostKeyUnknown):
        enter(f"{marker} {peer.known_as(KNOWN)}", "StrictHostKeyChecking accept-new")
    assert peer.passwords == []


def test_that_a_revoked_key_is_not_taken(peer: SshPeer, enter: Enter) -> None:
    with pytest.raises(HostKeyChanged, match="revoked"):
        enter(f"@revoked {peer.known_as(SHOWN, '*')}", "StrictHostKeyChecking accept-new")
    assert peer.passwords == []


@pytest.mark.parametrize(
    ("line", "address", "alias", "new"),
    [
        ("", "192.0.2.7", "", True),
        ("[192.0.2.7]:2200 KNOWN", "192.0.2.7", "", False),
        ("[192.0.2.7]:2200 SHOWN", "192.0.2.7", "", True),
        ("[192.0.2.7]:2200 SHOWN\n@revoked * SHOWN", "192.0.2.7", "", False),
        ("192.0.2.7 KNOWN", "192.0.2.7", "", True),  # another door of the same machine
        ("[192.0.2.7]:2200 KNOWN", "192.0.2.7", "alias", True),
        ("[127.0.0.1]:2200 KNOWN", "127.0.0.1", "", True),
        ("[192.0.2.7]:2200 KNOWN", "", "", True),  # through a hop: nobody's address
    ],
)
def test_that_an_address_with_another_key_is_no_new_host(
    tmp_path: Path, line: str, address: str, alias: str, new: bool
) -> None:
    text = line
    for name, key in (("KNOWN", KNOWN), ("SHOWN", SHOWN)):
        text = text.replace(name, f"{key.get_name()} {key.get_base64()}")
    (tmp_path / "known").write_text(text, encoding="utf-8")
    target = SshTarget("db1", "db1", 2200, "dba", alias or "[db1]:2200")
    found = _is_new(target, KnownHosts((str(tmp_path / "known"),)), address, SHOWN.get_name(), SHOWN.asbytes())
    assert found is new


@pytest.mark.parametrize("strict", ["accept-new", "no"])
@pytest.mark.parametrize("files", ["/dev/null", "none"])
def test_that_a_key_that_no_file_could_keep_is_told_so_and_not_taken_in(
    peer: SshPeer, enter: Enter, strict: str, files: str
) -> None:
    with pytest.raises(HostKeyUnknown, match=r"No file can store it .*known_hosts = ") as asked:
        enter("", f"StrictHostKeyChecking {strict}", files)
    assert peer.passwords == []
    with pytest.raises(
        BadInput,
        match="No file can store it",
    ):
        accept_host_key(asked.value)


def test_that_a_key_that_is_known_for_the_host_without_its_port_is_its_own_as_for_ssh(
    peer: SshPeer, enter: Enter, tmp_path: Path
) -> None:
    strict = "StrictHostKeyChecking yes"
    enter(peer.known_as(SHOWN, "127.0.0.1"), strict)
    assert peer.passwords == ["geheim"]
    assert peer.known_as(SHOWN) not in (tmp_path / "known").read_text()
    with pytest.raises(HostKeyUnknown):  # of this port another one says nothing
        enter(peer.known_as(KNOWN, "127.0.0.1"), strict)
    with pytest.raises(HostKeyUnknown):
        enter(peer.known_as(SHOWN, "127.0.0.1"), f"HostKeyAlias prod\n {strict}")
    with pytest.raises(HostKeyChanged):
        enter(peer.known_as(SHOWN, "127.0.0.1") + peer.known_as(KNOWN), strict)
    with pytest.raises(HostKeyChanged, match="@revoked"):
        enter("@revoked " + peer.known_as(SHOWN, "127.0.0.1"), strict)
    assert peer.passwords == ["geheim"]
