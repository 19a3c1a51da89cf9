"""Do all data of a stopped node lie in its data folder? Asked before that is kept aside and others are put in. Pure."""

from __future__ import annotations

import posixpath

from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.steps.restored.restoring import folder_of
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.server.options import Options

_FOLDERS = ("innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "aria_log_dir_path")


def one_folder(host: HostFacts) -> Check:
    """Return whether all data lie in the data folder: what lies elsewhere is neither kept aside nor replaced."""
    folder = folder_of(host)
    outside = [f"{name} = {value}" for name in _FOLDERS
               if (value := host[Options].option("mysqld", name)) and not _is_inside(value, folder)]  # fmt: skip
    files = host[Options].option("mysqld", "innodb_data_file_path") or ""
    outside += [f"innodb_data_file_path = {files}"] if "/" in files else []
    provider = host[Options].option("mysqld", "wsrep_provider_options") or ""
    cache = [part.partition("=")[2].strip() for part in provider.split(";")
             if part.partition("=")[0].strip() == "gcache.dir"]  # fmt: skip
    outside += [f"gcache.dir = {value}" for value in cache if not _is_inside(value, folder)]
    log = host[Options].option("mysqld", "log_bin") or ""
    # Data older than the log's end, as a backup's are: IST brings once more what the log has. Newer ones leave a hole.
    twice = "the old binary log continues with GTIDs that it already contains, or with a gap if the data are newer"
    aside = [f"log_bin = {log}: {twice}"] if (
        "/" in log and not _is_inside(posixpath.dirname(log), folder)) else []  # fmt: skip
    blind = [] if host[Options].known else [unread(host, "the option files", "options", "ssh")]
    return checked(
        "ONE-FOLDER",
        f"All data of {host.host} are in one folder",
        block=outside,
        warn=aside,
        must_read=blind,
        good=f"all in {folder}",
        why="Files of the old data would remain together with the restored ones.",
        try_=("Bring the node back by SST with add-node.",) if outside else (),
        host=host.host,
        absolute=True,
    )


def _is_inside(path: str, folder: str) -> bool:
    plain = posixpath.normpath(posixpath.join(folder, path))
    return plain == folder or plain.startswith(f"{folder}/")
