"""A host that never was a member gets its option file first, after the donor's, as add-node writes it. All pure.

Who has none needs no SST for it: the file, the ports and the name with the others are all that a snapshot does not
bring. All of it is proven before the lock, and goes again when the run is taken back.
"""

from __future__ import annotations

from services.facts.galera.provider_options import provider_options as by_name
from services.facts.plain_names import is_node_name
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.checks.parts import checked
from services.procedures.catalogue.galera.shared import joining, newcomer
from services.procedures.catalogue.galera.shared.joiner_config import COPIED, address_of
from services.procedures.catalogue.galera.shared.joiner_secrets import set_by_hand
from services.procedures.catalogue.steps.choices import is_out_of_reach, member_hosts, why_no_spare
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Step
from services.procedures.plan.parts.server.options import Options


def is_new(facts: Facts, joiner: str) -> bool:
    """Return whether the host's own files name no cluster, and it is no member that lost them."""
    return joiner in facts.candidates and not joining.configured(facts, joiner)


def fields(facts: Facts, joiner: str) -> tuple[Field, ...]:
    """Return the question that matters for a new node only: one that was a member keeps its name."""
    return (Field("node_name", "Node name of the joiner", "text", _own_name(facts, joiner) or joiner, advanced=True),)


def _own_name(facts: Facts, joiner: str) -> str:
    return facts.host(joiner)[Options].option("mysqld", "wsrep_node_name") or ""


def faults(facts: Facts, values: Inputs) -> tuple[Fault, ...]:
    """Return what is wrong with the joiner's name, and with a new node's address."""
    joiner, named, own = values["joiner"], values["node_name"], _own_name(facts, values["joiner"])
    if not is_new(facts, joiner):
        differs = bool(own) and named != own
        return (Fault("node_name", f"{joiner} is already configured with the name {own}."),) if differs else ()
    found = []
    if (why := why_no_spare(facts, joiner)) and is_out_of_reach(facts, joiner):
        found.append(Fault("joiner", f"{joiner} cannot join: {why}."))
    if not is_node_name(named):
        found.append(Fault("node_name", "A node name consists of letters, digits, dots, dashes and underscores."))
    if not address_of(facts.host(joiner)):
        found.append(Fault("joiner", f"The address of {joiner} is not known."))
    return tuple(found)


def checks(facts: Facts, values: Inputs, members: tuple[str, ...]) -> tuple[Check, ...]:
    """Return whether the joiner's files are its own, or can be written after the donor's."""
    joiner, donor, fresh = values["joiner"], values["donor"], is_new(facts, values["joiner"])
    both = (
        preflight.traffic_alike(facts, joiner, donor, fresh=fresh),
        preflight.traffic_files(facts, joiner, donor, fresh=fresh),
    )
    if not fresh:
        known = (*preflight.joins_others(facts, (joiner,)), *preflight.names_known(facts, (joiner,)))
        return (_configured(facts, joiner), *both, *known)
    path = newcomer.config_path(facts.host(joiner))
    return (
        _copied_cache(facts, joiner, donor),
        *both,
        set_by_hand(facts, joiner, donor, COPIED),
        joining.options_left(facts, joiner, donor),
        joining.names(facts, joiner, values["node_name"], donor, members),
        preflight.joins_others_once_written(facts, joiner, path),
    )


def _configured(facts: Facts, joiner: str) -> Check:
    """A member's option files are its own and stay: its name, its address, its server_id. None are copied."""
    there = joining.configured(facts, joiner)
    back = (
        f"Restore [mysqld] wsrep_cluster_address, wsrep_node_name, wsrep_node_address and server_id of {joiner} "
        "in its option files, from its backup or your configuration management."
    )
    return checked(
        "JOINER-CONFIGURED",
        f"{joiner} is configured",
        block=not there,
        evidence="its option files name the cluster" if there else f"the option files of {joiner} name no cluster",
        why="A snapshot contains data but no option files. This host was a member: its former options are not guessed.",
        try_=(back,),
        host=joiner,
        absolute=not there,
    )


def _copied_cache(facts: Facts, joiner: str, donor: str) -> Check:
    """The new file has the donor's provider options: a cache outside the data folder would be named there too."""
    given = by_name(facts.host(donor)[Options].option("mysqld", "wsrep_provider_options") or "")
    folder = given.get("gcache.dir", "")
    outside = folder.startswith("/") and not f"{folder.rstrip('/')}/".startswith(f"{folder_of(facts.host(joiner))}/")
    said = f"the option files of {donor} place the cache in {folder}"
    return checked(
        "JOINER-CONFIGURED",
        f"The option file of {joiner} can be derived from {donor}",
        block=outside,
        evidence=said if outside else f"{joiner} names no cluster yet: its file is written before the lock",
        why="A folder outside may not exist on the new host, or belong to another server.",
        try_=(f"Write the option files of {joiner} yourself, with a gcache.dir inside its data folder.",),
        host=joiner,
        absolute=True,
    )


def before_the_lock(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the steps that give a new host its option file and try its ports; none for one that was a member."""
    joiner, donor = values["joiner"], values["donor"]
    if not is_new(facts, joiner):
        return ()
    written = newcomer.configure(facts, joiner, donor, values["node_name"])
    return (*written, *newcomer.try_ports(facts, joiner, member_hosts(facts)))


def at_the_end(facts: Facts, values: Inputs) -> tuple[Step, ...]:
    """Return the steps that name a new node in the members' files; none for one that was a member."""
    joiner = values["joiner"]
    return tuple(newcomer.name_to_members(facts, joiner, member_hosts(facts))) if is_new(facts, joiner) else ()
