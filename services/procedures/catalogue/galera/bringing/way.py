"""Which backup a node is to come back from, and from where: on the node, on another host, or made now by a donor. Pure.

What is brought lies in a folder of the run's own on the node, which only root enters: from there on it is a backup like
any other that lay there. Only its names come from outside, and each is one plain word.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from services.facts.plain_names import is_folder
from services.procedures.catalogue.checks.parts import galera_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.inputs import bytes_of
from services.procedures.plan.parts.galera.backups import Backups
from services.procedures.plan.parts.server.sessions import Sessions

HERE, HOST, NOW = "here", "host", "now"
INTO = "/var/lib/pilothouse"
DEEPEST = 3
"""The search for backups goes six folders deep: the folder of the run, that of a backup and its files lie below."""
MADE = "full"
CHUNK = 10 * 2**20
"""What mariadb-backup counts with --throttle: chunks of 10 MB (MariaDB KB, "mariadb-backup Options")."""
_WORDS = {
    HERE: "it lies on the node already",
    HOST: "it lies on another host, and is brought",
    NOW: "a donor makes one now, and sends it",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One bringing.

    Attributes:
        kind: HOST or NOW; source: who sends; folders: on the source, in their order; () for a backup made now.
        place: the run's own folder, of the same path on both hosts; rate: bytes a second at most, 0 for no bound.
    """

    kind: str
    joiner: str
    source: str
    place: str
    folders: tuple[str, ...] = ()
    rate: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the backups' own names below the place: those of their folders."""
        return (MADE,) if self.kind == NOW else tuple(posixpath.basename(path) for path in self.folders)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return where the backups lie on the node once they are brought."""
        return tuple(posixpath.join(self.place, name) for name in self.names)


def fields_of(facts: Facts, inputs: Inputs, joiner: str, kinds: tuple[str, ...]) -> tuple[Field, ...]:
    """Return the questions about where the backup comes from.

    Args:
        kinds: those that the procedure has.
    """
    kind = kind_of(inputs)
    sources = _sources(facts, joiner, kind)
    return (
        Field("backup_from", "Where the backup comes from", "choice", HERE,
              tuple((one, _WORDS[one]) for one in kinds)),
        Field("source", "Host that has the backup, or makes it", "host", sources[0][0] if sources else "", sources,
              help="Only where the backup does not lie on the node: it is sent from there over TLS.",
              required=kind != HERE),
        Field("into", "Folder under which a brought backup is put", "text", INTO,
              help=f"On a volume of the node with room for it, at most {DEEPEST} folders deep. The run removes what it "
              "brought when it ends.", required=False, advanced=True),
        Field("rate", "How much is sent in a second at most", "bytes", "",
              help="Empty: as fast as the road is. A backup made now is counted in pieces of 10 MiB; each small "
              "table is one of them, so many of them go slower than asked for.", required=False,
              advanced=True),
    )  # fmt: skip


def kind_of(inputs: Inputs) -> str:
    """Return which of the three it is."""
    return inputs.get("backup_from", "").strip() or HERE


def way_of(values: Inputs, folders: tuple[str, ...]) -> Way | None:
    """Return how the backup is brought; None: it lies on the node.

    Args:
        folders: what the person named; of no meaning for a backup that is made now.
    """
    kind = kind_of(values)
    if kind not in {HOST, NOW}:
        return None
    place = posixpath.join(values["into"].rstrip("/") or "/", f"pilothouse-brought-{values['joiner']}")
    return Way(kind, values["joiner"], values["source"], place, () if kind == NOW else folders,
               bytes_of(values["rate"]) or 0 if values["rate"] else 0)  # fmt: skip


def faults_of(way: Way, values: Inputs, datadir: str) -> tuple[Fault, ...]:
    """Return what is wrong with the answers of a bringing.

    Args:
        datadir: the node's data folder.
    """
    into, found = values["into"].rstrip("/"), list[Fault]()
    if way.source == way.joiner:
        found.append(Fault("source", "The backup must come from another host than the node that comes back."))
    if not is_folder(into) or into.count("/") > DEEPEST:
        found.append(Fault("into", f"Write an absolute path of plain letters, at most {DEEPEST} folders deep."))
    elif f"{datadir}/".startswith(f"{into}/") or f"{into}/".startswith(f"{datadir}/"):
        found.append(Fault("into", f"What is brought can't lie in the data folder {datadir}, nor above it."))
    if not is_folder(way.place):
        found.append(Fault("joiner", "The node's name does not go into a folder's name."))
    if values["rate"] and not way.rate:
        found.append(Fault("rate", "Write how much in a second, like 50 MiB, or nothing."))
    elif way.kind == NOW and 0 < way.rate < CHUNK:
        found.append(Fault("rate", "mariadb-backup can't be held below 10 MiB in a second."))
    if any(not is_folder(path) for path in way.folders):
        found.append(Fault("", "Give the whole path of each folder on its host, in plain letters."))
    elif len(set(way.names)) < len(way.names):
        found.append(Fault("", "Two of the folders have the same name: they would lie in one place."))
    return tuple(found)


def _sources(facts: Facts, joiner: str, kind: str) -> tuple[tuple[str, str], ...]:
    """Return who may send: of a backup now the members, the least used first; else every other host."""
    members = member_hosts(facts) if kind in {HOST, NOW} else ()
    if kind == HOST:
        others = [h for h in facts.hosts if h.host != joiner]
        others.sort(key=lambda h: (-len(h[Backups].found or ()), h.host in members, h.host))
        return tuple((h.host, f"{len(h[Backups].found or ())} backups were found there") for h in others)
    donors = [name for name in members if name != joiner]
    donors.sort(key=lambda name: (_state(facts, name) != "Synced", _clients(facts, name), name))
    return tuple((name, f"{_state(facts, name)}, {_told(facts, name)}") for name in donors)


def _state(facts: Facts, name: str) -> str:
    galera = galera_of(facts.host(name))
    return (galera.local_state_comment if galera is not None else "") or "of unknown state"


def _clients(facts: Facts, name: str) -> int:
    found = facts.host(name)[Sessions].clients
    return 2**31 if found is None else found


def _told(facts: Facts, name: str) -> str:
    found = facts.host(name)[Sessions].clients
    return "its clients are not known" if found is None else f"{found} client session{'' if found == 1 else 's'}"
