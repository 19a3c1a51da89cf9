"""What somebody set on a node before the run: seen in the plan, and given back after a restart, which forgets it.

wsrep_reject_queries and wsrep_sst_donor set at runtime last as long as the server does (MariaDB KB, "Galera Cluster
System Variables": both dynamic). Without a step of its own a node that somebody drained would serve again, unasked.
"""

from __future__ import annotations

from services.connections.sql.statement import Keyword, set_global
from services.procedures.catalogue.checks.parts import known, verdict
from services.procedures.catalogue.steps.donor import DONOR
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Sql, WaitFor
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.condition import Condition
from services.procedures.plan.forms.fields import Field, Inputs
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step, Undo
from services.procedures.plan.parts.server.options import Options

KEEP, SERVE = "keep", "serve"
REJECT = "wsrep_reject_queries"


def refusing(host: HostFacts) -> str:
    """Return how a node refuses clients already, ALL or ALL_KILL; '' where it serves, or was not read."""
    galera = host.node.galera if host.node is not None else None
    mode = galera.reject_queries.strip().upper() if galera is not None else ""
    return mode if mode in {"ALL", "ALL_KILL"} else ""


def serves_after(values: Inputs) -> bool:
    """Return whether a node that was found refusing shall serve after its restart."""
    return values.get("drained") == SERVE


def drained_field(facts: Facts, nodes: tuple[str, ...]) -> tuple[Field, ...]:
    """Return the question what becomes of nodes that refuse clients already; none where none does."""
    found = [host.host for host in known(facts, nodes) if refusing(host)]
    choices = ((KEEP, "refuse clients again after the restart, as before"), (SERVE, "serve clients"))
    title = f"{', '.join(found)} already refuses clients: after the restart"
    return (Field("drained", title, "choice", KEEP, choices, help="A restart resets this setting."),) if found else ()


def drained_before(facts: Facts, nodes: tuple[str, ...], values: Inputs) -> Check:
    """Tell who refuses clients before the run, and what becomes of it."""
    found = {host.host: mode for host in known(facts, nodes) if (mode := refusing(host))}
    after = (
        "it serves clients after its restart" if serves_after(values) else "it refuses clients again after its restart"
    )
    modes = "; ".join(f"{name}: {REJECT} = {mode}, {after}" for name, mode in found.items())
    unread = [h.host for h in known(facts, nodes) if h.node is None or h.node.galera is None]
    silent = f"not read on {', '.join(unread)}" if unread else ""
    return Check(
        code="DRAINED-BEFORE",
        title="No node was drained before the run",
        verdict=verdict((), [*found, *unread]),
        evidence="; ".join(filter(None, (modes, silent))) or f"no client is refused on {', '.join(nodes)}",
        why="A restart resets runtime settings: a node that a colleague drained would serve clients again.",
        try_=("Find out who drained it, and why.",) if found else (),
        answers=(Remedy("Let it serve clients after the restart", "drained", (SERVE,)),)
        if found and not serves_after(values)
        else (),
    )


def as_found(host: HostFacts, prefix: str = "") -> tuple[Step, ...]:
    """Return the steps that see what was set at runtime, and give it back when the run is taken back."""
    galera = host.node.galera if host.node is not None else None
    donor, name, mode = galera.sst_donor if galera is not None else "", host.host, refusing(host)
    found = []
    if donor and donor != (host[Options].option("mysqld", DONOR) or ""):
        step_id, title = f"{prefix}donor-before-{name}", f"Verify that {name} asks {donor} first, as set before the run"
        undo = f"Set {donor} as the donor of {name} again, as before the run"
        found.append(_seen(name, step_id, title, undo, VariableIs(name, DONOR, donor), Sql(set_global(DONOR, donor))))
    if mode:
        step_id, title = f"{prefix}refuses-{name}", f"Verify that {name} already refuses client statements ({mode})"
        undo = f"Make {name} refuse client statements again, as before the run"
        found.append(_seen(name, step_id, title, undo, VariableIs(name, REJECT, mode), _set(mode)))
    return tuple(found)


def _set(mode: str) -> Sql:
    return Sql(set_global(REJECT, Keyword(mode)))


def _seen(name: str, step_id: str, title: str, taken_back: str, is_so: Condition, again: Sql) -> Step:
    return Step(
        step_id=step_id,
        host=name,
        title=title,
        done=f"Already so: {title.partition('that ')[2]}",
        why="It was set before this run; the run restores the settings that the restart resets.",
        action=WaitFor((is_so,), f"{name} to be in the state that the plan found"),
        risk=Risk.READS,
        limit_s=10.0,
        undo=Undo(taken_back, again, (is_so,), 60.0),
        repeatable=True,
        estimate_s=0.5,
    )


def right_after_start(host: HostFacts, values: Inputs, prefix: str = "") -> list[Step]:
    """Return the step behind a node's start, where it was found refusing clients and shall go on so."""
    return [_refuse_again(host, prefix)] if refusing(host) and not serves_after(values) else []


def at_last(host: HostFacts, values: Inputs, limit_s: float, prefix: str = "") -> list[Step]:
    """Return the last step of a node that was found refusing clients and shall serve them."""
    return [_serve(host, limit_s, prefix)] if refusing(host) and serves_after(values) else []


def _refuse_again(host: HostFacts, prefix: str) -> Step:
    """Let a node refuse clients as it was found, right after its restart."""
    name, mode = host.host, refusing(host)
    return Step(
        step_id=f"{prefix}refuse-again-{name}",
        host=name,
        title=f"Make {name} refuse client statements again ({mode}), as before the run",
        done=f"{name} refuses client statements again, as before the run",
        why="The restart reset it; a client that connects between Synced and this step is accepted. There is nothing "
        "to undo.",
        action=_set(mode),
        proof=(VariableIs(name, REJECT, mode),),
        repeatable=True,
        estimate_s=0.5,
    )


def _serve(host: HostFacts, limit_s: float, prefix: str) -> Step:
    """Let clients to a node that was found refusing them; taken back, it refuses again, and clients have `limit_s`."""
    name, mode = host.host, refusing(host)
    left = NoClients(name, (), patience_s=limit_s)
    refuses = VariableIs(name, REJECT, mode)
    return Step(
        step_id=f"{prefix}serve-{name}",
        host=name,
        title=f"Accept clients on {name}, which refused them before the run",
        done=f"{name} serves clients",
        action=_set("NONE"),
        proof=(VariableIs(name, REJECT, "NONE"),),
        undo=Undo(f"Make {name} refuse client statements again", _set(mode), (refuses, left), limit_s + 60.0),
        repeatable=True,
        estimate_s=0.5,
    )
