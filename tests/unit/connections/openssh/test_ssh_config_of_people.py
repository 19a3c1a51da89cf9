"""Configurations as people and distributions have them: each means what it means to ssh, or is refused by name."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from services.connections.openssh.own_account import login_of_passwd
from services.connections.openssh.program import ssh_program
from services.connections.ssh import config as ssh_config
from services.connections.ssh.config import hop_for, target_for
from services.connections.ssh.target import SshTarget
from services.errors import BadInput
from services.inventory.imports_ssh import import_ssh_config
from services.inventory.model import SshAccess

pytestmark = pytest.mark.usefixtures("either_reader")


def target(folder: Path, text: str, address: str = "db1", **access: object) -> SshTarget:
    """Return what this ssh_config and this inventory make of a host."""
    (folder / "config").write_text(text, encoding="utf-8")
    given = {"user": "", "config": str(folder / "config"), **access}
    return target_for(SshAccess(**given), address)  # type: ignore[arg-type]


def test_that_the_stock_file_of_a_distribution_reaches_its_hosts(tmp_path: Path) -> None:
    drop_in, policy = tmp_path / "50-stock.conf", tmp_path / "policy.config"
    policy.write_text("Ciphers aes256-gcm@openssh.com,aes256-ctr\n")
    drop_in.write_text(f"Match final all\n\tInclude {policy}\n\tGSSAPIAuthentication yes\n\tForwardX11Trusted yes\n")
    found = target(tmp_path, f"Host db1\n HostName 10.0.0.7\n User dba\nInclude {tmp_path}/*.conf\n")
    assert (found.host, found.user, found.port) == ("10.0.0.7", "dba", 22)


def test_that_a_remark_behind_a_value_is_no_part_of_it(tmp_path: Path) -> None:
    found = target(
        tmp_path,
        "Host db1 # prod, and Bob's\n HostName 10.0.0.1   # first\n Port 2222   # NAT\n User dba   # ours\n"
        "  IdentitiesOnly yes # keep\n  StrictHostKeyChecking yes # prod\n  ServerAliveInterval 60\t# keep\n",
    )
    assert (found.host, found.port, found.user) == ("10.0.0.1", 2222, "dba")
    assert (found.identities_only, found.strict, found.alive_interval_s) == (True, "yes", 60)
    assert target(tmp_path, "Host db1 # prod\n User dba\nHost *\n User other\n", "prod").user == "other"
    (tmp_path / "names").write_text("Host db1 # prod, and Bob's\n")
    assert [host.name for host in import_ssh_config(tmp_path / "names").hosts] == ["db1"]


def test_that_an_include_in_a_block_counts_where_that_block_fits(tmp_path: Path) -> None:
    inner = tmp_path / "work.conf"
    inner.write_text("Host *\n User worker\n Port 2200\n ProxyJump gate\n")
    text = f"Host *.work\n Include {inner}\nHost *\n User me\n"
    found = target(tmp_path, text)
    assert (found.user, found.port, found.jumps) == ("me", 22, ())
    found = target(tmp_path, text, "db1.work")
    assert (found.user, found.port, found.jumps) == ("worker", 2200, ("gate",))


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("frobnicate x", "frobnicate"),
        ("!frobnicate x", "frobnicate"),
        ("host", "host|criteria"),
        ("host db1 user dba all", "all"),
    ],
)
def test_that_a_condition_that_is_not_known_is_refused_and_never_met(
    tmp_path: Path, condition: str, named: str
) -> None:
    with pytest.raises(BadInput, match=rf"(?i){named}"):
        target(tmp_path, f"Match {condition}\n StrictHostKeyChecking no\nHost *\n User dba\n")


@pytest.mark.parametrize("condition", ["localnetwork 10.0.0.0/8", "tagged prod", "version x", "sessiontype shell"])
def test_that_conditions_of_new_versions_are_named_where_nobody_is_there_to_judge_them(
    tmp_path: Path, condition: str, without_ssh: None
) -> None:
    word = condition.split(maxsplit=1)[0]
    with pytest.raises(BadInput, match=rf'the Match condition "{word}" is not supported without an ssh program'):
        target(tmp_path, f"Match !{condition}\n User office\n")


def test_that_whichever_of_proxy_command_and_proxy_jump_stands_first_wins(tmp_path: Path) -> None:
    assert target(tmp_path, "Host db1\n ProxyCommand none\nHost *\n ProxyJump gate\n").jumps == ()
    found = target(tmp_path, "Host db1\n ProxyCommand nc %h %p\nHost *\n ProxyJump gate\n")
    assert (found.jumps, found.proxy_command) == ((), "nc db1 22")
    found = target(tmp_path, "Host db1\n ProxyJump gate\nHost *\n ProxyCommand nc %h %p\n")
    assert (found.jumps, found.proxy_command) == (("gate",), "")
    found = target(tmp_path, "ProxyCommand nc %h %p\n", jump="none")
    assert (found.jumps, found.proxy_command) == ((), "")


def test_that_proxy_jump_none_before_a_proxy_command_is_what_this_ssh_says_or_refused(tmp_path: Path) -> None:
    """Versions of OpenSSH differ here."""
    text = "Host db1\n ProxyJump none\nHost *\n ProxyCommand nc %h %p\n"
    if ssh_config.ssh_program() is None:
        with pytest.raises(BadInput, match="OpenSSH versions read"):
            target(tmp_path, text)
    else:
        assert target(tmp_path, text).jumps == ()


def test_that_the_inventorys_login_is_the_one_that_match_user_asks_for(tmp_path: Path) -> None:
    text = "Match user dba\n IdentityFile /keys/dba\nMatch user root,nobody\n Port 2222\n"
    found = target(tmp_path, text, user="dba")
    assert (found.identity_files, found.port) == (("/keys/dba",), 22)
    assert target(tmp_path, text, user="nobody").port == 2222
    access = SshAccess("dba", config=str(tmp_path / "config"))
    assert hop_for(access, "gate").identity_files == ("/keys/dba",)
    assert hop_for(access, "nobody@gate").port == 2222


def test_that_a_hops_login_is_the_files_where_it_names_this_machines_own(tmp_path: Path) -> None:
    import getpass

    own = getpass.getuser()
    (tmp_path / "config").write_text(f"Host gate\n User {own}\nMatch user {own}\n Port 2201\n")
    access = SshAccess("dba", config=str(tmp_path / "config"))
    assert (hop_for(access, "gate").user, hop_for(access, "gate").port) == (own, 2201)
    assert (hop_for(access, "other").user, hop_for(access, "other").port) == ("dba", 22)


def test_that_hops_before_a_hop_replace_its_own(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Host inner\n ProxyJump elsewhere\n")
    access = SshAccess("dba", config=str(tmp_path / "config"))
    assert hop_for(access, "inner").jumps == ("elsewhere",)
    assert hop_for(access, "inner", before="gate").jumps == ()


@pytest.mark.parametrize("port", ["22x", "0", "-1", "99999", "''", "no-such-service"])
def test_that_a_port_that_is_none_is_a_sentence_with_its_line(tmp_path: Path, port: str) -> None:
    with pytest.raises(BadInput, match=r"line 2"):
        target(tmp_path, f"Host other\n Port {port}\n")


def test_that_a_port_may_be_a_services_name_and_the_inventorys_wins(tmp_path: Path) -> None:
    try:
        socket.getservbyname("ssh", "tcp")
    except OSError:  # no /etc/services, as on a bare machine: ssh itself reads no name then
        with pytest.raises(BadInput, match="port"):
            target(tmp_path, "Port ssh\n")
    else:
        assert target(tmp_path, "Port ssh\n").port == 22
    assert target(tmp_path, "Port 2222\n", port=22).port == 22
    assert target(tmp_path, "Port 2222\n", port=None).port == 2222


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("VerifyHostKeyDNS yes", "VerifyHostKeyDNS"),
        ("ProxyCommand nc %h %p\nProxyUseFdpass yes", "ProxyUseFdpass"),
    ],
)
def test_that_what_guards_and_is_not_kept_here_is_refused_by_its_name(tmp_path: Path, line: str, word: str) -> None:
    with pytest.raises(BadInput, match=f"ssh_config sets {word} for db1, which Pilothouse does not support"):
        target(tmp_path, f"Host db1\n {line}\n")
    assert target(tmp_path, f"Host db1\n {line}\n", "other").host == "other"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (
            "VerifyHostKeyDNS yes",
            "Accept the host's key after you verify it with the host's owner; known_hosts is read as usual.",
        ),
        ("ProxyCommand nc -F %h %p\nProxyUseFdpass yes", "Use a ProxyCommand that carries the connection itself"),
        (
            "BindInterface eth9",
            "Use an address of the interface instead, which is supported: BindAddress 10.0.0.5 (ip address show).",
        ),
    ],
)
def test_that_what_is_refused_says_what_to_write_in_its_place(tmp_path: Path, line: str, advice: str) -> None:
    with pytest.raises(BadInput) as refused:
        target(tmp_path, f"Host db1\n {line}\n")
    assert refused.value.try_[0].startswith(advice)
    is_about_the_key = "VerifyHostKeyDNS" in line
    assert ("that ssh refuses could be accepted" in refused.value.safe) is is_about_the_key


def test_that_a_short_name_that_no_domain_knows_is_told_with_the_setting_that_forbids_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RES_OPTIONS", "timeout:1 attempts:1")  # nobody may be there to be asked
    text = "CanonicalizeHostname true\nCanonicalDomains nowhere.invalid\nCanonicalizeFallbackLocal no\n"
    with pytest.raises(
        BadInput, match=r"find db1 in none of the CanonicalDomains, .* CanonicalizeFallbackLocal no forbids"
    ):
        target(tmp_path, text)
    text = text.replace("FallbackLocal no", "FallbackLocal true")
    assert target(tmp_path, text).host == "db1"


def test_that_lists_and_tokens_come_whole(tmp_path: Path) -> None:
    found = target(
        tmp_path,
        'CertificateFile /c/one\nCertificateFile "/c/two %h"\nUserKnownHostsFile /k/%k "/k/a b"\n'
        "IdentityFile /i/%r@%n-%%\nRevokedHostKeys /r/%h\nHostName %h.example\nUser dba\nHostKeyAlias Prod\n",
    )
    assert found.certificates == ("/c/one", "/c/two db1.example")
    assert found.known_hosts == ("/k/prod", "/k/a b")
    assert found.identity_files == ("/i/dba@db1-%",)
    assert (found.revoked_keys, found.key_name) == (("/r/db1.example",), "prod")


def test_that_a_token_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="IdentityFile has an unsupported token: %q"):
        target(tmp_path, "IdentityFile /keys/%q\n")


def test_that_options_of_another_systems_ssh_are_passed_over_where_the_file_says_so(tmp_path: Path) -> None:
    assert target(tmp_path, "IgnoreUnknown UseKeychain\nHost *\n UseKeychain yes\n User me\n").user == "me"
    with pytest.raises(BadInput, match=r"(?i)oddoption"):
        target(tmp_path, "OddOption yes\n")


def test_that_the_persons_own_file_and_the_systems_are_read_below_this_programs_home(tmp_path: Path) -> None:
    ssh = Path("~/.ssh").expanduser()
    ssh.mkdir(mode=0o700)
    (ssh / "config").write_text("Host db1\n User mine\nMatch final user mine\n Port 2203\n")
    found = target_for(SshAccess(""), "db1")
    assert (found.user, found.port) == ("mine", 2203)
    assert found.known_hosts[0] == str(ssh / "known_hosts")


def test_that_an_account_without_an_entry_and_without_a_name_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd  # POSIX only

    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ssh_config, "ssh_program", ssh_program)
    assert ssh_config.ssh_program() is None
    assert target(tmp_path, "Host db1\n HostName 10.0.0.9\n", user="dba").host == "10.0.0.9"
    assert target(tmp_path, "IdentityFile ~/.ssh/own\n", user="dba").identity_files == ("~/.ssh/own",)
    with pytest.raises(BadInput, match="No user name for the login at db1"):
        target(tmp_path, "")


@pytest.mark.skipif(not login_of_passwd(), reason="this account has no entry in passwd(5)")
def test_that_this_account_is_called_as_passwd_says_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = login_of_passwd()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "whoever-ran-su")
    found = target(
        tmp_path,
        "IdentityFile /keys/%u\nUserKnownHostsFile /known/%u\n"
        f"Match localuser whoever-ran-su\n Port 2201\nMatch localuser {own}\n Port 2202\n",
    )
    assert (found.user, found.port) == (own, 2202)
    assert (found.identity_files, found.known_hosts) == ((f"/keys/{own}",), (f"/known/{own}",))
