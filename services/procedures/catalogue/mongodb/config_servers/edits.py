"""What a conversion changes in the configuration file of each server: one list, for the steps and for the checks.

The checks try every edit on the text that was read, before anything is stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.errors import BadInput
from services.facts.mongodb.process import option_of
from services.facts.yaml_files.edit import edit_yaml
from services.facts.yaml_files.settings import empty_parts
from services.procedures.catalogue.mongodb.config_servers.party import ROLLING, WINDOW, Party
from services.procedures.conditions.config_servers.runs_with import RunsWith
from services.procedures.plan.actions import EditYaml

ROLE, MODE, SET = "sharding.clusterRole", "sharding.configsvrMode", "replication.replSetName"
FOLDER, ENGINE, STRING, PORT = "storage.dbPath", "storage.engine", "sharding.configDB", "net.port"


@dataclass(frozen=True, slots=True)
class Untried:
    """An edit that would not do what it shall: why, and what a person does about it."""

    why: str
    try_: tuple[str, ...] = ()


def mirrored_set(party: Party) -> EditYaml:
    """Return the edit that makes the first config server a set that is still mirrored."""
    return EditYaml(party.path(party.first), ((SET, party.name), (MODE, "sccc")))


def no_mode(party: Party) -> EditYaml:
    """Return the edit that takes sccc mode away from it."""
    return EditYaml(party.path(party.first), ((MODE, None),))


def set_up(party: Party, host: str) -> EditYaml:
    """Return the edit that starts a config server on its new folder, for the set."""
    new = party.new_data(host)
    return EditYaml(party.path(host), ((FOLDER, new), (ENGINE, "wiredTiger"), (SET, party.name)))


def new_string(party: Party, router: str) -> EditYaml:
    """Return the edit that gives a mongos the set's string."""
    return EditYaml(party.path(router), ((STRING, party.new_string),))


def old_string(party: Party, router: str) -> EditYaml:
    """Return the edit that gives it the mirrors' string: a colleague may have given it another meanwhile.

    The run itself has written nothing else there by then: a file that root may not read keeps no mongos down, and what
    it was started with is proven.
    """
    return EditYaml(party.path(router), ((STRING, party.string),), needed=False)


def edits_of(party: Party, host: str) -> tuple[EditYaml, ...]:
    """Return all edits of a host's file, in their order."""
    if host in party.routers:
        return (*((old_string(party, host),) if party.way == WINDOW else ()), new_string(party, host))
    if host in party.servers and party.way == WINDOW:
        return (set_up(party, host),)
    return (mirrored_set(party), no_mode(party)) if host == party.first and party.way == ROLLING else ()


def untried(party: Party, host: str) -> tuple[Untried, ...]:
    """Return which edits of a host's file can't be made, or would change nothing that its server runs with."""
    process = party.process(host)
    text = process.text.reveal() if process.text is not None else ""
    found, given = list[Untried](), dict(process.given)
    for edit in edits_of(party, host):
        try:
            text = edit_yaml(text, edit.settings)
        except BadInput as problem:
            return (Untried(f"{host}: {process.path}: {problem.sentence}", problem.try_),)
        for name, _ in edit.settings:
            if name in given and not any(option_of(name) in one.why for one in found):
                found.append(on_the_line(party, host, name, given[name]))
    return (*found, *_empty(party, host, text))


def _empty(party: Party, host: str, text: str) -> tuple[Untried, ...]:
    """Return that its server would not start again: it runs, so that the file was changed since its start."""
    path, names = party.process(host).path, ", ".join(empty_parts(text))
    if not names:
        return ()
    way = f"On {host}: remove {names} from {path}, or add its settings below it, and make a new plan."
    return (Untried(f"{host}: {path}: {names} is empty, and a 3.2 server does not start with that", (way,)),)


def open_ways(party: Party, host: str) -> tuple[Untried, ...]:
    """Return why root edits no file there: others than root may change the way to it, or that is not known."""
    process, path = party.process(host), party.path(host)
    if process.open_way == "":
        return ()
    why = process.open_way or "the accounts that can write to its path are not known"
    moved = f"On {host}: move {path} to /etc, owned by root, set --config in {party.unit(host)} accordingly, then "
    way = f"{moved}systemctl daemon-reload, restart {party.unit(host)}, and make a new plan."
    return (Untried(f"{host}: root does not write {path}: {why}", (way,)),)


def on_the_line(party: Party, host: str, name: str, value: str) -> Untried:
    """Return that an option on a unit's command line wins over what the run writes into the file."""
    unit, path, option = party.unit(host), party.process(host).path, option_of(name) or name
    way = (
        f"On {host}: remove {option} from the output of `systemctl cat {unit}`, or from an environment file that it "
        f"names; add {name}: {value} to {path}; then systemctl daemon-reload, restart {unit}, and make a new plan."
    )
    why = f"{host}: {option} {value} on the command line of {unit} takes precedence over {name} of {path}"
    return Untried(why, (way,))


def elsewhere(party: Party, host: str) -> tuple[str, ...]:
    """Return where a server runs with something else than its file says: the next start would make it another."""
    process, mongo = party.process(host), party.server(host)
    if mongo is None or process.trouble:
        return ()
    runs = {FOLDER: mongo.data_path, STRING: mongo.config_string, PORT: mongo.port or ""}
    runs = {name: value for name, value in runs.items() if value}
    if mongo.role == "standalone":  # what a server that is in no set runs without
        runs |= {SET: "", MODE: mongo.config_mode}
    unwritten = (
        (name, value, process.setting(name)) for name, value in runs.items() if name not in dict(process.given)
    )
    return tuple(
        f"{host} runs with {f'{name} {value}' if value else f'no {name}'}, but its file {process.path} has {there}: "
        "the file was changed after the start"
        for name, value, there in unwritten
        if there is not None and str(there) != str(value)
    )


def runs_with(party: Party, host: str, *settings: tuple[str, str], since: str = "") -> RunsWith:
    """Return that a server runs with these settings, whatever its file says: an option of its unit's would win.

    Args:
        since: the step that starts it, '' for none: with that, one that runs otherwise is not waited for.
    """
    return RunsWith(host, party.path(host), settings, since)


def as_before(party: Party, host: str) -> RunsWith:
    """Return that a mirrored config server runs on its own folder, and in no set."""
    return runs_with(party, host, (FOLDER, folder_of(party, host)), (SET, ""), (MODE, ""))


def folder_of(party: Party, host: str) -> str:
    """Return a config server's data folder as the server itself writes it."""
    server = party.server(host)
    return server.data_path if server is not None else party.data(host)
