"""Material that nobody made for a test, on real servers: what is refused, what fails and is taken back, what ends well.

A run that does not end well leaves the old data as they were, file by file; one that does has the rows of the members.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import backups
from tests.lab.procedures.whole import Whole

NAME, JOINER = "rejoin-from-incrementals", "s3"
AT = f"{backups.FOLDER}-tried"
HOW: dict[str, object] = {
    "joiner": JOINER, "memory": "128 MiB", "settle": "3 s", "full": f"{AT}/full",
    "incrementals": f"{AT}/inc1,{AT}/inc2",
    "tables": backups.tables(),
}  # fmt: skip
LISTING = "cd /var/lib/mysql; find . -type f -printf '%P %s %u %m\\n' | sort"
_LARGEST = "f=$(ls -S {at}/inc2/*.delta {at}/inc2/mysql/*.delta | head -n 1); n=$(stat -c %s $f); "
_TABLE = "f=$(ls -S {at}/inc2/sbtest/restored.[a-z]* | grep -v frm | head -n 1); "
DAMAGED = {
    "a .delta cut short": _LARGEST + "truncate -s $((n / 2)) $f",
    "a .delta of zeros": _LARGEST + "truncate -s 0 $f; truncate -s $n $f",
    "no .delta beside its .meta": _LARGEST + "rm $f",
    "a table of an incremental cut short": _TABLE + "truncate -s 16000 $f",
    "a table of an incremental missing": _TABLE + "rm $f",
    "a redo log cut short": "truncate -s 5000 {at}/full/ib_logfile0",
    "no redo log": "rm {at}/full/ib_logfile0",
    "a tablespace cut short": "truncate -s 16384 {at}/full/sbtest/restored_inc1.ibd",
    "ibdata1 cut short": "truncate -s 1M {at}/full/ibdata1",
    "the same incremental twice": "rm -rf {at}/inc1; cp -a {at}/inc2 {at}/inc1",
}


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[None]:
    """Backups of s3 on its own disk, and s3 stopped after more was written."""
    del whole
    backups.forget(steer, JOINER)
    backups.make_chain(steer, JOINER)
    steer.stop(JOINER)
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        backups.forget(steer, JOINER)


def _tried(estate: Estate, script: str) -> None:
    host = estate.host(JOINER)
    host.sh(f"rm -rf {AT}; cp -a {backups.FOLDER} {AT}; {script.format(at=AT)}")


def _rows(estate: Estate, host: str) -> list[list[str]]:
    return [
        estate.sql(host, f"CHECKSUM TABLE {name}; SELECT COUNT(*) FROM {name}") for name in backups.tables().split(",")
    ]  # type: ignore[misc]


@pytest.mark.long
@pytest.mark.parametrize("what", DAMAGED)
def test_that_a_damaged_backup_never_ends_well_and_leaves_the_old_data_as_they_were(
    steer: Estate, console: Console, chain: None, what: str
) -> None:
    del chain
    old = steer.host(JOINER).sh(LISTING).out
    _tried(steer, DAMAGED[what])
    ran = console.run(NAME, **HOW)
    assert ran.code in {1, 3}, ran
    assert steer.host(JOINER).sh(LISTING).out == old


@pytest.mark.long
def test_that_a_backup_ends_well_that_was_unpacked_and_says_compressed_all_the_same(
    steer: Estate, console: Console, chain: None
) -> None:
    """As --compress leaves it once it is unpacked: a word of its info that is not so any more."""
    del chain
    _tried(steer, "sed -i 's/^compressed = .*/compressed = compressed/' {at}/*/xtrabackup_info")
    assert "compressed = compressed" in steer.host(JOINER).sh(f"cat {AT}/full/xtrabackup_info").out
    ran = console.run(NAME, **HOW)
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert _rows(steer, JOINER) == _rows(steer, "s1")
