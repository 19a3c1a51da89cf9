"""Key files as people have them, and agents with many keys: files of ssh-keygen, a real ssh-agent, a scripted host."""

from __future__ import annotations

import base64
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from services.connections.limits import Limits
from services.connections.openssh.key_files import CannotOpen, NeedsPassphrase, private_key, public_half, read_key_file
from services.connections.ssh.connection import SshLink
from services.errors import AuthFailed
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, Secret, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

HOST_KEY = paramiko.ECDSAKey.generate()
WORD = "drei Worte ü"
pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def made_by_keygen(file: Path, *options: str, word: str = "") -> Path:
    """Have ssh-keygen write a key."""
    # The shortest key that a login takes, and one round of the passphrase's hash: it is no secret, and made in no time.
    size = ["-b", "2048"] if "rsa" in options and "-b" not in options else []
    argv = ["ssh-keygen", "-q", "-a", "1", "-f", str(file), "-N", word, *size, *options]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=60)
    return file


def opened(file: Path, word: str | None) -> paramiko.PKey:
    found = read_key_file(str(file))
    assert found is not None
    return private_key(found, None if word is None else Secret(word))


CIPHERS = (
    "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr", "aes192-ctr",
    "aes256-ctr", "aes128-cbc", "aes256-cbc",
)  # fmt: skip


@pytest.mark.parametrize("cipher", CIPHERS)
def test_that_a_key_is_opened_whatever_cipher_seals_it(tmp_path: Path, cipher: str) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519", "-Z", cipher, word=WORD)
    assert opened(key, WORD).asbytes() == public_half(f"{key}.pub")
    with pytest.raises(NeedsPassphrase):
        opened(key, None)
    with pytest.raises(CannotOpen, match="the passphrase is wrong"):
        opened(key, "another")


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
@pytest.mark.parametrize("form", ["PKCS8", "PEM", "RFC4716"])
@pytest.mark.parametrize("word", ["", WORD])
def test_that_every_form_of_a_private_key_is_opened(tmp_path: Path, kind: str, form: str, word: str) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", kind, "-m", form, word=word)
    assert opened(key, word or None).asbytes() == public_half(f"{key}.pub")


def test_that_words_around_a_key_do_not_hide_it(tmp_path: Path) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", "rsa", "-m", "PKCS8")
    lines = f"Bag Attributes\n    friendlyName: ours\nKey Attributes: <No Attributes>\n{key.read_text()}subject=CN\n"
    key.write_text(lines)
    assert opened(key, None).asbytes() == public_half(f"{key}.pub")


def test_that_the_first_private_key_of_a_file_counts_whatever_stands_around_it(tmp_path: Path) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", "rsa", "-m", "PEM")
    other = made_by_keygen(tmp_path / "other", "-t", "ed25519")
    key.write_text((tmp_path / "k.pub").read_text() + key.read_text() + other.read_text())
    assert opened(key, None).asbytes() == public_half(str(tmp_path / "k.pub"))
    other.write_text((tmp_path / "other.pub").read_text() + other.read_text())
    assert opened(other, None).asbytes() == public_half(str(tmp_path / "other.pub"))


def test_that_a_curve_that_no_login_takes_is_told_as_that(tmp_path: Path) -> None:
    found = ec.generate_private_key(ec.SECP256K1())
    text = found.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (tmp_path / "k").write_bytes(text)
    with pytest.raises(CannotOpen, match=r"its key type \(secp256k1\)"):
        opened(tmp_path / "k", None)
    assert public_half(str(tmp_path / "k")) is None


@pytest.mark.parametrize(
    ("text", "told", "helps"),
    [
        (b"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", "PuTTY's format", "puttygen"),
        (b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n", "RFC 4716", "ssh-keygen -i"),
        (b"SSH PRIVATE KEY FILE FORMAT 1.1\n\0", "SSH protocol 1", "ssh-keygen -t ed25519"),
        (b"\x30\x82\x04\xa4\x02\x01\x00", "binary", "openssl pkey"),
        (b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA me\n", "a public key", "ssh-add"),
        (b"nothing of the kind\n", "it is not a supported private key", "ssh-keygen -l"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", "damaged", ""),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "damaged", ""),
    ],
)
def test_that_what_is_not_opened_is_named_with_what_converts_it(
    tmp_path: Path, text: bytes, told: str, helps: str
) -> None:
    (tmp_path / "k").write_bytes(text)
    with pytest.raises(CannotOpen, match=told) as caught:
        opened(tmp_path / "k", WORD)
    assert helps in caught.value.try_


def test_that_a_security_keys_file_is_told_to_be_used_through_the_agent(tmp_path: Path) -> None:
    def word(text: bytes) -> bytes:
        return struct.pack(">I", len(text)) + text

    kind = b"sk-ssh-ed25519@openssh.com"
    public = word(kind) + word(bytes(32)) + word(b"ssh:")
    head = b"openssh-key-v1\0" + word(b"none") * 2 + word(b"") + struct.pack(">I", 1) + word(public) + word(bytes(64))
    text = base64.b64encode(head).decode()
    (tmp_path / "k").write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}\n-----END OPENSSH PRIVATE KEY-----\n")
    with pytest.raises(CannotOpen, match=r"a security key .*only through the agent"):
        opened(tmp_path / "k", None)
    assert public_half(str(tmp_path / "k")) == public


# -- logins ---------------------------------------------------------------------------------------------------------


class CountingDoor(paramiko.ServerInterface):
    """Takes one key; ends the connection after so many others, as sshd's MaxAuthTries."""

    def __init__(self, wanted: bytes, most: int) -> None:
        self.offered: list[bytes] = []
        self._wanted = wanted
        self._most = most
        self.transport: paramiko.Transport | None = None

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self.offered.append(key.asbytes())
        if key.asbytes() == self._wanted:
            return paramiko.AUTH_SUCCESSFUL
        if len(self.offered) >= self._most and self.transport is not None:
            self.transport.close()
        return paramiko.AUTH_FAILED


Enter = Callable[..., CountingDoor]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    """Log in at a scripted host that takes the key of a file, with these lines in ssh_config."""
    peers: list[SshPeer] = []

    def log_in(wanted: str, *lines: str, most: int = 6, **access: object) -> CountingDoor:
        blob = public_half(wanted)
        assert blob is not None
        door = CountingDoor(blob, most)

        def opened(transport: paramiko.Transport) -> CountingDoor:
            door.transport = transport
            return door

        peers.append(SshPeer(HOST_KEY, door=opened))
        (tmp_path / "known").write_text(peers[-1].known_as(HOST_KEY), encoding="utf-8")
        said = [f"UserKnownHostsFile {tmp_path / 'known'}", "GlobalKnownHostsFile none", *lines]
        (tmp_path / "config").write_text("Host *\n" + "".join(f" {line}\n" for line in said), encoding="utf-8")
        given = {"user": "dba", "port": peers[-1].port, "config": str(tmp_path / "config"), **access}
        entry = HostEntry("db1", "127.0.0.1", SshAccess(**given))  # type: ignore[arg-type]
        vault = MemoryVault({"env:P": WORD})
        SshLink.open(entry, vault, policy=None, limits=Limits(handshake_s=60.0, auth_s=60.0)).close()
        return door

    yield log_in
    for peer in peers:
        peer.close()


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[Path]]]:
    """Start ssh-agent with so many keys; their private files are taken away."""
    place = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not place.exists() and time.monotonic() < until:
        time.sleep(0.02)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))

    def hold(number: int) -> list[Path]:
        keys = [made_by_keygen(tmp_path / f"held{n}", "-t", "ed25519") for n in range(number)]
        for key in keys:
            subprocess.run(["ssh-add", "-q", str(key)], check=True, stdin=subprocess.DEVNULL, timeout=30)
            key.unlink()
        return keys

    yield hold
    process.terminate()
    process.wait(10)


def test_that_a_sealed_key_logs_in_at_a_scripted_host(enter: Enter, tmp_path: Path) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519", "-Z", "aes256-gcm@openssh.com", word=WORD)
    enter(str(key), f"IdentityFile {key}", agent=False, passphrase=SecretRef("env", "P"))
    key = made_by_keygen(tmp_path / "p", "-t", "rsa", "-m", "PKCS8", word=WORD)
    enter(str(key), f"IdentityFile {key}", agent=False, passphrase=SecretRef("env", "P"))


def test_that_a_public_key_as_identity_file_picks_the_agents_key(
    enter: Enter, agent: Callable[..., list[Path]]
) -> None:
    keys = agent(3)
    door = enter(f"{keys[2]}.pub", f"IdentityFile {keys[2]}.pub", "IdentitiesOnly yes")
    assert door.offered[0] == public_half(f"{keys[2]}.pub")
    assert len(set(door.offered)) == 1


def test_that_a_public_key_whose_other_half_nobody_holds_is_told(
    enter: Enter, agent: Callable[..., list[Path]], tmp_path: Path
) -> None:
    agent(0)
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519")
    with pytest.raises(AuthFailed, match=r"k\.pub: it is a public key, and the agent does not hold its private half"):
        enter(str(key), f"IdentityFile {key}.pub", "IdentitiesOnly yes")


def test_that_all_keys_of_an_agent_are_offered_to_a_scripted_host_that_takes_so_many(
    enter: Enter, agent: Callable[..., list[Path]], tmp_path: Path
) -> None:
    keys = agent(8)
    own = made_by_keygen(tmp_path / "own", "-t", "ed25519")
    door = enter(str(own), f"IdentityFile {own}", most=20)
    assert len(set(door.offered)) == 9
    assert set(door.offered) >= {public_half(f"{key}.pub") for key in keys}


def test_that_a_scripted_host_that_takes_six_offers_is_told_with_identities_only(
    enter: Enter, agent: Callable[..., list[Path]], tmp_path: Path
) -> None:
    agent(8)
    own = made_by_keygen(tmp_path / "own", "-t", "ed25519")
    with pytest.raises(AuthFailed, match=r"\(MaxAuthTries\)\. [123] more keys were not offered") as caught:
        enter(str(own), f"IdentityFile {own}", most=6)
    assert "IdentitiesOnly yes" in caught.value.try_[0]
    enter(str(own), f"IdentityFile {own}", "IdentitiesOnly yes", most=6)


def test_that_a_key_that_others_may_read_is_not_used_and_told(enter: Enter, tmp_path: Path) -> None:
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519")
    key.chmod(0o644)
    with pytest.raises(AuthFailed, match=r"others may read it \(mode 0644\)") as caught:
        enter(str(key), f"IdentityFile {key}", agent=False)
    assert any("chmod 600" in advice for advice in caught.value.try_)


def test_that_an_agent_that_can_not_be_asked_is_told(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "gone"))
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519")
    with pytest.raises(AuthFailed, match=r"the agent: it cannot be reached \(No such file or directory\)"):
        enter(str(key), "IdentityFile none")


def test_that_a_security_key_of_a_mock_agent_is_offered(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is scripted: the touch of a real one is not to be had here."""

    def word(text: bytes) -> bytes:
        return struct.pack(">I", len(text)) + text

    kind = b"sk-ssh-ed25519@openssh.com"
    blob = word(kind) + word(bytes(range(32))) + word(b"ssh:")
    signed = word(word(kind) + word(bytes(64)) + b"\x01\0\0\0\x07")
    place = tmp_path / "agent"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen(1)
    asked: list[int] = []

    def answer() -> None:
        with listener.accept()[0] as peer:
            while head := peer.recv(4, socket.MSG_WAITALL):
                body = peer.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
                asked.append(body[0])
                keys = b"\x0c" + struct.pack(">I", 1) + word(blob) + word(b"yubikey")
                said = keys if body[0] == 11 else b"\x0e" + signed
                peer.sendall(word(said))

    thread = threading.Thread(target=answer)
    thread.start()
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    (tmp_path / "sk.pub").write_bytes(b"%b %b x\n" % (kind, base64.b64encode(blob)))
    key = made_by_keygen(tmp_path / "k", "-t", "ed25519")
    with pytest.raises(AuthFailed, match="agent key yubikey"):
        enter(str(key), f"IdentityFile {tmp_path / 'sk.pub'}", "IdentitiesOnly yes")
    thread.join(10)
    listener.close()
    assert asked == [11, 13]  # its keys, and a signature by the one that the file names
