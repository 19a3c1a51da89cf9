"""What a server of MongoDB runs with: as it says itself, or where it tells nobody, as its process and its file say.

An option on a unit's command line wins over the file (MongoDB manual, "Configuration File Options"): a file that says
what it shall proves nothing of the process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from services.connections.mongo.document import Document
from services.connections.reads import commands
from services.connections.reads import mongo as reads
from services.errors import BadInput, QueryFailed
from services.facts.mongodb.process import REPLICA_SETS, command_line, parse_processes
from services.facts.mongodb.values import inside, line
from services.facts.yaml_settings import settings_of
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.looking.files import read_file
from services.procedures.plan.condition import Answer, OfHost
from services.procedures.plan.looks import Asking, Past
from services.procedures.plan.remembering import Memory
from services.procedures.plan.scripted import World

_MOST = 4000


@dataclass(frozen=True, slots=True)
class RunsWith(OfHost):
    """The running server has these settings, by their dotted names; '' for one that it was not given.

    Attributes:
        path: of its configuration file, read where the server tells nobody what it was started with: one in no set yet
            has no accounts.
    """

    tag: ClassVar[str] = "config_servers.runs-with"
    words: ClassVar[str] = "the server of {host} to run with what its file says"

    path: str
    settings: tuple[tuple[str, str], ...]

    def look(self, asking: Asking, past: Past) -> Answer:
        """Ask for its options."""
        del past
        try:
            told = asking.session(self.host).ask(reads.COMMAND_LINE, limit_s=LIMIT_S).body
        except QueryFailed as problem:
            return self._by_process(asking, problem)
        parsed = inside(told, "parsed")
        if not parsed:
            return Answer(holds=None, evidence=f"{self.host} does not tell what it was started with")
        return self._judged({name: _told(parsed, name) for name, _ in self.settings}, "")

    def _by_process(self, asking: Asking, problem: QueryFailed) -> Answer:
        listing = asking.run(self.host, commands.MONGODB_PROCESS)
        pids = parse_processes(listing.text)
        if len(pids) != 1:
            seen = f"{problem.sentence}; {len(pids)} servers run on {self.host}"
            return Answer(holds=None, evidence=seen)
        shown = asking.run(self.host, commands.CONTENT.read(f"/proc/{pids[0]}/cmdline"))
        given = command_line(shown.text)
        content, why = read_file(asking, self.host, self.path)
        if shown.exit_code or content is None:
            return Answer(holds=None, evidence=why or f"what pid {pids[0]} of {self.host} was started with is not told")
        if given.get("config") != self.path:
            seen = f"pid {pids[0]} of {self.host} was started with {given.get('config') or 'no file'}, not {self.path}"
            return Answer(holds=False, evidence=seen)
        try:
            file = settings_of(content)
        except BadInput as bad:
            return Answer(holds=None, evidence=f"{self.path} on {self.host}: {bad.sentence}")
        runs = {name: given.get(name, str(file.get(name, ""))) for name, _ in self.settings}
        return self._judged(runs, f" (by the command line of pid {pids[0]} and {self.path})")

    def _judged(self, runs: dict[str, str], by: str) -> Answer:
        wrong = [f"{name} {runs[name] or 'not set'}, not {value or 'not set'}" for name, value in self.settings
                 if runs[name] != value]  # fmt: skip
        if wrong:
            way = "an option on its unit's command line wins over the file"
            return Answer(holds=False, evidence=f"{self.host} runs with {'; '.join(wrong)}{by}: {way}")
        told = ", ".join(f"{name} {value or 'not set'}" for name, value in self.settings)
        return Answer(holds=True, evidence=f"{self.host} runs with {told}{by}")

    def scripted(self, world: World, past: Past, memory: Memory) -> Answer:
        """See Condition."""
        del past, memory
        host = world.hosts[self.host]
        file = settings_of(world.text(host, self.path))
        return self.told(host.running and all(str(file.get(name, "")) == value for name, value in self.settings))


def _told(parsed: Document, name: str) -> str:
    *above, own = name.split(".")
    part = inside(parsed, *above)
    names = REPLICA_SETS if own in REPLICA_SETS else (own,)
    found = next((part[one] for one in names if one in part), "")
    return str(found) if isinstance(found, int) else line(found, _MOST)
