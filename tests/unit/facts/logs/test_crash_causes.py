"""What a server's last lines say that a start does not mend, in the servers' own words of 5.5 to 11; and what does not.

Each text is a few lines of a public report, which its name tells.
"""

from __future__ import annotations

import pytest

from services.facts.logs.causes import asserts, cause, disk_full, fails_again, moment_of, unstamped
from services.facts.machine.system import errors_of

MEMORY_55 = """150126 22:31:29 InnoDB: Initializing buffer pool, size = 128.0M
InnoDB: mmap(137363456 bytes) failed; errno 12
150126 22:31:29 InnoDB: Completed initialization of buffer pool
150126 22:31:29 InnoDB: Fatal error: cannot allocate memory for the buffer pool
150126 22:31:29 [ERROR] Plugin 'InnoDB' init function returned error.
150126 22:31:29 [ERROR] Unknown/unsupported storage engine: InnoDB
150126 22:31:29 [ERROR] Aborting"""
MEMORY_56 = "2016-03-28 01:18:40:InnoDB: mmap(137363456 bytes) failed; errno 12"
MEMORY_57 = """2016-12-29T15:17:43.851927Z 0 [ERROR] InnoDB: mmap(137428992 bytes) failed; errno 12
2016-12-29T15:17:43.852152Z 0 [ERROR] InnoDB: Cannot allocate memory for the buffer pool"""
THROWN = """terminate called after throwing an instance of 'std::bad_alloc'
  what():  std::bad_alloc
06:27:25 UTC - mysqld got signal 6 ;"""
PAGE_56 = """InnoDB: Database page corruption on disk or a failed
InnoDB: file read of page 5.
InnoDB: You may have to recover from a backup."""
PAGE_105 = """2021-09-13 21:44:43 0 [ERROR] InnoDB: Space id and page no stored in the page, read in are \
[page id: space=11, page number=2130], should be [page id: space=11, page number=264274]
2021-09-13 21:44:43 0x9a183d30  InnoDB: Assertion failure in file storage/innobase/btr/btr0cur.cc line 335
InnoDB: Failing assertion: btr_page_get_prev(get_block->frame) == block->page.id().page_no()"""
REDO_106 = "2023-05-31 10:38:24 0 [ERROR] InnoDB: Malformed log record; set innodb_force_recovery=1 to ignore."
FULL_103 = """2022-02-10 23:51:28 6 [Warning] mysqld: Disk is full writing \
'/data/log/binlog/mysql-bin-changelog.000001' (Errcode: 28 "No space left on device"). Waiting ..."""
FULL_100 = """InnoDB: 1048576 bytes should have been written, only 143360 were written.
InnoDB: Operating system error number 28.
InnoDB: Check also that the disk is not full or a disk quota exceeded.
InnoDB: Error number 28 means 'No space left on device'."""
FULL_80 = """2021-11-08T15:47:07.889209Z 1 [ERROR] [MY-012639] [InnoDB] Write to file ./ibtmp1 failed at offset \
1048576, 1048576 bytes should have been written, only 1040384 were written. Operating system error number 28."""
ASKED_57 = """2015-12-21T06:29:03.143647Z 2 [ERROR] InnoDB: posix_fallocate(): Failed to preallocate data for file \
./a/b.ibd, desired size 16384 bytes. Operating system error number {}. Check that the disk is not full or a disk quota \
exceeded. Make sure the file system supports this function."""
RECOVERED_57 = """2019-11-29T20:09:51.201257Z 0 [Warning] InnoDB: Database page corruption or a failed file read of \
page [page id: space=0, page number=440]. Trying to recover it from the doublewrite buffer.
2019-11-29T20:09:51.201289Z 0 [Note] InnoDB: Recovered page [page id: space=0, page number=440] from the doublewrite \
buffer."""
HINTS = """InnoDB: If you get repeated assertion failures or crashes, even
InnoDB: immediately after the mysqld startup, there may be
InnoDB: corruption in the InnoDB tablespace. Please refer to
This could be because you hit a bug. It is also possible that this binary
or one of the libraries it was linked against is corrupt, improperly built,
[Note] InnoDB: It is also possible that your operating system has corrupted its own file cache"""


def lines(text: str) -> tuple[str, ...]:
    return tuple(text.replace("\\\n", "").splitlines())


@pytest.mark.parametrize(
    ("text", "full"),
    [
        pytest.param(MEMORY_55, False, id="outroll/vesta#300"),
        pytest.param(MEMORY_56, False, id="docker-library/mysql#156"),
        pytest.param(MEMORY_57, False, id="docker-library/mysql#248"),
        pytest.param(THROWN, False, id="facebook/mysql-5.6#819"),
        pytest.param(PAGE_56, False, id="MySQL 5.6"),
        pytest.param(PAGE_105, False, id="home-assistant/core#56104"),
        pytest.param(REDO_106, False, id="bitnami/vms#954"),
        pytest.param(FULL_103, True, id="MDEV-27803"),
        pytest.param(FULL_100, True, id="geerlingguy/ansible-role-mysql#216"),
        pytest.param(FULL_80, True, id="nextcloud-snap/nextcloud-snap#1925"),
        pytest.param(ASKED_57.format(28), True, id="Optware/Optware-ng#28 with ENOSPC"),
        pytest.param("[ERROR] mysqld: Error writing file './ib' (OS errno 28 - No space)", True, id="mysys of 8"),
        pytest.param("[ERROR] mysqld: Can't create/write to file '/x' (Errcode: 30)", False, id="read-only"),
        pytest.param("[ERROR] InnoDB: Operating system error number 5 in a file operation.", False, id="EIO"),
    ],
)
def test_that_what_a_start_does_not_mend_is_found_however_a_server_spells_it(text: str, full: bool) -> None:
    errors = errors_of("\n".join(lines(text)))
    told = [line for line in errors if fails_again(line)]
    assert told
    assert any(map(disk_full, told)) is full


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ASKED_57.format(89), id="Optware/Optware-ng#28"),
        pytest.param(RECOVERED_57, id="nextcloud-snap/nextcloud-snap#1174"),
        pytest.param(HINTS, id="hints of every assertion and signal"),
        pytest.param("[Warning] InnoDB: HugeTLB: Failed to allocate 137363456 bytes. errno 12", id="falls back"),
        pytest.param("InnoDB: HugeTLB: Warning: Failed to allocate 137363456 bytes. errno 12", id="falls back, 5.5"),
        pytest.param("[ERROR] InnoDB: Cannot open './a.ibd'. OS error: 128", id="another number"),
    ],
)
def test_that_hints_and_what_a_server_got_over_are_no_causes(text: str) -> None:
    assert not any(map(fails_again, lines(text)))


def test_that_the_first_cause_is_told_without_a_level_and_without_its_stamps() -> None:
    assert cause(lines(MEMORY_55)) == "InnoDB: mmap(137363456 bytes) failed; errno 12"
    assert cause(lines(PAGE_56)) == "InnoDB: Database page corruption on disk or a failed"
    assert cause(lines(RECOVERED_57)) == ""


@pytest.mark.parametrize(
    "stamp",
    [
        "2023-03-18T21:40:38.434082+02:00 2 ",  # percona/percona-toolkit, tests/logs/merge_rotated_daily
        "150929 11:51:36 ",  # codership/galera#354
        "2017-05-05 19:28:57 139670113474304 ",  # codership/galera#462
        "2018-07-11 21:10:10 0x5d3ff340 ",
        "2016-12-29T15:17:43.852152Z 0 ",
        "2022-01-09  9:04:43 0 ",
        "Apr 27 09:51:38 mysql-1.local mysqld: 2016-04-27 07:51:38 4405 ",
        "0 ",
    ],
)
def test_that_no_servers_stamp_stays_in_a_sentence(stamp: str) -> None:
    assert unstamped(f"{stamp}[ERROR] WSREP: no") == "[ERROR] WSREP: no"
    assert moment_of(f"{stamp}[ERROR] x") in {"", *(stamp[i : i + n] for i in range(len(stamp)) for n in (15, 19))}


def test_that_a_cause_is_not_pushed_out_by_what_follows_from_it_and_one_that_was_got_over_is() -> None:
    after = "\n".join(f"2024-07-09 20:51:22 0 [ERROR] Plugin {n} failed" for n in range(20))
    assert errors_of(f"{REDO_106}\n{after}")[0] == REDO_106
    ready = "2024-07-09 20:51:22 0 [Note] mariadbd: ready for connections."
    assert REDO_106 not in errors_of(f"{REDO_106}\n{ready}\n{after}")
    assert len(errors_of(f"{REDO_106}\n{after}")) == 8


def test_that_a_server_that_ended_itself_says_so() -> None:
    assert [asserts(line) for line in lines(PAGE_105)] == [False, True, True]
