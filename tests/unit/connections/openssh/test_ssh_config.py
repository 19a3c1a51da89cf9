"""ssh_config as OpenSSH reads it: `ssh -G` is the judge wherever it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from services.connections.ssh.config import hop_for, target_for
from services.connections.ssh.target import SshTarget
from services.errors import BadInput
from services.inventory.model import SshAccess

CONFIG = """
# a person's file
Include {extra}/*.conf
Host db? !db9
    User monitor
    Port 2200
    IdentityFile ~/.ssh/one
    IdentityFile "~/.ssh/with space"
    ProxyJump ops@bastion:2022,inner

Host=alias
    HostName=10.1.2.3
    HostKeyAlias prod-db
    IdentitiesOnly yes
    ConnectTimeout 7
    ServerAliveInterval 30
    ServerAliveCountMax 2
    UserKnownHostsFile ~/.ssh/kh1 ~/.ssh/kh2
    StrictHostKeyChecking yes
    HashKnownHosts yes
    CertificateFile ~/.ssh/one-cert.pub

Match host 10.1.2.3 user root
    IdentityFile ~/.ssh/matched

Host inner
    HostName inner.example
    User jumper

Host through
    ProxyCommand nc -X connect -x proxy:3128 %h %p

Host *
    User everybody
    IdentityFile ~/.ssh/last
    GlobalKnownHostsFile /dev/null
"""


pytestmark = pytest.mark.usefixtures("either_reader")


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    ssh = tmp_path / ".ssh"
    (ssh / "extra").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    text = CONFIG.replace("{extra}", str(ssh / "extra"))  # a relative one is below ssh's home, not below HOME
    (ssh / "config").write_text(text, encoding="utf-8")
    (ssh / "extra" / "a.conf").write_text("Host included\n  HostName 192.0.2.9\n  Port 2121\n", encoding="utf-8")
    return str(ssh / "config")


def target(config: str, address: str, **access: object) -> SshTarget:
    return target_for(SshAccess(**{"user": "", "config": config, **access}), address)  # type: ignore[arg-type]


def oracle(config: str, address: str) -> dict[str, list[str]]:
    """What `ssh -G` says of a host: option in lower case -> its values in order."""
    argv = ["ssh", "-G", "-F", config, address]
    out = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=20).stdout
    found: dict[str, list[str]] = {}
    for line in out.splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key, []).append(value)
    return found


@pytest.mark.skipif(shutil.which("ssh") is None, reason="OpenSSH's ssh is not installed: nothing to compare with")
@pytest.mark.parametrize(
    "address", ["db1", "db9", "alias", "inner", "included", "through", "10.1.2.3", "other.example"]
)
def test_that_a_host_means_what_it_means_to_ssh(config: str, address: str) -> None:
    home = str(Path.home())
    ours, theirs = target(config, address), oracle(config, address)
    assert ours.host == theirs["hostname"][0]
    assert str(ours.port) == theirs["port"][0]
    assert ours.user == theirs["user"][0]
    # ssh expands ~ from the password database, not from HOME
    expected = [
        name.replace("~", home, 1).replace(str(Path("~root").expanduser()), home) for name in theirs["identityfile"]
    ]
    assert list(ours.identity_files) == [name.strip('"') for name in expected]
    assert ours.identities_only == (theirs["identitiesonly"][0] == "yes")
    assert ",".join(ours.jumps) == theirs.get("proxyjump", [""])[0]
    assert (ours.alive_interval_s or 0) == int(theirs["serveraliveinterval"][0])
    assert ours.hash_known_hosts == (theirs["hashknownhosts"][0] == "yes")
    assert ours.strict == {"true": "yes"}.get(theirs["stricthostkeychecking"][0], theirs["stricthostkeychecking"][0])


def test_that_what_the_inventory_says_comes_before_the_file(config: str) -> None:
    found = target(config, "db1", user="dba", port=2222, key="/keys/mine", jump="other", known_hosts="/k/h")
    assert (found.user, found.port, found.identity_files, found.jumps, found.known_hosts) == (
        "dba",
        2222,
        ("/keys/mine",),
        ("other",),
        ("/k/h",),
    )
    assert found.explicit_key


def test_that_a_port_other_than_22_is_part_of_the_name_keys_are_kept_under(config: str) -> None:
    assert target(config, "db1").key_name == "[db1]:2200"
    assert target(config, "alias").key_name == "prod-db"
    assert target(config, "db1", port=22).key_name == "db1"
    assert target(config, "Other.Example").key_name == "other.example"


def test_that_a_host_without_a_file_has_openssh_defaults(tmp_path: Path) -> None:
    found = target("", "db1", user="dba")
    assert found.port == 22
    assert [Path(name).name for name in found.identity_files] == [
        "id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
    ]  # fmt: skip
    assert [Path(name).name for name in found.known_hosts] == ["known_hosts", "known_hosts2"]
    assert "/etc/ssh/ssh_known_hosts" in found.global_known_hosts
    assert found.strict == "ask"


def test_that_a_proxy_command_gets_its_tokens_and_an_inventory_jump_replaces_it(config: str) -> None:
    assert target(config, "through").proxy_command == "nc -X connect -x proxy:3128 through 22"
    assert target(config, "through", jump="bastion").proxy_command == ""


def test_that_a_hop_gets_its_own_settings_and_otherwise_the_hosts_login_and_key(config: str) -> None:
    access = SshAccess(user="dba", key="/keys/mine", config=config)
    hop = hop_for(access, "inner")
    assert (hop.host, hop.user, hop.port) == ("inner.example", "jumper", 22)
    plain = hop_for(SshAccess(user="dba", key="/keys/mine", config=""), "ops@bastion:2022")
    assert (plain.user, plain.host, plain.port, plain.identity_files[0]) == ("ops", "bastion", 2022, "/keys/mine")
    assert hop_for(SshAccess(user="dba", config=""), "ssh://[2001:db8::1]:2022").host == "2001:db8::1"
    assert hop_for(SshAccess(user="dba", config=""), "bastion").user == "dba"


@pytest.mark.parametrize("hop", ["", "a:b:c", "host:port"])
def test_that_a_hop_that_is_none_is_refused(hop: str) -> None:
    with pytest.raises(BadInput):
        hop_for(SshAccess(user="dba", config=""), hop)


@pytest.mark.parametrize(("text", "seconds"), [("7", 7.0), ("1m30s", 90.0), ("0", None), ("2h", 7200.0)])
def test_that_times_are_read_in_all_their_forms(tmp_path: Path, text: str, seconds: float | None) -> None:
    file = tmp_path / "config"
    file.write_text(f"Host *\n ServerAliveInterval {text}\n", encoding="utf-8")
    assert target(str(file), "db1").alive_interval_s == seconds


def test_that_broken_files_are_told_with_their_name(tmp_path: Path) -> None:
    file = tmp_path / "config"
    with pytest.raises(BadInput, match="cannot be read"):
        target(str(file), "db1")
    file.write_text('Host "unclosed\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"config.* line 1: (invalid quotes|a quote does not close)"):
        target(str(file), "db1")


def test_that_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(f"Include {file}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"deeper|recursive configuration includes"):
        target(str(file), "db1")
