"""The text a person should see: no Python lines, paths, hashes, tabs or ragged ends."""

import re
from dataclasses import dataclass

from extract.lexer import Piece, pieces
from extract.names import renamer

# Warp pads the Python line and puts its number last: nothing in the line itself can fool this.
_PYTHON_LINE = re.compile(r"// .*\s{2}<L (?P<line>\d+)>\s*")
_PATH = re.compile(r"// \S.*:\d+")
_PATH_SCOPE = re.compile(r"\n(?:[ \t]*#line[^\n]*\n)*(?:template\s*<[^\n]*\n)?static\s")
_LINE_DIRECTIVE = re.compile(r"\s*#\s*line\b")
_CONTINUED = re.compile(r"\\\s+$")

# Stand-ins while the text is put together; `extract_module` refuses them in its input.
MARK, INNER_NEWLINE = "\x00", "\x01"

_LABEL = re.compile(r"\s*(?!end_)\w+:;")
_LOOP_BACK = re.compile(r"\s*goto start_(?P<loop>\w+);")


@dataclass(frozen=True)
class Cleaned:
    """Clean text, and (Python line, line of this text) for each statement Warp announced."""

    text: str
    line_map: tuple[tuple[int, int], ...]


def clean(text: str, renames: dict[str, str]) -> Cleaned:
    """Clean one part of a module.

    Args:
        text: C++ whose comments and literals are all closed.
        renames: whole names to replace, old to new.

    Returns:
        Text without blank lines at its ends, closed by one newline unless it is empty.
    """
    lines: list[str] = []
    pairs: list[tuple[int, int]] = []
    python_line: int | None = None
    blanks = height = 0
    raw_lines = _rewrite(text, renames).split("\n")
    for index, raw in enumerate(raw_lines):
        if MARK in raw:
            number = raw.strip().strip(MARK)
            python_line = int(number) if number else python_line
            continue
        line = raw.rstrip()
        if _LINE_DIRECTIVE.match(line):
            continue
        if not line:
            blanks += 1
            continue
        gap = _gap(blanks) if lines else 0
        lines += [""] * gap + [line]
        first = height + gap + 1
        height = first + line.count(INNER_NEWLINE)
        blanks = 0
        if python_line is not None and not _is_frame(line):
            if not _ends_scope(line, raw_lines[index + 1 :]):
                pairs.append((python_line, first))
            python_line = None
    joined = "\n".join(lines).replace(INNER_NEWLINE, "\n")
    return Cleaned(joined + "\n" if lines else "", tuple(pairs))


def _gap(blanks: int) -> int:
    return 1 if blanks >= 3 else blanks


def _is_frame(line: str) -> bool:
    """Tell lines that belong to no statement: the label a loop starts with, and comments."""
    return _LABEL.fullmatch(line) is not None or line.lstrip().startswith("//")


def _ends_scope(line: str, following: list[str]) -> bool:
    """Tell lines that close what an earlier statement opened.

    A statement that Warp folds into a constant leaves no code; when it stands last in a block,
    the line behind it is the end of the block and not its code.
    """
    if line.lstrip().startswith(("}", "end_")):
        return True
    back = _LOOP_BACK.fullmatch(line)
    return back is not None and bool(following) and following[0].strip() == f"end_{back['loop']}:;"


def _rewrite(text: str, renames: dict[str, str]) -> str:
    """Return ``text`` with names replaced, tabs gone, and Warp's own comments as marked lines."""
    pattern = renamer(renames)
    parts: list[str] = []
    for piece in pieces(text):
        if piece.kind == "raw":
            parts.append(piece.text.replace("\n", INNER_NEWLINE))
        elif piece.kind == "string":
            parts.append(piece.text.replace("\t", "\\t"))
        else:
            plain = _comment(text, piece) if piece.kind == "comment" else piece.text
            plain = plain.replace("\t", "    ")
            parts.append(pattern.sub(lambda m: renames[m.group()], plain) if pattern else plain)
    return "".join(parts)


def _comment(text: str, piece: Piece) -> str:
    line_start = text.rfind("\n", 0, piece.start) + 1
    if not text[line_start : piece.start].strip():
        python = _PYTHON_LINE.fullmatch(piece.text)
        if python:
            return MARK + python["line"] + MARK
        if _PATH.fullmatch(piece.text) and _PATH_SCOPE.match(text, piece.start + len(piece.text)):
            return MARK
    # without its trailing blanks, a backslash would pull the next line into the comment
    return _CONTINUED.sub("", piece.text) if piece.text.startswith("//") else piece.text
