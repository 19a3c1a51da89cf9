"""A host that knows by the way who one is and asks for nothing, as Tailscale SSH does: it is asked first, as by ssh."""

from __future__ import annotations

from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.errors import AuthFailed
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

SHOWN = paramiko.ECDSAKey.generate()


class Door(paramiko.ServerInterface):
    """Lets in whom it takes, by nothing or not at all, and keeps what it was asked for."""

    def __init__(self, result: int) -> None:
        self.asked: list[str] = []
        self._result = result

    def check_auth_none(self, username: str) -> int:
        self.asked.append(f"none {username}")
        return self._result

    def check_auth_password(self, username: str, password: str) -> int:
        self.asked.append(f"password {username}")
        return paramiko.common.AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:
        return "password"


def entered(door: Door, folder: Path, vault: MemoryVault) -> str:
    peer = SshPeer(SHOWN, door=lambda _: door)
    (folder / "known").write_text(peer.known_as(SHOWN))
    (folder / "config").write_text(f"Host *\n UserKnownHostsFile {folder}/known\n GlobalKnownHostsFile none\n")
    ref = SecretRef("env", "P")
    access = SshAccess("dba", port=peer.port, password=ref, config=str(folder / "config"), agent=False)
    try:
        link = SshLink.open(HostEntry("db1", "127.0.0.1", access), vault, policy=None, limits=Limits(handshake_s=60.0))
        link.close()
        assert link.peer == "127.0.0.1"
        return link.login
    finally:
        peer.close()


def test_that_a_host_that_asks_for_nothing_lets_in_and_learns_no_password(tmp_path: Path) -> None:
    door = Door(paramiko.common.AUTH_SUCCESSFUL)
    assert entered(door, tmp_path, MemoryVault()) == "nothing: the host requested no key and no password"
    assert door.asked == ["none dba"]


def test_that_a_host_that_wants_something_is_asked_first_and_told_by_what_it_refused(tmp_path: Path) -> None:
    door = Door(paramiko.common.AUTH_FAILED)
    with pytest.raises(AuthFailed, match="password: not accepted") as refused:
        entered(door, tmp_path, MemoryVault({"env:P": "geheim"}))
    assert "none" not in refused.value.sentence
    assert door.asked == ["none dba", "password dba"]
