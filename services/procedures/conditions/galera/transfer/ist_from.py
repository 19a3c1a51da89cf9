"""The IST that brought a node began right behind the position that its data had."""

from __future__ import annotations

from services.facts.reading import count
from services.facts.transfer.join_words import needed_none, of_transfers
from services.procedures.looking.asked import number_of
from services.procedures.looking.log import read_log_since
from services.procedures.looking.witnesses import is_synced
from services.procedures.plan.condition import Answer, Declared, Number, OfHost, condition
from services.procedures.plan.looks import Asking
from services.procedures.plan.parts.machine.unit import Unit

_SLACK_S = 2.0
"""See transfer.py: clocks are compared over SSH."""


@condition("galera.ist-from", "the IST to {host} to begin right after its data")
class IstFrom(OfHost):
    """The joiner's log since `since_step` tells an IST whose first seqno is `behind` + 1; none where it missed nothing.

    The first IST of the start counts: one after a short partition begins where the node stood then. Where words of
    clients stand where the log tells it, the node's own status does: how far its cache goes back.

    A later first seqno is a hole in the data, an earlier one are write sets that it has already.
    """

    behind: Number
    since_step: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), since_steps=(self.since_step,))

    def look(self, asking: Asking) -> Answer:
        """Read the joiner's log since its start."""
        host, began, behind = self.host, asking.past.began.get(self.since_step), number_of(self.behind, asking.past)
        if began is None or behind is None:
            return Answer(holds=None, evidence=f"this run does not know the position of {host}, or when it was started")
        seen = asking.facts.host(host) if asking.facts is not None else None
        unit = (seen[Unit].name if seen is not None else "") or "mariadb.service"
        log = read_log_since(asking, host, unit, began - _SLACK_S)
        if log is None:
            return Answer(holds=None, evidence=f"the log of {host} could not be read")
        newest = log.newest_start()
        said = of_transfers(newest.since(began - _SLACK_S), 10)
        name = asking.variable(host, "wsrep_node_name") or (seen.node_name if seen is not None else "")
        own = [one for one in newest.transfers(began - _SLACK_S) if one.joiner_name == name]
        firsts = [one.first_seqno for one in own if one.first_seqno is not None]
        if not newest.start_hidden() and firsts:
            evidence = f"the IST to {host} began at {firsts[0]}, its data were at {behind}"
            return Answer(firsts[0] == behind + 1, evidence, final=firsts[0] != behind + 1, lines=said)
        if needed_none(newest.since(began - _SLACK_S)) and not (newest.left_out() and newest.tells_request()):
            return Answer(holds=True, evidence=f"{host} had missed nothing after {behind}", lines=said)
        return self._by_cache(asking, behind, said)

    def _by_cache(self, asking: Asking, behind: int, said: tuple[str, ...]) -> Answer:
        """Judge by the server's own status: what an IST brought is in the cache, without a gap."""
        host = self.host
        cached = count(asking.status(host).get("wsrep_local_cached_downto", ""))
        if cached and cached <= behind + 1 and is_synced(asking, host):
            evidence = f"the cache of {host} goes back to {cached}: no write set behind {behind} is missing"
            return Answer(holds=True, evidence=evidence, lines=said)
        return Answer(holds=None, evidence=f"the log of {host} shows no first seqno of an IST yet", lines=said)
