"""RevokedHostKeys: a list of keys or a KRL, as ssh-keygen writes them, against a scripted host that shows its key."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.openssh.revoked_keys import Certified, read_revoked_keys
from services.connections.ssh.connection import SshLink
from services.errors import BadInput, HostKeyChanged
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

SHOWN, OTHER = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()
Enter = Callable[[str], SshPeer]
with_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def line_of(key: paramiko.PKey) -> str:
    return f"{key.get_name()} {key.get_base64()} a remark\n"


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    """Log in at a host whose key is known, with this file as RevokedHostKeys."""
    peer = SshPeer(SHOWN)
    (tmp_path / "known").write_text(peer.known_as(SHOWN), encoding="utf-8")

    def log_in(file: str) -> SshPeer:
        said = f"UserKnownHostsFile {tmp_path / 'known'}\nGlobalKnownHostsFile none\nRevokedHostKeys {file}\n"
        (tmp_path / "config").write_text(said, encoding="utf-8")
        access = SshAccess(
            "dba", port=peer.port, password=SecretRef("env", "P"), config=str(tmp_path / "config"), agent=False
        )
        vault = MemoryVault({"env:P": "geheim"})
        SshLink.open(HostEntry("db1", "127.0.0.1", access), vault, policy=None, limits=Limits(handshake_s=60.0)).close()
        return peer

    yield log_in
    peer.close()


@pytest.mark.usefixtures("either_reader")
def test_that_a_known_key_on_a_list_of_revoked_ones_ends_it_before_the_login(enter: Enter, tmp_path: Path) -> None:
    file = tmp_path / "revoked"
    file.write_text(f"# ours\n\n{line_of(OTHER)}", encoding="utf-8")
    peer = enter(str(file))
    assert peer.passwords == ["geheim"]
    file.write_text(f"# ours\n{line_of(OTHER)}{line_of(SHOWN)}", encoding="utf-8")
    with pytest.raises(HostKeyChanged, match=r"is revoked by .*revoked \(RevokedHostKeys\)"):
        enter(str(file))
    assert peer.passwords == ["geheim"]


@pytest.mark.parametrize("text", [None, b"something else\n", b"SSHKRL\n\0\0\0\0\2" + bytes(40), b"SSHKRL\n\0\0"])
def test_that_a_list_that_can_not_be_read_lets_no_host_through(
    enter: Enter, tmp_path: Path, text: bytes | None
) -> None:
    file = tmp_path / "revoked"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(BadInput, match=r"cannot be read|contains unsupported data"):
        enter(str(file))


@with_keygen
@pytest.mark.parametrize("word", ["", "sha1: ", "sha256: ", "hash: "])
def test_that_a_krl_of_ssh_keygen_means_what_it_means_to_ssh(tmp_path: Path, word: str) -> None:
    pub, other, krl = tmp_path / "k.pub", tmp_path / "o.pub", tmp_path / "krl"
    pub.write_text(line_of(SHOWN))
    other.write_text(line_of(OTHER))
    spec = tmp_path / "spec"
    spec.write_text(f"hash: {fingerprint(pub)}\n" if word == "hash: " else f"{word}{line_of(SHOWN)}")
    keygen("-k", "-f", str(krl), str(spec))
    found = read_revoked_keys(str(krl))
    assert (found.has(SHOWN.asbytes()), found.has(OTHER.asbytes())) == (True, False)
    for file, is_on in ((pub, True), (other, False)):
        asked = subprocess.run(["ssh-keygen", "-Q", "-f", str(krl), str(file)], capture_output=True, check=False)
        assert (asked.returncode != 0) is is_on


@with_keygen
def test_that_certificates_of_a_krl_are_known_by_authority_serial_and_id(tmp_path: Path) -> None:
    (tmp_path / "ca.pub").write_text(line_of(OTHER))
    (tmp_path / "spec").write_text("serial: 7\nserial: 100-4000\nserial: 9000\nserial: 9002\nid: old-host\n")
    keygen("-k", "-f", str(tmp_path / "krl"), "-s", str(tmp_path / "ca.pub"), str(tmp_path / "spec"))
    found = read_revoked_keys(str(tmp_path / "krl"))
    authority, stranger = OTHER.asbytes(), SHOWN.asbytes()
    on_it = [n for n in (0, 6, 7, 8, 99, 100, 2000, 4000, 4001, 8999, 9000, 9001, 9002, 9003)
             if found.has_certificate(Certified(authority, n, "x"))]  # fmt: skip
    assert on_it == [7, 100, 2000, 4000, 9000, 9002]
    assert found.has_certificate(Certified(authority, 0, "old-host"))
    assert not found.has_certificate(Certified(stranger, 7, "old-host"))


def keygen(*words: str) -> str:
    argv = ["ssh-keygen", *words]
    return subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60).stdout


def fingerprint(file: Path) -> str:
    return keygen("-l", "-f", str(file)).split()[1]
