"""What is asked about a backup: one table for the command line's options and the window's form.

An answer is text, as it was typed; the same text means the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.backup_chunks.checks import chunk_of
from services.backup_chunks.command_line import Job
from services.backup_chunks.model import OWN_DEFAULT, Backup, Network, Prices
from services.errors import BadInput
from services.facts.reading import amount, count
from services.facts.server.tablespaces import BackupSource, FileClass, whole_size
from services.i18n import mark, tr
from services.procedures.plan.forms.inputs import bytes_of

_MOST_BYTES = 10**18
_MOST_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class Question:
    """One answer that is asked for.

    Attributes:
        name: the option without '--'; title: the same as words; kind: 'bytes', 'count', 'share' (0 to 1) or 'number'.
        usual: what counts where nothing is typed; '' = not known. least: of a count.
    """

    name: str
    title: str
    kind: str
    usual: str = ""
    least: int = 1


QUESTIONS = (
    Question("size", mark("Size of the data"), "bytes"),
    Question("ratio", mark("Share left after compression"), "share", "1"),
    Question("chunk", mark("Current chunk size"), "bytes", "10 MB"),
    Question("parallel", mark("xtrabackup --parallel (P)"), "count", "1"),
    Question("encrypt-threads", mark("xtrabackup --encrypt-threads (E), 0: not encrypted"), "count", "0", 0),
    Question("uploads", mark("xbcloud --parallel (K)"), "count", "1"),
    Question("free-memory", mark("Free memory of the backup host"), "bytes"),
    Question("rate", mark("Upload bandwidth per second (B)"), "bytes"),
    Question("error", mark("Share of uploads that fail (p)"), "share", "0.001"),
    Question("again", mark("Share that fails again after a failure (pc)"), "share", "0.1"),
    Question("attempts", mark("Attempts per object (r)"), "count", "10"),
    Question("object-ms", mark("Fixed time per object in ms (t0)"), "number", "80"),
    Question("price-store", mark("Price of 10 000 store operations (pA)"), "number", "0.05"),
    Question("price-verify", mark("Price of 10 000 read operations (pB)"), "number", "0.004"),
    Question("price-move", mark("Price of 10 000 move operations (pA2)"), "number", "0.10"),
    Question("price-gb-month", mark("Price per GB and month (pS)"), "number", "0.01"),
)
_BY_NAME = {question.name: question for question in QUESTIONS}


def fault_of(question: Question, typed: str) -> str:
    """Return what is wrong with an answer, '' for nothing; an empty one is the usual one."""
    return "" if not typed.strip() or _value(question, typed) is not None else _fault_words(question)


def _fault_words(question: Question) -> str:
    title = tr(question.title)
    if question.kind == "bytes":
        return tr("{title}: enter a size with its unit, for example 8 TB or 200 MB.", title=title)
    if question.kind == "share":
        return tr("{title}: enter a share between 0 and 1.", title=title)
    return tr("{title}: enter a number, 0 or greater.", title=title)


def _value(question: Question, typed: str) -> float | None:
    """Return the number of an answer; None where it makes no sense."""
    if question.kind == "bytes":
        size = None if count(typed.strip()) is not None else bytes_of(typed)  # '8' of what: TB, or bytes?
        return size if size is not None and 0 < size <= _MOST_BYTES else None
    if question.kind == "count":
        number = count(typed.strip())
        return number if number is not None and question.least <= number <= _MOST_COUNT else None
    real = amount(typed.strip())
    return None if real is None or (question.kind == "share" and not 0 < real <= 1) else real


def faults_of(answers: Mapping[str, str]) -> dict[str, str]:
    """Return the name of each question whose answer makes no sense, with what is wrong."""
    found = {question.name: fault_of(question, answers.get(question.name, "")) for question in QUESTIONS}
    return {name: fault for name, fault in found.items() if fault}


def given_by(jobs: Sequence[Job], source: BackupSource | None) -> dict[str, str]:
    """Return the answers that the first job and the host have: they count where a person typed nothing."""
    found: dict[str, str] = {}
    if source is not None and source.files:
        found["size"] = f"{whole_size(source.files)} B"
    if source is not None and source.free_memory is not None:
        found["free-memory"] = f"{source.free_memory} B"
    for job in jobs[:1]:
        found["chunk"] = f"{chunk_of(job) or OWN_DEFAULT} B"
        threads = job.backup.number("encrypt-threads") or 1
        said = {
            "parallel": job.backup.number("parallel"),
            "uploads": job.cloud.number("parallel"),
            "encrypt-threads": threads if job.backup.has("encrypt") else None,
        }
        found |= {name: str(number) for name, number in said.items() if number}
    return found


def parsed_answers(answers: Mapping[str, str], files: tuple[FileClass, ...] = ()) -> tuple[Backup, int]:
    """Return the backup and today's chunk in bytes. Raises BadInput where an answer makes no sense, or none is a size.

    Args:
        answers: by the questions' names; what is not there, or empty, is the usual one.
        files: sizes of the data files, where they were read.
    """
    typed = {name: answers.get(name, "").strip() or _BY_NAME[name].usual for name in _BY_NAME}
    faults = list(faults_of(typed).values())
    if not typed["size"]:
        faults.append(tr("The size of the data is required."))
    if faults:
        raise BadInput(" ".join(faults), try_=(tr("For example: --size 8TB --ratio 0.4 --parallel 8 --uploads 16."),))

    def number(name: str) -> float:
        return _value(_BY_NAME[name], typed[name]) or 0.0

    network = Network(
        error=number("error"), again=number("again"), attempts=int(number("attempts")),
        object_s=number("object-ms") / 1000, rate=number("rate") or None,
    )  # fmt: skip
    prices = Prices(number("price-store"), number("price-verify"), number("price-move"), number("price-gb-month"))
    backup = Backup(
        size=int(number("size")), ratio=number("ratio"), parallel=int(number("parallel")),
        encrypt_threads=int(number("encrypt-threads")), uploads=int(number("uploads")),
        free_memory=int(number("free-memory")) or None, files=files, network=network, prices=prices,
    )  # fmt: skip
    return backup, int(number("chunk"))
