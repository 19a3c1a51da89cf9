"""What the lab makes of a machine and of its image, as far as no host is needed to see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.estate.host.image import DATABASE_WORDS, enabled_units
from tests.lab.estate.host.limits import ENOUGH, give_room
from tests.lab.estate.host.quiet import active_units, listeners


@pytest.mark.parametrize(
    "link",
    [
        "etc/systemd/system/sockets.target.wants/mariadb.socket",
        "etc/systemd/system/multi-user.target.requires/mysqld.service",
        "usr/lib/systemd/system/multi-user.target.wants/mariadb@one.service",
        "etc/rc2.d/S01mariadb",
    ],
)
def test_that_a_unit_of_the_image_that_dangles_on_this_machine_is_seen_as_enabled(tmp_path: Path, link: str) -> None:
    own = tmp_path / "usr/lib/systemd/system/mysql.service"
    own.parent.mkdir(parents=True)
    own.write_text("[Service]\n")
    others = ("etc/systemd/system/sockets.target.wants/ssh.socket", "etc/rc2.d/K01mariadb", "etc/rc2.d/S01mysql")
    for name in (link, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path / "not-there" / "some.unit")
    assert enabled_units(tmp_path, DATABASE_WORDS) == [link.rpartition("/")[2]]


def test_that_a_database_that_came_up_with_its_host_is_named() -> None:
    units = (
        "mariadb.service loaded inactive dead MariaDB 10.11 database server\n"
        "mariadb.socket loaded active listening MariaDB 10.11 database server (socket activation)\n"
        "ssh.service loaded active running OpenBSD Secure Shell server\n"
    )
    assert active_units(units) == ["mariadb.socket is active"]
    sockets = "LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\nLISTEN 0 80 [::]:3306 [::]:*\nLISTEN 0 128 [::]:22 [::]:*\n"
    assert listeners(sockets) == ["something listens on [::]:3306"]


def test_that_a_machine_gets_room_for_the_watches_of_many_hosts_and_keeps_what_it_has(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    assert "from 128 to" in give_room(limit)
    assert int(limit.read_text()) == ENOUGH
    assert give_room(limit) == ""
    limit.write_text("8192\n")
    assert give_room(limit) == ""
    assert limit.read_text() == "8192\n"
