"""A comment stays a comment: what Python takes for a line's end and OpenSSH does not hides no setting and no key."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import paramiko
import pytest

from services.connections.ssh.config import target_for
from services.connections.ssh.host_keys import KeyStatus, KnownHosts
from services.connections.tls import known_certificates
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.model import SshAccess
from services.lines import lines_of

SEPARATORS = ("\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r")


def test_that_a_line_ends_at_a_line_feed_only() -> None:
    assert lines_of("a\r\nb\n\nc") == ["a", "b", "", "c"]
    assert lines_of("") == []
    for separator in SEPARATORS:
        assert lines_of(f"a{separator}b\n") == [f"a{separator}b"]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_that_a_remark_in_an_ssh_config_names_no_program(tmp_path: Path, separator: str) -> None:
    config = tmp_path / "config"
    included = tmp_path / "included"
    remark = f"# a remark{separator}ProxyCommand touch x\n"
    config.write_bytes(f"{remark}Include {included}\nHost db1\r\n Port 2200\r\n".encode())
    included.write_bytes(remark.encode())
    found = target_for(SshAccess(user="dba", config=str(config)), "db1")
    assert found.proxy_command == ""
    assert found.port == 2200
    if shutil.which("ssh") is not None:
        said = subprocess.run(
            ["ssh", "-G", "-F", str(config), "db1"], capture_output=True, text=True, check=True, timeout=20
        ).stdout
        assert "proxycommand" not in said


@pytest.mark.parametrize("separator", SEPARATORS)
def test_that_a_remark_in_known_hosts_knows_no_key(tmp_path: Path, separator: str) -> None:
    key = paramiko.ECDSAKey.generate()
    file = tmp_path / "known_hosts"
    line = f"db1 {key.get_name()} {key.get_base64()}"
    file.write_bytes(f"# of the team{separator}{line}\ndb2{line[3:]}\r\n{separator}db3{line[3:]}\n".encode())
    known = KnownHosts((str(file),))
    assert known.judge("db1", key.get_name(), key.asbytes())[0] is KeyStatus.UNKNOWN
    assert known.judge("db2", key.get_name(), key.asbytes())[0] is KeyStatus.KNOWN
    assert known.judge("db3", key.get_name(), key.asbytes())[0] is KeyStatus.UNKNOWN


@pytest.mark.parametrize("separator", SEPARATORS)
def test_that_a_remark_among_the_accepted_certificates_accepts_none(separator: str) -> None:
    file = known_certificates.place()
    file.parent.mkdir(parents=True)
    file.write_bytes(f"# mine{separator}db1:3306 sha256 {':'.join(['AB'] * 32)}\n".encode())
    assert known_certificates.pins_of("db1:3306") == ()


@pytest.mark.parametrize("separator", SEPARATORS)
def test_that_a_remark_in_a_file_to_import_is_imported_nowhere(tmp_path: Path, separator: str) -> None:
    config, options = tmp_path / "config", tmp_path / "my.cnf"
    config.write_bytes(f"# old{separator}Host evil\nHost db1\n".encode())
    options.write_bytes(f"[client]\nuser=a\nhost=db1\n# old{separator}host=evil\n".encode())
    assert [host.name for host in import_ssh_config(config).hosts] == ["db1"]
    assert [host.address for host in import_my_cnf(options).hosts] == ["db1"]
