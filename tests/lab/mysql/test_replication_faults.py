"""What befalls a replica of MySQL is seen in its own words, and is repaired."""

from __future__ import annotations

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.estate.waiting import while_asserts
from tests.lab.mysql.seeing import status, until_there, write


def _said(estate: Estate, host: str) -> dict[str, str]:
    return database.record(estate.spec, host, "SHOW REPLICA STATUS")


def test_that_a_conflicting_row_stops_the_sql_thread_and_is_repaired(mysql: Estate) -> None:
    mysql.break_sql("a3")
    now = _said(mysql, "a3")
    assert (now["Replica_IO_Running"], now["Replica_SQL_Running"], now["Last_SQL_Errno"]) == ("Yes", "No", "1062")
    assert now["Seconds_Behind_Source"] == "NULL"
    mysql.repair("a3")
    assert _said(mysql, "a3")["Replica_SQL_Running"] == "Yes"


@pytest.mark.long
def test_that_a_wrong_password_keeps_the_receiver_trying_and_is_repaired(mysql: Estate) -> None:
    mysql.break_io("a2")

    def refused() -> None:
        now = _said(mysql, "a2")
        assert (now["Replica_IO_Running"], now["Last_IO_Errno"]) == ("Connecting", "1045"), now

    while_asserts(refused, limit_s=20)
    mysql.repair("a2")
    assert _said(mysql, "a2")["Replica_IO_Running"] == "Yes"


@pytest.mark.long
def test_that_a_replica_that_waits_for_a_lock_falls_behind_and_catches_up(mysql: Estate) -> None:
    mysql.lag("a3", 60)
    number = write(mysql, "a1", 20)

    def behind() -> None:
        assert int(_said(mysql, "a3")["Seconds_Behind_Source"]) >= 3

    while_asserts(behind, limit_s=20)
    until_there(mysql, "a2", number)
    mysql.unlag("a3")
    until_there(mysql, "a3", number)


@pytest.mark.long
def test_that_a_source_goes_on_alone_when_its_semi_synchronous_replica_is_gone(mysql: Estate) -> None:
    mysql.stop("a2")
    mysql.sql("a1", "SET GLOBAL rpl_semi_sync_source_timeout = 1000")
    before = int(status(mysql, "a1", "Rpl_semi_sync_source_no_tx"))
    write(mysql, "a1", 2)
    assert status(mysql, "a1", "Rpl_semi_sync_source_status") == "OFF"
    assert int(status(mysql, "a1", "Rpl_semi_sync_source_no_tx")) > before
    mysql.sql("a1", "SET GLOBAL rpl_semi_sync_source_timeout = DEFAULT")
    mysql.start("a2")

    def waits_again() -> None:
        assert status(mysql, "a1", "Rpl_semi_sync_source_status") == "ON"

    while_asserts(waits_again, limit_s=30)
