"""What the lab makes of a machine and of its image, as far as no host is needed to see it."""

from __future__ import annotations

from pathlib import Path

from tests.lab.estate.image import enabled_units
from tests.lab.estate.limits import ENOUGH, give_room


def test_that_a_unit_of_the_image_that_dangles_on_this_machine_is_seen_as_enabled(tmp_path: Path) -> None:
    wants = tmp_path / "sockets.target.wants"
    wants.mkdir()
    (wants / "mariadb.socket").symlink_to(tmp_path / "not-there" / "mariadb.socket")
    (wants / "ssh.socket").symlink_to(tmp_path / "not-there" / "ssh.socket")
    assert enabled_units(tmp_path, ("maria", "mysql")) == ["mariadb.socket"]


def test_that_a_machine_gets_room_for_the_watches_of_many_hosts_and_keeps_what_it_has(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    assert "from 128 to" in give_room(limit)
    assert int(limit.read_text()) == ENOUGH
    assert give_room(limit) == ""
    limit.write_text("8192\n")
    assert give_room(limit) == ""
    assert limit.read_text() == "8192\n"
