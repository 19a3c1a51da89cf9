"""What a kind of server is on its host: its programs, how they are found, and where its data are unless told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from services.connections.programs.read_programs import MONGODB_DAEMONS
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.connections.reads.template import CommandTemplate
from services.facts.machine.machine import MYSQL_DAEMONS
from services.inventory.kinds import MONGODB, MYSQL


@dataclass(frozen=True, slots=True)
class Daemons:
    """One kind.

    Attributes:
        called: names of its programs, as ps tells them. process: finds them. stream, stream_sh: the OS stream that
            watches them, for bash and for sh. datadir: of the distributions' packages.
        units: shows the units of its packages.
        tells_transfers: its log and its unit are read for state transfers.
    """

    called: tuple[str, ...]
    process: CommandRead
    stream: CommandTemplate
    stream_sh: CommandTemplate
    datadir: str
    units: CommandRead
    tells_transfers: bool


DAEMONS: Mapping[str, Daemons] = {
    MYSQL.code: Daemons(
        MYSQL_DAEMONS,
        commands.SERVER_PROCESS,
        commands.OS_STREAM,
        commands.OS_STREAM_SH,
        "/var/lib/mysql",
        commands.UNITS_FOUND,
        tells_transfers=True,
    ),
    MONGODB.code: Daemons(
        MONGODB_DAEMONS,
        commands.MONGODB_PROCESS,
        commands.OS_STREAM_MONGODB,
        commands.OS_STREAM_SH_MONGODB,
        "/var/lib/mongodb",
        commands.UNITS_OF_MONGODB,
        tells_transfers=False,
    ),
}
"""By the code of a kind of server that is read."""
