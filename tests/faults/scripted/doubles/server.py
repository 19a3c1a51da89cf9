"""Doubles of the conditions of a server for SQL: its options, variables and status, and what its tables hold."""

from __future__ import annotations

import re

from services.facts.server.values import compared
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.comparable import Comparable
from services.procedures.conditions.server.compared import Compared
from services.procedures.conditions.server.files_paired import FilesPaired
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.options_read import OptionsRead
from services.procedures.conditions.server.same_defined import SameDefined, TablesOpen
from services.procedures.conditions.server.same_rows import SameRows
from services.procedures.conditions.server.same_sums import SameSums, rows_of
from services.procedures.conditions.server.set_back import SetBack
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.condition import Answer, Condition
from tests.faults.scripted.double import Look, double, told


@double(Comparable)
def comparable(own: Comparable, look: Look) -> bool:
    return look.hosts[own.host].primary


@double(Compared)
def was_compared(own: Compared, look: Look) -> bool:
    return bool(look.past.kept.get(own.seen.name)) or not look.exists(look.hosts[own.host], own.aside)


@double(OptionIs)
def option_is(own: OptionIs, look: Look) -> bool:
    text = "\n".join(look.hosts[own.host].files.values())
    found = re.findall(rf"^{own.option} ?= ?(.*)$", text, re.MULTILINE)
    return (found[-1] if found else None) == own.value


@double(SameDefined, SameRows)
def same_defined(own: SameDefined | SameRows, look: Look) -> bool:
    both = (look.hosts[own.host], look.hosts[own.beside])
    return all(host.primary and not host.parted for host in both)


@double(SameSums)
def same_sums(own: SameSums, look: Look) -> Answer:
    both = (look.hosts[own.host], look.hosts[own.beside])
    return told(own, all(host.primary and not host.parted for host in both), rows_of(own.host), "all tables are equal.")


@double(SetBack)
def set_back(own: SetBack, look: Look) -> bool:
    host = look.hosts[own.host]
    other = look.variable(host, own.variable) != own.ours
    return not host.running or other or own.ours == own.before


@double(StatusIs)
def status_is(own: StatusIs, look: Look) -> Answer:
    host = look.hosts[own.host]
    value = look.status(host, own.status)
    return told(own, host.running and compared(value, own.comparison, own.value), own.keep, value)


@double(Stopped)
def stopped(own: Stopped, look: Look) -> bool:
    return not look.hosts[own.host].running


@double(VariableIs)
def variable_is(own: VariableIs, look: Look) -> bool:
    host = look.hosts[own.host]
    if not host.running:
        return own.or_ended
    return look.variable(host, own.variable).lower() == own.value.lower()


@double(NoClients, FilesPaired, OptionsRead, TablesOpen)
def always(own: Condition, look: Look) -> bool:
    """What these read is not in memory: clients, the files of a folder, open tables."""
    return True
