"""What ssh_config says against a host's key and that is kept here: which kinds, how long, and its address."""

from __future__ import annotations

from pathlib import Path

import paramiko
import pytest

from services.connections.ssh.config import target_for
from services.connections.ssh.host_key_check import check_host_key, key_algorithms, known_for
from services.connections.ssh.target import SshTarget
from services.errors import BadInput, HostKeyChanged
from services.inventory.model import SshAccess

SHOWN, OTHER = paramiko.RSAKey.generate(1024), paramiko.ECDSAKey.generate()
pytestmark = pytest.mark.usefixtures("either_reader")


def target(folder: Path, text: str, known: str = "") -> SshTarget:
    (folder / "known").write_text(known, encoding="utf-8")
    (folder / "config").write_text(f"GlobalKnownHostsFile none\n{text}", encoding="utf-8")
    access = SshAccess("dba", config=str(folder / "config"), known_hosts=str(folder / "known"))
    return target_for(access, "db1")


def line_of(name: str, key: paramiko.PKey) -> str:
    return f"{name} {key.get_name()} {key.get_base64()}\n"


def judge(found: SshTarget, address: str = "10.0.0.9") -> None:
    check_host_key(SHOWN, target=found, known=known_for(found), host="db1", policy=None, address=address)


def test_that_only_the_kinds_of_host_keys_are_asked_for_that_the_file_takes(tmp_path: Path) -> None:
    found = target(tmp_path, "HostKeyAlgorithms ecdsa-sha2-nistp256,ssh-ed25519\n")
    assert set(key_algorithms(found, known_for(found))) == {"ecdsa-sha2-nistp256", "ssh-ed25519"}
    found = target(tmp_path, "HostKeyAlgorithms -ecdsa-*\n")
    assert not any(name.startswith("ecdsa") for name in key_algorithms(found, known_for(found)))
    found = target(tmp_path, "HostKeyAlgorithms sk-ssh-ed25519@openssh.com\n")
    with pytest.raises(
        BadInput, match="HostKeyAlgorithms in ssh_config for db1 contains no algorithm that Pilothouse supports"
    ):
        key_algorithms(found, known_for(found))


def test_that_a_short_rsa_key_is_refused_where_the_file_asks_for_more(tmp_path: Path) -> None:
    judge(target(tmp_path, "RequiredRSASize 1024\n", line_of("db1", SHOWN)))
    with pytest.raises(HostKeyChanged, match=r"has 1024 bits, and ssh_config requires 2048 \(RequiredRSASize\)"):
        judge(target(tmp_path, "RequiredRSASize 2048\n", line_of("db1", SHOWN)))


def test_that_another_key_of_its_address_ends_it_where_the_file_asks_for_that(tmp_path: Path) -> None:
    known = line_of("db1", SHOWN) + line_of("10.0.0.9", OTHER)
    judge(target(tmp_path, "CheckHostIP no\n", known))
    with pytest.raises(HostKeyChanged, match=r"for its address 10\.0\.0\.9 \(CheckHostIP\)"):
        judge(target(tmp_path, "CheckHostIP yes\n", known))
    judge(target(tmp_path, "CheckHostIP yes\n", known), address="10.0.0.8")
