"""What may be done to a cluster before the console is asked: verbs, and the person that the console then meets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

MEMBERS = ("s1", "s2", "s3")


class Kind(Enum):
    """One kind of verb; the value is the word that is printed."""

    WRITE = "write"  # a burst of rows through one node, each acknowledged row in the ledger
    LOOK = "look"  # the console looks at the estate, as it does all day
    KILL = "kill"
    KILL_ALL = "kill-all"
    STOP = "stop"
    START = "start"  # by hand, as a colleague would
    PART = "part"  # the host sees no other host
    HEAL = "heal"
    BOOTSTRAP = "pc.bootstrap"  # on the side that was cut off, which is the wrong one
    FOUND = "galera_new_cluster"  # on a stopped node, which may be the wrong one
    PAUSE = "pause"
    RESUME = "resume"
    COPY = "copy"  # of the data folder, as a snapshot of its volume would be
    RESTORE = "restore"  # of that copy, over what the host has now
    GRASTATE = "grastate"  # damaged in the way that the value names
    GVWSTATE = "gvwstate-deleted"
    SAFE = "safe_to_bootstrap-flipped"
    GCACHE = "galera.cache-deleted"
    BACKUP = "backup"  # a full one, on the node's own disk
    UNWRITTEN = "only-in-gvwstate"  # out of the inventory and of every wsrep_cluster_address: views alone name it
    INCREMENT = "incremental"  # a backup on top of the newest one, in a folder of its own
    HALF = "half-copied"  # the backup, as a copy that broke off or was cleaned up too early leaves it
    FILTER = "filtered"  # by its unit's environment, which no option file shows; the server is restarted with it
    NEVER = "sst-never-began"  # a start by hand whose donors could send nothing: its state file is empty now
    KEPT = "kept-folder"  # in the data folder: what an earlier run kept there
    LOST = "data-lost"  # of a stopped node, all of its folder: its disk was exchanged
    FOUNDS = "wsrep_new_cluster-left"  # in an option file: the next start founds a cluster of its own


QUIET = frozenset({Kind.WRITE, Kind.LOOK})
"""What breaks nothing: it stands between the verbs and is not counted among them."""

DAMAGES = ("truncated", "zeros", "deleted", "zero-uuid", "low-seqno", "high-seqno")


TRAPS = frozenset(
    {Kind.UNWRITTEN, Kind.BACKUP, Kind.INCREMENT, Kind.HALF, Kind.FILTER, Kind.NEVER, Kind.KEPT, Kind.LOST}
)
"""What seeds of their own have."""

HALVES = ("frm", "meta", "delta", "delta-and-meta", "table", "older-delta", "delta-cut", "ibd-cut")
FILTERS = ("binlog-ignore-db=shop", "binlog-do-db=sbtest", "replicate-ignore-db=shop")
FOLDERS = ("#sql-pilothouse-before.sst", ".pilothouse-before.sst")
"""Where a run keeps older data inside the data folder, and where earlier versions did."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb; `host` is '' where it means all of them, `value` is the kind of damage."""

    kind: Kind
    host: str = ""
    value: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.kind.value, self.host, self.value) if word)


@dataclass(frozen=True, slots=True)
class Person:
    """Who runs the procedures.

    Attributes:
        confirms: types the host's name where a step can't be undone; else the run is taken back at that question.
        accepts: types that rows may be lost where the console asks for it; else the run is taken back there.
        itself: lets Galera's own recovery be tried first.
        after: what is run on a cluster that is whole again: 'rolling-restart', 'desync-for-backup', 'freeze-gcache',
            'bootstrap-after-crash' (which must find nothing to do), or ''.
        node: the node that `after` is about.
        returns: the procedure that a node that is down is brought back with, where it fits; else add-node.
    """

    confirms: bool
    accepts: bool
    itself: bool
    after: str
    node: str
    returns: str = "add-node"

    def __str__(self) -> str:
        words = ("confirms" if self.confirms else "confirms nothing", "accepts losses" if self.accepts else "no loss")
        more = (
            *(("itself first",) if self.itself else ()),
            *((f"back by {self.returns}",) if self.returns != "add-node" else ()),
            *((f"then {self.after} {self.node}",) if self.after else ()),
        )
        return ", ".join((*words, *more))


@dataclass(frozen=True, slots=True)
class State:
    """One state of the test: made from a seed alone, the same again from the same seed."""

    seed: int
    verbs: tuple[Verb, ...]
    person: Person

    def host_of(self, kind: Kind) -> str:
        """Return the host of the first verb of this kind, '' without one."""
        return next((verb.host for verb in self.verbs if verb.kind is kind), "")

    def __str__(self) -> str:
        return "; ".join(str(verb) for verb in self.verbs)
