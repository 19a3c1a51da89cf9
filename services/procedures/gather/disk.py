"""One host's disk and configuration: the data folder, the state files, the option files, what systemd and ps say."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace

from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts import option_files as options
from services.facts import reads
from services.facts.client_text import without_client_text
from services.facts.machine import parse_df, parse_du
from services.facts.model import DiskFacts
from services.facts.reading import count, size
from services.lines import lines_of
from services.procedures.engine.lock import lock_path, parse_lock
from services.procedures.gather import system
from services.procedures.gather.haproxy import haproxies
from services.procedures.gather.reader import Reader
from services.procedures.gather.state_files import made_by_hand, parse_grastate, parse_gvwstate, parse_listing
from services.procedures.plan.host_facts import HostFacts

ASIDE = ".pilothouse-before"
DU_LIMIT_S = 30.0
_MOST_FILES = 40
_LOG_LINES = 300


def with_options(host: HostFacts, reader: Reader) -> HostFacts:
    """Read what the option files give and say; the data folder out of them where no server tells it."""
    server = _server_options(reader)
    sst = reader.text("options", commands.GROUP_OPTIONS.read("sst", sudo=True))
    reader.sst_user = options.sst_user(server or "")
    backup = reader.text("options", commands.GROUP_OPTIONS.read("xtrabackup", "mariabackup", sudo=True))
    found = options.parse_defaults(server or "", "mysqld") + options.parse_defaults(sst or "", "sst")
    found += options.parse_defaults(backup or "", "backup")  # of either program: a host has only one
    given = replace(host, options=found, option_files=_files(reader))
    provider = host.provider_options or options.provider_options_of(
        given.option("mysqld", "wsrep_provider_options") or ""
    )
    return replace(
        given,
        datadir=reads.clean(host.datadir)
        if host.datadir
        else reads.clean(given.option("mysqld", "datadir") or reads.DEFAULT_DATADIR),
        node_name=host.node_name or given.option("mysqld", "wsrep_node_name") or "",
        provider_path=host.provider_path or given.option("mysqld", "wsrep_provider") or "",
        provider_options=provider,
    )


def _server_options(reader: Reader) -> str | None:
    """Return what the option files give the server."""
    output = reader.run("options", commands.SERVER_OPTIONS)
    if output is not None and output.exit_code == 0:
        return output.text
    return reader.text("options", commands.GROUP_OPTIONS.read(*options.SERVER_GROUPS, sudo=True))


def _files(reader: Reader) -> tuple[tuple[str, str], ...]:
    """Return the option files in the order in which the server reads them; what it can't read is left out."""
    found: dict[str, str] = {}

    def read(path: str, depth: int) -> None:
        if path in found or len(found) >= _MOST_FILES or depth > 4:
            return
        output = reader.run("option-files", commands.CONTENT.read(path, sudo=True))
        if output is None or output.exit_code:
            return
        found[path] = options.masked_file(output.text)
        for name, is_folder in options.includes(output.text):
            if not is_folder:
                read(name, depth + 1)
                continue
            listing = reader.run("option-files", commands.NAMES.read(name, sudo=True))
            for file in options.read_in_folder(listing.text) if listing is not None else ():
                read(posixpath.join(name, file), depth + 1)

    for path in options.ROOT_FILES:
        read(path, 0)
    return tuple(found.items())


def with_data_folder(host: HostFacts, reader: Reader, *, sizes: bool) -> HostFacts:
    """Read the data folder: what is in it, the state files, sizes and free space of it and of the gcache's folder."""
    folder = reads.clean(host.datadir or reads.DEFAULT_DATADIR)
    text = reader.text("datadir", commands.LISTED_AT.read(folder, sudo=True))
    listing = parse_listing(text or "")
    known = text is not None
    gcache = _gcache_dir(host, folder)
    pages = listing.pages
    if gcache != folder:
        pages = parse_listing(reader.text("gcache", commands.LISTED_AT.read(gcache, sudo=True)) or "").pages
    disk, cache_disk = _disk(reader, folder), _disk(reader, gcache)
    host = replace(
        host,
        datadir=folder,
        datadir_entries=listing.entries if known else None,
        data_bytes=_data_bytes(reader, folder) if sizes and known else host.data_bytes,
        disk_free=disk.free,
        disk_size=disk.size,
        disk_mount=disk.mount,
        gcache_dir=gcache,
        gcache_free=cache_disk.free,
        gcache_disk_size=cache_disk.size,
        gcache_mount=cache_disk.mount,
        gcache_pages=pages,
        gcache_page_size=size(host.provider_option("gcache.page_size") or "") or None,
        galera_cache=listing.galera_cache if known else None,
        grastate_absent=not listing.grastate if known else None,
        sst_in_progress=listing.sst_in_progress if known else None,
        tablespace=listing.tablespace if known else None,
        mysql_uid=count((reader.text("datadir", commands.OWNER.read(folder, sudo=True)) or "").strip()),
    )
    aside = reader.run("datadir", commands.FILE_KIND.read(folder.rstrip("/") + ASIDE, sudo=True))
    if aside is not None and aside.exit_code == 0:
        reader.note("datadir", f"An older data folder kept aside: {folder.rstrip('/')}{ASIDE}", "kept-aside")
    return _with_state_files(host, reader, grastate=listing.grastate)


def _with_state_files(host: HostFacts, reader: Reader, *, grastate: bool) -> HostFacts:
    def read(name: str) -> str | None:
        output = reader.run("grastate", commands.CONTENT.read(posixpath.join(host.datadir, name), sudo=True))
        return output.text if output is not None and output.exit_code == 0 else None

    text = read("grastate.dat") if grastate else None
    state = parse_grastate(text) if text is not None else None
    damaged = text is not None and state is None
    if damaged:
        reader.note("grastate", f"grastate.dat of {reader.host} is damaged: it holds no whole state.", "grastate-odd")
    view = read("gvwstate.dat") or ""
    return replace(
        host,
        grastate=state,
        grastate_damaged=damaged,
        gvwstate=parse_gvwstate(view),
        gvwstate_by_hand=made_by_hand(view),
    )


def _gcache_dir(host: HostFacts, folder: str) -> str:
    """Return gcache.dir; a relative one counts from base_dir (Galera documentation, "gcache.dir")."""
    given = host.provider_option("gcache.dir") or ""
    return reads.clean(posixpath.join(folder, given)) if given else folder


def _disk(reader: Reader, path: str) -> DiskFacts:
    found = parse_df(reader.text("disk", commands.DISK.read(path, sudo=True)) or "")
    return found[0] if found else DiskFacts("")


def _data_bytes(reader: Reader, folder: str) -> int | None:
    output = reader.run("datadir", commands.SIZE.read(folder, sudo=True), limit_s=DU_LIMIT_S)
    return parse_du(output.text) if output is not None else None  # files that vanish meanwhile make its exit code 1


def with_system(host: HostFacts, reader: Reader) -> HostFacts:
    """Read what systemd and ps say, and which programs are there."""
    is_root = reader.run("root", commands.WHO.read(sudo=True))
    unit = host.unit or "mariadb.service"
    shown = system.properties(reader.text("unit", commands.UNIT_SETTINGS.read(unit)) or "")
    table = reader.text("ps", commands.PROCESSES)
    places = _places(host)
    found = [
        reader.run("programs", commands.FILES_THERE.read(*places[at : at + commands.MOST_PATHS]))
        for at in range(0, len(places), commands.MOST_PATHS)
    ]
    there = "".join(output.text for output in found if output is not None)
    return replace(
        host,
        is_root=None if is_root is None else is_root.text.strip() == "0",
        unit=unit if shown.get("LoadState") == "loaded" else host.unit,
        unit_state=f"{shown['ActiveState']}/{shown.get('SubState', '')}" if "ActiveState" in shown else host.unit_state,
        unit_result=shown.get("Result", ""),
        restart_policy=shown.get("Restart", ""),
        timeout_stop_s=system.seconds_of(shown.get("TimeoutStopUSec", "")),
        sst_orphans=system.orphans(table or ""),
        running_backups=system.backups(table or ""),
        balancers=system.balancers(table or ""),
        haproxies=haproxies(reader, table) if table and "haproxy" in system.balancers(table) else (),
        programs=system.programs_there(there),
    )


def _places(host: HostFacts) -> tuple[str, ...]:
    named = tuple(
        value.split()[0].rsplit("/", 1)[-1]
        for section, option, value in host.options
        if section == "sst" and option in {"compressor", "decompressor"} and value.split()
    )
    return system.program_paths(tuple(dict.fromkeys((*named, *system.PROGRAMS))))


def with_program(host: HostFacts, reader: Reader) -> HostFacts:
    """Read the installed server program's version, and whether it accepts the option files."""
    for program in ("/usr/sbin/mariadbd", "/usr/sbin/mysqld"):
        output = reader.run("program", commands.PROGRAM_VERSION.read(program))
        line, version = system.version_of(output.text) if output is not None and output.exit_code == 0 else ("", ())
        if not version:
            continue
        checked = reader.run("config", commands.PROGRAM_CHECKED.read(program, sudo=True), limit_s=15.0)
        fault = ""
        if checked is not None:
            fault = system.config_fault(checked.exit_code, checked.stderr.decode("utf-8", "replace"))
        return replace(
            host,
            server_program=line,
            program_version=version,
            config_fault=fault,
            config_checked=checked is not None and reader.sudo_works is True,
        )
    reader.note("program", "No server program was found in /usr/sbin.", "no-program")
    return host


def with_log_and_lock(host: HostFacts, reader: Reader, cluster_id: str, log_error: str = "") -> HostFacts:
    """Read the newest errors of the server's log, and the lock of a console on this cluster."""
    path = reads.log_path(log_error or host.option("mysqld", "log_error") or "", host.datadir)
    log = reader.run("log", _log_read(host, path))
    lock = reader.run("lock", commands.CONTENT.read(lock_path(cluster_id), sudo=True))
    return replace(
        host,
        last_errors=_errors(log.text) if log is not None and log.exit_code == 0 else (),
        lock=parse_lock(lock.text) if lock is not None and lock.exit_code == 0 else None,
    )


def _log_read(host: HostFacts, path: str) -> CommandRead:
    if path:
        return reads.error_log(path, _LOG_LINES, sudo=True)
    return reads.journal(host.unit or "mariadb", _LOG_LINES, sudo=True)


def _errors(log: str) -> tuple[str, ...]:
    """Return the newest errors that are the server's own words."""
    lines = lines_of(log)
    return system.errors_of("\n".join(without_client_text(lines, begins_inside=len(lines) >= _LOG_LINES)))


def durability_of(variables: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the settings that decide what a crash may cost."""
    wanted = ("innodb_flush_log_at_trx_commit", "sync_binlog")
    return tuple((name, variables[name]) for name in wanted if name in variables)
