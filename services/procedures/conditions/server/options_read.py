"""The account that owns a server's data reads all option files that the server reads: a private server is like it."""

from __future__ import annotations

from services.connections.reads import commands
from services.procedures.plan.condition import Answer, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("server.options-read", "the owner of {host}'s data to be allowed to read all option files of its server")
class OptionsRead(OfHost):
    """A server of the run's own, which begins as the data's account, passes over no option file of the unit's server.

    A unit that begins its server as root reads files that are root's alone; what they say is compared and never told.

    Attributes:
        account: the number of the account whose the data are.
    """

    unit: str
    account: int

    def look(self, asking: Asking) -> Answer:
        """Ask as root whether both read the same."""
        output = asking.run(self.host, commands.OPTIONS_READ_ALIKE.read(self.unit, self.account, sudo=True))
        said = output.text.strip()
        if output.exit_code == 0 and said == "same":
            evidence = f"the account of the data of {self.host} can read every option file of {self.unit}"
            return Answer(holds=True, evidence=evidence)
        if output.exit_code == 0 and said == "differ":
            evidence = (
                f"{self.unit} on {self.host} starts its server as another account, and account {self.account}, which "
                "owns the data, may not read some of its option files: the options of a private server are not known. "
                "Allow it to read them, or copy their options to a file that it may read"
            )
            return Answer(holds=False, evidence=evidence)
        return Answer(holds=None, evidence=output.error_text or f"option files of {self.host} could not be compared")
