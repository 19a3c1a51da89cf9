"""What looks ask alike: what option files give a server, and numbers of the plan or of the run."""

from __future__ import annotations

from services.connections.ports import Output
from services.connections.reads import commands
from services.facts.reading import last_number
from services.facts.server.option_files import SERVER_GROUPS
from services.procedures.plan.condition import Kept, Number
from services.procedures.plan.looks import Asking, Past


def server_options(asking: Asking, host: str) -> Output:
    """Read what a host's option files give its server, stopped or not."""
    output = asking.run(host, commands.SERVER_OPTIONS)
    if output.exit_code:  # MySQL's program has no --mysqld
        output = asking.run(host, commands.GROUP_OPTIONS.read(*SERVER_GROUPS, sudo=True))
    return output


def number_of(value: Number, past: Past) -> int | None:
    """Return a number of the plan, or of the run's kept values; None when that was not kept (or is no number)."""
    if not isinstance(value, Kept):
        return value
    return last_number(past.kept.get(value.name, ""))
