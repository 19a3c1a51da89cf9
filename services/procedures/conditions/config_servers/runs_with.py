"""What a server of MongoDB runs with: as it says itself, or where it tells nobody, as its process and its file say.

An option on a unit's command line wins over the file (MongoDB manual, "Configuration File Options"): a file that says
what it shall proves nothing of the process.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.document import Document
from services.connections.reads import commands
from services.connections.reads import mongo as reads
from services.errors import BadInput, QueryFailed, UserError
from services.facts.mongodb.process import REPLICA_SETS, command_line
from services.facts.mongodb.values import inside, line
from services.facts.mongodb.whose import processes_of
from services.facts.reading import count
from services.facts.yaml_files.settings import settings_of
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.looking.files import read_file, text_of
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

_MOST = 4000
_AGE_S = 1
"""ps(1) leaves a second that is not whole out."""


@condition("config_servers.runs-with", "the server of {host} to run with the settings of its file")
class RunsWith(OfHost):
    """The running server has these settings, by their dotted names; '' for one that it was not given.

    Attributes:
        path: of its configuration file, read where the server tells nobody what it was started with: one in no set yet
            has no accounts.
        since_step: the step that starts it, '' for none: a process that is younger than the step's act was started by
            it, or since, and what it runs with can't change without another start. An older one may be about to end.
    """

    path: str
    settings: tuple[tuple[str, str], ...]
    since_step: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,) if self.since_step else ())

    def look(self, asking: Asking) -> Answer:
        """Ask for its options; before that for the process's age, for the answer is then of this one or a later one."""
        of_the_step = self._is_of_the_step(asking)
        answer = self._looked(asking)
        return replace(answer, final=answer.final and of_the_step)

    def _is_of_the_step(self, asking: Asking) -> bool:
        """Return whether the one process there was started after the step's act began; False where it is not known."""
        began = asking.past.began.get(self.since_step)
        if began is None:
            return False
        try:
            pids = self._processes(asking)
            told = asking.run(self.host, commands.PROCESS_AGE.read(pids[0])).text if len(pids) == 1 else ""
        except UserError:
            return False
        age = count(told.strip())
        return age is not None and age + _AGE_S < asking.clock.wall() - began

    def _processes(self, asking: Asking) -> tuple[int, ...]:
        """Return the pids of the host's servers; what is only called like one is none."""
        listing = asking.run(self.host, commands.MONGODB_PROCESS).text
        return processes_of(listing, lambda read: text_of(asking, self.host, read)).own

    def _looked(self, asking: Asking) -> Answer:
        try:
            told = asking.session(self.host).ask(reads.COMMAND_LINE, limit_s=LIMIT_S).body
        except QueryFailed as problem:
            return self._by_process(asking, problem)
        parsed = inside(told, "parsed")
        if not parsed:
            return Answer(holds=None, evidence=f"{self.host} does not report its start options")
        return self._judged(
            {name: _told(parsed, name) for name, _ in self.settings}, "", frozenset(dict(self.settings))
        )

    def _by_process(self, asking: Asking, problem: QueryFailed) -> Answer:
        pids = self._processes(asking)
        if len(pids) != 1:
            seen = f"{problem.sentence}; {len(pids)} servers run on {self.host}"
            return Answer(holds=None, evidence=seen)
        shown = asking.run(self.host, commands.CONTENT.read(f"/proc/{pids[0]}/cmdline"))
        given = command_line(shown.text)
        content, why = read_file(asking, self.host, self.path)
        if shown.exit_code or content is None:
            return Answer(
                holds=None, evidence=why or f"what pid {pids[0]} of {self.host} was started with is not known"
            )
        if given.get("config") != self.path:
            seen = f"pid {pids[0]} of {self.host} was started with {given.get('config') or 'no file'}, not {self.path}"
            return Answer(holds=False, evidence=seen, final=True)
        try:
            file = settings_of(content)
        except BadInput as bad:
            return Answer(holds=None, evidence=f"{self.path} on {self.host}: {bad.sentence}")
        runs = {name: given.get(name, str(file.get(name, ""))) for name, _ in self.settings}
        return self._judged(runs, f" (by the command line of pid {pids[0]} and {self.path})", frozenset(given))

    def _judged(self, runs: dict[str, str], by: str, certain: frozenset[str]) -> Answer:
        """Judge what it runs with; of `certain` the process itself tells, and no file, which may be newer."""
        wrong = {name: value for name, value in self.settings if runs[name] != value}
        if wrong:
            evidence = "; ".join(
                f"{name} {runs[name] or 'not set'}, not {value or 'not set'}" for name, value in wrong.items()
            )
            way = "an option on its unit's command line overrides the file"
            said = f"{self.host} runs with {evidence}{by}: {way}"
            return Answer(holds=False, evidence=said, final=bool(certain & wrong.keys()))
        evidence = ", ".join(f"{name} {value or 'not set'}" for name, value in self.settings)
        return Answer(holds=True, evidence=f"{self.host} runs with {evidence}{by}")


def _told(parsed: Document, name: str) -> str:
    *above, own = name.split(".")
    part = inside(parsed, *above)
    names = REPLICA_SETS if own in REPLICA_SETS else (own,)
    found = next((part[one] for one in names if one in part), "")
    return str(found) if isinstance(found, int) else line(found, _MOST)
