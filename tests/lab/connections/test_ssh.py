"""SSH to real hosts: keys, agent, certificates, hops, host keys and sudo, as OpenSSH would have it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.connections.command import Command
from services.errors import AuthFailed, HostKeyUnknown, TimedOut, Unreachable
from tests.lab.connections.connecting import (
    PASSPHRASE,
    REREAD,
    SUDO,
    WHOAMI,
    WRONG,
    agent,
    entry,
    free_session,
    known_hosts_of,
)
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine

HOST = "spare"


def user_of(estate: Estate, **ssh: object) -> str:
    with free_session(estate, entry(estate, HOST, **ssh)) as made:
        return made.run(WHOAMI).text.strip()


# ------------------------------------------------------------------------------------------------ logging in
def test_that_a_key_file_logs_in_and_a_command_brings_output_errors_and_exit_code(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        assert made.run(WHOAMI).text == "dba\n"
        missing = made.run(Command(("ls", "/no/such/place")))
        assert (missing.exit_code, missing.stdout) == (2, b"")
        assert b"No such file" in missing.stderr


def test_that_an_encrypted_key_opens_with_its_passphrase_only(galera_estate: Estate) -> None:
    key = str(galera_estate.client_dir / "id_encrypted")
    assert user_of(galera_estate, key=key, passphrase=PASSPHRASE) == "dba"
    with pytest.raises(AuthFailed, match="it has a passphrase, and none is configured"):
        user_of(galera_estate, key=key)
    with pytest.raises(AuthFailed, match="the passphrase is wrong"):
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
        with free_session(galera_estate, entry(galera_estate, HOST, key=str(encrypted), agent=True)) as made:
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
def sshd_says(galera_estate: Estate) -> Iterator[Callable[..., None]]:
    """Give the host's sshd other lines of configuration; its own again afterwards."""
    host = galera_estate.host(HOST)

    def say(*lines: str) -> None:
        text = "\n".join(lines) + "\n"
        host.sh(f"cat > /etc/ssh/sshd_config.d/00-test.conf && {REREAD}", stdin=text)

    yield say
    host.sh(f"rm -f /etc/ssh/sshd_config.d/00-test.conf && {REREAD}")


def test_that_a_password_is_tried_only_where_one_is_configured(
    galera_estate: Estate, sshd_says: Callable[..., None]
) -> None:
    sshd_says("PasswordAuthentication yes")
    assert user_of(galera_estate, user="dbapw", key=None, password=SUDO) == "dbapw"
    with pytest.raises(AuthFailed, match="password: not accepted"):
        user_of(galera_estate, user="dbapw", key=None, password=WRONG)


def test_that_a_host_which_asks_by_keyboard_gets_the_password(
    galera_estate: Estate, sshd_says: Callable[..., None]
) -> None:
    sshd_says("PasswordAuthentication no", "KbdInteractiveAuthentication yes", "UsePAM yes")
    assert user_of(galera_estate, user="dbapw", key=None, password=SUDO) == "dbapw"


def test_that_a_host_which_wants_key_and_password_gets_both(
    galera_estate: Estate, sshd_says: Callable[..., None]
) -> None:
    sshd_says("PasswordAuthentication yes", "AuthenticationMethods publickey,password")
    assert user_of(galera_estate, user="dbapw", password=SUDO) == "dbapw"
    with pytest.raises(AuthFailed, match="accepted, but the host also requires password"):
        user_of(galera_estate, user="dbapw")


# ------------------------------------------------------------------------------------------------ hops
def test_that_proxyjump_leads_through_lab_hosts_and_each_hops_key_is_checked(
    galera_estate: Estate, tmp_path: Path
) -> None:
    folder = galera_estate.client_dir
    config = str(folder / "ssh_config")
    for jump in ("n2", "n2,n3"):
        with free_session(galera_estate, entry(galera_estate, HOST, jump=jump, config=config)) as made:
            assert made.run(WHOAMI).text == "dba\n"
            seen = galera_estate.host(HOST).sh("ss -Htn state established sport = :22").out
            assert galera_estate.addresses[jump.split(",")[-1]] in seen
    known = tmp_path / "known_hosts"
    known.write_text(known_hosts_of(galera_estate, HOST), encoding="utf-8")
    hop = f"dba@{galera_estate.addresses['n2']}"
    with (
        pytest.raises(HostKeyUnknown) as caught,
        free_session(galera_estate, entry(galera_estate, HOST, jump=hop, known_hosts=str(known))) as made,
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
    with free_session(galera_estate, entry(galera_estate, HOST, config=str(config))) as made:
        assert made.run(WHOAMI).text == "dba\n"
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True, timeout=10).stdout
    assert f"-W {galera_estate.addresses[HOST]}:22" not in listed


# ------------------------------------------------------------------------------------------------ running on
def test_that_a_stream_ends_its_command_when_it_is_closed(galera_estate: Estate) -> None:
    host = galera_estate.host(HOST)
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
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
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        silent = made.stream(Command(("tail", "-n", "0", "-f", "/var/log/dpkg.log")))
        started = time.monotonic()
        with pytest.raises(TimedOut, match=r"silent for 0\.5 s"):
            list(silent.lines(limit_s=0.5))
        assert time.monotonic() - started < on_this_machine(2.0)
        silent.close()
        ended = made.stream(Command(("cat", "/etc/os-release")))
        assert any(line.startswith(b"PRETTY_NAME=") for line in ended.lines(limit_s=5.0))


def test_that_a_command_that_does_not_end_is_given_up_within_its_limit(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        started = time.monotonic()
        with pytest.raises(TimedOut, match=r"did not end within 0\.5 s"):
            made.run(Command(("tail", "-n", "0", "-f", "/var/log/dpkg.log")), limit_s=0.5)
        assert time.monotonic() - started < on_this_machine(3.0)
        assert made.run(WHOAMI).text == "dba\n"


def test_that_the_session_comes_back_by_itself_after_sshd_was_stopped_and_started(galera: Estate) -> None:
    with free_session(galera, entry(galera, HOST)) as made:
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
    with free_session(galera, entry(galera, HOST)) as made:
        assert made.run(WHOAMI).text == "dba\n"
        galera.cut([HOST])
        started = time.monotonic()
        with pytest.raises(TimedOut):
            made.run(WHOAMI, limit_s=2.0)
        assert time.monotonic() - started < on_this_machine(5.0)
        galera.heal()
        deadline = time.monotonic() + 20
        while True:
            try:
                assert made.run(WHOAMI, limit_s=5.0).text == "dba\n"
                break
            except Unreachable:
                assert time.monotonic() < deadline
                time.sleep(0.2)
