"""What an act's output becomes: judged by its exit code, searched for a value, cut to its last lines, masked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from services.connections.command import MASK
from services.errors import UserError
from services.facts.logs.causes import cause, cause_or_last
from services.facts.masking import masked_line
from services.i18n import tr
from services.lines import lines_of
from services.procedures.engine.ports import Acted, ActFailed
from services.visible import visible

MOST_LINES = 40
_MOST_WIDTH = 500
_MOST_SEARCHED = 2_000
_MOST_VALUE = 20_000


class Cancelled(UserError):  # noqa: N818 - as above
    """A person cancelled inside the act, and it was ended."""

    code = "cancelled"


@dataclass(slots=True)
class Masks:
    """The secrets that this run has handled; every line that leaves an act goes through `lines`."""

    known: set[str] = field(default_factory=set, repr=False)

    def learn(self, secret: str) -> None:
        """Remember a secret, and the parts of an account:password pair."""
        for part in (secret, secret.partition(":")[2]):
            if len(part) >= 3:
                self.known.add(part)

    def lines(self, text: str, most: int = MOST_LINES) -> tuple[str, ...]:
        """Return the last lines of a text that are not empty, cut and without secrets."""
        return tuple(map(self._shown, _filled(text)[-most:]))

    def failed_lines(self, text: str) -> tuple[str, ...]:
        """Return the same of an act that failed; where its first error stands before the last lines, it leads them."""
        every = _filled(text)
        last, first = every[-MOST_LINES:], cause(tuple(every))
        behind = next((line for line in every[: -len(last)] if first and first in line), "")
        return tuple(map(self._shown, [behind, *last[1:]] if behind else last))

    def _shown(self, line: str) -> str:
        line = line[:_MOST_SEARCHED]  # a host may print a line of megabytes, and the search goes back for each letter
        for secret in sorted(self.known, key=len, reverse=True):
            line = line.replace(secret, MASK)
        return visible(masked_line(line))[:_MOST_WIDTH]


def _filled(text: str) -> list[str]:
    return [line.rstrip() for line in lines_of(text) if line.strip()]


def judged(
    what: str, output: tuple[int, str, str], *, host: str, ok: tuple[int, ...], keep: str, pattern: str, masks: Masks
) -> Acted:
    """Return what a finished command left.

    Args:
        what: the command, masked; output: exit code, stdout, stderr.

    Raises:
        ActFailed: another exit code than `ok`, or the pattern is not found.
    """
    code, stdout, stderr = output
    both = f"{stdout}\n{stderr}"
    safe = tr("Possible changes on {host} before the failure are not known; the output shows its progress.",
              host=host)  # fmt: skip
    if code not in ok:
        lines = masks.failed_lines(both)
        why = f": {cause_or_last(lines)}" if lines else ""
        raise ActFailed(tr("{what} ended with exit code {code}{why}", what=what, code=code, why=why), host=host,
                        safe=safe, output=lines)  # fmt: skip
    lines = masks.lines(both)
    value = stdout.strip()
    if pattern:
        found = re.search(pattern, both, re.MULTILINE)
        if found is None:
            raise ActFailed(tr("{what} succeeded, but its output does not match {pattern}.", what=what,
                               pattern=pattern), host=host, safe=safe, output=lines)  # fmt: skip
        value = visible(((found.group(1) if found.re.groups else found.group()) or "")[:_MOST_VALUE])
    return Acted(lines, ((keep, value),) if keep else ())
