"""What a procedure may leave on an estate, found and taken back: files, drop-ins, units, settings, the spare host."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.lab.estate.estate import Estate
from tests.lab.estate.host import rootfs
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.servers import database, galera
from tests.lab.estate.shell import run
from tests.lab.estate.waiting import while_asserts

_FILES = (
    "find -L /etc/mysql /etc/systemd /run/systemd/system -type f 2>/dev/null "
    "| grep -v -e 'transient/' -e lab-skew | sort"
)
_KEEP = "tar -C / -czf - etc/mysql | base64 -w0"
_LEFT = (
    "ls -d /var/lib/mysql.pilothouse-* /run/pilothouse/lock-* 2>/dev/null; "
    "find /etc/mysql /etc/systemd/system /run/systemd/system -name '*pilothouse*' 2>/dev/null; "
    "systemctl list-units --all --plain --no-legend 'pilothouse-*' | awk '{print $1}'; true"
)
_OURS = "/run/pilothouse /var/lib/pilothouse"  # locks; what a losing side wrote, of which each test counts its own
_SETTINGS = ("wsrep_desync", "wsrep_reject_queries", "wsrep_sst_donor", "innodb_io_capacity")


def members(estate: Estate) -> tuple[str, ...]:
    """Hosts that are members when the estate is whole."""
    return galera.members(estate.spec)


def spares(estate: Estate) -> tuple[str, ...]:
    """Hosts that are none."""
    return tuple(h.name for h in estate.hosts if h.role == "spare")


def left_behind(estate: Estate) -> dict[str, list[str]]:
    """Everything with our name on the hosts, by host; empty when nothing is left."""
    found = on_each(estate, _LEFT)
    return {name: told.split() for name, told in found.items() if told.split()}


def on_each(estate: Estate, script: str) -> dict[str, str]:
    """Run a script on every host at once; what it printed, by host."""
    names = [h.name for h in estate.hosts]
    with ThreadPoolExecutor(len(names)) as pool:
        return dict(zip(names, pool.map(lambda name: estate.host(name).sh(script).out, names), strict=True))


class Whole:
    """The estate as it was when this object was made, and the way back to it."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        on_each(estate, f"rm -rf {_OURS}")  # what a session that was killed may have left
        self.files = self.read_files()
        self.settings = self.read_settings()
        self._kept = on_each(estate, _KEEP)

    def read_files(self) -> dict[str, dict[str, str]]:
        """Checksums of every configuration file, by host and path."""
        told = on_each(self._estate, f"{_FILES} | xargs -r sha256sum")
        return {host: {line[66:]: line[:64] for line in text.splitlines()} for host, text in told.items()}

    def read_settings(self) -> dict[str, dict[str, str]]:
        """Settings that a procedure switches, by member."""
        wanted = ", ".join(f"'{name}'" for name in _SETTINGS)
        query = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({wanted})"
        return {
            name: {row[0]: row[1] if len(row) > 1 else "" for row in self._estate.sql(name, query)}
            for name in members(self._estate)
        }

    def assert_as_before(self) -> None:
        """Assert that files and settings are what they were, byte for byte, and nothing with our name is left."""
        self.assert_files_as_before()
        assert self.read_settings() == self.settings

    def assert_files_as_before(self) -> None:
        """Assert the same of the files alone: no server need run."""
        now = self.read_files()
        changed = {
            f"{host}:{path}"
            for host in self.files
            for path in {*self.files[host], *now[host]}
            if self.files[host].get(path) != now[host].get(path)
        }
        assert not changed, changed
        left = left_behind(self._estate)
        assert not left, left

    def restore(self) -> None:
        """Make the estate whole by force, whatever a test has left."""
        for name in spares(self._estate):
            if self._estate.host(name).sh("test -e /var/lib/mysql/grastate.dat", check=False).ok or (
                database.pid(self._estate.spec, name) is not None
            ):
                make_spare(self._estate, name)
        with ThreadPoolExecutor(len(self._kept)) as pool:
            list(pool.map(self._sweep, self._kept))
        self._estate.undo()
        for name in members(self._estate):
            self._reset(name)
            while_asserts(lambda host=name: self._assert_no_upgrade(host), limit_s=90)

    def _assert_no_upgrade(self, name: str) -> None:
        # After a start Debian's package looks through the system tables, and mends them with DDL: no procedure begins.
        running = self._estate.host(name).sh("pgrep -fa '[d]ebian-start|[m]ariadb-upgrade'", check=False).out
        assert not running, f"{name} still upgrades its tables: {running}"

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Make the estate whole again when the body fails, so that what comes after it does not fail for that."""
        try:
            yield
        except BaseException:
            self.restore()
            raise

    def _sweep(self, name: str) -> None:
        script = (
            "for unit in $(systemctl list-units --all --plain --no-legend 'pilothouse-*' | awk '{print $1}'); do "
            "systemctl stop $unit; systemctl reset-failed $unit; done 2>/dev/null; "
            "rm -rf /etc/mysql; base64 -d | tar -C / -xzf -; "
            "find /etc/systemd/system /run/systemd/system -name '*pilothouse*' -delete; "
            f"rm -rf {_OURS} /var/lib/mysql.pilothouse-*; systemctl daemon-reload"
        )
        self._estate.host(name).sh(script, stdin=self._kept[name])

    def _reset(self, name: str) -> None:
        before, now = self.settings[name], self.read_settings()[name]
        for variable, value in before.items():
            if now.get(variable) != value:
                shown = value if value.isdigit() else f"'{value}'"
                self._estate.sql(name, f"SET GLOBAL {variable} = {shown}")


def make_spare(estate: Estate, name: str) -> None:
    """Give a host back what `up` gave it: the package's data folder, and no server running."""
    database.stop(estate.spec, name)
    estate.host(name).sh("find /var/lib/mysql -mindepth 1 -delete; rm -rf /var/lib/mysql.pilothouse-*", check=False)
    image = ensure_image(estate.spec.host(name).release)
    run(["cp", "-a", "--sparse=always", f"{image}/var/lib/mysql/.", str(rootfs.data(estate.spec, name))])
    size = len(members(estate))
    while_asserts(lambda: _of_size(estate, size), limit_s=30)


def _of_size(estate: Estate, size: int) -> None:
    for name in members(estate):
        if database.pid(estate.spec, name) is None:
            continue
        told = dict(estate.sql(name, "SHOW STATUS LIKE 'wsrep_cluster_size'"))
        assert told.get("wsrep_cluster_size", "") in {"", "0", *map(str, range(size + 1))}, (name, told)
