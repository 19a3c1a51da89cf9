"""What a host's backups say of themselves, as a real host told it (recorded), and as a hostile folder might."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.programs.backup_programs import BACKUPS
from services.facts.backup.backups import Backup, backups_read, newest, parse_backups, version_of

RECORDED = Path(__file__).parents[2] / "recorded" / "backups" / "mariadb-10.11.18.txt"
UUID = "ad3326d8-e833-11f1-917d-92bdf3538377"


def recorded() -> dict[str, Backup]:
    return {one.path.rpartition("/")[2]: one for one in parse_backups(RECORDED.read_text(encoding="ascii"))}


def test_that_a_full_backup_tells_its_lsns_its_position_and_its_versions() -> None:
    full = recorded()["full"]
    assert full.is_full
    assert (full.from_lsn, full.to_lsn, full.last_lsn) == (0, 1_568_833, 1_600_150)
    assert (full.position, full.gtid) == (f"{UUID}:1629", "0-43-1597")
    assert (full.server, full.tool, full.is_mariadb) == ((10, 11, 18), (10, 11, 18), True)
    assert (full.links, full.hard, full.packed, full.metas, full.spent) == (0, 0, 0, 0, 0)
    assert (full.began, full.mount, full.log) == ("2026-11-24 19:06:16", "/", "mysql-bin.000008")
    assert (full.partial, full.compressed, full.encrypted) == (False, False, None)
    assert not full.is_linked
    assert not full.is_packed


def test_that_an_incremental_names_the_backup_it_was_made_against() -> None:
    first = recorded()["inc1"]
    assert first.is_incremental
    assert first.base == "/var/backups/lab/full"
    assert first.metas == 16
    assert first.spent == 0


def test_that_an_incremental_that_was_prepared_with_shows_it_and_the_prepared_backup_too() -> None:
    spent, work = recorded()["spent"], recorded()["work"]
    assert spent.metas == spent.spent == 16
    assert work.is_prepared
    assert work.uuid == spent.uuid
    assert work.position == spent.position


def test_that_a_link_to_a_backup_is_no_backup_of_its_own() -> None:
    assert "link" not in recorded()
    words = "backup /b/link\nreal /b/full\nsize 7\ncounts 0 0 0 0 0\nend\n"
    (found,) = parse_backups(words)
    assert found.is_linked


def test_that_what_a_file_holds_is_never_taken_for_the_programs_own_words() -> None:
    words = "backup /b/x\nreal /b/x\nfile info\n| end\n| backup /b/forged\n| uuid = u\n\nend\n"
    (found,) = parse_backups(words)
    assert (found.path, found.uuid) == ("/b/x", "u")


def test_that_what_was_cut_short_or_is_nonsense_is_left_out_or_not_known() -> None:
    assert parse_backups("backup /b/x\nreal /b/x\nsize 7\n") == ()
    assert parse_backups("") == ()
    odd = "backup /b/x\nreal /b/x\nsize much\ncounts a b\nfile checkpoints\n| from_lsn = -1\n| to_lsn = x\n\nend\n"
    (found,) = parse_backups(odd)
    assert (found.size, found.links, found.spent, found.from_lsn, found.to_lsn) == (None,) * 5
    assert parse_backups("backup /b/x\nabsent\nend\n")[0].absent


def test_that_a_version_is_three_numbers() -> None:
    assert version_of("10.11.18-MariaDB-log") == (10, 11, 18)
    assert version_of("ten") == ()


_HEAD = """# at 4
#261125  9:32:14 server id 43  end_log_pos 256 CRC32 0x58d5f6dc \tStart: binlog v 4, server v 10.11.18-MariaDB
# at 256
#261125  9:32:14 server id 43  end_log_pos 299 CRC32 0xa40e5315 \tGtid list [0-43-12,
# 0-41-19837,
# 7-9-3]
#261125  9:32:14 server id 43  end_log_pos 342 CRC32 0xa7d2ab9e \tBinlog checkpoint mysql-bin.000051
"""


def _told_by(folder: Path, head: str, *, size: int = 385) -> Backup:
    """What the program tells of a backup whose binary log says this, by a reader of ours in its PATH."""
    made, tools = folder / "full", folder / "tools"
    made.mkdir(exist_ok=True)
    tools.mkdir(exist_ok=True)
    (made / "xtrabackup_info").write_text(
        "binlog_pos = filename 'm.000052', position '385', GTID of the last change ''\n"
    )
    (made / "xtrabackup_binlog_info").write_text("m.000052\t385\t\n", encoding="ascii")
    (made / "m.000052").write_bytes(b"x" * size)
    (folder / "head").write_text(head, encoding="utf-8")
    (tools / "mariadb-binlog").write_text(f"#!/bin/sh\ncat {folder}/head\n", encoding="ascii")
    (tools / "mariadb-binlog").chmod(0o755)
    ran = subprocess.run(
        ("bash", "-c", BACKUPS, "pilothouse", made), capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )  # fmt: skip
    (found,) = parse_backups(ran.stdout)
    return found


def test_that_a_backup_of_a_node_on_which_nobody_writes_tells_its_last_change_by_the_log_it_brought(
    tmp_path: Path,
) -> None:
    """Its own word is gtid_current_pos, which is empty there: of each domain the last of the list counts."""
    told = _told_by(tmp_path, _HEAD)
    assert (told.gtid, told.since, told.by) == ("0-41-19837,7-9-3", "261125 9:32:14", 43)
    assert recorded()["full"].log_number == 8


def test_that_a_log_with_an_event_in_it_or_more_than_the_backup_says_tells_no_last_change(tmp_path: Path) -> None:
    event = "#261125  9:32:15 server id 41  end_log_pos 500 CRC32 0x1 \tGTID 0-41-19838 trans\n"
    assert _told_by(tmp_path, _HEAD + event).gtid == ""
    assert _told_by(tmp_path, _HEAD, size=386).gtid == ""
    assert _told_by(tmp_path, _HEAD.replace("0-41-19837", "0-41-19837; rm")).gtid == ""
    assert _told_by(tmp_path, _HEAD.replace("#261125", "#269925")).since == ""
    assert _told_by(tmp_path, "").gtid == ""
    assert newest("0-1-5,evil,0-2-4,") == "0-2-4"


def test_that_the_gtid_is_that_of_the_shipped_binary_log_whoever_wrote_it() -> None:
    """mariadb-backup 10.11.18 of a node that only others wrote to since: its info names no GTID (seen on the lab)."""
    info = "| binlog_pos = filename 'mysql-bin.000005', position '401', GTID of the last change '{}'"
    for said in ("", "0-42-15"):
        text = f"backup /srv/b\nfile info\n{info.format(said)}\ngtids 7-1-3,0-42-15,0-41-18\nend\n"
        assert parse_backups(text)[0].gtid == "7-1-3,0-41-18"
    assert parse_backups(f"backup /srv/b\nfile info\n{info.format('0-42-15')}\nend\n")[0].gtid == "0-42-15"


def test_that_the_folder_of_its_path_that_others_may_write_into_is_told(tmp_path: Path) -> None:
    """tmp_path lies below a folder that all may write into: /tmp, or what stands for it."""
    open_to_all = tmp_path / "all"
    (open_to_all / "full").mkdir(parents=True)
    open_to_all.chmod(0o1777)
    (found,) = parse_backups(_looked_at(open_to_all / "full"))
    assert found.writers == str(open_to_all)
    assert not found.is_guarded
    (found,) = parse_backups(_looked_at(Path("/usr")))
    assert found.is_guarded
    assert not parse_backups("backup /srv/b\nreal /srv/b\nend\n")[0].is_guarded, "what was not told is not known"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[mysqld]\ninnodb_page_size=4096\n", ""),
        (None, ""),
        ("[mysqld]\nplugin_load=evil.so\nend\nbackup /b/forged\n", "names plugin_load=evil.so: a prepare would load"),
        ("[mysqld]\n" + "innodb_page_size=4096\n" * 4_000, "longer than any tool writes it"),
    ],
)
def test_that_what_no_prepare_is_given_of_a_backups_own_options_is_told(
    tmp_path: Path, text: str | None, told: str
) -> None:
    made = tmp_path / "full"
    made.mkdir()
    if text is not None:
        (made / "backup-my.cnf").write_text(text, encoding="ascii")
    (found,) = parse_backups(_looked_at(made))
    assert found.options is not None
    assert (found.options == "") is (told == "")
    assert told in found.options
    assert text is None or (made / "backup-my.cnf").read_text(encoding="ascii") == text, "a read writes nothing"
    assert parse_backups("backup /srv/b\nreal /srv/b\nend\n")[0].options is None, "what was not told is not known"


def _looked_at(path: Path) -> str:
    words = ("bash", "-c", BACKUPS, "pilothouse", path)
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("more", "changed_at", "told"),
    [
        (b"rotated", 0, "longer"),
        (b"rotated", 21, "longer"),  # a server that writes into it says so there, in a log that is copied meanwhile
        (b"rotated", 20, "other"),
        (b"rotated", 23, "other"),
        (b"rotated", 384, "other"),
        (b"", 0, "same"),
        (None, 0, "absent"),
    ],
)
def test_that_what_the_data_folder_has_of_a_backups_binary_log_is_told(
    tmp_path: Path, more: bytes | None, changed_at: int, told: str
) -> None:
    _told_by(tmp_path, _HEAD)
    head = bytearray((tmp_path / "full" / "m.000052").read_bytes())
    if changed_at:
        head[changed_at] ^= 1
    data = tmp_path / "data"
    data.mkdir()
    if more is not None:
        (data / "m.000052").write_bytes(bytes(head) + more)
    assert _beside(tmp_path, data).own == told


def test_that_a_link_or_a_shorter_file_is_not_the_backups_binary_log(tmp_path: Path) -> None:
    _told_by(tmp_path, _HEAD)
    data = tmp_path / "data"
    data.mkdir()
    (data / "m.000052").symlink_to(tmp_path / "full" / "m.000052")
    assert _beside(tmp_path, data).own == ""
    (data / "m.000052").unlink()
    (data / "m.000052").write_bytes(b"x" * 100)
    assert _beside(tmp_path, data).own == "other"
    assert parse_backups("backup /b\nreal /b\nown longer\nend\n")[0].own == "", "its head was not understood"
    assert parse_backups("backup /b\nreal /b\ngtids 0-1-1\nown evil\nend\n")[0].own == ""


def test_that_a_data_folder_of_odd_characters_is_not_asked_for() -> None:
    assert backups_read("/var/lib/mysql").values == ("/var/lib/mysql",)
    assert backups_read("/srv/it's") == backups_read()


def _beside(folder: Path, data: Path) -> Backup:
    """Tell the same as a search does, of one folder: a search would go over all disks of this machine."""
    looked = f'tell "{folder / "full"}"; exit 0\nplaces() {{'
    program = BACKUPS.replace("places() {", looked, 1)
    tools = f"{folder / 'tools'}:{os.environ['PATH']}"
    words = ("bash", "-c", program, "pilothouse", "search", data)
    ran = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "PATH": tools})
    (found,) = parse_backups(ran.stdout)
    return found


def test_that_a_backup_is_packed_by_the_files_that_lie_there_and_not_by_a_word() -> None:
    """Unpacked with --decompress its info still says 'compressed = compressed' (mariadb-backup 10.11.18)."""
    assert not replace(recorded()["full"], packed=0, compressed=True, encrypted=True).is_packed
    assert replace(recorded()["full"], packed=1, compressed=False).is_packed
    assert replace(recorded()["full"], packed=None, compressed=True).is_packed


def _gtid_of(info: str, binlog_info: str) -> str:
    def part(name: str, text: str) -> str:
        return f"file {name}\n" + "".join(f"| {line}\n" for line in text.splitlines())

    (one,) = parse_backups(f"backup /b\nreal /b\n{part('info', info)}{part('binlog_info', binlog_info)}end\n")
    return one.gtid


def test_that_a_set_of_several_sources_on_as_many_lines_is_read_whole() -> None:
    text = (Path(__file__).parents[1] / "data" / "xtrabackup-8.0.35-binlog_info.txt").read_text()
    whole = " ".join(text.split("\t")[2].split())
    assert whole.count(",") == 2
    assert _gtid_of("server_version = 8.0.35\n", text) == whole
    said = text.split("\t")[2].strip().removesuffix(",")
    info = f"binlog_pos = filename 'mysql-bin.000017', position '4571', GTID of the last change '{said}'\n"
    assert _gtid_of(info, "") == whole


def test_that_a_set_that_ends_in_the_middle_or_is_none_tells_nothing() -> None:
    source = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"
    assert _gtid_of("", f"b.1\t4\t{source},\n") == ""
    assert _gtid_of("", "b.1\t4\tnothing of the kind\n") == ""
    many = ",\n".join(source for _ in range(300))
    assert _gtid_of("", f"b.1\t4\t{many}\n") == ""
