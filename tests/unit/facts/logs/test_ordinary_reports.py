"""What hosts and servers of public reports and manuals say, of products and machines that the lab does not have."""

from __future__ import annotations

import pytest

from services.facts.logs.error_log import parse_transfers
from services.facts.machine.capability import cores_of, has_aes
from services.facts.numeric import numeric_status, numeric_variables

Z15 = (
    "vendor_id       : IBM/S390\n# processors    : 4\nbogomips per cpu: 3241.00\n"
    "features\t: esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx\n"
    "processor 0: version = FF,  identification = 3D8468,  machine = 8561\n"
    "processor 1: version = FF,  identification = 3D8468,  machine = 8561\n"
)
"""Linux on IBM Z: 'processor 0: ...' is no 'processor : 0'."""
POWER = "processor\t: 0\ncpu\t\t: POWER9 (architected), altivec supported\nprocessor\t: 1\ncpu\t\t: POWER9\n"
RISCV = "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\n"


@pytest.mark.parametrize(
    ("cpuinfo", "cores", "aes"),
    [
        (Z15, 4, True),
        (Z15.replace(" msa", ""), 4, False),
        (POWER, 2, None),
        (RISCV, 1, None),
        ("processor\t: 0\nFeatures\t: fp asimd aes pmull sha1\n", 1, True),
        ("processor\t: 0\nFeatures\t: half thumb fastmult vfp edsp neon\n", 1, False),
        ("# processors    : many\n", None, None),
    ],
)
def test_that_processors_and_their_ciphers_are_told_on_every_architecture(
    cpuinfo: str, cores: int | None, aes: bool | None
) -> None:
    assert (cores_of(cpuinfo), has_aes(cpuinfo)) == (cores, aes)


@pytest.mark.parametrize(
    ("joiner", "donor"), [("db (west)-2", "db (east)-1"), ("pxc-1", "pxc-0"), ("(a)", "(b) (c)"), ("ö (1)", "n1")]
)
def test_that_a_transfer_of_nodes_with_parentheses_in_their_names_is_seen(joiner: str, donor: str) -> None:
    at = "2025-01-06 21:15:57 0 [Note] WSREP: "
    begun = f"Member 1.0 ({joiner}) requested state transfer from '*any*'. Selected 0.0 ({donor})(SYNCED) as donor."
    sent = f"0.0 ({donor}): State transfer to 1.0 ({joiner}) complete."
    (found,) = parse_transfers([at + begun, at + sent, f"{at}Member 1.0 ({joiner}) synced with group."])
    assert (found.joiner_name, found.donor_name, found.donor_done) == (joiner, donor, True)
    assert found.ended is not None


def test_that_a_name_of_parentheses_alone_costs_no_time() -> None:
    for text in ("(" * 4000, "()" * 4000, "(a" * 4000, ")" * 4000):
        assert parse_transfers([f"2025-01-06 21:15:57 0 [Note] WSREP: Member 1.0 ({text} requested"] * 50) == ()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("wsrep_local_index", "18446744073709551615", None),  # a node without a Primary Component
        ("Innodb_row_lock_current_waits", "18446744073709551615", None),  # a gauge that was taken down once too often
        ("Innodb_data_pending_fsyncs", "18446744073709551613", None),
        ("Bytes_sent", "9223372036854775807", None),
        ("Bytes_sent", "4611686018427387904", 2.0**62),
        ("wsrep_last_committed", "-1", -1.0),
        ("Uptime", "1e400", None),
    ],
)
def test_that_a_number_below_0_without_its_sign_is_no_number_of_things(
    name: str, text: str, value: float | None
) -> None:
    assert numeric_status({name: text}).get(name.lower()) == value


@pytest.mark.parametrize("text", ["\u0663", "1\u0663", "1_0", "\uff13"])
def test_that_digits_of_other_scripts_and_pythons_own_underscores_are_no_number(text: str) -> None:
    assert numeric_status({"Threads_running": text}) == numeric_variables({"sync_binlog": text}) == {}
