"""What can be proven of a host or cluster, as data: preconditions, proofs, waits and watch rules are made of these.

Evaluating is `proving.py`'s job, over Observer sessions only. `Kept` names a value that an earlier step kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.procedures.plan.conditions_at_rest import AtRest
from services.procedures.plan.conditions_balancer import BalancerServer
from services.procedures.plan.conditions_component import NotApart, NothingWritten
from services.procedures.plan.conditions_founding import FoundsNothing

Comparison = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Kept:
    """A value of the run, kept by an earlier step under this name."""

    name: str


Number = int | Kept


@dataclass(frozen=True, slots=True)
class VariableIs:
    """A server variable has this value (case-insensitive; ON = 1; 1G = 1073741824).

    `if_there`: it holds too where the server has no variable of this name (an option that can't be read back).
    `was`: it holds too at a third value while the option files give `value`: the server made this of it.
    `fixed`: a running server can't change it: another value ends the wait.
    """

    host: str
    variable: str
    value: str
    if_there: bool = False
    was: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class ProviderOption:
    """A wsrep provider option compares so with a value (text for = and !=, number else). Kept under `keep`."""

    host: str
    option: str
    comparison: Comparison
    value: str
    keep: str = ""


@dataclass(frozen=True, slots=True)
class StatusIs:
    """A status variable compares so with a value, `for_s` seconds without a break. Kept under `keep`."""

    host: str
    status: str
    comparison: Comparison
    value: str
    for_s: float = 0.0
    keep: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """The node is a Synced member of the Primary Component with this state UUID ("started" is not "joined").

    Its answer carries the progress of IST or SST while it does not hold yet; it can never hold any more ("final") when
    the unit failed, or the server stands there Initialized/Inconsistent with the log saying why.

    `beside`: the other members that the plan knows: one of them has to serve in one view with it. A Primary Component
    of its own beside them is no joining. () for a first node, which has nobody to be beside.
    """

    host: str
    state_uuid: str
    unit: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stopped:
    """No server process runs and the unit is inactive (or failed)."""

    host: str
    unit: str


@dataclass(frozen=True, slots=True)
class CleanPosition:
    """grastate.dat in `datadir` holds this UUID and a seqno other than -1, at least `at_least`. Kept under `keep`."""

    host: str
    datadir: str
    state_uuid: str
    at_least: Number = 0
    keep: str = ""


@dataclass(frozen=True, slots=True)
class ClusterWhole:
    """The health gate: all `hosts` Primary, Synced, ready, one state UUID and conf_id, size as given, nobody desynced.

    `but_desynced`: hosts that are deliberately Donor/Desynced.
    """

    hosts: tuple[str, ...]
    size: int
    state_uuid: str
    but_desynced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StillPrimary:
    """At least `at_least` of `hosts` answer, and all that answer are Primary in one view with this state UUID."""

    hosts: tuple[str, ...]
    at_least: int
    state_uuid: str


@dataclass(frozen=True, slots=True)
class NoPrimary:
    """Nobody anybody ever named is Primary: every one is asked.

    Attributes:
        hosts: each must answer, and none as a member of a Primary Component; silence is not known.
        accounted: declared powered off or fenced by a person: silence is what is expected, any answer ends it.
        addresses: what nobody here can log in to (members that only option files name; those called off too): `hosts`
            try its ports; a listener ends it.
        ports: the ports tried there: the server's and the group's.
    """

    hosts: tuple[str, ...]
    accounted: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    ports: tuple[int, ...] = (3306, 4567)


@dataclass(frozen=True, slots=True)
class FormedAgain:
    """All `hosts` are Synced in one Primary Component, or `patience_s` have passed since the first look.

    So a wait for Galera's own recovery always ends, and what came of it is looked at then.
    """

    hosts: tuple[str, ...]
    state_uuid: str
    patience_s: float


@dataclass(frozen=True, slots=True)
class NoClients:
    """No client session runs anything or holds a transaction (`idle_too`: no session at all), except these users'.

    `patience_s` above 0: they are only waited for so long, and the condition holds then all the same.
    """

    host: str
    except_users: tuple[str, ...] = ()
    idle_too: bool = False
    patience_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FreeDisk:
    """The file system of `path` has at least this many bytes for ordinary users."""

    host: str
    path: str
    at_least: int


@dataclass(frozen=True, slots=True)
class CacheLasts:
    """The node's write-set cache keeps what is written for at least so many seconds, at the rate of the last two."""

    host: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CacheFrozen:
    """The donor's frozen cache still serves a node that stopped at a seqno by IST.

    The option's value is 0 or more and at most `stopped_at` (a colleague may set another one), and the donor caches
    what follows, with the safety gap of the donor selection. The evidence tells the cache: frozen at, first cached,
    newest, page files of `directory`.
    """

    host: str
    option: str
    stopped_at: Number
    directory: str


@dataclass(frozen=True, slots=True)
class CacheReaches:
    """One of `donors` still caches all that `host` missed since it stopped (grastate.dat), so IST can bring it back.

    It holds too where `host` is a member already. A position that is not known is not known, never yes.
    """

    host: str
    datadir: str
    state_uuid: str
    donors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FlowControlBelow:
    """Flow control paused the node at most this share (0..1) of the last `for_s` seconds; 0: between two looks."""

    host: str
    share: float
    for_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FileAbsent:
    """No such file."""

    host: str
    path: str


@dataclass(frozen=True, slots=True)
class FileSays:
    """The file exists and a line matches the regular expression."""

    host: str
    path: str
    pattern: str


@dataclass(frozen=True, slots=True)
class OptionIs:
    """The option files give this value to an option of a section (my_print_defaults); None: not set."""

    host: str
    section: str
    option: str
    value: str | None


@dataclass(frozen=True, slots=True)
class TransferWas:
    """The joiner's log since this step's run began its start says which transfer brought it, and from whom.

    Attributes:
        kind: 'IST', 'SST' or 'any'; donor: wsrep_node_name, '' for any.
        since_step: step id whose beginning bounds the log.
        accepted: name of a value; where the run kept it a person accepted any transfer from anybody.
    """

    host: str
    kind: Literal["IST", "SST", "any"]
    donor: str
    since_step: str
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Listening:
    """A TCP connection from `host` to address:port succeeds now."""

    host: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Position:
    """The node's wsrep_last_committed is at least this (after a bootstrap: nothing that was known is missing)."""

    host: str
    at_least: Number


@dataclass(frozen=True, slots=True)
class UnitSetting:
    """systemd property of a unit equals a value, e.g. Restart=no."""

    host: str
    unit: str
    prop: str
    value: str


@dataclass(frozen=True, slots=True)
class UnitFresh:
    """A unit is active under exactly this description, and its main process runs for at most so many seconds."""

    host: str
    unit: str
    description: str
    at_most_s: float


@dataclass(frozen=True, slots=True)
class SameHistory:
    """What an IST would bring `host` continues its own past: it shares that of `hosts`, or has no state at all.

    Without a state in grastate.dat only an SST can come (Galera takes a recovered position only for the UUID that
    stands there), and it erases the data folder: the plan has to know. A fork can never hold; what is not known does
    not hold either, but where a person accepted that. Neither can a seqno in grastate.dat that is not its data's.

    Attributes:
        unit, datadir: of the host that is to be started.
        stopped_at: the position that this run saw it leave these hosts at: where it still stands there, nothing moved.
        accepted: a person named this host before: its past may stay unknown.
        by_sst: the plan knows that no state stands there, and has judged what an SST would erase.
        up: all of them run without a Primary Component, and tell where they stand: pc.bootstrap takes them along.
    """

    host: str
    hosts: tuple[str, ...]
    state_uuid: str
    unit: str
    datadir: str
    stopped_at: Kept | None = None
    accepted: bool = False
    by_sst: bool = False
    up: bool = False


Condition = (
    VariableIs
    | ProviderOption
    | StatusIs
    | Joined
    | NotApart
    | NothingWritten
    | Stopped
    | CleanPosition
    | ClusterWhole
    | StillPrimary
    | NoPrimary
    | FormedAgain
    | NoClients
    | FreeDisk
    | CacheLasts
    | CacheFrozen
    | CacheReaches
    | FlowControlBelow
    | FileAbsent
    | FileSays
    | OptionIs
    | TransferWas
    | Listening
    | Position
    | UnitSetting
    | UnitFresh
    | BalancerServer
    | SameHistory
    | FoundsNothing
    | AtRest
)


def lasts_s(condition: Condition) -> float:
    """Return for how many seconds a condition must be so without a break before it holds; 0 where one look shows it."""
    return float(getattr(condition, "for_s", 0.0))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a look at a condition found.

    Attributes:
        holds: True, False, or None when it could not be read (then `evidence` says why).
        evidence: one sentence with the value read: 'wsrep_desync is ON', never a secret.
        final: it can never hold any more: don't wait on.
        lines: raw evidence (log lines), newest last.
        done, total, unit, left_s: progress where there is one ('write sets', 'bytes').
        kept: values read by the way, by their `keep` name.
    """

    holds: bool | None
    evidence: str
    final: bool = False
    lines: tuple[str, ...] = ()
    done: float | None = None
    total: float | None = None
    unit: str = ""
    left_s: float | None = None
    kept: tuple[tuple[str, str], ...] = ()
