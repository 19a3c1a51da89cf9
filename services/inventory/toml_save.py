"""Writing the inventory back: comments and order stay, the old file is kept as .bak, and the change is all or nothing.

tomlkit keeps what it does not touch. Only what differs is written; what [defaults] say already is not repeated.
"""

from __future__ import annotations

import os
from dataclasses import fields as fields_of
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.errors import BadInput, StoreError
from services.i18n import tr
from services.inventory.kinds import FIRST, KINDS, MYSQL
from services.inventory.model import ClusterEntry, HostEntry, Instance, Inventory, SqlAccess, SshAccess
from services.inventory.toml_file import MOST_BYTES, OF_INSTANCES, PLAIN, parse_inventory, read_text
from services.secrets import SecretRef
from services.visible import valid_utf8
from services.workstation.files import is_missing, private_folder, read_bounded, write_whole
from services.workstation.home import expanded

_MOST_NAMED = 6
"""Settings that one sentence names."""


def save_inventory(inventory: Inventory, path: str | Path) -> None:
    """Write the inventory to `path`, atomically and for its owner only (0600).

    The previous version is kept beside it as NAME.bak. Raises BadInput when the existing file has faults or the
    inventory can't be written as one, StoreError when the disk refuses; the file is then as it was.
    """
    # A link (a dotfiles folder) stays a link: what it points to is replaced.
    file = Path(os.path.realpath(expanded(path)))
    text = "" if is_missing(file) else read_text(file)
    if text.strip():
        parse_inventory(text, str(file))
    new = render_inventory(inventory, text)
    if new == text:
        return
    try:
        _replace(file, new)
    except OSError as problem:
        raise StoreError(
            tr("The inventory {file} could not be written: {problem}.", file=file, problem=problem.strerror or problem),
            safe=tr("The file is unchanged."),
            try_=(tr("Free space on the disk, or check the write permissions."),),
        ) from problem


def render_inventory(inventory: Inventory, text: str = "") -> str:
    """Return the inventory's text, made by changing `text`; raise BadInput when it would not read back the same."""
    import tomlkit  # late: 20 ms that only a save pays

    document: Any = tomlkit.parse(text) if text.strip() else tomlkit.document()
    wanted = OF_INSTANCES if any(host.beside for host in inventory.hosts) else PLAIN
    if "version" not in document:
        document["version"] = wanted
        document.add(tomlkit.nl())
    elif document["version"] < wanted:
        document["version"] = wanted
    defaults = document.get("defaults", {})
    _arrange(document, "cluster", {c.name: c for c in inventory.clusters}, _write_cluster)
    _arrange(document, "host", {h.name: h for h in inventory.hosts}, lambda t, h: _write_host(t, h, defaults))
    new: str = tomlkit.dumps(document)
    if valid_utf8(new) != new:
        raise BadInput(
            tr("The inventory cannot be written: a name in it is not UTF-8 text, as TOML requires ({what}).",
               what=next(line for line in new.split("\n") if valid_utf8(line) != line)),
            try_=(tr("Rename the file or account, or give the file another name with a link."),),
        )  # fmt: skip
    read = parse_inventory(new, inventory.path)
    if _sorted(read) != _sorted(inventory):
        raise BadInput(
            tr("The inventory cannot be written without a change of meaning: a default of the file cannot be unset "
                "({what}).", what=_not_the_same(read, inventory)),
            try_=(tr("Move the setting from [defaults] to the hosts that need it."),),
        )  # fmt: skip
    return new


def _not_the_same(read: Inventory, wanted: Inventory) -> str:
    """Return the first settings that read back otherwise, by host and table: 'password of [host.sql] of n1'."""
    found = [
        tr('"{key}" in [host.{way}] of host "{name}"', key=item.name, way=way, name=host.name)
        for host in wanted.hosts
        if (back := read.host(host.name)) is not None
        for way, mine, other in (("ssh", host.ssh, back.ssh), (host.what.way, host.sql, back.sql))
        if mine is not None and other is not None
        for item in fields_of(mine)
        if getattr(mine, item.name) != getattr(other, item.name, None)
    ]
    return "; ".join(found[:_MOST_NAMED]) + ("…" if len(found) > _MOST_NAMED else "")


def _sorted(inventory: Inventory) -> tuple[object, ...]:
    return (
        sorted(inventory.hosts, key=lambda h: h.name),
        sorted(inventory.clusters, key=lambda c: c.name),
    )


def _arrange(document: Any, kind: str, wanted: dict[str, Any], write: Any) -> None:
    """Bring the array of tables `kind` to the wanted entries: gone ones removed, known ones changed, new ones added."""
    import tomlkit

    if kind not in document:
        if not wanted:
            return
        document[kind] = tomlkit.aot()
    tables = document[kind]
    for number in reversed(range(len(tables))):
        if str(tables[number].get("name")) not in wanted:
            del tables[number]
    known = {str(table["name"]): table for table in tables}
    for name, entry in wanted.items():
        table = known.get(name)
        if table is None:
            table = tomlkit.table()
            write(table, entry)
            if not any(hasattr(table.get(way), "items") for way in ("ssh", *FIRST)):
                table.add(tomlkit.nl())
            tables.append(table)
        else:
            write(table, entry)
    if not len(tables):
        del document[kind]


def _write_cluster(table: Any, cluster: ClusterEntry) -> None:
    _set(table, "name", cluster.name, None)
    _set(table, "seeds", list(cluster.seeds), None)
    _set(table, "expected", cluster.expected, None)
    _set(table, "networks", list(cluster.networks) or None, None)
    _set(table, "retired", list(cluster.retired) or None, None)


def _write_host(table: Any, host: HostEntry, defaults: Any) -> None:
    _set(table, "name", host.name, None)
    _set(table, "address", host.address, None)
    _write_way(table, "ssh", host.ssh, SshAccess(""), defaults.get("ssh"))
    _write_server(table, host, defaults)
    _write_instances(table, host.beside, defaults)


def _write_server(table: Any, host: HostEntry, defaults: Any) -> None:
    """Write the table of the host's first server, and take away that of another kind; only MySQL's is never empty."""
    for key, kind in FIRST.items():
        if key == host.what.way:
            plain = kind.access(user="", port=kind.port)
            own = defaults.get(key) if key == MYSQL.way or host.sql is not None else None
            _write_way(table, key, host.sql, plain, own, may_be_empty=key != MYSQL.way)
        else:
            table.pop(key, None)


def _write_instances(table: Any, beside: tuple[Instance, ...], defaults: Any) -> None:
    """Bring [[host.instance]] to these. While ports and kinds are the same, tables stay as they are, comments too."""
    import tomlkit

    there = list(table.get("instance", []))
    same = [(one["kind"], one.get("port", KINDS[one["kind"]].port)) for one in there]
    if same == [(one.kind, one.port) for one in beside]:
        for way, one in zip(there, beside, strict=True):
            _write_instance(way, one, defaults.get(one.what.way))
        return
    table.pop("instance", None)
    made = tomlkit.aot()
    for one in beside:
        way = tomlkit.table()
        _write_instance(way, one, defaults.get(one.what.way))
        made.append(way)
    if beside:
        table["instance"] = made


def _write_instance(way: Any, one: Instance, defaults: Any) -> None:
    _set(way, "kind", one.kind, None)
    if one.access is None:
        _set(way, "port", one.port, one.what.port)
        return
    said = {key: value for key, value in (defaults or {}).items() if key != "port"} if one.what.read else None
    _write_values(way, one.access, one.what.access(user="", port=one.what.port), said)


def _write_way(
    table: Any,
    key: str,
    access: SshAccess | SqlAccess | None,
    plain: Any,
    defaults: Any,
    *,
    may_be_empty: bool = False,
) -> None:
    """Write a way's table: every value that the defaults don't say already."""
    import tomlkit

    if access is None:
        table.pop(key, None)
        if defaults is not None:
            table[key] = False
        return
    way = table.get(key)
    made = not hasattr(way, "items")
    if made:
        way = tomlkit.table()
    _write_values(way, access, plain, defaults)
    if len(way) or defaults is None or may_be_empty:
        if made:  # one that stands there already gets an empty line from being put there again
            way.add(tomlkit.nl())
            table[key] = way
    else:
        table.pop(key, None)


def _write_values(way: Any, access: SshAccess | SqlAccess, plain: Any, defaults: Any) -> None:
    for item in fields_of(access):
        value = _plain(getattr(access, item.name))
        without = (defaults or {}).get(item.name, _plain(getattr(plain, item.name)))
        _set(way, item.name, value, without)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, SecretRef) else value


def _set(table: Any, key: str, value: object, without: object) -> None:
    """Set a key unless it is so already; `without` is what it would be if the key were not there."""
    if key in table:
        if value is None:
            del table[key]
        elif table[key] != value:
            table[key] = value
    elif value is not None and value != without:
        table[key] = value


def _replace(file: Path, text: str) -> None:
    private_folder(file.parent)
    if not is_missing(file):
        write_whole(file.with_name(file.name + ".bak"), read_bounded(file, MOST_BYTES), durable=True)
    write_whole(file, text, durable=True)


def with_host(inventory: Inventory, host: HostEntry) -> Inventory:
    """Return the inventory with this host added, or in the place of the one of its name."""
    if inventory.host(host.name) is None:
        return replace(inventory, hosts=(*inventory.hosts, host))
    return replace(inventory, hosts=tuple(host if h.name == host.name else h for h in inventory.hosts))
