"""What an act on a file is called in a sentence: at 3 a.m. nobody finds the host in a script of forty lines."""

from __future__ import annotations

from services.connections.command import Command
from services.connections.operator.files import copied, folder_made, named, removed, written
from services.secrets import Secret


def test_that_each_is_called_by_what_becomes_of_which_file() -> None:
    path = "/etc/mongod.conf"
    assert named(written(path, Secret("storage:"), "0644", "root:root")) == "Writing /etc/mongod.conf"
    assert named(copied(path, f"{path}.pilothouse-1")) == "Copying /etc/mongod.conf"
    assert named(removed(path)) == "Removing /etc/mongod.conf"
    assert named(folder_made("/etc/systemd/system/mongod.service.d")).endswith("/etc/systemd/system/mongod.service.d")


def test_that_any_other_command_is_told_as_it_is_but_for_long_scripts() -> None:
    assert named(Command(("true",))) == "true"
    assert named(Command(("systemctl", "stop", "mongod"), sudo=True)) == "sudo systemctl stop mongod"
    script = "set -e\n" + "echo one more line\n" * 50
    told = named(Command(("sh", "-c", script, "pilothouse", "/srv/data")))
    assert "/srv/data" in told
    assert len(told) < 100
    assert "\n" not in told
