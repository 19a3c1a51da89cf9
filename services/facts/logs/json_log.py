"""Lines of an error log that a server writes as JSON, as the same server writes them as text.

MySQL manual, "The JSON Error Log Sink" (log_sink_json): one object a line, with `time`, `label`, `err_code`,
`subsystem`, `thread` and `msg`. Breaks within a message are escaped there: in one line they begin no other.

A collector of a container's log (fluent-bit in Percona's operator for PXC) puts each line of the text log into `log`.
"""

from __future__ import annotations

import json
import re

from services.facts.reading import count

_PREFIX = re.compile(r"(?:\d{9,11}\.\d{1,9} \S{1,255} [^{]{1,300}?: )?(?=\{)")
"""What journalctl writes before a message (client_text.JOURNAL)."""
_LABELS = {"error": "ERROR", "warning": "Warning", "note": "Note", "system": "System"}


def plain_line(line: str) -> str:
    """Return a line of a JSON log in the form of the text log, any other line as it is."""
    prefix = _PREFIX.match(line) if "{" in line else None
    if prefix is None:
        return line
    try:
        document = json.loads(line[prefix.end() :])
    except (ValueError, RecursionError):
        return line
    if isinstance(document, dict) and isinstance(document.get("log"), str) and "msg" not in document:
        return prefix.group() + " ".join(document["log"].split())
    if not isinstance(document, dict) or not isinstance(document.get("msg"), str):
        return line
    code, label = count(document.get("err_code")), _word(document.get("label"))
    parts = (
        _word(document.get("time")),
        str(count(document.get("thread")) or 0),
        f"[{_LABELS.get(label.lower(), label)}]" if label else "",
        "" if code is None else f"[MY-{code:06d}]",
        f"[{subsystem}]" if (subsystem := _word(document.get("subsystem"))) else "",
        " ".join(document["msg"].split()),
    )
    return prefix.group() + " ".join(part for part in parts if part)


def log_file(log_error: str, services: str) -> str:
    """Return the file that a server's log is in, by its log_error and its log_error_services; as log_error is else.

    A server whose only sink is JSON's writes beside that name (MySQL manual, "The JSON Error Log Sink": NN counts the
    sinks of that kind).
    """
    only_json = "log_sink_json" in services and "log_sink_internal" not in services
    return f"{log_error}.00.json" if only_json and log_error.strip() not in {"", "stderr"} else log_error


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[\w.:+-]{1,40}", value) else ""
