"""What tests of the estate of MySQL ask its servers."""

from __future__ import annotations

from collections.abc import Mapping

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import group
from tests.lab.estate.waiting import wait_until

MEMBERS = ("g1", "g2", "g3")
LOG = "/var/log/mysql/error.log"


def states(estate: Estate, by: str) -> dict[str, str]:
    """The members' states as one of them sees them; {} while its server does not answer."""
    try:
        return {name: member.state for name, member in group.view(estate.spec, by).items()}
    except LabError:
        return {}


def until(estate: Estate, by: str, wanted: Mapping[str, str], *, limit_s: float = 60.0) -> float:
    """Wait until `by` sees exactly this; seconds taken."""

    def reason() -> str | None:
        seen = states(estate, by)
        return None if seen == wanted else f"{by} sees {seen}"

    return wait_until(f"{by} to see {dict(wanted)}", reason, limit_s=limit_s)


def until_online(estate: Estate, *, limit_s: float = 60.0) -> float:
    """Wait until each member sees all of them ONLINE; seconds taken."""
    return group.wait_online(estate.spec, limit_s=limit_s)


def write(estate: Estate, host: str, rows: int = 1) -> int:
    """Insert rows into the probe table, a transaction each; the last number."""
    last = int(estate.sql(host, "SELECT COALESCE(MAX(id), 0) FROM sbtest.lab_probe")[0][0])
    inserts = (f"INSERT INTO sbtest.lab_probe VALUES ({last + n + 1}, 'row')" for n in range(rows))
    estate.sql(host, "; ".join(inserts))
    return last + rows


def until_there(estate: Estate, host: str, number: int, *, limit_s: float = 15.0) -> None:
    """Wait until a row has arrived."""

    def reason() -> str | None:
        found = estate.sql(host, f"SELECT COUNT(*) FROM sbtest.lab_probe WHERE id = {number}")[0][0]
        return None if found == "1" else f"{host} has no row {number}"

    wait_until(f"row {number} on {host}", reason, limit_s=limit_s)


def status(estate: Estate, host: str, name: str) -> str:
    """A status variable; '' where the server has none of the name."""
    return "".join(row[1] for row in estate.sql(host, f"SHOW GLOBAL STATUS LIKE '{name}'"))


def said(estate: Estate, host: str, code: str) -> bool:
    """Whether the end of the error log has a message of this code."""
    return estate.host(host).sh(f"tail -n 60 {LOG} | grep -q '{code}'", check=False).ok
