"""What a host's backups say of themselves, as a real host told it (recorded), and as a hostile folder might."""

from __future__ import annotations

from pathlib import Path

from services.facts.backups import Backup, parse_backups, version_of

RECORDED = Path(__file__).parents[1] / "recorded" / "backups" / "mariadb-10.11.18.txt"
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
    told = "backup /b/link\nreal /b/full\nsize 7\ncounts 0 0 0 0 0\nend\n"
    (found,) = parse_backups(told)
    assert found.is_linked


def test_that_what_a_file_holds_is_never_taken_for_the_programs_own_words() -> None:
    told = "backup /b/x\nreal /b/x\nfile info\n| end\n| backup /b/forged\n| uuid = u\n\nend\n"
    (found,) = parse_backups(told)
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


def test_that_the_gtid_is_that_of_the_shipped_binary_log_whoever_wrote_it() -> None:
    """mariadb-backup 10.11.18 of a node that only others wrote to since: its info names no GTID (seen on the lab)."""
    info = "| binlog_pos = filename 'mysql-bin.000005', position '401', GTID of the last change '{}'"
    for said in ("", "0-42-15"):
        text = f"backup /srv/b\nfile info\n{info.format(said)}\ngtids 7-1-3,0-42-15,0-41-18\nend\n"
        assert parse_backups(text)[0].gtid == "7-1-3,0-41-18"
    assert parse_backups(f"backup /srv/b\nfile info\n{info.format('0-42-15')}\nend\n")[0].gtid == "0-42-15"
