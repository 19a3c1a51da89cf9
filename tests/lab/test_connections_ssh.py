"""SSH to real hosts: keys, agent, certificates, hops, host keys and sudo, as OpenSSH would have it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.host_key_check import accept_host_key
from services.connections.probe import probe_access
from services.errors import AuthFailed, HostKeyChanged, HostKeyUnknown, SudoFailed, TimedOut, Unreachable
from tests.lab.connecting import LIMITS, PASSPHRASE, SUDO, WRONG, agent, entry, session, vault
from tests.lab.estate.estate import Estate

WHOAMI = Command(("id", "-un"))
ROOT = Command(("id", "-un"), sudo=True)
HOST = "spare"

# sshd re-executes itself to read its configuration: for a moment nothing listens.
REREAD = "systemctl reload ssh && sleep 0.5 && until ss -Htln sport = :22 | grep -q .; do sleep 0.1; done"


def user_of(estate: Estate, **ssh: object) -> str:
    with session(estate, entry(estate, HOST, **ssh)) as made:
        return made.run(WHOAMI).text.strip()


def known_hosts_of(estate: Estate, *hosts: str) -> str:
    lines = (estate.client_dir / "known_hosts").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.split(",")[0] in hosts)


# ------------------------------------------------------------------------------------------------ logging in
def test_that_a_key_file_logs_in_and_a_command_brings_output_errors_and_exit_code(galera_estate: Estate) -> None:
    with session(galera_estate, entry(galera_estate, HOST)) as made:
        assert made.run(WHOAMI).text == "dba\n"
        missing = made.run(Command(("ls", "/no/such/place")))
        assert (missing.exit_code, missing.stdout) == (2, b"")
        assert b"No such file" in missing.stderr


def test_that_an_encrypted_key_opens_with_its_passphrase_only(galera_estate: Estate) -> None:
    key = str(galera_estate.client_dir / "id_encrypted")
    assert user_of(galera_estate, key=key, passphrase=PASSPHRASE) == "dba"
    with pytest.raises(AuthFailed, match="it has a passphrase, and none is configured"):
        user_of(galera_estate, key=key)
    with pytest.raises(AuthFailed, match="the passphrase does not open it"):
        user_of(galera_estate, key=key, passphrase=WRONG)


def test_that_the_agent_logs_in_where_no_file_is_named(
    galera_estate: Estate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # no default key files
    with agent(galera_estate.client_dir / "id_ed25519") as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        assert user_of(galera_estate, key=None, agent=True) == "dba"
        with pytest.raises(AuthFailed, match="there was nothing to try"):
            user_of(galera_estate, key=None, agent=False)


def test_that_the_agent_signs_for_an_encrypted_key_without_its_passphrase(
    galera_estate: Estate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    encrypted = galera_estate.client_dir / "id_encrypted"
    plain = tmp_path / "plain"
    shutil.copyfile(encrypted, plain)
    plain.chmod(0o600)
    secret = galera_estate.environment()[PASSPHRASE.name]
    argv = ["ssh-keygen", "-q", "-p", "-P", secret, "-N", "", "-f", str(plain)]
    subprocess.run(argv, check=True, timeout=20, capture_output=True)
    with agent(plain) as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", socket)
        with session(galera_estate, entry(galera_estate, HOST, key=str(encrypted), agent=True)) as made:
            assert made.run(WHOAMI).text == "dba\n"


def test_that_a_key_the_host_does_not_know_is_refused_with_what_was_tried(
    galera_estate: Estate, tmp_path: Path
) -> None:
    key = tmp_path / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=20)
    with pytest.raises(AuthFailed, match=f"key {key}: not accepted") as caught:
        user_of(galera_estate, key=str(key))
    assert any("authorized_keys" in advice for advice in caught.value.try_)


@pytest.fixture
def authority(galera_estate: Estate, tmp_path: Path) -> Iterator[Path]:
    """A user certificate authority the host trusts; it is forgotten again."""
    key = tmp_path / "ca"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=20)
    host = galera_estate.host(HOST)
    host.sh("cat > /etc/ssh/user_ca.pub", stdin=key.with_suffix(".pub").read_text(encoding="utf-8"))
    host.sh(f"echo 'TrustedUserCAKeys /etc/ssh/user_ca.pub' > /etc/ssh/sshd_config.d/ca.conf && {REREAD}")
    yield key
    host.sh(f"rm -f /etc/ssh/user_ca.pub /etc/ssh/sshd_config.d/ca.conf && {REREAD}")


def test_that_an_openssh_certificate_logs_in_where_its_key_alone_would_not(
    galera_estate: Estate, authority: Path, tmp_path: Path
) -> None:
    key = tmp_path / "certified"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=20)
    sign = ["ssh-keygen", "-q", "-s", str(authority), "-I", "lab", "-n", "dba", "-V", "+1h", f"{key}.pub"]
    subprocess.run(sign, check=True, timeout=20)
    certificate = tmp_path / "elsewhere-cert.pub"
    (tmp_path / "certified-cert.pub").rename(certificate)
    with pytest.raises(AuthFailed):
        user_of(galera_estate, key=str(key))
    assert user_of(galera_estate, key=str(key), certificate=str(certificate)) == "dba"
    certificate.rename(tmp_path / "certified-cert.pub")  # beside its key it is found by itself, as by ssh
    assert user_of(galera_estate, key=str(key)) == "dba"
    with agent(key) as socket:  # ssh-add takes the certificate along
        config = tmp_path / "config"
        config.write_text(f"Host *\n  IdentityAgent {socket}\n  IdentityFile none\n", encoding="utf-8")
        assert user_of(galera_estate, key=None, agent=True, config=str(config)) == "dba"


@pytest.fixture
def passwords(galera_estate: Estate) -> Iterator[None]:
    """Let the host take passwords; not any more afterwards."""
    host = galera_estate.host(HOST)
    host.sh(f"echo 'PasswordAuthentication yes' > /etc/ssh/sshd_config.d/00-pw.conf && {REREAD}")
    yield
    host.sh(f"rm -f /etc/ssh/sshd_config.d/00-pw.conf && {REREAD}")


def test_that_a_password_is_tried_only_where_one_is_configured(galera_estate: Estate, passwords: None) -> None:
    assert user_of(galera_estate, user="dbapw", key=None, password=SUDO) == "dbapw"
    with pytest.raises(AuthFailed, match="password: not accepted"):
        user_of(galera_estate, user="dbapw", key=None, password=WRONG)


# ------------------------------------------------------------------------------------------------ hops
def test_that_proxyjump_leads_through_lab_hosts_and_each_hops_key_is_checked(
    galera_estate: Estate, tmp_path: Path
) -> None:
    folder = galera_estate.client_dir
    config = str(folder / "ssh_config")
    for jump in ("n2", "n2,n3"):
        with session(galera_estate, entry(galera_estate, HOST, jump=jump, config=config)) as made:
            assert made.run(WHOAMI).text == "dba\n"
            seen = galera_estate.host(HOST).sh("ss -Htn state established sport = :22").out
            assert galera_estate.addresses[jump.split(",")[-1]] in seen
    known = tmp_path / "known_hosts"
    known.write_text(known_hosts_of(galera_estate, HOST), encoding="utf-8")
    hop = f"dba@{galera_estate.addresses['n2']}"
    with (
        pytest.raises(HostKeyUnknown) as caught,
        session(galera_estate, entry(galera_estate, HOST, jump=hop, known_hosts=str(known))) as made,
    ):
        made.run(WHOAMI)
    assert caught.value.key_name == galera_estate.addresses["n2"]


def test_that_a_proxy_command_is_the_connection_and_ends_with_it(galera_estate: Estate, tmp_path: Path) -> None:
    config = tmp_path / "config"
    folder = galera_estate.client_dir
    config.write_text(
        f"Host {galera_estate.addresses[HOST]}\n  ProxyCommand ssh -F {folder}/ssh_config -W %h:%p n2\n",
        encoding="utf-8",
    )
    with session(galera_estate, entry(galera_estate, HOST, config=str(config))) as made:
        assert made.run(WHOAMI).text == "dba\n"
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True, timeout=10).stdout
    assert f"-W {galera_estate.addresses[HOST]}:22" not in listed


# ------------------------------------------------------------------------------------------------ host keys
@pytest.mark.parametrize("hashed", [False, True])
def test_that_an_unknown_key_asks_with_the_hosts_own_fingerprint_and_once_accepted_is_known(
    galera_estate: Estate, tmp_path: Path, hashed: bool
) -> None:
    known = tmp_path / "known_hosts"
    config = tmp_path / "config"
    config.write_text(f"Host *\n  HashKnownHosts {'yes' if hashed else 'no'}\n", encoding="utf-8")
    asked = entry(galera_estate, HOST, known_hosts=str(known), config=str(config))
    printed = galera_estate.host(HOST).sh("ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub").out.split()[1]
    with session(galera_estate, asked) as made:
        with pytest.raises(HostKeyUnknown) as caught:
            made.run(WHOAMI)
        assert caught.value.fingerprint == printed
        assert caught.value.key_type == "ssh-ed25519"
        assert not known.exists()
        with pytest.raises(HostKeyUnknown):  # the same answer at once: a person has to decide
            made.run(WHOAMI)
        accept_host_key(caught.value)
        made.try_now()
        assert made.run(WHOAMI).text == "dba\n"
    assert (galera_estate.addresses[HOST] in known.read_text(encoding="utf-8")) is not hashed


def test_that_a_policy_is_asked_and_its_no_is_a_no(galera_estate: Estate, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    asked: list[str] = []

    def answer(question: HostKeyUnknown) -> bool:
        asked.append(question.fingerprint)
        return len(asked) > 1

    host = entry(galera_estate, HOST, known_hosts=str(known))
    with session(galera_estate, host, on_host_key=answer) as made:
        with pytest.raises(HostKeyUnknown):
            made.run(WHOAMI)
        made.try_now()
        assert made.run(WHOAMI).text == "dba\n"
    assert len(asked) == 2


def test_that_a_changed_key_is_refused_whatever_the_policy_says(galera_estate: Estate, tmp_path: Path) -> None:
    other = known_hosts_of(galera_estate, "n1").replace(galera_estate.addresses["n1"], galera_estate.addresses[HOST])
    known = tmp_path / "known_hosts"
    known.write_text(other, encoding="utf-8")
    host = entry(galera_estate, HOST, known_hosts=str(known))
    with (
        pytest.raises(HostKeyChanged, match="is not the one in") as caught,
        session(galera_estate, host, on_host_key=lambda _: True) as made,
    ):
        made.run(WHOAMI)
    assert f"{known}:1" in str(caught.value)
    assert known.read_text(encoding="utf-8") == other


def test_that_a_revoked_key_is_refused(galera_estate: Estate, tmp_path: Path) -> None:
    good = known_hosts_of(galera_estate, HOST)
    known = tmp_path / "known_hosts"
    known.write_text(good + f"@revoked * {' '.join(good.split()[1:])}\n", encoding="utf-8")
    with (
        pytest.raises(HostKeyChanged, match="revoked"),
        session(galera_estate, entry(galera_estate, HOST, known_hosts=str(known))) as made,
    ):
        made.run(WHOAMI)


@pytest.fixture
def host_certificate(galera_estate: Estate, tmp_path: Path) -> Iterator[str]:
    """The host shows a certificate for its address; the authority's public key."""
    key = tmp_path / "host_ca"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=20)
    host = galera_estate.host(HOST)
    public = tmp_path / "ssh_host_ed25519_key.pub"
    public.write_text(host.sh("cat /etc/ssh/ssh_host_ed25519_key.pub").out, encoding="utf-8")
    names = f"{HOST},{galera_estate.addresses[HOST]}"
    sign = ["ssh-keygen", "-q", "-s", str(key), "-h", "-I", HOST, "-n", names, "-V", "+1h", str(public)]
    subprocess.run(sign, check=True, timeout=20)
    signed = (tmp_path / "ssh_host_ed25519_key-cert.pub").read_text(encoding="utf-8")
    host.sh("cat > /etc/ssh/ssh_host_ed25519_key-cert.pub", stdin=signed)
    line = "HostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub"
    host.sh(f"echo '{line}' > /etc/ssh/sshd_config.d/cert.conf && {REREAD}")
    yield key.with_suffix(".pub").read_text(encoding="utf-8")
    host.sh(f"rm -f /etc/ssh/*-cert.pub /etc/ssh/sshd_config.d/cert.conf && {REREAD}")


def test_that_a_host_certificate_is_judged_by_its_authority(
    galera_estate: Estate, host_certificate: str, tmp_path: Path
) -> None:
    known = tmp_path / "known_hosts"
    host = entry(galera_estate, HOST, known_hosts=str(known))
    known.write_text(f"@cert-authority 10.213.* {host_certificate}", encoding="utf-8")
    with session(galera_estate, host) as made:
        assert made.run(WHOAMI).text == "dba\n"
    known.write_text(f"@cert-authority *.example {host_certificate}", encoding="utf-8")
    with pytest.raises(HostKeyUnknown), session(galera_estate, host) as made:
        made.run(WHOAMI)
    known.write_text(f"@cert-authority * {host_certificate}@revoked * {host_certificate}", encoding="utf-8")
    with pytest.raises(HostKeyChanged, match="revoked"), session(galera_estate, host) as made:
        made.run(WHOAMI)


# ------------------------------------------------------------------------------------------------ sudo
def test_that_sudo_without_password_makes_root(galera_estate: Estate) -> None:
    with session(galera_estate, entry(galera_estate, HOST)) as made:
        assert made.run(ROOT).text == "root\n"
    with session(galera_estate, entry(galera_estate, HOST, user="root", sudo="none")) as made:
        assert made.run(ROOT).text == "root\n"


def test_that_sudo_with_password_makes_root_and_the_password_reaches_neither_output_nor_process_list(
    galera_estate: Estate,
) -> None:
    secret = galera_estate.environment()[SUDO.name]
    host = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=SUDO)
    with session(galera_estate, host) as made:
        output = made.run(ROOT)
        assert (output.text, output.stderr, output.exit_code) == ("root\n", b"", 0)
        processes = made.run(Command(("ps", "-e", "-ww", "-o", "args"), sudo=True)).text
        assert "sudo -S" in processes
        assert secret not in processes
        stream = made.stream(Command(("tail", "-n", "+1", "-F", "/var/log/dpkg.log"), sudo=True))
        assert next(iter(stream.lines(limit_s=10.0)))
        stream.close()
    seen = galera_estate.host(HOST).sh("journalctl -b --no-pager -n 200").out
    assert secret not in seen


def test_that_a_wrong_sudo_password_fails_quickly_and_a_missing_one_at_once(galera_estate: Estate) -> None:
    wrong = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=WRONG)
    with session(galera_estate, wrong) as made:
        started = time.monotonic()
        with pytest.raises(SudoFailed, match="the sudo password is wrong"):
            made.run(ROOT, limit_s=20.0)
        assert time.monotonic() - started < 8.0  # PAM itself waits about 2 s after a wrong one
        stream = made.stream(Command(("tail", "-n", "+1", "-F", "/var/log/dpkg.log"), sudo=True))
        with pytest.raises(SudoFailed):
            list(stream.lines(limit_s=15.0))
        stream.close()
    with session(galera_estate, entry(galera_estate, HOST, user="dbapw", sudo="nopasswd")) as made:
        with pytest.raises(SudoFailed, match="wants a password"):
            made.run(ROOT)
        assert made.run(WHOAMI).text == "dbapw\n"
    with (
        session(galera_estate, entry(galera_estate, HOST, user="dbapw", sudo="none")) as made,
        pytest.raises(SudoFailed, match="has no sudo"),
    ):
        made.run(ROOT)


def test_that_a_sudo_password_never_becomes_the_commands_input_where_sudo_does_not_ask(galera_estate: Estate) -> None:
    # dba needs no password: `cat` without a file would print whatever came on its input.
    from services.connections import remote_command, sudo
    from services.connections.ssh import SshLink

    host = entry(galera_estate, HOST, sudo="password", sudo_password=SUDO)
    assert host.ssh is not None
    link = SshLink.open(host, vault(galera_estate), policy=None, limits=LIMITS)
    try:
        wrapped = sudo.wrap(Command(("cat",), sudo=True), host.ssh, vault(galera_estate), user="dba", host=HOST)
        with pytest.raises(TimedOut):
            remote_command.run(link, wrapped, None, host=HOST, limit_s=1.5, most=4096, what="cat")
        given = Command(("cat",), sudo=True, stdin=vault(galera_estate).get(WRONG))
        wrapped = sudo.wrap(given, host.ssh, vault(galera_estate), user="dba", host=HOST)
        output = remote_command.run(link, wrapped, given.stdin, host=HOST, limit_s=10.0, most=4096, what="cat")
        assert output.text == "not the password"
        assert output.stderr == b""
    finally:
        link.close()


# ------------------------------------------------------------------------------------------------ running on
def test_that_a_stream_ends_its_command_when_it_is_closed(galera_estate: Estate) -> None:
    host = galera_estate.host(HOST)
    with session(galera_estate, entry(galera_estate, HOST)) as made:
        stream = made.stream(Command(("tail", "-n", "+1", "-f", "/var/log/dpkg.log")))
        assert next(iter(stream.lines(limit_s=10.0)))
        assert "tail -n +1 -f /var/log/dpkg.log" in host.sh("ps -eo args").out
        stream.close()
        stream.close()
    deadline = time.monotonic() + 10
    while "tail -n +1 -f" in host.sh("ps -eo args").out:
        assert time.monotonic() < deadline, "the command outlived its stream"
        time.sleep(0.2)


def test_that_a_silent_stream_times_out_and_one_that_ends_stops(galera_estate: Estate) -> None:
    with session(galera_estate, entry(galera_estate, HOST)) as made:
        silent = made.stream(Command(("tail", "-n", "0", "-f", "/var/log/dpkg.log")))
        started = time.monotonic()
        with pytest.raises(TimedOut, match=r"silent for 0\.5 s"):
            list(silent.lines(limit_s=0.5))
        assert time.monotonic() - started < 2.0
        silent.close()
        ended = made.stream(Command(("cat", "/etc/os-release")))
        assert any(line.startswith(b"PRETTY_NAME=") for line in ended.lines(limit_s=5.0))


def test_that_a_command_that_does_not_end_is_given_up_within_its_limit(galera_estate: Estate) -> None:
    with session(galera_estate, entry(galera_estate, HOST)) as made:
        started = time.monotonic()
        with pytest.raises(TimedOut, match=r"did not end within 0\.5 s"):
            made.run(Command(("tail", "-n", "0", "-f", "/var/log/dpkg.log")), limit_s=0.5)
        assert time.monotonic() - started < 3.0
        assert made.run(WHOAMI).text == "dba\n"


def test_that_the_session_comes_back_by_itself_after_sshd_was_stopped_and_started(galera: Estate) -> None:
    with session(galera, entry(galera, HOST)) as made:
        assert made.run(WHOAMI).text == "dba\n"
        galera.sshd_stop(HOST)
        galera.host(HOST).sh("pkill -u dba sshd", check=False)
        for _ in range(3):
            with pytest.raises(Unreachable):
                made.run(WHOAMI)
        galera.sshd_start(HOST)
        deadline = time.monotonic() + 15
        while True:
            try:
                assert made.run(WHOAMI).text == "dba\n"
                break
            except Unreachable:
                assert time.monotonic() < deadline
                time.sleep(0.1)


def test_that_a_host_cut_off_the_network_times_out_and_is_back_when_the_network_is(galera: Estate) -> None:
    with session(galera, entry(galera, HOST)) as made:
        assert made.run(WHOAMI).text == "dba\n"
        galera.cut([HOST])
        started = time.monotonic()
        with pytest.raises(TimedOut):
            made.run(WHOAMI, limit_s=2.0)
        assert time.monotonic() - started < 5.0
        galera.heal()
        deadline = time.monotonic() + 20
        while True:
            try:
                assert made.run(WHOAMI, limit_s=5.0).text == "dba\n"
                break
            except Unreachable:
                assert time.monotonic() < deadline
                time.sleep(0.2)


# ------------------------------------------------------------------------------------------------ the Test button
def test_that_the_test_button_passes_every_step_on_a_whole_host(galera_estate: Estate) -> None:
    report = probe_access(entry(galera_estate, "n2"), vault(galera_estate), limits=LIMITS)
    assert report.ok, report.as_text()
    states = {step.name: step.state for step in report.steps}
    assert states == dict.fromkeys(
        ("name", "tcp", "host-key", "ssh-login", "sudo", "sql-tcp", "sql-login", "tls", "rights"), "passed"
    )


def test_that_the_test_button_says_where_it_stops(galera_estate: Estate, tmp_path: Path) -> None:
    unknown = entry(galera_estate, HOST, known_hosts=str(tmp_path / "none"))
    report = probe_access(unknown, vault(galera_estate), limits=LIMITS)
    assert not report.ok
    assert report.question is not None
    assert [step.name for step in report.steps if step.state == "failed"] == ["host-key", "sql-tcp"]
    wrong = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=WRONG)
    report = probe_access(wrong, vault(galera_estate), limits=LIMITS)
    assert {step.name: step.state for step in report.steps}["sudo"] == "failed"
