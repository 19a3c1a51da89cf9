"""The SHOW statements that an Observer may send, as patterns. Sources: MySQL manual and MariaDB KB, "SHOW"."""

from __future__ import annotations

from services.connections.observer.select import Grammar
from services.connections.observer.tokens import Token
from services.errors import Refused
from services.i18n import tr
from services.lines import lines_of

# A word stands for itself, 'S' for a string, 'N' for a name (a schema), '[...]' for words that may be missing,
# '|' between words for a choice. A tail "..." allows LIKE 'pattern' or WHERE expression.
_FORMS = """
[global|session|local] status ...
[global|session|local] variables ...
[full] processlist
engine innodb status|mutex
engine performance_schema status
slave|replica status
slave|replica S status
slave|replica status for channel S
all slaves|replicas status
master|binlog status
binary log status
slave|replica hosts
replicas
binary|master logs
grants
grants for current_user
grants for current_user ( )
databases|schemas ...
table status ...
table status from N ...
columns from N . N
plugins
[storage] engines
warnings
errors
wsrep_status
wsrep_membership
"""


def _parsed(line: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return one form as (kind, words): 'need', 'maybe', 'string', 'name', 'tail'."""
    steps: list[tuple[str, frozenset[str]]] = []
    for part in line.split():
        if part == "...":
            steps.append(("tail", frozenset()))
        elif part in {"S", "N"}:
            steps.append(("string" if part == "S" else "name", frozenset()))
        elif part.startswith("["):
            steps.append(("maybe", frozenset(part.strip("[]").split("|"))))
        else:
            steps.append(("need", frozenset(part.split("|"))))
    return tuple(steps)


FORMS = tuple(_parsed(line) for line in lines_of(_FORMS.strip()))


def check_show(tokens: tuple[Token, ...]) -> None:
    """Raise Refused unless the tokens after SHOW are one of the forms."""
    words = tokens[1:]
    if any(_fits(form, words) for form in FORMS):
        return
    said = " ".join(t.text for t in words[:3] if t.kind == "word").upper()
    raise Refused(
        tr(
            "The Observer refuses SHOW {said}: it is not on the list of permitted SHOW statements, or has "
            "text after its end.",
            said=said,
        ),
        safe=tr("Nothing was sent to the server."),
        try_=(tr("The permitted statements are listed in resources/docs/observer.md."),),
    )


def _fits(form: tuple[tuple[str, frozenset[str]], ...], tokens: tuple[Token, ...]) -> bool:
    at = 0
    for kind, words in form:
        token = tokens[at]
        if kind == "tail":
            return _tail_fits(tokens[at:])
        if kind == "string":
            fits = token.kind == "string"
        elif kind == "name":
            fits = token.kind in {"word", "name"}
        else:
            fits = token.kind in {"word", "op"} and token.text in words
        if not fits and kind != "maybe":
            return False
        at += fits
    return tokens[at].kind == "end"


def _tail_fits(tokens: tuple[Token, ...]) -> bool:
    """Nothing, LIKE 'pattern', or WHERE with an expression of the SELECT grammar (which tells its own refusals)."""
    if tokens[0].kind == "end":
        return True
    if tokens[0].kind != "word":
        return False
    if tokens[0].text == "like":
        return len(tokens) == 3 and tokens[1].kind == "string"
    if tokens[0].text == "where":
        grammar = Grammar(tokens[1:], None)
        grammar.expression()
        grammar.finish()
        return True
    return False
