"""Whether a login's commands are run at all: a shell for nobody, or a forced command, answers every one alike.

Such an answer has an exit code and an output like any other: '1 and nothing' is what `ps` gives where it finds nothing.
So what must be there is looked for: the kernel's files have their form and the clock is a number. nologin(8); sshd(8),
AUTHORIZED_KEYS FILE FORMAT: command=; sshd_config(5): ForceCommand.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from services.connections.ports import Output
from services.connections.reads.commands import CLOCK, HOST_FILES
from services.connections.reads.read import CommandRead
from services.errors import NoCommands
from services.i18n import tr
from services.visible import as_line

_KERNELS = re.compile(
    r"^(MemTotal:\s+\d+ kB|cpu\s+\d+ \d+|Linux version \S+ |PRETTY_NAME=|[0-9a-f]{32}$)", re.MULTILINE
)
_CLOCK = re.compile(r"\s*\d{9,11}(\.(\d{1,9}|%?N)?)?\s*", re.ASCII)
_MOST = 120


def commands_tried(run: Callable[[CommandRead], Output], host: str) -> NoCommands | None:
    """Try two commands; return the error where none is run for the login. Raises what `run` raises."""
    return no_commands(run(HOST_FILES), run(CLOCK), host=host)


def no_commands(files: Output, clock: Output, *more: Output, host: str) -> NoCommands | None:
    """Return the error where neither answer is one of its command, None where a command was run.

    Args:
        files, clock: of reads.commands' HOST_FILES and CLOCK; more: of other commands, that may lack every form.
    """
    answers = (files, clock, *more)
    same = len({(one.exit_code, one.stdout, one.stderr) for one in answers}) == 1
    if _KERNELS.search(files.text) or (_CLOCK.fullmatch(clock.text) and not same):
        return None
    said = as_line(clock.text, _MOST) or as_line(clock.error_text, _MOST)
    words = tr('each command returns "{said}"', said=said)
    if not said:
        words = tr("each command ends with exit code {code} and no output", code=clock.exit_code)
    return NoCommands(
        tr("This login cannot run commands, although SSH accepts it: {words}.", words=words),
        host=host,
        try_=(
            tr("Give the login a shell on the host (chsh), or use another login in the inventory."),
            tr("Look for command= before its key in authorized_keys, and for ForceCommand in sshd_config."),
        ),
    )
