"""A host that only knows diffie-hellman-group-exchange: its group of 2048 bits is taken, by a real peer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paramiko
import pytest
from paramiko.kex_gex import KexGexSHA256
from paramiko.kex_group14 import KexGroup14SHA256

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.connections.ssh.group import MOST_BITS
from services.errors import Unreachable
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

KEY = paramiko.ECDSAKey.generate()


class Group:
    """What sshd reads from /etc/ssh/moduli: one group."""

    def __init__(self, base: int, modulus: int) -> None:
        self._group = base, modulus
        self.asked: list[tuple[int, int, int]] = []

    def get_modulus(self, *bits: int) -> tuple[int, int]:
        """Return it, whatever is asked for."""
        self.asked.append(bits)  # type: ignore[arg-type]
        return self._group


class _Door(paramiko.ServerInterface):
    def check_auth_password(self, username: str, password: str) -> int:
        """Let in."""
        return paramiko.AUTH_SUCCESSFUL


def enter(group: Group, folder: Path) -> None:
    def door(transport: Any) -> paramiko.ServerInterface:
        transport._preferred_kex, transport._modulus_pack = (KexGexSHA256.name,), group
        return _Door()

    peer = SshPeer(KEY, door=door)
    try:
        (folder / "known").write_text(peer.known_as(KEY), encoding="utf-8")
        (folder / "config").write_text(
            f"Host *\n UserKnownHostsFile {folder / 'known'}\n GlobalKnownHostsFile none\n", encoding="utf-8"
        )
        access = SshAccess(
            "dba", port=peer.port, password=SecretRef("env", "P"), config=str(folder / "config"), agent=False
        )
        vault = MemoryVault({"env:P": "geheim"})
        SshLink.open(
            HostEntry("db1", "127.0.0.1", access), vault, policy=None, limits=Limits(handshake_s=60.0, close_s=1.0)
        ).close()
    finally:
        peer.close()


def test_that_a_sound_group_is_taken_and_none_of_more_bits_than_that_is_asked_for(tmp_path: Path) -> None:
    group = Group(2, KexGroup14SHA256.P)
    enter(group, tmp_path)
    assert group.asked
    assert group.asked[0][2] == MOST_BITS


@pytest.mark.parametrize(
    ("base", "modulus"),
    [(2, KexGroup14SHA256.P - 1), (1, KexGroup14SHA256.P), (KexGroup14SHA256.P - 1, KexGroup14SHA256.P), (2, 23)],
)
def test_that_what_is_no_group_is_refused(tmp_path: Path, base: int, modulus: int) -> None:
    with pytest.raises(Unreachable):
        enter(Group(base, modulus), tmp_path)
