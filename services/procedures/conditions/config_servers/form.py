"""What a config server runs as: alone and mirrored, a set that is still mirrored, a member of a config replica set."""

from __future__ import annotations

from typing import Literal

from services.connections.reads import mongo as reads
from services.facts.mongodb.server import MongoServer, parse_server
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

Form = Literal["alone", "mirrored-set", "new", "set", "removed"]
_WIRE = 4
"""maxWireVersion of 3.2: one that is in no set yet tells no more to who has no account there."""
_WORDS = {
    "alone": "mirrored, in no set",
    "mirrored-set": "mirrored, as a set in sccc mode",
    "new": "started for a set, in none yet",
    "set": "in a config replica set",
    "removed": "out of its config replica set (REMOVED)",
    "": "not a config server",
}


@condition("config_servers.form", "the config server of {host} to be in the required form")
class ConfigServerIs(OfHost):
    """The server answers, runs as this form, and in this set ('' for none)."""

    form: Form
    name: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), stands=frozenset({f"server {self.host}", f"form {self.host}"}))

    def look(self, asking: Asking) -> Answer:
        """Greet the server, and ask how it was started."""
        session = asking.session(self.host)
        hello = session.ask(reads.HELLO, limit_s=LIMIT_S).body
        server = parse_server(hello)
        if server.role != "not-initiated":  # one in no set yet has no users: it tells no more than its greeting
            server = parse_server(hello, options=session.ask(reads.COMMAND_LINE, limit_s=LIMIT_S).body)
        form = form_of(server)
        evidence = f"{self.host} is {_WORDS[form]}{f' ({server.set_name})' if server.set_name else ''}"
        if form == "new" and server.wire not in {None, _WIRE}:
            evidence = f"{self.host} does not run release 3.2: its maxWireVersion is {server.wire}, not {_WIRE}"
            return Answer(holds=False, evidence=evidence)
        return Answer(form == self.form and server.set_name == self.name, evidence)


def form_of(server: MongoServer) -> Form | Literal[""]:
    """Return what a config server runs as, '' for what is none, or no known form."""
    if server.role == "not-initiated" and server.config:
        return "new"
    if server.config == "replica-set" and server.role == "removed" and not server.config_mode:
        return "removed"
    if server.config == "replica-set" and server.role == "member" and not server.config_mode:
        return "set"
    if server.config == "mirrored":
        if server.role == "standalone" and not server.config_mode:
            return "alone"
        if server.role == "member" and server.config_mode == "sccc":
            return "mirrored-set"
    return ""
