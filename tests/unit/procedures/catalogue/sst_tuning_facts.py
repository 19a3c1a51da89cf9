"""Facts, measurements and plans of sst-tuning for its tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.sst_tuning.measuring import host_name, road_name
from services.procedures.plan.actions import EditOptions
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.unit.procedures.facts_of_three import NAMES, facts, host

PROCEDURE = procedure_named("sst-tuning")
GIB = 2**30
GIVEN = {"donor": "n1", "joiner": "n2"}
TOOLS = ("socat", "mariadb-backup", "mbstream", "zstd", "lz4", "pigz")
# 500 MB/s from disk, 530 with four readers, 400 MB/s written; zstd packs 300 MB/s a core to 40 %, lz4 500 to 55 %.
MEASURED = "data=50000000000 sample=64000000 read=500000000:1000000 read4=530000000:1000000 "
PACKED = "zstd=60000000:24000000:200000:60000 lz4=60000000:33000000:120000:30000 pigz=60000000:21000000:1000000:240000"
WRITTEN = " write=400000000:1000000"
ROAD = "road=115000000:1000000"


def node(name: str, **more: Any) -> HostFacts:
    known = {
        "address": f"10.0.0.{name[-1]}", "tools_there": TOOLS, "sst_options_known": True, "drop_ins_files": (),
        "capability_cores": 8, "capability_memory": 32 * GIB, "capability_memory_free": 8 * GIB,
        "capability_memory_server": 8 * GIB, "capability_aes": True, "capability_load": 0.5,
        "variables_values": (("innodb_buffer_pool_size", str(8 * GIB)), ("innodb_encrypt_tables", "OFF")),
        "data_size_in_bytes": 50 * 10**9, "data_folder_path": "/var/lib/mysql",
    }  # fmt: skip
    return host(name, **{**known, **more})


def seen(*changed: HostFacts, **more: Any) -> Facts:
    own = {h.host: h for h in changed}
    return facts(*(own.pop(n, node(n)) for n in NAMES), **more)


def kept(road: str = ROAD, donor: str = MEASURED + PACKED, joiner: str = MEASURED + PACKED + WRITTEN) -> Any:
    return ((road_name("n1", "n2"), road), (host_name("n1"), donor), (host_name("n2"), joiner))


def first(state: Facts, **inputs: str) -> Plan:
    given = {**GIVEN, **inputs}
    assert PROCEDURE.faults(state, given) == ()
    plan = PROCEDURE.plan(state, given)
    assert violations(plan) == ()
    return plan


def whole(state: Facts, values: Any = None, **inputs: str) -> tuple[dict[str, Check], Plan]:
    begun = first(state, **inputs)
    measured = replace(state, kept=kept() if values is None else values)
    checks, plan = PROCEDURE.continued(measured, {**GIVEN, **inputs}, begun)
    assert violations(plan) == ()
    assert plan.steps[: len(begun.steps)] == begun.steps
    return {check.code: check for check in checks}, plan


def check_of(state: Facts, code: str, **inputs: str) -> Check:
    return next(c for c in PROCEDURE.preflight(state, {**GIVEN, **inputs}) if c.code == code)


def ids(plan: Plan) -> list[str]:
    return [step.step_id for step in plan.steps]


def settings(plan: Plan, name: str = "n1") -> dict[str, str | None]:
    edit = plan.step(f"section-{name}").action
    assert isinstance(edit, EditOptions)
    return dict(edit.options)  # type: ignore[arg-type]
