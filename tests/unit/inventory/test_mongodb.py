"""MongoDB servers in the inventory: first of a host, beside another, refused, written back."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import BadInput
from services.inventory.model import HostEntry, MongoAccess, SqlAccess, with_instances
from services.inventory.toml_file import default_users, parse_inventory
from services.inventory.toml_save import render_inventory
from services.secrets import SecretRef

MIXED = """version = 2

[defaults.ssh]
user = "dba"

[defaults.sql]
user = "monitor"

[defaults.mongodb]
user = "watch"
password = "keyring:watch"
source = "ops"

[[host]]
name = "db1"
address = "10.0.0.1"

[[host.instance]]
kind = "mongodb"
port = 27018

[[host]]
name = "shard1"
address = "10.0.0.2"

[host.mongodb]
port = 27018
via = "tunnel"

[[host]]
name = "open1"
address = "10.0.0.3"

[host.mongodb]
user = "other"
mechanism = "x509"
cert = "~/me.pem"

[[host.instance]]
kind = "mysql"
port = 3307
"""


def test_that_a_mongodb_server_is_the_first_of_its_host_or_stands_beside_it() -> None:
    found = parse_inventory(MIXED)
    db1, shard1, open1 = found.hosts
    assert (db1.kind, db1.sql) == ("mysql", SqlAccess("monitor"))
    assert db1.beside[0].access == MongoAccess("watch", SecretRef.parse("keyring:watch"), 27018, source="ops")
    assert shard1.kind == "mongodb"
    assert shard1.sql == MongoAccess("watch", SecretRef.parse("keyring:watch"), 27018, "tunnel", source="ops")
    assert isinstance(open1.sql, MongoAccess)
    assert (open1.sql.user, open1.sql.port, open1.sql.mechanism, open1.sql.cert) == ("other", 27017, "x509", "~/me.pem")
    assert open1.beside[0].access == SqlAccess("monitor", port=3307)
    kinds = {one.name: one.kind for one in with_instances(found.hosts)}
    assert kinds == {
        "db1": "mysql",
        "db1:27018": "mongodb",
        "shard1": "mongodb",
        "open1": "mongodb",
        "open1:3307": "mysql",
    }


def test_that_a_server_without_access_control_needs_no_user_and_defaults_make_no_host_one_of_mongodb() -> None:
    found = parse_inventory(
        'version = 1\n[defaults.mongodb]\nsource = "x"\n'
        '[[host]]\nname = "a"\naddress = "a"\n[host.mongodb]\n'
        '[[host]]\nname = "b"\naddress = "b"\n[host.ssh]\nuser = "dba"\n'
    )
    assert found.hosts[0].sql == MongoAccess(source="x")
    assert (found.hosts[1].sql, found.hosts[1].kind) == (None, "mysql")


def test_that_a_found_member_is_asked_in_the_same_way_and_never_gets_the_account_for_changes() -> None:
    access = MongoAccess("watch", source="ops", operator_user="root", operator_password=SecretRef.parse("keyring:r"))
    member = HostEntry("m1", "10.0.0.1", sql=access, kind="mongodb").for_member("m2", "10.0.0.2")
    assert (member.kind, member.sql) == ("mongodb", MongoAccess("watch", source="ops"))


@pytest.mark.parametrize("text", [MIXED])
def test_that_what_is_written_reads_back_the_same_and_nothing_else_is_touched(text: str) -> None:
    found = parse_inventory(text)
    assert render_inventory(found, text) == text
    assert parse_inventory(render_inventory(found)).hosts == found.hosts


def test_that_the_default_user_of_a_host_is_that_of_the_table_of_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "inventory.toml"
    file.write_text(MIXED, encoding="utf-8")
    assert default_users(file) == ("dba", "monitor")
    assert default_users(file, "mongodb") == ("dba", "watch")
    assert default_users(tmp_path / "none.toml", "mongodb") == ("", "")


def test_that_a_host_may_change_its_kind() -> None:
    old = parse_inventory('version = 1\n[[host]]\nname = "a"\naddress = "a"\n[host.sql]\nuser = "u"\n')
    new = HostEntry("a", "a", sql=MongoAccess(), kind="mongodb")
    written = render_inventory(type(old)(1, "", (new,)), 'version = 1\n[[host]]\nname = "a"\naddress = "a"\n')
    assert "[host.mongodb]" in written
    assert parse_inventory(written).hosts == (new,)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            '[host.sql]\nuser = "u"\n[host.mongodb]\n',
            "has [host.sql] and [host.mongodb]: write the second server as [[host.i",
        ),
        ("[[defaults]]\n", "write defaults as [defaults.ssh], [defaults.sql], [defaults.mongodb]."),
        ('[host.mongodb]\nheartbeat_table = "a.b"\n', "heartbeat_table"),
        ('[host.mongodb]\npassword = "keyring:p"\n', '"password" needs its "user"'),
        ('[host.mongodb]\nmechanism = "x509"\n', 'mechanism = "x509" needs "cert"'),
        ('[host.mongodb]\nmechanism = "x509"\ncert = "c"\ntls = "off"\n', "a login by certificate needs TLS"),
        ('[host.mongodb]\nmechanism = "plain"\n', 'be one of "scram", "x509"'),
        ('[host.mongodb]\nvia = "tunnel"\n', 'via = "tunnel" needs [host.ssh]'),
        ("mongodb = 3\n", "write it as a table: [host.mongodb]"),
        ('[[host.instance]]\nkind = "mysql"\nuser = "u"\nport = 1\nsource = "x"\n', "source"),
        ('[[host.instance]]\nkind = "mongodb"\nport = 1\nheartbeat_table = "a.b"\n', "heartbeat_table"),
    ],
)
def test_that_what_makes_no_sense_is_told(table: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_inventory(f'version = 2\n[[host]]\nname = "a"\naddress = "a"\n{table}')
    assert told in str(caught.value)
