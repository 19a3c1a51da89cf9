"""encrypt-sst on real servers: TLS on the wire, a join in the middle of it, what is refused, killed, taken back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console, Ran
from tests.lab.procedures.states.sniffing import Sniffed
from tests.lab.procedures.whole import Whole, members
from tests.sample import sampled
from tests.unit.pairs import DAY, Authority

OWN = "/etc/mysql/mariadb.conf.d/zz-pilothouse-sst.cnf"
CERTS, TLS = "/etc/mysql/certs", "/etc/mysql/tls"
PLAIN_SOCAT = "/usr/local/bin/socat"
PORT = 4444
GRASTATE = "/var/lib/mysql/grastate.dat"
_COMPLETED = "mariabackup SST completed on joiner"
_KEYS = "find / -xdev -type f \\( -path '*pilothouse*' -o -path '*/certs/*' \\) -name '*key*' -printf '%m %u %p\\n'"


def _sst(estate: Estate, host: str) -> str:
    return estate.host(host).sh("my_print_defaults sst").out


def _said(estate: Estate, host: str, since: float) -> str:
    return estate.host(host).sh(f"journalctl -u mariadb --since @{int(since)} -o cat --no-pager").out


def _put(estate: Estate, host: str, path: str, text: str, mode: str = "644") -> None:
    estate.host(host).sh(f"cat > {path} && chown mysql:mysql {path} && chmod {mode} {path}", stdin=text)


def _assert_keys_closed(estate: Estate, left: int) -> None:
    for host in members(estate):
        keys = estate.host(host).sh(f"{_KEYS}; true").out.splitlines()
        assert len(keys) == left, (host, keys)
        assert all(line.startswith("600 mysql ") for line in keys), (host, keys)
        assert "PRIVATE KEY" not in estate.host(host).sh("grep -rl 'PRIVATE KEY' /run /tmp 2>/dev/null; true").out


def _joins(estate: Estate, host: str) -> None:
    """Force an SST: the node knows nothing of its state any more."""
    estate.host(host).sh(f"systemctl stop mariadb; rm -f {GRASTATE}; systemctl start mariadb --no-block", limit_s=90)


@pytest.mark.long
def test_that_a_join_in_the_middle_waits_and_then_goes_by_tls_and_that_a_joiner_with_a_foreign_ca_is_refused(
    steer: Estate, console: Console, whole: Whole
) -> None:
    since = time.time()
    with Sniffed(steer, "s3", PORT) as seen:
        with console.running("run", "encrypt-sst", "--yes") as running:
            running.wait_for_step("section-s1")
            _joins(steer, "s3")
            ran = running.end()
        steer.wait_synced(size=3)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert {_sst(steer, host) for host in members(steer)} == {_sst(steer, "s1")}
    assert "--encrypt=4" in _sst(steer, "s1")
    _assert_tls(steer, seen)
    assert "encrypt='4'" in _said(steer, "s3", since), _said(steer, "s3", since)
    assert _COMPLETED in _said(steer, "s3", since)
    _assert_keys_closed(steer, left=1)
    while_asserts(lambda: console.assert_nothing_to_do("encrypt-sst"), limit_s=60)  # Debian upgrades after a start
    _assert_foreign_refused(steer)


def _assert_tls(estate: Estate, seen: Sniffed) -> None:
    """The transfer itself came, by TLS both ways, and nothing on the port was ever anything else."""
    assert seen.first
    assert {first[:2] for first in seen.first.values()} <= {b"\x16\x03", b"\x15\x03"}, seen.first
    to = estate.addresses["s3"]
    assert max(count for way, count in seen.bytes.items() if way[2:] == (to, PORT)) > 1_000_000, seen.bytes


def _assert_foreign_refused(estate: Estate) -> None:
    now = time.time()
    foreign = Authority("foreign", now + DAY, now - DAY)
    cert, key = foreign.pair("foreign server", now - DAY, now + DAY)
    for name, text, mode in (("ca", foreign.pem, "644"), ("cert", cert, "644"), ("key", key, "600")):
        _put(estate, "s3", f"/etc/mysql/{name}.pem", text, mode)
    estate.host("s3").sh(f"sed -i.real -E 's#/etc/mysql/certs/sst-[^ ]*-(ca|cert|key).pem#/etc/mysql/\\1.pem#' {OWN}")
    _joins(estate, "s3")
    while_asserts(lambda: _assert_refused(estate, now), limit_s=60)
    estate.host("s3").sh(
        f"mv {OWN}.real {OWN}; systemctl stop mariadb; systemctl reset-failed mariadb; true", limit_s=60
    )
    estate.start("s3")
    estate.wait_synced(size=3)


def _assert_refused(estate: Estate, since: float) -> None:
    said = "".join(_said(estate, host, since) for host in ("s1", "s2"))
    assert "certificate verify failed" in said, said[-3000:]
    assert "unknown ca" in _said(estate, "s3", since)
    assert _COMPLETED not in _said(estate, "s3", since)


# -- refused before the first change -----------------------------------------------------------------------------------


def _wrong_ca(estate: Estate, host: str) -> None:
    now = time.time()
    _put(estate, host, f"{TLS}/ca.pem", Authority("other", now + 99 * DAY, now - DAY).pem)


def _expired(estate: Estate, host: str) -> None:
    now = time.time()
    authority = Authority("short", now + 99 * DAY, now - 99 * DAY)
    cert, key = authority.pair(host, now - 50 * DAY, now - DAY)
    for name, text, mode in (("ca.pem", authority.pem, "644"), ("server.pem", cert, "644"), ("server.key", key, "600")):
        _put(estate, host, f"{TLS}/{name}", text, mode)


def _mismatched(estate: Estate, host: str) -> None:
    _put(estate, host, f"{TLS}/server.key", Authority().pair()[1], "600")


def _missing(estate: Estate, host: str) -> None:
    estate.host(host).sh(f"rm {TLS}/server.pem")


def _unreadable(estate: Estate, host: str) -> None:
    estate.host(host).sh(f"chown root:root {TLS}/server.key")


def _open(estate: Estate, host: str) -> None:
    estate.host(host).sh(f"chmod 644 {TLS}/server.key")


def _mixed(estate: Estate, host: str) -> None:
    _put(estate, host, OWN, "[sst]\nencrypt = 3\n")


def _strange(estate: Estate, host: str) -> None:
    _put(estate, host, OWN, "[sst]\nencrypt = 9\n")


def _without_tls(estate: Estate, host: str) -> None:
    """A socat that was built without OpenSSL, before the real one in the path."""
    real = "exec /usr/bin/socat"
    cut = "sed 's/#define WITH_OPENSSL 1/#undef WITH_OPENSSL/'"
    _put(
        estate,
        host,
        PLAIN_SOCAT,
        f'#!/bin/sh\n[ "$1" = -V ] && {{ /usr/bin/socat -V | {cut}; exit; }}\n{real} "$@"\n',
        "755",
    )


_Bad = tuple[str, Callable[[Estate, str], None], str, str]
_BAD: tuple[tuple[_Bad, ...], ...] = (
    (
        ("s1", _wrong_ca, "TLS-PAIR", "is not of the CA"),
        ("s1", _wrong_ca, "ONE-CA", "they are not"),
        ("s2", _expired, "TLS-PAIR", "the certificate s2 expired 24 h ago"),
        ("s3", _mismatched, "TLS-PAIR", "does not belong to the certificate"),
    ),
    (
        ("s1", _missing, "TLS-PAIR", "server.pem is not there"),
        ("s2", _unreadable, "TLS-PAIR", "the server's user mysql may not read the key"),
        ("s3", _open, "TLS-PAIR", "others than its owner may read it"),
    ),
    (
        ("s1", _without_tls, "TLS-PROGRAMS", "was built without OpenSSL"),
        ("s2", _mixed, "SST-ALIKE", "encrypt: s1 not set, s2 = 3, s3 = 9"),
        ("s3", _strange, "SST-MODE", "s3: encrypt=9"),
    ),
)


@pytest.mark.long
def test_that_each_bad_certificate_and_a_mixture_is_refused_before_the_first_change(
    steer: Estate, console: Console, whole: Whole
) -> None:
    kept = {host: steer.host(host).sh(f"tar -C {TLS} -cf - . | base64 -w0").out for host in members(steer)}
    for bad in _BAD:
        for host, make, _, _ in bad:
            make(steer, host)
        files = whole.read_files()
        ran = console.run("encrypt-sst", "--json", source="servers")
        assert ran.code != 0, ran
        blocks = [c for c in ran.document()["checks"] if c["verdict"] == "block"]
        for host, _, code, sentence in bad:
            told = [c["evidence"] for c in blocks if c["code"] == code and c["host"] in {host, ""}]
            assert any(sentence in one for one in told), (host, sentence, blocks)
        assert (console.runs(), whole.read_files()) == ((), files)
        for host, text in kept.items():
            steer.host(host).sh(f"rm -rf {OWN} {PLAIN_SOCAT} {TLS}/*; base64 -d | tar -C {TLS} -xf -", stdin=text)
    whole.assert_as_before()


def _all_run_out(told: Ran, nodes: Sequence[str]) -> None:
    assert told.code == 1, told
    assert told.out.count("expires in 19 days (encrypt-sst renews it)") == len(nodes), told


@pytest.mark.parametrize("bad", sampled(["wrong CA", "expired"], lambda bad: bad == "expired"))
def test_that_bad_files_of_the_workstation_end_the_run_before_anything_is_sent(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path, bad: str
) -> None:
    now = time.time()
    authority = Authority("desk", now + 99 * DAY, now - 99 * DAY)
    cert, key = authority.pair("nodes", now - 50 * DAY, now + (-DAY if bad == "expired" else 50 * DAY))
    ca = Authority("other", now + 99 * DAY, now - DAY).pem if bad == "wrong CA" else authority.pem
    for name, text in (("ca", ca), ("cert", cert), ("key", key)):
        (tmp_path / f"{name}.pem").write_text(text)
        (tmp_path / f"{name}.pem").chmod(0o600)
    paths = {f"{name}_file": str(tmp_path / f"{name}.pem") for name in ("ca", "cert", "key")}
    ran = console.run("encrypt-sst", source="files", **paths)
    assert ran.code != 0, ran
    assert ("is not of the CA" if bad == "wrong CA" else "expired 24 h ago") in ran.out, ran
    whole.assert_as_before()


# -- killed, resumed, taken back ---------------------------------------------------------------------------------------


def test_that_a_run_killed_between_two_files_holds_joins_off_is_resumed_with_one_pair_and_renewed_before_its_end(
    steer: Estate, console: Console, whole: Whole
) -> None:
    ran = console.killed_run("section-s2=acting", "encrypt-sst", days=20)
    assert ran.code == KILLED, ran
    assert set(console.open_obligations()) == {"joins:s1", "joins:s2", "joins:s3"}
    released = console("undo", console.runs()[0], "--release", "--yes")
    assert set(console.open_obligations()) == {"joins:s1", "joins:s2", "joins:s3"}, released
    assert "the options differ" in released.out, released
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code == 0, resumed
    console.assert_ended(RunState.DONE, resumed)
    sums = {steer.host(host).sh(f"cat {CERTS}/*-key.pem | sha256sum").out for host in members(steer)}
    assert len(sums) == 1
    _assert_keys_closed(steer, left=1)
    while_asserts(lambda: _all_run_out(console("check"), members(steer)), limit_s=60)  # a busy host answers late
    renewed = console.run("encrypt-sst")
    assert renewed.code == 0, renewed
    assert "expires in 19 days" in renewed.out
    assert console("check").code == 0


@pytest.mark.long
def test_that_a_run_taken_back_when_joins_were_let_go_holds_them_again_and_leaves_the_former_files_and_no_key(
    steer: Estate, console: Console, whole: Whole
) -> None:
    ran = console.killed_run("let-s1=done", "encrypt-sst")
    assert ran.code == KILLED, ran
    assert set(console.open_obligations()) == {"joins:s2", "joins:s3"}
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    whole.assert_as_before()
    _assert_keys_closed(steer, left=0)
    assert steer.host("s1").sh(f"test -e {CERTS}", check=False).ok is False
