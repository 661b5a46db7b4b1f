"""What a model answers to a row, read: the text to compile, its kernel and its launch.

The launch is the first that is said, of: a JSON object, a sentence as of the `sft` view, the
`<<<>>>` of host code, and `<<<>>>` in prose or in comments. Host code whose launch is not
understood makes the launch a bad one, for another than its author's would be judged; prose that
is not understood (`<<<grid, block>>>`) says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from validate.statuses import ScoreStatus
from validate.text import toplevel
from validate.text.completion import (
    MOST_CHARACTERS,
    Completion,
    code_launch,
    json_launch,
    sentence_launch,
    snippets,
    take_apart,
)
from validate.text.device import Device, Kernel, read_device
from validate.text.formula import evaluate
from validate.text.host_code import Launch, bind, follow, launches
from validate.text.host_functions import functions_of
from validate.text.kernel import Unchosen, choose, instance, most_threads
from validate.text.layout import sizes_of
from validate.text.lexer import Token, Unreadable, brackets, lex, significant
from validate.text.macros import Macro, directives, macro
from validate.text.meaning import Function, Meaning, Unclear
from validate.text.refusal import Refused

Row = Mapping[str, Any]
_KEYS = ("grid", "block", "shared_bytes")


@dataclass(frozen=True)
class Reading:
    """What is compiled and launched, or with `status` and `problem` why nothing is.

    Where only the launch is a bad one the rest is told all the same: another may be given.
    """

    code: str
    headers: tuple[str, ...]
    kernel: str
    launch: Mapping[str, Any] | None
    status: str = ""
    problem: str = ""
    most_threads: int | None = None
    """What `__launch_bounds__` promises, where it does in numbers."""
    bounds: Mapping[str, int | None] = field(default_factory=dict)
    """Of several kernels, by the name of each that is launched, its own `most_threads`."""


def read_answer(answer: Any, row: Row) -> Reading:
    """Read a completion or a bare CUDA text. Whatever it is, this comes to a result."""
    reading = _taken_apart(answer)
    if isinstance(reading, Reading):
        return reading
    said, device = reading
    found = _Launches(said, device, row)
    try:
        kernel = choose(device.kernels, [one.kernel for one in found.all], row)
    except Unchosen as why:
        return Reading(device.code, device.headers, "", None, ScoreStatus.NO_KERNEL, str(why))
    return _reading(device, kernel, found, row)


def _taken_apart(answer: Any) -> Reading | tuple[Completion, Device]:
    """A completion and its text; or why there is none."""
    if not isinstance(answer, str):
        return _refused(ScoreStatus.COMPILE_ERROR, "error: is no text")
    if len(answer) > MOST_CHARACTERS:
        problem = f"error: is longer than {MOST_CHARACTERS} characters"
        return _refused(ScoreStatus.COMPILE_ERROR, problem)
    said = take_apart(answer)
    try:
        device = read_device(said.code)
    except (Unreadable, Refused) as bad:
        problem = f"error: {_printable(str(bad))} cannot stand in a kernel's text"
        return _refused(ScoreStatus.COMPILE_ERROR, problem)
    return said, device


def read_kernels(answer: Any, row: Row, wanted: Sequence[str]) -> Reading:
    """Read an answer of which these kernels are launched; `kernel` is then empty."""
    reading = _taken_apart(answer)
    if isinstance(reading, Reading):
        return reading
    said, device = reading
    found, kernels = _Launches(said, device, row), {k.short_name: k for k in device.kernels}
    bounds = {}
    for name in wanted:
        kernel = kernels.get(name)
        if kernel is None or kernel.template:
            problem = f"{name} is launched, and is no kernel of the text without template arguments"
            return Reading(device.code, device.headers, "", None, ScoreStatus.NO_KERNEL, problem)
        bounds[kernel.name] = most_threads(kernel, found.meaning(kernel), {})
    return Reading(device.code, device.headers, "", None, bounds=bounds)


def _reading(device: Device, kernel: Kernel, found: _Launches, row: Row) -> Reading:
    launch, status, problem = None, "", ""
    try:
        launch = found.of(kernel)
    except Unclear as unclear:
        status, problem = ScoreStatus.BAD_LAUNCH, str(unclear)
    meaning = found.meaning(kernel)
    try:
        name, given = instance(kernel, found.template, meaning, row)
    except Unchosen as why:
        return Reading(device.code, device.headers, "", None, ScoreStatus.NO_KERNEL, str(why))
    most = most_threads(kernel, meaning, given)
    return Reading(device.code, device.headers, name, launch, status, problem, most)


def _refused(status: str, problem: str) -> Reading:
    return Reading("", (), "", None, status, problem)


def _printable(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


@dataclass(frozen=True)
class _Code:
    """Host code: all of a text, its launches, and what it declares."""

    tokens: list[Token]
    macros: Mapping[str, Sequence[Macro]]
    declared: list[toplevel.Declaration]
    first: int = 0


class _Launches:
    """All that a completion says of launches."""

    def __init__(self, said: Completion, device: Device, row: Row) -> None:
        self.said = said
        self.row = row
        own = _Code(device.tokens, device.macros, device.declared)
        self.own = own
        self.known: dict[int, tuple[dict[str, Function], dict[str, Sequence[Token]]]] = {}
        self.codes = [own, *(code for block in said.blocks if (code := _code(block, own)))]
        self.all: list[Launch] = []
        self.host = [pair for code in self.codes for pair in _regions(code)]
        self.all += [launch for _, _, launch in self.host]
        self.prose: list[tuple[list[Token], Launch]] = []
        if not self.host:
            self.prose = list(_in_prose(said.said))
            self.all += [launch for _, launch in self.prose]
        self.template: tuple[Token, ...] = ()
        self.used: Meaning | None = None

    def meaning(self, kernel: Kernel) -> Meaning:
        """What names mean where the launch stands that was taken, else at the end of the text."""
        return self.used or self._meaning(kernel, self.own)

    def _meaning(self, kernel: Kernel, code: _Code) -> Meaning:
        meaning = Meaning(_names(kernel, self.row), code.macros)
        for one in (self.own, code):
            if id(one) not in self.known:
                self.known[id(one)] = functions_of(one.tokens, one.declared)
            functions, constants = self.known[id(one)]
            meaning.functions |= functions
            meaning.constants |= constants
            meaning.types |= sizes_of(one.tokens, one.declared)
        return meaning

    def of(self, kernel: Kernel) -> dict[str, Any] | None:
        """The launch of a kernel; None when nothing is said. Raises Unclear."""
        unclear: Unclear | None = None
        mine = [found for found in self.host if found[2].kernel == kernel.short_name]
        for code, tokens, launch in mine:
            meaning = self._meaning(kernel, code)
            bind(meaning, launch, self.row, tokens)
            try:
                follow(meaning, tokens, launch)
                result = self._resolved(meaning, launch)
            except Unclear as why:
                unclear = unclear or why
                continue
            self.template, self.used = launch.template, meaning
            return self._written(kernel) or result
        if (written := self._written(kernel)) is not None:
            return written
        if unclear is not None:
            raise unclear
        return self._said(kernel)

    def _written(self, kernel: Kernel) -> dict[str, Any] | None:
        """A launch as JSON or as a sentence. Raises Unclear."""
        found = json_launch(self.said.said) or sentence_launch(self.said.said)
        return None if found is None else self._of_formulas(kernel, found)

    def _of_formulas(self, kernel: Kernel, found: Mapping[str, list[str]]) -> dict[str, Any]:
        meaning = self._meaning(kernel, self.own)
        parts = [[_formula(meaning, text) for text in found[key]] for key in _KEYS]
        return self._checked(*parts)

    def _said(self, kernel: Kernel) -> dict[str, Any] | None:
        for tokens, launch in self.prose:
            if launch.kernel in (kernel.short_name, "", "kernel"):
                meaning = self._meaning(kernel, self.own)
                bind(meaning, launch, self.row, tokens)
                try:
                    result = self._resolved(meaning, launch)
                except Unclear:
                    continue
                self.template, self.used = launch.template, meaning
                return result
        found = code_launch(self.said.said)
        try:
            return None if found is None else self._of_formulas(kernel, found)
        except Unclear:
            return None

    def _resolved(self, meaning: Meaning, launch: Launch) -> dict[str, Any]:
        if not 2 <= len(launch.config) <= 4:
            raise Unclear("a launch that is no <<<grid, block>>>")
        grid, block = (meaning.dims(part) for part in launch.config[:2])
        shared = [meaning.formula(launch.config[2])] if len(launch.config) > 2 else ["0"]
        return self._checked(grid, block, shared)

    def _checked(self, grid: list[str], block: list[str], shared: list[str]) -> dict[str, Any]:
        """The launch, of formulas that have a value at the row's own sizes. Raises Unclear."""
        sizes = {entry["symbol"]: entry["value"] for entry in self.row["sizes"]}
        for text in (*grid, *block, *shared):
            try:
                evaluate(text, sizes)
            except ValueError as bad:
                raise Unclear(f"launch: {bad}") from None
        return {
            "grid": [str(extent) for extent in _extents(grid)],
            "block": _extents(block),
            "shared_bytes": _plain(shared[0]),
        }


def _extents(formulas: Sequence[str]) -> list[int | str]:
    """Formulas, or numbers for those without sizes; a 1 at the end is none."""
    found = [_plain(text) for text in formulas]
    while len(found) > 1 and found[-1] == 1:
        found.pop()
    return found


def _plain(text: str) -> int | str:
    """A formula without sizes as its number."""
    try:
        return evaluate(text, {})
    except ValueError:
        return text


def _formula(meaning: Meaning, text: str) -> str:
    try:
        return meaning.formula(significant(lex(text)))
    except Unreadable as bad:
        raise Unclear(f"launch: {_printable(str(bad))}") from None


def _names(kernel: Kernel, row: Row) -> dict[str, str]:
    """What a launch may call sizes: by the kernel's parameters, by the row's, by their symbols."""
    names = {entry["symbol"]: entry["symbol"] for entry in row["sizes"]}
    held = {}
    for arg, plain in zip(row["args"], row["plain_args"], strict=False):
        prefix, _, symbol = (arg["init"] or "").partition(":")
        if prefix == "size" and symbol in names:
            held[plain["name"]] = symbol
    sizes = [arg["size"] or held.get(arg["name"]) for arg in row["plain_args"]]
    for size, arg in zip(sizes, row["plain_args"], strict=True):
        if size:
            names[arg["name"]] = str(size)
    for size, parameter in zip(sizes, kernel.parameters, strict=False):
        if size and parameter:
            names[parameter[-1].text] = str(size)
    return names


def _code(block: str, own: _Code) -> _Code | None:
    """Another block, where it can be read as code and launches something."""
    if "<<<" not in block:
        return None
    try:
        tokens = lex(block)
        declared = toplevel.declarations(tokens, brackets(tokens))
        macros = dict(own.macros)
        for one in directives(tokens):
            if one.name == "define" and (found := macro(one)) is not None:
                macros[found.name] = [found]
    except Unreadable:
        return None
    return _Code(tokens, macros, declared)


def _regions(code: _Code) -> Iterator[tuple[_Code, list[Token], Launch]]:
    """Each launch with the tokens around it: of its function, or of all where it is in none."""
    outside: list[Token] = []
    for one in code.declared:
        inside = code.tokens[one.first : one.end]
        if one.kind in (toplevel.SCOPE, toplevel.CLOSE):
            continue
        if one.kind != toplevel.FUNCTION:
            outside += significant(inside)
        elif any(token.text == "<<<" for token in inside):
            tokens = significant(inside)
            for launch in launches(tokens):
                yield code, tokens, launch
    for launch in launches(outside):
        yield code, outside, launch


def _in_prose(text: str) -> Iterator[tuple[list[Token], Launch]]:
    for snippet in snippets(text):
        try:
            tokens = significant(lex(snippet))
        except Unreadable:
            continue
        for launch in launches(tokens):
            yield tokens, launch
