"""What a model wrote, taken apart: the block that is the answer, other blocks, what is said.

The answer is what follows the last end of thinking. Of fenced blocks, the last that defines a
kernel is the text; an earlier block without one is put before it where it declares names that the
text uses and does not declare. What Python compiles (`load_inline`) is read from its strings.
Without fences all of it is the text, but for a launch that stands there as JSON or as a sentence,
and for lines of prose before and behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from validate.text import toplevel
from validate.text.lexer import WORD, Unreadable, brackets, lex
from validate.text.macros import directives, words_of

MOST_CHARACTERS = 1 << 20
_MOST_TRIED = 16
_MOST_LAUNCH = 2000

_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning|analysis|scratchpad)>", re.IGNORECASE)
_THINKING = re.compile(r"\s*<(?:think|thinking|thought|reasoning|analysis|scratchpad)>", re.I)
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})([^`\n]*)")
_LAUNCH_IT = re.compile(
    r"\blaunch(?:ed)?\b[^\n()]{0,40}?\b(?:with|over|on|using)\b[^\n()]{0,30}?\bgrid\b[^\n()]{0,16}\(",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"[^\n()]{0,40}\bblock\w*\b[^\n()]{0,24}\(", re.IGNORECASE)
_SHARED = re.compile(r"[\s,;and]{0,8}([^\n;]{1,200}?) bytes of (?:dynamic )?shared memory", re.I)
_CODE_SPANS = re.compile(
    r"\bgrid\b[^\n`]{0,40}`([^`\n]{1,200})`[^`]{0,60}?\bblocks?\b[^\n`]{0,40}`([^`\n]{1,200})`",
    re.IGNORECASE,
)
_CODE_BYTES = re.compile(
    r"[^`]{0,40}?(?:`([^`\n]{1,200})` bytes|\bshared\b[^\n`]{0,30}`([^`\n]{1,200})`)", re.IGNORECASE
)
_QUOTED = re.compile(r"([rRbBuUfF]{0,2})(\"\"\"|''')(.*?)(?:\2)", re.DOTALL)
_GRID_KEY = re.compile(r"\"grid\"\s{0,8}:")
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Completion:
    """`code` is the text that is to be compiled, `blocks` the other fenced ones, in order."""

    code: str
    blocks: tuple[str, ...]
    said: str
    """All of the answer."""


def take_apart(text: str) -> Completion:
    """A completion, or a bare text. In whatever form it is, there is a result."""
    ends = list(_THOUGHT.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    elif _THINKING.match(text):
        text = ""
    prose, blocks = _blocks(text)
    if not blocks and _quoted(prose):
        prose, blocks = "", [prose]
    blocks = [part for block in blocks for part in _quoted(block) or [block]]
    kernels = [place for place, block in enumerate(blocks) if defines_kernel(block)]
    if not kernels:
        return Completion(_without_prose(_without_launch(prose)), tuple(blocks), text)
    chosen = kernels[-1]
    others = [block for place, block in enumerate(blocks) if place != chosen]
    helpers = [block for place, block in enumerate(blocks[:chosen]) if place not in kernels]
    return Completion(_with_helpers(blocks[chosen], helpers), tuple(others), text)


def _blocks(text: str) -> tuple[str, list[str]]:
    """What stands outside of fences, and what inside; the last fence may be open."""
    prose: list[str] = []
    blocks: list[str] = []
    inside: list[str] | None = None
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if inside is None and match is not None and match.end() == len(line):
            fence, inside = match[1], []
        elif inside is None:
            prose.append(line)
        elif match and match[1].startswith(fence) and not line[match.end(1) :].strip():
            blocks.append("\n".join(inside) + "\n")
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        blocks.append("\n".join(inside) + "\n")
    return "\n".join(prose), blocks


def _quoted(block: str) -> list[str]:
    """The strings of several lines of a Python text that has a kernel in one of them."""
    if "__global__" not in block or not re.search(r"\b(?:import|def|=)\s", block):
        return []
    found = [
        match[3] if "r" in match[1].lower() else match[3].replace("\\\\", "\\")
        for match in _QUOTED.finditer(block)
    ]
    return found if any("__global__" in text for text in found) else []


def defines_kernel(block: str) -> bool:
    """Whether a block defines a kernel; if it cannot be read, whether it seems so."""
    if "__global__" not in block:
        return False
    try:
        tokens = lex(block)
        found = toplevel.declarations(tokens, brackets(tokens))
    except Unreadable:
        return "{" in block
    kernels = (one for one in found if "__global__" in one.words)
    defined = any(one.kind == toplevel.FUNCTION for one in kernels)
    return defined or any("__global__" in d.rest for d in directives(tokens) if d.name == "define")


def _with_helpers(code: str, blocks: list[str]) -> str:
    """The text behind those blocks that declare what it uses."""
    needed: list[str] = []
    try:
        used = words_of(lex(code)) - _declared(code)
    except Unreadable:
        return code
    for block in reversed(blocks):
        try:
            names, words = _declared(block), words_of(lex(block))
        except Unreadable:
            continue
        if names & used:
            needed.insert(0, block)
            used = (used | words) - names
    return "".join([*needed, code])


def _declared(text: str) -> set[str]:
    tokens = lex(text)
    names = {
        match[0]
        for one in directives(tokens)
        if one.name == "define" and (match := re.match(r"\w+", one.rest))
    }
    for one in toplevel.declarations(tokens, brackets(tokens)):
        if one.kind == toplevel.TYPE:
            inside = [t.text for t in tokens[one.first : one.end] if t.kind == WORD]
            classes = ("struct", "class", "union", "enum")
            names |= {b for a, b in pairwise(inside) if a in classes}
        elif one.name and one.kind != toplevel.SCOPE:
            names.add(one.name)
        elif one.kind in (toplevel.VARIABLE, toplevel.ALIAS):
            words = [word for word in one.head if word.isidentifier()]
            names |= {words[1] if words[0] == "using" else words[-1]} if len(words) > 1 else set()
    return names


def _without_launch(text: str) -> str:
    """A bare text without a JSON launch or a sentence with one, both on lines of their own."""
    for _, first, end in _objects(text):
        line = text.rfind("\n", 0, first) + 1
        if not text[line:first].strip():
            kept = "\n" * text.count("\n", first, end)
            return f"{text[:line]}{kept}{text[end:]}"
    match = _LAUNCH_IT.search(text)
    if match is None:
        return text
    line, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    if re.search(r"[/*;{}]", text[line : match.start()]):
        return text
    return text[:line] + (text[end:] if end >= 0 else "")


def _without_prose(text: str) -> str:
    """A bare text whose first and last lines, as far as they are sentences, are blank."""
    lines = text.split("\n")
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        for place in order:
            if lines[place].strip() and not _is_prose(lines[place].strip()):
                break
            lines[place] = ""
    return "\n".join(lines)


def _is_prose(line: str) -> bool:
    if set(line) & set(";{}#") or line.startswith(("/", "*")) or "*/" in line or "/*" in line:
        return False
    words = line.split()
    if line[-1] in ".:!?":
        return len(words) > 1
    return len(words) > 3 and not set(line) & set('"*&=<>_()')


def _objects(text: str) -> Iterator[tuple[Mapping[str, Any], int, int]]:
    """JSON objects with a grid and a block, and where they stand."""
    decoder = json.JSONDecoder()
    for number, match in enumerate(_GRID_KEY.finditer(text)):
        if number == _MOST_TRIED:
            return
        opening, least = match.start(), max(0, match.start() - _MOST_LAUNCH)
        for _ in range(4):
            opening = text.rfind("{", least, opening)
            if opening < 0:
                break
            try:
                found, end = decoder.raw_decode(text[opening : opening + _MOST_LAUNCH])
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict) and "grid" in found and "block" in found:
                yield found, opening, opening + end
                break


def json_launch(text: str) -> dict[str, list[str]] | None:
    """The formulas of the first JSON launch in a text, as they are written there."""
    for found, _, _ in _objects(text):
        shared = next((found[k] for k in found if k.startswith("shared")), 0)
        parts = [_formulas(found["grid"]), _formulas(found["block"]), _formulas(shared)]
        if all(parts):
            return dict(zip(("grid", "block", "shared_bytes"), parts, strict=True))
    return None


def _formulas(value: Any) -> list[str]:
    """Formulas of a list, of an object with x, y and z, or of one value; else none."""
    if isinstance(value, dict):
        value = [value.get(axis, 1) for axis in _AXES] if "x" in value else []
    if not isinstance(value, list):
        value = [0 if value is None else value]
    if len(value) > 3 or any(type(entry) not in (int, str) for entry in value):
        return []
    return [str(entry) for entry in value]


def sentence_launch(text: str) -> dict[str, list[str]] | None:
    """The formulas of "Launch it with the grid (...) and the block (...), ... bytes of ..."."""
    for number, match in enumerate(_LAUNCH_IT.finditer(text)):
        if number == _MOST_TRIED:
            break
        grid, end = _bracketed(text, match.end())
        block = _BLOCK.match(text, end) if grid else None
        if block is None or _within_code(text, match.end(), end):
            continue
        first = block.end()
        size, end = _bracketed(text, first)
        if size and not _within_code(text, first, end):
            shared = _SHARED.match(text, end)
            more = shared[1].strip(" ,`") if shared else "0"
            return {"grid": grid, "block": size, "shared_bytes": [more]}
    return None


def code_launch(text: str) -> dict[str, list[str]] | None:
    """The formulas of "grid: `...`, block: `...`" in Markdown, as a sentence or as a list."""
    match = _CODE_SPANS.search(text)
    if match is None:
        return None
    more = _CODE_BYTES.match(text, match.end())
    shared = (more[1] or more[2]) if more else "0"
    # Outside of code it is a quotient of numbers, not of integers.
    spans = [re.sub(r"(\bceil\([^()]{1,80}/ ?\d+)\)", r"\1.0)", match[k]) for k in (1, 2)]
    parts = [*map(_listed, spans), [shared]]
    return dict(zip(("grid", "block", "shared_bytes"), parts, strict=True))


def _listed(span: str) -> list[str]:
    """The parts of `a`, `(a, b)`, `dim3(a, b)` or `a, b`."""
    inside = span.strip().removeprefix("dim3").strip()
    if inside[:1] == "(":
        parts, end = _bracketed(inside, 1)
        if end == len(inside):
            return parts
    return _bracketed(f"{span.strip()})", 0)[0]


def _within_code(text: str, first: int, end: int) -> bool:
    """Whether a bracket from `first` to `end` begins a code span that goes on behind it."""
    return text[first - 2 : first - 1] == "`" and text[end : end + 1] != "`"


def _bracketed(text: str, start: int) -> tuple[list[str], int]:
    """The parts between commas up to the bracket that closes what is open at `start`."""
    depth, parts, first = 0, [], start
    for place in range(start, min(len(text), start + _MOST_LAUNCH)):
        character = text[place]
        if depth == 0 and character in ",)":
            part = text[first:place].strip(" `\n")
            parts += [part] if part or character == "," else []
            first = place + 1
            if character == ")":
                return parts, first
        depth += (character == "(") - (character == ")")
    return [], start


def snippets(text: str) -> Iterator[str]:
    """`kernel<<<...>>>(...)` wherever it stands in prose or in a comment."""
    place = -1
    for _ in range(_MOST_TRIED):
        place = text.find("<<<", place + 1)
        if place < 0:
            return
        end = text.find(">>>", place, place + _MOST_LAUNCH)
        if end < 0:
            return
        before = re.search(r"\w{0,80}(?:<[^<>\n]{0,80}>)?$", text[max(0, place - 200) : place])
        end += 3
        if text[end : end + 1] == "(":
            _, end = _bracketed(text, end + 1)
        yield f"{before[0] if before else ''}{text[place:end]}".replace("\n//", "\n")
