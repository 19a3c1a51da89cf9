"""Addresses that a server, a file or a neighbour says: what is none runs nothing, is asked by nobody, has no key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.addresses import is_address, is_host_name_of_ssh, is_login, is_this_machine, parse_hop
from services.clock import SystemClock
from services.connections.ssh.config import hop_for, target_for
from services.connections.ssh.host_keys import remember
from services.discovery.looks.crawl import crawl
from services.errors import BadInput, Unreachable, UserError
from services.inventory.model import HostEntry, SshAccess
from services.inventory.toml_file import parse_inventory
from services.inventory.trust import Trust
from tests.unit.recorded.replies import ReplaySession, load

HEALTHY = load("situations/galera-healthy.json")
HOSTILE = (
    "x$(id>/tmp/x)", "x`id`", "x;id", "x|id", "x&id", "x'y", 'x"y', "x\\y", "x<y", "x>y", "x(y)", "{x,y}", "x y",
    "x\ny", "-oProxyCommand=id", "10.0.0.5,x", "*", "db?", "!db1", "x\u202ey", "x/y", "a@b", "%h", "#x", "",
)  # fmt: skip
DISGUISED = (
    "0x7f.0.0.3",
    "0x7f000001",
    "127.1",
    "2130706433",
    "010.0.0.1",
    "10.0.0.256",
    "10.0.0",
    "db.0x1",
    "1.2.3.4.5",
)
GOOD = (
    "10.213.1.11", "db1", "db-1.example.org", "db_1", "DB1.Example.", "fd00::3", "::ffff:10.0.0.1", "fe80::1%eth0",
    "xn--mnchen-3ya.example", "3com.example", "1password",
)  # fmt: skip


@pytest.mark.parametrize("text", [*HOSTILE, *DISGUISED, "x" * 300, "fe80::1%$(id)", "müller", "db1..x"])
def test_that_what_is_no_address_is_none(text: str) -> None:
    assert not is_address(text)


@pytest.mark.parametrize("text", GOOD)
def test_that_addresses_and_names_are_addresses(text: str) -> None:
    assert is_address(text)


@given(st.text(max_size=40))
def test_that_nothing_that_a_shell_or_a_pattern_reads_is_an_address(text: str) -> None:
    if is_address(text):
        assert not set(text) & set("'`\"$\\;&<>|(){}*?!,#@/ \t\r\n")
        assert text.isascii()
        assert not text.startswith("-")


@pytest.mark.parametrize("address", [*HOSTILE[:-1], *DISGUISED])
def test_that_no_address_runs_a_program_of_ssh_config(tmp_path: Path, address: str) -> None:
    """`Match exec` runs at the lookup, before anybody is asked; ProxyCommand has the address in its line."""
    ran = tmp_path / "ran"
    config = tmp_path / "config"
    config.write_text(
        f'Match exec "touch {ran}; true %h"\n  ProxyCommand sh -c "touch {ran}" %h %n\n', encoding="utf-8"
    )
    with pytest.raises(BadInput):
        target_for(SshAccess("dba", config=str(config)), address)
    with pytest.raises(BadInput):
        hop_for(SshAccess("dba", config=str(config)), f"dba@{address}")
    assert not ran.exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [("HostName", "x$(id)"), ("HostName", "-oX"), ("HostName", "a,b"), ("User", "x$(id)"), ("User", "-l")],
)
def test_that_what_ssh_config_itself_makes_of_an_address_is_looked_at_again(
    tmp_path: Path, key: str, value: str
) -> None:
    config = tmp_path / "config"
    config.write_text(f"Host db1\n  {key} {value}\n  ProxyCommand nc %h %p\n", encoding="utf-8")
    with pytest.raises(BadInput, match="contains shell metacharacters"):
        target_for(SshAccess("", config=str(config)), "db1")


def test_that_odd_names_of_a_persons_own_ssh_config_still_stand(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host db1\n  HostName zone/i-0abc+x\n  ProxyCommand tunnel %h %p\n", encoding="utf-8")
    assert target_for(SshAccess("dba", config=str(config)), "db1").proxy_command == "tunnel zone/i-0abc+x 22"
    assert is_host_name_of_ssh("zone/i-0abc+x")


@pytest.mark.parametrize(
    "name", ["*", "10.0.0.5,x", "db?", "!db1", "|1|x|y", "@revoked", "#x", "a b", "a\nb", "", "[*]:22"]
)
def test_that_no_key_is_accepted_for_more_than_one_host(tmp_path: Path, name: str) -> None:
    file = tmp_path / "known_hosts"
    for hashed in (False, True):
        with pytest.raises(BadInput, match="no key is accepted"):
            remember(str(file), name, "ssh-ed25519", "AAAA", hashed=hashed)
    assert not file.exists()


@pytest.mark.parametrize("name", ["10.0.0.5", "db1.example", "fd00::3", "[fd00::3]:2222", "[db1]:2222", "prod-db"])
def test_that_a_key_of_one_host_is_written_down(tmp_path: Path, name: str) -> None:
    file = tmp_path / "known_hosts"
    remember(str(file), name, "ssh-ed25519", "AAAA", hashed=False)
    assert file.read_text(encoding="utf-8") == f"{name} ssh-ed25519 AAAA\n"


@pytest.mark.parametrize("address", [*HOSTILE, *DISGUISED])
def test_that_an_inventory_has_no_such_address_and_no_such_hop(address: str) -> None:
    quoted = address.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    hop = quoted.replace(",", "?")  # a comma divides hops
    for text in (f'address = "{quoted}"', f'address = "db1"\nssh = {{ user = "dba", jump = "x@{hop}" }}'):
        with pytest.raises(BadInput, match="1 fault"):
            parse_inventory(f'version = 1\n[[host]]\nname = "n1"\n{text}\n')


def test_that_a_discovered_member_has_no_such_address() -> None:
    with pytest.raises(BadInput, match="which is invalid"):
        HostEntry("n1", "10.0.0.1").for_member("n2", "x$(id)")


def test_that_hops_are_split_into_user_host_and_port() -> None:
    assert parse_hop("ops@bastion:2022") == ("ops", "bastion", 2022)
    assert parse_hop("ssh://[fd00::3]:22/") == ("", "fd00::3", 22)
    assert parse_hop("bastion") == ("", "bastion", None)
    assert parse_hop("a$(id)@bastion") is None
    assert parse_hop("bastion:99999") is None


def test_that_logins_are_judged_as_openssh_does() -> None:
    assert all(is_login(user) for user in ("dba", "CORP\\dba", "dba@corp", "a b", ""))
    assert not any(is_login(user) for user in ("-l", "x;y", "x -l", "x\\", "x\ny", "$x"))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "127.9", "localhost", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::", "0.0.0.0"],
)
def test_that_every_form_of_this_machine_is_known(address: str) -> None:
    assert is_this_machine(address)


@pytest.mark.parametrize("named", ["x$(id>/tmp/x)", "0x7f.0.0.3", "*", "127.0.0.9", "::ffff:127.0.0.9"])
def test_that_nobody_is_asked_at_what_a_server_names_and_is_no_address(named: str) -> None:
    host = HEALTHY["hosts"]["n1"]
    queries = {k: v for k, v in host["queries"].items() if "wsrep_cluster_members" not in k}
    status = {**host["status"], "wsrep_incoming_addresses": f"10.213.1.11:0,[{named}]:0"}
    asked: list[str] = []

    def opened(entry: HostEntry) -> ReplaySession:
        asked.append(entry.address)
        if entry.name != "n1":
            raise Unreachable("No route to host.")
        return ReplaySession("n1", {**host, "queries": queries, "status": status})

    found = crawl([HostEntry("n1", "10.213.1.11")], opened, SystemClock(), trust=Trust(also=("10.213.0.0/16",)))
    assert set(asked) <= {"10.213.1.11", "10.213.1.12", "10.213.1.13"}
    if not is_this_machine(named):
        assert [p.code for p in found.problems] == ["no-address"]


def test_that_addresses_a_run_remembered_are_judged_again() -> None:
    """A journal is a file: what it remembers of a host's address is as foreign as any other."""
    from services.inventory.model import Inventory
    from services.procedures.journal.finding import nothing_found

    found = nothing_found(Inventory(hosts=(HostEntry("n1", "10.0.0.1"),), also=("10.0.0.0/8",)))
    with pytest.raises(UserError):
        found.entry("n2", {"n2": ("x$(id)", "n1")})
