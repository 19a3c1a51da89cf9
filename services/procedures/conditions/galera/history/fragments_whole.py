"""No transaction came to a node without its beginning: of streaming replication, whose first parts no binary log has.

With wsrep_trx_fragment_size a transaction is replicated in parts while it runs; each part takes a seqno, and a binary
log has the whole at its end. A node whose data were replayed from binary logs up to a seqno lacks the parts of what was
open there: the rest comes by IST, is passed over with a warning, and the node is Synced without those rows (two servers
10.11.18 with Galera 26.4.23, tried; wsrep-lib/src/server_state.cpp, "Could not find applier context for").
"""

from __future__ import annotations

from services.facts.transfer.join_words import passed_over
from services.procedures.looking.log import read_log_since
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

_SLACK_S = 2.0


@condition("galera.fragments-whole", "incomplete transactions on {host}")
class FragmentsWhole(OfHost):
    """The log of `host` since a step began tells of no part of a transaction that was passed over.

    Attributes:
        unit: of its server; since_step: step id whose beginning bounds the log.
    """

    unit: str
    since_step: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,))

    def look(self, asking: Asking) -> Answer:
        """Read the log; one that does not reach back to the step shows nothing."""
        began = asking.past.began.get(self.since_step)
        log = read_log_since(asking, self.host, self.unit, began) if began is not None else None
        if began is None or log is None:
            return Answer(holds=None, evidence=f"the log of {self.host} since its start could not be read")
        told = (*log.since(began - _SLACK_S), *log.newest_start().since(0.0))  # that one whatever a clock says
        found = passed_over(told)
        if found:
            what = f"{self.host} skipped the end of a transaction that began before its IST"
            return Answer(holds=False, evidence=f"{what}: its rows are missing there", final=True, lines=found[:10])
        if not log.reaches(began):
            return Answer(holds=None, evidence=f"the log of {self.host} does not go back to this start")
        return Answer(holds=True, evidence=f"the log of {self.host} contains no incomplete transaction")
