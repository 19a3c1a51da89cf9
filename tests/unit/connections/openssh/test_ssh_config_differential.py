"""What our reader makes of thousands of files, held against OpenSSH's own answer (`ssh -G`).

Every difference is a refusal that names what it refuses. All 6,000 files:
python3 packaging/bootstrap.py test everything unit -k "files_read_without_an_ssh_program"
"""

from __future__ import annotations

import os
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from services.connections.openssh.algorithms import offer_for
from services.connections.ssh import config as ssh_config
from services.connections.ssh.target import SshTarget
from services.errors import UserError
from services.inventory.model import SshAccess
from tests.unit.connections.ssh_config_files import Asked, made_from

_OF_A_GROUP = 100
_GROUPS = 60
_IN_EACH_RUN = 2
_REFUSED_BY_NAME = re.compile(
    r'"(?:a b|-x)" is not a jump host|OpenSSH versions read |is not supported without an ssh program'
)
"""What versions of OpenSSH read differently, and what our reader does not evaluate."""
_SOMES_DEFAULTS = ("/id_xmss", "/id_dsa", "/id_mldsa44_ed25519")
"""Names of keys that old versions looked for, or that new ones do (10.6)."""

pytestmark = pytest.mark.skipif(ssh_config.ssh_program() is None, reason="OpenSSH's ssh is not installed")


def answer(asked: Asked) -> SshTarget | str:
    """Return where it leads, or the sentence that refuses it."""
    access = SshAccess(asked.user, port=asked.port, jump=asked.jump, config=str(asked.config))
    try:
        found = ssh_config.target_for(access, asked.address)
    except UserError as problem:
        return problem.sentence
    names = tuple(name for name in found.identity_files if not name.endswith(_SOMES_DEFAULTS))
    found = replace(found, identity_files=names, required_rsa_bits=0)  # ssh writes its default
    offered = ",".join(sorted(offer_for(found).ciphers))  # ssh writes lists whole, the rest in its release's order
    return replace(found, ciphers=offered)


def difference(theirs: SshTarget | str, ours: SshTarget | str) -> str:
    """Return how the two answers differ in what nobody has explained; '' where they do not."""
    if isinstance(ours, str):
        explained = isinstance(theirs, str) or _REFUSED_BY_NAME.search(ours)
        return "" if explained else f"only we refuse it: {ours}"
    if isinstance(theirs, str):
        return f"only ssh refuses it: {theirs}"
    names = [one.name for one in fields(SshTarget) if getattr(theirs, one.name) != getattr(ours, one.name)]
    return "; ".join(f"{name}: ssh {getattr(theirs, name)!r}, we {getattr(ours, name)!r}" for name in names)


@pytest.mark.parametrize(
    "group",
    [pytest.param(n, marks=[pytest.mark.long] if n >= _IN_EACH_RUN else []) for n in range(_GROUPS)],
)
def test_that_files_read_without_an_ssh_program_mean_what_ssh_says_or_are_refused_by_name(
    group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd  # POSIX only

    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)  # ssh's '~'; nothing is read or written there
    program = ssh_config.ssh_program()
    sentences = []
    for seed in range(group * _OF_A_GROUP, (group + 1) * _OF_A_GROUP):
        asked = made_from(seed, tmp_path / str(seed))
        monkeypatch.setattr(ssh_config, "ssh_program", lambda: program)
        theirs = answer(asked)
        monkeypatch.setattr(ssh_config, "ssh_program", lambda: None)
        if told_of := difference(theirs, answer(asked)):
            sentences.append(f"seed {seed}: {told_of}")
    assert sentences == []
