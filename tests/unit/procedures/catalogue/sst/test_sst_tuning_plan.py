"""sst-tuning: what is measured, what follows from it, what is refused; the second part is made from the first."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import count, takewhile
from typing import Any

import pytest

from services.facts.transfer.sst_options import Place
from services.procedures.catalogue.galera.sst_tuning.pipe import DIGEST, LINES
from services.procedures.conditions.galera.config.sst_section import SstSame
from services.procedures.plan.actions import Checkpoint, Detached, EditOptions, Run, Several
from services.procedures.plan.model import Risk
from services.procedures.plan.parts.galera.drop_ins import HOLD
from services.types import Flavour
from tests.unit.procedures.catalogue.sst_tuning_facts import (
    GIB,
    GIVEN,
    MEASURED,
    PACKED,
    PROCEDURE,
    TOOLS,
    WRITTEN,
    check_of,
    first,
    ids,
    kept,
    node,
    seen,
    settings,
    whole,
)
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, WARN, galera

# -- the first part ----------------------------------------------------------------------------------------------------


def test_that_the_first_part_only_measures_within_its_bounds_and_plans_the_rest() -> None:
    plan = first(seen(), each_part="4 s", most_sent="100 MiB", most_packed="32 MiB")
    assert ids(plan) == ["listen-n2", "road-n1", "unlisten-n2", "measure-n1", "measure-n2", "forecast"]
    road = plan.step("road-n1").action
    assert isinstance(road, Detached)
    assert road.command.argv[-4:] == ("10.0.0.2", "4444", "4", "100")
    donor, joiner = plan.step("measure-n1"), plan.step("measure-n2")
    assert isinstance(donor.action, Detached)
    assert isinstance(joiner.action, Detached)
    bounds = ("timeout", "-k", "5", "56", "nice", "-n", "19")
    at = donor.action.command.argv.index("timeout")
    assert donor.action.command.argv[at : at + len(bounds)] == bounds
    words = (".", "4", "32", "yes", "no", "zstd", "lz4", "pigz", "gzip")
    assert joiner.action.command.argv[-len(words) :] == words
    assert donor.action.command.argv[-len(words) + 3] == "no"  # nothing is written on the donor
    assert (donor.risk, joiner.risk) == (Risk.READS, Risk.CHANGES)
    assert not any(isinstance(step.action, EditOptions) for step in plan.steps)


def test_that_only_compressors_of_both_ends_are_tried_and_ciphers_only_where_it_encrypts() -> None:
    state = seen(
        node("n1", sst_options_given=(("sst", "encrypt", "4"),)),
        node("n2", tools_there=("socat", "mariadb-backup", "mbstream", "pigz")),
    )
    plan = first(state)
    action = plan.step("measure-n1").action
    assert isinstance(action, Detached)
    assert action.command.argv[-3:] == ("yes", "pigz", "gzip")


def test_that_an_sst_that_comes_by_a_network_of_its_own_is_measured_there() -> None:
    state = seen(node("n2", options_given=(("mysqld", "wsrep_sst_receive_address", "192.168.7.2:4445"),)))
    road = first(state).step("road-n1").action
    assert isinstance(road, Detached)
    assert road.command.argv[-4:-2] == ("192.168.7.2", "4445")


@pytest.mark.parametrize("hostile", ["10.0.0.2,exec=x", "a b", "x!y", "host;reboot", "$(id)"])
def test_that_an_address_with_a_grammar_of_its_own_never_becomes_a_word_of_socat(hostile: str) -> None:
    state = seen(node("n2", options_given=(("mysqld", "wsrep_sst_receive_address", hostile),)))
    assert any(fault.field == "joiner" for fault in PROCEDURE.faults(state, GIVEN))


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({"joiner": "n1"}, "joiner"),
        ({"trial": "n3"}, "trial"),
        ({"trial": "n1"}, "trial"),
        ({"each_part": "11 s"}, "each_part"),
        ({"each_part": "0 s"}, "each_part"),
        ({"most_sent": "9 GiB"}, "most_sent"),
        ({"most_sent": "63 MiB"}, "most_sent"),
        ({"most_packed": "0 B"}, "most_packed"),
        ({"cpu_share": "0"}, "cpu_share"),
        ({"network_share": "101"}, "network_share"),
        ({"compressor": "gzip"}, "compressor"),
    ],
)
def test_that_inputs_out_of_bounds_are_refused(inputs: dict[str, str], field: str) -> None:
    assert field in {fault.field for fault in PROCEDURE.faults(seen(), {**GIVEN, **inputs})}


# -- refusals before anything is measured ------------------------------------------------------------------------------


def _sst(*options: tuple[str, str]) -> tuple[tuple[str, str, str], ...]:
    return tuple(("sst", name, value) for name, value in options)


@pytest.mark.parametrize(
    ("one", "others"),
    [
        ((("compressor", "pigz"), ("decompressor", "pigz -d")), ()),  # on one node alone
        ((("compressor", "pigz"),), (("compressor", "pigz"),)),  # nobody unpacks
        ((("compressor", "zstd -1"), ("decompressor", "pigz -d")),) * 2,  # what the other does not know
    ],
)
def test_that_a_mismatch_of_compressors_is_refused_by_its_own_code(one: Any, others: Any) -> None:
    state = seen(*(node(n, sst_options_given=_sst(*(one if n == "n1" else others))) for n in NAMES))
    check = check_of(state, "COMPRESSOR-MISMATCH")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    alike = seen(*(node(n, sst_options_given=_sst(("compressor", "pigz"), ("decompressor", "pigz -d"))) for n in NAMES))
    assert check_of(alike, "COMPRESSOR-MISMATCH").verdict is PASS
    assert check_of(seen(node("n2", sst_options_known=False)), "COMPRESSOR-MISMATCH").verdict is BLOCK


def test_that_a_tool_that_one_node_lacks_is_refused() -> None:
    state = seen(node("n3", tools_there=("socat", "pigz")))
    check = check_of(state, "TUNING-TOOLS", compressor="zstd")
    assert (check.verdict, check.evidence, check.absolute) == (BLOCK, "n3 does not have zstd", True)
    assert check_of(state, "TUNING-TOOLS", compressor="pigz").verdict is PASS
    assert check_of(seen(node("n3", tools_there=())), "TUNING-TOOLS").verdict is BLOCK  # not known is no yes


def test_that_more_use_memory_than_a_node_has_beside_a_gibibyte_is_refused() -> None:
    small = seen(node("n3", capability_memory_free=1 * GIB, capability_memory_server=2 * GIB))
    assert check_of(small, "USE-MEMORY", prepare_memory="3 GiB").verdict is BLOCK
    assert check_of(small, "USE-MEMORY", prepare_memory="2 GiB").verdict is PASS
    assert check_of(small, "USE-MEMORY").verdict is WARN  # the default, its buffer pool, does not fit
    assert (
        check_of(seen(node("n3", capability_memory_free=None)), "USE-MEMORY", prepare_memory="1 GiB").verdict is BLOCK
    )


def test_that_a_transfer_under_way_is_refused() -> None:
    busy = seen(node("n3", sst_orphans=((7, 3.0, "wsrep_sst_mariabackup --role donor"),)))
    assert check_of(busy, "NO-SST").verdict is BLOCK


def test_that_joins_that_somebody_else_holds_off_are_refused() -> None:
    check = check_of(seen(node("n2", drop_ins_files=(HOLD,))), "JOINS-HELD")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert check_of(seen(), "JOINS-HELD").verdict is PASS
    assert check_of(seen(node("n2", drop_ins_files=None)), "JOINS-HELD").verdict is BLOCK


def test_that_only_mariabackup_is_tuned() -> None:
    rsync = seen(node("n1", group=galera("n1", sst_method="rsync")))
    assert check_of(rsync, "SST-METHOD").verdict is BLOCK
    pxc = node("n1")
    assert pxc.node is not None
    assert pxc.node.server is not None
    other = replace(pxc, node=replace(pxc.node, server=replace(pxc.node.server, flavour=Flavour.PXC)))
    assert check_of(seen(other), "SST-METHOD").verdict is BLOCK
    assert check_of(seen(), "SST-METHOD").verdict is PASS


def test_that_two_compressors_in_one_another_are_refused() -> None:
    state = seen(*(node(n, sst_options_given=(("mariabackup", "compress", "quicklz"),)) for n in NAMES))
    assert check_of(state, "COMPRESSED-TWICE").verdict is BLOCK
    assert check_of(state, "COMPRESSED-TWICE", compressor="none").verdict is WARN


def test_that_encrypted_pages_are_told_before_and_the_measuring_load_with_its_bounds() -> None:
    state = seen(node("n1", variables_values=(("innodb_encrypt_tables", "FORCE"),)))
    assert check_of(state, "PAGES-ENCRYPTED").verdict is WARN
    load = check_of(seen(node("n1", sessions_clients=4)), "MEASURING-LOAD")
    assert (load.verdict, load.to_read) == (WARN, True)
    assert "at most 10 s and 1024 MiB" in load.evidence


# -- the second part ---------------------------------------------------------------------------------------------------


def test_that_the_choice_is_set_on_all_nodes_with_joins_held_off_after_the_pipe_was_tried() -> None:
    checks, plan = whole(seen())
    assert ids(plan)[6:] == [
        "told", "hold-n1", "hold-n2", "hold-n3", "nobody-joins", "packs-n1", "packs-n2", "packs-n3", "pipe-n2",
        "through-n1", "unpipe-n2",
        "section-n1", "section-n2", "section-n3", "same", "let-n1", "let-n2", "let-n3", "last-look",
    ]  # fmt: skip
    assert plan.expects[1:] == (
        "[sst] is the same on every node.",
        "The programs that it names were tested between two of them.",
    )
    wanted = {"compressor": "zstd -1 -T4", "decompressor": "zstd -d", "time": "1"}
    assert [settings(plan, name) for name in NAMES] == [wanted] * 3
    assert checks["FORECAST"].verdict is PASS
    assert "Recommended: zstd with 4 threads" in checks["FORECAST"].evidence
    assert "no compressor: about 452 s, 115 MB/s, limited by network" in checks["FORECAST"].evidence
    sent = plan.step("through-n1").action
    assert isinstance(sent, Detached)
    assert sent.command.argv[-3:] == ("zstd", "-1", "-T4")
    opened = plan.step("pipe-n2").action
    assert isinstance(opened, Several)
    run = opened.actions[1]
    assert isinstance(run, Run)
    assert run.command.argv[-1] == "SYSTEM:zstd -d | sha256sum"


def test_that_nothing_is_set_where_every_node_has_it_already_or_only_the_telling_was_asked_for() -> None:
    has = _sst(("compressor", "zstd -1 -T4"), ("decompressor", "zstd -d"))
    _, plan = whole(seen(*(node(n, sst_options_given=has) for n in NAMES)))
    assert ids(plan)[6:] == ["told"]
    told = plan.step("told").action
    assert isinstance(told, Checkpoint)
    assert "every node already has these settings" in told.sentence
    assert plan.expects == (told.sentence,)  # nothing was set, and nothing tried: neither is said
    assert ids(whole(seen(), apply="no")[1])[6:] == ["told"]


def test_that_a_network_as_fast_as_the_disk_takes_compression_away() -> None:
    has = _sst(("compressor", "pigz"), ("decompressor", "pigz -d"))
    place = tuple(Place("/etc/mysql/x.cnf", "sst", name, value, 2) for _, name, value in has)
    state = seen(*(node(n, sst_options_given=has, sst_options_places=place) for n in NAMES))
    _, plan = whole(state, kept(road="road=1000000000:1000000"))
    assert settings(plan)["compressor"] is None
    assert settings(plan)["decompressor"] is None
    assert "pipe-n2" not in ids(plan)  # nothing to try


def test_that_pages_of_a_ratio_of_about_one_are_not_compressed_and_a_compressor_for_them_is_refused() -> None:
    flat = MEASURED + "zstd=60000000:59000000:200000:60000"
    checks, plan = whole(seen(), kept(donor=flat, joiner=flat + WRITTEN))
    assert (checks["RATIO"].verdict, ids(plan)[6:]) == (WARN, ["told"])
    checks, _ = whole(seen(), kept(donor=flat, joiner=flat + WRITTEN), compressor="zstd")
    assert (checks["RATIO"].verdict, checks["RATIO"].absolute) == (BLOCK, True)
    checks, _ = whole(seen(), kept(donor=flat, joiner=flat + WRITTEN), compressor="lz4")  # asked for, not measured
    assert checks["RATIO"].verdict is BLOCK


def test_that_a_third_node_without_the_chosen_tool_is_refused_once_it_is_chosen() -> None:
    state = seen(node("n3", tools_there=("socat",)))
    assert check_of(state, "TUNING-TOOLS").verdict is PASS
    assert whole(state)[0]["TUNING-TOOLS"].verdict is BLOCK


def test_that_without_a_measurement_nothing_is_forecast_and_nothing_is_set() -> None:
    checks, plan = whole(seen(), ())
    assert (checks["FORECAST"].unknown, len(plan.steps)) == (True, 6)
    has = _sst(("compressor", "pigz"), ("decompressor", "pigz -d"))
    state = seen(*(node(n, sst_options_given=has) for n in NAMES))
    checks, plan = whole(state, kept(road="road=-", donor="data=5", joiner="data=5"), trial="n2")
    assert (checks["FORECAST"].unknown, len(plan.steps)) == (True, 6)  # what is set now stays, and no node is copied


def test_that_a_compressor_that_was_not_measured_and_one_over_an_unknown_network_are_left_as_they_are() -> None:
    own = seen(*(node(n, sst_options_given=_sst(("compressor", "snzip"), ("decompressor", "snzip -d"))) for n in NAMES))
    checks, plan = whole(own, trial="n2")
    assert (checks["FORECAST"].verdict, ids(plan)[6:]) == (WARN, ["told"])
    assert "the current compressor not known" in checks["FORECAST"].evidence
    has = seen(*(node(n, sst_options_given=_sst(("compressor", "pigz"), ("decompressor", "pigz -d"))) for n in NAMES))
    assert ids(whole(has, kept(road="road=-"))[1])[6:] == ["told"]
    assert settings(whole(has, kept(road="road=-"), compressor="zstd")[1])["compressor"] == "zstd -1 -T4"


def test_that_all_settings_are_proven_alike_those_too_that_are_so_already() -> None:
    state = seen(
        *(node(n, sst_options_given=_sst(("compressor", "zstd -1 -T4"), ("decompressor", "zstd -dc"))) for n in NAMES)
    )
    plan = whole(state)[1]
    assert settings(plan) == {"compressor": "zstd -1 -T4", "decompressor": "zstd -d", "time": "1"}
    held = plan.step("hold-n1").takes
    assert held is not None
    same = held.release_once[0]
    assert isinstance(same, SstSame)
    assert same.options == ("compressor", "decompressor", "time")


def test_that_what_was_not_measured_is_told_as_not_known() -> None:
    checks, plan = whole(seen(), kept(joiner=MEASURED + PACKED))
    assert (checks["FORECAST"].verdict, ids(plan)[6:]) == (WARN, ["told"])
    assert "disk write not known" in checks["FORECAST"].evidence


def test_that_a_share_of_the_network_is_set_only_where_pv_keeps_it() -> None:
    checks, plan = whole(seen(), goal="gentle")
    assert checks["NETWORK-SHARE"].verdict is WARN
    assert "rlimit" not in settings(plan)
    with_pv = seen(*(node(n, tools_there=(*TOOLS, "pv")) for n in NAMES))
    checks, plan = whole(with_pv, goal="gentle")
    assert (checks["NETWORK-SHARE"].verdict, settings(plan)["rlimit"]) == (PASS, str(int(115e6 * 0.7)))


def test_that_use_memory_is_computed_where_the_buffer_pool_does_not_fit_and_taken_where_it_is_given() -> None:
    small = seen(node("n3", capability_memory_free=1 * GIB, capability_memory_server=2 * GIB))
    assert settings(whole(small)[1])["use_memory"] == "2048M"  # what n3 has free but a gibibyte
    assert settings(whole(seen(), prepare_memory="3 GiB")[1])["use_memory"] == "3072M"
    assert "use_memory" not in settings(whole(seen())[1])


def test_that_more_readers_are_set_where_reading_limits_and_four_read_more() -> None:
    slow = MEASURED.replace("read=500000000", "read=265000000") + PACKED
    _, plan = whole(seen(), kept("road=1200000000:1000000", slow, slow + " write=2000000000:1000000"))
    assert settings(plan)["backup_threads"] == "4"


def test_that_ciphers_are_compared_where_the_sst_is_encrypted() -> None:
    given = (("sst", "encrypt", "4"),)
    state = seen(*(node(n, sst_options_given=given, capability_aes=n != "n2") for n in NAMES))
    slow = MEASURED + PACKED + " aes-256-gcm=20000000 chacha20-poly1305=60000000"
    checks, _ = whole(state, kept(donor=slow, joiner=slow + WRITTEN))
    assert checks["CIPHER"].verdict is WARN
    assert "n2: no AES in its processor" in checks["CIPHER"].evidence
    assert "cipher" in checks["LIMIT"].evidence
    assert whole(seen())[0]["CIPHER"].verdict is PASS


def test_that_a_dedicated_donor_is_proposed_with_its_comma() -> None:
    state = seen(node("n1", sessions_clients=9), node("n3", sessions_clients=1))
    assert 'wsrep_sst_donor = "n3,"' in whole(state)[0]["DEDICATED-DONOR"].evidence


# -- the real SST ------------------------------------------------------------------------------------------------------


def test_that_a_test_port_is_open_for_the_donor_alone_and_not_as_root() -> None:
    plan = whole(seen())[1]
    for name in ("listen-n2", "pipe-n2"):
        action = plan.step(name).action
        assert isinstance(action, Several)
        run = action.actions[1]
        assert isinstance(run, Run)
        assert "--uid=nobody" in run.command.argv
        assert any("bind=10.0.0.2,range=10.0.0.1/32" in word for word in run.command.argv)


def test_that_the_digest_is_that_of_the_stream_that_is_sent() -> None:
    found = hashlib.sha256()
    for number in takewhile(lambda n: n <= LINES, count(1)):
        found.update(b"%d\n" % number)
    assert found.hexdigest() == DIGEST
