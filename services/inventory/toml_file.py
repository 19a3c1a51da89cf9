"""inventory.toml read into values: all faults told together, with their lines. Format: resources/docs/inventory.md."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from services.errors import BadInput
from services.i18n import tr
from services.inventory import fields
from services.inventory.faults import Faults
from services.inventory.kinds import FIRST, KINDS, MYSQL, InstanceKind
from services.inventory.lookalikes import pairs_alike, skeleton, told_alike
from services.inventory.model import ClusterEntry, HostEntry, Instance, Inventory, SqlAccess, SshAccess
from services.inventory.toml_lines import Place, places
from services.inventory.toml_trouble import trouble
from services.workstation.files import is_missing, read_bounded
from services.workstation.home import expanded

VERSION = 2
"""The newest version of the file."""
PLAIN, OF_INSTANCES = 1, 2
"""What a file without, and with, instances is written as: an older program reads the first."""
MOST_BYTES = 4 * 2**20
_TOP = ("version", "cluster", "host", "defaults")
_CLUSTER: Mapping[str, fields.Check] = {
    "name": fields.name,
    "expected": fields.count,
    "networks": fields.networks,
    "retired": fields.retired,
}
_WAYS = fields.WAYS
_OF_ONE_SERVER = frozenset({"port", "socket"})
"""Defaults of SQL that are one server's own: an instance beside it has none of them."""
_WORDS = frozenset((*_TOP, *_CLUSTER, *_WAYS, *fields.SSH, *fields.INSTANCE, "instance", "seeds", "address"))


def load_inventory(path: str | Path) -> Inventory:
    """Read the file; raise one BadInput that tells every fault.

    `~` in paths is kept as written; who opens a file expands it.
    """
    file = expanded(path)
    return parse_inventory(read_text(file), str(file))


def default_users(path: str | Path, way: str = MYSQL.way) -> tuple[str, str]:
    """Return the users that [defaults] give, '' where they give none; raise BadInput for a faulty file.

    A file that is not there gives none.

    Args:
        way: the table of the kind of server whose user is wanted beside that of SSH.
    """
    file = expanded(path)
    if is_missing(file):
        return "", ""
    text = read_text(file)
    parse_inventory(text, str(file))
    defaults: dict[str, dict[str, object]] = tomllib.loads(text).get("defaults", {})
    ssh, server = (str(defaults.get(table, {}).get("user", "")) for table in ("ssh", way))
    return ssh, server


def read_text(file: Path) -> str:
    """Return the file's text, or raise BadInput: unreadable, too large, not UTF-8."""
    try:
        data = read_bounded(file, MOST_BYTES)
    except OSError as problem:
        raise BadInput(
            tr("The inventory {file} cannot be read: {problem}.", file=file, problem=problem.strerror or problem),
            try_=(tr("Name another one with --inventory FILE."),),
        ) from problem
    try:
        return data.decode("utf-8").removeprefix("\N{BYTE ORDER MARK}")  # editors of Windows begin a file with one
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        line, column = before.count(b"\n") + 1, problem.start - (before.rfind(b"\n") + 1) + 1
        raise BadInput(
            tr(
                "The inventory {file} is not UTF-8 (line {line}, byte {column}).",
                file=file,
                line=line,
                column=column,
            ),
            try_=(tr("Save it as UTF-8."),),
        ) from problem


def parse_inventory(text: str, path: str = "") -> Inventory:
    """Return the inventory a text describes; raise BadInput with all faults."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        _refuse_lone_tables(problem, text, path)
        raise BadInput(
            tr("The inventory {path} is not TOML: {problem}.", path=path, problem=trouble(problem, text, _WORDS)),
            try_=(tr('Correct the line: write text in quotes, as in name = "db1".'),),
        ) from None
    except (RecursionError, ValueError) as problem:
        # Brackets in brackets without end; a number of more digits than Python turns into one.
        why = (
            tr("it is nested too deeply") if isinstance(problem, RecursionError) else tr("a number has too many digits")
        )
        raise BadInput(
            tr("The inventory {path} cannot be read: {problem}.", path=path, problem=why),
            try_=(tr("Name another one with --inventory FILE."),),
        ) from None
    return _Reader(document, path, Faults(path, places(text))).read()


def _refuse_lone_tables(problem: tomllib.TOMLDecodeError, text: str, path: str) -> None:
    """Raise the fault of a table in single brackets that a second one of its name made unreadable for TOML."""
    if not str(problem).startswith(("Cannot overwrite", "Cannot declare")):
        return
    found = places(text)
    faults = Faults(path, found)
    for place in found:
        if place in {("host",), ("cluster",)} or (len(place) == 3 and place[-1] == "instance"):
            name = ".".join(part for part in place if isinstance(part, str))
            faults.add(place, _own_table(name))
    faults.raise_if_any()


def _own_table(name: str) -> str:
    return tr("write each {name} as a table of its own: [[{name}]].", name=name)


class _Reader:
    """One pass over a parsed document, noting faults and going on."""

    def __init__(self, document: dict[str, Any], path: str, faults: Faults) -> None:
        self._document = document
        self._path = path
        self._faults = faults

    def read(self) -> Inventory:
        for key in self._document:
            if key not in _TOP:
                self._faults.unknown((key,), _TOP, tr("the file"))
        version = self._version()
        defaults = self._defaults()
        hosts = tuple(self._host(n, entry, defaults) for n, entry in enumerate(self._tables("host")))
        clusters = tuple(self._cluster(n, entry) for n, entry in enumerate(self._tables("cluster")))
        self._names("host", tuple(h.name for h in hosts))
        self._keys(hosts, version)
        self._names("cluster", tuple(c.name for c in clusters))
        self._seeds(clusters, {h.name for h in hosts})
        self._faults.raise_if_any()
        return Inventory(version, self._path, hosts, clusters)

    def _version(self) -> int:
        version = self._document.get("version")
        if version is None:
            self._faults.add(("version",), tr('the file must begin with "version = {version}".', version=VERSION))
        elif isinstance(version, bool) or not isinstance(version, int) or version < 1:
            self._faults.add(("version",), tr('"version" must be 1 or {version}.', version=VERSION))
        elif version > VERSION:
            self._faults.add(("version",), f"version {version} is newer than this program ({VERSION}): update it.")
        else:
            return version
        return VERSION

    def _tables(self, name: str) -> list[dict[str, Any]]:
        found = self._document.get(name, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            self._faults.add((name,), _own_table(name))
            return []
        return found

    def _defaults(self) -> dict[str, dict[str, Any]]:
        found = self._document.get("defaults", {})
        if not isinstance(found, dict):
            ways = ", ".join(f"[defaults.{way}]" for way in _WAYS)
            self._faults.add(("defaults",), tr("write defaults as {tables}.", tables=ways))
            return {}
        result: dict[str, dict[str, Any]] = {}
        for key, table in found.items():
            if key not in _WAYS:
                self._faults.unknown(("defaults", key), _WAYS, "[defaults]")
            elif not isinstance(table, dict):
                self._faults.add(("defaults", key), tr("write it as a table: [defaults.{key}].", key=key))
            else:
                result[key] = self._values(("defaults", key), table, _WAYS[key], f"[defaults.{key}]")
        return result

    def _values(
        self, place: Place, table: dict[str, Any], checks: Mapping[str, fields.Check], where: str
    ) -> dict[str, Any]:
        """Check each key of a table; return the good ones."""
        values: dict[str, Any] = {}
        for key, raw in table.items():
            check = checks.get(key)
            if check is None:
                self._faults.unknown((*place, key), checks, where)
                continue
            try:
                values[key] = check(raw)
            except fields.BadValue as problem:
                self._faults.add((*place, key), f'"{key}" in {where} must {problem}.')
        return values

    def _host(self, number: int, table: dict[str, Any], defaults: dict[str, dict[str, Any]]) -> HostEntry:
        place: Place = ("host", number)
        plain = {key: value for key, value in table.items() if key not in _WAYS and key != "instance"}
        values = self._values(place, plain, {"name": fields.name, "address": fields.address}, "[[host]]")
        name = str(values.get("name", ""))
        for key in ("name", "address"):
            if key not in table:
                self._faults.add(place, tr('{host} has no "{key}".', host=_called("host", name), key=key))
        way = self._way(place, "ssh", table.get("ssh"), defaults, name)
        ssh = None if way is None else SshAccess(**{"user": "", **way})
        kind, sql = self._first_server(place, table, defaults, name)
        self._sense(place, name, ssh, sql, kind)
        beside = self._beside(place, table.get("instance", []), defaults, HostEntry(name, "", ssh, sql, kind=kind.code))
        return HostEntry(name, str(values.get("address", "")), ssh, sql, beside=beside, kind=kind.code)

    def _first_server(
        self, place: Place, table: dict[str, Any], defaults: dict[str, dict[str, Any]], name: str
    ) -> tuple[InstanceKind, SqlAccess | None]:
        """Return the kind of the host's first server and the way into it, None where nobody gives one.

        [defaults.sql] alone makes a host one with a MySQL server; no other defaults do: a host says so itself.
        """
        said = [key for key in FIRST if isinstance(table.get(key), dict)]
        if len(said) > 1:
            text = tr(
                "{host} has [host.{one}] and [host.{other}]: write the second server as [[host.instance]].",
                host=_called("host", name),
                one=said[0],
                other=said[1],
            )
            self._faults.add((*place, said[1]), text)
        other = next((key for key in said if key != MYSQL.way), None)
        if other is None:
            for key in FIRST:
                if key != MYSQL.way and table.get(key, False) is not False:
                    self._way(place, key, table[key], {}, name)  # no table: it is told
            way = self._way(place, MYSQL.way, table.get(MYSQL.way), defaults, name)
            return MYSQL, None if way is None else _login(MYSQL, way)
        way = self._way(place, other, table[other], defaults, name)
        return FIRST[other], None if way is None else _login(FIRST[other], way)

    def _beside(
        self, place: Place, tables: object, defaults: dict[str, dict[str, Any]], host: HostEntry
    ) -> tuple[Instance, ...]:
        """Return what else the host carries: each [[host.instance]], over the defaults of SQL for a MySQL server."""
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._faults.add((*place, "instance"), _own_table("host.instance"))
            return ()
        taken = {host.sql.port} if host.sql is not None else set()
        found = []
        for number, table in enumerate(tables):
            here: Place = (*place, "instance", number)
            called = _called("host", host.name)
            where = tr("[[host.instance]] of {host}", host=called)
            values = self._values(here, table, fields.of_instance(table.get("kind")), where)
            kind = KINDS.get(values.pop("kind", ""))
            if kind is None:
                if not self._faults.meant("kind", table, fields.INSTANCE):
                    self._faults.add(here, tr('an instance of {host} has no "kind".', host=called))
                continue
            if kind.read:
                shared = {k: v for k, v in defaults.get(kind.way, {}).items() if k not in _OF_ONE_SERVER}
                values = {**shared, **values}
            told = "port" not in values and self._faults.meant("port", table, fields.INSTANCE)
            port = values.setdefault("port", kind.port)
            if port in taken and not told:
                text = tr("{host} has two instances on port {port}: give each its own port.", host=called, port=port)
                self._faults.add(here, text)
            taken |= set() if told else {port}
            access = self._access_of(kind, values)
            if access is not None or (kind.read and not self._faults.meant("user", table, fields.INSTANCE)):
                written = access or kind.access("")
                self._sense_server(here, f"{called}, port {port}", host.ssh, (kind, written), "[[host.instance]]")
            if not kind.names_socket and access is not None and access.via == "socket" and not access.socket:
                text = tr('{host}, port {port}: via = "socket" needs its own "socket".', host=called, port=port)
                self._faults.add((*here, "via"), text)
            found.append(Instance(host.name, kind.code, port, access))
        return tuple(found)

    @staticmethod
    def _access_of(kind: InstanceKind, values: dict[str, Any]) -> SqlAccess | None:
        """Return how to log in, None where nobody does; a server without access control lets everybody in."""
        return None if kind.needs_user and not values.get("user") else _login(kind, values)

    def _way(
        self, place: Place, key: str, table: object, defaults: dict[str, dict[str, Any]], name: str
    ) -> dict[str, Any] | None:
        """Return a way's table over its defaults; None when there is neither, or it says `false`."""
        if table is False or (table is None and key not in defaults):
            return None
        if table is not None and not isinstance(table, dict):
            self._faults.add((*place, key), tr("write it as a table: [host.{key}].", key=key))
            return None
        own = self._values((*place, key), table or {}, _WAYS[key], f"[host.{key}] of {_called('host', name)}")
        return {**defaults.get(key, {}), **own}

    def _sense(self, place: Place, name: str, ssh: SshAccess | None, sql: SqlAccess | None, kind: InstanceKind) -> None:
        """Note values that are fine alone and mean nothing together."""
        called = _called("host", name)
        if ssh is not None and ssh.sudo == "password" and ssh.sudo_password is None:
            self._faults.add((*place, "ssh", "sudo"), f'{called}: sudo = "password" needs "sudo_password".')
        if sql is not None:
            self._sense_server((*place, kind.way), called, ssh, (kind, sql), f"[host.{kind.way}]")

    def _sense_server(
        self, place: Place, called: str, ssh: SshAccess | None, server: tuple[InstanceKind, SqlAccess], table: str
    ) -> None:
        kind, sql = server
        for key, text in sql.contradictions(called):
            self._faults.add((*place, key), text)
        if kind.needs_user and not sql.user:
            self._faults.add(place, f'{called}: {table} needs "user".')
        if sql.via == "tunnel" and ssh is None:
            self._faults.add((*place, "via"), f'{called}: via = "tunnel" needs [host.ssh].')
        if sql.tls.startswith("verify-") and sql.via == "socket":
            self._faults.add(
                (*place, "tls"), tr("{called}: a Unix socket has no certificate to verify.", called=called)
            )
        if sql.operator_password is not None and not sql.operator_user:
            self._faults.add((*place, "operator_password"), f'{called}: "operator_password" needs its "operator_user".')
        if sql.key and not sql.cert:
            self._faults.add((*place, "key"), tr('{called}: a TLS "key" needs its "cert".', called=called))

    def _cluster(self, number: int, table: dict[str, Any]) -> ClusterEntry:
        place: Place = ("cluster", number)
        plain = {key: value for key, value in table.items() if key != "seeds"}
        values = self._values(place, plain, _CLUSTER, "[[cluster]]")
        name = str(values.get("name", ""))
        if "name" not in table:
            self._faults.add(place, tr('a cluster has no "name".'))
        seeds = table.get("seeds")
        if not isinstance(seeds, list) or not seeds or not all(isinstance(s, str) for s in seeds):
            self._faults.add(
                (*place, "seeds"),
                tr('{cluster} needs "seeds": a list of host names.', cluster=_called("cluster", name)),
            )
            seeds = []
        networks, retired = values.get("networks", ()), values.get("retired", ())
        return ClusterEntry(name, tuple(seeds), values.get("expected"), networks, retired)

    def _keys(self, hosts: tuple[HostEntry, ...], version: int) -> None:
        """Note an instance that is called as a host is, and instances in a file of the version that has none."""
        names = {skeleton(host.name): host.name for host in hosts}
        for number, host in enumerate(hosts):
            place: Place = ("host", number, "instance", 0)
            if host.beside and version < OF_INSTANCES:
                self._faults.add(place, tr("instances need version = {version} at the top.", version=OF_INSTANCES))
            for one in host.beside:
                other = names.get(skeleton(one.key), "")
                if other == one.key:
                    text = tr('the instance would be called "{key}", and a host already has that name.', key=one.key)
                    self._faults.add(place, text)
                elif other:
                    self._faults.add(place, told_alike("host", one.key, other))

    def _names(self, kind: str, names: tuple[str, ...]) -> None:
        first: dict[str, int] = {}
        for number, name in enumerate(names):
            if name and name in first:
                self._faults.add(
                    (kind, number, "name"), tr('there are two {kind}s named "{name}".', kind=kind, name=name)
                )
            first.setdefault(name, number)
        for number, earlier in pairs_alike(names):
            self._faults.add((kind, number, "name"), told_alike(kind, earlier, names[number]))

    def _seeds(self, clusters: tuple[ClusterEntry, ...], hosts: set[str]) -> None:
        for number, cluster in enumerate(clusters):
            for seed in cluster.seeds:
                if seed not in hosts:
                    self._faults.add(
                        ("cluster", number, "seeds"),
                        tr(
                            '{cluster} has the seed "{seed}", but no [[host]] has that name.',
                            cluster=_called("cluster", cluster.name),
                            seed=seed,
                        ),
                    )


def _login(kind: InstanceKind, values: dict[str, Any]) -> SqlAccess:
    return kind.access(**{"user": "", "port": kind.port, **values})


def _called(kind: str, name: str) -> str:
    return f'{kind} "{name}"' if name else f"a {kind}"
