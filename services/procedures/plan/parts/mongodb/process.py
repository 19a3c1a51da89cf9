"""How a host's MongoDB server runs: its program, its unit, its configuration file."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.connections.observer.paths import is_readable
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.errors import BadInput
from services.facts.machine import system
from services.facts.machine.way import not_roots, parse_account, parse_way
from services.facts.mongodb.process import command_line, is_program, may_be_shown, unit_of
from services.facts.mongodb.whose import processes_of
from services.facts.reading import words
from services.facts.server.start_line import command_words
from services.facts.yaml_files.settings import Scalar, settings_of
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.machine.processes import others_seen
from services.secrets import Secret

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

UNIT = "mongod.service"
PATHS = ("/etc/mongod.conf", "/etc/mongos.conf")


@dataclass(frozen=True, slots=True)
class MongoProcess(Part):
    """Read with ps, /proc and systemctl, over SSH.

    Attributes:
        running: how many mongod and mongos run on the host, but for what is only called so; None: not known. strangers:
            what is only called so, of another user or a container, for a person; '' for none.
        program: the file that the unit's main process runs, as the kernel tells it, where root alone may change it;
            '' where not, and `odd` says why. account: number of its user. None: not known. user: where none runs, whom
            the package's unit runs its server as, a name or a number.
        unit: the system's own, '' where it is none's, or there is not exactly one process. enabled: it starts with the
            host.
        path: of its configuration file, where one is known: that of the process, where none runs the one that the
            package's unit would start it with; settings: of it, by their dotted names, sorted.
        others: names of settings that are not looked at. trouble: why the file could not be read as settings.
        text: of the file, for the edits of a plan to be tried on; never shown: it may hold a password.
        given: settings that stand on the process's command line, or on that of the unit where none runs, by their
            dotted names: they win over the file.
        open_way: where others than root may write on the way to the file; '' = nowhere, None = not known.
    """

    running: int | None = None
    program: str = ""
    odd: str = ""
    account: int | None = None
    unit: str = ""
    enabled: bool | None = None
    path: str = ""
    settings: tuple[tuple[str, Scalar], ...] = ()
    others: tuple[str, ...] = ()
    trouble: str = ""
    text: Secret | None = None
    given: tuple[tuple[str, str], ...] = ()
    open_way: str | None = None
    strangers: str = ""
    user: str = ""

    def setting(self, name: str) -> Scalar | None:
        """Return a setting's value, None where the file does not have it."""
        return dict(self.settings).get(name)

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> MongoProcess | None:
        """See Part. Where no server runs, its unit and file are the package's own.

        Root is to write the file that a process was started with: what its server says of it has to agree.
        """
        listing = reading.run("processes", commands.MONGODB_PROCESS)
        if listing is None or listing.exit_code not in {0, 1}:
            return None
        seen = processes_of(listing.text, lambda read: _shown(reading, read), default=lambda: _package_user(reading))
        pids = seen.own
        if not listing.text.strip() and not others_seen(reading, "processes"):
            return None
        mongo = host.node.mongo if host.node is not None else None
        told = mongo.server.configuration if mongo is not None else PATHS[0]
        if len(pids) > 1:
            return cls(running=len(pids), path=told, trouble="several servers run there", strangers=seen.told)
        found = _of_process(pids[0], reading) if pids else _of_package(reading)
        path = dict(found.given).get("config", "") if pids or found.given else told
        settings, others, trouble, text = _settings(path, reading)
        if pids and not found.odd and path != told:
            trouble = f"its process was started with {path or 'no file'}, and the server reports {told or 'none'}"
        if pids and not trouble and mongo is not None:
            trouble = _other_port(found, settings, mongo.server.port)
        return replace(
            found,
            running=len(pids),
            enabled=_enabled(found.unit, reading),
            path=path,
            settings=settings,
            others=others,
            trouble=trouble,
            text=text,
            open_way=_open_way(path, reading, there=text is not None),
            strangers=seen.told,
        )


def _other_port(found: MongoProcess, settings: tuple[tuple[str, Scalar], ...], answers: int | None) -> str:
    """Return that another process answers the console than the unit's: it listens on another port; '' where not so."""
    listens = dict(found.given).get("net.port") or dict(settings).get("net.port")
    if listens is None or answers is None or str(listens) == str(answers):
        return ""
    return f"the server of {found.unit or 'its unit'} listens on port {listens}, and the one that answers on {answers}"


def _shown(reading: Reading, read: CommandRead) -> str:
    output = reading.run("processes", read)
    return output.text if output is not None and not output.exit_code else ""


def _package_user(reading: Reading) -> str:
    return system.properties(_shown(reading, commands.UNIT_ACCOUNT.read(UNIT))).get("User", "")


def _of_process(pid: int, reading: Reading) -> MongoProcess:
    """Return who runs a server, and by what: as systemd and the kernel tell it, never by the process's own words."""
    unit = unit_of(reading.text("process", commands.CONTENT.read(f"/proc/{pid}/cgroup")) or "")
    shown = system.properties(reading.text("unit", commands.UNIT_ACCOUNT.read(unit)) or "") if unit else {}
    if shown.get("MainPID") != str(pid):
        return MongoProcess(odd=f"pid {pid} is not the main process of a system unit")
    text = reading.text("process", commands.RUN_BY_PROGRAM.read(pid, sudo=True)) or ""
    way, account = parse_way(text), parse_account(text)
    if way is None or account is None:
        return MongoProcess(unit=unit, odd=f"which program and account pid {pid} runs with is not known")
    odd = not_roots(way) or ("" if is_program(way[0].path) else f"{way[0].path} is not a program of MongoDB")
    line = reading.text("process", commands.CONTENT.read(f"/proc/{pid}/cmdline")) or ""
    given = tuple(sorted(command_line(line).items()))
    return MongoProcess(program="" if odd else way[0].path, odd=odd, account=account[0], unit=unit, given=given)


def _open_way(path: str, reading: Reading, *, there: bool) -> str | None:
    """Return where others than root may write on the way to a file, and to what it leads to where it is a link."""
    if not is_readable(path):
        return None
    folders = [posixpath.dirname(path)]
    if there:
        way = parse_way(reading.text("configuration", commands.WAY.read(path, sudo=True)) or "")
        if way is None:
            return None
        folders.append(posixpath.dirname(way[0].path))
    for folder in dict.fromkeys(folders):
        owned = reading.run("configuration", commands.PLACE_OWNED.read(folder, sudo=True))
        if owned is None or owned.exit_code:
            return words(owned.text.strip(), 300) or None if owned is not None else None
    return ""


def _of_package(reading: Reading) -> MongoProcess:
    """Return the package's own unit where no server runs: as whom it would start one stands in it."""
    shown = system.properties(reading.text("unit", commands.UNIT_ACCOUNT.read(UNIT)) or "")
    if shown.get("LoadState") != "loaded":
        return MongoProcess()
    user = words(shown.get("User", ""), 64)
    root = user in {"", "0", "root"}
    line = reading.text("unit", commands.START_LINE_OF.read(UNIT, sudo=True))
    argv = command_words(line) if line is not None else None
    # What a script starts a server with is not known ('/etc/init.d/mongod start'): the package's file is taken for it.
    known = argv is not None and is_program(argv[0]) and all(word.startswith("-") for word in argv[1:2])
    given = {"config": "", **command_line("\0".join(argv or ()))} if known else {}
    odd = f"{UNIT} starts its server as root" if root else ""
    return MongoProcess(unit=UNIT, odd=odd, given=tuple(sorted(given.items())), user=user)


def _enabled(unit: str, reading: Reading) -> bool | None:
    """systemctl(1), is-enabled: 'enabled' alone starts with the host by itself."""
    text = reading.text("unit", commands.UNIT_PROPERTY.read("UnitFileState", unit)) if unit else None
    told = system.properties(text or "").get("UnitFileState", "")
    return told == "enabled" if told else None


def _settings(
    path: str, reading: Reading
) -> tuple[tuple[tuple[str, Scalar], ...], tuple[str, ...], str, Secret | None]:
    if not path:
        return (), (), "it was started without a configuration file", None
    if not is_readable(path):
        return (), (), f"{path} is not a place that the console reads, such as /etc/mongod.conf", None
    output = reading.run("configuration", commands.CONTENT.read(path, sudo=True))
    if output is None or output.exit_code:
        return (), (), f"{path} could not be read", None
    try:
        found = settings_of(output.text)
    except BadInput as problem:
        return (), (), problem.sentence, None
    kept = tuple(sorted((name, value) for name, value in found.items() if may_be_shown(name)))
    return kept, tuple(sorted(set(found) - {name for name, _ in kept})), "", Secret(output.text)
