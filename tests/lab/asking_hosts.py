"""A host of an estate asked as a person would, and the servers' states as the lab tells them."""

from __future__ import annotations

import subprocess

from tests.lab.estate import status
from tests.lab.estate.estate import Estate


def ssh(
    estate: Estate, host: str, command: str, *, user: str = "dba", stdin: str = "", limit_s: float = 15.0
) -> subprocess.CompletedProcess[str]:
    """Run a command over ssh with the client folder's own settings, as a person would."""
    argv = ["ssh", "-F", str(estate.client_dir / "ssh_config"), "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"]
    return subprocess.run(
        [*argv, "-l", user, host, command], input=stdin, capture_output=True, text=True, timeout=limit_s, check=False
    )


def server_states(estate: Estate) -> dict[str, str]:
    return {h.name: h.server for h in status.estate_status(estate).hosts}
