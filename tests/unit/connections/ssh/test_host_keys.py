"""known_hosts: reading what ssh-keygen writes, and writing what ssh-keygen finds."""

from __future__ import annotations

import base64
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from services.connections.ssh.host_keys import KeyStatus, KnownHosts, fingerprint, remember
from services.errors import BadInput

needs_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def keygen(*argv: str) -> str:
    return subprocess.run(["ssh-keygen", *argv], capture_output=True, text=True, check=True, timeout=20).stdout


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, tuple[str, bytes]]:
    """Two Ed25519 keys and an ECDSA one: type and blob."""
    found = {}
    for name, kind in (("one", "ed25519"), ("two", "ed25519"), ("ecdsa", "ecdsa")):
        keygen("-q", "-t", kind, "-N", "", "-f", str(tmp_path / name))
        key_type, blob = (tmp_path / f"{name}.pub").read_text(encoding="utf-8").split()[:2]
        found[name] = (key_type, base64.b64decode(blob))
    return found


def line(hosts: str, key: tuple[str, bytes], marker: str = "") -> str:
    return f"{marker} {hosts} {key[0]} {base64.b64encode(key[1]).decode()} a comment\n".lstrip()


@needs_keygen
def test_that_fingerprints_are_those_ssh_keygen_prints(tmp_path: Path, keys: dict[str, tuple[str, bytes]]) -> None:
    assert fingerprint(keys["one"][1]) == keygen("-l", "-f", str(tmp_path / "one.pub")).split()[1]


@needs_keygen
@pytest.mark.parametrize(
    ("hosts", "name", "found"),
    [
        ("db1", "db1", True),
        ("db1", "DB1", True),
        ("db1,10.0.0.1", "10.0.0.1", True),
        ("db1", "db10", False),
        ("*.example,!db2.example", "db1.example", True),
        ("*.example,!db2.example", "db2.example", False),
        ("!db2.example,*.example", "db2.example", False),
        ("db?", "db1", True),
        ("[db1]:2200", "[db1]:2200", True),
        ("[db1]:2200", "db1", False),
        ("[db1]:2200", "d", False),
    ],
)
def test_that_a_name_is_found_where_openssh_finds_it(
    tmp_path: Path, keys: dict[str, tuple[str, bytes]], hosts: str, name: str, found: bool
) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(f"# comment\n\n{line(hosts, keys['one'])}", encoding="utf-8")
    verdict, _ = KnownHosts((str(file),)).judge(name, *keys["one"])
    assert verdict is (KeyStatus.KNOWN if found else KeyStatus.UNKNOWN)


@needs_keygen
def test_that_names_hashed_by_ssh_keygen_are_found(tmp_path: Path, keys: dict[str, tuple[str, bytes]]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("db1,10.0.0.1", keys["one"]) + line("[db1]:2200", keys["two"]), encoding="utf-8")
    keygen("-q", "-H", "-f", str(file))
    assert "db1" not in file.read_text(encoding="utf-8")
    known = KnownHosts((str(file),))
    assert known.judge("db1", *keys["one"])[0] is KeyStatus.KNOWN
    assert known.judge("10.0.0.1", *keys["one"])[0] is KeyStatus.KNOWN
    assert known.judge("[db1]:2200", *keys["two"])[0] is KeyStatus.KNOWN
    assert known.judge("db2", *keys["one"])[0] is KeyStatus.UNKNOWN


@needs_keygen
def test_that_another_key_is_a_change_whatever_its_type(tmp_path: Path, keys: dict[str, tuple[str, bytes]]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("db1", keys["one"]), encoding="utf-8")
    known = KnownHosts((str(file),))
    verdict, where = known.judge("db1", *keys["two"])
    assert verdict is KeyStatus.CHANGED
    assert where is not None
    assert where.where == f"{file}:1"
    assert known.judge("db1", *keys["ecdsa"])[0] is KeyStatus.CHANGED
    assert known.key_types("db1") == ("ssh-ed25519",)


@needs_keygen
def test_that_one_right_key_among_several_is_enough(tmp_path: Path, keys: dict[str, tuple[str, bytes]]) -> None:
    file, other = tmp_path / "known_hosts", tmp_path / "global"
    file.write_text(line("db1", keys["one"]), encoding="utf-8")
    other.write_text(line("db1", keys["two"]), encoding="utf-8")
    assert KnownHosts((str(file), str(other))).judge("db1", *keys["two"])[0] is KeyStatus.KNOWN


@needs_keygen
def test_that_a_revoked_key_is_revoked_even_where_another_line_knows_it(
    tmp_path: Path, keys: dict[str, tuple[str, bytes]]
) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("db1", keys["one"]) + line("*", keys["one"], "@revoked"), encoding="utf-8")
    assert KnownHosts((str(file),)).judge("db1", *keys["one"])[0] is KeyStatus.REVOKED


@needs_keygen
def test_that_an_authority_is_no_host_key(tmp_path: Path, keys: dict[str, tuple[str, bytes]]) -> None:
    file = tmp_path / "known_hosts"
    file.write_text(line("*.example", keys["one"], "@cert-authority"), encoding="utf-8")
    known = KnownHosts((str(file),))
    assert known.authorities("db1.example") == (keys["one"][1],)
    assert known.judge("db1.example", *keys["one"])[0] is KeyStatus.UNKNOWN


def test_that_broken_lines_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    file.write_text("db1\ndb1 ssh-ed25519 !!!\n@what db1 ssh-ed25519 AAAA\n|1|x|y ssh-ed25519 AAAA\n", encoding="utf-8")
    assert KnownHosts((str(file), str(tmp_path / "none"))).judge("db1", "ssh-ed25519", b"x")[0] is KeyStatus.UNKNOWN


@needs_keygen
@pytest.mark.parametrize("hashed", [False, True])
def test_that_an_accepted_key_is_found_by_ssh_keygen_and_by_us(
    tmp_path: Path, keys: dict[str, tuple[str, bytes]], hashed: bool
) -> None:
    file = tmp_path / "ssh" / "known_hosts"
    kind, blob = keys["one"]
    remember(str(file), "[db1]:2200", kind, base64.b64encode(blob).decode(), hashed=hashed)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert ("db1" in file.read_text(encoding="utf-8")) is not hashed
    assert kind in keygen("-F", "[db1]:2200", "-f", str(file))
    assert KnownHosts((str(file),)).judge("[db1]:2200", kind, blob)[0] is KeyStatus.KNOWN


@needs_keygen
def test_that_a_hashed_file_stays_hashed_and_a_missing_last_newline_breaks_no_line(
    tmp_path: Path, keys: dict[str, tuple[str, bytes]]
) -> None:
    file = tmp_path / "known_hosts"
    remember(str(file), "db1", keys["one"][0], base64.b64encode(keys["one"][1]).decode(), hashed=True)
    file.write_text(file.read_text(encoding="utf-8").rstrip("\n"), encoding="utf-8")
    remember(str(file), "db2", keys["two"][0], base64.b64encode(keys["two"][1]).decode(), hashed=False)
    assert "db2" not in file.read_text(encoding="utf-8")
    known = KnownHosts((str(file),))
    assert known.judge("db1", *keys["one"])[0] is KeyStatus.KNOWN
    assert known.judge("db2", *keys["two"])[0] is KeyStatus.KNOWN


def test_that_a_file_that_cant_be_read_stops_the_login_rather_than_forget_a_changed_key(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        KnownHosts((str(tmp_path),))
