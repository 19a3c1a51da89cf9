"""`chunks`: how large the objects of a backup streamed with xbcloud should be, and what is wrong with its command.

Nothing is run and nothing is changed: a command is taken apart as text, a host is only read.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.procedure_text import check_lines
from app.compose import session_opener
from app.written_estate import read_inventory
from services.backup_chunks.advice import Advice, advise
from services.backup_chunks.asked import QUESTIONS, given_by, parsed_answers
from services.backup_chunks.checks import check_jobs
from services.backup_chunks.command_line import MOST, Job, parse_job
from services.backup_chunks.model import Backup, Outcome
from services.backup_chunks.telling import chunk_words, count_words, lines_of, options_of, size_words
from services.errors import BadInput, UserError
from services.facts.server.tablespaces import BackupSource, read_source
from services.i18n import english, tr
from services.inventory.model import with_instances
from services.procedures.plan.checks import Check, Verdict


class NoXbcloudError(UserError):
    """The host's server is not one that xbcloud backs up."""

    code = "no-xbcloud"


def run(options: Namespace) -> int:
    """Reckon, advise and judge; exit 1 where a check did not pass."""
    jobs = tuple(_jobs(options))
    source = _source(options)
    checks = check_jobs(jobs, _memory(options, source)) if jobs else ()
    given = given_by(jobs, source)
    answers = given | {q.name: typed for q in QUESTIONS if (typed := getattr(options, q.name.replace("-", "_")))}
    sized = bool(answers.get("size"))
    if not sized and not jobs:
        if source is not None:
            raise _no_size(options.host, source)
        parsed_answers(answers)  # says what is needed
    backup, chunk = parsed_answers(
        answers | ({} if sized else {"size": "1 B"}), source.files if source is not None else ()
    )
    advice = advise(backup, chunk) if sized else None
    if getattr(options, "json", False):
        _print_json(backup, advice, checks, source)
    else:
        sys.stdout.write("\n".join(_text(backup, advice, checks, source)) + "\n")
    return FINDINGS if any(check.verdict is not Verdict.PASS and not check.unknown for check in checks) else GOOD


def _jobs(options: Namespace) -> Iterator[Job]:
    for number, text in enumerate(options.job_command, 1):
        yield parse_job(tr("command {number}", number=number), text)
    for path in options.job:
        yield parse_job(path.name, _read(path))


def _read(path: Path) -> str:
    """Return a job's script; raise BadInput where it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(4 * MOST + 1).decode("utf-8", "replace")
    except OSError as problem:
        raise BadInput(tr("{path} cannot be read: {why}", path=path, why=problem.strerror or problem)) from None


def _source(options: Namespace) -> BackupSource | None:
    """Return what the named host told. Raises BadInput for a name that is not in the inventory."""
    if not options.host:
        return None
    inventory = read_inventory(options)
    entry = next((one for one in with_instances(inventory.hosts) if one.name == options.host), None)
    if entry is None:
        raise BadInput(
            tr("The inventory has no host named {names}.", names=options.host),
            try_=(tr("Its hosts are: {names}.", names=", ".join(h.name for h in inventory.hosts)),),
        )
    session = session_opener()(entry)
    try:
        source = read_source(session)
    finally:
        session.close()
    if not source.has_xbcloud:
        raise NoXbcloudError(
            tr("The server is MariaDB {version}, which has no xbcloud.", version=source.version),
            host=options.host,
            try_=(
                tr(
                    "Read the documentation of the tool that mbstream writes to: each tool splits the stream by its "
                    "own rules."
                ),
            ),
        )
    return source


def _no_size(host: str, source: BackupSource) -> BadInput:
    """Return what is said where the host was to tell the size, and did not."""
    sentence = tr("{host} did not report the size of its data.", host=host)
    why = " ".join(str(problem) for problem in source.problems)
    return BadInput(f"{sentence} {why}".strip(), try_=(tr("Or give it: --size 8TB."),))


def _memory(options: Namespace, source: BackupSource | None) -> int | None:
    """Return the free memory that was typed, else the host's, in bytes."""
    if options.free_memory:
        return parsed_answers({"size": "1 B", "free-memory": options.free_memory})[0].free_memory
    return source.free_memory if source is not None else None


# -- words -------------------------------------------------------------------------------------------------------------


def _text(
    backup: Backup, advice: Advice | None, checks: tuple[Check, ...], source: BackupSource | None
) -> Iterator[str]:
    if source is not None:
        yield from _source_lines(source)
    if advice is not None:
        yield from _outcome_lines(
            tr("current: chunks of {size}", size=size_words(advice.now.chunk)), backup, advice.now
        )
        if advice.changes:
            title = tr("recommended: chunks of {size}", size=chunk_words(advice.then.chunk))
            yield from _outcome_lines(title, backup, advice.then)
        yield advice.sentence
        if advice.changes:
            yield f"  {options_of(backup, advice.chunk)}"
        yield from (f"  {reason}" for reason in advice.reasons)
        yield ""
    if checks:
        yield tr("The commands were checked, not run:")
        yield from check_lines(checks)


def _source_lines(source: BackupSource) -> Iterator[str]:
    memory = tr("not known") if source.free_memory is None else size_words(source.free_memory)
    tries = {True: tr("retries automatically"), False: tr("does not retry"), None: tr("not known")}[source.retries]
    yield f"{source.flavour.value} {source.version}".strip() if source.version else tr("server: not known")
    yield f"  {tr('free memory')}: {memory}"
    yield f"  xtrabackup: {source.xtrabackup or tr('not known')}; xbcloud: {tries}"
    for one in source.files:
        words = tr("largest {largest}, total {size}", largest=size_words(one.largest), size=size_words(one.size))
        yield f"  {tr('data files')}: {count_words(one.files)}, {words}"
    yield from (f"  ! {problem}" for problem in source.problems)
    yield ""


def _outcome_lines(title: str, backup: Backup, outcome: Outcome) -> Iterator[str]:
    yield title
    for line in lines_of(backup, outcome):
        yield f"  {line.name}: {line.value}"
        yield f"      {line.formula}"
    yield ""


def _print_json(backup: Backup, advice: Advice | None, checks: tuple[Check, ...], source: BackupSource | None) -> None:
    document: dict[str, object] = {"checks": [_check(check) for check in checks]}
    if source is not None:
        document["host"] = {
            "flavour": source.flavour.value, "version": source.version, "xtrabackup": source.xtrabackup,
            "free_memory": source.free_memory, "files": source.files,
            "problems": [english(problem) for problem in source.problems],
        }  # fmt: skip
    if advice is not None:
        document |= {
            "advice": advice.code, "chunk": advice.chunk, "range": [advice.low, advice.high],
            "options": options_of(backup, advice.chunk) if advice.changes else "",
            "sentence": english(advice.sentence), "reasons": [english(reason) for reason in advice.reasons],
            "now": _outcome(backup, advice.now), "then": _outcome(backup, advice.then),
        }  # fmt: skip
    print_json(document)


def _outcome(backup: Backup, out: Outcome) -> dict[str, object]:
    return {
        "chunk": out.chunk, "objects": out.objects, "operations_cost": out.operations_cost,
        "store_cost": out.store_cost, "verify_cost": out.verify_cost, "move_cost": out.move_cost,
        "storage_cost": out.storage_cost, "operations_share": out.operations_share, "fails": out.fails,
        "fails_in_outage": out.fails_in_outage, "objects_s": out.objects_s, "sending_s": out.sending_s,
        "seconds": out.seconds, "memory": out.memory,
        "formulas": {line.code: english(line.formula) for line in lines_of(backup, out)},
    }  # fmt: skip


def _check(check: Check) -> dict[str, object]:
    return {
        "code": check.code, "result": check.result, "evidence": english(check.evidence), "why": english(check.why),
        "try": [english(advice) for advice in check.try_],
    }  # fmt: skip
