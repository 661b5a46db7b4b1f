"""The text a person should see: no Python lines, paths, hashes, tabs or ragged ends."""

import re
from dataclasses import dataclass
from itertools import accumulate

from extract.lexer import Token
from extract.names import rename

# Warp pads the Python line and puts its number last: nothing in the line itself can fool this.
_PYTHON_LINE = re.compile(r"// .*\s{2}<L (?P<line>\d+)>\s*")
_PATH = re.compile(r"// \S.*:\d+")
_PATH_SCOPE = re.compile(r"\n(?:[ \t]*#line[^\n]*\n)*(?:template\s*<[^\n]*\n)?static\s")
_LINE_DIRECTIVE = re.compile(r"\s*#\s*line\b")
_CONTINUED = re.compile(r"\\\s+$")

# Stand-ins while the text is put together; `extract_module` refuses them in its input.
MARK, INNER_NEWLINE = "\x00", "\x01"

# Lines that are no code of the Python line before them. Those that belong to no statement: the
# label a loop starts with, and comments. Those that close what an earlier statement opened: a
# statement that Warp folds into a constant leaves no code; when it stands last in a block, the
# line behind it is the end of the block and not its code. A jump back may be such an end.
_NO_CODE = re.compile(
    r"\s*(?:(?P<frame>//|(?!end_)\w+:;\Z)|(?P<end>\}|end_)|goto start_(?P<loop>\w+);\Z)"
)


@dataclass(frozen=True)
class Cleaned:
    """Clean text, and (Python line, line of this text) for each statement Warp announced."""

    text: str
    line_map: tuple[tuple[int, int], ...]


def clean(text: str, found: list[Token], renames: dict[str, str]) -> Cleaned:
    """Clean one part of a module.

    Args:
        text: C++ whose comments and literals are all closed.
        found: the tokens of ``text``.
        renames: whole names to replace, old to new.

    Returns:
        Text without blank lines at its ends, closed by one newline unless it is empty.
    """
    marked = _rewrite(text, found, renames)
    lines, pairs = _unmark(list(map(str.rstrip, marked.split("\n"))), "#" in marked)
    joined = "\n".join(lines)
    if INNER_NEWLINE in joined:
        pairs = _heightened(lines, pairs)
        joined = joined.replace(INNER_NEWLINE, "\n")
    return Cleaned(joined + "\n" if lines else "", tuple(pairs))


def _unmark(raw: list[str], directives: bool) -> tuple[list[str], list[tuple[int, int]]]:
    """Drop marked lines, ``#line`` and needless blank lines.

    Args:
        raw: lines without blanks at their ends.
        directives: whether any line may be a directive.

    Returns:
        The lines left, and (Python line, how many of them up to its first code line) pairs.
    """
    lines: list[str] = []
    pairs: list[tuple[int, int]] = []
    python_line: int | None = None
    blanks = 0
    for index, line in enumerate(raw):
        if not line:
            blanks += 1
        elif line[-1] == MARK:
            number = line.split(MARK)[1]
            python_line = int(number) if number else python_line
        elif not (directives and _LINE_DIRECTIVE.match(line)):
            if blanks:
                lines += [""] * _gap(blanks) if lines else []
                blanks = 0
            lines.append(line)
            if python_line is None:
                continue
            no_code = _NO_CODE.match(line)
            if no_code and no_code["frame"]:
                continue
            if not (no_code and _ends_scope(no_code, raw[index + 1 : index + 2])):
                pairs.append((python_line, len(lines)))
            python_line = None
    return lines, pairs


def _gap(blanks: int) -> int:
    return 1 if blanks >= 3 else blanks


def _heightened(lines: list[str], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Count the newlines inside raw strings, too."""
    extra = [0, *accumulate(line.count(INNER_NEWLINE) for line in lines)]
    return [(python_line, first + extra[first - 1]) for python_line, first in pairs]


def _ends_scope(no_code: re.Match[str], following: list[str]) -> bool:
    if no_code["end"]:
        return True
    return bool(following) and following[0].lstrip() == f"end_{no_code['loop']}:;"


def _rewrite(text: str, found: list[Token], renames: dict[str, str]) -> str:
    """Return ``text`` with names replaced, tabs gone, and Warp's own comments as marked lines."""
    parts: list[str] = []
    done = 0
    for kind, start, end in found:
        token = text[start:end]
        if kind == "comment":
            new = _comment(text, start, token)
            if new is None:
                continue
            new = _plain(new, renames)
        elif kind == "string":
            new = token.replace("\t", "\\t")
        else:
            new = token.replace("\n", INNER_NEWLINE)
        parts += _plain(text[done:start], renames), new
        done = end
    parts.append(_plain(text[done:], renames))
    return "".join(parts)


def _plain(text: str, renames: dict[str, str]) -> str:
    text = text.replace("\t", "    ")
    return rename(text, renames) if renames else text


def _comment(text: str, start: int, comment: str) -> str | None:
    """Return what stands for the ``comment`` at ``start``, None if it may stay as code does."""
    python = _PYTHON_LINE.fullmatch(comment)
    if python and _is_alone(text, start):
        return f"{MARK}{python['line']}{MARK}"
    path = _PATH.fullmatch(comment) and _PATH_SCOPE.match(text, start + len(comment))
    if path and _is_alone(text, start):
        return MARK
    if "\\" in comment and comment.startswith("//"):
        # without its trailing blanks, a backslash would pull the next line into the comment
        return _CONTINUED.sub("", comment)
    return None


def _is_alone(text: str, start: int) -> bool:
    """Tell whether nothing stands before ``start`` on its line."""
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()
