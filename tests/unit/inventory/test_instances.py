"""Several servers on one host: as they are written, what they are called, and whose machine is whose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.errors import BadInput
from services.inventory.imports import ImportReport, merge
from services.inventory.model import HostEntry, Instance, Inventory, SqlAccess, with_instances
from services.inventory.toml_file import parse_inventory
from services.inventory.toml_save import render_inventory
from services.inventory.trust import trust_of

TEXT = """version = 2

[defaults.sql]
user = "watch"
port = 3310

[[host]]
name = "n1"
address = "10.0.0.1"

[host.ssh]
user = "dba"

[host.sql]
port = 3306

# the second one
[[host.instance]]
kind = "mysql"
port = 3307 # of the archive
tls = "required"

[[host.instance]]
kind = "proxysql"

[[host]]
name = "n2"
address = "10.0.0.2"
"""


def _read() -> Inventory:
    return parse_inventory(TEXT)


def test_that_a_host_carries_several_instances_each_with_its_own_way_in() -> None:
    first, second = _read().hosts
    assert [(one.kind, one.port) for one in first.instances] == [("mysql", 3306), ("mysql", 3307), ("proxysql", 6032)]
    assert first.beside[0] == Instance("n1", "mysql", 3307, SqlAccess("watch", port=3307, tls="required"))
    assert first.beside[1].access is None
    assert second.beside == ()


def test_that_instances_are_watched_by_the_hosts_name_and_their_port_and_share_its_machine() -> None:
    hosts = _read().hosts
    entries = with_instances(hosts)
    assert [entry.name for entry in entries] == ["n1", "n1:3307", "n2"]
    second = entries[1]
    assert (second.address, second.on, second.ssh) == ("10.0.0.1", "n1", hosts[0].ssh)
    assert hosts[0].reads_machine
    assert not second.reads_machine


def test_that_a_key_leads_to_its_own_server_and_never_to_the_first_one() -> None:
    inventory = _read()
    first, second = inventory.entry("n1"), inventory.entry("n1:3307")
    assert first is not None
    assert second is not None
    assert (first.name, first.sql and first.sql.port, second.name, second.sql and second.sql.port) == (
        "n1", 3306, "n1:3307", 3307,
    )  # fmt: skip
    assert [inventory.entry(key) for key in ("n1:6032", "n1:3308", "n2:3306", "n9")] == [None] * 4


def test_that_the_defaults_socket_is_of_first_servers_only() -> None:
    inventory = parse_inventory(TEXT.replace("port = 3310", 'port = 3310\nsocket = "/run/mysqld/mysqld.sock"', 1))
    first = inventory.hosts[0]
    assert first.sql is not None
    assert first.sql.socket == "/run/mysqld/mysqld.sock"
    assert first.beside[0].access is not None
    assert first.beside[0].access.socket is None


def test_that_an_address_means_the_host_and_not_another_server_on_it() -> None:
    inventory = _read()
    trust = trust_of(replace(inventory, hosts=with_instances(inventory.hosts)))
    assert trust.written["10.0.0.1"].name == "n1"


def test_that_a_file_with_instances_reads_back_the_same_and_keeps_its_comments() -> None:
    inventory = _read()
    text = render_inventory(inventory, TEXT)
    assert parse_inventory(text) == inventory
    assert "# the second one" in text
    assert "# of the archive" in text


def test_that_a_file_of_version_1_is_migrated_once_it_gets_an_instance() -> None:
    old = 'version = 1\n\n[[host]]\nname = "n1" # mine\naddress = "10.0.0.1"\n'
    inventory = parse_inventory(old)
    assert render_inventory(inventory, old) == old
    host = replace(inventory.hosts[0], beside=(Instance("n1", "proxysql", 6033),))
    new = render_inventory(replace(inventory, version=2, hosts=(host,)), old)
    assert new.startswith("version = 2\n")
    assert "# mine" in new
    assert parse_inventory(new).hosts == (host,)


@pytest.mark.parametrize(
    ("this", "that", "sentence"),
    [
        ("version = 2", "version = 1", "instances need version = 2"),
        ("port = 3307", "port = 3306", "two instances on port 3306"),
        ('kind = "proxysql"', 'kind = "mongo"', '"kind" in [[host.instance]] of host "n1" must be one of "mysql"'),
        ('kind = "proxysql"', "port = 6032", 'an instance of host "n1" has no "kind"'),
        ('name = "n2"', 'name = "n1:3307"', 'would be called "n1:3307"'),
        ('name = "n2"', 'name = "N1:3307"', 'the host names "n1:3307" and "N1:3307" look alike'),
        ('name = "n2"', 'name = "n1\u22366032"', 'the host names "n1:6032" and "n1\u2236[U+2236]6032" look alike'),
        ('user = "watch"\n', "", 'port 3307: [[host.instance]] needs "user"'),
        ('tls = "required"', 'via = "socket"', 'port 3307: via = "socket" needs its own "socket"'),
    ],
)
def test_that_a_fault_of_an_instance_is_told_with_its_place(this: str, that: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_inventory(TEXT.replace(this, that, 1))
    assert sentence in refused.value.sentence


def test_that_an_import_leaves_out_a_host_that_is_called_as_an_instance_is() -> None:
    merged = merge(_read(), ImportReport("x", (HostEntry("n1:3307", "10.0.0.9"), HostEntry("n3", "10.0.0.3"))))
    assert merged.added == ("n3",)
    assert merged.problems == (
        '"n1:3307" is left out: the instance would be called "n1:3307", and a host already has that name.',
    )


def test_that_a_member_found_from_an_instance_is_nobodys_second_server() -> None:
    second = with_instances(_read().hosts)[1]
    found = second.for_member("n9", "10.0.0.9")
    assert (found.on, found.ways_of, found.beside) == ("", "n1:3307", ())
    assert HostEntry("n9", "10.0.0.9").on == ""


@pytest.mark.parametrize(
    ("this", "that", "sentence"),
    [
        ("port = 3307", "prot = 3307", 'unknown key "prot"'),
        ("port = 3307", 'port = "3307"', '"port" in [[host.instance]] of host "n1" must be a whole number'),
        ('kind = "proxysql"', 'knd = "proxysql"', 'unknown key "knd"'),
    ],
)
def test_that_a_mistyped_key_of_an_instance_is_one_fault(this: str, that: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_inventory(TEXT.replace(this, that, 1))
    assert "has 1 fault:" in refused.value.sentence
    assert sentence in refused.value.sentence


def test_that_a_mistyped_user_of_an_instance_is_one_fault() -> None:
    host = 'version = 2\n[[host]]\nname = "n1"\naddress = "10.0.0.1"\n'
    with pytest.raises(BadInput, match='has 1 fault:\n  line 7: unknown key "usr"'):
        parse_inventory(f'{host}[[host.instance]]\nkind = "mysql"\nusr = "w"\n')


@pytest.mark.parametrize("second", ["", '[[host.instance]]\nkind = "proxysql"\n', '[host.instance]\nkind = "mysql"\n'])
@pytest.mark.parametrize("first", ["[host.instance]", "[[host.instance]]"])
def test_that_an_instance_in_single_brackets_is_told_so_whatever_follows_it(first: str, second: str) -> None:
    table = f'{first}\nkind = "mysql"\nport = 3307\nuser = "w"\n'
    text = f'version = 2\n[[host]]\nname = "n1"\naddress = "10.0.0.1"\n{table}{second}'
    if "\n[host.instance]" not in text:
        assert len(parse_inventory(text).hosts[0].beside) == text.count("[[host.instance]]")
        return
    with pytest.raises(BadInput) as refused:
        parse_inventory(text)
    line = 5 if first == "[host.instance]" else 9
    assert f"line {line}: write each host.instance as a table of its own: [[host.instance]]." in refused.value.sentence
    assert "quotes" not in " ".join(refused.value.try_)
