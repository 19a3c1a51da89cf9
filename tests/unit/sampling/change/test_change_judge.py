"""What a comparison says of made-up samples, and above all when it says that it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from services.errors import BadInput
from services.sampling.change.judge import LOAD, USUAL, compare, equal
from services.sampling.change.model import Asked, Change, Comparison, Direction, Shift, Size, Window
from services.sampling.change.words import caveat, footnote, row, span_words, summary, verdict_words
from services.sampling.metrics.catalogue import load_catalogue
from services.series import Array, Series
from tests.unit.sampling.change_series import NOW, cut_from, remembering, second_by_second

LATENCY, CPU = "disk.write_latency", "cpu.available"
BEFORE, AFTER = Window(NOW, NOW + 600), Window(NOW + 660, NOW + 1_260)
ASKED = Asked(("db1",), BEFORE, AFTER, (LATENCY,))
SEED = 8


def noise(mean: float, spread: float = 1.0, seed: int = SEED) -> Array:
    return mean + spread * remembering(np.random.default_rng(seed), 1, 1_260, 0.5)[0]


def stepped(mean: float, by: float, spread: float = 1.0, seed: int = SEED) -> Array:
    return noise(mean, spread, seed) + np.where(np.arange(1_260) >= 630, by, 0.0)


STEADY = second_by_second(noise(1_000.0, 50.0, seed=1))


def judged(series: Mapping[str, Series], asked: Asked = ASKED, load: Series = STEADY) -> Comparison:
    whole = {("db1", key): one for key, one in {LOAD: load, **series}.items()}
    return compare(asked, cut_from(whole), load_catalogue())


def only(series: Series, asked: Asked = ASKED, load: Series = STEADY) -> Change:
    (change,) = judged({asked.metrics[0]: series}, asked, load).changes
    return change


def test_that_a_metric_that_rose_is_higher_by_what_it_rose() -> None:
    change = only(second_by_second(stepped(8.0, 3.0)))
    assert (change.verdict, change.why, change.size) == (Direction.HIGHER, "", Size.LARGE)
    assert change.typical is not None
    assert change.typical.low < 3.0 < change.typical.high
    assert change.typical.by == pytest.approx(3.0, abs=0.4)
    assert (change.title, change.unit, change.samples) == ("write latency", "ms", (600, 600))
    assert only(second_by_second(stepped(8.0, -3.0))).verdict is Direction.LOWER


def test_that_noise_shows_no_difference() -> None:
    change = only(second_by_second(noise(8.0)))
    assert (change.verdict, change.worst_verdict, change.why) == (Direction.NONE, Direction.NONE, "")
    assert verdict_words(change) == "no difference shown"


def test_that_stalls_that_an_average_hides_are_seen_in_the_worst_seconds() -> None:
    values = noise(8.0, 0.5)
    values[660:][10::25] += 12.0
    values[660:][11::25] -= 4.0
    values[660:][12::25] -= 4.0
    values[660:][13::25] -= 4.0
    change = only(second_by_second(values))
    assert (change.verdict, change.worst_verdict) == (Direction.NONE, Direction.HIGHER)
    assert verdict_words(change) == "no difference shown; worst seconds higher"


def test_that_the_worst_second_is_the_lowest_where_low_is_bad() -> None:
    values = noise(80.0, 0.5)
    values[660:][10::25] -= 40.0
    change = only(second_by_second(values), replace(ASKED, metrics=(CPU,)))
    assert change.worst is not None
    assert change.worst.after < 50.0
    assert change.worst_verdict is Direction.LOWER


def test_that_a_metric_without_samples_is_not_known_and_says_why() -> None:
    (change,) = judged({}).changes
    assert (change.verdict, change.why, change.typical) == (Direction.UNKNOWN, "missing", None)
    assert verdict_words(change) == "not known: This server does not report it."
    values = noise(8.0)
    values[:640] = np.nan
    change = only(second_by_second(values))
    assert (change.why, change.said) == ("missing", "Nothing was sampled before.")


def test_that_half_a_window_is_not_taken_for_the_whole() -> None:
    values = noise(8.0)
    values[660:960] = np.nan
    change = only(second_by_second(values))
    assert (change.why, change.said) == ("gaps", "Only 50 % of the time after was sampled.")


@pytest.mark.parametrize("seconds", [10, 120, 299])
def test_that_short_windows_show_nothing_however_far_apart_they_are(seconds: int) -> None:
    asked = replace(ASKED, before=Window(NOW + 630 - seconds, NOW + 630), after=Window(NOW + 630, NOW + 630 + seconds))
    change = only(second_by_second(stepped(8.0, 500.0)), asked)
    assert (change.verdict, change.why) == (Direction.UNKNOWN, "few")
    assert change.said == "Windows shorter than 5 min show nothing."


def test_that_a_metric_that_drifts_has_too_few_independent_samples() -> None:
    change = only(second_by_second(np.linspace(0.0, 100.0, 1_260) + noise(0.0)))
    assert (change.verdict, change.why) == (Direction.UNKNOWN, "few")
    assert change.said.startswith("Too few independent samples: each second resembles those of the next ")
    assert change.typical is not None  # the numbers stand, the verdict does not
    assert span_words(change.typical, "ms") == "–"


def test_that_a_restart_between_the_windows_leaves_it_not_known() -> None:
    series = second_by_second(stepped(8.0, 3.0))
    change = only(series, load=replace(STEADY, restarts=(NOW + 640,)))
    assert (change.verdict, change.why) == (Direction.UNKNOWN, "restart")
    assert "between the windows: its caches were cold" in change.said
    assert change.typical is not None
    assert change.typical.by == pytest.approx(3.0, abs=0.4)
    change = only(series, load=replace(STEADY, restarts=(NOW + 100,)))
    assert "inside a window" in change.said
    change = only(series, replace(ASKED, despite=frozenset({"restart"})), replace(STEADY, restarts=(NOW + 640,)))
    assert (change.verdict, change.despite) == (Direction.HIGHER, ("restart",))
    assert "its caches were cold" in verdict_words(change)  # looked past is still told


def test_that_a_restart_outside_the_windows_does_not_matter() -> None:
    asked = replace(ASKED, before=Window(NOW + 20, NOW + 600), after=Window(NOW + 660, NOW + 1_240))
    for at in (NOW + 10, NOW + 1_250):
        assert only(second_by_second(stepped(8.0, 3.0)), asked, replace(STEADY, restarts=(at,))).why == ""


def test_that_another_load_leaves_all_but_the_load_itself_not_known() -> None:
    asked = replace(ASKED, metrics=(LOAD, LATENCY))
    busier = second_by_second(stepped(1_000.0, 400.0, 50.0, seed=1))
    load, latency = judged({LATENCY: second_by_second(stepped(8.0, 3.0))}, asked, busier).changes
    assert (load.verdict, load.why) == (Direction.HIGHER, "")
    assert (latency.verdict, latency.why) == (Direction.UNKNOWN, "load")
    assert latency.said.startswith("The load changed: Questions ")
    past = replace(asked, despite=frozenset({"load"}))
    _, latency = judged({LATENCY: second_by_second(stepped(8.0, 3.0))}, past, busier).changes
    assert (latency.verdict, latency.despite) == (Direction.HIGHER, ("load",))


def test_that_a_load_that_is_not_known_is_not_taken_for_the_same() -> None:
    latency = second_by_second(stepped(8.0, 3.0))
    (change,) = compare(ASKED, cut_from({("db1", LATENCY): latency}), load_catalogue()).changes
    assert (change.verdict, change.why) == (Direction.UNKNOWN, "load-unsure")
    wild = second_by_second(noise(1_000.0, 600.0, seed=1))
    change = only(latency, load=wild)
    assert change.why == "load-unsure"
    assert change.said.startswith("Whether the load was the same is not known: Questions ")


def test_that_an_idle_server_whose_console_asks_a_little_more_has_the_same_load() -> None:
    idle = second_by_second(stepped(3.0, 0.4, 0.2, seed=1))
    assert only(second_by_second(stepped(8.0, 3.0)), load=idle).verdict is Direction.HIGHER


def test_that_where_nobody_names_a_metric_what_no_server_offers_is_left_out() -> None:
    found = judged({LATENCY: second_by_second(noise(8.0))}, replace(ASKED, metrics=()))
    assert [change.metric for change in found.changes] == [LOAD, LATENCY]
    assert set(found.left_out) == set(USUAL) - {LOAD, LATENCY}


def test_that_more_comparisons_at_once_have_wider_intervals() -> None:
    series = second_by_second(stepped(8.0, 0.6))
    alone = only(series)
    crowd = Asked(tuple(f"db{n}" for n in range(1, 9)), BEFORE, AFTER, (LATENCY,))
    whole = {(server, key): one for server in crowd.servers for key, one in ((LATENCY, series), (LOAD, STEADY))}
    first = compare(crowd, cut_from(whole), load_catalogue()).changes[0]
    assert alone.typical is not None
    assert first.typical is not None
    assert first.typical.high - first.typical.low > alone.typical.high - alone.typical.low


def test_that_windows_that_overlap_or_end_before_they_begin_are_refused() -> None:
    for before, after in (
        (Window(NOW, NOW + 600), Window(NOW + 599, NOW + 900)),
        (Window(NOW + 600, NOW + 900), Window(NOW, NOW + 300)),
        (Window(NOW + 60, NOW), Window(NOW + 90, NOW + 300)),
    ):
        with pytest.raises(BadInput):
            judged({}, replace(ASKED, before=before, after=after))


def test_that_of_the_longer_window_the_part_next_to_the_change_is_used() -> None:
    assert equal(Window(0, 1_000), Window(1_100, 1_400)) == (Window(700, 1_000), Window(1_100, 1_400))
    assert equal(Window(900, 1_000), Window(1_100, 1_400)) == (Window(900, 1_000), Window(1_100, 1_200))


def test_that_the_same_samples_give_the_same_answer() -> None:
    series = second_by_second(stepped(8.0, 0.3))
    assert only(series) == only(series)


def test_that_a_row_says_every_number_with_its_unit_and_its_interval() -> None:
    change = Change("db1", LATENCY, "write latency", "ms", typical=Shift(8.0, 11.0, 3.0, 2.5, 3.5),
                    worst=Shift(10.0, 10.0, 0.0, -1.0, 1.0), delta=0.4)  # fmt: skip
    assert row(change) == (
        "db1", "write latency (disk.write_latency)", "8 ms", "11 ms", "+3 ms, +38 % (+2.5 to +3.5)",
        "0 ms (−1 to +1)", "higher, clearly",
    )  # fmt: skip
    bytes_ = Change("db1", "x", "x", "B/s", typical=Shift(1e6, 5e5, -5e5, -6e5, -4e5), delta=-0.1)
    assert row(bytes_)[1:5] == ("x", "1 MB/s", "500 kB/s", "−500 kB/s, −50 % (−600 kB/s to −400 kB/s)")
    assert verdict_words(bytes_) == "lower, barely"


def test_that_the_summary_counts_and_the_caveat_says_what_is_not_known() -> None:
    found = judged({LATENCY: second_by_second(stepped(8.0, 3.0))}, replace(ASKED, metrics=(LOAD, LATENCY, "no_such")))
    assert summary(found) == "1 metric differs, 1 shows no difference, 1 is not known."
    assert caveat(found) == (
        "In one comparison out of 100, the interval misses the true value. What else changed between the "
        "windows is not known."
    )


def test_that_what_stands_under_a_comparison_begins_with_why_nothing_is_known() -> None:
    asked = replace(ASKED, before=Window(NOW + 600, NOW + 630), after=Window(NOW + 640, NOW + 670))
    values = noise(8.0)
    values[605:625] = np.nan  # a gap in a window that is too short: longer ones are what helps
    found = judged({LATENCY: second_by_second(values)}, replace(asked, metrics=(LATENCY, LOAD)))
    assert footnote(found) == (
        "0 metrics differ, 0 show no difference, 2 are not known. Windows shorter than 5 min show nothing."
    )
    found = judged({LATENCY: second_by_second(values)}, replace(asked, metrics=(LATENCY, LOAD, "no_such")))
    assert footnote(found).endswith("3 are not known. Mostly: Windows shorter than 5 min show nothing.")
    known = judged({LATENCY: second_by_second(stepped(8.0, 3.0))})
    assert footnote(known) == f"{summary(known)} {caveat(known)}"


def test_that_a_stall_that_gives_no_samples_is_told_and_hides_nothing() -> None:
    values = noise(8.0)
    values[800:909] = np.nan
    change = only(second_by_second(values))
    assert (change.why, change.said) == ("gaps", "Nothing was sampled for 1 min 50 s after.")
