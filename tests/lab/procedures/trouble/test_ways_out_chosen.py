"""Where two answers are possible a person has both, and each of them ends well: tried on real servers, rows counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console, Ran
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, acknowledge, assert_extracted, forget, kill_all, make_ledger
from tests.lab.procedures.states.obstacles import GRASTATE
from tests.lab.procedures.whole import Whole

DATA = "/var/lib/mysql"
Ids = frozenset[int]


def _ids(estate: Estate, host: str) -> Ids:
    return frozenset(int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}"))


def _said(ran: Ran) -> str:
    return " ".join(ran.out.split())


@contextmanager
def _a_colleague_bootstrapped_the_smaller_side(estate: Estate) -> Iterator[tuple[Ids, Ids, Ids]]:
    """s1 and s2 went on together without s3 and fell; s3 was bootstrapped by hand, and serves.

    Gives the rows that all have, those of s1 and s2, and those of s3.
    """
    shared = make_ledger(estate)
    estate.kill9("s3")
    estate.wait_synced(["s1", "s2"], size=2)
    greater = acknowledge(estate, "s1", 1_000, 25)
    kill_all(estate)
    estate.host("s3").sh(f"sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' {GRASTATE}; rm -f {DATA}/gvwstate.dat")
    estate.host("s3").sh("systemctl reset-failed mariadb; galera_new_cluster", limit_s=90)
    estate.wait_synced(["s3"], size=1)
    fewer = acknowledge(estate, "s3", 5_000, 3)
    try:
        yield shared, greater, fewer
    finally:
        for name in ("s1", "s2", "s3"):
            if _ids_or_none(estate, name) is None:
                forget(estate, name)


def _ids_or_none(estate: Estate, host: str) -> Ids | None:
    output = estate.host(host).sh(f"mariadb -Ne 'SELECT id FROM {LEDGER}'", check=False)
    return frozenset(map(int, output.out.split())) if output.ok else None


@pytest.mark.long
@pytest.mark.slow
def test_that_the_side_that_a_colleague_bootstrapped_may_lose_where_it_is_the_smaller_one(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with _a_colleague_bootstrapped_the_smaller_side(steer) as (shared, greater, fewer):
        refused = console.run("bootstrap-after-crash")
        assert refused.code in {1, 3}, refused
        assert "PRIMARY-EXISTS" in refused.out, refused
        assert "Bring the missing nodes back with add-node" in _said(refused), refused
        assert "Or let s3 lose" in _said(refused), refused
        steer.stop("s3")  # as it is told
        typed = [word for count in (3, 4, 5) for word in ("--confirm", f"lose {count} of s3")]
        ran = console.run("bootstrap-after-crash", *CONFIRM, *typed, bootstrap="s1")
        console.assert_ended(RunState.DONE, ran)
        for name in ("s1", "s2"):
            assert _ids(steer, name) == shared | greater
        assert_extracted(steer, "s3", fewer)
        back = console.run("add-node", "--confirm", "s3", joiner="s3", loser="s3", keep_data="no", settle="1 s")
        console.assert_ended(RunState.DONE, back)
        assert _ids(steer, "s3") == shared | greater
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_the_greater_side_may_lose_where_a_colleague_bootstrapped_the_smaller_one(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with _a_colleague_bootstrapped_the_smaller_side(steer) as (shared, greater, fewer):
        refused = console.run("add-node", joiner="s1", keep_data="no", settle="1 s")
        assert refused.code in {1, 3}, refused
        assert "Or let s3 lose" in _said(refused), refused
        for name in ("s1", "s2"):
            typed = [word for n in range(24, 30) for word in ("--confirm", f"lose {n} of {name}")]
            back = console.run(
                "add-node", "--confirm", name, *typed, joiner=name, loser=name, keep_data="no", settle="1 s"
            )
            view = console.assert_ended(RunState.DONE, back)
            written = [s.step.step_id for s in view.steps if s.step.step_id.startswith("extract")]
            assert written, (name, back.out, back.err)
            assert_extracted_here(steer, name, greater)
        steer.wait_synced(["s1", "s2", "s3"], size=3)
        for name in ("s1", "s2", "s3"):
            assert _ids(steer, name) == shared | fewer, name
    whole.assert_as_before()


def assert_extracted_here(estate: Estate, host: str, wanted: Ids) -> None:
    """Assert that the newest file on this host holds these rows, each once."""
    output = estate.host(host).sh("grep -h '^###   @1=' $(ls -t /var/lib/pilothouse/forks/*.sql | head -1)").out
    found = sorted(int(line.rpartition("=")[2]) for line in output.splitlines())
    assert found == sorted(wanted), (host, len(found), len(wanted))


@pytest.mark.long
@pytest.mark.slow
def test_that_a_new_host_gets_the_certificates_that_encrypt_sst_made_and_comes_by_tls(
    steer: Estate, console: Console, whole: Whole
) -> None:
    console.assert_ended(RunState.DONE, console.run("encrypt-sst"))
    rows = make_ledger(steer)
    ran = console.run("add-node", joiner="new", keep_data="no", settle="1 s")
    console.assert_ended(RunState.DONE, ran)
    steer.wait_synced(["s1", "s2", "s3", "new"], size=4)
    assert _ids(steer, "new") == rows
    section = steer.host("new").sh("my_print_defaults sst").out
    assert section == steer.host("s1").sh("my_print_defaults sst").out
    pair = [line.partition("=")[2] for line in section.splitlines() if line.startswith(("--tca", "--tcert", "--tkey"))]
    assert len(pair) == 3
    for path in pair:
        sums = {steer.host(name).sh(f"sha256sum < {path}").out for name in ("s1", "new")}
        assert len(sums) == 1, path
    key = next(path for path in pair if "key" in path)
    assert steer.host("new").sh(f"stat -c '%a %U' {key}").out.split() == ["600", "mysql"]
    log = steer.host("new").sh("journalctl -u mariadb -o cat --no-pager").out
    assert "encrypt='4'" in log, log[-3000:]
    # Of a logger(1) that ended before journald looked whose it was no unit is told: its last words stand without one.
    last = steer.host("new").sh("journalctl -o cat --no-pager | grep -F 'SST completed on joiner' || true").out
    assert "mariabackup SST completed on joiner" in last, log[-3000:]


@pytest.mark.long
@pytest.mark.slow
def test_that_a_spare_that_joined_once_and_was_wiped_is_retired_as_it_is_told_and_is_no_member_any_more(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    """Its disk is as a new host's, the members' files name it no more; our history has it among the members."""
    rows = make_ledger(steer)
    console.assert_ended(RunState.DONE, console.run("add-node", joiner="new", keep_data="no", settle="1 s"))
    whole.restore()  # wiped, and every option file as it was before it joined
    told = console("plan", "bootstrap-after-crash", "--json")
    check = next(one for one in told.document()["checks"] if one["code"] == "NAMED-MEMBERS")
    assert "new was a member, but has neither data nor a configuration of the cluster now" in check["evidence"], told
    assert 'retired = ["new"]' in str(check), check
    text = console.inventory.read_text(encoding="utf-8")
    retired = tmp_path / "retired.toml"
    retired.write_text(text.replace("[[cluster]]", '[[cluster]]\nretired = ["new"]', 1), encoding="utf-8")
    after = Console(steer, console.data, retired)
    kill_all(steer)
    ran = after.run("bootstrap-after-crash", *CONFIRM, bootstrap="s1")
    view = after.assert_ended(RunState.DONE, ran)
    assert not any(step.step.host == "new" for step in view.steps), ran
    for name in ("s1", "s2", "s3"):
        assert _ids(steer, name) == rows
    whole.assert_as_before()
