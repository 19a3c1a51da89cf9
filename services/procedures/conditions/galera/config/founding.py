"""Would the next start found a cluster of its own; and did the server that runs found one when it was started?"""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.server.option_files import parse_defaults
from services.facts.server.start_line import names_nobody, start_line
from services.facts.server.values import OFF_WORDS
from services.lines import lines_of
from services.procedures.looking.asked import server_options
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.founds-nothing", "the next start of {host} not to bootstrap a new cluster")
class FoundsNothing(OfHost):
    """Nothing that decides the server's command line has its next start found a cluster: files, systemd, the unit.

    Attributes:
        script: the script that the unit starts, whose own words are not known: it was there when the run was planned,
            and its checklist said so.
        left: only what a founding start leaves behind is looked for, in systemd's environment and the unit's.
    """

    unit: str
    script: str = ""
    left: bool = False

    def look(self, asking: Asking) -> Answer:
        """Read what systemd would start, and the option files, once more."""
        host, unit = self.host, self.unit
        output = asking.run(host, commands.START_LINE_OF.read(unit, sudo=True))
        line = start_line(output.text, unit) if output.exit_code == 0 else None
        if line is None:
            said = lines_of(output.error_text)
            why = f" ({said[-1]})" if said else ""
            return Answer(holds=None, evidence=f"what {unit} of {host} starts could not be read{why}")
        if wrong := line.founding():
            evidence = "; ".join(f"on {host} {one}" for one, _ in wrong)
            return Answer(
                holds=False, evidence=f"{evidence}. On {host}: {'; '.join(dict.fromkeys(way for _, way in wrong))}"
            )
        if self.left:
            return Answer(holds=True, evidence=f"nothing makes the next start of {unit} on {host} found a cluster")
        if line.script and line.script != self.script:
            evidence = (
                f"{unit} of {host} starts the script {line.script}: the options that it passes "
                "to the server are not known"
            )
            return Answer(holds=None, evidence=evidence)
        if line.unread:
            return Answer(holds=None, evidence=f"{', '.join(line.unread)} of {host} could not be read")
        return _by_files(self, asking)


def _by_files(condition: FoundsNothing, asking: Asking) -> Answer:
    host, unit = condition.host, condition.unit
    output = server_options(asking, host)
    if output.exit_code:
        return Answer(holds=None, evidence=f"the option files of {host} could not be read")
    given = {option: value for _, option, value in parse_defaults(output.text, "mysqld")}
    if given.get("wsrep_new_cluster", "0").strip().lower() not in OFF_WORDS:
        return Answer(holds=False, evidence=f"wsrep_new_cluster is set in the option files of {host}: remove it")
    address = given.get("wsrep_cluster_address")
    if address is not None and names_nobody(address):
        evidence = f"wsrep_cluster_address of {host} is {address or 'empty'}: it contains no address to join"
        return Answer(holds=False, evidence=evidence)
    return Answer(holds=True, evidence=f"{unit} of {host} and its option files do not bootstrap a cluster")
