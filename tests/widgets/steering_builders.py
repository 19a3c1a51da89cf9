"""A window whose service is the program's own over a scripted cluster: real journal, real engine, no server."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.window.controller import Controller
from app.window.main_window import MainWindow
from app.window.pages import build_pages, build_steering
from app.window.steering.door import ServiceDoor
from app.window.steering.window import Steering
from services.clock import SystemClock
from services.discovery.model import EstateSnapshot
from services.events import Event
from services.history.state.split_log import Split
from services.history.state.store import StateStore
from services.inventory.model import HostEntry, Inventory
from services.procedures.engine.endings.settling import settle
from services.procedures.engine.parts import Parts
from services.procedures.plan.host_facts import Facts
from services.secrets import MemoryVault
from tests.faults.scripted.cluster import CLUSTER, Cluster, whole
from tests.unit.app.steering_service import ScriptedService, World
from tests.unit.procedures.engine_world import FixedKey
from tests.widgets import builders as b
from tests.widgets.fake_sources import CARDS, FakeLiveSource
from widgets.bridge.ops import Ops
from widgets.common.look.theme import ThemeName, apply_theme

LIMIT_MS = 45_000  # nothing is proven by a shorter one, and a busy machine takes its time
HOSTS = ("db1", "db2", "db3")
Built = TypeVar("Built")


class QuickClock(SystemClock):
    """Real time, but a sleep takes a tenth of it: an engine asks twice a second, and a scripted host takes no time."""

    def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
        return super().sleep(seconds / 10, stop)


class SoonService(ScriptedService):
    """Waits in real time, though not as long, and is asked by the window."""

    def _parts(self, view: Any, hosts: Any, listener: Any, policy: Any, person: Any) -> Parts:
        parts = super()._parts(view, hosts, listener, policy, person or self.answers)
        return replace(parts, clock=QuickClock())


class ScriptedDoor:
    """Opens the service on a store in a folder of the test."""

    def __init__(self, folder: Path, world: World) -> None:
        self.folder = folder
        self.world = world
        self.service: SoonService | None = None
        self.state: StateStore | None = None
        self.answers: dict[str, str] = {}

    def limits(self) -> dict[str, str]:
        return self.answers

    def open(self) -> SoonService:
        inventory = Inventory(hosts=tuple(HostEntry(name, f"10.0.0.{n}") for n, name in enumerate(HOSTS, 1)))
        self.state = StateStore.open(self.folder / "state.sqlite")
        self.service = SoonService(inventory, MemoryVault(), self.state, SystemClock(), FixedKey())
        self.service.world = self.world
        return self.service

    def refresh(self, service: object) -> None:
        del service

    def history(self) -> Path:
        return self.folder / "history.sqlite"

    def open_splits(self) -> tuple[Split, ...]:
        with StateStore.open(self.folder / "state.sqlite") as state:
            return state.splits().open()

    def settle(self, cluster_uuid: str, reason: str) -> None:
        with StateStore.open(self.folder / "state.sqlite") as state:
            settle(state.splits(), cluster_uuid, "ada@desk", reason)

    def close(self) -> None:
        if self.state is not None:
            self.state.close()


class TellingSource(FakeLiveSource):
    """A live source that takes events, as the watcher does."""

    def tell(self, event: Event) -> None:
        self.told.append(event)

    def now(self) -> float:
        return time.time()


def now_facts(facts: Facts) -> Facts:
    """Return facts that were gathered just now, of the cluster in the drawing."""
    return replace(facts, at=time.time())


def estate() -> EstateSnapshot:
    """Return three Synced nodes of the scripted cluster."""
    return b.estate(replace(b.healthy(), cluster_id=CLUSTER))


@dataclass
class Person:
    """Somebody in front of it."""

    qtbot: QtBot
    window: MainWindow
    controller: Controller
    steering: Steering
    door: ScriptedDoor
    badges: list[str] = field(default_factory=list)

    @property
    def wizard(self) -> Any:
        return self.steering._wizard

    @property
    def cards(self) -> Any:
        return self.steering._pages.cards

    def waits(self, until: Any) -> None:
        self.qtbot.waitUntil(until, timeout=LIMIT_MS)

    def sees(self, inside: QWidget, text: str) -> QPushButton:
        """The first button that begins so and can be pressed, as soon as there is one.

        A layout shows a new part of a visible page a turn of the event loop later: until then no key reaches it.
        """

        def found() -> list[QPushButton]:
            shown = [w for w in inside.findChildren(QPushButton) if w.isVisible() and w.isEnabled()]
            return [w for w in shown if w.text().replace("&", "").startswith(text)]

        self.waits(lambda: bool(found()))
        return found()[0]

    def presses(self, inside: QWidget, text: str) -> None:
        self.qtbot.mouseClick(self.sees(inside, text), Qt.MouseButton.LeftButton)

    def types(self, inside: QWidget, text: str) -> None:
        """Press Alt and the underlined letter of a button, wherever the keys are."""
        letter = QKeySequence.mnemonic(self.sees(inside, text).text())[0]
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, letter.key(), letter.keyboardModifiers())

    def words(self, inside: QWidget) -> str:
        return "\n".join(w.text() for w in inside.findChildren(QLabel) if w.isVisible() and w.text())

    def plans(self, name: str = "desync-for-backup", host: str = "db2") -> None:
        """From the choice to the plan."""
        self.steering.choose(name, host)
        self.waits(lambda: bool(self.wizard.stages.form.rows))
        self.presses(self.wizard, "Check")
        self.presses(self.wizard, "Show plan")
        self.waits(lambda: bool(self.wizard.stages.steps.rows))

    def runs_to_the_question(self) -> None:
        self.plans()
        self.presses(self.wizard, "Approve and start")
        self.waits(lambda: self.wizard.question.question() is not None)


def finish(steps: Generator[None, None, Built]) -> Built:
    """Build all of it at once; return what the last step gives."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("Built", end.value)


@contextmanager
def steering_window(
    qtbot: QtBot, qapp: QApplication, folder: Path, world: World, theme: ThemeName = "light"
) -> Iterator[Person]:
    """Show a live window with procedures; on the way out everything is stopped as the program does."""
    apply_theme(qapp, theme)
    window = MainWindow()
    ops, door = Ops(window), ScriptedDoor(folder, world)
    window.topology.set_reduced_motion(True)
    window.resize(1440, 900)
    source = TellingSource(estate())
    controller = Controller(source, window, ops, parent=window)
    pages = finish(build_pages(controller, window, ops, parent=window, steered=True))
    steering = finish(build_steering(controller, window, pages, cast("ServiceDoor", door), ops, parent=window))
    window.show()
    window.activateWindow()
    controller.start()
    for _ in range(CARDS):
        qapp.processEvents()
    steering.runs.open()
    person = Person(qtbot, window, controller, steering, door)
    person.waits(lambda: bool(person.cards.cards))
    try:
        yield person
    finally:
        controller.stop()
        steering.stop()
        ops.shutdown()
        window.may_close = None
        window.close()
        window.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def scripted() -> World:
    """Return a whole cluster of three."""
    return World(cluster=_cluster(), changed=now_facts)


def _cluster() -> Cluster:
    return whole(*HOSTS)
