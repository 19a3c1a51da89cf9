"""sst-tuning on real servers: measured, set on all nodes at once, proven by a real SST; refused; killed; taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.plan.looks import AT_THE_END
from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import wait_until
from tests.lab.procedures.console.secret_search import SecretSearch
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.obstacles import (
    assert_refused,
    disk_nearly_full,
    option_file,
    setting,
    shell,
    together,
)
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

PAIR: dict[str, object] = {"donor": "s1", "joiner": "s3", "compressor": "pigz"}
SMALL: dict[str, object] = {"each_part": "2 s", "most_sent": "64 MiB", "most_packed": "8 MiB"}
TUNE = {**PAIR, **SMALL}
HOLD = "/etc/systemd/system/mariadb.service.d/90-pilothouse-joins.conf"


def _sections(estate: Estate) -> dict[str, str]:
    return {name: estate.host(name).sh("my_print_defaults sst").out for name in members(estate)}


def test_that_what_is_measured_is_set_on_all_nodes_and_a_real_sst_is_held_against_the_forecast(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    with SecretSearch(steer, tmp_path, steer.client_dir) as search, Writer(steer, members(steer)[:2]) as writer:
        ran = console.run("sst-tuning", "--confirm", "s3", **TUNE, trial="s3")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        search.assert_none(ran.out, ran.err)
        writer.assert_nothing_lost()
    sections = _sections(steer)
    assert len(set(sections.values())) == 1, sections
    assert sections["s1"].splitlines()[:2] == ["--compressor=pigz -1 -p 1", "--decompressor=pigz -d"]
    told = [said for name, said in view.kept if name.startswith(AT_THE_END)]
    assert len(told) == 1
    assert "were forecast (pigz with 1 thread)" in told[0]
    again = console.run("sst-tuning", **TUNE)
    assert again.code == 0, again
    assert console.assert_ended(RunState.DONE, again).steps[-1].step.step_id == "told"
    assert _sections(steer) == sections


NO_MATCH = option_file(
    "s1", "[sst]\ncompressor=pigz\ndecompressor=pigz -d\ncompressor=pigz\n[mariabackup]\ncompress=quicklz\n"
)
NO_PIGZ = shell("s2", "mv /usr/bin/pigz /usr/bin/pigz.away", "mv /usr/bin/pigz.away /usr/bin/pigz")
LINES = f"[Service]\\nExecStartPre=/bin/sh -c 'while grep -qs pilothouse {HOLD}; do sleep 1; done'\\n"
HELD = shell("s3", f'mkdir -p {HOLD.rpartition("/")[0]}; printf "{LINES}" > {HOLD}', f"rm -f {HOLD}")
RSYNC = setting("s1", "wsrep_sst_method", "'rsync'", "'mariabackup'")
SCRIPT = shell(
    "s2",
    "setsid bash -c 'exec -a wsrep_sst_mariabackup sleep 300' >/dev/null 2>&1 & sleep 0.3",
    "pkill -f '[w]srep_sst_mariabackup'; true",
)
SESSION = shell("s3", "setsid mariadb -e 'SELECT SLEEP(60)' >/dev/null 2>&1 & sleep 0.5", "pkill -f '[S]LEEP'; true")


def test_that_what_would_break_a_transfer_is_refused_before_anything_is_measured(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with together(NO_MATCH, NO_PIGZ, HELD, RSYNC, SCRIPT, SESSION, disk_nearly_full("s3"))(steer):
        ran = console.run("sst-tuning", "--json", "--confirm", "s3", **TUNE, trial="s3", prepare_memory="900 GiB")
    for code in (
        "COMPRESSED-TWICE", "COMPRESSOR-MISMATCH", "JOINS-HELD", "NO-SST", "SST-ALIKE", "SST-METHOD", "SST-ONE-PLACE",
        "TRIAL-DISK", "TRIAL-NODE", "TUNING-TOOLS", "USE-MEMORY",
    ):  # fmt: skip
        assert_refused(ran, code)
    assert console.runs() == ()
    whole.assert_as_before()


def _parts_of_noise(estate: Estate) -> int:
    """Return how many parts of 25 MiB outweigh what other tests left: each of 8 looks at the data has to meet noise.

    The looks stand an eighth apart, the largest file first, so that whatever is a seventh of the noise gets one of its
    own, and one look of 8 at data that can be packed is a ratio below 0.9.
    """
    sizes = estate.host("s1").sh("find /var/lib/mysql -name '*.ibd' -size +1023k -printf '%s\\n'").out.split()
    others = sum(map(int, sizes)) // 2**20
    return max(4, -(-(8 * others + 32) // 25))


@pytest.mark.long
def test_that_a_compressor_for_data_that_can_not_be_packed_is_refused_once_it_was_measured(
    steer: Estate, console: Console, whole: Whole
) -> None:
    dirty = "variable_name = 'INNODB_BUFFER_POOL_PAGES_DIRTY'"
    flushed = f"SELECT variable_value < 50 FROM information_schema.global_status WHERE {dirty}"
    steer.sql("s1", "CREATE DATABASE noise")
    steer.sql("s1", "CREATE TABLE noise.t (id INT PRIMARY KEY, d MEDIUMBLOB)")
    steer.sql("s1", "SET GLOBAL innodb_max_dirty_pages_pct = 0")  # what is in no file yet is zeros in the sample
    try:
        for start in range(1, 400 * _parts_of_noise(steer), 400):
            rows = f"SELECT seq, ENCODE(REPEAT('x', 64512), seq) FROM noise.seq_{start}_to_{start + 399}"
            steer.sql("s1", f"INSERT INTO noise.t {rows}", limit_s=60)
        wait_until(
            "flushed pages",
            lambda: None if steer.sql("s1", flushed) == [["1"]] else "pages are dirty",
            limit_s=60.0,
        )
        ran = console.run("sst-tuning", **TUNE)
    finally:
        steer.sql("s1", "SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT")
        steer.sql("s1", "DROP DATABASE noise", limit_s=60)
    assert ran.code == 3, ran  # begun, refused at its second part, taken back
    view = console.assert_ended(RunState.UNDONE, ran)
    assert any(s.step.step_id == "forecast" and "RATIO" in s.error for s in view.steps), ran
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_run_killed_between_two_files_is_taken_back_or_goes_on_and_no_node_differs(
    steer: Estate, console: Console, whole: Whole
) -> None:
    killed = console.killed_run("section-s2=acting", "sst-tuning", **TUNE)
    assert killed.code == KILLED, killed
    assert {f"joins:{name}" for name in members(steer)} <= set(console.open_obligations())
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert set(_sections(steer).values()) == {""}
    whole.assert_as_before()

    assert console.killed_run("section-s2=done", "sst-tuning", **TUNE).code == KILLED
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code == 0, resumed
    console.assert_ended(RunState.DONE, resumed)
    sections = _sections(steer)
    assert len(set(sections.values())) == 1, sections
    assert "--compressor=pigz" in sections["s3"]
