"""A plan: what the person approves, what the rehearsal prints, what the journal keeps and what runs are this object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from services.i18n import mark, tr
from services.procedures.plan.actions import WHERE_SET, Action, Ask
from services.procedures.plan.condition import Condition
from services.procedures.plan.waiting_words import waiting_words


class Risk(Enum):
    """What a step may do to the estate; the value is kept in journals, `RISK_WORDS` are what a person sees."""

    READS = "reads"
    CHANGES = "changes"
    NODE_DOWN = "node down"
    IRREVERSIBLE = "can't be undone"
    YOU = "you"


RISK_WORDS = {
    Risk.READS: mark("reads"),
    Risk.CHANGES: mark("changes"),
    Risk.NODE_DOWN: mark("node down"),
    Risk.IRREVERSIBLE: mark("cannot be undone"),
    Risk.YOU: mark("you"),
}


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something switched on for a while that must be switched off again, on every way out.

    Attributes:
        key: unique within the plan, e.g. 'freeze:n1'.
        sentence: as shown in the status line: 'gcache frozen on n1'.
        release: how it is discharged, on any way out; release_proof: what shows that it is.
        danger: what happens while it stays: 'the disk of n1 fills'.
        safeguard: it guards the others of its host (a timer that ends them): told after them, and released only
            when all of them are proven to be off.
        release_when: while one of these is shown not to hold, it stays on, whatever way out is taken.
        release_once: it stays on until all of these are shown to hold: 'not known' is not enough.
        limit_s: how long one try to release it may take.
    """

    key: str
    host: str
    sentence: str
    release: Action
    release_proof: tuple[Condition, ...]
    danger: str = ""
    safeguard: bool = False
    release_when: tuple[Condition, ...] = ()
    release_once: tuple[Condition, ...] = field(default=(), metadata={WHERE_SET: True})
    limit_s: float = field(default=30.0, metadata={WHERE_SET: True})


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's word that an undo needs unless all of `unless` hold.

    Attributes:
        question: what the undo would do then, asked after the evidence of what does not hold.
        expect: what has to be typed, a host's name or words with it.
        otherwise: what is told where nobody accepts it: this step is left as it is and the undo goes on. '': it ends.
        first: asked before the undo begins, where its step is the first to go back. Where nobody accepts it the run
            rests as it is and can go on, with what it has switched on: for what does no harm while it waits.
    """

    unless: tuple[Condition, ...]
    question: str
    expect: str
    otherwise: str = field(default="", metadata={WHERE_SET: True})
    first: bool = field(default=False, metadata={WHERE_SET: True})

    @property
    def words(self) -> str:
        """Return what a person is told beforehand: what is typed, what makes it needless, and the question itself."""
        found = waiting_words(self.unless)
        if self.otherwise:
            asks = tr("Asks for {typed!r}, unless this is found: {found}.", typed=self.expect, found=found)
            return f"{asks} {tr(self.question)}"
        sentence = tr("Waits until {typed!r} is typed, unless this is found: {found}.", typed=self.expect, found=found)
        return f"{sentence} {tr(self.question)}"


@dataclass(frozen=True, slots=True)
class Undo:
    """How a step is taken back.

    Attributes:
        before: read just before the undo acts; one that does not hold leaves the step as it is, and says so.
        waits: waited for before the undo acts, at most `waits_s`; what never comes leaves the step as it is.
        takes: what the undo switches on again for the undos that follow; the undo of the earlier step that took it
            first releases it.
        consent: what a person has to accept first, where it would do more than take the step back.
        leaves: looked at when it is done; the evidence of one that does not hold is told as what stays.
        loses: the same, where a person has to see to it: what the run may have cost and no undo brings back.
        alone: where it fails the undo goes on with the earlier steps, and ends as one that failed: none needs it. It
            comes last where its host does not answer.
        again: looked at once more where the undo goes on, or comes to a host that it had to leave for last: what was
            taken back may have been undone from there.
    """

    title: str
    action: Action
    proof: tuple[Condition, ...] = ()
    limit_s: float = 60.0
    before: tuple[Condition, ...] = ()
    takes: Obligation | None = None
    waits: tuple[Condition, ...] = ()
    waits_s: float = 0.0
    consent: Consent | None = None
    leaves: tuple[Condition, ...] = ()
    loses: tuple[Condition, ...] = field(default=(), metadata={WHERE_SET: True})
    alone: bool = field(default=False, metadata={WHERE_SET: True})
    again: bool = field(default=False, metadata={WHERE_SET: True})


@dataclass(frozen=True, slots=True)
class Later:
    """That a person may put a step off which failed past its run's point of no return; it is done before the run ends.

    Attributes:
        until: id of the later step before which it is tried again, and which waits for it.
        when: what serves without it: offered only while all of these hold.
        meaning: what is true while it is put off, for the person who chooses.
        behind: id of an earlier step that it can't do without: while that one is put off, so is this, and is not tried.
    """

    until: str
    when: tuple[Condition, ...]
    meaning: str
    behind: str = field(default="", metadata={WHERE_SET: True})


@dataclass(frozen=True, slots=True)
class Step:
    """One small typed step.

    Attributes:
        step_id: unique within the plan, stable text ('stop-n2'); a continued plan must not reuse one.
        host: inventory name; '' for a step of the console itself (a question, a checkpoint, a cluster-wide proof).
        title: imperative, as the plan says it: 'Freeze the gcache of n1'; done: as the past says it.
        why: one sentence for the reader of the plan.
        before: re-read just before the act; one that does not hold stops the run there.
        already: when all hold before the act there is nothing to do (on a second run); () means: never skip.
        proof: waited for after the act, at most `limit_s` in all.
        undo: None for a step that changes nothing, or can't be undone (then risk is IRREVERSIBLE, or say why in `why`).
        repeatable: doing the act twice does no harm (decides what resume may do when proof fails after a crash).
        cancellable: the wait inside may be broken off with nothing half done.
        takes: the obligation that the act takes on; discharges: keys that it discharges when proven.
        moves: host of a node that leaves or joins the quorum while the step runs and until `settles` names it.
        settles: hosts that are back (or out for good) when the step is proven.
        estimate_s: expected duration, None unknown.
        confirm: text (a host's name) to be typed for a step that can't be undone; '' none.
        serves: once proven the cluster serves again: only a person takes the run back from then on, no script.
        goes_with: id of an earlier step whose undo takes away what this one made: it has no undo of its own.
        no_return: once its act may have changed anything no step of the run is taken back any more, it only goes on.
            One that was refused before it touched anything has passed nothing.
        later: where it fails behind that, the steps that don't need it may go first; None: they may not.
        interrupts: what clients can't do from here on ('nobody reads or writes through r1'), until a later step ends
            it, which names this one in `resumes`: told wherever the run rests meanwhile.
        final: it takes away what the run relied on (an old server, a copy): all that was proven is looked at again
            before it.
        relies_on: looked at before its first act alone, with `before`: what earlier steps proved and others may change.
            Behind that act the run itself may change it, where the step is put off.
        beside: looked at while `confirm` is asked for: what does not hold is told with it, and hinders nothing.
    """

    step_id: str
    host: str
    title: str
    action: Action
    done: str = ""
    why: str = ""
    risk: Risk = Risk.CHANGES
    before: tuple[Condition, ...] = ()
    already: tuple[Condition, ...] = ()
    proof: tuple[Condition, ...] = ()
    limit_s: float = 30.0
    undo: Undo | None = None
    repeatable: bool = False
    cancellable: bool = True
    takes: Obligation | None = None
    discharges: tuple[str, ...] = ()
    moves: str = ""
    settles: tuple[str, ...] = ()
    estimate_s: float | None = None
    confirm: str = ""
    serves: bool = False
    goes_with: str = field(default="", metadata={WHERE_SET: True})
    no_return: bool = field(default=False, metadata={WHERE_SET: True})
    later: Later | None = field(default=None, metadata={WHERE_SET: True})
    interrupts: str = field(default="", metadata={WHERE_SET: True})
    resumes: str = field(default="", metadata={WHERE_SET: True})
    beside: tuple[Condition, ...] = field(default=(), metadata={WHERE_SET: True})
    final: bool = field(default=False, metadata={WHERE_SET: True})
    relies_on: tuple[Condition, ...] = field(default=(), metadata={WHERE_SET: True})

    @property
    def first_before(self) -> tuple[Condition, ...]:
        """Return what must hold before its first act."""
        return (*self.before, *self.relies_on)


class Outage(NamedTuple):
    """What clients can't do while a run goes from one of its steps to another (numbers from 1).

    Attributes:
        typed: what a person is asked to type in it, where they have not done so beforehand.
    """

    what: str
    first: int
    last: int
    typed: tuple[str, ...]

    @property
    def words(self) -> str:
        """Return it as a sentence, for a person."""
        return tr("From step {first} to step {last} {what}.", first=self.first, last=self.last, what=tr(self.what))


class Breach(Enum):
    """What the engine does when a watch rule breaks."""

    PAUSE = "pause"  # before the next act; a running wait goes on, the person is told
    RELEASE = "release"  # discharge this rule's obligation at once, then pause


@dataclass(frozen=True, slots=True)
class WatchRule:
    """Something that must stay true while the run lasts; looked at every few seconds in every wait.

    Attributes:
        code: stable short name; sentence: what is true and safe when it broke.
        from_step, to_step: step ids between which it is watched ('' = first / last).
        releases: obligation key for Breach.RELEASE; a rule that only pauses is watched while that obligation is on.
    """

    code: str
    condition: Condition
    sentence: str
    breach: Breach = Breach.PAUSE
    from_step: str = ""
    to_step: str = ""
    releases: str = ""
    every_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Chart:
    """A curve worth watching beside the run: catalogue metric, host, title, optional limit line with its words."""

    metric: str
    host: str
    title: str
    limit: float | None = None
    limit_text: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole procedure for one cluster, frozen.

    Attributes:
        procedure: catalogue name; title: 'Take n2 down without SST'; summary: one sentence of the whole.
        cluster_id, cluster_name: the state UUID and the name people use; lock_key names the lock on the hosts.
        hosts: every key that a step may touch: a host ('n1', its first server), or an instance ('n1:3307').
        quorums: each a set of hosts that vote together: one for a cluster, one for each shard of a sharded one.
        inputs: (field, value text), never a secret.
        expects: what is true at the end, sentences for the report.
        on: (key, host) of each instance of `hosts`. SQL, facts and samples are a key's; SSH, files, disk and the lock
            its host's. Not told by the key: a host may be called by a name with a colon, or by an IPv6 address.
        parts: (id, keys) of each part that another inventory may know as a cluster of its own, a shard's replica set
            without its mongos: its lock is taken beside the cluster's.
    """

    procedure: str
    title: str
    summary: str
    cluster_id: str
    cluster_name: str
    hosts: tuple[str, ...]
    quorums: tuple[tuple[str, ...], ...]
    inputs: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    watches: tuple[WatchRule, ...] = ()
    charts: tuple[Chart, ...] = ()
    expects: tuple[str, ...] = ()
    on: tuple[tuple[str, str], ...] = field(default=(), metadata={WHERE_SET: True})
    parts: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), metadata={WHERE_SET: True})

    def machine(self, key: str) -> str:
        """Return the host that carries what a key names: a host carries its first server itself."""
        return dict(self.on).get(key, key)

    @property
    def machines(self) -> tuple[str, ...]:
        """Return every host of the plan once, in its order: the lock is taken on each."""
        return tuple(dict.fromkeys(self.machine(key) for key in self.hosts))

    @property
    def locks(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return (id, hosts) of each lock that a run takes: the cluster's on every host, then those of its parts."""
        parts = ((name, dict.fromkeys(map(self.machine, keys))) for name, keys in self.parts if name != self.cluster_id)
        return ((self.cluster_id, self.machines), *((name, tuple(hosts)) for name, hosts in parts))

    @property
    def roads(self) -> dict[str, str]:
        """Return host -> the first key of the plan by which it is reached: armed are the plan's keys, no other."""
        found: dict[str, str] = {}
        for key in self.hosts:
            found.setdefault(self.machine(key), key)
        return found

    @property
    def nothing_to_do(self) -> bool:
        """Return whether the cluster already is as the procedure would leave it."""
        return not self.steps

    @property
    def voters(self) -> tuple[str, ...]:
        """Return the members of all quorums, each once."""
        return tuple(dict.fromkeys(host for quorum in self.quorums for host in quorum))

    @property
    def estimate_s(self) -> float | None:
        """Return the sum of the estimates that are known, None when none is."""
        known = [step.estimate_s for step in self.steps if step.estimate_s is not None]
        return sum(known) if known else None

    @property
    def yours(self) -> int:
        """Return how many steps ask a person to change a server: no estimate knows how long that takes."""
        return sum(isinstance(step.action, Ask) and step.action.deed for step in self.steps)

    @property
    def outages(self) -> tuple[Outage, ...]:
        """Return what clients can't do from which step to which, as far as the plan's own steps end it."""
        order = {step.step_id: number for number, step in enumerate(self.steps, 1)}
        until = {step.resumes: order[step.step_id] for step in self.steps if step.resumes}
        return tuple(
            Outage(
                step.interrupts,
                order[step.step_id],
                last,
                tuple(dict.fromkeys(s.confirm for s in self.steps[order[step.step_id] : last] if s.confirm)),
            )
            for step in self.steps
            if step.interrupts and (last := until.get(step.step_id, len(self.steps)))
        )

    def step(self, step_id: str) -> Step:
        """Return a step; KeyError when there is none."""
        for step in self.steps:
            if step.step_id == step_id:
                return step
        raise KeyError(step_id)


def with_addresses(hosts: Iterable[str], addresses: Mapping[str, str]) -> str:
    """Return 's1 (10.0.0.5), s2 (10.0.0.6)': names are what a person chose, the address is where it will be done."""
    return ", ".join(f"{host} ({at})" if (at := addresses.get(host, "")) and at != host else host for host in hosts)
