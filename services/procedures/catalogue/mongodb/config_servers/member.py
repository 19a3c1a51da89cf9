"""A new member of the set by the rolling way: its configuration file, its start, its place in the set. Pure."""

from __future__ import annotations

from services.connections.mongo.change import SetChange, fields
from services.connections.operator import folders_of_others
from services.facts.mongodb.process import may_be_shown
from services.facts.yaml_files.settings import Scalar, text_of
from services.procedures.catalogue.mongodb.config_servers.common import START_S, root
from services.procedures.catalogue.mongodb.config_servers.party import Party
from services.procedures.catalogue.steps.server import systemctl
from services.procedures.conditions.config_servers.form import ConfigServerIs
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.machine.nothing_left import NothingLeft, Swept
from services.procedures.conditions.machine.there import FolderEmpty, FolderThere
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.conditions.mongodb.whole import SetWhole
from services.procedures.plan.actions import PutFile, Reconfigure, RestoreFile, Run, Several
from services.procedures.plan.model import Risk, Step, Undo

JOIN_S = 60.0
CARRIED = ("storage", "systemLog", "processManagement", "security", "net")
"""Parts of the first config server's file that a new member's has too, but for what is its own."""
_OF_ITS_HOST = ("processManagement", "systemLog")
"""A unit that waits for a fork (Type=forking, PIDFile) never sees one start that does not, and the other way round: the
package's own file says it, where there is one."""


def run_with(party: Party) -> dict[str, Scalar]:
    """Return what the first config server runs with that a new one is told: its command line wins over its file."""
    process = party.process(party.first)
    settings: dict[str, Scalar] = {**dict(process.settings), **dict(process.given)}
    return {name: value for name, value in settings.items() if name.partition(".")[0] in CARRIED and may_be_shown(name)}


def settings_of_new(party: Party, host: str) -> dict[str, Scalar]:
    """Return what a new member runs with: as the first config server, but for folder, address, set and role, and for
    what its own unit waits for: whether it forks, and which files it writes beside its data."""
    kept = {name: value for name, value in run_with(party).items() if not name.startswith("storage.mmapv1")}
    own = dict(party.process(host).settings)
    if own:
        kept = {name: value for name, value in kept.items() if not _is_hosts(name)}
        kept |= {name: value for name, value in own.items() if _is_hosts(name)}
    kept |= {"storage.dbPath": party.data(host), "storage.engine": "wiredTiger", "net.port": party.port}
    bound = kept.get("net.bindIp")
    if bound is not None and str(bound) not in {"0.0.0.0", "::"}:  # noqa: S104 - it is read, not bound
        kept["net.bindIp"] = f"127.0.0.1,{party.facts.host(host).address}"
    return kept | {"replication.replSetName": party.name, "sharding.clusterRole": "configsvr"}


def _is_hosts(name: str) -> bool:
    return name.partition(".")[0] in _OF_ITS_HOST


def file_of(party: Party, host: str) -> str:
    """Return the configuration file of a new member."""
    return f"# Written by Pilothouse after the file of {party.first}.\n{text_of(settings_of_new(party, host))}"


def up_step(party: Party, host: str) -> Step:
    """Return the step that starts a new member. Everybody who uses config servers must reach it by its name."""
    unit, path, data = party.unit(host), party.path(host), party.data(host)
    name, _, port = party.place(host).rpartition(":")
    asks = (party.first, *party.routers, *party.shard_hosts)
    # As the first config server's unit: one that does not come back with its host is missed at the next boot.
    enables = party.process(party.first).enabled is True and party.process(host).enabled is False
    enabled = (root("systemctl", "enable", unit),) if enables else ()
    disabled = (root("systemctl", "disable", unit),) if enables else ()
    emptied = Run(folders_of_others.emptied(data, party.account(host)))
    return Step(
        step_id=f"{host}:up",
        host=host,
        title=f"Write {path} on {host} and start a config server there",
        done=f"A config server runs on {host}, not yet in a set",
        why="Its data folder is empty; a rollback empties it again.",
        action=Several((PutFile(path, (file_of(party, host),)), *enabled, systemctl("start", unit))),
        before=(FolderThere(host, data), FolderEmpty(host, data)),
        already=(ConfigServerIs(host, "new"),),
        proof=(ConfigServerIs(host, "new"), *(Listening(one, name, int(port)) for one in asks)),
        limit_s=START_S,
        repeatable=True,
        undo=Undo(
            f"Stop the server of {host}, restore {path} and empty its data folder",
            Several((systemctl("stop", unit), *disabled, RestoreFile(path), emptied)),
            proof=(SettingIs(host, path, "replication.replSetName", ""), Swept(host, data, emptied=True)),
            limit_s=START_S,
            leaves=(NothingLeft(host, data),),
        ),
        estimate_s=5.0,
    )


def add_step(party: Party, host: str, version: int, goes_with: str, *, votes: bool) -> Step:
    """Return the step that makes it a member.

    Args:
        version: of the configuration that is changed. votes: at once; else not until it has the data.
    """
    number, where = party.members.index(host), party.place(host)
    member = fields(_id=number, host=where) if votes else fields(_id=number, host=where, priority=0, votes=0)
    return Step(
        step_id=f"{host}:add",
        host=party.first,
        title=f"Add {host} to {party.name}" if votes else f"Add {host} to {party.name}, without a vote",
        done=f"{host} is a member of {party.name}",
        action=Reconfigure(SetChange(version, adds=(member,))),
        before=(SetWhole(party.members[:number], primary=party.first),),
        already=(ConfigServerIs(host, "set", party.name),),
        proof=(ConfigServerIs(host, "set", party.name),),
        risk=Risk.CHANGES,
        limit_s=JOIN_S,
        repeatable=True,
        goes_with=goes_with,
        why="Rolling back the set removes its membership.",
        estimate_s=3.0,
    )
