"""What a measurement printed: numbers of a possible size, or 'not known'."""

from __future__ import annotations

import pytest

from services.facts.machine.capability import cores_of, has_aes, load_of, resident
from services.facts.transfer.sst_measured import Amount, parse_host, parse_road

LINE = (
    "data=394076160 read=62914560:147001 read4=50331648:118981 sample=58892288 zstd=- "
    "pigz=58892288:20358773:444000:187000 aes-256-gcm=3000000000 write=58892288:392674"
)  # MariaDB 10.11.18 on the lab; the cipher is added


def test_that_a_host_line_of_the_lab_is_read() -> None:
    found = parse_host(LINE)
    assert found is not None
    assert (found.data_bytes, found.sample) == (394_076_160, 58_892_288)
    assert found.read == Amount(62_914_560, 0.147001)
    assert found.write is not None
    assert found.write.rate == pytest.approx(150e6, rel=0.01)
    pigz = found.packer("pigz")
    assert pigz is not None
    assert (round(pigz.ratio, 2), round(pigz.pack_rate / 1e6), round(pigz.unpack_rate / 1e6)) == (0.35, 133, 315)
    assert (found.packer("zstd"), found.cipher("aes-256-gcm"), found.cipher("aes-128-gcm")) == (None, 3e9, None)


@pytest.mark.parametrize(
    "line",
    [
        "", "nothing", "data=", "data=0", "data=-5", "data=12e9", "data=" + "9" * 99, "data=1;rm", "road=1:2",
    ],
)  # fmt: skip
def test_that_a_line_without_a_size_of_the_data_is_none(line: str) -> None:
    assert parse_host(line) is None


@pytest.mark.parametrize(
    "part",
    [
        "read=0:5", "read=5:0", "read=999999999999999:1", "read=5", "read=-", "read=a:b",
        "pigz=5:5:0:5", "pigz=100:1000:5:5", "pigz=999999999999:1:5:5", "pigz=5:5:5", "unknown=5:5:5:5",
        "aes-256-gcm=0",
    ],
)  # fmt: skip
def test_that_what_can_not_be_measured_is_not_known(part: str) -> None:
    found = parse_host(f"data=5 {part}")
    assert found is not None
    assert (found.read, found.packers, found.ciphers) == (None, (), ())


def test_that_the_road_is_bytes_in_microseconds() -> None:
    assert parse_road("road=536870912:4294967") == Amount(536_870_912, 4.294967)
    assert parse_road("road=-") is None
    assert parse_road("") is None


def test_that_a_processor_says_whether_it_has_aes_and_one_that_says_nothing_is_not_known() -> None:
    assert has_aes("processor\t: 0\nflags\t\t: fpu vme aes avx\n") is True
    assert has_aes("flags : fpu vaes\n") is False
    assert has_aes("Features\t: fp asimd aes\n") is True
    assert has_aes("model name : x\n") is None
    assert (cores_of("processor : 0\n\nprocessor : 1\n"), cores_of("")) == (2, None)


def test_that_load_and_memory_of_a_process_are_read() -> None:
    assert load_of("19.93 17.59 10.23 5/933 5481\n") == 17.59
    assert (load_of(""), load_of("a b c")) == (None, None)
    assert resident("Name:\tmariadbd\nVmRSS:\t  440000 kB\n") == 440_000 * 1024
    assert resident("Name:\tx\n") is None
