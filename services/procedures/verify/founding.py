"""Would the next start found a cluster of its own; and did the server that runs found one when it was started?"""

from __future__ import annotations

from services.connections.reads import commands
from services.errors import UserError
from services.facts import reads
from services.facts.machine import parse_process
from services.facts.option_files import parse_defaults
from services.facts.start_line import founds, names_nobody, start_line
from services.facts.values import OFF_WORDS
from services.lines import lines_of
from services.procedures.engine.ports import Past
from services.procedures.plan.conditions import Answer
from services.procedures.plan.conditions_founding import FoundsNothing
from services.procedures.verify.asking import Asking, server_options


def founds_nothing(condition: FoundsNothing, asking: Asking, past: Past) -> Answer:
    """Read what systemd would start, and the option files, once more."""
    del past
    host, unit = condition.host, condition.unit
    output = asking.run(host, commands.START_LINE_OF.read(unit, sudo=True))
    line = start_line(output.text, unit) if output.exit_code == 0 else None
    if line is None:
        said = lines_of(output.stderr.decode("utf-8", "replace").strip())
        why = f" ({said[-1]})" if said else ""
        return Answer(holds=None, evidence=f"what {unit} of {host} starts could not be read{why}")
    if wrong := line.founding():
        told = "; ".join(f"on {host} {one}" for one, _ in wrong)
        return Answer(holds=False, evidence=f"{told}. On {host}: {'; '.join(dict.fromkeys(way for _, way in wrong))}")
    if condition.left:
        return Answer(holds=True, evidence=f"nothing has the next start of {unit} on {host} found a cluster")
    if line.script and line.script != condition.script:
        told = f"{unit} of {host} starts the script {line.script}: what that gives the server is not known"
        return Answer(holds=None, evidence=told)
    if line.unread:
        return Answer(holds=None, evidence=f"{', '.join(line.unread)} of {host} could not be read")
    return _by_files(condition, asking)


def founded(asking: Asking, host: str) -> bool:
    """Return whether the server that runs on a host was started to found a cluster. Raises UserError."""
    _, pid = parse_process(asking.run(host, reads.PROCESS).text)
    return pid is not None and founds(asking.run(host, commands.SERVER_WORDS.read(pid)).text)


def founded_words(asking: Asking, host: str) -> str:
    """Return in words that the server of a host, which SQL does not reach, founded a cluster; '' for any other."""
    try:
        there = founded(asking, host)
    except UserError:
        return ""
    told = f"the server of {host} was started with --wsrep-new-cluster: it FOUNDED a cluster of its own"
    return f"{told}, and may take rows that the others never get" if there else ""


def _by_files(condition: FoundsNothing, asking: Asking) -> Answer:
    host, unit = condition.host, condition.unit
    output = server_options(asking, host)
    if output.exit_code:
        return Answer(holds=None, evidence=f"the option files of {host} could not be read")
    given = {option: value for _, option, value in parse_defaults(output.text, "mysqld")}
    if given.get("wsrep_new_cluster", "0").strip().lower() not in OFF_WORDS:
        return Answer(holds=False, evidence=f"wsrep_new_cluster stands in the option files of {host}: remove it")
    address = given.get("wsrep_cluster_address")
    if address is not None and names_nobody(address):
        told = f"wsrep_cluster_address of {host} is {address or 'empty'}: it names nobody to join"
        return Answer(holds=False, evidence=told)
    return Answer(holds=True, evidence=f"{unit} of {host} and its option files found no cluster")
