"""Hosts from ~/.ssh/config, ~/.my.cnf and Workbench: what is taken, what is told, and that nothing leaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import SecretMissing
from services.inventory.imports import ImportReport, merge, settle_secrets
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.imports_workbench import import_workbench
from services.inventory.model import HostEntry, Inventory, SqlAccess, SshAccess
from services.inventory.toml_file import parse_inventory
from services.inventory.toml_save import render_inventory
from services.secrets import MemoryVault, Secret, SecretRef, SystemVault

SSH = """Include conf.d/*
Host db1 db2 *.example !bad
  HostName 10.0.0.1
  User dba
Host *
  ProxyJump gate
Match host x exec "true"
  User y
Host "quoted name" db1
Host=db4
"""
MYCNF = """# comment
[client]
host = db1.example
user = app
password = "hunter2 # not a comment"
port=3307
ssl_ca = /etc/ca.pem

[clientprod]
host=prod.example
loose-ssl-mode=VERIFY_IDENTITY
[client_old]
host=old.example
password = hun\\\\ter3   # a comment
ssl-mode=REQUIRED
[clientlocal]
host=localhost
socket=/run/mysqld/mysqld.sock
[clienttcp]
host=localhost
protocol=TCP
[mysqldump]
host=elsewhere
[client-mariadb]
host=neither
"""


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_that_names_of_ssh_config_become_hosts_and_their_settings_stay_there(tmp_path: Path) -> None:
    home = Path("~/.ssh").expanduser()
    write(home, "conf.d/more", "Host db3\n")
    report = import_ssh_config(write(home, "config", SSH))
    assert [h.name for h in report.hosts] == ["db3", "db1", "db2", "db4"]
    assert report.hosts[1] == HostEntry("db1", "db1", SshAccess(user=""))
    assert any("*.example !bad" in note for note in report.notes)
    assert any("Match" in note for note in report.notes)
    assert any("must contain no spaces" in problem for problem in report.problems)  # "quoted name"
    elsewhere = import_ssh_config(write(tmp_path, "other", "Host a\n"))
    assert elsewhere.hosts[0].ssh == SshAccess(user="", config=str(tmp_path / "other"))


def test_that_whatever_an_import_leaves_out_is_named_with_its_place(tmp_path: Path) -> None:
    ssh = write(tmp_path, "config", "Host db1\nHost ok db[1-3]\n Port 22\nHost d\u00fc\u202e1 # \u00fc\nHost DB1\n")
    problems = import_ssh_config(ssh).problems
    assert [problem.partition(":")[0] for problem in problems] == [f"{ssh}, line {number}" for number in (2, 4, 5)]
    assert ': "db[1-3]" is left out: its "address" must be an IP address, or a host name of letters' in problems[0]
    assert ': "d\u00fc\ufffd1" is left out: its "name" must not begin' in problems[1]
    assert ': "DB1" is left out: the host names "db1" and "DB1" look alike' in problems[2]
    options = "[client_old]\nhost=db1\nuser=-x\n[clientOK]\nhost=db2\nuser=u\nssl-ca=a\x01\n"
    problems = import_my_cnf(write(tmp_path, "my.cnf", options)).problems
    assert [problem.partition(" is left")[0] for problem in problems] == ['[client_old]: "old"', '[clientok]: "ok"']
    text = workbench(connection("odd key", "native", hostName="a", userName="u", sslCA="x&#10;y"))
    problems = import_workbench(write(tmp_path, "c.xml", text)).problems
    assert problems == ('"odd key" is left out: its "ca" must not contain control characters.',)


def test_that_an_include_that_includes_itself_ends() -> None:
    home = Path("~/.ssh").expanduser()
    report = import_ssh_config(write(home, "config", "Include config\nHost a\n"))
    assert any("deeper than 16" in problem for problem in report.problems)
    assert [h.name for h in report.hosts] == ["a"]


def test_that_every_client_group_of_my_cnf_becomes_a_host_over_the_common_group(tmp_path: Path) -> None:
    report = import_my_cnf(write(tmp_path, "my.cnf", MYCNF))
    hosts = {h.name: h for h in report.hosts}
    assert list(hosts) == ["db1.example", "prod", "old", "local", "tcp"]
    assert hosts["prod"].sql == SqlAccess(
        "app",
        password=SecretRef("keyring", "app@prod.example:3307"),
        port=3307,
        tls="verify-identity",
        ca="/etc/ca.pem",
    )
    local = hosts["local"].sql
    assert local is not None
    assert (local.via, local.socket, local.tls) == ("socket", "/run/mysqld/mysqld.sock", "off")
    tcp = hosts["tcp"].sql
    assert tcp is not None
    assert tcp.via == "direct"
    assert any("REQUIRED" in note for note in report.notes)


def test_that_an_option_file_of_which_nothing_is_a_host_says_why(tmp_path: Path) -> None:
    """The most frequent ~/.my.cnf has a user and a password alone; another has its host in a program's own group."""
    common = "[client]\nuser=root\npassword=hunter2\n"
    report = import_my_cnf(write(tmp_path, "my.cnf", common + "[mysql]\nhost=db1\n[mysqldump]\nhost=db2\nquick\n"))
    assert report.hosts == ()
    assert report.problems == (
        "[client] names neither a host nor a socket: it is not a host, and its values apply to [clientNAME].",
    )
    assert report.notes == (
        "Groups of individual programs are left out, with the hosts they name: [mysql], [mysqldump].",
    )
    report = import_my_cnf(write(tmp_path, "my.cnf", common + "[clientdb1]\nhost=db1\n"))
    assert ([host.name for host in report.hosts], report.problems) == (["db1"], ())
    assert (
        "[client] names neither a host nor a socket: it is not a host, and its values apply to [clientNAME]."
        in report.notes[0]
    )
    assert import_my_cnf(write(tmp_path, "my.cnf", "[client]\ndefault-character-set=utf8mb4\n")).problems == ()


def test_that_a_file_of_login_paths_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / ".mylogin.cnf").write_bytes(bytes(4) + bytes(range(20)) + b"\x10\0\0\0" + bytes(range(16)))
    (told,) = import_my_cnf(tmp_path / ".mylogin.cnf").problems
    assert told.startswith(f"{tmp_path}/.mylogin.cnf contains obfuscated login paths")


def test_that_passwords_of_my_cnf_go_to_the_vault_and_nowhere_else(tmp_path: Path) -> None:
    report = import_my_cnf(write(tmp_path, "my.cnf", MYCNF))
    vault = MemoryVault()
    settled = settle_secrets(report, vault)
    assert vault.get(SecretRef("keyring", "app@db1.example:3307")) == Secret("hunter2 # not a comment")
    assert vault.get(SecretRef("keyring", "app@old.example:3307")) == Secret("hun\\ter3")
    assert settled.secrets == ()
    inventory = merge(Inventory(), settled).inventory
    written = render_inventory(inventory)
    for text in (report.preview(), settled.preview(), repr(report), written):
        assert "hunter2" not in text
        assert "hun\\ter3" not in text
    assert parse_inventory(written).hosts == inventory.hosts


def test_that_a_password_the_keyring_does_not_take_is_dropped_with_a_note(tmp_path: Path) -> None:
    report = import_my_cnf(write(tmp_path, "my.cnf", "[client]\nhost=a\nuser=u\npassword=hunter2\n"))
    with pytest.raises(SecretMissing):
        SystemVault().put(SecretRef("keyring", "x"), Secret("y"))  # the suite has no keyring
    settled = settle_secrets(report, SystemVault())
    assert settled.hosts[0].sql is not None
    assert settled.hosts[0].sql.password is None
    assert any("was not kept" in note for note in settled.notes)


def test_that_my_cnf_includes_are_followed_and_faults_told(tmp_path: Path) -> None:
    write(tmp_path, "d/one.cnf", "[clientone]\nhost=one\nuser=u\n")
    write(tmp_path, "d/two.txt", "[clienttwo]\nhost=two\nuser=u\n")
    write(tmp_path, "d/a.cnf", "[clientearly]\nhost=early\nuser=u\n[clientlost\nhost=lost\nuser=u\n")
    write(tmp_path, "d/b.cnf", "orphan=1\n[clientlost]\nhost=lost\nuser=u\n")
    text = "[clientbad]\nhost=x\nuser=u\nport=99999\n[clientnobody]\nhost=x\n"
    text += f"!includedir {tmp_path}/d\n!include /none\n!x y\n"
    report = import_my_cnf(write(tmp_path, "my.cnf", text))
    assert [h.name for h in report.hosts] == ["early", "one"]
    words = "\n".join(report.problems)
    for part in (
        "a.cnf, line 4: the clients refuse the file here",
        "b.cnf, line 1: the clients refuse the file here",
        "[clientbad]: the port",
        "[clientnobody]: no user is set",
        "/none cannot be read",
        "!x",
    ):
        assert part in words


def connection(name: str, driver: str, **parameters: str) -> str:
    values = "".join(f'<value type="string" key="{k}">{v}</value>' for k, v in parameters.items())
    return (
        '<value type="object" struct-name="db.mgmt.Connection" id="x" struct-checksum="0x96ba47d8">'
        f'<link type="object" struct-name="db.mgmt.Driver" key="driver">com.mysql.rdbms.mysql.driver.{driver}</link>'
        '<value type="string" key="hostIdentifier">Mysql@x:3306</value><value type="int" key="isDefault">1</value>'
        '<value _ptr_="0x1" type="dict" key="modules"/>'
        f'<value _ptr_="0x2" type="dict" key="parameterValues">{values}</value>'
        f'<value type="string" key="name">{name}</value></value>'
    )


def workbench(*connections: str) -> str:
    return (
        '<?xml version="1.0"?>\n<data grt_format="2.0">'
        '<value _ptr_="0x3" type="list" content-type="object" content-struct-name="db.mgmt.Connection">'
        f"{''.join(connections)}</value></data>"
    )


def test_that_each_kind_of_workbench_connection_becomes_a_host(tmp_path: Path) -> None:
    ssh = {"sshHost": "gate:2222", "sshUserName": "dba", "sshKeyFile": "/k", "userName": "app"}
    text = workbench(
        connection("plain", "native", hostName="db1", port="3307", userName="app", useSSL="4", sslCA="/ca"),
        connection("through", "native_sshtun", hostName="127.0.0.1", port="3306", **ssh),
        connection("beyond", "native_sshtun", hostName="db9", port="3306", **ssh),
        connection("socket", "native_socket", socket="/s", userName="app"),
        connection("plain", "native", hostName="db2", userName="app"),
        connection("broken", "native", hostName="db3", port="x", userName="app"),
        connection("gateless", "native_sshtun", hostName="db3", userName="app"),
    )
    report = import_workbench(write(tmp_path, "connections.xml", text))
    hosts = {h.name: h for h in report.hosts}
    assert list(hosts) == ["plain", "through", "beyond", "socket", "plain (2)"]
    assert hosts["plain"] == HostEntry(
        "plain", "db1", None, SqlAccess("app", port=3307, tls="verify-identity", ca="/ca")
    )
    login = SshAccess("dba", port=2222, key="/k")
    assert hosts["through"] == HostEntry("through", "gate", login, SqlAccess("app", via="tunnel"))
    beyond = SshAccess("dba", key="/k", jump="dba@gate:2222")
    assert hosts["beyond"] == HostEntry("beyond", "db9", beyond, SqlAccess("app", via="tunnel"))
    assert hosts["socket"].sql == SqlAccess("app", via="socket", socket="/s", tls="off")
    assert any("beyond" in note for note in report.notes)
    assert len(report.problems) == 2
    inventory = merge(Inventory(), report).inventory
    assert parse_inventory(render_inventory(inventory)).hosts == inventory.hosts


def test_that_a_connection_of_another_product_or_by_an_unknown_way_is_left_out_with_its_driver(tmp_path: Path) -> None:
    """other_connections.xml beside it has the sources of migrations."""
    postgres = connection("pg", "native", hostName="pg1", port="5432", userName="postgres")
    text = workbench(
        postgres.replace("com.mysql.rdbms.mysql.driver.native", "com.mysql.rdbms.postgresql.driver.psqlodbc"),
        connection("mds", "native_mds_bastion", hostName="10.0.1.5", userName="admin"),
        connection("plain", "native", hostName="db1", userName="app").replace(".mysql.driver.native", ".mysql"),
    )
    report = import_workbench(write(tmp_path, "connections.xml", text))
    assert [host.name for host in report.hosts] == ["plain"]
    assert report.problems == (
        '"pg": its driver is com.mysql.rdbms.postgresql.driver.psqlodbc, which is not supported.',
        '"mds": its driver is com.mysql.rdbms.mysql.driver.native_mds_bastion, which is not supported.',
    )


def test_that_an_ssh_host_of_workbench_may_be_an_ipv6_address(tmp_path: Path) -> None:
    ssh = {"userName": "app", "sshUserName": "dba", "hostName": "db1"}
    text = workbench(
        connection("a", "native_sshtun", sshHost="[2001:db8::5]:2222", **ssh),
        connection("b", "native_sshtun", sshHost="gate:x", **ssh),
    )
    report = import_workbench(write(tmp_path, "connections.xml", text))
    assert [host.ssh.jump for host in report.hosts if host.ssh] == ["dba@[2001:db8::5]:2222"]
    assert report.problems == ('"b": its SSH host is invalid.',)


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE data [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><data grt_format="2.0">&c;</data>'
)
EXTERNAL = '<!DOCTYPE data [<!ENTITY x SYSTEM "file:///etc/passwd">]><data grt_format="2.0">&x;</data>'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "refused"),
        (EXTERNAL, "refused"),
        ('<!DOCTYPE data SYSTEM "http://127.0.0.1:1/x"><data grt_format="2.0"/>', "refused"),
        ("<data", "not XML"),
        ("", "not XML"),
        ("<html/>", "not a Workbench file"),
        ('<?xml version="1.0" encoding="nonsense"?><data/>', "not XML"),
    ],
)
def test_that_bombs_and_files_of_another_kind_are_refused_with_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    report = import_workbench(write(tmp_path, "connections.xml", text))
    assert report.hosts == ()
    assert told in report.problems[0]


def test_that_a_missing_file_is_a_problem_of_the_report_not_an_exception(tmp_path: Path) -> None:
    for report in (import_ssh_config(tmp_path / "a"), import_my_cnf(tmp_path / "b"), import_workbench(tmp_path / "c")):
        assert report.hosts == ()
        assert "cannot be read: No such file" in report.problems[0]
    for usual in (import_ssh_config(), import_my_cnf(), import_workbench()):
        assert "cannot be read" in usual.problems[0]


def test_that_merging_never_replaces_a_host_unless_it_is_named() -> None:
    mine = HostEntry("a", "10.0.0.1", SshAccess("me"))
    report = ImportReport("x", (HostEntry("a", "10.9.9.9"), mine, HostEntry("b", "b")))
    merged = merge(Inventory(hosts=(mine,)), report)
    assert merged.inventory.hosts == (mine, HostEntry("b", "b"))
    assert (merged.added, merged.unchanged, merged.conflicts, merged.replaced) == (("b",), ("a",), ("a",), ())
    named = merge(Inventory(hosts=(mine,)), ImportReport("x", report.hosts[:1]), overwrite=frozenset({"a"}))
    assert named.inventory.hosts == (report.hosts[0],)
    assert named.replaced == ("a",)


def test_that_the_preview_tells_hosts_notes_and_problems(tmp_path: Path) -> None:
    report = import_my_cnf(write(tmp_path, "my.cnf", "[client]\nhost=db\nuser=u\npassword=p4ss\n[x\n"))
    assert report.preview().splitlines()[1:] == [
        "  db: SQL u on port 3306 (direct, password in keyring:u@db:3306)",
        "  note: [client]: its password is stored in the keyring as keyring:u@db:3306; delete it from this file.",
        f"  problem: {tmp_path}/my.cnf, line 5: the clients refuse the file here; nothing after this line is read.",
    ]
