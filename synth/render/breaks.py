"""How a statement that is too long breaks: as ``ruff format`` and Black split it.

Most statements fit and never come here. A formatter leaves every rendered module as it is.
"""

from __future__ import annotations

from synth.render.doc import ATOM, BINARY, BRACKET, PAREN, PREFIX, SUFFIX, Doc, Prec

WIDTH = 100
TAB = 4


def lines_of(start: str, value: Doc, end: str, indent: int, target: Doc | None = None) -> str:
    """One statement of more than one line: ``start`` (which may be ``target = ``), value, end."""
    if target is not None and indent + len(start) + 1 > WIDTH:
        operator = start[len(target.text) :]
        head = _expand(target, indent, indent, WIDTH)
        rest = _last_line(head) + len(operator)
        return " " * indent + head + operator + _value(value, rest, indent, end)
    return " " * indent + start + _value(value, indent + len(start), indent, end)


def _value(value: Doc, column: int, indent: int, end: str) -> str:
    """The value of a statement, in parentheses where a formatter adds them."""
    if column + len(value.text) + len(end) <= WIDTH:
        return value.text + end
    if value.kind in (BRACKET, PAREN, SUFFIX):
        return _bare(value, column, indent, len(end)) + end
    if value.kind in (BINARY, PREFIX) and _needs_no_parentheses(value):
        bare = _bare(value, column, indent, len(end)) + end
        if _fits(bare, column):
            return bare
    inner = indent + TAB
    body = _inside(value, inner, inner, 0)
    return f"(\n{' ' * inner}{body}\n{' ' * indent}){end}"


def _fits(text: str, column: int) -> bool:
    first, *rest = text.split("\n")
    return column + len(first) <= WIDTH and all(len(line) <= WIDTH for line in rest)


def _last_line(text: str) -> int:
    return len(text) - text.rfind("\n") - 1


def _after(text: str, column: int) -> int:
    """The column after a text that began at ``column``."""
    return _last_line(text) if "\n" in text else column + len(text)


def _operands(doc: Doc) -> tuple[list[Doc], list[str]]:
    """All operands of a chain of operators that bind equally, and the operators."""
    parts, marks = list(doc.parts), list(doc.marks)
    while parts[0].kind == BINARY and parts[0].prec == doc.prec != Prec.POW:
        parts, marks = [*parts[0].parts, *parts[1:]], [*parts[0].marks, *marks]
    while parts[-1].prec == Prec.TERNARY:
        parts, marks = [*parts[:-1], *parts[-1].parts], [*marks, *parts[-1].marks]
    return parts, marks


def _inside(doc: Doc, column: int, indent: int, tail: int) -> str:
    """Within parentheses: a chain that is too long breaks before every operator of its level."""
    if column + len(doc.text) + tail <= WIDTH or doc.kind == ATOM:
        return doc.text
    if doc.kind == PREFIX:
        symbol = doc.marks[0]
        return symbol + _inside(doc.parts[0], column + len(symbol), indent, tail)
    if doc.kind == SUFFIX:
        ending = doc.marks[0]
        return _inside(doc.parts[0], column, indent, tail + len(ending)) + ending
    if doc.kind != BINARY:
        return _expand(doc, column, indent, tail)
    parts, marks = _operands(doc)
    texts = [_inside(parts[0], column, indent, 0)]
    for k, (mark, part) in enumerate(zip(marks, parts[1:], strict=True), 2):
        lead = mark.strip() + " "
        last = tail if k == len(parts) else 0
        texts.append(lead + _inside(part, indent + len(lead), indent, last))
    return f"\n{' ' * indent}".join(texts)


def _bare(doc: Doc, column: int, indent: int, tail: int) -> str:
    """Outside of parentheses: only what stands in brackets may break."""
    if column + len(doc.text) + tail <= WIDTH or doc.kind == ATOM:
        return doc.text
    if doc.kind == PREFIX:
        symbol = doc.marks[0]
        return symbol + _bare(doc.parts[0], column + len(symbol), indent, tail)
    if doc.kind == SUFFIX:
        ending = doc.marks[0]
        return _bare(doc.parts[0], column, indent, tail + len(ending)) + ending
    if doc.kind != BINARY:
        return _expand(doc, column, indent, tail)
    text = ""
    for k, part in enumerate(doc.parts):
        following = _lead_of_rest(doc, k, tail)
        text += _bare(part, _after(text, column), indent, following)
        if k < len(doc.marks):
            text += doc.marks[k]
    return text


def _lead_of_rest(doc: Doc, k: int, tail: int) -> int:
    """Columns after part ``k`` of a chain up to the next place where the line may break."""
    width = 0
    for mark, part in zip(doc.marks[k:], doc.parts[k + 1 :], strict=True):
        lead, breaks = _lead(part)
        width += len(mark) + lead
        if breaks:
            return width
    return width + tail


def _lead(doc: Doc) -> tuple[int, bool]:
    """Columns up to the first bracket that may break, and whether there is one."""
    if doc.kind == ATOM or (doc.kind == BRACKET and len(doc.parts) == 1):
        return len(doc.text), False
    if doc.kind == PAREN:
        return 1, True
    if doc.kind in (BRACKET, SUFFIX):
        lead, breaks = _lead(doc.parts[0])
        if doc.kind == SUFFIX and not breaks:
            return len(doc.text), False
        return (lead, True) if breaks else (lead + 1, True)
    width = len(doc.marks[0]) if doc.kind == PREFIX else 0
    for k, part in enumerate(doc.parts):
        lead, breaks = _lead(part)
        width += lead
        if breaks:
            return width, True
        if doc.kind == BINARY and k < len(doc.marks):
            width += len(doc.marks[k])
    return width, False


def _expand(doc: Doc, column: int, indent: int, tail: int) -> str:
    """A bracket over several lines: its items on one line of their own, or each on its own."""
    opening, closing = doc.marks
    items = doc.parts if doc.kind == PAREN else doc.parts[1:]
    head = ""
    if doc.kind == BRACKET:
        rest = len(doc.text) - len(doc.parts[0].text) + tail
        head = doc.parts[0].text
        if doc.parts[0].kind in (BRACKET, PAREN, SUFFIX) and column + len(head) + 1 > WIDTH:
            head = _bare(doc.parts[0], column, indent, rest)
            if _after(head, column) + rest <= WIDTH:
                return head + doc.text[len(doc.parts[0].text) :]
    if not items:
        return doc.text
    inner = indent + TAB
    pad = " " * inner
    together = ", ".join([item.text for item in items])
    if inner + len(together) <= WIDTH:
        body = pad + together
    elif len(items) == 1:
        body = pad + _inside(items[0], inner, inner, 0)
    else:
        body = "\n".join(f"{pad}{_inside(item, inner, inner, 1)}," for item in items)
    return f"{head}{opening}\n{body}\n{' ' * indent}{closing}"


def _needs_no_parentheses(doc: Doc) -> bool:
    """Whether a formatter splits in the brackets of this expression before it adds parentheses."""
    levels: list[int] = []
    ends: list[Doc] = []
    _survey(doc, levels, ends)
    if not any(end.kind != ATOM for end in ends):
        return False
    if not levels:
        return True
    loosest = min(levels)
    if levels.count(loosest) > 1:
        return False
    last = ends[-1]
    is_call = last.kind == BRACKET and last.marks[0] == "(" and len(last.parts) > 1
    return is_call or last.kind == PAREN or ends[0].kind == PAREN


def _survey(doc: Doc, levels: list[int], ends: list[Doc]) -> None:
    """Collect the levels of all operators outside of brackets, and what stands between them."""
    if doc.kind == BINARY:
        level = Prec.AND if doc.prec == Prec.OR else doc.prec
        levels.extend([level] * len(doc.marks))
    if doc.kind == PREFIX:
        ends.append(Doc(doc.marks[0]))
    if doc.kind in (BINARY, PREFIX):
        for part in doc.parts:
            _survey(part, levels, ends)
    else:
        ends.append(doc)
