"""A folder that a run made for a config server is in nobody's use: it can be removed."""

from __future__ import annotations

from services.procedures.conditions.config_servers.runs_with import RunsWith
from services.procedures.conditions.mongodb.stopped import MongoStopped
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

_FOLDER = "storage.dbPath"


@condition("config_servers.spare-folder", "the config server of {host} to be stopped, or to run on its own folder")
class SpareFolder(OfHost):
    """The config server is stopped, or runs on its own folder: a person or a boot started it while the run rested.

    Attributes:
        unit: the server's unit.
        but: another unit whose process does not count; '' for none.
        path: the server's configuration file.
        own: the data folder that it had before the run.
    """

    unit: str
    but: str
    path: str
    own: str

    def declared(self) -> Declared:
        """See Condition."""
        return self._stopped().declared()

    def look(self, asking: Asking) -> Answer:
        """List the processes; where one runs ask it for its folder."""
        stopped = self._stopped().look(asking)
        if stopped.holds is not False:
            return stopped
        return RunsWith(self.host, self.path, ((_FOLDER, self.own),)).look(asking)

    def _stopped(self) -> MongoStopped:
        return MongoStopped(self.host, self.unit, self.but)
