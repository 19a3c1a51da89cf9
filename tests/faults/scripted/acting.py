"""The acts of plans on the scripted cluster: an Actor (services/procedures/engine/ports.py) that changes memory."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from services.connections.operator import folders_of_others
from services.connections.programs.folder_programs import OWN_PLACE
from services.errors import Unreachable, UserError
from services.procedures.catalogue.galera.encrypt_sst.programs import FOREIGN, TRY
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import REMOVE_COPY
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import (
    CLEAR_COPIES,
    COPY_CHAIN,
    PREPARE_ONCE,
)
from services.procedures.catalogue.galera.snapshot_node.hold import HOLD, OFFER, REMOVE, RUN, UNLOCK
from services.procedures.catalogue.galera.snapshot_node.look_through import BRING, LOOK_THROUGH, NONE_BUT_ROOT
from services.procedures.catalogue.galera.sst_tuning.pipe import DIGEST, LOCAL, PIPE, SMALL_DIGEST
from services.procedures.catalogue.galera.sst_tuning.programs import HOST, ROAD
from services.procedures.catalogue.steps.binlog_tail import LAST_XID
from services.procedures.catalogue.steps.extraction import EXTRACT
from services.procedures.catalogue.steps.haproxy import CLOSE_SESSIONS, SET_STATE
from services.procedures.catalogue.steps.orphans import END_ORPHANS
from services.procedures.catalogue.steps.restored import restoring_programs as restoring
from services.procedures.catalogue.steps.restored.recovering import RECOVER, RECOVER_OR_SAY_WHY
from services.procedures.catalogue.steps.restored.state_kept import KEEP_STATE, PUT_STATE_BACK, SAVE_STATE
from services.procedures.engine.ports import Acted
from services.procedures.looking.files import digest, wrote_name
from services.procedures.looking.own_lines import own_lines, without_own
from services.procedures.plan.actions import (
    Action,
    AtPrimary,
    AtRouter,
    CopiedSecret,
    Detached,
    EditOptions,
    Mongo,
    PutFile,
    PutPair,
    Reconfigure,
    RemoveFile,
    RestoreFile,
    Run,
    Several,
    Sql,
)
from services.procedures.plan.pair_sources import HostPair
from tests.faults.scripted import config_servers, mongo, rejoining
from tests.faults.scripted.cluster import (
    CLUSTER,
    DATADIR,
    DIRTY,
    LATER,
    OPTION,
    RESTORED,
    SNAPSHOT,
    ZERO,
    Cluster,
    Host,
    copied,
)

_OF_A_STOPPED_HOST = {OWN_PLACE, restoring.WITHOUT_IDENTITY, restoring.GIVE_TO_SERVER, restoring.MAKE_CLOSED,
                      restoring.TAKE, folders_of_others.MAKE}  # fmt: skip
_OF_SNAPSHOTS = {HOLD, OFFER, RUN, UNLOCK, REMOVE, BRING, LOOK_THROUGH, NONE_BUT_ROOT}

MEASURED = (
    "measured: data=500000000 sample=64000000 read=500000000:1000000 write=400000000:1000000 "
    "pigz=60000000:21000000:1000000:240000 zstd=60000000:24000000:200000:60000"
)


class ScriptedActor:
    """Performs every act; what changed something stands in the cluster's log as `host: step`."""

    def __init__(self, cluster: Cluster, *, on_act: Callable[[str], None] | None = None) -> None:
        self.cluster = cluster
        self._on_act = on_act
        self.told: Callable[[str, str], None] | None = None
        """Told after each part of an act that has several."""

    def perform(
        self,
        step_id: str,
        host: str,
        action: Action,
        kept: Mapping[str, str],
        *,
        limit_s: float,
        stop: threading.Event | None = None,
        said: Callable[[str], None] | None = None,
        ready: Callable[[], None] | None = None,
    ) -> Acted:
        """See ports.Actor."""
        del kept, limit_s, stop, said
        target = self._target(host, action)
        if not target.answers():
            raise Unreachable("No answer.", host=host)
        if target.refuses:
            raise UserError("It is not permitted.", host=host)
        if isinstance(action, Detached) and action.name not in {*target.works, *target.at_work} and ready is not None:
            ready()
        self.cluster.write()  # the application never rests
        if self._on_act is not None:
            self._on_act(step_id)
        before = copied(target)
        try:
            acted = self._do(target, action)
        finally:
            if target != before:
                self.cluster.log.append(f"{target.name}: {step_id}")
        if target.answer_lost:
            target.answer_lost, target.back_in = False, 4
            raise Unreachable("The connection broke.", host=host, safe="It may have been done.")
        return acted

    def discard(self, host: str, name: str) -> None:
        """See ports.Actor."""
        self.cluster.hosts[host].works.pop(name, None)

    def end(self, host: str, name: str) -> bool:
        """See ports.Actor."""
        target = self.cluster.hosts[host]
        if not target.answers():
            raise Unreachable("No answer.", host=host)
        if target.refuses:
            raise UserError("It is not permitted.", host=host)
        return target.at_work.pop(name, None) is not None

    def go_on(self) -> None:
        """Let every work that still runs come to its end, with no console."""
        for host in self.cluster.hosts.values():
            for name in tuple(host.at_work):
                host.works[name] = self._run(host, host.at_work.pop(name), (0,))

    def _target(self, host: str, action: Action) -> Host:
        """Return whom the act goes to: what any mongos may do goes to the first that answers."""
        routers = action.routers if isinstance(action, AtRouter) else ()
        silent = [
            name for name in routers if self.cluster.hosts[name].back_in or not self.cluster.hosts[name].reachable
        ]
        return self.cluster.hosts[next((name for name in routers if name not in silent), host)]

    def _do(self, host: Host, action: Action) -> Acted:  # noqa: C901, PLR0912 - one case an action
        match action:
            case Several(actions=several):
                for one in several:
                    self._do(host, one)
                    if self.told is not None:
                        self.told("inside", f"an act on {host.name}, after {type(one).__name__}")
            case AtPrimary(members=members, actions=several):
                leading = mongo.leading(self.cluster, members)
                for one in several:
                    self._do(leading, one)
                    if self.told is not None:
                        self.told("inside", f"an act on {leading.name}, after {type(one).__name__}")
            case AtRouter(action=sent):
                self._do(host, sent)
            case _ if config_servers.is_one(self.cluster):
                return config_servers.perform(self.cluster, host, action)
            case Mongo() | Reconfigure():
                mongo.act(self.cluster, host, action)
            case Sql(statement=statement):
                self._sql(host, str(statement))
            case Run() | Detached():
                text = self._attended(host, action)
                if action.keep:
                    found = re.search(action.pattern, text)
                    if found is None:
                        raise UserError(f"No match in: {text}", host=host.name)
                    return Acted((text,), ((action.keep, found.group(1)),))
            case EditOptions(path=path, options=options):
                self._keep(host, path)
                host.files[path] = host.wrote[path] = _edited(host.files.get(path, "[mysqld]\n"), options)
                return Acted(kept=((wrote_name(host.name, path), digest(host.files[path])),))
            case PutFile(path=path, content=content) if path == f"{DATADIR}/grastate.dat":
                assert not host.running
                host.kept.setdefault(path, host.grastate_uuid)
                host.grastate_uuid, host.grastate_seqno = CLUSTER, -1
                host.safe_to_bootstrap = int(any("safe_to_bootstrap: 1" in str(part) for part in content))
            case RestoreFile(path=path) if path == f"{DATADIR}/grastate.dat":
                host.grastate_uuid, host.safe_to_bootstrap = host.kept.pop(path) or "", 0
            case PutFile(path=path, content=content):
                self._keep(host, path)
                host.files[path] = "".join("<copied>" if isinstance(c, CopiedSecret) else c for c in content)
                host.wrote[path] = host.files[path]
            case PutPair():
                host.wrote, host.files = host.wrote | (put := self._put_pair(host, action)), host.files | put
                return Acted(kept=tuple((wrote_name(host.name, path), digest(text)) for path, text in put.items()))
            case RemoveFile(path=path, put=True) if host.files.get(path) != host.wrote.get(path):
                return Acted()
            case RemoveFile(path=path, wrote=wrote) if host.files.get(path, wrote) != wrote and wrote:
                if own_lines(None, wrote, host.files[path]):
                    host.wrote[path], host.kept[path] = wrote, None
                    return _taken_out(host, path)
            case RemoveFile(path=path):
                host.files.pop(path, None)
                if path == f"{DATADIR}/grastate.dat":
                    host.grastate_uuid, host.grastate_seqno = ZERO, -1
            case RestoreFile(path=path, whole=False) if path in host.wrote and path in host.kept:
                return _taken_out(host, path)
            case RestoreFile(path=path):
                original = host.kept.pop(path, host.files.get(path))
                host.files.pop(path, None)
                if original is not None:
                    host.files[path] = original
            case _:
                raise AssertionError(action)
        return Acted()

    def _attended(self, host: Host, action: Run | Detached) -> str:
        """Detached work that exists is attached to: it is not done again."""
        argv = list(action.command.argv)
        if isinstance(action, Run):
            return self._run(host, argv, action.ok)
        if action.name not in host.works:
            host.works[action.name] = self._run(host, host.at_work.pop(action.name, argv), action.ok)
        return host.works[action.name]

    def _put_pair(self, host: Host, action: PutPair) -> dict[str, str]:
        """Copy a pair, or make one: a second while another host has a copy of the first would be two."""
        paths = (action.ca, action.cert, action.key)
        if isinstance(action.source, HostPair):
            return {path: self.cluster.hosts[action.source.host].files[path] for path in paths}
        if any(action.cert in other.files for other in self.cluster.hosts.values() if other is not host):
            self.cluster.alarms.append(f"a second pair was made on {host.name}")
        return dict.fromkeys(paths, f"made: {action.cert}")

    def _snapshot(self, host: Host, script: str, words: list[str]) -> str:
        """Run one of the scripts around the operator's commands; his own are 'take', 'bring' and 'remove'."""
        if script == HOLD:
            if not host.running:
                raise UserError("pilothouse: the server gave no session", host=host.name)
            assert host.variables["wsrep_desync"] == "ON"
            assert words[-1] == "take"
            host.files |= {words[3]: "", SNAPSHOT: str(host.seqno)}
            assert words[8] == DIRTY[1]
            host.variables.pop(DIRTY[0], None)
            return f"pilothouse: snapshot at {CLUSTER}:{host.seqno} after 1 s under the read lock"
        if script == UNLOCK:
            host.units.pop(words[2], None)
        elif script == REMOVE and words[1] in host.files:
            assert not host.locked, "a snapshot is removed while the command that takes it works"
            assert words[-1] == "remove"
            host.files = {path: text for path, text in host.files.items() if path not in {words[1], SNAPSHOT}}
        elif script == OFFER:
            assert SNAPSHOT in host.files
            host.units[words[1]] = "active"
        elif script == BRING and words[-1] == "bring":
            _brought(self.cluster, host)
        elif script == LOOK_THROUGH:
            assert not host.running
            assert host.has_data
        return ""

    @staticmethod
    def _keep(host: Host, path: str) -> None:
        host.kept.setdefault(path, host.files.get(path))

    def _sql(self, host: Host, text: str) -> None:
        if not host.running:
            raise UserError("The server does not answer.", host=host.name)
        if back := re.fullmatch(r"SET GLOBAL ([a-z_]+)=IF \( @@GLOBAL\.\1='(.*)' , '(.*)' , @@GLOBAL\.\1 \)", text):
            if host.variables.get(back[1], "") != back[2]:
                return
            text = f"SET GLOBAL {back[1]}='{back[3]}'"
        found = re.fullmatch(r"SET GLOBAL ([a-z_]+)='?([^']*)'?", text)
        assert found is not None, text
        variable, value = found.groups()
        if variable == "wsrep_provider_options":
            option, _, setting = value.partition("=")
            if option == OPTION:
                host.frozen_at = str(host.seqno - 100) if setting == "now" else setting
            elif option == "pc.bootstrap":
                for other in self.cluster.hosts.values():
                    other.primary = other.primary or other.running
        elif variable == "wsrep_desync" and value == "OFF":
            assert not host.locked, "a node is back in flow control under a read lock"
            host.variables.pop(variable, None)
        elif value in {"NONE", "OFF", ""} or (variable, value) == DIRTY:
            host.variables.pop(variable, None)
        else:
            host.variables[variable] = value

    def _run(self, host: Host, argv: list[str], ok: tuple[int, ...]) -> str:  # noqa: C901, PLR0911, PLR0912 - one case a command
        if argv[:3] == ["systemd-run", "--quiet", "--scope"]:
            argv = argv[argv.index("--") + 1 :]
        match argv:
            case ["systemctl", "daemon-reload"]:
                host.loaded = host.drop_ins
            case ["systemctl", "stop", *units] if units[0].startswith("pilothouse-"):
                for unit in units:
                    host.units.pop(unit, None)
            case ["systemctl", "stop", *_]:
                self.cluster.stop(host)
            case ["systemctl", "start", *_]:
                self.cluster.start(host)
            case ["systemctl", "unset-environment", "_WSREP_NEW_CLUSTER"]:
                host.founds = False
            case ["galera_new_cluster"]:
                self.cluster.start(host, new_cluster=True)
            case ["systemd-run", unit, *_]:
                described = next((word.partition("=")[2] for word in argv if word.startswith("--description=")), "")
                host.units[f"{unit.partition('=')[2]}.service"] = described or "active"
            case ["bash", "-c", folders_of_others.INSIDE, _, _, _, "sed", "-i", expression, _]:
                host.safe_to_bootstrap = int(expression.split("/")[2][-1])
            case ["bash", "-c", folders_of_others.RENAME, _, _, source, target]:
                there = host.has_data if source == DATADIR else source in host.aside
                if not there and 1 not in ok:
                    raise UserError(f"mv: cannot stat '{source}'", host=host.name)
                if source == DATADIR and there:
                    host.aside[target] = (host.grastate_uuid, host.member)
                    host.has_data, host.grastate_uuid = False, ""
                elif target == DATADIR and there:
                    host.has_data = True
                    host.grastate_uuid, host.member = host.aside.pop(source)
                if source == DATADIR:
                    _forget(host, DATADIR)
            case ["bash", "-c", text, *_] if text in rejoining.PROGRAMS:
                return rejoining.performed(host, argv)
            case ["bash", "-c", folders_of_others.PUT_AWAY, _, _, folder, aside, _]:
                assert (aside in host.aside, folder) == (True, DATADIR), "these may be the old data"
                host.has_data, host.grastate_uuid = False, ""
                _forget(host, folder)
            case ["bash", "-c", text, _, work, _, *sources] if text == COPY_CHAIN:
                _forget(host, work)
                host.files |= {work: "", **{f"{work}/{at}": source for at, source in enumerate(sources)}}
                return f"copied: {len(sources)} folders"
            case ["bash", "-c", text, _, target] if text in {CLEAR_COPIES, REMOVE_COPY}:
                _forget(host, target)
            case ["bash", "-c", text, _, mark, "mariadb-backup", *words] if text == PREPARE_ONCE:
                return _prepared(host, mark, words)
            case ["bash", "-c", text, _, _, _, "mariadb-backup", _, "--copy-back", *_] if text == restoring.COPY_BACK:
                assert not host.running
                assert not host.has_data
                host.has_data, host.seqno, host.parted = True, RESTORED, False
                return "completed OK!\ncopied back, and on disk"
            case ["bash", "-c", text, *_] if text in _OF_A_STOPPED_HOST:
                assert not host.running
            case ["bash", "-c", text, *words] if text in _OF_SNAPSHOTS:
                return self._snapshot(host, text, words)
            case ["rm", "-f", "--", mark]:
                host.files.pop(mark, None)
            case ["bash", "-c", text, *_] if text == RECOVER_OR_SAY_WHY and host.broken:
                return "not recovered: exit code 1: [ERROR] InnoDB: Corrupted page"
            case ["bash", "-c", text, *_] if text == RECOVER_OR_SAY_WHY:
                own = CLUSTER if host.grastate_uuid == ZERO and host.has_data else host.grastate_uuid
                return f"WSREP: Recovered position: {own or rejoining.uuid_of(host)}:{host.seqno}"
            case ["bash", "-c", text, *_] if text == RECOVER:
                return f"WSREP: Recovered position: {host.grastate_uuid or rejoining.uuid_of(host)}:{host.seqno}"
            case ["bash", "-c", text, *_] if text == LAST_XID:
                return f"last Xid: {host.seqno}"
            case ["bash", "-c", text, *_] if text == SAVE_STATE:
                pass
            case ["bash", "-c", text, *_] if text == KEEP_STATE:
                host.state_kept = host.grastate_uuid
            case ["bash", "-c", text, *_] if text == PUT_STATE_BACK:
                assert not host.running
                host.grastate_uuid = host.state_kept if host.has_data else host.grastate_uuid
            case ["bash", "-c", text, *_] if text == EXTRACT:
                return "extracted: 5 transactions, 0 statements, tables: shop.orders (5 rows)"
            case ["bash", "-c", text, _, _, place, *state] if text in {SET_STATE, CLOSE_SESSIONS}:
                node = place.partition("/")[2]
                if text == SET_STATE:
                    host.orders[node] = state[0]
                elif host.orders[node] == "maint":
                    host.sessions[node] = 0
            case ["bash", "-c", text, *_] if text == END_ORPHANS:
                assert not host.running
            case ["bash", "-c", text, *_] if text in {ROAD, PIPE}:
                waiting = "sink" if text == ROAD else "pipe"
                assert any(f"pilothouse-sst-{waiting}" in unit for h in self.cluster.hosts.values() for unit in h.units)
                return "measured: road=115000000:1000000" if text == ROAD else f"{DIGEST}  -"
            case ["setpriv", _, _, _, "bash", "-c", text, *_] if text == LOCAL:
                return f"{SMALL_DIGEST}  -"
            case ["bash", "-c", folders_of_others.INSIDE, *words] if HOST in words:
                return MEASURED
            case ["bash", "-c", text, *words] if text in {TRY, FOREIGN}:
                self._proves(host, words)
            case ["install" | "mkdir" | "rmdir" | "chown" | "chmod" | "test" | "find" | "setpriv", *_]:
                pass
            case ["bash", "-c", _, "pilothouse", "mysql", "-e", "SELECT 1"]:
                pass
            case _:
                raise AssertionError(argv)
        return ""

    def _proves(self, host: Host, words: list[str]) -> None:
        """Transfers are tried: the files are there, and whoever is connected to listens."""
        assert all(path in host.files for path in words[1:4])
        listening = [
            h for h in self.cluster.hosts.values() if any(name.startswith("pilothouse-tls") for name in h.units)
        ]
        assert len(listening) == len(self.cluster.hosts)


def _brought(cluster: Cluster, host: Host) -> None:
    """Let a host have the data of the snapshot, wherever it was taken."""
    assert not host.running
    assert not host.has_data
    found = [int(text) for one in cluster.hosts.values() for path, text in one.files.items() if path == SNAPSHOT]
    host.has_data, host.parted, host.seqno = True, False, found[0]
    host.grastate_uuid, host.grastate_seqno = CLUSTER, found[0]


def _forget(host: Host, folder: str) -> None:
    """Let a folder be gone, with all that lies in it."""
    host.files = {path: text for path, text in host.files.items() if not f"{path}/".startswith(f"{folder}/")}


def _prepared(host: Host, mark: str, words: list[str]) -> str:
    """A copy is prepared with each backup once, in their order; each one's position is told."""
    assert mark not in host.files, "a copy is prepared twice"
    number = int(mark.rpartition("-")[2])
    assert number == 0 or f"{mark.rpartition('-')[0]}-{number - 1}" in host.files
    assert (number > 0) == any(word.startswith("--incremental-dir=") for word in words)
    host.files[mark] = ""
    return f"Recovered WSREP position: {CLUSTER}:{RESTORED - LATER + number * LATER}\ncompleted OK!"


def _taken_out(host: Host, path: str) -> Acted:
    now = host.files.get(path)
    back = without_own(host.kept[path], host.wrote[path], now) if now is not None else None
    if back is None:
        return Acted(stays=f"Not restored: {path} on {host.name} was changed by someone else since")
    host.kept.pop(path)
    host.files.pop(path, None)
    if back.text is not None:
        host.files[path] = back.text
    return Acted()


def _edited(text: str, options: tuple[tuple[str, object], ...]) -> str:
    for name, value in options:
        lines = [line for line in text.splitlines() if line.partition("=")[0].strip() != name]
        text = "\n".join([*lines, *(() if value is None else (f"{name} = {value}",))]) + "\n"
    return text
