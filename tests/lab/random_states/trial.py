"""One state on one estate: break it, read the truth, let the console do what it offers, read the truth again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.lab.estate import client
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.random_states.asking import Asked, Asking
from tests.lab.random_states.branches import forked_pairs, shares
from tests.lab.random_states.hands import Hands
from tests.lab.random_states.judging import After, Before, Verdict, judge
from tests.lab.random_states.ledger import Ledger
from tests.lab.random_states.nights import without_sst
from tests.lab.random_states.truth import Held, Tables
from tests.lab.random_states.verbs import MEMBERS, Kind, Person, State

_QUICK = {"rolling-restart": {"pause": "1 s", "soak": "3 s", "downtime": "20 s"}, "freeze-gcache": {"away": "1 min"}}


@dataclass(frozen=True, slots=True)
class Trial:
    """What happened in one state."""

    state: State
    went: tuple[str, ...]  # how each verb went
    branches: tuple[str, ...]  # who began each history
    one_past: bool  # says the model of the histories, when the console was asked
    before: tuple[tuple[tuple[str, ...], int], ...]  # rows by the nodes that held them
    after: tuple[tuple[tuple[str, ...], int], ...]
    agreed: bool  # the model of the histories and the tables said the same
    acknowledged: int
    asked: tuple[Asked, ...]
    verdict: Verdict
    seconds: float
    spent: dict[str, float]  # of these seconds, on 'verbs', 'tables' (reading who holds which row), 'procedures'
    transcript: str

    def row(self) -> dict[str, object]:
        """Return what the table keeps."""
        return {
            "seed": self.state.seed,
            "verbs": [f"{verb} ({how})" for verb, how in zip(self.state.verbs, self.went, strict=True)],
            "person": str(self.state.person),
            "branches": list(self.branches),
            "one_past": self.one_past,
            "before": _shown(self.before),
            "after": _shown(self.after),
            "agreed": self.agreed,
            "acknowledged": self.acknowledged,
            "asked": [{**asdict(a), "told": a.told} for a in self.asked],
            "verdict": asdict(self.verdict),
            "seconds": round(self.seconds),
            "spent": {what: round(seconds) for what, seconds in self.spent.items()},
        }


class _Watch:
    """Where the time of a state goes."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._since = time.monotonic()

    def spent_on(self, what: str) -> None:
        """Count what has passed since the last call under `what`."""
        now = time.monotonic()
        self.spent[what] = self.spent.get(what, 0.0) + now - self._since
        self._since = now


def tried(estate: Estate, state: State) -> Trial:
    """Try one state on an estate that is whole; leaves it as it ends."""
    watch = _Watch()
    with tempfile.TemporaryDirectory(prefix="pilothouse-random-") as folder:
        asking = Asking(_console(estate, Path(folder), state.host_of(Kind.UNWRITTEN)), state.person)
        filtered = state.host_of(Kind.FILTER)
        tables = Tables(estate, side=bool(filtered))
        hands = Hands(estate, Ledger(), asking.look, filtered)
        went = tuple(hands.do(verb) for verb in state.verbs)
        watch.spent_on("verbs")
        held = tables.rows(MEMBERS)
        acknowledged = frozenset(hands.ledger.acknowledged)
        one_past = hands.tree.one_past() and not forked_pairs(held)
        sound = one_past and not (filtered or state.host_of(Kind.HALF))
        before = Before(acknowledged, held, _apart(hands, held), sound=sound, kept=hands.kept())
        watch.spent_on("tables")
        asked = tuple(_offered(asking, hands, state))
        watch.spent_on("procedures")
        after = After(tables.rows(MEMBERS), hands.synced(), hands.kept())
        watch.spent_on("tables")
    verdict = judge(before, after, asked)
    return Trial(
        state=state,
        went=went,
        branches=tuple(branch.how for branch in hands.tree.branches),
        one_past=one_past,
        before=tuple(shares(held)),
        after=tuple(shares(dict(after.held))),
        agreed=all(hands.tree.held[name] & acknowledged == held[name] & acknowledged for name in MEMBERS),
        acknowledged=len(acknowledged),
        asked=asked,
        verdict=verdict,
        seconds=sum(watch.spent.values()),
        spent=watch.spent,
        transcript="\n".join(asking.transcript),
    )


def _console(estate: Estate, folder: Path, left_out: str) -> Console:
    """A workstation that knows the three members, but one that nobody wrote down; the spare has no part in it."""
    inventory = folder / "inventory.toml"
    text = client.inventory(estate.spec, tuple(name for name in MEMBERS if name != left_out))
    if left_out:  # nobody said that it may be asked
        seeds = ", ".join(f'"{name}"' for name in MEMBERS if name != left_out)
        lines = (f"seeds = [{seeds}]" if one.startswith("seeds =") else one for one in text.splitlines())
        text = "\n".join(one for one in lines if not one.startswith("networks =")) + "\n"
    inventory.write_text(text, encoding="utf-8")
    return Console(estate, folder / "data", inventory)


def _apart(hands: Hands, held: Held) -> bool:
    return len({held[name] for name in hands.synced()}) > 1


def _offered(asking: Asking, hands: Hands, state: State) -> list[Asked]:
    """Run what fits: without a Primary the bootstrap, then each node that is down, then what the person came for."""
    person, asked = state.person, list[Asked]()
    sides, alone = hands.sides(), state.host_of(Kind.UNWRITTEN)
    if alone and sides == ((alone,),):  # all that the inventory knows is down: nothing may found a second cluster
        return [asking.run("bootstrap-after-crash")]
    if not sides:
        asked += _started(asking, hands, person)
    if len(sides) > 1:  # two Primary Components: nothing may call that whole, and nothing may make a third one
        return [asking.run("bootstrap-after-crash"), _came_for(asking, "rolling-restart", person.node)]
    if not hands.sides():
        return asked
    if alone:
        asking.write_down(hands.written_down())
    down = [name for name in MEMBERS if name not in hands.synced()]
    for name in down:
        if person.returns != "add-node" and name not in hands.synced():
            hands.keeps_logs(name)
            asked += without_sst(asking, name, person, hands.synced(), hands.chain)
        if name not in hands.synced():
            asked += _brought_back(asking, name, person)
    if person.after and (person.after == "bootstrap-after-crash" or len(hands.synced()) == len(MEMBERS)):
        asked.append(_came_for(asking, person.after, person.node))
    return asked


def _started(asking: Asking, hands: Hands, person: Person) -> Iterator[Asked]:
    """Start the cluster as the console advises: once more without what it refused, where that can be put right."""
    itself = "yes" if person.itself else "no"
    first = asking.run("bootstrap-after-crash", itself=itself)
    yield first
    ways = {"JOINS-OTHERS": hands.tidy, "PORTS": hands.heal}
    if first.end == "refused" and "NAMED-MEMBERS" in first.said:  # a person writes it down, and asks again
        asking.write_down(hands.written_down())
        first = asking.run("bootstrap-after-crash", itself=itself)
        yield first
    mended = [mend for code, mend in ways.items() if first.end == "refused" and code in first.said]
    for mend in mended:
        mend()
    if mended:
        first = asking.run("bootstrap-after-crash", itself=itself)
        yield first
    if first.end == "refused" and "HISTORY" in first.said and person.accepts:
        yield asking.run("bootstrap-after-crash", person.node, itself=itself, bootstrap=person.node)


def _brought_back(asking: Asking, name: str, person: Person) -> Iterator[Asked]:
    """Bring one node back; where its past is in the way, as the console offers it, if this person gives rows up."""
    first = asking.run("add-node", name, joiner=name, settle="3 s")
    yield first
    if first.end == "refused" and "HISTORY" in first.said and person.accepts:
        way = {"unknown_history": name} if "not known" in first.said else {"loser": name}
        yield asking.run("add-node", name, joiner=name, settle="3 s", **way)


def _came_for(asking: Asking, procedure: str, node: str) -> Asked:
    more = _QUICK.get(procedure, {})
    if procedure == "bootstrap-after-crash":
        return asking.run(procedure)
    if procedure == "rolling-restart":
        return asking.run(procedure, node, nodes=node, **more)
    return asking.run(procedure, node, node=node, **more)


def _shown(found: tuple[tuple[tuple[str, ...], int], ...]) -> str:
    return ", ".join(f"{'+'.join(holders)}: {count}" for holders, count in found) or "no row"
