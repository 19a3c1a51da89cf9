"""What a host's option files give the scripts of a state transfer now, for looks. Secrets are ******** as ever."""

from __future__ import annotations

from services.connections.ports import Output
from services.connections.reads import commands
from services.errors import UserError
from services.facts.server.option_files import parse_defaults
from services.facts.transfer.sst_options import GROUPS, Given
from services.i18n import tr
from services.procedures.looking.asked import server_options
from services.procedures.plan.looks import Asking


def given_now(asking: Asking, host: str) -> tuple[Given, ...]:
    """Return (group, option, value) as my_print_defaults gives them now. Raises UserError where one can't be read."""
    found = parse_defaults(_text(server_options(asking, host), host), "mysqld")
    for group in GROUPS[1:]:
        found += parse_defaults(_text(asking.run(host, commands.GROUP_OPTIONS.read(group, sudo=True)), host), group)
    return found


def _text(output: Output, host: str) -> str:
    if output.exit_code:
        why = output.error_text or tr("exit code {code}", code=output.exit_code)
        raise UserError(tr("The option files of {host} could not be read: {why}", host=host, why=why), host=host)
    return output.text
