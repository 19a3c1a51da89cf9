"""What files say, and that one is not there."""

from __future__ import annotations

import re

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.facts.masking import masked
from services.facts.server.harmless_options import is_secret
from services.lines import lines_of
from services.procedures.looking.files import digest, read_file, wrote_name
from services.procedures.looking.own_lines import own_lines
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("machine.file-absent", "a file to be gone from {host}")
class FileAbsent(OfHost):
    """No such file."""

    path: str

    def look(self, asking: Asking) -> Answer:
        """Look whether there is such a file or folder."""
        output = asking.run(self.host, commands.FILE_KIND.read(self.path, sudo=True))
        if output.exit_code == 0:
            return Answer(holds=False, evidence=f"{self.path} exists on {self.host} ({output.text.strip()})")
        said = output.error_text
        if is_absent(output):
            return Answer(holds=True, evidence=f"{self.path} does not exist on {self.host}")
        return Answer(holds=None, evidence=said or f"stat ended with exit code {output.exit_code}")


@condition("machine.file-without", "the lines of the run to be gone from a file on {host}")
class FileWithout(OfHost):
    """Nothing of what a run wrote stands in a file: it is missing, or what it says is somebody else's alone.

    Attributes:
        wrote: what the run wrote, as RemoveFile has it.
    """

    path: str
    wrote: str

    def look(self, asking: Asking) -> Answer:
        """Look for the run's own lines in what stands there."""
        there = FileAbsent(self.host, self.path).look(asking)  # what is gone is never not known for its place
        if there.holds is not False:
            return there
        content, why = read_file(asking, self.host, self.path)
        if content is None:
            return Answer(holds=None if why else True, evidence=why or f"{self.path} does not exist on {self.host}")
        if content == self.wrote:
            return Answer(holds=False, evidence=f"{self.path} exists on {self.host}")
        if own := own_lines(None, self.wrote, content):
            lines = "; ".join(_shown(line) for line in own)
            evidence = f"{self.path} on {self.host} was changed by someone else and still contains lines of this run"
            how = f"Remove these lines by hand: {lines}"
            how += "; then run systemctl daemon-reload" if "/systemd/" in self.path else ""
            return Answer(holds=False, evidence=f"{evidence}. {how}")
        evidence = f"{self.path} on {self.host} belongs to someone else: it contains nothing of this run and is kept"
        return Answer(holds=True, evidence=evidence)


@condition("machine.file-not-as-put", "the files of the run to be gone from {host}")
class FileNotAsPut(OfHost):
    """A file that a run put is gone, or what lies there is somebody else's: only a digest is read and compared."""

    path: str

    def look(self, asking: Asking) -> Answer:
        """Compare the digest of what lies there with the one that was kept of what was put."""
        there = FileAbsent(self.host, self.path).look(asking)
        if there.holds is not False:
            return there
        output = asking.run(self.host, commands.FILE_DIGEST.read(self.path, sudo=True))
        found, wrote = output.text.strip(), asking.past.kept.get(wrote_name(self.host, self.path))
        if output.exit_code != 0 or wrote is None or len(found) < len(wrote):
            evidence = output.error_text or f"{self.path} exists on {self.host}; its content from this run is not known"
            return Answer(holds=None, evidence=evidence)
        if found == wrote:
            return Answer(holds=False, evidence=f"{self.path} exists on {self.host}, as this run put it")
        evidence = f"{self.path} on {self.host} was changed by someone else after this run created it, and is kept"
        return Answer(holds=True, evidence=evidence)


@condition("machine.file-says", "a file on {host}")
class FileSays(OfHost):
    """The file exists and a line matches the regular expression."""

    path: str
    pattern: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), patterns=(self.pattern,))

    def look(self, asking: Asking) -> Answer:
        """Search the file's lines."""
        content, why = read_file(asking, self.host, self.path)
        if content is None:
            absent = f"{self.path} does not exist on {self.host}"
            return Answer(holds=None if why else False, evidence=why or absent)
        pattern = re.compile(self.pattern)
        line = next((one for one in lines_of(content) if pattern.search(one)), None)
        if line is None:
            return Answer(holds=False, evidence=f"no line of {self.path} on {self.host} matches")
        return Answer(holds=True, evidence=f"{self.path} on {self.host} says: {_shown(line)}")


@condition("machine.file-as-written", "the file on {host} to be as this run wrote it")
class FileAsWritten(OfHost):
    """A file is as this run wrote it: nobody else changed it since."""

    path: str

    def look(self, asking: Asking) -> Answer:
        """Compare the file with what was kept of it when it was written."""
        content, why = read_file(asking, self.host, self.path)
        if why:
            return Answer(holds=None, evidence=why)
        wrote = asking.past.kept.get(wrote_name(self.host, self.path))
        if wrote is None:
            evidence = f"the content that this run wrote to {self.path} on {self.host} is not known"
            return Answer(holds=None, evidence=evidence)
        if content is not None and digest(content) == wrote:
            return Answer(holds=True, evidence=f"{self.path} on {self.host} is as this run wrote it")
        what = "changed" if content is not None else "removed"
        return Answer(holds=False, evidence=f"{self.path} on {self.host} was {what} by someone else since")


def _shown(line: str) -> str:
    """Return a line as evidence: never a secret's value."""
    name, sign, _ = line.partition("=")
    return f"{name.strip()} = ********" if sign and is_secret(name) else masked(line.strip())
