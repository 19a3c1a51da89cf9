"""The lab's secrets: random per machine run, kept 0600 in the state folder, shown to nobody but `lab.py env`."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from tests.lab.estate.locks import lab_lock
from tests.lab.estate.paths import private_dir, state_root

VARIABLES: dict[str, str] = {
    "observer": "PILOTHOUSE_LAB_OBSERVER_PASSWORD",
    "pilot": "PILOTHOUSE_LAB_PILOT_PASSWORD",
    "sysbench": "PILOTHOUSE_LAB_SYSBENCH_PASSWORD",
    "replication": "PILOTHOUSE_LAB_REPLICATION_PASSWORD",
    "sudo": "PILOTHOUSE_LAB_SUDO_PASSWORD",
    "passphrase": "PILOTHOUSE_LAB_KEY_PASSPHRASE",
}


def _path() -> Path:
    return state_root() / "secrets.json"


def load() -> dict[str, str]:
    """The secrets by purpose (keys of VARIABLES), made on the first call; the same for all estates of this run."""
    with lab_lock("secrets", limit_s=30):
        path = _path()
        if path.exists():
            return {str(k): str(v) for k, v in json.loads(path.read_text(encoding="utf-8")).items()}
        made = {purpose: secrets.token_hex(12) for purpose in VARIABLES}
        private_dir(path.parent)
        path.touch(mode=0o600)
        path.write_text(json.dumps(made), encoding="utf-8")
        return made


def environment() -> dict[str, str]:
    """The secrets under the environment variables that inventory.toml refers to."""
    known = load()
    return {variable: known[purpose] for purpose, variable in VARIABLES.items()}


def forget() -> None:
    """Delete the secrets (when the last estate goes down)."""
    _path().unlink(missing_ok=True)
