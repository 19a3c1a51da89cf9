"""What has to be true before config servers are converted: their form, their metadata, files, who else knows them."""

from __future__ import annotations

from services.connections.mongo.change import CLEARS_SETS
from services.facts.mongodb.server import release
from services.facts.mongodb.sharding import CONFIG_PORT, parse_hosts
from services.procedures.catalogue.checks.parts import checked, listed, unread, verdict
from services.procedures.catalogue.mongodb.config_servers.edits import elsewhere, open_ways, untried
from services.procedures.catalogue.mongodb.config_servers.party import (
    ROLLING,
    WINDOW,
    Party,
    called,
    is_loopback,
    strings_of,
    used_by,
)
from services.procedures.catalogue.mongodb.shared.checks import same_of
from services.procedures.catalogue.mongodb.shared.only_a_person_knows import said
from services.procedures.catalogue.mongodb.shared.order import SEE_IT_TO_ITS_END, half_way, order_of
from services.procedures.catalogue.mongodb.shared.sets import at, listed_by, mongo_of, names_of
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.forms.inputs import flag_of
from services.procedures.plan.parts.mongodb.set_document import SetDocument

LEAST = {ROLLING: (3, 2, 4), WINDOW: (3, 2, 0)}
_BEFORE = (3, 4, 0)
_MIRRORS = 3


def form(party: Party) -> Check:
    """Three mirrored config servers, each alone, each a host of the inventory, as every mongos names them."""
    faults = []
    config_db = parse_hosts(party.string, CONFIG_PORT)
    if config_db.set_name:
        faults.append(f"the mongos already name a set ({config_db.set_name}), but the config servers are mirrored")
    named = {called(one) for one in config_db.places}
    if not party.string:
        faults.append("no mongos reports its config servers")
    elif strange := sorted(named - set(party.places)):
        faults.append(f"{', '.join(strange)} is not in the inventory")
    if party.string and len(party.servers) != _MIRRORS:
        faults.append(f"the mirrored config servers are {listed(party.servers)}, but {_MIRRORS} are required")
    begun = half_way(party.facts, order_of(party.facts))
    faults += [f"{one}: conversion not finished" for one in begun]
    lying = {host: party.facts.host(host)[SetDocument].names for host in party.servers}
    rests = [(host, names) for host, names in lying.items() if names]
    blind = [
        unread(party.facts.host(host), "the content of local.system.replset", "set-document", "mongo", "sql")
        for host, names in lying.items()
        if names is None
    ]
    faults += [f"the data of {host} contain the configuration of {', '.join(names)}" for host, names in rests]
    if local := [place for place in party.places if is_loopback(place)]:
        faults.append(f"{', '.join(local)} refers to a different host on each host")
    return checked(
        "CONFIG-FORM",
        "There are three mirrored config servers, as named by every mongos",
        block=faults,
        unread=blind,
        good=f"{', '.join(party.servers)} in the order of configDB: {party.string}",
        why="They are converted in the order and by the names of that string.",
        try_=(
            *((SEE_IT_TO_ITS_END,) if begun else ()),
            "Add every config server to the inventory, with its name from the string.",
            *(_removed(party, host, name) for host, names in rests for name in names),
        ),
    )


def _removed(party: Party, host: str, name: str) -> str:
    """Return how a person removes what an earlier run left in a server's data: no built-in role may (3.2)."""
    server = party.server(host)
    port = (server.port if server is not None else None) or party.port
    remove = f"db.getSiblingDB('local').system.replset.remove({{_id: '{name}'}})"
    return (
        "The content of local.system.replset on a server that is in no set is a leftover. "
        f'On {host}: mongo --port {port} --eval "{remove}". If it has accounts: {CLEARS_SETS}'
    )


def versions(party: Party) -> Check:
    """Every server runs the same release of 3.2, new enough for the way."""
    least, faults, seen = LEAST[party.way], [], set()
    for host in (*party.servers, *party.routers, *party.shard_hosts):
        mongo = mongo_of(party.facts.host(host))
        version = release(mongo.server.version) if mongo is not None else None
        if version is None or not least <= version < _BEFORE:
            faults.append(f"{host} runs {mongo.server.version if mongo is not None else 'an unknown version'}")
        else:
            seen.add(version)
    if len(seen) > 1:
        faults.append("they differ: " + ", ".join(".".join(map(str, one)) for one in sorted(seen)))
    wanted = ".".join(map(str, least))
    return checked(
        "CONFIG-VERSIONS",
        f"Every server runs the same version of 3.2, {wanted} or newer",
        block=faults,
        good=f"all run {', '.join('.'.join(map(str, one)) for one in seen)}",
        why="sccc mode works from 3.2.4 on, and 3.4 does not start with mirrored config servers.",
        try_=("Upgrade with mongo-rolling-upgrade first.",),
    )


def protocols(party: Party) -> Check:
    """Every shard has protocolVersion 1."""
    faults = [f"{one.name} has protocolVersion {one.protocol}" for one in party.shards if one.protocol != 1]
    if not party.shards:
        faults.append("no shard was read")
    shards, here = listed_by(party.facts), {one.name for one in party.shards}
    faults += [] if shards is not None else ["the list of shards could not be read"]
    faults += [f"the shard {one.name} ({one.hosts.set_name or 'no replica set'}) is not in the inventory"
               for one in shards or () if one.hosts.set_name not in here]  # fmt: skip
    return checked(
        "SHARD-PROTOCOL",
        "Every shard has protocolVersion 1",
        block=faults,
        good=listed([one.name for one in party.shards]),
        why="MongoDB's manual requires the shards first; the config replica set of 3.2 has no other protocol.",
        try_=("Run mongo-protocol-upgrade first.",),
    )


def same(party: Party) -> Check:
    """The metadata of all config servers have equal hashes, read within a minute."""
    return same_of(party.facts, party.servers)


def one_string(party: Party) -> Check:
    """Every mongos was started with the same string, byte for byte, and uses mirrored config servers."""
    strings, faults = strings_of(party.facts), []
    if len(set(strings.values())) > 1:
        faults.append("; ".join(f"{host}: {string or 'none'}" for host, string in strings.items()))
    for host in party.routers:
        mongo = mongo_of(party.facts.host(host))
        used = used_by(mongo)
        if used.set_name:
            faults.append(f"{host} uses the set {used.set_name}")
    return Check(
        code="CONFIG-STRING",
        title="Every mongos was started with the same string of config servers",
        verdict=verdict(faults or not strings),
        evidence="; ".join(faults) or party.string or "no mongos was read",
        why="A mongos with another order acquires locks in another order: catalog changes would conflict.",
        try_=("Restart every mongos with the same string (sharding.configDB), one at a time, then check again.",)
        if faults
        else ("Add a mongos to the inventory, or give the console access to one, then check again.",)
        if not strings
        else (),
    )


def every_mongos(party: Party) -> Check:
    """Each mongos that wrote itself down in the last minute is one of the inventory and answers."""
    here = {name for host in party.routers for name in names_of(party.facts.host(host))}
    known = [m for host in party.routers if (m := mongo_of(party.facts.host(host))) and m.cluster is not None]
    routers = next((m.cluster.routers for m in known if m.cluster and m.cluster.routers is not None), None)
    now = max((m.server.at for m in known if m.server.at is not None), default=None)
    faults = [] if routers is not None else ["the list of mongos could not be read"]
    faults += [f"{r.name.name} is not in the inventory, or does not answer" for r in routers or ()
               if r.alive(now) is not False and at(r.name) not in here]  # fmt: skip
    return checked(
        "EVERY-MONGOS",
        "Every running mongos is in the inventory",
        block=faults,
        good=f"{', '.join(party.routers)} and no other",
        why="A mongos that keeps the old string works until the mirrors are stopped, and then fails.",
        try_=("Add its host to the inventory, or stop it permanently and wait a minute.",),
        absolute=True,  # nothing to override: the step that stops a config server asks for the same
    )


def files(party: Party) -> Check:
    """Each server is started by a unit with a YAML file that holds what is to be changed."""
    faults = []
    for host in (*party.servers, *party.routers):
        process = party.process(host)
        if process.running == 1 and (process.odd or not process.account):
            faults.append(f"{host}: {process.odd or 'its account is root, or not known'}")
        elif process.running != 1 or not process.unit or not process.program:
            why = "; ".join(filter(None, (process.trouble, process.strangers)))
            faults.append(f"{host}: one server under systemd is required, but {process.running} run ({why})")
        elif process.trouble:
            faults.append(f"{host}: {process.trouble}")
        elif host in party.routers and process.setting("sharding.configDB") is None:
            faults.append(f"{host}: {process.path} has no sharding.configDB")
        elif host in party.servers and process.setting("storage.dbPath") is None:
            faults.append(f"{host}: {process.path} has no storage.dbPath")
    restarted = party.shard_hosts if party.way == WINDOW else ()  # by an undo: they go over to the set by themselves
    faults += [
        f"{host}: one server under systemd is required, but {party.process(host).running} run"
        for host in restarted
        if party.process(host).running != 1 or not party.process(host).unit
    ]
    changed = (*party.servers, *party.routers)
    tried = [one for host in changed if not party.process(host).trouble for one in untried(party, host)]
    faults += [one.why for one in tried]
    faults += [fault for host in changed for fault in elsewhere(party, host)]
    loose = [one for host in changed if not party.process(host).trouble for one in open_ways(party, host)]
    faults += [one.why for one in loose]
    blind = [h for h in party.everyone if h in {*party.servers, *party.routers, *party.new, *restarted}
             and not party.facts.host(h).is_root]  # fmt: skip
    faults += [f"{host}: the login is not root and cannot become root" for host in blind]
    return checked(
        "CONFIG-FILES",
        "Every server starts under systemd, with a configuration file that can be changed",
        block=faults,
        good=_every_edit(party, changed),
        why="Each edit was tested on the current file. An option on the command line takes precedence: changing the "
        "file would have no effect.",
        try_=(
            *(way for one in (*tried, *loose) for way in one.try_),
            "Move its options to a YAML file that its unit names, restart it, and make a new plan.",
        ),
        absolute=True,  # nothing to override: a step would fail at it with servers stopped
    )


def explicit(party: Party) -> Check:
    """The file names role and port: the role brings another default port."""
    faults = [
        f"{host}: {what} is not in its file"
        for host in party.servers
        for what in ("sharding.clusterRole", "net.port")
        if party.process(host).setting(what) is None
    ]
    return checked(
        "CONFIG-EXPLICIT",
        "The files name the role and the port",
        warn=faults,
        good="every file sets sharding.clusterRole and net.port",
        why="With --configsvr only on the command line, or without a port, the server listens on another port (27019).",
    )


def engine(party: Party) -> Check:
    """By the window the first one's folder is copied: it has to be one of WiredTiger."""
    engines = {host: party.engine(host) or "not known" for host in party.servers}
    first = engines.get(party.servers[0], "") if party.servers else ""
    faults = (
        [f"the storage engine of {party.servers[0]} is {first}"]
        if party.way == WINDOW and first != "wiredTiger"
        else []
    )
    if first == "not known":
        faults.append("the storage engine is not known")
    return checked(
        "CONFIG-ENGINE",
        "The storage engine allows this way",
        block=faults,
        good=", ".join(f"{host} {one}" for host, one in engines.items()),
        why="A config replica set does not allow MMAPv1: the rolling way leaves the first server out at the end.",
        try_=("Choose the rolling way, with three new hosts.",),
    )


def _every_edit(party: Party, changed: tuple[str, ...]) -> str:
    edits = f"{', '.join(map(party.path, changed))}: every edit was tested on them"
    beside = (f"{host}: {party.process(host).strangers}" for host in party.everyone if party.process(host).strangers)
    return "; ".join((edits, *beside))


def nobody_changes(values: Inputs) -> Check:
    """A person said that nobody changes the catalog meanwhile."""
    yes = flag_of(values["no_ddl"]) is True
    return checked(
        "NO-DDL",
        "Nobody changes the catalog during the run",
        block=[] if yes else ["not confirmed"],
        good="you confirmed it",
        why="While the catalog is read-only, such changes are refused.",
        answers=(Remedy("Inform your colleagues, then confirm", "no_ddl", ("yes",)),),
    )


def nobody_else(values: Inputs) -> Check:
    """A person said that nothing else holds the old string."""
    why = "Backup agents and monitoring work until the old config servers are stopped, and then fail."
    title = "Nothing else uses the old string"
    return said("NO-OTHERS", title, why, values, "no_others", "List them, then confirm")
