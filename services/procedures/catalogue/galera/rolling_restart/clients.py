"""How clients leave a node before a restart and come back after it; and again, when a changed option is taken back.

An undo stops the node once more: whatever kept clients away is switched on first, and told as an obligation until the
undo of the step that took it first has ended it.
"""

from __future__ import annotations

from dataclasses import replace

from services.connections.sql.statement import Keyword, set_global
from services.procedures.catalogue.steps import set_before
from services.procedures.catalogue.steps import traffic as steps
from services.procedures.catalogue.steps.haproxy import drain_steps, return_steps
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Ask, Sql, WaitFor
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of, seconds_of
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo


def by_haproxy(values: Inputs) -> bool:
    """Return whether HAProxy takes the clients to other nodes."""
    return values["drain"] == "haproxy"


def drained(facts: Facts, values: Inputs, host: HostFacts, prefix: str) -> list[Step]:
    """Return the steps that lead clients away and wait for them."""
    limit, cut = seconds_of(values["drain_limit"]) or 120.0, flag_of(values["cut"]) is True
    if by_haproxy(values):
        return drain_steps(facts, host.host, limit, prefix, cut=cut)
    if values["drain"] == "server":
        waits = _patient(host, limit, prefix) if cut else steps.wait_no_clients(host, limit, (), prefix)
        reject = [] if set_before.refusing(host) else [steps.reject_queries(facts, host, prefix)]
        return [*reject, waits, *([_cut(host, prefix)] if cut else [])]
    if values["drain"] == "person":
        question = Ask(f"Is {host.host} removed from the load balancer?", unattended="done")
        asked = _asked(f"{prefix}out-of-balancer", f"Remove {host.host} from the load balancer, then confirm", question)
        return [asked, steps.wait_no_clients(host, limit, (), prefix)]
    return []


def undrained(facts: Facts, values: Inputs, host: HostFacts, prefix: str, *, stops_again: bool) -> list[Step]:
    """Return the steps that let clients back; `stops_again`: taken back, the node goes down once more."""
    limit = seconds_of(values["drain_limit"]) or 120.0
    return [*_back(facts, values, host, prefix, limit if stops_again else None),
            *set_before.at_last(host, values, limit, prefix)]  # fmt: skip


def _back(facts: Facts, values: Inputs, host: HostFacts, prefix: str, again_s: float | None) -> list[Step]:
    if by_haproxy(values):
        return return_steps(facts, host.host, prefix, again_s=again_s)
    if values["drain"] == "server" and not set_before.refusing(host):
        accept = steps.accept_queries(facts, host, prefix)
        return [replace(accept, undo=_reject_again(facts, host, again_s, prefix)) if again_s is not None else accept]
    if values["drain"] == "person":
        question = Ask(f"Is {host.host} back in the load balancer?", unattended="done")
        return [_asked(f"{prefix}into-balancer", f"Add {host.host} to the load balancer again, then confirm", question)]
    return []


def _reject_again(facts: Facts, host: HostFacts, limit_s: float, prefix: str) -> Undo:
    reject = steps.reject_queries(facts, host, prefix)
    left = NoClients(host.host, (), patience_s=limit_s)
    return Undo(
        f"Make {host.host} refuse client statements again before it stops",
        reject.action,
        (*reject.proof, left),
        limit_s + 60.0,
        takes=reject.takes,
    )


def _patient(host: HostFacts, limit_s: float, prefix: str) -> Step:
    """Give clients their time; who is left then is cut by the next step."""
    step = steps.wait_no_clients(host, limit_s, (), prefix)
    reason = f"the last client statement on {host.host}"
    return replace(
        step,
        title=f"Wait until no client works on {host.host}, at most {limit_s:g} s",
        done=f"The clients of {host.host} had time to leave",
        action=WaitFor((NoClients(host.host, (), patience_s=limit_s),), reason),
        limit_s=limit_s + 60.0,
    )


def _cut(host: HostFacts, prefix: str) -> Step:
    """MariaDB KB and PXC manual, "wsrep_reject_queries": ALL_KILL closes the connections that are open."""
    name = host.host
    gone = NoClients(name)
    return Step(
        step_id=f"{prefix}cut-{name}",
        host=name,
        title=f"Close the sessions that still work on {name}",
        done=f"No client works on {name}",
        why="The run cannot reopen a closed session: its transaction is rolled back, and its client reconnects.",
        action=Sql(set_global("wsrep_reject_queries", Keyword("ALL_KILL"))),
        already=(gone,),
        proof=(gone, VariableIs(name, "wsrep_reject_queries", "ALL_KILL")),
        limit_s=60.0,
        repeatable=True,
        estimate_s=1.0,
    )


def _asked(step_id: str, title: str, question: Ask) -> Step:
    return Step(
        step_id=step_id, host="", title=title, done="You confirmed "
        "it", action=question, risk=Risk.YOU, limit_s=86_400.0,
        repeatable=True,
    )  # fmt: skip


def work_on(host: HostFacts, prefix: str) -> Step:
    """Wait for what a person does to a node that is down: patches, packages, certificates."""
    name = host.host
    question = Ask(f"Is your work on {name} done? The run starts it next.")
    return replace(
        _asked(f"{prefix}work", f"Do your work on {name} while it is down, then confirm", question),
        done=f"You confirmed that {name} is ready",
        why=f"{name} is stopped, and systemd does not start it. Its configuration is tested before it starts.",
    )
