"""What the inventory and other programs' files say of TLS: old words are read, and nothing becomes weaker."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import BadInput
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_workbench import import_workbench
from services.inventory.model import SqlAccess
from services.inventory.toml_file import parse_inventory
from services.inventory.toml_save import render_inventory

_FILE = 'version = 1\n[[host]]\nname = "a"\naddress = "a"\n[host.sql]\nuser = "u"\n'


def tls_of(more: str) -> str:
    found = parse_inventory(_FILE + more).hosts[0].sql
    assert found is not None
    return found.tls


def test_that_the_default_verifies_and_the_old_word_for_it_is_read_as_it() -> None:
    assert SqlAccess("u").tls == tls_of("") == tls_of('tls = "prefer"\n') == "verify"
    assert 'tls = "verify"' in render_inventory(parse_inventory(f'{_FILE}tls = "prefer"\n'), f'{_FILE}tls = "prefer"\n')
    for mode in ("off", "required", "verify", "verify-ca", "verify-identity"):
        assert tls_of(f'tls = "{mode}"\n') == mode
    with pytest.raises(BadInput, match=r'"tls".*must be one of "verify"'):
        tls_of('tls = "perhaps"\n')


def test_that_an_old_default_of_the_file_is_read_so_too_and_a_save_keeps_it_readable() -> None:
    text = f'version = 1\n[defaults.sql]\ntls = "prefer"\n{_FILE.removeprefix("version = 1")}'
    inventory = parse_inventory(text)
    assert inventory.hosts[0].sql == SqlAccess("u")
    assert parse_inventory(render_inventory(inventory, text)).hosts == inventory.hosts


def test_that_a_socket_may_have_the_default_and_no_certificate_to_verify() -> None:
    assert tls_of('via = "socket"\n') == "verify"
    with pytest.raises(BadInput, match="no certificate to verify"):
        tls_of('via = "socket"\ntls = "verify-ca"\n')


@pytest.mark.parametrize(
    ("options", "tls"),
    [
        ("", "verify"),
        ("ssl-mode=DISABLED", "off"),
        ("ssl-mode=PREFERRED", "verify"),
        ("ssl-mode=REQUIRED", "required"),
        ("loose_ssl_mode=required", "required"),
        ("ssl-mode=VERIFY_CA\nssl-ca=/ca", "verify-ca"),
        ("ssl-mode=VERIFY_IDENTITY\nssl-ca=/ca", "verify-identity"),
        ("ssl-mode=SOMETHING", "verify"),
        ("ssl", "verify"),
        ("ssl-ca=/ca", "verify-ca"),
        ("ssl-verify-server-cert", "verify-identity"),
        ("ssl-verify-server-cert=1\nssl-mode=REQUIRED", "verify-identity"),
        ("ssl-verify-server-cert=0", "verify"),
    ],
)
def test_that_no_option_file_becomes_weaker(tmp_path: Path, options: str, tls: str) -> None:
    file = tmp_path / "my.cnf"
    file.write_text(f"[client]\nhost=db1\nuser=u\n{options}\n")
    report = import_my_cnf(file)
    found = report.hosts[0].sql
    assert found is not None
    assert found.tls == tls
    assert any("REQUIRED" in note for note in report.notes) is (tls == "required")


@pytest.mark.parametrize(
    ("word", "tls"),
    [(None, "verify"), ("0", "off"), ("1", "verify"), ("2", "required"), ("3", "verify-ca"), ("4", "verify-identity"),
     ("9", "verify")],
)  # fmt: skip
def test_that_no_workbench_connection_becomes_weaker(tmp_path: Path, word: str | None, tls: str) -> None:
    ssl = f'<value type="string" key="useSSL">{word}</value>' if word is not None else ""
    file = tmp_path / "connections.xml"
    file.write_text(
        '<?xml version="1.0"?><data grt_format="2.0"><value type="object" struct-name="db.mgmt.Connection">'
        '<link type="object" key="driver">com.mysql.rdbms.mysql.driver.native</link>'
        '<value type="dict" key="parameterValues"><value type="string" key="hostName">db1</value>'
        f'<value type="string" key="userName">u</value>{ssl}</value>'
        '<value type="string" key="name">one</value></value></data>'
    )
    report = import_workbench(file)
    found = report.hosts[0].sql
    assert found is not None
    assert found.tls == tls
    assert any('"required"' in note for note in report.notes) is (tls == "required")
