"""KnownHostsCommand, as FreeIPA's clients have it: real programs, held against the ssh of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from services.connections.limits import Limits
from services.connections.openssh import known_hosts_command
from services.connections.openssh.program import ssh_program
from services.connections.probe.test import probe_access
from services.connections.ssh.config import target_for
from services.connections.ssh.connection import SshLink
from services.connections.ssh.host_key_check import check_host_key, key_algorithms, known_for
from services.connections.ssh.target import SshTarget
from services.errors import BadInput, HostKeyChanged, HostKeyUnknown
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef
from tests.unit.connections.ssh_peer import SshPeer

SHOWN, OTHER = paramiko.ECDSAKey.generate(), paramiko.RSAKey.generate(2048)
TOKENS = "%% %H %I %h %i %k %K %t %f %L %l %n %p %r %u %d %C ${PLAIN} #no-remark 'two words' \"a %H\" \\\\x"

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="programs of POSIX"),
    pytest.mark.usefixtures("either_reader"),
]
Made = Callable[..., SshTarget]


def script(folder: Path, *lines: str) -> Path:
    """Return a program that notes its words, and then does this."""
    path = folder / "keys-of"
    noted = f'for one in "$@"; do printf "%s|" "$one"; done >>{folder}/words; echo >>{folder}/words'
    path.write_text("\n".join(["#!/bin/sh", noted, *lines, ""]), encoding="utf-8")
    path.chmod(0o700)
    return path


def line_of(name: str, key: paramiko.PKey) -> str:
    return f"{name} {key.get_name()} {key.get_base64()}"


def says(folder: Path, *lines: str) -> Path:
    (folder / "said").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return script(folder, f"cat {folder}/said")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return what makes a target of a program, what the files know, and more of a configuration."""

    def make(program: Path | str, *known: str, more: str = "", words: str = "%H", address: str = "db1") -> SshTarget:
        (tmp_path / "known").write_text("".join(f"{line}\n" for line in known), encoding="utf-8")
        text = f"KnownHostsCommand {program} {words}\nGlobalKnownHostsFile none\n{more}"
        (tmp_path / "config").write_text(text, encoding="utf-8")
        access = SshAccess("dba", config=str(tmp_path / "config"), known_hosts=str(tmp_path / "known"))
        return target_for(access, address)

    return make


def judge(found: SshTarget, address: str = "") -> None:
    known = known_for(found, SHOWN)
    check_host_key(SHOWN, target=found, known=known, host="db1", policy=None, address=address)


def test_that_the_stock_file_of_a_freeipa_client_reaches_its_hosts(tmp_path: Path, made: Made) -> None:
    program = says(tmp_path, line_of("db1", SHOWN))
    (tmp_path / "04-ipa.conf").write_text(f"PubkeyAuthentication yes\nKnownHostsCommand {program} --pubkey %H\n")
    (tmp_path / "config").write_text(f"Include {tmp_path}/*.conf\nGlobalKnownHostsFile none\n", encoding="utf-8")
    access = SshAccess("dba", config=str(tmp_path / "config"), known_hosts=str(tmp_path / "known"))
    judge(target_for(access, "db1"))
    assert (tmp_path / "words").read_text() == "--pubkey|db1|\n"


def test_that_what_it_tells_orders_what_is_asked_for(tmp_path: Path, made: Made) -> None:
    assert key_algorithms(made("/bin/true"), known_for(made("/bin/true")))[0] != "rsa-sha2-512"
    found = made(says(tmp_path, line_of("db1", OTHER)), words="%I %t %f %K")
    assert key_algorithms(found, known_for(found))[0] == "rsa-sha2-512"
    assert (tmp_path / "words").read_text() == "ORDER|NONE|NONE|NONE|\n"


def test_that_what_it_tells_is_judged_as_a_files_lines_are(tmp_path: Path, made: Made) -> None:
    judge(made(says(tmp_path, "# ours", "nonsense", line_of("*", SHOWN))))
    judge(made(says(tmp_path), line_of("db1", SHOWN)))
    for told in ([], [line_of("db2", SHOWN)]):
        with pytest.raises(HostKeyUnknown):
            judge(made(says(tmp_path, *told)))
    with pytest.raises(HostKeyChanged, match="not the one in KnownHostsCommand:1") as caught:
        judge(made(says(tmp_path, line_of("db1", OTHER))))
    assert not any("ssh-keygen -R" in advice for advice in caught.value.try_)
    with pytest.raises(HostKeyChanged, match="revoked"):
        judge(made(says(tmp_path, line_of("@revoked *", SHOWN)), line_of("db1", SHOWN)))


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ("echo no server >&2; exit 3", "it ended with exit code 3: no server"),
        ("kill -TERM $$", "it was ended by signal 15"),
        ("sleep 60", "it did not end within 0.3 s"),
        ("sleep 60 &", "it did not end within 0.3 s"),
        ("cat /dev/zero", "it wrote more than 32 MiB"),
    ],
)
def test_that_a_host_is_not_let_in_where_it_fails_whatever_the_files_know(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch, ends: str, told: str
) -> None:
    if "sleep" in ends:
        monkeypatch.setattr(known_hosts_command, "MOST_S", 0.3)
    (tmp_path / "said").write_text(line_of("db1", SHOWN) + "\n")
    program = script(tmp_path, f"cat {tmp_path}/said", ends)
    for found in (made(program), made(program, line_of("db1", SHOWN), more="StrictHostKeyChecking accept-new\n")):
        with pytest.raises(BadInput, match=told):
            judge(found)
        with pytest.raises(BadInput, match=told):
            known_for(found)
    with pytest.raises(HostKeyChanged):
        judge(made(program, line_of("db1", OTHER)))


@pytest.mark.parametrize("program", ["/no/such/program", "no/whole/path", '""'])
def test_that_one_that_can_not_be_started_leaves_the_files_alone_and_is_told_in_the_question(
    made: Made, program: str
) -> None:
    judge(made(program, line_of("db1", SHOWN)))
    assert key_algorithms(made(program), known_for(made(program)))
    with pytest.raises(HostKeyUnknown, match=r"is not known yet: .* KnownHostsCommand was not run: "):
        judge(made(program, more="StrictHostKeyChecking accept-new\n"))


def test_that_a_program_that_may_not_be_run_lets_no_host_in(tmp_path: Path, made: Made) -> None:
    program = script(tmp_path)
    program.chmod(0o600)
    with pytest.raises(BadInput, match="it cannot be started"):
        judge(made(program, line_of("db1", SHOWN)))


def test_that_the_address_is_asked_about_where_the_file_wants_it_checked(tmp_path: Path, made: Made) -> None:
    (tmp_path / "said").write_text(line_of("db1", SHOWN) + "\n" + line_of("10.0.0.9", OTHER) + "\n")
    program = script(tmp_path, f"cat {tmp_path}/said")
    judge(made(program, more="CheckHostIP no\n", words="%I %H"), "10.0.0.9")
    with pytest.raises(HostKeyChanged, match="CheckHostIP"):
        judge(made(program, more="CheckHostIP yes\n", words="%I %H"), "10.0.0.9")
    assert (tmp_path / "words").read_text() == "HOSTNAME|db1|\nHOSTNAME|db1|\nADDRESS|10.0.0.9|\n"
    failing = script(tmp_path, f"cat {tmp_path}/said", '[ "$1" != ADDRESS ]')
    with pytest.raises(BadInput, match="exit code 1"):
        judge(made(failing, more="CheckHostIP yes\n", words="%I %H"), "10.0.0.8")


def test_that_it_gets_no_secret_no_shell_and_nothing_to_read(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYSQL_PWD", "a-secret")
    program = script(tmp_path, f"env >{tmp_path}/got; cat >>{tmp_path}/got")
    with pytest.raises(HostKeyUnknown):
        judge(made(program, words=f"; touch {tmp_path}/made $(touch {tmp_path}/made) %H"))
    assert "a-secret" not in (tmp_path / "got").read_text()
    assert not (tmp_path / "made").exists()


def test_that_a_token_or_variable_that_is_not_known_is_refused_before_anybody_is_contacted(made: Made) -> None:
    for words, told in (("%Q", "an unsupported token: %Q"), ("${NO_SUCH_ONE}", "a variable that is not set")):
        with pytest.raises(BadInput, match=f"KnownHostsCommand (has|names) {told}"):
            known_for(made("/bin/true", words=words))


@pytest.fixture
def peer() -> Iterator[SshPeer]:
    running = SshPeer(SHOWN)
    yield running
    running.close()


def asked_by_ssh(folder: Path, peer: SshPeer) -> str:
    """Return what the ssh of this machine says of the peer with the same configuration; its own words."""
    program = ssh_program()
    assert program is not None
    where = ["-p", str(peer.port), "-l", "dba", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={folder}/known"]
    argv = [program, "-F", str(folder / "config"), *where, "127.0.0.1", "true"]
    return subprocess.run(argv, check=False, capture_output=True, text=True, timeout=20).stderr


@pytest.mark.parametrize(
    "more", ["", "FingerprintHash md5\n", "FingerprintHash SHA512\nHostKeyAlias of-the-alias\nCheckHostIP yes\n"]
)
@pytest.mark.skipif(ssh_program() is None, reason="OpenSSH's ssh is not installed")
def test_that_it_gets_the_very_words_that_ssh_gives_it(
    tmp_path: Path, made: Made, peer: SshPeer, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    import pwd  # POSIX only

    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("PLAIN", "as it is")
    name = "of-the-alias" if "Alias" in more else f"[127.0.0.1]:{peer.port}"
    program = says(tmp_path, line_of(name, SHOWN))
    made(program, words=TOKENS, more=f"User dba\nPort {peer.port}\nPreferredAuthentications password\n{more}")
    assert "Permission denied" in asked_by_ssh(tmp_path, peer)
    theirs = (tmp_path / "words").read_text()
    assert len(theirs.splitlines()) == 2
    # Before it is connected OpenSSH puts the bare host in for %H; since 9.6 the name that is looked for.
    theirs = theirs.replace("|127.0.0.1|ORDER|", f"|{name}|ORDER|").replace("|a 127.0.0.1|", f"|a {name}|")
    (tmp_path / "words").unlink()
    files = {"config": str(tmp_path / "config"), "known_hosts": str(tmp_path / "known")}
    access = SshAccess("dba", port=peer.port, password=SecretRef.parse("env:SHOWN"), agent=False, **files)
    vault = MemoryVault({"env:SHOWN": "a-password"})
    entry = HostEntry("db1", "127.0.0.1", ssh=access)
    SshLink.open(entry, vault, policy=None, limits=Limits(handshake_s=60.0)).close()
    assert (tmp_path / "words").read_text() == theirs


@pytest.mark.skipif(ssh_program() is None, reason="OpenSSH's ssh is not installed")
@pytest.mark.parametrize(
    ("program", "lets_in"),
    [("/bin/false", False), ("/no/such/program", True), ("bin/true", True), ("/bin/true", True), ("/etc", False)],
)
def test_that_ssh_itself_lets_in_where_we_do(
    tmp_path: Path, made: Made, peer: SshPeer, program: str, lets_in: bool
) -> None:
    known = line_of(f"[127.0.0.1]:{peer.port}", SHOWN)
    made(program, known, more="PreferredAuthentications password\n")
    assert ("dba@127.0.0.1: Permission denied" in asked_by_ssh(tmp_path, peer)) is lets_in
    if lets_in:
        judge(made(program, line_of("db1", SHOWN)))
    else:
        with pytest.raises(BadInput):
            judge(made(program, line_of("db1", SHOWN)))


def test_that_keys_which_a_proxy_command_writes_before_it_connects_order_what_is_asked_for(tmp_path: Path) -> None:
    """As sss_ssh_knownhostsproxy of older FreeIPA clients does."""
    peer = SshPeer(SHOWN, more_keys=(OTHER,))
    relay = tmp_path / "relay.py"
    relay.write_text(
        "import socket, sys, threading\n"
        f"with open({str(tmp_path / 'known')!r}, 'w') as known:\n"
        f"    known.write({peer.known_as(OTHER)!r})\n"
        f"end = socket.create_connection(('127.0.0.1', {peer.port}))\n"
        "def back():\n"
        "    while piece := end.recv(65536):\n"
        "        sys.stdout.buffer.write(piece)\n"
        "        sys.stdout.buffer.flush()\n"
        "threading.Thread(target=back, daemon=True).start()\n"
        "while piece := sys.stdin.buffer.raw.read(65536):\n"
        "    end.sendall(piece)\n"
    )
    files = f"UserKnownHostsFile {tmp_path}/none\nGlobalKnownHostsFile {tmp_path}/known\n"
    (tmp_path / "config").write_text(f"ProxyCommand {sys.executable} {relay} -p %p %h\n{files}", encoding="utf-8")
    password = SecretRef.parse("env:SHOWN")
    access = SshAccess("dba", port=peer.port, password=password, agent=False, config=str(tmp_path / "config"))
    entry, vault = HostEntry("db1", "127.0.0.1", ssh=access), MemoryVault({"env:SHOWN": "a-password"})
    try:
        SshLink.open(entry, vault, policy=None, limits=Limits(handshake_s=60.0)).close()
    finally:
        peer.close()
    assert peer.passwords == ["a-password"]


@pytest.mark.parametrize("setting", ["KnownHostsCommand /bin/false", "UserKnownHostsFile {}", "RevokedHostKeys {}"])
def test_that_a_test_of_the_ways_names_the_hosts_key_and_not_its_port(
    tmp_path: Path, peer: SshPeer, setting: str
) -> None:
    (tmp_path / "config").write_text(f"GlobalKnownHostsFile none\n{setting.format(tmp_path)}\n", encoding="utf-8")
    access = SshAccess("dba", port=peer.port, agent=False, config=str(tmp_path / "config"))
    report = probe_access(HostEntry("db1", "127.0.0.1", ssh=access), MemoryVault())
    assert [(step.name, step.state) for step in report.steps if step.state == "failed"] == [("host-key", "failed")]
