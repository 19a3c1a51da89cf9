"""How a host's MongoDB server runs: its program, its unit, its configuration file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.allowlist_paths import is_readable
from services.connections.reads import commands
from services.errors import BadInput
from services.facts import system
from services.facts.mongodb.process import may_be_shown, parse_processes, program_of, unit_of
from services.facts.yaml_settings import Scalar, settings_of
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

PATHS = ("/etc/mongod.conf", "/etc/mongos.conf")


@dataclass(frozen=True, slots=True)
class MongoProcess(Part):
    """Read with ps, /proc and systemctl, over SSH.

    Attributes:
        running: how many mongod and mongos run on the host; None: not known.
        program: its file; unit: systemd's, '' where it is none's, or there is not exactly one process. enabled: the
            unit starts with the host.
        path: of its configuration file, where one is known; settings: of it, by their dotted names, sorted.
        others: names of settings that are not looked at. trouble: why the file could not be read as settings.
    """

    running: int | None = None
    program: str = ""
    unit: str = ""
    enabled: bool | None = None
    path: str = ""
    settings: tuple[tuple[str, Scalar], ...] = ()
    others: tuple[str, ...] = ()
    trouble: str = ""

    def setting(self, name: str) -> Scalar | None:
        """Return a setting's value, None where the file does not have it."""
        return dict(self.settings).get(name)

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part. Where no server runs, its unit and file are the package's own."""
        listing = reading.run("processes", commands.MONGODB_PROCESS)
        if listing is None or listing.exit_code not in {0, 1}:
            return None
        pids = parse_processes(listing.text)
        mongo = host.node.mongo if host.node is not None else None
        path = mongo.server.configuration if mongo is not None else PATHS[0]
        if len(pids) > 1:
            return cls(running=len(pids), path=path, trouble="several servers run there")
        program, unit = "", ""
        if pids:
            program = program_of(reading.text("process", commands.CONTENT.read(f"/proc/{pids[0]}/cmdline")) or "")
            unit = unit_of(reading.text("process", commands.CONTENT.read(f"/proc/{pids[0]}/cgroup")) or "")
        else:
            shown = system.properties(reading.text("unit", commands.UNIT_SETTINGS.read("mongod.service")) or "")
            unit = "mongod.service" if shown.get("LoadState") == "loaded" else ""
        settings, others, trouble = _settings(path, reading)
        return cls(len(pids), program, unit, _enabled(unit, reading), path, settings, others, trouble)


def _enabled(unit: str, reading: Reading) -> bool | None:
    """systemctl(1), is-enabled: 'enabled' alone starts with the host by itself."""
    text = reading.text("unit", commands.UNIT_PROPERTY.read("UnitFileState", unit)) if unit else None
    told = system.properties(text or "").get("UnitFileState", "")
    return told == "enabled" if told else None


def _settings(path: str, reading: Reading) -> tuple[tuple[tuple[str, Scalar], ...], tuple[str, ...], str]:
    if not path:
        return (), (), "it was started without a configuration file"
    if not is_readable(path):
        return (), (), f"{path} is no place that the console reads: /etc/mongod.conf and its like are"
    output = reading.run("configuration", commands.CONTENT.read(path, sudo=True))
    if output is None or output.exit_code:
        return (), (), f"{path} could not be read"
    try:
        found = settings_of(output.text)
    except BadInput as problem:
        return (), (), problem.sentence
    kept = tuple(sorted((name, value) for name, value in found.items() if may_be_shown(name)))
    return kept, tuple(sorted(set(found) - {name for name, _ in kept})), ""
