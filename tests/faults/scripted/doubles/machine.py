"""Doubles of the conditions of a machine: files, folders, units and disks."""

from __future__ import annotations

import re

from services.facts.yaml_files.settings import settings_of
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.machine.drop_in import DropInFollowed
from services.procedures.conditions.machine.files import FileAbsent, FileAsWritten, FileNotAsPut, FileSays, FileWithout
from services.procedures.conditions.machine.listening import Listening
from services.procedures.conditions.machine.nothing_left import NothingLeft, Swept
from services.procedures.conditions.machine.only_kept import OnlyKept
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.machine.same_folder import SameFolder
from services.procedures.conditions.machine.there import FolderEmpty, FolderThere
from services.procedures.conditions.machine.unit import UnitFresh, UnitNotEnabled, UnitSetting
from services.procedures.conditions.machine.yaml_setting import SettingIs
from services.procedures.looking.files import digest, wrote_name
from services.procedures.looking.own_lines import own_lines
from services.procedures.plan.condition import Condition
from tests.faults.scripted.double import Look, double


@double(FreeDisk)
def free_disk(own: FreeDisk, look: Look) -> bool:
    return own.path == "/tmp" or look.hosts[own.host].free >= own.at_least


@double(DropInFollowed)
def drop_in_followed(own: DropInFollowed, look: Look) -> bool:
    host = look.hosts[own.host]
    return own.path in host.files and host.files[own.path] in host.loaded


@double(FileAbsent)
def file_absent(own: FileAbsent, look: Look) -> bool:
    return not look.exists(look.hosts[own.host], own.path)


@double(FileWithout)
def file_without(own: FileWithout, look: Look) -> bool:
    host = look.hosts[own.host]
    text = look.text(host, own.path)
    return text != own.wrote and not own_lines(None, own.wrote, text)


@double(FileNotAsPut)
def file_not_as_put(own: FileNotAsPut, look: Look) -> bool:
    host = look.hosts[own.host]
    wrote = look.past.kept.get(wrote_name(own.host, own.path))
    return not look.exists(host, own.path) or wrote not in {None, digest(look.text(host, own.path))}


@double(FileSays)
def file_says(own: FileSays, look: Look) -> bool:
    text = look.text(look.hosts[own.host], own.path)
    return re.search(own.pattern, text, re.MULTILINE) is not None


@double(FileAsWritten)
def file_as_written(own: FileAsWritten, look: Look) -> bool:
    wrote = look.past.kept.get(wrote_name(own.host, own.path))
    return digest(look.text(look.hosts[own.host], own.path)) == wrote


@double(Swept)
def swept(own: Swept, look: Look) -> bool:
    held = f"{own.path}/data" if own.emptied else own.path
    return not look.exists(look.hosts[own.host], held)


@double(FolderThere)
def folder_there(own: FolderThere, look: Look) -> bool:
    return look.exists(look.hosts[own.host], own.path)


@double(FolderEmpty)
def folder_empty(own: FolderEmpty, look: Look) -> bool:
    return not look.exists(look.hosts[own.host], f"{own.path}/data")


@double(UnitSetting)
def unit_setting(own: UnitSetting, look: Look) -> bool:
    host = look.hosts[own.host]
    if own.prop == "Restart":
        return ("no" if host.no_restart else "on-abnormal") == own.value
    if own.prop == "NeedDaemonReload":
        return ("no" if host.loaded == host.drop_ins else "yes") == own.value
    return host.units.get(own.unit, "inactive") == own.value


@double(UnitNotEnabled)
def unit_not_enabled(own: UnitNotEnabled, look: Look) -> bool:
    return look.hosts[own.host].units.get(own.unit, "enabled") != "enabled"


@double(UnitFresh)
def unit_fresh(own: UnitFresh, look: Look) -> bool:
    return look.hosts[own.host].units.get(own.unit, "inactive") == own.description


@double(SettingIs)
def setting_is(own: SettingIs, look: Look) -> bool:
    found = settings_of(look.text(look.hosts[own.host], own.path)).get(own.name, "")
    return str(found) == own.value


@double(Listening, NothingLeft, OnlyKept, OwnedBy, SameFolder)
def always(own: Condition, look: Look) -> bool:
    """What these read is not in memory: sockets, owners, what lies in a folder."""
    return True
