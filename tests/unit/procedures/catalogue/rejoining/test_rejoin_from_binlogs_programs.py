"""The programs of rejoin-from-binlogs in a real shell: a copy alone is prepared, a server that is gone never counts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.shared import private_programs as private
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting_output import Masks, judged
from tests.entered_by_others import entered

U = "0a9baafc-e833-11f1-988e-8319290952fc"
TOOL = "#!/bin/sh\nfor one; do :; done\necho changed > ${one#--target-dir=}/ibdata1\necho 'completed OK!'\n"


def _places(tmp_path: Path) -> tuple[Path, Path]:
    """A backup, and where its copy goes: a folder that only we may write into."""
    backup, place, tool = tmp_path / "backup", tmp_path / "place", tmp_path / "tool"
    entered(tmp_path)
    backup.mkdir()
    place.mkdir(mode=0o755)
    (backup / "ibdata1").write_text("as it was", encoding="ascii")
    (backup / "xtrabackup_galera_info").write_text(f"{U}:7 0\n", encoding="ascii")
    tool.write_text(TOOL, encoding="ascii")
    tool.chmod(0o755)
    return backup, place


def _prepare(tmp_path: Path, wanted: str = f"{U}:7") -> subprocess.CompletedProcess[str]:
    words = (tmp_path / "backup", tmp_path / "place" / "work", tmp_path / "tool", wanted)
    return subprocess.run(
        ["bash", "-c", PREPARE, "pilothouse", *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )


def test_that_a_copy_is_prepared_and_never_the_backup_nor_what_shares_its_files(tmp_path: Path) -> None:
    backup, place = _places(tmp_path)
    (tmp_path / "other").hardlink_to(backup / "ibdata1")
    ran = _prepare(tmp_path)
    assert ran.returncode == 0, ran
    assert (backup / "ibdata1").read_text(encoding="ascii") == "as it was"
    assert (tmp_path / "other").read_text(encoding="ascii") == "as it was"
    assert (place / "work" / "ibdata1").read_text(encoding="ascii") == "changed\n"


def test_that_a_prepare_may_read_what_the_backup_says_of_its_pages(tmp_path: Path) -> None:
    """--no-defaults would keep it from backup-my.cnf: it dies on a backup with other pages (lab: test_page_size.py)."""
    _, place = _places(tmp_path)
    (tmp_path / "tool").write_text(
        TOOL.replace("echo changed", 'echo "$*" > ${one#--target-dir=}/words\necho changed'), encoding="ascii"
    )
    assert _prepare(tmp_path).returncode == 0
    assert (place / "work/words").read_text(encoding="ascii").split()[0] == "--prepare"


def test_that_a_prepare_that_could_not_open_a_table_is_none_though_it_ends_with_ok(tmp_path: Path) -> None:
    """mariadb-backup 10.11.18, tried: a grant that stood in Aria's log alone was lost."""
    _, place = _places(tmp_path)
    warning = "***WARNING: ./mysql/db could not be opened: Error: 13"
    (tmp_path / "tool").write_text(TOOL.replace("echo changed", f"echo '{warning}'\necho changed"), encoding="ascii")
    ran = _prepare(tmp_path)
    assert (ran.returncode, warning in ran.stdout) == (9, True), ran
    assert not (place / "work").exists()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda b, _: (b / "linked").symlink_to("/etc"), "not a plain file or folder"),
        (lambda b, _: (b / "t.isl").write_text("/srv/t.ibd"), "not a plain file or folder"),
        (lambda _, place: place.chmod(0o777), "others than root"),
        (lambda b, _: (b / "xtrabackup_galera_info").write_text(f"{U}:8 0\n"), "not at"),
    ],
)
def test_that_links_tables_elsewhere_a_folder_of_others_and_another_place_are_refused(
    tmp_path: Path, spoil: object, told: str
) -> None:
    backup, place = _places(tmp_path)
    spoil(backup, place)  # type: ignore[operator]
    ran = _prepare(tmp_path)
    assert ran.returncode == 9
    assert told in ran.stdout
    assert not (place / "work").exists()
    assert (backup / "ibdata1").read_text(encoding="ascii") == "as it was"


def test_that_the_log_of_a_prepare_is_never_written_through_a_link(tmp_path: Path) -> None:
    _places(tmp_path)
    target = tmp_path / "target"
    target.write_text("mine", encoding="ascii")
    (tmp_path / "place" / "work.part.log").symlink_to(target)
    assert _prepare(tmp_path).returncode == 0
    assert target.read_text(encoding="ascii") == "mine"


@pytest.mark.parametrize(
    ("server", "code"),
    [
        ("trap 'exit 0' TERM; while :; do sleep 0.05; done", 0),
        ("trap 'exit 1' TERM; while :; do sleep 0.05; done", 33),
        ("exit 0", 33),
        ("kill -KILL $$", 33),
    ],
)
@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_a_private_server_that_is_gone_before_it_is_ended_never_counts(
    program: str, server: str, code: int
) -> None:
    begin, end = program.index("ended() {"), program.index("trap 'end_server")
    script = 'failed() { echo "$1"; exit "$2"; }\n' + program[begin:end]
    script += 'bash -c "$1" & pid=$!; sleep 0.4\nstop_server\necho through'
    ran = subprocess.run(
        ["bash", "-c", script, "test", server], capture_output=True, text=True, timeout=20, check=False
    )
    assert ran.returncode == code, ran
    assert ("through" in ran.stdout) is (code == 0)


@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_the_private_servers_are_told_one_folder_and_end_strictly(program: str) -> None:
    for option in ("innodb-data-home-dir", "innodb-log-group-home-dir", "innodb-undo-directory", "aria-log-dir-path"):
        assert f'--{option}="$data"' in program
    assert "\nstop_server\n" in program
    assert "noclobber" in program
    assert "$data/pilothouse" not in program


@pytest.mark.parametrize(
    ("answer", "code"), [("STRICT\\tOFF\\tNO", 0), ("IDEMPOTENT\\tOFF\\tNO", 9), ("STRICT\\t1062\\tNO", 9), ("", 9)]
)
@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_a_private_server_applies_rows_strictly_or_nothing_goes_on(program: str, answer: str, code: int) -> None:
    """Its option files may say otherwise: its own words come behind theirs, and what it is then is asked."""
    for option in ("slave-exec-mode=STRICT", "slave-skip-errors=OFF", "slave-run-triggers-for-rbr=NO"):
        assert f"--{option}" in program
    begin = program.index("[ \"$(ask 'SELECT @@slave_exec_mode")
    script = 'failed() { echo "$1"; exit 9; }\nask() { printf "' + answer + '\\n"; }\n'
    script += program[begin : program.index("\n}", begin)]
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == code, ran


@pytest.mark.parametrize(
    ("answer", "code"), [("replicate_rewrite_db\\t", 0), ("", 0), ("replicate_rewrite_db\\ta->b", 9), ("ERROR 2002", 9)]
)
@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_a_private_server_that_sends_rows_into_another_schema_gets_none(
    program: str, answer: str, code: int
) -> None:
    """Before 10.11 there is no such variable: nothing is told of it."""
    begin = program.index("case $(ask \"SHOW GLOBAL VARIABLES LIKE 'replicate_rewrite_db'\")")
    script = 'failed() { echo "$1"; exit 9; }\nask() { printf "' + answer + '\\n"; }\n'
    script += program[begin : program.index("esac", begin) + 4]
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == code, ran


@pytest.mark.parametrize(
    ("answer", "code"),
    [("0", 0), ("--\\nERROR 1146 (42S02) at line 1", 0), ("3", 9), ("ERROR 2013 (HY000)", 9), ("", 9)],
)
def test_that_data_with_a_transaction_of_streaming_replication_begun_get_no_replay(answer: str, code: int) -> None:
    begin = private.REPLAY.index("case $(open_parts)")
    script = 'failed() { echo "$1"; exit 9; }\nopen_parts() { echo \'' + answer + "'; }\n"
    script += private.REPLAY[begin : private.REPLAY.index("esac", begin) + 4]
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert ran.returncode == code, ran


@pytest.mark.parametrize(
    ("base", "index", "code"),
    [("data/b", "data/b.index", 0), ("old/b", "data/b.index", 27), ("data/b", "old/b.index", 27), ("", "", 27)],
)
def test_that_no_binary_log_outside_the_data_folder_is_begun_anew(
    tmp_path: Path, base: str, index: str, code: int
) -> None:
    for name in ("data", "old"):
        (tmp_path / name).mkdir()
    begin = private.POSITION.index("  for one in log_bin_basename")
    part = private.POSITION[begin : private.POSITION.index("  ask ", begin)]
    script = 'failed() { exit "$2"; }\nask() { case $1 in *index) echo "$index";; *) echo "$base";; esac; }\n'
    ran = subprocess.run(
        ["bash", "-c", script + part], cwd=tmp_path, env={"data": "data", "base": base, "index": index},
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert ran.returncode == code, ran
    assert private.POSITION.index("RESET MASTER") > begin


@pytest.mark.parametrize(
    ("first", "last", "code"), [(9, 8, 0), (9, 99, 0), (5, 8, 22), (10, 8, 22), (9, 3, 22), (-1, 8, 22)]
)
def test_that_files_that_are_not_as_they_were_read_are_never_replayed(
    tmp_path: Path, first: int, last: int, code: int
) -> None:
    """A file that was cut off at an event's end meanwhile ends well, and the GTID at the chain's end is the right one.

    The last one may have grown: it is read up to a place.
    """
    for name, size in (("b.000001", first), ("b.000002", last)):
        if size >= 0:
            (tmp_path / name).write_bytes(b"x" * size)
    begin = private.REPLAY.index("as_read() {")
    script = 'stop=7\nfailed() { exit "$2"; }\n' + private.REPLAY[begin : private.REPLAY.index("printf 'begun", begin)]
    ran = subprocess.run(
        ["bash", "-c", script, "pilothouse", "b.000001:9", "b.000002:8"],
        cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert ran.returncode == code, ran
    assert private.REPLAY.count('as_read "$@"') == 2  # before the first change, and behind the last


@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_roots_client_gives_no_file_to_whoever_answers_on_the_private_socket(program: str) -> None:
    calls = [line for line in program.splitlines() if '"$client"' in line]
    assert calls
    assert all("--no-defaults --local-infile=0 " in line for line in calls)


@pytest.mark.parametrize("program", [private.REPLAY, private.POSITION])
def test_that_a_private_server_that_failed_is_told_by_why_and_not_by_its_logs_last_line(
    program: str, tmp_path: Path
) -> None:
    """'Access denied for user mysql' was all that a person read of accounts without unix_socket."""
    log = tmp_path / "server.log"
    log.write_text("ready for connections.\n[Warning] Access denied for user 'mysql'@'localhost'\n")
    begin = program.index("say() {")
    script = f"{program[begin : program.index('folder=', begin)]}log=$1\nfailed 'neither is let in' 11\n"
    ran = subprocess.run(["bash", "-c", script, "x", str(log)], capture_output=True, text=True, timeout=20, check=False)
    with pytest.raises(ActFailed, match="exit code 11: failed: neither is let in"):
        judged("replay", (ran.returncode, ran.stdout, ran.stderr), host="n3", ok=(0,), keep="", pattern="",
               masks=Masks())  # fmt: skip
