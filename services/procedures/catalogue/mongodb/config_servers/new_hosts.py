"""What has to be true of the hosts that get a config server by the rolling way, before any other one is touched."""

from __future__ import annotations

from services.facts.mongodb.process import may_be_shown
from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.mongodb.config_servers.edits import Untried, on_the_line, open_ways
from services.procedures.catalogue.mongodb.config_servers.member import run_with, settings_of_new
from services.procedures.catalogue.mongodb.config_servers.party import MMAP, Party, is_loopback
from services.procedures.plan.checks import Check
from services.procedures.plan.parts.mongodb.data import MongoData
from services.procedures.plan.parts.mongodb.key_files import KEY_FILE, KeyFiles
from services.procedures.plan.parts.mongodb.process import MongoProcess

_DISPENSABLE = ("operationProfiling",)
"""Settings that a new member may do without."""


def new_hosts(party: Party) -> Check:
    """As many new hosts as are wanted, each ready: nothing runs, an empty folder, the unit, the key."""
    wanted = 3 if party.engine(party.first) == MMAP else 2
    faults = [] if len(party.new) == wanted else [f"{wanted} are required, but {len(party.new)} are given"]
    loose = [*_not_carried(party), *(one for host in party.new for one in _not_its_file(party, host))]
    for host in (party.facts.host(name) for name in party.new):
        process, data = host[MongoProcess], host[MongoData]
        if process.running != 0:
            faults.append(f"{host.host}: {process.running} servers run there")
        if process.odd or not process.unit:
            faults.append(f"{host.host}: {process.odd or 'there is no unit mongod.service'}")
        if data.entries is None:
            faults.append(f"{host.host}: {data.path or party.data(party.first)} does not exist, or could not be read")
        elif data.entries:
            faults.append(f"{host.host}: {data.path} contains {data.entries} entries")
        if is_loopback(party.place(host.host)):
            faults.append(f"{host.host} has the address {host.address} here, which no other host can use")
        loose += _not_the_key(party, host.host)
    faults += [one.why for one in loose]
    key = _key(party)
    good = f"{', '.join(map(party.place, party.new))}{f'; {key} is the same on each' if key else ''}"
    return checked(
        "NEW-HOSTS",
        "The new hosts are ready",
        block=faults,
        good=good,
        why="A mirror can never be a member: its data have no replication history.",
        try_=(
            *dict.fromkeys(way for one in loose for way in one.try_),
            "Install the same release there, create its data folder for the server's user, and leave it stopped.",
        ),
    )


def _not_carried(party: Party) -> tuple[Untried, ...]:
    """Return that the first config server runs with what is not written on a new host: passwords stand beside it."""
    process = party.process(party.first)
    names = {*process.others, *(name for name, _ in process.given if name != "config" and not may_be_shown(name))}
    left = sorted(name for name in names if not name.startswith(_DISPENSABLE))
    if not left:
        return ()
    why = f"{party.first} uses settings that are not copied: {', '.join(left)}"
    return (Untried(why, ("Choose the maintenance window, which needs no new host, or remove these settings.",)),)


def _not_its_file(party: Party, host: str) -> tuple[Untried, ...]:
    """Return why what the run writes on a new host would not be what its server starts with."""
    process, unit = party.process(host), party.unit(host)
    if not process.path:
        named = f"name a file in {unit} (ExecStart: --config /etc/mongod.conf)"
        way = f"On {host}: {named}, then systemctl daemon-reload, and make a new plan."
        return (Untried(f"{host}: {unit} starts its server without a configuration file", (way,)),)
    written = settings_of_new(party, host)
    others = [(name, told) for name, told in process.given if name != "config" and str(written.get(name, "")) != told]
    return (*open_ways(party, host), *(on_the_line(party, host, name, told) for name, told in others))


def _key(party: Party) -> str:
    return str(run_with(party).get(KEY_FILE, ""))


def _not_the_key(party: Party, host: str) -> tuple[Untried, ...]:
    """Return why a new host's server would not start with the cluster's key, or know nobody by it."""
    path = _key(party)
    if not path:
        return ()
    own, there = party.facts.host(party.first)[KeyFiles].at(path), party.facts.host(host)[KeyFiles].at(path)
    if own is None or there is None or not own.digest or not there.digest:
        missing = there is not None and there.absent
        silent = party.facts.host(host if own is not None and own.digest else party.first)
        why = f"{host}: {path} does not exist" if missing else unread(silent, path, "key")
    elif there.digest != own.digest:
        why = f"{host}: {path} differs from the file on {party.first}"
    elif there.shared:
        why = f"{host}: accounts other than its owner can access {path}: the server rejects such a key file"
    elif there.owner != party.facts.host(host)[MongoData].owner:
        why = f"{host}: {path} belongs to the account {there.owner}, not to the server's"
    else:
        return ()
    way = f"Copy {path} of {party.first} to {host}: chmod 400, and chown to the server's user."
    return (Untried(why, (way,)),)
