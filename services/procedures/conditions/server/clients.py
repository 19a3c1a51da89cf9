"""No client of a server works."""

from __future__ import annotations

from services.connections.ports import text
from services.connections.reads import statements
from services.errors import QueryFailed
from services.facts.reading import count
from services.facts.server.sessions import Sessions, parse_sessions
from services.procedures.looking.dead import told_dead
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import SQL_LIMIT_S, Asking


@condition("server.no-clients", "the clients of {host} to finish")
class NoClients(OfHost):
    """No client session runs anything or holds a transaction (`idle_too`: no session at all), except these users'.

    `patience_s` above 0: they are only waited for so long, and the condition holds then all the same.
    """

    except_users: tuple[str, ...] = ()
    idle_too: bool = False
    patience_s: float = 0.0

    @told_dead
    def look(self, asking: Asking) -> Answer:
        """Look for client sessions that work or hold a transaction (with `idle_too`: any)."""
        sessions = _sessions(asking, self.host)
        session = asking.session(self.host)
        rows = session.query(statements.IN_TRANSACTION, limit_s=SQL_LIMIT_S).rows
        holding = {number for row in rows if row and (number := count(text(row[0]))) is not None}
        clients = [c for c in sessions.clients if c.user not in self.except_users]
        working = [c for c in clients if self.idle_too or c.busy or c.number in holding]
        users = ", ".join(sorted({c.user for c in working}))
        if not working:
            idle = f", {len(clients)} idle" if clients else ""
            return Answer(holds=True, evidence=f"no client is active on {self.host}{idle}")
        what = "sessions" if self.idle_too else "working sessions"
        evidence = f"{len(working)} {what} on {self.host} ({users})"
        if self.patience_s <= 0:
            return Answer(holds=False, evidence=evidence)
        waited = asking.memory.waited_s(self, asking.clock)
        return Answer(
            waited >= self.patience_s, f"{evidence}, waited for {waited:.0f} of {self.patience_s:g} s",
            done=min(waited, self.patience_s), total=self.patience_s, unit="s",
        )  # fmt: skip


def _sessions(asking: Asking, host: str) -> Sessions:
    session = asking.session(host)
    own = session.query(statements.OWN_USER, limit_s=SQL_LIMIT_S)
    user = text(own.rows[0][0]) if own.rows else ""
    try:
        return parse_sessions(session.query(statements.SESSIONS, limit_s=SQL_LIMIT_S).rows, user)
    except QueryFailed:  # while the server refuses queries (wsrep_reject_queries) SHOW is still answered
        rows = session.query(statements.FULL_PROCESS_LIST, limit_s=SQL_LIMIT_S).dicts()
        shown = tuple((r.get("Id"), r.get("User"), r.get("Command"), r.get("Info"), r.get("Time")) for r in rows)
        return parse_sessions(shown, user)
