"""Conditions about files: the state a node left, option files, and that a file is not there."""

from __future__ import annotations

import posixpath
import re

from services.connections.reads import commands
from services.facts.harmless_options import is_secret, normal
from services.facts.masking import masked
from services.facts.option_files import SERVER_GROUPS
from services.facts.values import same
from services.lines import lines_of
from services.procedures.engine.ports import Past
from services.procedures.engine.remembering import most_gap_s
from services.procedures.gather.state_files import parse_grastate
from services.procedures.gather.system import properties
from services.procedures.plan.conditions import Answer, CleanPosition, FileAbsent, FileSays, OptionIs, Stopped
from services.procedures.verify.asking import Asking, number_of
from services.procedures.verify.machine import stopped

SETTLED_S = 5.0
"""The state file of a server that has been stopped for so long does not change any more."""


def _missing(said: str) -> bool:
    return "No such file" in said or "Not a directory" in said


def _read(asking: Asking, host: str, path: str) -> tuple[str | None, str]:
    """Return (a file's text, ''); (None, '') when it is not there; (None, why) when it can't be read."""
    output = asking.run(host, commands.CONTENT.read(path, sudo=True))
    if output.exit_code == 0:
        return output.text, ""
    said = output.stderr.decode("utf-8", "replace").strip()
    return None, "" if _missing(said) else said or f"cat ended with exit code {output.exit_code}"


def clean_position(condition: CleanPosition, asking: Asking, past: Past) -> Answer:
    """Look into grastate.dat: a clean stop leaves UUID and seqno."""
    path = posixpath.join(condition.datadir, "grastate.dat")
    content, why = _read(asking, condition.host, path)
    if content is None:
        return Answer(holds=None if why else False, evidence=why or f"{path} is not there on {condition.host}")
    state = parse_grastate(content)
    if state is None:
        return Answer(holds=False, evidence=f"{path} of {condition.host} is damaged: it holds no whole state")
    least = number_of(condition.at_least, past)
    if least is None:
        return Answer(holds=None, evidence="the position to compare with was not kept by this run")
    evidence = f"grastate.dat of {condition.host}: {state.uuid}:{state.seqno}"
    if state.uuid != condition.state_uuid.lower():
        return Answer(holds=False, evidence=f"{evidence}, not {condition.state_uuid}")
    if state.seqno is None or state.seqno < 0:
        return _no_position(condition, asking, past, evidence)
    kept = ((condition.keep, str(state.seqno)),) if condition.keep else ()
    return Answer(state.seqno >= least, f"{evidence}, at least {least} is wanted", kept=kept)


def _no_position(condition: CleanPosition, asking: Asking, past: Past, evidence: str) -> Answer:
    """Judge a seqno of -1: only a server that is still at its stop can change it.

    A clean stop writes the position at its end (galera, saved_state.cpp): with no process, and the unit inactive for a
    while, nobody will any more.
    """
    host, told = condition.host, Answer(holds=False, evidence=f"{evidence}: the position is not known")
    unit = (asking.facts.host(host).unit if asking.facts is not None else "") or "mariadb.service"
    if not stopped(Stopped(host, unit), asking, past).holds:
        asking.memory.broke(condition)
        return told
    if asking.memory.held_s(condition, asking.clock, most_gap_s(SETTLED_S)) < SETTLED_S:
        return told
    shown = properties(asking.run(host, commands.UNIT_RESULT.read(unit)).text)
    why = "though the server stopped (somebody replaced the file?)"
    if shown.get("ActiveState") == "failed":
        why = f"and {unit} has failed ({shown.get('Result', '')}): it was no clean stop"
    then = "Put its own file back and try again, or take the run back: its history is read before it starts"
    return Answer(holds=False, evidence=f"grastate.dat of {host} says -1 {why}. {then}", final=True)


def file_absent(condition: FileAbsent, asking: Asking, past: Past) -> Answer:
    """Look whether there is such a file or folder."""
    del past
    output = asking.run(condition.host, commands.FILE_KIND.read(condition.path, sudo=True))
    if output.exit_code == 0:
        return Answer(holds=False, evidence=f"{condition.path} exists on {condition.host} ({output.text.strip()})")
    said = output.stderr.decode("utf-8", "replace").strip()
    if _missing(said):
        return Answer(holds=True, evidence=f"{condition.path} is not there on {condition.host}")
    return Answer(holds=None, evidence=said or f"stat ended with exit code {output.exit_code}")


def file_says(condition: FileSays, asking: Asking, past: Past) -> Answer:
    """Search the file's lines."""
    del past
    content, why = _read(asking, condition.host, condition.path)
    if content is None:
        absent = f"{condition.path} is not there on {condition.host}"
        return Answer(holds=None if why else False, evidence=why or absent)
    pattern = re.compile(condition.pattern)
    line = next((one for one in lines_of(content) if pattern.search(one)), None)
    if line is None:
        return Answer(holds=False, evidence=f"no line of {condition.path} on {condition.host} matches")
    return Answer(holds=True, evidence=f"{condition.path} on {condition.host} says: {_shown(line)}")


def _shown(line: str) -> str:
    """Return a line as evidence: never a secret's value."""
    name, sign, _ = line.partition("=")
    return f"{name.strip()} = ********" if sign and is_secret(name) else masked(line.strip())


def option_is(condition: OptionIs, asking: Asking, past: Past) -> Answer:
    """Ask my_print_defaults what the server would read: the last value counts."""
    del past
    of_group = commands.GROUP_OPTIONS.read(condition.section, sudo=True)
    output = asking.run(condition.host, commands.SERVER_OPTIONS if condition.section == "mysqld" else of_group)
    if output.exit_code and condition.section == "mysqld":  # MySQL's program has no --mysqld
        output = asking.run(condition.host, commands.GROUP_OPTIONS.read(*SERVER_GROUPS, sudo=True))
    if output.exit_code:
        said = output.stderr.decode("utf-8", "replace").strip()
        return Answer(holds=None, evidence=said or f"my_print_defaults ended with exit code {output.exit_code}")
    wanted, value = normal(condition.option), None
    for line in lines_of(output.text):
        name, _, given = line.removeprefix("--").partition("=")
        if line.startswith("--") and normal(name) == wanted:
            value = given
    where = f"{condition.option} of [{condition.section}] on {condition.host}"
    if value is None:
        return Answer(condition.value is None, f"{where} is not set")
    holds = condition.value is not None and same(value or "ON", condition.value or "ON")
    return Answer(holds, f"{where} is {'set' if is_secret(wanted) else value or 'ON'}")
