"""Files as editors and shells of Windows write them: told for what they are, whoever reads them, and never quoted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import paramiko
import pytest

from services.connections.openssh.key_files import CannotOpen, private_key, read_key_file
from services.connections.ssh.config import target_for
from services.errors import BadInput
from services.inventory.model import SshAccess
from services.secrets import Secret

TEXT = "Host db1\r\n  HostName 10.0.0.9\r\n"


@pytest.mark.usefixtures("either_reader")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_that_a_configuration_in_another_encoding_is_told_as_that(tmp_path: Path, encoding: str) -> None:
    data = TEXT.encode(encoding)
    (tmp_path / "inner").write_bytes(b"\xfe\xff" + data if encoding == "utf-16-be" else data)
    (tmp_path / "config").write_text(f"Include {tmp_path}/inner\n")
    name = "UTF-8 with a byte order mark" if encoding == "utf-8-sig" else "UTF-16"
    with pytest.raises(BadInput, match=f"inner is encoded in {name}, which ssh does not read"):
        target_for(SshAccess("dba", config=str(tmp_path / "config")), "db1")


def told(data: bytes, folder: Path, word: Secret | None = None) -> CannotOpen:
    (folder / "key").write_bytes(data)
    file = read_key_file(str(folder / "key"))
    assert file is not None
    with pytest.raises(CannotOpen) as raised:
        private_key(file, word)
    return raised.value


@pytest.mark.parametrize("sealed", [False, True])
def test_that_a_damaged_key_is_never_quoted(tmp_path: Path, sealed: bool) -> None:
    made = tmp_path / "made"
    if sealed:
        argv = ["ssh-keygen", "-q", "-t", "rsa", "-b", "1024", "-m", "PKCS8", "-N", "geheim", "-f", str(made)]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=100)
    else:
        paramiko.RSAKey.generate(1024).write_private_key_file(str(made))
    text = made.read_text()
    body = text.splitlines()[1]
    broken = text.replace("-----END", "\n-----END").replace(body, f"{body[:20]}\n\n{body[20:]}")
    for word in (None, Secret("geheim")):
        problem = told(broken.encode(), tmp_path, word)
        said = f"{problem} {problem.try_}"
        assert not any(body[at : at + 8] in said for at in range(len(body) - 8))
        assert problem.__cause__ is None
        assert problem.__suppress_context__


def test_that_a_key_in_utf_16_is_told_as_that(tmp_path: Path) -> None:
    problem = told("-----BEGIN OPENSSH PRIVATE KEY-----\n".encode("utf-16"), tmp_path)
    assert str(problem) == "it is encoded in UTF-16, which ssh does not read"


@pytest.mark.parametrize("change", ["crlf", "no end of line", "blanks at the ends", "remark before", "mark"])
def test_that_a_key_that_windows_or_a_clipboard_changed_is_opened(tmp_path: Path, change: str) -> None:
    made = tmp_path / "made"
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(made)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=100)
    data = made.read_bytes()
    changed = {
        "crlf": data.replace(b"\n", b"\r\n"),
        "no end of line": data.rstrip(b"\n"),
        "blanks at the ends": data.replace(b"\n", b"  \n"),
        "remark before": b"# mine\n" + data,
        "mark": b"\xef\xbb\xbf" + data,
    }[change]
    (tmp_path / "key").write_bytes(changed)
    file = read_key_file(str(tmp_path / "key"))
    assert file is not None
    assert private_key(file, None).get_name() == "ssh-ed25519"
