"""The grammar of the SELECTs that an Observer may send: whatever it does not know can't be said.

    statement := [WITH cte (, cte)*] query            cte := name AS ( query )
    query     := select (UNION [ALL|DISTINCT] select)* [ORDER BY ...] [LIMIT ...]        select may stand in brackets
    select    := SELECT [DISTINCT] item (, item)* [FROM tables] [WHERE e] [GROUP BY e, ...] [HAVING e]
    table     := schema.table | cte | ( query ) alias | table [INNER|CROSS|LEFT|RIGHT] JOIN table [ON e | USING (...)]

There is no INTO, no locking clause, no procedure, no index hint, no assignment and no user variable in it; functions
and tables come from closed lists (names.py).
"""

from __future__ import annotations

from collections.abc import Callable

from services.connections.observer.names import (
    FUNCTIONS,
    HEAVY_TABLES,
    NEVER_COLUMNS,
    RESERVED,
    RESETTING_TABLES,
    SCHEMAS,
    TABLES,
)
from services.connections.observer.tokens import Token
from services.errors import Refused

_MOST_DEPTH = 24
_COMPARISONS = frozenset({"=", "<=>", "<>", "!=", "<", "<=", ">", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_CAST_TYPES = frozenset({"signed", "unsigned", "char", "decimal", "double", "datetime", "integer", "date", "time"})


class Grammar:
    """One pass over a statement's tokens; every method moves on or raises Refused."""

    def __init__(self, tokens: tuple[Token, ...], heartbeat_table: str | None) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._views: frozenset[str] = frozenset()
        self._heartbeat_table = heartbeat_table

    # -- moving ------------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _peek(self, ahead: int = 1) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._now
        if token.kind == "end":
            raise _refused("it ends too early")
        self._at += 1
        return token

    def is_word(self, *words: str) -> bool:
        """Tell whether the next token is one of these bare words."""
        return self._now.kind == "word" and self._now.text in words

    def take_word(self, *words: str) -> bool:
        """Take the next token if it is one of these words."""
        if self.is_word(*words):
            self._at += 1
            return True
        return False

    def _is_op(self, *operators: str) -> bool:
        return self._now.kind == "op" and self._now.text in operators

    def _take_op(self, *operators: str) -> bool:
        if self._is_op(*operators):
            self._at += 1
            return True
        return False

    def _need_op(self, operator: str) -> None:
        if not self._take_op(operator):
            raise _refused(f'"{operator}" was expected before {self._shown()}')

    def _need_word(self, word: str) -> None:
        if not self.take_word(word):
            raise _refused(f'"{word.upper()}" was expected before {self._shown()}')

    def _shown(self) -> str:
        token = self._now
        if token.kind == "end":
            return "the end"
        return "a string" if token.kind == "string" else f'"{token.text}"'

    def finish(self) -> None:
        """Raise Refused unless the statement is over."""
        if self._now.kind != "end":
            raise _refused(f"{self._shown()} is not part of the reads that it allows")

    # -- queries -----------------------------------------------------------------------------------------------------

    def statement(self) -> None:
        """Read a whole SELECT or WITH statement."""
        self._with_query()
        self.finish()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise _refused("it is nested too deeply")

    def _with_query(self) -> None:
        self._deeper()
        outer = self._views
        if self.take_word("with"):
            while True:
                name = self._identifier("the name of a WITH part")
                self._need_word("as")
                self._need_op("(")
                self._with_query()
                self._need_op(")")
                self._views |= {name.lower()}
                if not self._take_op(","):
                    break
        self._query()
        self._views = outer
        self._depth -= 1

    def _query(self) -> None:
        self._select()
        while self.take_word("union"):
            self.take_word("all", "distinct")
            self._select()
        if self.take_word("order"):
            self._need_word("by")
            self._list(self._ordering)
        if self.take_word("limit"):
            self._number()
            if self._take_op(",") or self.take_word("offset"):
                self._number()

    def _select(self) -> None:
        if self._take_op("("):
            self._with_query()
            self._need_op(")")
            return
        self._need_word("select")
        self.take_word("distinct")
        self._list(self._item)
        if self.take_word("from"):
            self._list(self._tables_joined)
        if self.take_word("where"):
            self.expression()
        if self.take_word("group"):
            self._need_word("by")
            self._list(self._ordering)
        if self.take_word("having"):
            self.expression()

    def _item(self) -> None:
        if not self._take_op("*"):
            self.expression()
            self._alias()

    def _alias(self) -> None:
        if self.take_word("as"):
            if self._now.kind == "string":
                self._at += 1
                return
            self._identifier("an alias")
        elif self._now.kind == "name" or (self._now.kind == "word" and self._now.text not in RESERVED):
            self._at += 1

    def _ordering(self) -> None:
        self.expression()
        self.take_word("asc", "desc")

    def _number(self) -> None:
        if self._next().kind != "number":
            raise _refused("LIMIT takes plain numbers")

    def _list(self, part: Callable[[], object]) -> None:
        part()
        while self._take_op(","):
            part()

    # -- tables ------------------------------------------------------------------------------------------------------

    def _tables_joined(self) -> None:
        self._table()
        while self.is_word("join", "inner", "cross", "left", "right"):
            if self.take_word("left", "right"):
                self.take_word("outer")
            else:
                self.take_word("inner", "cross")
            self._need_word("join")
            self._table()
            if self.take_word("on"):
                self.expression()
            elif self.take_word("using"):
                self._need_op("(")
                self._list(lambda: self._identifier("a column"))
                self._need_op(")")

    def _table(self) -> None:
        if self._take_op("("):
            self._with_query()
            self._need_op(")")
            self._alias()
            return
        if self.take_word("dual"):
            return
        schema = self._identifier("a table")
        if self._take_op("."):
            self._allow_table(schema, self._identifier("a table"))
        elif schema.lower() not in self._views:
            raise _refused(f'the table "{schema}" has no schema before it')
        self._alias()

    def _allow_table(self, schema: str, table: str) -> None:
        low_schema, low_table = schema.lower(), table.lower()
        if low_table in RESETTING_TABLES or low_table.endswith("_reset"):
            raise _refused(f"{schema}.{table} may not be read: reading it zeroes its counters")
        if low_schema in SCHEMAS and low_table not in HEAVY_TABLES:
            return
        if f"{low_schema}.{low_table}" in TABLES or f"{schema}.{table}" == self._heartbeat_table:
            return
        why = "reading it slows the server down" if low_schema in SCHEMAS else "it is not on the list of tables"
        raise _refused(f"{schema}.{table} may not be read: {why}")

    def _identifier(self, what: str) -> str:
        token = self._next()
        if token.kind == "name" or (token.kind == "word" and token.text not in RESERVED):
            return token.raw
        raise _refused(f'"{token.text}" is not {what}' if token.kind != "string" else f"a string is not {what}")

    # -- expressions -------------------------------------------------------------------------------------------------

    def expression(self) -> None:
        """Read an expression. Precedence does not matter to what is allowed, so there is one level."""
        self._deeper()
        self._operand()
        while self._operator():
            self._operand()
        self._depth -= 1

    def _operator(self) -> bool:
        """Take what may follow an operand; tell whether another operand must come."""
        while True:
            if self._take_op(*_COMPARISONS, *_ARITHMETIC) or self.take_word("and", "or", "xor", "div", "mod"):
                return True
            if self.take_word("escape"):
                if self._next().kind != "string":
                    raise _refused("ESCAPE takes a string")
            elif self.take_word("is"):
                self.take_word("not")
                if not self.take_word("null", "true", "false", "unknown"):
                    raise _refused("IS takes NULL, TRUE or FALSE")
            else:
                negated = self.take_word("not")
                if not self.is_word("like", "rlike", "regexp", "between", "in"):
                    if negated:
                        raise _refused("NOT stands where nothing can be negated")
                    return False
                if self._comparing_word():
                    return True

    def _comparing_word(self) -> bool:
        """Take LIKE, RLIKE, REGEXP, BETWEEN or IN; tell whether another operand must come."""
        if self.take_word("in"):
            self._need_op("(")
            self._in_brackets()
            return False
        if self._next().text == "between":
            self._operand()
            while self._take_op(*_ARITHMETIC):
                self._operand()
            self._need_word("and")
        return True

    def _in_brackets(self) -> None:
        """Read a subselect or a list of expressions up to the closing bracket."""
        if self.is_word("select", "with"):
            self._with_query()
        else:
            self._list(self.expression)
        self._need_op(")")

    def _operand(self) -> None:
        while self.take_word("not") or self._take_op("-", "+"):
            pass
        token = self._now
        if token.kind in {"string", "number", "system"}:
            self._at += 1
        elif self._take_op("("):
            self._in_brackets()
        elif self.take_word("null", "true", "false"):
            pass
        elif self.take_word("case"):
            self._case()
        elif self.take_word("exists"):
            self._need_op("(")
            self._with_query()
            self._need_op(")")
        elif self._opens_call():
            self._call()
        else:
            self._column()

    def _opens_call(self) -> bool:
        after = self._peek()
        return after.kind == "op" and after.text == "(" and self._now.kind in {"word", "name"}

    def _case(self) -> None:
        if not self.is_word("when"):
            self.expression()
        self._need_word("when")
        while True:
            self.expression()
            self._need_word("then")
            self.expression()
            if not self.take_word("when"):
                break
        if self.take_word("else"):
            self.expression()
        self._need_word("end")

    def _call(self) -> None:
        """Read NAME(...). A blank before the bracket would ask the server for a stored function of that name."""
        function = self._next()
        if function.kind != "word" or not self._now.tight:
            raise _refused(f'"{function.text}" stands before a bracket and is not a built-in function')
        if function.text == "cast":
            self._cast()
            return
        if function.text not in FUNCTIONS:
            raise _refused(f"the function {function.text.upper()}() is not on the list of harmless ones")
        self._need_op("(")
        if self._take_op(")"):
            return
        if function.text == "count" and self._take_op("*"):
            self._need_op(")")
            return
        self.take_word("distinct")
        self._list(self.expression)
        if function.text == "group_concat":
            self._group_concat()
        self._need_op(")")

    def _group_concat(self) -> None:
        if self.take_word("order"):
            self._need_word("by")
            self._list(self._ordering)
        if self.take_word("separator") and self._next().kind != "string":
            raise _refused("SEPARATOR takes a string")

    def _cast(self) -> None:
        self._need_op("(")
        self.expression()
        self._need_word("as")
        kind = self._next()
        if kind.kind != "word" or kind.text not in _CAST_TYPES:
            raise _refused(f'CAST to "{kind.text}" is not on its list')
        if self._take_op("("):
            self._list(self._number)
            self._need_op(")")
        self._need_op(")")

    def _column(self) -> None:
        parts = [self._identifier("a column")]
        while self._take_op("."):
            if self._take_op("*"):
                break
            parts.append(self._identifier("a column"))
        if len(parts) > 3 or any(part.lower() in NEVER_COLUMNS for part in parts):
            raise _refused(f'"{".".join(parts)}" is not a column')
        if self._now.kind == "string":
            raise _refused(f'"{parts[-1]}" before a string has more than one meaning')
        if self._is_op("("):
            raise _refused(f"{'.'.join(parts)}() is a stored function")


def _refused(why: str) -> Refused:
    return Refused(
        f"The Observer road refuses this statement: {why}.",
        safe="Nothing was sent to the server.",
        try_=("The permitted statements are listed in resources/docs/observer.md.",),
    )
