"""Copied data: whose past they are, and where the IST that followed began."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.errors import Unreachable
from services.facts.binlog.marks import Mark
from services.procedures.conditions.galera.history import copied
from services.procedures.conditions.galera.history.copied import CopiedHistory
from services.procedures.conditions.galera.membership.no_read_lock import NoReadLock
from services.procedures.conditions.galera.transfer.ist_from import IstFrom
from services.procedures.plan.condition import Answer, Kept
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import UUID, Attempt, ScriptedHosts, out, status

STATE = "# GALERA saved state\nversion: 2.1\nuuid:    {}\nseqno:   {}\nsafe_to_bootstrap: 0\n"
HISTORY = CopiedHistory(
    "n3", ("n1", "n2"), UUID, "/var/lib/mysql", Kept("locked-at"), Kept("recovered"), source="n1", since_step="snapshot"
)
NOW = 1_700_000_000.0
ROW = Mark("0-41-14", 41, "261124 18:00:00", 20)


def look(
    monkeypatch: pytest.MonkeyPatch,
    marks: dict[str, tuple[Mark, ...]],
    *,
    uptime: str = "600",
    state: str = STATE.format(UUID, -1),
    donor: dict[str, str] | None = None,
    silent: bool = False,
    kept: str = "20",
    ids: tuple[str, str] = ("41", "42"),
) -> Answer:
    """Look at copied data of which the snapshot was taken a minute ago at seqno 20."""
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name, number in zip(("n1", "n2"), ids, strict=True):
        hosts.sessions[name].state = {**status(), "Uptime": uptime, **(donor or {} if name == "n1" else {})}
        mode = "SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_gtid_mode'"
        hosts.sessions[name].rows[mode] = Rows(("Variable_name", "Value"), (("wsrep_gtid_mode", "OFF"),))
        asked = "SHOW GLOBAL VARIABLES WHERE Variable_name = 'server_id'"
        hosts.sessions[name].rows[asked] = Rows(("Variable_name", "Value"), (("server_id", number),))
    if silent:
        hosts.sessions["n1"].state = Unreachable("No answer.", host="n1")
    hosts.sessions["n3"].programs["cat"] = out(state)
    monkeypatch.setattr(copied, "marks_of", lambda _asking, name, _seqno: marks.get(name))
    past = Past({"locked-at": kept} if kept else {}, {"snapshot": NOW - 60.0})
    return Attempt(hosts, ManualClock(NOW)).look(HISTORY, past)


def test_that_a_donor_that_ran_on_as_a_member_shows_that_its_past_is_the_clusters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = look(monkeypatch, {})
    assert (found.holds, "has run for 600 s" in found.evidence) == (True, True)
    both = look(monkeypatch, {"n1": (ROW,), "n2": (ROW, Mark("0-41-15", 41, "261124 18:00:01", 21))})
    assert (both.holds, "the binary logs agree on GTID 0-41-14" in both.evidence) == (True, True)


def test_that_a_donor_that_was_started_since_needs_the_binary_logs_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(monkeypatch, {}, uptime="9").holds is None
    assert look(monkeypatch, {}, silent=True).holds is None
    assert look(monkeypatch, {}, donor={"wsrep_local_state": "2"}).holds is None
    assert look(monkeypatch, {}, donor={"wsrep_cluster_state_uuid": UUID.replace("2", "3")}).holds is None
    behind = (ROW, Mark("0-41-15", 41, "261124 18:00:01", 21))
    assert look(monkeypatch, {"n1": behind, "n2": behind}, uptime="9").holds is True


def test_that_the_same_gtid_shows_nothing_of_a_donor_that_was_started_since_where_nodes_share_a_server_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behind = (ROW, Mark("0-41-15", 41, "261124 18:00:01", 21))
    found = look(monkeypatch, {"n1": behind, "n2": behind}, uptime="9", ids=("41", "41"))
    assert found.holds is None
    assert any("share a server id" in line for line in found.lines)
    stayed = look(monkeypatch, {"n1": behind, "n2": behind}, ids=("41", "41"))
    assert (stayed.holds, "agree on GTID" in stayed.evidence) == (True, False)


def test_that_another_servers_change_at_the_seqno_is_a_fork_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (Mark("0-43-14", 43, "261124 18:00:00", 20), Mark("0-43-15", 43, "261124 18:00:02", 21))
    found = look(monkeypatch, {"n1": (ROW, Mark("0-41-15", 41, "261124 18:00:01", 21)), "n2": other})
    assert (found.holds, found.final) == (False, True)


def test_that_a_donor_whose_log_lacks_the_change_shows_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Mark("0-41-3", 41, "261124 17:00:00", 5)
    after = Mark("0-41-99", 41, "261124 18:00:09", 99)
    other = (Mark("0-43-14", 43, "261124 18:00:00", 20), Mark("0-43-15", 43, "261124 18:00:02", 21))
    assert look(monkeypatch, {"n1": (before, after), "n2": other}).holds is True


def test_that_a_state_file_with_a_number_of_its_own_or_no_position_never_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(monkeypatch, {}, state=STATE.format(UUID, 20)).final
    assert look(monkeypatch, {}, state=STATE.format(UUID.replace("2", "3"), -1)).holds is False
    assert look(monkeypatch, {}, kept="").holds is None


# -- where the IST began -----------------------------------------------------------------------------------------------

_LOG = """1700000000.1 n3 systemd[1]: Starting mariadb.service - MariaDB 10.11.18 database server...
1700000000.2 n3 mariadbd[9]: 2023-11-14 22:13:20 0 [Note] Starting MariaDB 10.11.18 source revision x as process 9
"""
_LINE = "1700000001.{n} n3 mariadbd[9]: 2023-11-14 22:13:21 {n} [Note] WSREP: {text}\n"


def began(*texts: str, behind: str = "20", cached: str = "") -> Answer:
    """Look at a joiner's log."""
    hosts = ScriptedHosts("n3")
    session = hosts.sessions["n3"]
    session.state = {**status(), "wsrep_local_state": "4", **({"wsrep_local_cached_downto": cached} if cached else {})}
    session.rows["SHOW GLOBAL VARIABLES WHERE Variable_name = 'wsrep_node_name'"] = Rows(
        ("n", "v"), (("wsrep_node_name", "n3"),)
    )
    log = _LOG + "".join(_LINE.format(n=number, text=text) for number, text in enumerate(texts, 1))
    session.programs = {
        "timeout": out(log),
        "date": out(str(NOW)),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
    }
    past = Past({"locked-at": behind} if behind else {}, {"start-n3": NOW})
    return Attempt(hosts, ManualClock(NOW)).look(IstFrom("n3", Kept("locked-at"), "start-n3"), past)


REQUEST = "Member 2.0 (n3) requested state transfer from 'n1,'. Selected 0.0 (n1)(SYNCED) as donor."


@pytest.mark.parametrize(("first", "holds"), [(21, True), (20, False), (25, False)])
def test_that_the_first_write_set_is_the_one_behind_the_data_no_other(first: int, holds: bool) -> None:
    found = began(REQUEST, f"Receiving IST: 9 writesets, seqnos {first}-29", f"IST received: {UUID}:29")
    assert (found.holds, found.final) == (holds, not holds), found


def test_that_a_second_ist_and_that_of_another_node_are_not_the_first() -> None:
    first = (REQUEST, "Receiving IST: 9 writesets, seqnos 21-29", "2.0 (n3): State transfer from 0.0 (n1) complete.")
    other = "Member 1.0 (n2) requested state transfer from '*any*'. Selected 2.0 (n3)(SYNCED) as donor."
    sent = "async IST sender starting to serve tcp://10.0.0.2:4568 sending 5-29"
    assert began(*first, other, sent).holds is True
    assert began(*first, REQUEST, "Receiving IST: 3 writesets, seqnos 30-32").holds is True


@pytest.mark.parametrize(("cached", "holds"), [("21", True), ("15", True), ("22", None), ("0", None)])
def test_that_the_cache_of_the_node_itself_shows_that_no_write_set_is_missing(cached: str, holds: bool | None) -> None:
    assert began(cached=cached).holds is holds


def test_that_a_node_that_missed_nothing_needs_none_and_a_silent_log_is_not_known() -> None:
    none = began("Cert index reset to 00000000-0000-0000-0000-000000000000:-1 (proto: 11), state transfer needed: no")
    assert none.holds is True
    assert began().holds is None
    assert began(REQUEST, behind="").holds is None


@pytest.mark.parametrize(
    ("scope", "state", "runs", "holds"),
    [
        ("inactive", STATE.format(UUID, -1), True, True),
        ("active", STATE.format(UUID, -1), True, False),  # what takes the snapshot works still, before or behind it
        ("deactivating", STATE.format(UUID, -1), True, False),
        ("inactive", STATE.format(UUID, 41), True, False),  # whoever's it is
        ("inactive", STATE.format(UUID, 41), False, True),
        ("inactive", "damaged", True, None),
    ],
)
def test_that_a_read_lock_is_gone_only_where_its_scope_is_over_and_the_provider_goes_on(
    scope: str, state: str, runs: bool, holds: bool | None
) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs |= {
        "systemctl": out(f"ActiveState={scope}\n"),
        "cat": out(state),
        "ps": out("77 Sl mariadbd\n" if runs else "", 0 if runs else 1),
    }
    lock = NoReadLock("n1", "/var/lib/mysql", "mariadb.service", "pilothouse-lock-x.scope")
    assert Attempt(hosts, ManualClock(NOW)).look(lock, Past({}, {})).holds is holds
