"""Host keys of real hosts: unknown ones ask, changed and revoked ones never pass, certificates are judged."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.connections.ssh.host_key_check import accept_host_key
from services.errors import HostKeyChanged, HostKeyUnknown
from tests.lab.connections.connecting import REREAD, WHOAMI, entry, free_session, known_hosts_of
from tests.lab.estate.estate import Estate

HOST = "spare"


@pytest.mark.parametrize("hashed", [False, True])
def test_that_an_unknown_key_asks_with_the_hosts_own_fingerprint_and_once_accepted_is_known(
    galera_estate: Estate, tmp_path: Path, hashed: bool
) -> None:
    known = tmp_path / "known_hosts"
    config = tmp_path / "config"
    config.write_text(f"Host *\n  HashKnownHosts {'yes' if hashed else 'no'}\n", encoding="utf-8")
    asked = entry(galera_estate, HOST, known_hosts=str(known), config=str(config))
    printed = galera_estate.host(HOST).sh("ssh-keygen -l -f /etc/ssh/ssh_host_ed25519_key.pub").out.split()[1]
    with free_session(galera_estate, asked) as made:
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
    with free_session(galera_estate, host, on_host_key=answer) as made:
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
        free_session(galera_estate, host, on_host_key=lambda _: True) as made,
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
        free_session(galera_estate, entry(galera_estate, HOST, known_hosts=str(known))) as made,
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
    with free_session(galera_estate, host) as made:
        assert made.run(WHOAMI).text == "dba\n"
    known.write_text(f"@cert-authority *.example {host_certificate}", encoding="utf-8")
    with pytest.raises(HostKeyUnknown), free_session(galera_estate, host) as made:
        made.run(WHOAMI)
    known.write_text(f"@cert-authority * {host_certificate}@revoked * {host_certificate}", encoding="utf-8")
    with pytest.raises(HostKeyChanged, match="revoked"), free_session(galera_estate, host) as made:
        made.run(WHOAMI)
