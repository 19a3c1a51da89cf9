"""How much stands on one side of a fork alone: against whatever any node has that stays, and never less than that.

On real servers 40 were to be typed for 32, 64 for 60 and 68 for 60: older marks that the first read told, the last 8
of the files before the newest, stand on all sides and were never laid beside the other log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.connections.ports import Output
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.binlog.marks import MOST_MARKS, NEWEST, Mark
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import Grastate
from services.procedures.catalogue.galera.bootstrap_after_crash.history import strangers_to
from services.procedures.catalogue.galera.bootstrap_after_crash.losses import losses
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.catalogue.steps.extraction import extracted_name
from services.procedures.catalogue.steps.forked import file_of, loss
from services.procedures.looking.histories import Road, compare_between
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.pasts.histories import among, compared, histories
from services.procedures.plan.pasts.histories_model import Histories, Side
from services.procedures.plan.pasts.positions import tail_name
from tests.unit.procedures.facts_of_three import NAMES, UUID, down, facts, galera, host
from tests.unit.procedures.host_of import changed

SHARED = 80
Log = tuple[tuple[Mark, ...], ...]
"""A binary log by its files."""


def written(first: int, last: int, server: int, hour: int = 15) -> tuple[Mark, ...]:
    return tuple(
        Mark(f"0-{server}-{n}", server, f"261122 {hour}:{n // 60:02}:{n % 60:02}", n) for n in range(first, last + 1)
    )


ALL = written(1, SHARED, 41)


def road(log: Log) -> Road:
    """The reads of a host whose binary log has these files; its error log tells nothing."""

    def newest() -> tuple[Mark, ...]:
        before, last = tuple(mark for file in log[:-1] for mark in file), log[-1]
        rest = max(1, len(last) - NEWEST)
        turns = [at for at in range(1, rest) if (last[at].xid or 0) <= (last[at - 1].xid or 0)]
        turned = tuple(last[at] for turn in turns[-1:] for at in range(max(1, turn - 4), turn + 1))
        return (*before[-8:], last[0], *turned, *last[rest:])

    def run(read: CommandRead, limit_s: float) -> Output | None:
        del limit_s
        if read.name == commands.NEWEST_MARKS.name:
            return told(newest())
        if read.name == commands.MARKS_FROM.name:
            every = [mark for file in log for mark in file]
            since = int(str(read.values[-1]))
            start = next((at for at, mark in enumerate(every) if (mark.xid or 0) >= since), len(every))
            return told(tuple(every[start : start + MOST_MARKS]))
        return Output(1, b"", b"")

    return run


def told(marks: tuple[Mark, ...]) -> Output:
    lines = (f"mark {m.time} {m.server_id} {m.gtid} {'-' if m.xid is None else m.xid}\n" for m in marks)
    return Output(0, "".join(lines).encode(), b"")


def each(names: tuple[str, ...], do: Callable[[str], Trace]) -> list[Trace]:
    return [do(name) for name in names]


def seen(logs: dict[str, Log], ends: dict[str, int], *, serving: tuple[str, ...]) -> Facts:
    """Three whose logs were read and compared; those that do not serve are down where InnoDB recovered them."""
    options = (("mysqld", "log_bin_index", "/data/bin.index"), ("mysqld", "log_slave_updates", "ON"))
    hosts: list[HostFacts] = []
    for name in NAMES:
        if name in serving:
            one = host(name, group=galera(name, last_committed=ends[name]))
        else:
            one = down(name, grastate=Grastate(UUID, -1, safe_to_bootstrap=False))
        hosts.append(changed(one, trace=None, options_given=options, data_folder_path="/data"))
    kept = tuple((f"recovered-{name}", f"{UUID}:{ends[name]}") for name in NAMES if name not in serving)
    found = facts(*hosts, kept=kept)
    away = tuple(name for name in NAMES if name not in serving)
    return compare_between(found, away, serving or away, {name: road(log) for name, log in logs.items()}, each)


def fork(rows: int) -> dict[str, Log]:
    """n3 was bootstrapped alone after 80 and wrote `rows` in a binary log file of its own; n1 and n2 wrote others."""
    theirs = written(SHARED + 1, SHARED + 90, 41, 16)
    return {
        "n1": (ALL, theirs),
        "n2": (ALL, theirs),
        "n3": (ALL, written(SHARED + 1, SHARED + rows, 43, 16)),
    }


def ends(rows: int) -> dict[str, int]:
    return {"n1": SHARED + 90, "n2": SHARED + 90, "n3": SHARED + rows}


@pytest.mark.parametrize("rows", [5, 31, 32, 33, 49, 50, 51, 60, 75])
def test_that_add_node_writes_out_and_counts_what_only_the_joiner_has_however_many(rows: int) -> None:
    found = seen(fork(rows), ends(rows), serving=("n1", "n2"))
    assert (histories(found, "n3", "n1").shared_to, histories(found, "n3", "n2").shared_to) == (SHARED, SHARED)
    assert file_of(found, "n3").endswith(f"-after-{SHARED}.sql")


@pytest.mark.parametrize("rows", [5, 32, 40, 60])
def test_that_a_bootstrap_asks_for_the_count_of_what_only_the_losing_side_has(rows: int) -> None:
    asked = party(seen(fork(rows), ends(rows), serving=()), NAMES, ())
    (chosen,) = standings(asked.facts, ("n1",))
    (given_up,) = losses(asked, chosen)
    assert given_up.typed == f"lose {rows} of n3"
    assert f"after seqno {SHARED} with {rows} write sets" in given_up.said


def test_that_commits_that_innodb_of_the_losing_side_had_lost_and_its_binary_log_has_count() -> None:
    found = seen(fork(60), {**ends(60), "n3": SHARED + 55}, serving=())
    asked = party(replace(found, kept=(*found.kept, (tail_name("n3"), str(SHARED + 60)))), NAMES, ())
    (given_up,) = losses(asked, standings(asked.facts, ("n1",))[0])
    assert given_up.count == 60


def test_that_one_whose_log_begins_after_the_fork_does_not_hide_what_another_that_stays_has() -> None:
    logs = fork(60)
    logs["n2"] = (logs["n1"][1],)  # it was away, and came by an SST
    found = seen(logs, ends(60), serving=("n1", "n2"))
    assert file_of(found, "n3").endswith(f"-after-{SHARED}.sql")
    asked = party(seen(logs, ends(60), serving=()), NAMES, ())
    for chosen in ("n1", "n2"):
        assert strangers_to(asked, chosen)["n3"].shared_to == SHARED


def test_that_a_third_node_that_left_earlier_and_came_back_does_not_make_what_all_have_a_loss() -> None:
    """n2 left at 50 and got the rest from n1: by its views it shares 50 with n3, by its rows what n1 shares."""
    met, without, mine, theirs = (
        PrimaryView(UUID, at, tuple((f"{n:08}{UUID[8:]}", f"n{n}") for n in numbers))
        for at, numbers in ((1, (1, 2, 3)), (51, (1, 3)), (81, (3,)), (81, (1,)))
    )
    back = PrimaryView(UUID, 100, tuple((f"{n:08}{UUID[8:]}", f"n{n}") for n in (1, 2)))
    views = {"n1": (met, without, theirs, back), "n2": (met, back), "n3": (met, without, mine)}
    found = seen(fork(60), ends(60), serving=("n1", "n2"))
    found = replace(found, hosts=tuple(with_views(h, views[h.host]) for h in found.hosts))
    assert histories(found, "n3", "n1").shared_to == SHARED
    assert file_of(found, "n3").endswith(f"-after-{SHARED}.sql")


@pytest.mark.parametrize("rows", [20, 40, 60])
def test_that_where_a_log_began_with_an_sst_under_writes_only_what_came_after_the_fork_counts(rows: int) -> None:
    """The copy and the IST behind it stand twice there: nothing below them tells where the newest run has parted."""
    logs = fork(rows)
    logs["n3"] = ((*written(50, 60, 41), *written(57, SHARED, 41), *written(SHARED + 1, SHARED + rows, 43, 16)),)
    found = seen(logs, ends(rows), serving=("n1", "n2"))
    assert file_of(found, "n3").endswith(f"-after-{SHARED}.sql")
    asked = party(seen(logs, ends(rows), serving=()), NAMES, ())
    (given_up,) = losses(asked, standings(asked.facts, ("n1",))[0])
    assert given_up.typed == f"lose {rows} of n3"


def with_views(one: HostFacts, views: tuple[PrimaryView, ...]) -> HostFacts:
    return changed(one, trace=replace(one[Traces].trace or Trace(), views=views))


# -- never less than what is lost --------------------------------------------------------------------------------------


def test_that_servers_of_one_id_that_wrote_at_one_second_are_counted_from_where_the_views_part() -> None:
    """Behind the fork both logs have the same Xids, server id and times by chance; then one wrote on."""
    alike = written(SHARED + 1, SHARED + 6, 41, 16)
    ours = (*ALL, *alike, *written(SHARED + 7, SHARED + 20, 41, 17))
    theirs = (*ALL, *alike, *written(SHARED + 7, SHARED + 20, 41, 18))
    met, mine, other = (
        PrimaryView(UUID, at, tuple((f"{n:08}{UUID[8:]}", f"n{n}") for n in numbers))
        for at, numbers in ((1, (1, 3)), (SHARED + 1, (3,)), (SHARED + 1, (1,)))
    )
    start = len(ours) - 32
    trace = Trace((met, mine), ours)
    joiner = Side("n3", UUID, SHARED + 20, serves=False, trace=trace)
    donor = Side(
        "n1", UUID, SHARED + 20, serves=True, trace=Trace((met, other), theirs, since=(("n3", theirs[start:]),))
    )
    found = compared(joiner, donor)
    assert (found.shared_to, found.by_logs) == (SHARED, False)
    blind = compared(joiner, replace(donor, trace=replace(donor.trace, views=())))
    assert (blind.shared_to, blind.by_logs) == (SHARED + 6, False)
    assert among((blind, found)).shared_to == SHARED


def test_that_of_what_no_binary_log_shows_the_least_counts_as_shared() -> None:
    few, more, shown = (Histories("forked", "", at, by_logs=at == 30) for at in (50, 99, 30))
    assert among((more, few)) == few
    assert among((few, more, shown)).shared_to == 30
    assert among((Histories("forked", ""), Histories("same", "", 99))).shared_to is None


@pytest.mark.parametrize("hour", [14, 16])
def test_that_a_state_that_was_started_from_again_is_counted_whole_whatever_its_clock_said(hour: int) -> None:
    """n3 was put back to 95 and wrote 96 to 130 anew: what it had there before is the others', and no longer its."""
    theirs: Log = ((*ALL, *written(81, 110, 41), *written(111, 150, 41, 16)),)
    logs = {"n1": theirs, "n2": theirs, "n3": ((*ALL, *written(81, 110, 41)), written(96, 130, 43, hour))}
    asked = party(seen(logs, {"n1": 150, "n2": 150, "n3": 130}, serving=()), NAMES, ())
    (given_up,) = losses(asked, standings(asked.facts, ("n1",))[0])
    assert given_up.count is None or given_up.count >= 35


def test_that_a_count_that_may_hold_shared_transactions_says_so() -> None:
    counted = ((extracted_name("n3"), "60 transactions, 0 statements, tables: shop.orders (60 rows)"),)
    known = seen(fork(60), ends(60), serving=("n1", "n2"))
    known = replace(known, kept=(*known.kept, *counted))
    assert loss(known, "n3").startswith("60 transactions of n3 (shop.orders (60 rows)), kept in ")
    logs = fork(60)
    logs["n1"] = logs["n2"] = (logs["n1"][1],)  # both logs begin after the fork: where it was is not known
    unknown = seen(logs, ends(60), serving=("n1", "n2"))
    unknown = replace(unknown, kept=(*unknown.kept, *counted))
    assert file_of(unknown, "n3").endswith("-all.sql")
    assert "(shop.orders (60 rows)), some of which the others may have, kept in " in loss(unknown, "n3")


def test_that_a_bootstrap_says_at_most_where_views_alone_tell_the_fork() -> None:
    def of(*numbers: int, at: int) -> PrimaryView:
        return PrimaryView(UUID, at, tuple((f"{n:08}{UUID[8:]}", f"n{n}") for n in numbers))

    ours, theirs = (of(1, 2, 3, at=1), of(1, 2, at=81)), (of(1, 2, 3, at=1), of(3, at=81))
    nodes = [down(n, trace=Trace(theirs if n == "n3" else ours)) for n in NAMES]
    kept = tuple((f"recovered-{name}", f"{UUID}:{end}") for name, end in ends(60).items())
    asked = party(facts(*nodes, kept=kept), NAMES, ())
    found = {loss.host: loss for loss in losses(asked, standings(asked.facts, ("n1",))[0])}["n3"]
    assert found.typed == "lose 59 of n3"  # the change of the component took one
    assert "with at most 59 write sets" in found.said
