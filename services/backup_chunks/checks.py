"""What is wrong with backup jobs, by their commands alone; nothing is run.

An option that does not stand in the command may stand in an option file ([xtrabackup], [xbcloud]): where that would
make a difference, the check says so and knows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from services.backup_chunks.advice import SHARE_OF_MEMORY, TOO_LARGE
from services.backup_chunks.arithmetic import memory_bound, trying_s
from services.backup_chunks.command_line import Job
from services.backup_chunks.model import MIB, OWN_DEFAULT
from services.backup_chunks.telling import size_words
from services.i18n import tr
from services.moments import duration
from services.procedures.plan.checks import Check, Verdict

RETRIES = 10
_BUFFER, _ENCRYPTED_CHUNK = "read-buffer-size", "encrypt-chunk-size"
_LEAVES_BYTES = frozenset({"pv", "mbuffer", "buffer", "throttle", "trickle", "tee", "cat", "dd"})
_CHANGES_BYTES = frozenset({
    "gzip", "pigz", "zstd", "pzstd", "lz4", "xz", "bzip2", "pbzip2", "qpress", "openssl", "gpg", "gpg2", "age",
    "xbcrypt",
})  # fmt: skip


def check_jobs(jobs: Sequence[Job], free_memory: int | None = None) -> tuple[Check, ...]:
    """Return the checks of every job, and at the end of all together; free_memory: bytes on the backup host."""
    found: list[Check] = []
    for job in jobs:
        if job.mariadb:
            found.append(_mariadb(job))
            continue
        found += [*_whole(job), _sizes(job), _too_large(job), _memory(job, free_memory), *(c(job) for c in _EACH)]
    ours = [job for job in jobs if not job.mariadb]
    return (*found, *([_alike(ours)] if len(ours) > 1 else []))


def chunk_of(job: Job) -> int | None:
    """Return the bytes of an object of this job, None where the command alone does not tell.

    With --encrypt both options must say the same: else the stream is cut at 10 MB (Percona, "The xbcloud binary
    overview" names both).
    """
    call = job.backup
    if call.unknown(_BUFFER) or call.unknown(_ENCRYPTED_CHUNK) or not call.program:
        return None
    read = call.number(_BUFFER) if call.has(_BUFFER) else OWN_DEFAULT
    if not call.has("encrypt"):
        return read
    return read if read is not None and read == call.number(_ENCRYPTED_CHUNK) else OWN_DEFAULT


def _check(
    job: Job,
    code: str,
    title: str,
    verdict: Verdict,
    sentence: str,
    *,
    why: str = "",
    try_: tuple[str, ...] = (),
    not_known: bool = False,
) -> Check:
    """Return a check of one job; `sentence` is its evidence without the job's name."""
    return Check(code, title, verdict, f"{job.name}: {sentence}", why, try_, not_known=not_known)


def _mariadb(job: Job) -> Check:
    return _check(
        job, "NO-XBCLOUD", tr("The job can use xbcloud"), Verdict.BLOCK,
        tr("it calls MariaDB's backup program"),
        why=tr("MariaDB has no xbcloud: mbstream writes to other tools, which split the stream by their own rules."),
    )  # fmt: skip


def _whole(job: Job) -> Iterator[Check]:
    title = tr("xtrabackup streams into xbcloud")
    if not job.backup.program or not job.cloud.program:
        missing = "xbcloud" if job.backup.program else "xtrabackup"
        words = tr("{program} is not in the pipeline: its options are not known", program=missing)
        yield _check(job, "STREAM", title, Verdict.WARN, words, not_known=True)
    elif job.backup.options.get("stream") not in {"xbstream", None} or job.cloud.verb not in {"put", ""}:
        words = tr("the stream is not xbstream, or xbcloud does not put")
        yield _check(job, "STREAM", title, Verdict.BLOCK, words, why=tr("xbcloud takes an xbstream archive only."))
    elif not job.backup.has("stream"):
        words = tr("--stream is not in the command")
        yield _check(job, "STREAM", title, Verdict.WARN, words, why=tr("xbcloud takes an xbstream archive only."))
    else:
        yield _check(job, "STREAM", title, Verdict.PASS, "--stream=xbstream | xbcloud put")


def _sizes(job: Job) -> Check:
    call, title = job.backup, tr("The chunk size is the same for reading and encrypting")
    read, cut = call.options.get(_BUFFER, ""), call.options.get(_ENCRYPTED_CHUNK, "")
    words = f"--read-buffer-size={read or '-'} --encrypt-chunk-size={cut or '-'}"
    same = tr("Set both to the same value: --read-buffer-size=C --encrypt-chunk-size=C.")
    if not call.program or call.unknown(_BUFFER) or call.unknown(_ENCRYPTED_CHUNK):
        return _check(job, "CHUNK-EQUAL", title, Verdict.WARN, tr("a shell variable sets it"), not_known=True)
    if any(call.has(name) and not call.number(name) for name in (_BUFFER, _ENCRYPTED_CHUNK)):
        return _check(job, "CHUNK-EQUAL", title, Verdict.BLOCK, tr("{told}: not a size", told=words))
    if not call.has("encrypt"):
        if call.has(_ENCRYPTED_CHUNK):
            why = tr("Without --encrypt it has no effect: only --read-buffer-size sets the object size.")
            return _check(job, "CHUNK-EQUAL", title, Verdict.WARN, words, why=why)
        return _check(job, "CHUNK-EQUAL", title, Verdict.PASS, tr("{told}, not encrypted", told=words))
    if not call.has(_BUFFER) and not call.has(_ENCRYPTED_CHUNK):
        words = tr("neither is set here: objects of 10 MB, unless an option file sets another size")
        return _check(job, "CHUNK-EQUAL", title, Verdict.WARN, words, not_known=True)
    if call.number(_BUFFER) == call.number(_ENCRYPTED_CHUNK):
        return _check(job, "CHUNK-EQUAL", title, Verdict.PASS, words)
    why = tr("With --encrypt both must be equal; otherwise the stream falls back to objects of 10 MB.")
    return _check(job, "CHUNK-EQUAL", title, Verdict.BLOCK, words, why=why, try_=(same,))


def _too_large(job: Job) -> Check:
    largest, title = _largest(job), tr("The chunk size is not too large and is a valid multiple")
    if largest is None:
        return _check(job, "CHUNK-SIZE", title, Verdict.WARN, tr("its size is not known"), not_known=True)
    if largest >= TOO_LARGE:
        why = tr(
            "Each thread holds whole chunks: the kernel killed a job with chunks of 1 GB because of its memory use."
        )
        return _check(job, "CHUNK-SIZE", title, Verdict.BLOCK, size_words(largest), why=why)
    if largest % MIB:
        why = tr("xtrabackup rounds it to its page size, so the real size differs. Use a multiple of 1 MiB.")
        return _check(job, "CHUNK-SIZE", title, Verdict.WARN, size_words(largest), why=why)
    return _check(job, "CHUNK-SIZE", title, Verdict.PASS, f"{largest // MIB} MiB")


def _largest(job: Job) -> int | None:
    """Return the bytes of the largest buffer: one that was asked for is kept, whatever size the objects get."""
    chunk = chunk_of(job)
    return None if chunk is None else max(chunk, *(job.backup.number(n) or 0 for n in (_BUFFER, _ENCRYPTED_CHUNK)))


def _memory(job: Job, free: int | None) -> Check:
    title, chunk = tr("The buffers fit into a quarter of the free memory"), _largest(job)
    threads = [_threads(job.backup.number("parallel")), _threads(job.cloud.number("parallel"))]
    encrypting = _threads(job.backup.number("encrypt-threads")) if job.backup.has("encrypt") else 0
    puts_in = any(call.unknown("parallel") for call in (job.backup, job.cloud)) or job.backup.unknown("encrypt-threads")
    apart = bool(job.backup.program) and not job.cloud.program
    if free is None or chunk is None or puts_in or apart:
        told = tr("a shell variable sets it") if free is not None else tr("free memory is not known")
        told = tr("its pipe contains no xbcloud") if apart else told
        return _check(job, "MEMORY", title, Verdict.WARN, told, not_known=True)
    bound = memory_bound(chunk, threads[0], encrypting, threads[1])
    told = tr("at most {bound}, {free} free", bound=size_words(bound), free=size_words(free))
    if bound <= free * SHARE_OF_MEMORY:
        return _check(job, "MEMORY", title, Verdict.PASS, told)
    why = tr("If they do not fit, memory is taken from the server, or the kernel kills one of the two.")
    return _check(
        job, "MEMORY", title, Verdict.BLOCK, told, why=why, try_=(tr("Use smaller chunks or fewer threads."),)
    )


def _threads(given: int | None) -> int:
    return given or 1


def _pipefail(job: Job) -> Check:
    title = tr("A failure of any program in the pipe is detected")
    if job.pipefail or job.pipestatus:
        words = "set -o pipefail" if job.pipefail else "PIPESTATUS"
        return _check(job, "PIPEFAIL", title, Verdict.PASS, words)
    why = tr("The exit code of the pipe is only xbcloud's: an interrupted backup would count as good.")
    advice = tr("Put `set -o pipefail` before it, or check every element of PIPESTATUS.")
    return _check(job, "PIPEFAIL", title, Verdict.WARN, tr("neither pipefail nor PIPESTATUS"), why=why, try_=(advice,))


def _retries(job: Job) -> Check:
    call, title = job.cloud, tr("xbcloud retries often enough")
    if not call.program or call.unknown("max-retries"):
        return _check(job, "RETRIES", title, Verdict.WARN, tr("it is not known how often"), not_known=True)
    given = call.number("max-retries")
    if given is None:
        why = tr("10 is the default since XtraBackup 8.0.26; older versions do not have the option.")
        words = tr("--max-retries is not in the command")
        return _check(job, "RETRIES", title, Verdict.WARN, words, why=why, try_=("--max-retries=10",))
    backoff = call.number("max-backoff")
    tries = trying_s(given, 300.0 if backoff is None else backoff / 1000)
    words = tr("--max-retries={given}: about {time} of retries", given=given, time=duration(tries))
    if given >= RETRIES:
        return _check(job, "RETRIES", title, Verdict.PASS, words)
    why = tr("Bucket errors last: a few quick attempts fall into the same outage.")
    return _check(job, "RETRIES", title, Verdict.WARN, words, why=why, try_=("--max-retries=10",))


def _order(job: Job) -> Check:
    title = tr("Compressed first, then encrypted, and the stream not modified")
    changing = [name for name in job.between if name in _CHANGES_BYTES]
    strange = [name for name in job.between if name not in _CHANGES_BYTES | _LEAVES_BYTES]
    if changing:
        why = tr("xbcloud needs the unmodified xbstream, and encrypted data cannot be compressed.")
        advice = tr("Let xtrabackup do both: it compresses before it encrypts (--compress --encrypt=AES256).")
        words = tr("{programs} between xtrabackup and xbcloud", programs=", ".join(changing))
        return _check(job, "ORDER", title, Verdict.BLOCK, words, why=why, try_=(advice,))
    if strange:
        words = tr("{programs} between xtrabackup and xbcloud", programs=", ".join(strange))
        return _check(job, "ORDER", title, Verdict.WARN, words, not_known=True)
    done = [word for word in ("--compress", "--encrypt") if job.backup.has(word[2:])]
    return _check(job, "ORDER", title, Verdict.PASS, " ".join(done) or tr("neither compressed nor encrypted"))


def _secrets(job: Job) -> Check:
    title = tr("No secret is on the command line")
    found = tuple(dict.fromkeys(name for call in job.pipeline for name in call.secrets))
    if not found:
        return _check(job, "SECRETS", title, Verdict.PASS, tr("none was found"))
    why = tr("Every user on the host can read it in the process list.")
    advice = tr("Put it into an option file of mode 0600, or give --encrypt-key-file.")
    return _check(job, "SECRETS", title, Verdict.WARN, ", ".join(found), why=why, try_=(advice,))


_EACH: tuple[Callable[[Job], Check], ...] = (_pipefail, _retries, _order, _secrets)


def _alike(jobs: Sequence[Job]) -> Check:
    """Every job writes chunks of one size: a restore has to hold the largest, and odds and costs are of one size."""
    title = tr("Every job has the same chunk size")
    sizes = {job.name: chunk_of(job) for job in jobs}
    words = ", ".join(f"{name} {'?' if chunk is None else size_words(chunk)}" for name, chunk in sizes.items())
    if None in sizes.values():
        return Check("CHUNK-ALIKE", title, Verdict.WARN, words, not_known=True)
    if len(set(sizes.values())) == 1:
        return Check("CHUNK-ALIKE", title, Verdict.PASS, words)
    return Check("CHUNK-ALIKE", title, Verdict.BLOCK, words, tr("A forgotten job keeps the old problem."))
