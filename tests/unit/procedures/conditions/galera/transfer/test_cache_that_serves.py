"""Whom a frozen cache still serves: the arithmetic of the donor selection, and what can't be read is not known."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output, Rows
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import Unreachable
from services.procedures.conditions.galera.transfer.cache import CacheFrozen, CacheReaches
from services.procedures.conditions.galera.transfer.which import TransferWas
from services.procedures.conditions.machine.unit import UnitFresh
from services.procedures.plan.condition import Kept
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import UUID, ScriptedHosts, out, status

OPTION = "gcache.freeze_purge_at_seqno"
FROZEN = CacheFrozen("n1", OPTION, Kept("stopped_at"), "/gcache")
REACHES = CacheReaches("n3", "/var/lib/mysql", UUID, ("n1", "n2"))
PAGES = "-rw-r----- 1 106 112 134217728 1795265449 gcache.page.000000\n"


@pytest.fixture
def hosts() -> ScriptedHosts:
    made = ScriptedHosts("n1", "n2", "n3")
    made.sessions["n3"].state = Unreachable("Port 3306 refused the connection.", host="n3")
    _stopped(made, 5_000)
    for name in ("n1", "n2"):
        _caches(made, name, 4_000, 6_000)
    return made


@pytest.fixture
def prover(hosts: ScriptedHosts) -> RealProver:
    return RealProver(hosts, ManualClock())


def _stopped(hosts: ScriptedHosts, seqno: int) -> None:
    state = f"# GALERA saved state\nversion: 2.1\nuuid:    {UUID}\nseqno:   {seqno}\nsafe_to_bootstrap: 0\n"
    hosts.sessions["n3"].programs["cat"] = out(state)


def _caches(hosts: ScriptedHosts, name: str, first: int, newest: int, option: str = "4000") -> None:
    session = hosts.sessions[name]
    session.state = status(local_cached_downto=str(first), last_committed=str(newest))
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("wsrep_provider_options", f"{OPTION} = {option};"),))
    session.programs["ls"] = out(PAGES)


@pytest.mark.parametrize(
    ("option", "first", "newest", "stopped_at", "holds"),
    [
        ("4000", 4_000, 6_000, 5_000, True),
        ("4K", 4_096, 6_000, 5_000, True),  # as the provider prints 4096
        ("-1", 4_000, 6_000, 5_000, False),  # released
        ("5001", 4_000, 6_000, 5_000, False),  # a colleague froze it later than the node stopped
        ("4000", 5_002, 6_000, 5_000, False),  # purged all the same
        ("5000", 5_000, 5_000, 5_000, True),
        ("5000", 5_000, 5_128, 5_000, False),  # one short: the gap is 1/128 of what is cached
        ("4999", 4_999, 5_128, 5_000, True),
    ],
)
def test_that_a_freeze_is_lost_when_it_no_longer_serves_the_node_that_is_away(
    prover: RealProver, hosts: ScriptedHosts, option: str, first: int, newest: int, stopped_at: int, holds: bool
) -> None:
    _caches(hosts, "n1", first, newest, option)
    answer = prover.look(FROZEN, Past({"stopped_at": str(stopped_at)}, {}))
    assert answer.holds is holds, answer.evidence
    assert f"cached from {first} (newest {newest}); 1 page files, 0.13 GB, in /gcache" in answer.evidence


def test_that_a_freeze_without_a_known_stop_is_not_known(prover: RealProver) -> None:
    assert prover.look(FROZEN, Past({}, {})).holds is None


def test_that_a_donor_which_died_has_lost_its_freeze_and_one_that_only_can_not_be_reached_is_not_known(
    prover: RealProver, hosts: ScriptedHosts
) -> None:
    session, past = hosts.sessions["n1"], Past({"stopped_at": "5000"}, {})
    session.state = Unreachable("Port 3306 refused the connection.", host="n1")
    session.programs["systemctl"] = out("ActiveState=active\nResult=success\n")
    assert prover.look(FROZEN, past).holds is None
    session.programs["systemctl"] = out("ActiveState=failed\nResult=signal\n")
    assert prover.look(FROZEN, past).holds is False


def test_that_one_member_which_caches_enough_is_enough_and_a_silent_one_does_not_hide_it(
    prover: RealProver, hosts: ScriptedHosts
) -> None:
    assert prover.look(REACHES, Past({}, {})).holds is True
    hosts.sessions["n2"].state = Unreachable("No answer.", host="n2")
    assert prover.look(REACHES, Past({}, {})).holds is True


def test_that_no_member_which_caches_enough_is_no_and_a_silent_one_makes_it_not_known(
    prover: RealProver, hosts: ScriptedHosts
) -> None:
    _stopped(hosts, 3_000)
    answer = prover.look(REACHES, Past({}, {}))
    assert (answer.holds, answer.evidence) == (
        False,
        "n3 stopped at 3000; n1 caches from 4000 (newest 6000), n2 caches from 4000 (newest 6000)",
    )
    hosts.sessions["n2"].state = Unreachable("No answer.", host="n2")
    assert prover.look(REACHES, Past({}, {})).holds is None


def test_that_a_member_which_is_not_synced_brings_nobody_back_by_ist(prover: RealProver, hosts: ScriptedHosts) -> None:
    """Galera takes a Synced donor: here n2, which has purged what is missed, so an SST comes."""
    desynced = {"local_state": "2", "local_state_comment": "Donor/Desynced"}
    hosts.sessions["n1"].state = status(local_cached_downto="4000", last_committed="6000", **desynced)
    _caches(hosts, "n2", 5_500, 6_000)
    answer = prover.look(REACHES, Past({}, {}))
    assert (answer.holds, "n1 is not Synced, caches from 4000" in answer.evidence) == (False, True)


def test_that_a_node_ahead_of_the_group_is_served_by_nobody(prover: RealProver, hosts: ScriptedHosts) -> None:
    _stopped(hosts, 6_001)
    assert prover.look(REACHES, Past({}, {})).holds is False
    assert prover.look(FROZEN, Past({"stopped_at": "6001"}, {})).holds is False


def test_that_a_cache_which_is_not_told_is_neither_lost_nor_enough(prover: RealProver, hosts: ScriptedHosts) -> None:
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(last_committed="6000")
    answer = prover.look(REACHES, Past({}, {}))
    assert (answer.holds, "n1 caches an unknown range" in answer.evidence) == (None, True)
    assert prover.look(FROZEN, Past({"stopped_at": "5000"}, {})).holds is None


def test_that_a_node_killed_with_its_position_unknown_is_not_known_to_be_served(
    prover: RealProver, hosts: ScriptedHosts
) -> None:
    _stopped(hosts, -1)
    assert prover.look(REACHES, Past({}, {})).holds is None


def test_that_a_node_which_is_a_member_already_misses_nothing(prover: RealProver, hosts: ScriptedHosts) -> None:
    hosts.sessions["n3"].state = status()
    assert prover.look(REACHES, Past({}, {})).holds is True


# -- the guard ---------------------------------------------------------------------------------------------------------

GUARD = UnitFresh("n1", "guard.service", "Releases after 5400 s", 120.0)


@pytest.mark.parametrize(
    ("state", "told", "age", "holds"),
    [
        ("active", "Releases after 5400 s", "3", True),
        ("active", "Releases after 5400 s", "9000", False),  # left by an earlier run: nearly over, or far too long
        ("active", "Releases after 36000 s", "3", False),
        ("inactive", "", "3", False),
        ("active", "Releases after 5400 s", "", None),
    ],
)
def test_that_a_guard_which_was_left_is_told_from_one_that_was_just_set(
    prover: RealProver, hosts: ScriptedHosts, state: str, told: str, age: str, holds: bool | None
) -> None:
    session = hosts.sessions["n1"]
    session.programs["systemctl"] = out(f"ActiveState={state}\nDescription={told}\nMainPID=77\n")
    session.programs["ps"] = out(f"   {age}\n")
    answer = prover.look(GUARD, Past({}, {}))
    assert answer.holds is holds
    if state == "active" and age:
        assert answer.evidence == f"guard.service runs on n1 for {age} s: {told}"


def test_that_an_accepted_sst_is_a_proof_and_one_that_nobody_accepted_is_none(
    prover: RealProver, hosts: ScriptedHosts
) -> None:
    wsrep = "1795265450.2 n3 mariadbd[9]: 2026-11-21 10:00:00 0 [Note] WSREP:"
    lines = (
        f"{wsrep} Member 1.0 (n3) requested state transfer from 'n1,'. Selected 0.0 (n1)(SYNCED) as donor.",
        f"{wsrep} Proceeding with SST",
        f"{wsrep} 1.0 (n3): State transfer from 0.0 (n1) complete.",
    )
    session = hosts.sessions["n3"]
    session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_node_name'"] = Rows(
        ("n", "v"), (("wsrep_node_name", "n3"),)
    )
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("log_error", ""), ("datadir", "/var/lib/mysql")))

    def run(read: CommandRead, *, limit_s: float = 10.0) -> Output:
        del limit_s
        return out("1795265460.0") if command_of(read).argv[0] == "date" else out("\n".join(lines))

    session.run = run  # type: ignore[method-assign]
    clock_is_right = RealProver(hosts, ManualClock(1_795_265_460.0))
    shown = TransferWas("n3", "IST", "n1", "start-n3", accepted="sst_accepted")
    began = {"start-n3": 1_795_265_449.0}
    assert clock_is_right.look(shown, Past({}, began)).holds is False
    answer = clock_is_right.look(shown, Past({"sst_accepted": "n3"}, began))
    assert (answer.holds, "came by SST from n1; you accepted this" in answer.evidence) == (True, True)
