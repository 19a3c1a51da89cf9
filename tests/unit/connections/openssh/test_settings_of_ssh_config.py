"""Every setting of ssh_config has its treatment: lists, addresses and keys are kept, guards are refused."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.openssh.algorithms import CIPHERS, KEX, MACS, offer_for
from services.connections.openssh.program import ssh_program
from services.connections.openssh.settings import settings_of
from services.connections.openssh.treatment import (
    GUARDS,
    HARMLESS,
    KEPT,
    OF_VENDORS,
    WHILE_READING,
    is_known,
)
from services.connections.ssh.config import hop_for, target_for
from services.connections.ssh.connection import SshLink
from services.connections.ssh.host_key_check import check_host_key, known_for
from services.connections.ssh.target import SshTarget
from services.connections.ssh.transport import SshTransport
from services.errors import AuthFailed, BadInput, HostKeyUnknown, UserError
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

SHOWN = paramiko.ECDSAKey.generate()
WORDS = (Path(__file__).parents[2] / "recorded" / "ssh_config_settings.txt").read_text(encoding="utf-8").splitlines()
Enter = Callable[[str], SshTransport]
with_ssh = pytest.mark.skipif(ssh_program() is None, reason="OpenSSH's ssh is not installed")
with_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def target(folder: Path, text: str) -> SshTarget:
    (folder / "config").write_text(f"GlobalKnownHostsFile none\nUserKnownHostsFile {folder / 'known'}\n{text}\n")
    return target_for(SshAccess("dba", config=str(folder / "config")), "db1")


def test_that_every_setting_of_three_releases_has_its_treatment() -> None:
    words = [word for word in WORDS if not word.startswith("#")]
    assert len(words) > 120
    assert [word for word in words if not is_known(word)] == []


@with_ssh
def test_that_every_setting_that_this_ssh_prints_has_its_treatment() -> None:
    program = ssh_program()
    assert program is not None
    argv = [program, "-G", "-T", "-F", "none", "db1"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=60)
    names = {line.partition(" ")[0] for line in said.stdout.splitlines()}
    assert len(names) > 50
    assert [name for name in names if not is_known(name)] == []


def test_that_no_setting_has_two_treatments() -> None:
    parts = [KEPT, WHILE_READING, OF_VENDORS, frozenset(guard.lower() for guard in GUARDS), *HARMLESS.values()]
    assert sum(map(len, parts)) == len(frozenset().union(*parts))


@with_ssh
def test_that_a_setting_of_a_newer_ssh_is_refused_where_it_is_set_and_only_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, folder = ssh_program(), tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(
        f'#!/bin/sh\ncase "$*" in *set-it*) echo newguard strict;; *) echo newguard lax;; esac\nexec {real} "$@"\n'
    )
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "config").write_text("Host *\n User dba\n")
    access = SshAccess("", config=str(tmp_path / "config"))
    assert target_for(access, "db1").user == "dba"
    with pytest.raises(BadInput, match=r"ssh_config sets newguard for set-it, which Pilothouse does not support"):
        target_for(access, "set-it")


@with_ssh
def test_that_the_names_that_a_newer_ssh_looks_for_by_itself_are_no_choice_of_the_persons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, folder = ssh_program(), tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(f'#!/bin/sh\n{real} "$@" && echo identityfile "~/.ssh/id_mldsa44_ed25519"\n')
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "config").write_text("Host *\n User dba\n")
    access = SshAccess("dba", key="/keys/own", config=str(tmp_path / "config"))
    found = hop_for(access, "gate").identity_files
    assert (found[0], Path(found[-1]).name) == ("/keys/own", "id_mldsa44_ed25519")


@with_ssh
@pytest.mark.parametrize("puts_in", [True, False], ids=["10.0", "before"])
def test_that_tokens_of_revoked_host_keys_are_put_in_once_whoever_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puts_in: bool
) -> None:
    real, folder = ssh_program(), tmp_path / "bin"
    folder.mkdir()
    put_in = "sed '/^revokedhostkeys/s/%%/%/'" if puts_in else "cat"
    (folder / "ssh").write_text(f'#!/bin/sh\n{real} "$@" | {put_in}\n')
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert target(tmp_path, "RevokedHostKeys /r/%%x").revoked_keys == ("/r/%x",)


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize(
    ("line", "part", "expected"),
    [
        ("", "ciphers", CIPHERS),
        ("", "macs", MACS),
        ("", "kex", KEX),
        ("Ciphers aes256-ctr,chacha20-poly1305@openssh.com,aes128-ctr", "ciphers", ("aes256-ctr", "aes128-ctr")),
        ("Ciphers aes256-cbc", "ciphers", ("aes256-cbc",)),
        ("Ciphers -aes1*,aes2*-ctr", "ciphers", ("aes256-gcm@openssh.com",)),
        ("MACs hmac-sha2-512-etm@openssh.com,hmac-sha1-96", "macs", ("hmac-sha2-512-etm@openssh.com", "hmac-sha1-96")),
        ("KexAlgorithms curve25519-sha256", "kex", ("curve25519-sha256",)),
        ("PubkeyAcceptedAlgorithms ssh-ed25519,rsa-sha2-256", "rsa", ("rsa-sha2-256",)),
        ("PubkeyAcceptedKeyTypes rsa-sha2-512", "rsa", ("rsa-sha2-512",)),
    ],
)
def test_that_lists_of_algorithms_are_offered_as_the_file_has_them(
    tmp_path: Path, line: str, part: str, expected: tuple[str, ...]
) -> None:
    assert getattr(offer_for(target(tmp_path, line)), part) == expected


@pytest.mark.usefixtures("either_reader")
def test_that_what_a_list_adds_or_puts_first_is_offered_beside_ours(tmp_path: Path) -> None:
    assert set(offer_for(target(tmp_path, "Ciphers +aes256-cbc")).ciphers) == {*CIPHERS, "aes256-cbc"}
    first = offer_for(target(tmp_path, "Ciphers ^aes256-gcm@openssh.com")).ciphers
    assert first[0] == "aes256-gcm@openssh.com"
    assert set(first) == set(CIPHERS)


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize(
    "line",
    [
        "Ciphers chacha20-poly1305@openssh.com",
        "MACs umac-128-etm@openssh.com",
        "KexAlgorithms sntrup761x25519-sha512@openssh.com",
    ],
)
def test_that_a_list_of_which_nothing_is_known_here_is_refused_by_its_name(tmp_path: Path, line: str) -> None:
    word, names = line.split()
    with pytest.raises(
        BadInput, match=f"{word} in ssh_config for db1 contains no algorithm that Pilothouse supports: {names}"
    ):
        offer_for(target(tmp_path, line))


@pytest.mark.usefixtures("either_reader")
def test_that_an_interface_is_refused_where_the_connection_begins_here(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="sets BindInterface for db1"):
        target(tmp_path, "BindInterface eth9")
    assert target(tmp_path, "BindInterface eth9\nProxyJump gate").jumps == ("gate",)


def test_that_names_of_one_vendors_ssh_are_read_as_what_they_are() -> None:
    assert settings_of("rsaminsize 2048\nrequiredrsasize 1024\n").number("requiredrsasize") == 2048


@pytest.fixture
def peer() -> Iterator[SshPeer]:
    made = SshPeer(SHOWN)
    yield made
    made.close()


@pytest.fixture
def enter(peer: SshPeer, tmp_path: Path) -> Iterator[Enter]:
    """Log in with a password, and with these lines in ssh_config."""
    (tmp_path / "known").write_text(peer.known_as(SHOWN), encoding="utf-8")
    links: list[SshLink] = []

    def log_in(lines: str) -> SshTransport:
        said = f"UserKnownHostsFile {tmp_path / 'known'}\nGlobalKnownHostsFile none\n{lines}\n"
        (tmp_path / "config").write_text(said, encoding="utf-8")
        access = SshAccess("dba", port=peer.port, password=SecretRef("env", "P"), config=str(tmp_path / "config"))
        entry, vault = HostEntry("db1", "127.0.0.1", access), MemoryVault({"env:P": "geheim"})
        links.append(SshLink.open(entry, vault, policy=None, limits=Limits(handshake_s=60.0)))
        return links[-1].transport

    yield log_in
    for link in links:
        link.close()


@pytest.mark.usefixtures("either_reader")
def test_that_a_host_is_spoken_to_with_what_the_file_takes(enter: Enter) -> None:
    lines = "Ciphers aes256-ctr\nMACs hmac-sha2-512\nKexAlgorithms ecdh-sha2-nistp384\nIdentityAgent none"
    spoken = enter(lines)
    assert spoken.is_active()
    assert (spoken.remote_cipher, spoken.local_cipher) == ("aes256-ctr", "aes256-ctr")  # type: ignore[attr-defined]
    assert (spoken.remote_mac, spoken.local_mac) == ("hmac-sha2-512", "hmac-sha2-512")  # type: ignore[attr-defined]


@pytest.mark.usefixtures("either_reader")
def test_that_a_host_that_has_none_of_them_is_told_with_where_to_look(
    enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paramiko.Transport, "_preferred_ciphers", ("aes128-ctr",))  # the scripted host's
    monkeypatch.setattr(paramiko.packet.Packetizer, "start_handshake", lambda *_: None)  # its clock outlives it
    with pytest.raises(UserError, match="no SSH algorithm in common") as raised:
        enter("Ciphers aes256-ctr\nIdentityAgent none")
    assert raised.value.try_ == ("ssh_config lists the algorithms for this host: ssh -G 127.0.0.1",)


@pytest.mark.usefixtures("either_reader")
def test_that_a_connection_begins_at_the_address_that_the_file_names(enter: Enter) -> None:
    spoken = enter("BindAddress 127.0.0.2\nAddressFamily inet\nIdentityAgent none")
    end = spoken.meter.below
    assert isinstance(end, socket.socket)
    assert end.getsockname()[0] == "127.0.0.2"


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "BindAddress 203.0.113.77",
            r"This workstation cannot bind to BindAddress 203\.0\.113\.77",
        ),
        (
            "AddressFamily inet6",
            r"127\.0\.0\.1 has no address of the family that ssh_config requires \(AddressFamily inet6",
        ),
    ],
)
def test_that_an_address_that_is_none_is_told_with_its_setting(enter: Enter, line: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        enter(f"{line}\nIdentityAgent none")


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "PubkeyAcceptedAlgorithms rsa-sha2-512",
            r"ssh_config excludes keys of this type \(PubkeyAcceptedAlgorithms\)",
        ),
        ("PubkeyAuthentication no", r"ssh_config disables them \(PubkeyAuthentication\)"),
        ("PreferredAuthentications password", r"ssh_config disables them \(PubkeyAuthentication\)"),
        ("PKCS11Provider /lib/p.so", r"PKCS11Provider /lib/p\.so: its keys can be used only through the agent"),
    ],
)
def test_that_a_key_that_is_left_out_is_told_with_its_setting(
    peer: SshPeer, tmp_path: Path, line: str, sentence: str
) -> None:
    (tmp_path / "known").write_text(peer.known_as(SHOWN), encoding="utf-8")
    paramiko.ECDSAKey.generate().write_private_key_file(str(tmp_path / "id"))
    said = (
        f"UserKnownHostsFile {tmp_path / 'known'}\nGlobalKnownHostsFile none\nIdentityFile {tmp_path / 'id'}\n{line}\n"
    )
    (tmp_path / "config").write_text(said, encoding="utf-8")
    access = SshAccess("dba", port=peer.port, config=str(tmp_path / "config"), agent=False)
    with pytest.raises(AuthFailed, match=sentence):
        SshLink.open(
            HostEntry("db1", "127.0.0.1", access), MemoryVault({}), policy=None, limits=Limits(handshake_s=60.0)
        )


@with_keygen
@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize(
    ("line", "is_taken"),
    [
        ("", True),
        ("CASignatureAlgorithms ssh-ed25519,rsa-sha2-256", True),
        ("Port 2222", True),
        ("CASignatureAlgorithms rsa-sha2-512", False),
    ],
)
def test_that_a_certificate_counts_where_its_signature_is_of_a_kind_that_the_file_takes(
    tmp_path: Path, line: str, is_taken: bool
) -> None:
    for name, kind, bits in (("ca", "rsa", "2048"), ("host", "ecdsa", "256")):
        keygen("-q", "-t", kind, "-b", bits, "-N", "", "-f", str(tmp_path / name))
    keygen("-q", "-t", "rsa-sha2-256", "-s", str(tmp_path / "ca"), "-I", "x", "-h", str(tmp_path / "host.pub"))
    (tmp_path / "known").write_text(f"@cert-authority db1 {(tmp_path / 'ca.pub').read_text()}")
    key = paramiko.ECDSAKey.from_private_key_file(str(tmp_path / "host"))
    key.load_certificate(str(tmp_path / "host-cert.pub"))
    found = target(tmp_path, line)
    if is_taken:
        check_host_key(key, target=found, known=known_for(found), host="db1", policy=None)
        return
    with pytest.raises(HostKeyUnknown):
        check_host_key(key, target=found, known=known_for(found), host="db1", policy=None)


def keygen(*words: str) -> None:
    subprocess.run(["ssh-keygen", *words], check=True, stdin=subprocess.DEVNULL, timeout=60)
