"""The guard on the donor: it releases the cache when its time is over or the disk comes near its floor, console or not.

It runs as a transient unit: systemd-run(1), --collect (a failed one leaves nothing in the way), --setenv=HOME so that
the client reads the same files of root's as in the check GUARD-LOGIN. systemd.service(5): of a command's words only
`${NAME}` and a whole word `$NAME` are expanded, and the texts have neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.connections.command import Command
from services.connections.operator.roots_client import ROOTS_CLIENT, roots_client
from services.connections.sql.statement import set_provider_option
from services.procedures.catalogue.galera.shared.cache_arithmetic import OPTION
from services.procedures.catalogue.steps.temporary import Temporary
from services.procedures.conditions.machine.unit import UnitFresh, UnitSetting
from services.procedures.plan.actions import Run, Several, Sql
from services.procedures.plan.condition import Condition
from services.procedures.plan.model import Step

AFTER_S = 3_600
"""The guard lasts so much longer than the planned absence."""
LOOKS_S = 5
JUST_BEGUN_S, STILL_GOOD_S = 120.0, 1_800.0
RELEASE = Sql(set_provider_option(OPTION, -1))

# $1 the cache's folder, $2 the floor in bytes, $3 seconds, $4 the statement, $5 how root's client is begun. Time is
# counted by its own looks: a clock that is set does not shorten it. A disk that can't be read ends nothing. A server
# that is down has no freeze any more.
GUARD = (
    'left=$3; while [ "$left" -gt 0 ]; do '
    'free=$(df -PB1 -- "$1" | tail -n 1 | tr -s " " | cut -d " " -f 4); '
    'if [ "$free" -lt "$2" ] 2>/dev/null; then echo "$free bytes are free at $1, the floor is $2"; break; fi; '
    f"sleep {LOOKS_S}; left=$((left - {LOOKS_S})); done; "
    'tries=720; until bash -c "$5" pilothouse mysql -e "$4"; do '
    'tries=$((tries - 1)); [ "$tries" -gt 0 ] || exit 1; sleep 5; done; echo "released: $4"'
)


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: for which donor of which cluster, how long, and at which free disk of which folder it releases."""

    donor: str
    cluster_id: str
    away_s: float
    folder: str
    floor: int

    @property
    def seconds(self) -> int:
        """Return for how long the freeze is allowed."""
        return int(self.away_s) + AFTER_S

    @property
    def unit(self) -> str:
        """Return the unit's name without its kind: one a cluster, so that a left one is found and replaced."""
        return f"pilothouse-release-{self.cluster_id[:8]}"

    @property
    def description(self) -> str:
        """Return the numbers that tell this guard from one that an earlier run left."""
        return f"Pilothouse releases the gcache after {self.seconds} s, or below {self.floor} bytes at {self.folder}"

    @property
    def stays(self) -> Condition:
        """Return what must hold before the freeze: a run that was paused may find its guard nearly over."""
        return UnitFresh(self.donor, f"{self.unit}.service", self.description, STILL_GOOD_S)

    def on(self) -> Step:
        """Return the step that sets it. One that an earlier run left is replaced, not adopted."""
        begun = (UnitFresh(self.donor, f"{self.unit}.service", self.description, JUST_BEGUN_S),)
        step = Step(
            step_id="guard-on",
            host=self.donor,
            title=(
                f"Set a guard on {self.donor} that releases the cache in {self.seconds // 60} min, or below "
                f"{self.floor / 1e9:.2f} GB free"
            ),
            done=f"A guard on {self.donor} will release the cache automatically",
            why="Without a console to release it, the donor's disk would fill. An earlier guard is replaced.",
            action=Several((
                Run(Command(roots_client("mysql", "-e", "SELECT 1"), sudo=True)),
                self._stop(),
                Run(Command((
                    "systemd-run", f"--unit={self.unit}", "--collect", f"--description={self.description}",
                    "--setenv=HOME=/root", "bash", "-c", GUARD, "pilothouse",
                    self.folder, str(self.floor), str(self.seconds), str(RELEASE.statement), ROOTS_CLIENT,
                ), sudo=True)),
            )),
            already=begun,
            proof=begun,
            estimate_s=1.0,
        )  # fmt: skip
        return self._temporary().on(step, f"Remove the guard on {self.donor}")

    def off(self) -> Step:
        """Return the step that ends it, after the release is proven."""
        step = self._temporary().off(
            "guard-off", f"Remove the guard on {self.donor}", f"The guard on {self.donor} is removed", 1.0
        )
        return replace(step, why="The cache is already released.")

    def _stop(self) -> Run:
        # The timer: what an older Pilothouse set under this name. 5: there is no such unit.
        argv = ("systemctl", "stop", f"{self.unit}.timer", f"{self.unit}.service")
        return Run(Command(argv, sudo=True), ok=(0, 5))

    def _temporary(self) -> Temporary:
        return Temporary(
            key=f"guard:{self.donor}",
            host=self.donor,
            sentence=f"release guard set on {self.donor}",
            danger="it would also release a later freeze",
            release=self._stop(),
            released=(
                UnitSetting(self.donor, f"{self.unit}.service", "ActiveState", "inactive"),
                UnitSetting(self.donor, f"{self.unit}.timer", "ActiveState", "inactive"),
            ),
            safeguard=True,
        )
