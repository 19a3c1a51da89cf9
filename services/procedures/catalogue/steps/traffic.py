"""Steps that keep clients and flow control away from a node and let them back: each pair one obligation. All pure.

Sources: MariaDB KB REJECT; "wsrep_desync" (a node that is desynced may fall behind without slowing the
cluster, and is never chosen as a donor).
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from services.connections.sql.statement import Keyword, set_back, set_global
from services.facts.galera.whole import DONOR, SYNCED
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.server import option_folder
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.galera.membership.apart import NotApart
from services.procedures.conditions.machine.files import FileWithout
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.compared import Compared
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.same_sums import rows_of
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import PutFile, RemoveFile, Several, Sql, WaitFor
from services.procedures.plan.condition import Condition, Kept
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.parts.server.options import Options

CATCH_UP_S = 4 * 3_600.0
REJECT = "wsrep_reject_queries"
HELD_OUT_FILE = "99-pilothouse-held-out.cnf"
_REFUSED = f"[mysqld]\n{REJECT}=ALL\n"


# -- clients ----------------------------------------------------------------------------------------------------------


def not_apart(facts: Facts, name: str) -> tuple[Condition, ...]:
    """Return what must not be shown otherwise when clients are let back: a split node would take rows of its own."""
    others = tuple(member for member in member_hosts(facts) if member != name)
    return (NotApart(name, others, facts.cluster_id),) if others else ()


def _rejecting(facts: Facts, name: str) -> Temporary:
    return Temporary(
        key=f"reject:{name}",
        host=name,
        sentence=f"clients refused on {name}",
        danger=f"applications get errors from {name}",
        release=Sql(set_global(REJECT, Keyword("NONE"))),
        released=(VariableIs(name, REJECT, "NONE", or_ended=True),),
        shown=(VariableIs(name, REJECT, "NONE"),),
        release_when=not_apart(facts, name),
    )


def reject_queries(facts: Facts, host: HostFacts, prefix: str = "", *, cut: bool = False) -> Step:
    """Let the server refuse client statements (a drain where no balancer does it); `cut` closes open sessions too."""
    name = host.host
    mode = "ALL_KILL" if cut else "ALL"
    step = Step(
        step_id=f"{prefix}reject-{name}",
        host=name,
        title=f"Make {name} refuse client statements" + (" and close their sessions" if cut else ""),
        done=f"{name} refuses client statements",
        why="Clients and load balancers that test real queries leave the node before it goes down.",
        action=Sql(set_global(REJECT, Keyword(mode))),
        # A node that somebody drained since the plan was made is not taken over.
        before=(VariableIs(name, REJECT, "NONE"),),
        proof=(VariableIs(name, REJECT, mode),),
        repeatable=True,
        estimate_s=0.5,
    )
    return _rejecting(facts, name).on(step, f"Accept clients on {name} again")


def accept_queries(facts: Facts, host: HostFacts, prefix: str = "") -> Step:
    """Discharge `reject_queries` (a restart has done it already; this makes sure)."""
    name = host.host
    return _rejecting(facts, name).off(
        f"{prefix}accept-{name}", f"Accept clients on {name} again", f"{name} serves clients", 0.5
    )


def wait_no_clients(host: HostFacts, limit_s: float, except_users: tuple[str, ...], prefix: str = "") -> Step:
    """Wait until no client works on the node."""
    name = host.host
    condition = NoClients(name, except_users)
    return Step(
        step_id=f"{prefix}drain-{name}",
        host=name,
        title=f"Wait until no client works on {name}",
        done=f"No client works on {name}",
        action=WaitFor((condition,), f"the last client statement on {name}"),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=min(limit_s, 10.0),
    )


# -- clients of a node whose data are not proven yet ------------------------------------------------------------------


def _held_out(facts: Facts, host: HostFacts, aside: str) -> tuple[Temporary, str]:
    """Return it and the option file's path; over as a named donor is: no file, no server that runs with its value."""
    name, path, before = host.host, posixpath.join(option_folder(host), HELD_OUT_FILE), _by_itself(host)
    return (
        Temporary(
            key=f"held-out:{name}",
            host=name,
            sentence=f"clients refused on {name} until its data are compared",
            danger=f"applications get errors from {name}; manually: remove {path}, and SET GLOBAL {REJECT} = NONE",
            release=Several((RemoveFile(path, _REFUSED), Sql(set_back(REJECT, "ALL", before)))),
            released=(FileWithout(name, path, _REFUSED), SetBack(name, REJECT, "ALL", before)),
            release_when=not_apart(facts, name),
            release_once=(Compared(name, aside, Kept(rows_of(name))),),
        ),
        path,
    )


def _by_itself(host: HostFacts) -> str:
    """Return how the node's own option files let it start, what a run that was left wrote being none of them."""
    options = host[Options]
    given = [value for section, option, value in options.given if (section, option) == ("mysqld", REJECT)]
    if any(posixpath.basename(path) == HELD_OUT_FILE for path, _ in options.files):
        given = given[:-1]
    return (given[-1] if given else "NONE").upper()


def _refuses_by_itself(host: HostFacts) -> bool:
    """Return whether the node's own option files let it refuse clients: whoever wrote that lets them in."""
    return _by_itself(host) in {"ALL", "ALL_KILL"}


def held_out(facts: Facts, host: HostFacts, aside: str) -> tuple[Step, ...]:
    """Let the next start refuse clients from its first moment on; none where the node's own files do so already.

    Args:
        aside: where the run keeps the old data; while they lie there, only the comparison's end lets clients in.
    """
    if _refuses_by_itself(host):
        return ()
    name, (held, path) = host.host, _held_out(facts, host, aside)
    step = Step(
        step_id=f"held-out-{name}",
        host=name,
        title=f"Make {name} refuse client statements from its next start on, until its data are compared",
        done=f"{name} will start refusing client statements",
        why="The node is Synced before its rows are compared with a member's. The comparison uses wsrep_dirty_reads. "
        "A load balancer that tests only its state still sends clients there: they get errors, not different rows.",
        action=PutFile(path, (_REFUSED,)),
        # What the server will read counts: a file that it reads later may say otherwise.
        proof=(OptionIs(name, "mysqld", REJECT, "ALL"),),
        repeatable=True,
        estimate_s=0.5,
    )
    return (held.on(step, f"Accept clients on {name} again"),)


def let_in(facts: Facts, host: HostFacts, aside: str) -> tuple[Step, ...]:
    """Discharge `held_out` behind the comparison; a person's word for what it could not tell is enough here."""
    if _refuses_by_itself(host):
        return ()
    name, (held, _) = host.host, _held_out(facts, host, aside)
    step = held.off(
        f"let-in-{name}", f"Accept clients on {name}: its data were compared", f"{name} serves clients", 0.5
    )
    return (replace(step, before=()),)


# -- flow control -----------------------------------------------------------------------------------------------------


def desync_key(name: str) -> str:
    """Return the obligation's key."""
    return f"desync:{name}"


def _desynced(name: str) -> Temporary:
    return Temporary(
        key=desync_key(name),
        host=name,
        sentence=f"{name} desynced",
        danger=f"{name} falls behind and is never a donor",
        release=Sql(set_global("wsrep_desync", Keyword("OFF"))),
        released=(VariableIs(name, "wsrep_desync", "OFF", or_ended=True),),
        shown=(VariableIs(name, "wsrep_desync", "OFF"),),
    )


def desync(name: str, prefix: str = "", before: tuple[Condition, ...] = ()) -> Step:
    """Take a node out of flow control. Its state proves it: a foreign provider takes the variable and does nothing."""
    step = Step(
        step_id=f"{prefix}desync",
        host=name,
        title=f"Desync {name}",
        done=f"{name} is Donor/Desynced and sends no flow control",
        why="It can now fall behind without slowing the others down.",
        action=Sql(set_global("wsrep_desync", Keyword("ON"))),
        before=before,
        proof=(VariableIs(name, "wsrep_desync", "ON"), StatusIs(name, "wsrep_local_state", "=", str(DONOR))),
        estimate_s=1.0,
    )
    step = _desynced(name).on(step, f"Return {name} to flow control", 120.0)
    assert step.undo is not None
    # Put back with a full queue it would stop the whole cluster by flow control at once.
    empty = (StatusIs(name, "wsrep_local_recv_queue", "<=", "0"),)
    return replace(step, undo=replace(step.undo, waits=empty, waits_s=CATCH_UP_S))


def catch_up(name: str, limit_s: float, prefix: str = "") -> Step:
    """Wait until a node that was desynced has taken in all that the others wrote meanwhile."""
    empty = StatusIs(name, "wsrep_local_recv_queue", "<=", "0", for_s=3.0)
    return Step(
        step_id=f"{prefix}catch-up",
        host=name,
        title=f"Wait until {name}'s receive queue is empty",
        done=f"{name} has caught up",
        why="If it returned earlier, flow control would stop the whole cluster at once.",
        action=WaitFor((empty,), f"{name}'s receive queue to empty"),
        risk=Risk.READS,
        limit_s=limit_s,
        repeatable=True,
        estimate_s=5.0,
    )


def resync(name: str, prefix: str = "") -> Step:
    """Discharge `desync`. A restart has done it already; where the node never went down this does it."""
    back = (VariableIs(name, "wsrep_desync", "OFF"), StatusIs(name, "wsrep_local_state", "=", str(SYNCED)))
    step = _desynced(name).off(
        f"{prefix}resync", f"Return {name} to flow control", f"{name} is a full member again", 2.0
    )
    return replace(step, already=back, proof=back, limit_s=120.0)
