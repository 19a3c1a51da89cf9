"""The certificates that a host's state transfers use, or could use, and whether its socat can speak TLS."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.observer.paths import is_clean
from services.connections.ports import Output
from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.facts.transfer.certificate_files import parse_pair, socat_version
from services.facts.transfer.certificates import PairSeen
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.galera.sst_options import SstOptions
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

FOLDER = "/etc/mysql/certs"
"""Outside the data folder, which an SST replaces, and where AppArmor lets the server read."""
OWN = ("ssl_ca", "ssl_cert", "ssl_key")


@dataclass(frozen=True, slots=True)
class TransferPairs(Part):
    """Read with stat, sed and openssl or ssh-keygen as root, over SSH: never a key.

    Attributes:
        used: the pair that the scripts use now; own: the server's, of [mysqld]; None: not set, or not read.
        socat: its version; '' not known. speaks_tls: it was built with OpenSSL; any_name: it takes commonname=, by
            which encrypt=4 verifies the chain alone (MDEV-40944); None: not known.
        folder: whether FOLDER is there; None: not known.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Options, SstOptions)

    used: PairSeen | None = None
    own: PairSeen | None = None
    socat: str = ""
    speaks_tls: bool | None = None
    any_name: bool | None = None
    folder: bool | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        used = _named(host[SstOptions].pair_files)
        options = host[Options]
        own = _named(options.option("mysqld", name) or "" for name in OWN)
        pairs = {paths: _pair(reading, paths) for paths in (used, own) if paths is not None}
        built = reading.text("socat", commands.SOCAT_BUILT)
        offered = reading.text("socat", commands.SOCAT_OPTIONS)
        there = reading.run("certificates", commands.FILES_THERE.read(FOLDER))
        return cls(
            used=pairs.get(used) if used is not None else None,
            own=pairs.get(own) if own is not None else None,
            socat=socat_version(built or ""),
            speaks_tls=None if built is None else "#define WITH_OPENSSL 1" in built,
            any_name=None if offered is None else "commonname" in offered,
            folder=_is_there(there),
        )


def _is_there(output: Output | None) -> bool | None:
    """Return whether stat found FOLDER; None where it was not let look."""
    if output is not None and output.text.strip() == FOLDER:
        return True
    return False if output is not None and is_absent(output) else None


def _named(paths: Iterable[str]) -> tuple[str, str, str] | None:
    """Return three files that are all named and may be read, None otherwise."""
    ca, cert, key = paths
    return (ca, cert, key) if all(path and is_clean(path) for path in (ca, cert, key)) else None


def _pair(reading: Reading, paths: tuple[str, str, str]) -> PairSeen | None:
    output = reading.run("certificates", commands.TLS_PAIR.read(*paths, sudo=True), limit_s=20.0)
    if output is None or reading.sudo_works is False:  # a login sees no key of the server's
        return None
    return parse_pair(output.text, paths)
