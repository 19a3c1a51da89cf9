"""Backup commands taken apart and judged. None is run, and nothing of a secret in them is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.backup_chunks.checks import check_jobs, chunk_of
from services.backup_chunks.command_line import parse_job
from services.backup_chunks.model import MIB, OWN_DEFAULT
from services.errors import BadInput
from services.procedures.plan.checks import Check

GOOD = (
    "set -euo pipefail\n"
    "xtrabackup --backup --stream=xbstream --parallel=4 --compress --read-buffer-size=153M --encrypt=AES256 "
    "--encrypt-key-file=/k --encrypt-threads=2 --encrypt-chunk-size=153M 2>b.log \\\n"
    "  | xbcloud put --parallel=8 --max-retries=10 --md5 full-1 2>u.log\n"
)


def results(*texts: str, free: int | None = 100 * 10**9) -> dict[str, str]:
    jobs = [parse_job(f"job {n}", text) for n, text in enumerate(texts, 1)]
    return {check.code: check.result for check in check_jobs(jobs, free)}


def one(code: str, text: str) -> Check:
    return next(check for check in check_jobs([parse_job("job 1", text)]) if check.code == code)


def test_that_a_good_job_passes_every_check() -> None:
    assert set(results(GOOD).values()) == {"pass"}
    assert chunk_of(parse_job("j", GOOD)) == 153 * MIB


def test_that_free_memory_that_nobody_knows_is_told_as_not_known() -> None:
    assert results(GOOD, free=None)["MEMORY"] == "not known"


def test_that_buffers_above_a_quarter_of_the_free_memory_block() -> None:
    bound = 153 * MIB * (4 + 2 * 2 + 8)
    assert results(GOOD, free=4 * bound)["MEMORY"] == "pass"
    assert results(GOOD, free=4 * bound - 4)["MEMORY"] == "block"


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        ("--encrypt-chunk-size=153M ", "", "block"),
        ("--encrypt-chunk-size=153M", "--encrypt-chunk-size=64K", "block"),
        ("--read-buffer-size=153M ", "", "block"),
        ("--encrypt-chunk-size=153M", "--encrypt_chunk_size 156672K", "pass"),
        ("--encrypt-chunk-size=153M", "--encrypt-chunk-size=$C", "not known"),
        ("--encrypt-chunk-size=153M", "--encrypt-chunk-size=lots", "block"),
        ("--encrypt=AES256", "", "warn"),
    ],
)
def test_that_an_encrypting_job_needs_both_sizes_alike(before: str, after: str, result: str) -> None:
    assert results(GOOD.replace(before, after))["CHUNK-EQUAL"] == result


def test_that_unequal_sizes_mean_objects_of_10_mb() -> None:
    assert chunk_of(parse_job("j", GOOD.replace("--encrypt-chunk-size=153M", ""))) == OWN_DEFAULT
    assert chunk_of(parse_job("j", GOOD.replace("--read-buffer-size=153M", "--read-buffer-size=`cat c`"))) is None


def test_that_a_command_without_sizes_leaves_open_what_an_option_file_says() -> None:
    bare = "set -o pipefail; xtrabackup --backup --stream=xbstream --encrypt=AES256 | xbcloud put --max-retries=10 n"
    assert results(bare)["CHUNK-EQUAL"] == "not known"


@pytest.mark.parametrize(
    ("size", "result"), [("1G", "block"), ("1000000000", "block"), ("200000000", "warn"), ("500M", "pass")]
)
def test_that_a_chunk_of_a_gigabyte_or_an_odd_one_is_told(size: str, result: str) -> None:
    assert results(GOOD.replace("153M", size))["CHUNK-SIZE"] == result


def test_that_a_pipe_whose_failures_nobody_sees_is_told() -> None:
    bare = GOOD.removeprefix("set -euo pipefail\n")
    assert results(bare)["PIPEFAIL"] == "warn"
    assert results(f"{bare}echo ${{PIPESTATUS[@]}}\n")["PIPEFAIL"] == "pass"
    assert results(f"# set -o pipefail, PIPESTATUS\n{bare}")["PIPEFAIL"] == "warn"
    assert results(f"{bare}set -o pipefail\n")["PIPEFAIL"] == "warn", "afterwards it is too late"


@pytest.mark.parametrize(
    ("after", "result"),
    [("--max-retries=3", "warn"), ("", "warn"), ("--max-retries=20", "pass"), ("--max-retries=$R", "not known")],
)
def test_that_too_few_attempts_are_told(after: str, result: str) -> None:
    assert results(GOOD.replace("--max-retries=10", after))["RETRIES"] == result


@pytest.mark.parametrize(
    ("between", "result"), [("gzip -c", "block"), ("gpg -e", "block"), ("pv -q", "pass"), ("ours.sh", "not known")]
)
def test_that_what_changes_the_stream_on_its_way_blocks(between: str, result: str) -> None:
    assert results(GOOD.replace("\\\n  |", f"| {between} |"))["ORDER"] == result


def test_that_jobs_of_different_sizes_are_told() -> None:
    assert results(GOOD, GOOD)["CHUNK-ALIKE"] == "pass"
    assert results(GOOD, GOOD.replace("153M", "10M"))["CHUNK-ALIKE"] == "block"
    assert results(GOOD, GOOD.replace("153M", "$C"))["CHUNK-ALIKE"] == "not known"


def test_that_mariadbs_program_has_no_xbcloud_and_is_not_advised() -> None:
    assert results("mariabackup --backup --stream=mbstream | gzip > x") == {"NO-XBCLOUD": "block"}


def test_that_xbcloud_takes_no_other_stream() -> None:
    assert results(GOOD.replace("--stream=xbstream", "--stream=tar"))["STREAM"] == "block"
    assert results(GOOD.replace("--stream=xbstream ", ""))["STREAM"] == "warn"
    assert results(GOOD.replace("xbcloud put", "xbcloud get"))["STREAM"] == "block"
    assert results("xtrabackup --backup --stream=xbstream > x")["STREAM"] == "not known"


@pytest.mark.parametrize(
    "secret", ["--password=hunter2", "--encrypt-key=hunter2", "--s3-secret-key hunter2", "-phunter2"]
)
def test_that_a_secret_is_told_by_the_name_of_its_option_and_kept_nowhere(secret: str) -> None:
    text = GOOD.replace("--backup", f"--backup {secret}")
    job = parse_job("job 1", text)
    checks = check_jobs([job])
    told = next(check for check in checks if check.code == "SECRETS")
    assert told.result == "warn"
    assert "hunter2" not in repr(job) + repr(checks)


def test_that_a_good_job_is_found_behind_what_starts_it() -> None:
    text = GOOD.replace("xtrabackup --", "PATH=/x sudo -u mysql ionice -c 3 /usr/bin/xtrabackup --")
    assert set(results(text).values()) == {"pass"}
    assert set(results(f"if true; then ( {GOOD} ) ; fi").values()) == {"pass"}


@pytest.mark.parametrize("text", ["", "ls -l", "xtrabackup 'open", "# xtrabackup | xbcloud", "x" * 70_000])
def test_that_what_is_no_backup_command_is_refused_without_its_words(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_job("job 1", text)
    assert "ls -l" not in str(refused.value)
    assert "open" not in str(refused.value)


PIECES = st.sampled_from(
    ["xtrabackup", "xbcloud", "put", "|", "|&", "||", ";", "\n", "\\\n", "(", ")", "2>", ">&", "&", "'", '"', "$C",
     "--encrypt", "--encrypt=AES256", "--read-buffer-size", "--read-buffer-size=-5", "--encrypt-chunk-size=9999999999T",
     "--parallel=$(nproc)", "--parallel=0", "--max-retries=1e9", "--max-backoff=-1", "--stream", "sudo", "A=b",
     "`x`", "--", "-p", "--max-retries=999999999999", "set -o pipefail", "#", "\u202e", "\0", "mariabackup"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25), st.sampled_from([None, 0, 10**9]))
def test_that_no_text_breaks_the_parser_or_a_check(pieces: list[str], free: int | None) -> None:
    try:
        job = parse_job("job 1", " ".join(pieces))
    except BadInput:
        return
    assert {check.result for check in check_jobs([job, job], free)} <= {"pass", "warn", "block", "not known"}


def test_that_a_version_that_is_asked_before_is_not_taken_for_the_backup() -> None:
    for before in ("if ! command -v xtrabackup; then exit 1; fi\n", "sudo mkdir -p /var/log/xtrabackup\n"):
        bad = GOOD.replace("--read-buffer-size=153M", "--read-buffer-size=2G")
        assert results(before + GOOD)["CHUNK-SIZE"] == "pass"
        assert results(before + bad)["CHUNK-SIZE"] == "block"


def test_that_the_memory_of_a_job_whose_uploads_stand_elsewhere_is_not_known() -> None:
    apart = "{ xtrabackup --backup --stream=xbstream; } | xbcloud put --parallel=64 full-1"
    assert results(apart)["MEMORY"] == "not known"


def test_that_a_comment_gives_no_option_and_no_quote() -> None:
    assert results(GOOD.replace("--max-retries=10", "")[:-1] + " # --max-retries=10\n")["RETRIES"] != "pass"
    assert set(results(GOOD + "# don't\nls # it's over\n").values()) == {"pass"}
    assert set(results(GOOD.replace("full-1", "'full #1'")).values()) == {"pass"}


def test_that_pipefail_is_what_was_set_last_with_whatever_letters() -> None:
    plain = GOOD.partition("\n")[2]
    assert results(f"set -Eeuo pipefail\n{plain}")["PIPEFAIL"] == "pass"
    assert results(f"set -o pipefail\nset +o pipefail\n{plain}")["PIPEFAIL"] == "warn"


def test_that_a_compressor_behind_nice_is_seen() -> None:
    job = parse_job("j", "xtrabackup --backup --stream=xbstream | nice -n 19 pigz | xbcloud put full-1")
    assert job.between == ("pigz",)
