"""A member that fetches all its data anew by clone, slowly enough to be looked at."""

from __future__ import annotations

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, group
from tests.lab.estate.waiting import wait_until
from tests.lab.mysql.seeing import write

MB_PER_S = 2
"""Two of some eighty: it lasts half a minute."""


def begin(estate: Estate, name: str, writer: str) -> None:
    """Let it leave, miss a few transactions, and come back with a threshold that makes recovery clone."""
    group.leave(estate.spec, name)
    write(estate, writer, 5)
    slow = f"SET GLOBAL group_replication_clone_threshold = 1; SET GLOBAL clone_max_data_bandwidth = {MB_PER_S}"
    estate.sql(name, slow)
    group.join(estate.spec, name)


def until_it_copies(estate: Estate, name: str) -> None:
    """Wait until the server itself says that it copies files: it drops its own data first, slowly on a busy machine."""

    def reason() -> str | None:
        stages = estate.sql(name, "SELECT STAGE, STATE FROM performance_schema.clone_progress")
        return None if ["FILE COPY", "In Progress"] in [list(row) for row in stages] else f"{name} tells {stages}"

    wait_until(f"{name} to copy files", reason, limit_s=90)


def end(estate: Estate, name: str) -> None:
    """Let it run at full speed; the server then stops itself, since nobody watches over it, and is started here."""
    estate.sql(name, "SET GLOBAL clone_max_data_bandwidth = 0")

    def reason() -> str | None:
        return f"{name} still runs" if database.pid(estate.spec, name) is not None else None

    wait_until(f"{name} to have cloned", reason, limit_s=90)
    database.start(estate.spec, name)
