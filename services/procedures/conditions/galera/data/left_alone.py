"""No server but this run's own ran on data that the run put in place: what was proven of them still holds."""

from __future__ import annotations

from services.connections.reads import commands
from services.facts.machine.file_answers import is_absent
from services.procedures.looking.marks import ran_since
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("galera.left-alone", "no other server to have used the data of {host}")
class LeftAlone(OfHost):
    """Nothing has run on the data since a mark of them was kept, or the old data lie in their place again.

    A unit that is held from starting does not keep a person from running a server by hand (`mariadbd --wsrep-on=OFF`):
    it leaves grastate.dat and InnoDB's position as they are, and its rows fork. Its files tell. What it wrote nobody
    can say: that is 'not known', and a person goes back.

    Attributes:
        aside: where the run keeps the old data; mark: the name of the last mark (PositionMark).
        own: the step of this run that lets a server run on them next: once that began, its files may have moved by it.
    """

    datadir: str
    aside: str
    mark: str
    own: str

    def look(self, asking: Asking) -> Answer:
        """Hold the server's files and systemd's starts against the mark."""
        host = self.host
        if self.own in asking.past.began:
            return Answer(holds=True, evidence=f"the data of {host} were checked before this run began to use them")
        kept = asking.run(host, commands.FILE_KIND.read(self.aside, sudo=True))
        if is_absent(kept):
            return Answer(holds=True, evidence=f"{host} has its own data in its data folder")
        if kept.exit_code:
            return Answer(holds=None, evidence=f"whether {self.aside} exists on {host} could not be read")
        if self.mark not in asking.past.kept:
            return Answer(holds=False, evidence=f"the data that the run put on {host} are not verified yet")
        ran = ran_since(host, self.datadir, asking.past.kept[self.mark], asking)
        if not ran.told:
            return Answer(holds=True, evidence=f"no server has run on the data of {host} since this run checked them")
        return Answer(
            holds=None,
            evidence=f"{ran.told}; what it wrote into data that were already verified is not known. Roll back the run "
            f"and start again: the old data are in {self.aside}, and the copies are unchanged",
            final=True,
        )
