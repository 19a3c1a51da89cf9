"""Whether the catalog of a set that a run has made is what the mirrored ones had: noted before, compared after.

A mongos that somebody starts meanwhile goes over to the set and changes it alone; once it is stopped again nothing but
the metadata themselves tells of it.
"""

from __future__ import annotations

import msgspec

from services.connections.reads import mongo as reads
from services.errors import UserError
from services.facts.mongodb.metadata import differing, parse_hashes
from services.facts.mongodb.values import line
from services.json_text import stored_json
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking, Past

_LIMIT_S, _MOST_TOLD = 30.0, 5
_SAME = "same"
_NAMED = {"databases": reads.CONFIG_DATABASES, "collections": reads.CONFIG_COLLECTIONS}


class _Noted(msgspec.Struct, frozen=True):
    """What is kept of a catalog: the hash of each collection of the metadata, the names of what it lists."""

    hashes: dict[str, str]
    names: dict[str, tuple[str, ...]]


def _name(host: str) -> str:
    return f"catalog:{host}"


def _seen(host: str) -> str:
    return f"catalog-seen:{host}"


def _read(asking: Asking, host: str) -> _Noted:
    session = asking.session(host)
    hashes = parse_hashes(session.ask(reads.CONFIG_HASH, limit_s=_LIMIT_S).body)
    names = {
        what: tuple(sorted(line(one.get("_id"), 200) for one in session.ask(read, limit_s=_LIMIT_S).documents))
        for what, read in _NAMED.items()
    }
    return _Noted(hashes, names)


@condition("config_servers.catalog-noted", "the metadata of {host} to be recorded")
class CatalogNoted(OfHost):
    """What the metadata of a config server are is kept in the run, for CatalogUnchanged."""

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}), keeps=frozenset({_name(self.host)}))

    def look(self, asking: Asking) -> Answer:
        """Read and keep them."""
        now = _read(asking, self.host)
        if not now.hashes:
            return Answer(holds=None, evidence=f"{self.host} reported no metadata: is its data folder empty?")
        kept = (_name(self.host), stored_json(now).decode())
        return Answer(holds=True, evidence=f"the metadata of {self.host} are recorded", kept=(kept,))


@condition(
    "config_servers.catalog-unchanged", "the metadata of {host} to be the same as on the mirrored config servers"
)
class CatalogUnchanged(OfHost):
    """The metadata of a host are those that were noted; so they are while the set was not created yet.

    Of a host that does not answer any more what was seen last counts: an undo stops it itself.

    Attributes:
        made_by: id of the step that makes the set.
    """

    made_by: str

    def declared(self) -> Declared:
        """See Condition."""
        # The step that makes the set may come after the one whose undo this is of: it is no earlier one of the plan.
        return Declared(frozenset({self.host}), keeps=frozenset({_seen(self.host)}))

    def look(self, asking: Asking) -> Answer:
        """Compare; where they differ, name what came and what went."""
        if self.made_by not in asking.past.began:
            return Answer(holds=True, evidence="the set was not created yet")
        noted = asking.past.kept.get(_name(self.host), "")
        if not noted:
            return Answer(holds=None, evidence=f"the earlier metadata of {self.host} were not recorded")
        try:
            now = _read(asking, self.host)
        except UserError as problem:
            return self._seen_last(asking.past, problem.sentence)
        return self._compared(msgspec.json.decode(noted, type=_Noted), now)

    def _compared(self, before: _Noted, now: _Noted) -> Answer:
        if not now.hashes:
            return Answer(holds=None, evidence=f"{self.host} reported no metadata")
        other = differing((before.hashes, now.hashes))
        seen = ((_seen(self.host), "changed" if other else _SAME),)
        of = f"the metadata of {self.host}"
        if not other:
            return Answer(holds=True, evidence=f"{of} are the same as on the mirrored config servers", kept=seen)
        evidence = "; ".join(f"{what}{_moved(before, now, what)}" for what in other)
        return Answer(holds=False, evidence=f"{of} differ from the mirrored config servers: {evidence}", kept=seen)

    def _seen_last(self, past: Past, why: str) -> Answer:
        same = past.kept.get(_seen(self.host)) == _SAME
        evidence = f"{self.host}: {why}" + (
            " Before, its metadata were the same as on the mirrored config servers." if same else ""
        )
        return Answer(holds=True if same else None, evidence=evidence)


@condition("config_servers.changes-kept", "a confirmation to continue with the changes on {host}")
class ChangesKept(OfHost):
    """A person goes on with what was changed in the set since it was made.

    Attributes:
        kept_as: the name under which their answer, 'yes', is kept.
    """

    kept_as: str

    def look(self, asking: Asking) -> Answer:
        """Look back."""
        kept = asking.past.kept.get(self.kept_as) == "yes"
        return Answer(kept, "you confirmed that the changes stay" if kept else "not confirmed yet")


def _moved(before: _Noted, now: _Noted, what: str) -> str:
    """Return ' (new: colleague)' of what is listed by name, '' of anything else."""
    old, new = set(before.names.get(what, ())), set(now.names.get(what, ()))
    parts = [
        f"{word}: {', '.join(sorted(found)[:_MOST_TOLD])}"
        for word, found in (("new", new - old), ("gone", old - new))
        if found
    ]
    return f" ({'; '.join(parts)})" if parts else ""
