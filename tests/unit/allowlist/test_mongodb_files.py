"""Where a MongoDB server's configuration file may lie: it names it itself, and root writes it on new hosts."""

from __future__ import annotations

import pytest

from services.connections.observer.paths import is_readable


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/mongod.conf", "/etc/mongos.yaml", "/etc/mongodb/mongod.conf", "/etc/mongo/config/mongos-1.cfg"),
        *("/usr/local/etc/mongod.conf", "/opt/mongodb-3.2/etc/mongod.conf", "/srv/mongo/mongod.yml"),
    ],
)
def test_that_mongodbs_own_places_are_read(path: str) -> None:
    assert is_readable(path)


@pytest.mark.parametrize(
    "folder",
    [
        *(
            "/etc/rsyslog.d",
            "/etc/tmpfiles.d",
            "/etc/sysctl.d",
            "/etc/ld.so.conf.d",
            "/etc/cron.d",
            "/etc/systemd/system",
        ),
        *("/etc/security", "/etc/sudoers.d", "/etc/modprobe.d", "/usr/etc", "/opt", "/srv", "/opt/x", "/etc/profile.d"),
        *("/etc/mongo/../rsyslog.d", "/usr/local/etc/tmpfiles.d", "/srv/www/mongo", "/etc/mongo/a/b/c/d"),
    ],
)
@pytest.mark.parametrize("name", ["mongod.conf", "mongo.conf", "mongos.yaml"])
def test_that_no_place_from_which_root_reads_every_file_is_one_of_them(folder: str, name: str) -> None:
    """A server told /etc/rsyslog.d/mongo.conf, and root wrote it on the new hosts."""
    assert not is_readable(f"{folder}/{name}")
