"""What states of a node there are: a code to compare, and a word to see, the vendor's own where it has one.

A recording of before these codes holds the words alone: `BY_WORD` tells their codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.i18n import mark


@dataclass(frozen=True, slots=True)
class State:
    """A state: its code, which is compared and kept, and its word, which is shown and never compared."""

    code: str
    word: str

    def called(self, word: str) -> State:
        """Return the same state under the word that the server itself has for it; its own where that is ''."""
        return State(self.code, word or self.word)

    def over(self, speaks: str) -> State:
        """Return the same state of a server that is asked over something else than SQL."""
        return self if speaks == SQL else State(self.code, self.word.replace(SQL, speaks))


SQL = "SQL"
"""What most servers are asked over, as it stands in the words of a state."""

# Of a server that answers.
SERVING = State("serving", mark("serving"))
NOT_KNOWN = State("not-known", mark("state not known"))
DISK_FULL = State("disk-full", mark("{state}, disk full"))
# Of a server whose channels are told.
SOURCE, REPLICA = State("source", mark("source")), State("replica", mark("replica"))
SQL_STOPPED = State("sql-thread-stopped", mark("SQL thread stopped"))
IO_CONNECTS = State("io-thread-connects", mark("IO thread cannot connect"))
IO_STOPPED = State("io-thread-stopped", mark("IO thread stopped"))
# Of a Galera node that answers: the vendor's own words.
SYNCED = State("synced", "Synced")
DONOR, JOINER, JOINED = (
    State("donor", "Donor/Desynced"),
    State("joiner", "Joiner"),
    State("joined", "Joined"),
)
JOINING = State("joining", mark("joining"))
OTHER = State("not-synced", mark("state not known"))
INCONSISTENT = State("inconsistent", "Inconsistent")
NON_PRIMARY, DISCONNECTED = State("non-primary", "non-Primary"), State("disconnected", "Disconnected")
NOT_REPLICATING = State("wsrep-off", mark("wsrep_on is OFF"))
# Of a node that others, or its host, must speak for.
NOT_RUNNING = State("not-running", mark("not running"))
HELD = State("held", mark("process stopped (SIGSTOP)"))
NO_SECRET = State("sql-no-secret", mark("SQL not asked"))
LOGIN_REFUSED = State("login-refused", mark("SQL login refused"))
NOT_ASKED_SQL = State("sql-not-asked", mark("not asked over SQL"))
NO_SQL = State("no-sql", mark("SQL does not answer"))
STARTING, STARTED = State("starting", mark("starting")), State("started", mark("started, SQL not asked yet"))
RECEIVING = {
    "SST": State("receiving", mark("Joining: receiving SST")),
    "IST": State("receiving", mark("Joining: receiving IST")),
    "": State("receiving", mark("Joining: receiving state transfer")),
}
OFFLINE_MODE = State("offline-mode", mark("offline mode"))
REFUSED, SILENT = State("refused", mark("refused")), State("silent", mark("no answer"))
MEMBER_REFUSED = State("member-refused", mark("member, refused"))
MEMBER_SILENT = State("member-silent", mark("member, no answer"))
NO_NEWS = State("no-news", mark("no news"))
NOT_CONTACTED = State("not-contacted", mark("not contacted yet"))
ARBITRATOR = State("arbitrator", mark("arbitrator"))
STRANGER = State("stranger", mark("member, not in the inventory"))
SOURCE_NAMED = State("source-named", mark("not in the inventory"))
UNSEEN = State("unseen", mark("not seen by any node"))
UNASKED = State("unasked", mark("not asked yet"))
# Of a node that a run moves.
STOPPED_BY_RUN = State("stopped-by-run", mark("stopped by the run"))
STARTED_BY_RUN = State("started-by-run", mark("started by the run"))

OFF = frozenset(
    state.code
    for state in (
        NOT_RUNNING, REFUSED, SILENT, NO_SQL, MEMBER_REFUSED, MEMBER_SILENT, NON_PRIMARY, DISCONNECTED, UNSEEN
    )
)  # fmt: skip
"""Codes of a server that is off, or on its way off or on."""

BY_WORD: Mapping[str, str] = {
    "IO thread can't connect": IO_CONNECTS.code,  # its word in those recordings
    **{
        state.word: state.code
        for state in (
            SERVING, SOURCE, SQL_STOPPED, IO_CONNECTS, IO_STOPPED, SYNCED, DONOR, JOINER, JOINED, JOINING, INCONSISTENT,
            NON_PRIMARY, DISCONNECTED, NOT_REPLICATING, NOT_RUNNING, HELD, NO_SECRET, LOGIN_REFUSED, NOT_ASKED_SQL,
            NO_SQL, STARTING, STARTED, *RECEIVING.values(), OFFLINE_MODE, REFUSED, SILENT, MEMBER_REFUSED,
            MEMBER_SILENT, NO_NEWS, NOT_CONTACTED,
            ARBITRATOR, STRANGER, SOURCE_NAMED, UNSEEN, UNASKED, STOPPED_BY_RUN, STARTED_BY_RUN,
        )
    },
}  # fmt: skip
"""The word of a state -> its code, for recordings of before there were codes; a vendor's other word has none."""
