"""Reading inventory.toml: the values, and every fault told at once with its line and without its secrets."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import BadInput
from services.inventory.model import ClusterEntry, HostEntry, SqlAccess, SshAccess
from services.inventory.toml_file import load_inventory, parse_inventory
from services.secrets import SecretRef
from tests.examples import examples

GOOD = """# the estate of the lab
version = 1

[[cluster]]
name = "galera"
seeds = ["n1"]
expected = 3

[[host]]
name = "n1"
address = "10.213.1.11"
[host.ssh]
user = "dba"
port = 22
key = "~/lab/id_ed25519"
known_hosts = "/lab/known_hosts"
sudo = "nopasswd"
[host.sql]
user = "observer"
password = "env:LAB_OBSERVER"
port = 3306
via = "direct"

[[host]]
name = "n2"
address = "db2.example"
"""


def fault(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_inventory(text, "inventory.toml")
    return caught.value.as_text()


def host_with(lines: str) -> str:
    return f'version = 1\n[[host]]\nname = "n1"\naddress = "a"\n{lines}\n'


def test_that_a_good_file_becomes_values() -> None:
    inventory = parse_inventory(GOOD, "x.toml")
    assert inventory.clusters == (ClusterEntry("galera", ("n1",), 3),)
    assert inventory.host("n1") == HostEntry(
        "n1",
        "10.213.1.11",
        SshAccess("dba", port=22, key="~/lab/id_ed25519", known_hosts="/lab/known_hosts", sudo="nopasswd"),
        SqlAccess("observer", password=SecretRef("env", "LAB_OBSERVER")),
    )
    assert inventory.host("n2") == HostEntry("n2", "db2.example")
    assert inventory.host("n3") is None
    assert inventory.path == "x.toml"


def test_that_a_discovered_member_is_reached_the_way_its_seed_is() -> None:
    seed = parse_inventory(GOOD).host("n1")
    assert seed is not None
    member = seed.for_member("n7", "10.213.1.17")
    assert (member.name, member.address) == ("n7", "10.213.1.17")
    assert (member.ssh, member.sql) == (seed.ssh, seed.sql)


def test_that_defaults_hold_for_every_host_and_a_host_says_otherwise() -> None:
    text = """version = 1
[defaults.ssh]
user = "dba"
port = 2222
[defaults.sql]
user = "observer"
via = "tunnel"
[[host]]
name = "a"
address = "a"
[[host]]
name = "b"
address = "b"
ssh.user = "root"
sql = false
"""
    inventory = parse_inventory(text)
    assert inventory.hosts[0].ssh == SshAccess("dba", port=2222)
    assert inventory.hosts[0].sql == SqlAccess("observer", via="tunnel")
    assert inventory.hosts[1].ssh == SshAccess("root", port=2222)
    assert inventory.hosts[1].sql is None


def test_that_all_faults_are_told_together_in_the_order_of_their_lines() -> None:
    text = """version = 1
colour = 3
[[cluster]]
name = "g"
seeds = ["n1", "nx"]
[[host]]
name = "n1"
address = "10.0.0.1"
[host.ssh]
prot = 22
password = "hunter2"
sudo = "hunter3"
[host.sql]
user = "o"
port = 99999
[[host]]
name = "n1"
"""
    told = fault(text)
    lines = [line.strip() for line in told.splitlines() if line.strip().startswith("line ")]
    assert [line.split(":")[0] for line in lines] == [f"line {n}" for n in (2, 5, 10, 11, 12, 15, 16, 17)]
    assert 'unknown key "prot" in [host.ssh] of host "n1" (did you mean "port"?)' in told
    assert 'seed "nx"' in told
    assert "from 1 to 65535" in told
    assert 'no "address"' in told
    assert 'two hosts named "n1"' in told
    assert "hunter" not in told


@pytest.mark.parametrize("key", ["password", "passphrase", "sudo_password"])
@pytest.mark.parametrize("value", ['"hunter2"', '"keyring:"', '"file:hunter2"', "2222", '["hunter2"]', '"fd:hunter2"'])
def test_that_a_secret_in_the_file_is_refused_and_never_quoted(key: str, value: str) -> None:
    told = fault(host_with(f"[host.ssh]\n{key} = {value}"))
    assert f'"{key}"' in told
    assert "line 6" in told
    assert "hunter2" not in told
    assert "2222" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", 'must begin with "version = 2"'),
        ("version = 3", "newer than this program"),
        ('version = "1"', '"version" must be 1'),
        ("version = true", '"version" must be 1'),
        ("version = 1\nhost = 3", "[[host]]"),
        ('version = 1\n[host]\nname = "a"', "[[host]]"),
        ("version = 1\ndefaults = 1", "[defaults.ssh]"),
        ("version = 1\n[defaults.shh]", 'did you mean "ssh"'),
        (host_with("ssh = 3"), "[host.ssh]"),
        (host_with("ssh = true"), "[host.ssh]"),
        (host_with("[host.ssh]\nport = 0"), "from 1 to 65535"),
        (host_with("[host.ssh]\nport = true"), "from 1 to 65535"),
        (host_with('[host.ssh]\nport = "22"'), "from 1 to 65535"),
        (host_with('[host.ssh]\nagent = "yes"'), "true or false"),
        (host_with('[host.ssh]\nuser = "-oProxyCommand=x"'), "begin with a dash"),
        (host_with('[host.ssh]\nsudo = "password"'), 'needs "sudo_password"'),
        (host_with('[host.sql]\nvia = "direct"'), 'needs "user"'),
        (host_with('[host.sql]\nuser = "o"\nvia = "tunnel"'), "needs [host.ssh]"),
        (host_with('[host.sql]\nuser = "o"\nvia = "socket"\ntls = "verify-ca"'), "no certificate"),
        (host_with('[host.sql]\nuser = "o"\nkey = "k"'), 'needs its "cert"'),
        (host_with('[host.sql]\nuser = "o"\noperator_password = "env:P"'), 'needs its "operator_user"'),
        (host_with('[host.sql]\nuser = "o"\noperator_user = "p"\noperator_password = "hunter2"'), "a reference"),
        (host_with('[host.sql]\nuser = "o"\nheartbeat_table = "heartbeat"'), "schema.table"),
        (host_with('[host.sql]\nuser = "o"\nheartbeat_table = "a.b; DROP TABLE c"'), "schema.table"),
        ('version = 1\n[[host]]\nname = "a"\naddress = "-oX"', "begin with a dash"),
        ('version = 1\n[[host]]\nname = "a\\u0007b"\naddress = "a"', "control characters"),
        ('version = 1\n[[cluster]]\nname = "g"\nseeds = []', 'needs "seeds"'),
        ('version = 1\n[[cluster]]\nseeds = ["a"]\nexpected = 0', "from 1 to 1000"),
    ],
)
def test_that_each_kind_of_fault_has_its_sentence(text: str, told: str) -> None:
    assert told in fault(text)


def test_that_text_which_is_not_toml_is_told_with_line_and_column_and_without_the_line_itself() -> None:
    told = fault("version = 1\n[[host]]\nname = hunter2\n")
    assert "line 3, column 8" in told
    assert "hunter2" not in told
    assert "hunter2" not in fault("version = 1\n[hunter2]\n[hunter2]\n")


def test_that_a_file_that_is_missing_or_not_utf8_or_a_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        load_inventory(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read"):
        load_inventory(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes("version = 1\n# Grüße".encode("latin-1"))
    with pytest.raises(BadInput, match=r"not UTF-8 \(line 2, byte 5"):
        load_inventory(latin)


def test_that_an_endless_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    big = tmp_path / "big.toml"
    with big.open("wb") as stream:
        stream.truncate(5 * 2**20)
    with pytest.raises(BadInput, match="larger than 4 MiB"):
        load_inventory(big)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="[]={}\".\n#abhostclusernmv1 ,'", max_size=80))
def test_that_any_text_gives_an_inventory_or_one_bad_input(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert parse_inventory("version = 1\n" + text).version == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("name = db1", 'line 3, column 8: Invalid value, at the key "name".'),
        ("port 22", """line 3, column 6: Expected '=' after a key in a key/value pair, at the key "port"."""),
        ("= 3", "line 3, column 1: Invalid statement, at the character =."),
        ("[host.ssh", "Expected ']' at the end of a table declaration"),
        ("[[host]", """line 3, column 7: Expected ']]' at the end of an array declaration, at "[[host]"."""),
        ("[host.ssh]]", 'line 3, column 11: Expected newline or end of document after a statement, at "[host.ssh]]".'),
        ("[defaults]\n[defaults]", "Cannot declare defaults twice"),
    ],
)
def test_that_a_text_that_is_no_toml_is_told_with_its_key_or_character(line: str, told: str) -> None:
    assert told in fault(f"version = 1\n[[host]]\n{line}\n")


@pytest.mark.parametrize(
    "line",
    ["password = hunter2", "password hunter2", 'password = "x" hunter2', "hunter2", "hunter2 hunter2", "[hunter2\n",
     "[[hunter2]",
     "hunter2 = ", "[hunter2]\n[hunter2]", '["hunter2"]\n["hunter2"]', 'password = """\nx"""\nhunter2 hunter2',
     "hunter2.hunter2 = 1\nhunter2 = 2", "['a''hunter2']"],
)  # fmt: skip
def test_that_a_text_that_is_no_toml_never_shows_what_may_be_a_password(line: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_inventory(f"version = 1\n[[host]]\n{line}\n")
    if "not TOML" in str(refused.value):
        assert "hunter" not in refused.value.as_text()
