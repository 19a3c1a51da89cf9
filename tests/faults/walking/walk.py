"""The walk: every refusal, its own advice followed, leads to a run that ends well; on scripted hosts.

A stop is a state that makes a check block. Its way is what the check itself advises: an answer to one of the
procedure's questions, which is followed as it is given, another procedure, or something outside of the console ('make
room'), which the stop mends as the advice says: where a person repairs a server by hand, the scripted host is repaired.
`blocking_codes` reads every code that can block out of the catalogue's source: each has a stop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from services.procedures import catalogue
from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import Question, RunState, RunView
from tests.faults.cases import CASES
from tests.faults.scripted.cluster import Cluster
from tests.faults.scripted.facts import facts_of
from tests.faults.scripted.running import Bench

Spoil = Callable[[Facts], Facts]
Way = Literal["mended", "answered", "accepted", "other", "elsewhere"]
ANOTHER: dict[str, tuple[str, Inputs]] = {
    "add-node": ("add-node", {"joiner": "n3", "keep_data": "no", "sst_ok": "yes"}),
    "add-node, which settles it": ("add-node", {"joiner": "n3", "keep_data": "no", "sst_ok": "yes", "loser": "n3"}),
    "rejoin-from-incrementals": ("rejoin-from-incrementals", {"joiner": "n3"}),
    "mongo-protocol-upgrade": ("mongo-protocol-upgrade", {"clients": "yes", "backup": "yes", "steady": "5 s"}),
    "the rolling way": (
        "mongo-config-rs",
        {"new": "n1,n2,n3", "name": "cfg", "backup": "/srv/copy", "no_ddl": "yes", "no_others": "yes"},
    ),
}
"""The procedures that an advice may name instead, with what they are told."""


def _as_it_is(facts: Facts) -> Facts:
    return facts


@dataclass(frozen=True, slots=True)
class Stop:
    """A state in which a check blocks.

    Attributes:
        code: of the check; case: the title of the case whose run it stops.
        spoil: what gathering finds instead. way: 'mended' outside, as `try_` says, so that facts are as before;
            'answered': the check's first remedy is given, and nothing else changes; 'accepted': by its code, with a
            reason, where the check has an override and its advice says what that means.
            'other': the question that stopped it is answered as in the case. 'elsewhere': by the procedure `then`, as
            the advice says, with everything as it is.
        inputs: beside the case's own; needs: words by which the advice is known to be what is followed.
        cluster: in place of the case's; mend: what is done to it where the obstacle stands in it.
        later: it stands in the second part of the plan, of what the run itself found: the first part is run before,
            and taken back. `spoil` is what is found from then on. does: what a person does in place of the case's.
    """

    code: str
    case: str
    spoil: Spoil = _as_it_is
    way: Way = "mended"
    inputs: tuple[tuple[str, str], ...] = ()
    needs: str = ""
    cluster: Callable[[], Cluster] | None = None
    mend: Callable[[Cluster], None] = lambda _: None
    confirmed: frozenset[str] = frozenset()
    later: bool = False
    then: str = "add-node"
    does: Callable[[Cluster, Question], str | None] | None = None

    def __str__(self) -> str:
        return f"{self.code} of {self.case}"


@dataclass(slots=True)
class SpoiltBench(Bench):
    """A bench whose gathering finds something else than what the scripted hosts are."""

    spoil: Spoil = field(default=_as_it_is)
    later: bool = False
    refused: tuple[Check, ...] = ()  # by what the run found itself

    def facts(self, kept: tuple[tuple[str, str], ...] = (), *, begun: bool = False) -> Facts:
        """Return what a gathering finds."""
        found = facts_of(self.cluster, kept)
        return found if self.later and not begun else self.spoil(found)

    def plan(self) -> tuple[tuple[Check, ...], Plan]:
        """Return the checks and the plan for what is found now."""
        procedure, facts = procedure_named(self.name), self.facts()
        inputs = filled(procedure.fields(facts, self.inputs), self.inputs)
        assert procedure.faults(facts, inputs) == (), procedure.faults(facts, inputs)
        return procedure.preflight(facts, inputs), procedure.plan(facts, inputs)

    def _continuing(self, view: RunView) -> tuple[tuple[Check, ...], Plan]:
        facts = self.facts(view.kept, begun=True)
        checks, plan = procedure_named(self.name).continued(facts, dict(view.plan.inputs), view.plan)
        self.refused = tuple(c for c in checks if c.verdict is Verdict.BLOCK)
        return checks, plan

    def blocks(self, code: str) -> tuple[Check, ...]:
        """Return the checks of this code that block now; of a later part those that its run met, taken back."""
        if not self.later:
            return tuple(c for c in self.plan()[0] if c.code == code and c.verdict is Verdict.BLOCK)
        self.begin()
        state = self.run()
        assert state in {RunState.UNDONE, RunState.FAILED}, (state, self.engine().view.sentence)
        words = " ".join(step.error for step in self.engine().view.steps)
        assert all(check.title in words for check in self.refused), words
        return tuple(c for c in self.refused if c.code == code)


def bench_of(stop: Stop) -> SpoiltBench:
    """Return a bench in the stop's state."""
    case = next(case for case in CASES if case.title == stop.case)
    inputs: Inputs = {**dict(case.inputs), **dict(stop.inputs)}
    cluster = (stop.cluster or case.cluster)()
    confirmed = case.confirmed | stop.confirmed
    return SpoiltBench(
        cluster, case.name, inputs, confirmed, does=stop.does or case.does, spoil=stop.spoil, later=stop.later
    )


def follow(stop: Stop, bench: SpoiltBench, refused: tuple[Check, ...]) -> None:
    """Do what the refusal advises, as a person would."""
    for host in bench.cluster.hosts.values():
        host.works.clear()  # each is of its run
    bench.later = bench.later and stop.way == "accepted"
    if stop.way == "mended":
        stop.mend(bench.cluster)
        bench.spoil = _as_it_is
    elif stop.way == "elsewhere":
        bench.name, inputs = ANOTHER[stop.then]
        bench.inputs = dict(inputs)
    elif stop.way == "other":
        case = next(case for case in CASES if case.title == stop.case)
        bench.inputs = dict(case.inputs)
    elif stop.way == "accepted":
        bench.overrides = (Override(stop.code, "the advice says what that means"),)
    else:
        remedy = next(answer for check in refused for answer in check.answers)
        bench.inputs = {**bench.inputs, remedy.field: remedy.values[0] if remedy.values else ""}


def begins_as_its_case(stop: Stop, bench: SpoiltBench) -> bool:
    """Return whether nothing is left of the stop: its run is the case's unbroken one, of test_killed_at_every_entry."""
    case = next(case for case in CASES if case.title == stop.case)
    told = (bench.name, bench.inputs, bench.confirmed, bench.overrides, bench.spoil, bench.does)
    own = (case.name, dict(case.inputs), case.confirmed, (), _as_it_is, case.does)
    return told == own and bench.cluster == case.cluster()


# -- which codes can block ---------------------------------------------------------------------------------------------


def blocking_codes() -> frozenset[str]:
    """Return every code of a check that can block, by the catalogue's source; a part that varies is told as '*'."""
    root = Path(catalogue.__file__).parent
    return frozenset(code for path in sorted(root.rglob("*.py")) for code in _codes(ast.parse(path.read_text())))


def _codes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if node.func.id == "checked" and given.keys() & {"block", "must_read"}:
            yield from _names(_constant(tree, node.args[0]))
        if node.func.id != "Check":
            continue
        given |= dict(zip(("code", "title", "verdict"), node.args, strict=False))
        if _can_block(given["verdict"]):
            yield from _names(_constant(tree, given["code"]))


def _constant(tree: ast.Module, code: ast.expr) -> ast.expr:
    """Return what a name stands for where the same file gives it at its top."""
    if not isinstance(code, ast.Name):
        return code
    given = (node for node in tree.body if isinstance(node, ast.Assign))
    return next((n.value for n in given if ast.unparse(n.targets[0]) == code.id), code)


def _can_block(verdict: ast.expr) -> bool:
    """Return whether the expression may be BLOCK: `verdict((), ...)`, PASS and WARN never are."""
    text = ast.unparse(verdict)
    never = text.startswith("verdict(()") and not text.startswith("verdict(() if")
    fixed = "BLOCK" not in text and text.startswith("Verdict.")
    return not (never or fixed)


def _names(code: ast.expr) -> Iterator[str]:
    """Return the codes that an expression gives; of an f-string the fixed part, with '*'."""
    if isinstance(code, ast.Constant):
        yield str(code.value)
    elif isinstance(code, ast.IfExp):
        yield from _names(code.body)
        yield from _names(code.orelse)
    else:
        strings = [part for part in ast.walk(code) if isinstance(part, ast.JoinedStr)]
        for found in strings:
            yield "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in found.values)
