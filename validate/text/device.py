"""The device's part of a CUDA text: host functions gone, its kernels found, its lines kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from validate.text import toplevel
from validate.text.constants import needed_constants
from validate.text.lexer import (
    BLANK,
    DIRECTIVE,
    LINE,
    MARK,
    WORD,
    Token,
    brackets,
    lex,
    significant,
)
from validate.text.macros import (
    Directive,
    Macro,
    condition_words,
    directives,
    macro,
    reachable,
    reaching,
    unknown,
    without_dead,
    words_of,
)
from validate.text.prelude import HEADERS
from validate.text.refusal import Refused, check_directives, check_tokens
from validate.text.shared import code_of, drop_linkage, normalised
from validate.text.toplevel import Declaration, split_at

_INCLUDED = re.compile(r"<([\w./+-]+)>|\"([\w./+-]+)\"", re.ASCII)
_EXTERN_C = re.compile(r"\bextern[ \t]+\"C\"[ \t]*")
_HOST_HEADERS = re.compile(
    r"(?:torch|ATen|c10|pybind11|thrust|cub|helper_|nvtx3|cuda/std|gtest)[\w./-]*"
    r"|(?:iostream|fstream|sstream|iomanip|ostream|istream|vector|string|string_view|map|set|list"
    r"|deque|queue|stack|array|tuple|memory|functional|chrono|random|numeric|thread|mutex|atomic"
    r"|optional|variant|any|stdexcept|exception|unordered_map|unordered_set|iterator|bitset"
    r"|complex|initializer_list|utility|algorithm|type_traits|limits|new|typeinfo|filesystem"
    r"|future|condition_variable|locale|system_error|ratio|cstdio|cstdlib|cstring|ctime|cctype"
    r"|cerrno|csignal|cassert|ctime|cinttypes)"
    r"|(?:stdio|stdlib|string|time|errno|assert|unistd|signal|inttypes|ctype|memory|getopt|omp)\.h"
    r"|sys/time\.h|(?:cuda|cuda_profiler_api|cublas_v2|cublas|curand|cufft|cusparse|nvToolsExt"
    r"|cusolverDn|nvrtc|cuda_occupancy|driver_types|vector_types|device_functions)\.h"
)
_SPACES = frozenset({"std", "at", "torch", "c10", "thrust", "cub", "py", "pybind11", "boost"})
_DEVICE_SPACES = frozenset({"cooperative_groups", "cg", "nvcuda"})
_IN_STD = re.compile(
    r"s?size_t|ptrdiff_t|u?int\w*_t|numeric_limits|is_\w+|enable_if\w*|conditional\w*|remove_\w+"
    r"|integral_constant|true_type|false_type|decay\w*|make_(?:un)?signed\w*|common_type\w*"
    r"|underlying_type\w*|add_\w+|void_t|integer_sequence|index_sequence|make_index_sequence"
    r"|nullptr_t|min|max|float_t|byte|bool_constant|rank\w*|extent\w*|declval"
)
_HOST_WORD = re.compile(r"cuda(?:Event|Stream|DeviceProp|Graph)\w*|FILE|pybind11|PyObject|at_\w+")
_MARKS = frozenset({"__device__", "__global__", "__constant__", "__shared__", "__managed__"})
_MOST_CHARACTERS = 65536


@dataclass(frozen=True)
class Kernel:
    """A `__global__` function; `name` has its namespaces before it."""

    name: str
    parameters: tuple[tuple[Token, ...], ...]
    template: tuple[tuple[Token, ...], ...] = ()
    """What stands between commas in its `template <>`."""
    bounds: tuple[Token, ...] = ()
    """The first argument of `__launch_bounds__`."""

    @property
    def short_name(self) -> str:
        return self.name.rpartition("::")[2]


@dataclass
class Device:
    """What is compiled, and what the rest of the text says."""

    code: str
    headers: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    tokens: list[Token]
    partner: dict[int, int]
    macros: dict[str, list[Macro]]
    declared: list[Declaration] = field(default_factory=list)


def read_device(text: str) -> Device:
    """Read a CUDA text. Raises Unreadable and Refused, which say what is wrong with it."""
    if len(text) > _MOST_CHARACTERS:
        raise Refused(f"more than {_MOST_CHARACTERS} characters")
    return _Reader(text).device()


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens = without_dead(lex(text))
        self.partner = brackets(self.tokens)
        self.directives = list(directives(self.tokens))
        if name := unknown(self.directives):
            raise Refused(f"#{name}")
        self.macros: dict[str, list[Macro]] = {}
        for directive in self.directives:
            if directive.name == "define":
                found = macro(directive)
                if found is None:
                    raise Refused(f"#define {directive.rest[:60]}")
                self.macros.setdefault(found.name, []).append(found)
        called = {
            n for n, all_ in self.macros.items() if any(m.parameters is not None for m in all_)
        }
        self.declared = toplevel.declarations(self.tokens, self.partner, called)
        self.marks = _MARKS | reaching(_MARKS, self.macros)
        self.global_marks = {"__global__"} | reaching({"__global__"}, self.macros)
        self.changed: dict[int, str] = {}
        self.own_spaces = {d.name for d in self.declared if d.kind == toplevel.SCOPE}

    def device(self) -> Device:
        headers = self.take_includes()
        self.take_linkage()
        self.take_host()
        self.take_shared()
        self.check()
        kernels = tuple(self.kernels())
        code = code_of(self.tokens, self.changed)
        if "pairsmith" in code.lower():
            raise Refused("a name of the judge's own")
        if any("\ud800" <= character <= "\udfff" for character in code):
            raise Refused("half a character")
        return Device(code, headers, kernels, self.tokens, self.partner, self.macros, self.declared)

    def blank(self, first: int, end: int) -> None:
        for place in range(first, end):
            if self.tokens[place].kind not in (LINE, DIRECTIVE):
                self.changed[place] = ""

    def kept(self) -> Iterator[Token]:
        """The tokens that stay, without spaces and directives."""
        for place, token in enumerate(self.tokens):
            if place in self.changed:
                yield from significant(lex(self.changed[place]))
            elif token.kind not in BLANK:
                yield token

    def take_includes(self) -> tuple[str, ...]:
        names = set()
        for directive in self.directives:
            if directive.name != "include":
                continue
            match = _INCLUDED.fullmatch(directive.rest)
            name = (match[1] or match[2]) if match else ""
            if name in HEADERS:
                names.add(name)
            elif not _HOST_HEADERS.fullmatch(name):
                raise Refused(f"#include {directive.rest[:60]} (a header that is not known)")
            self.changed[directive.place] = ""
        return tuple(sorted(names))

    def take_linkage(self) -> None:
        """Drop `extern "C"`, where what it stands before is a kernel or goes anyway."""
        opened: list[bool] = []
        for one in self.declared:
            if one.kind == toplevel.SCOPE:
                opened.append(one.name == 'extern "C"')
                if opened[-1]:
                    drop_linkage(self.tokens, one.first, one.end, self.changed)
                    self.blank(one.first, one.end)
                elif one.name in _SPACES or one.name in _DEVICE_SPACES or one.name == "cuda":
                    raise Refused(f"namespace {one.name} of the text's own")
            elif one.kind == toplevel.CLOSE and opened.pop():
                self.blank(one.first, one.end)
            elif one.words & {"extern"} and not self.is_host(one):
                linked = drop_linkage(self.tokens, one.first, one.end, self.changed)
                if linked and one.kind != toplevel.FUNCTION and not one.words & self.global_marks:
                    raise Refused('extern "C" before what is no kernel')

    def take_host(self) -> None:
        """Blank what only the host has; `constexpr` functions stay for constants of what stays."""
        constants: list[Declaration] = []
        kept: list[Declaration] = []
        for one in self.declared:
            if one.words & {"import", "module", "export"} and one.head[:1] != ("using",):
                raise Refused("a module")
            if not self.is_host(one):
                kept.append(one)
                continue
            self.blank(one.first, one.end)
            if "constexpr" in one.words and one.kind == toplevel.FUNCTION:
                constants.append(one)
        for one in needed_constants(self.tokens, kept, constants):
            for place in range(one.first, one.end):
                self.changed.pop(place, None)
            # So that NVRTC takes it; who calls it where a device runs is refused here.
            first = self.tokens[one.first].text
            at, mark = one.first, "__host__ __device__ "
            if first == "template":
                at = one.template[1]
                self.changed[at] = f"{self.tokens[at].text} {mark}"
            else:
                self.changed[at] = f"{mark}{first}"

    def is_host(self, one: Declaration) -> bool:
        if one.kind in (toplevel.SCOPE, toplevel.CLOSE):
            return False
        if one.kind == toplevel.OTHER:
            bodies = [m.body for name in one.head[:1] for m in self.macros.get(name, ())]
            mine = {*one.head} & self.marks
            return not mine and any(_of_the_host(body) for body in bodies)
        if one.words & self.marks:
            return False
        if one.kind in (toplevel.FUNCTION, toplevel.PROTOTYPE):
            return True
        inside = [token for token in self.tokens[one.first : one.end] if token.kind not in BLANK]
        if one.head[:2] == ("using", "namespace"):
            name = "".join(one.head[2:])
            return name.split("::")[0] not in self.own_spaces | _DEVICE_SPACES
        if one.head[:1] == ("using",) and "=" not in one.words:
            return "std" in one.head
        if one.kind == toplevel.VARIABLE and not one.words & {"const", "constexpr", "extern"}:
            return not any(text in self.marks for _, text in inside)
        return _of_the_host(inside)

    def take_shared(self) -> None:
        """Give dynamic shared memory its one form; no other `extern` may be left."""
        place = 0
        while place < len(self.tokens):
            if self.tokens[place].text == "extern" and place not in self.changed:
                end, text = normalised(self.tokens, place)
                self.blank(place, end)
                self.changed[place] = text
                place = end
            else:
                place += 1

    def check(self) -> None:
        kept = list(self.kept())
        staying = [d for d in self.directives if d.place not in self.changed]
        pragmas = {w for d in staying if d.name == "pragma" for w in words_of(lex(d.rest))}
        start = words_of(kept) | pragmas | condition_words(staying)
        used = reachable(start, self.macros)
        left = self.take_macros(staying, used)
        macros = {name: found for name, found in self.macros.items() if name in used}
        check_directives(left, macros)
        names = {
            *macros,
            *(p for all_ in macros.values() for m in all_ for p in m.parameters or ()),
        }
        check_tokens([*kept, *_bodies(macros)], names)

    def take_macros(self, found: Sequence[Directive], used: set[str]) -> list[Directive]:
        """Blank macros that nothing that stays names; of a kernel's, its linkage."""
        left = []
        for directive in found:
            if directive.name in ("define", "undef"):
                match = re.match(r"\w+", directive.rest)
                if match is None or match[0] not in used:
                    self.changed[directive.place] = ""
                    continue
                text = self.tokens[directive.place].text
                if "__global__" in text:
                    text = _EXTERN_C.sub("", text)
                    self.changed[directive.place] = text
                if re.search(r"\bextern\b", text):
                    raise Refused("extern in a macro")
            left.append(directive)
        return left

    def kernels(self) -> Iterator[Kernel]:
        for one in self.declared:
            if one.kind == toplevel.OTHER and one.head and one.head[0] in self.global_marks:
                tokens = self.expanded(one)
                partner = brackets(tokens)
                inside = toplevel.declarations(tokens, partner)
                found = [self.kernel(tokens, partner, kernel, one.scope) for kernel in inside]
            else:
                found = [self.kernel(self.tokens, self.partner, one, one.scope)]
            yield from (kernel for kernel in found if kernel is not None)

    def expanded(self, one: Declaration) -> list[Token]:
        """What a macro with arguments, which stands alone, becomes."""
        opening = next(p for p in range(one.first, one.end) if self.tokens[p].text == "(")
        passed = split_at(significant(self.tokens[opening + 1 : one.end - 1]))
        called = self.macros[one.head[0]][0]
        given = dict(zip(called.parameters or (), passed, strict=False))
        return [part for t in called.body for part in given.get(t.text, [t])]

    def kernel(
        self,
        tokens: Sequence[Token],
        partner: Mapping[int, int],
        one: Declaration,
        scope: Sequence[str],
    ) -> Kernel | None:
        """The kernel that a declaration defines. Raises Refused for one that is not void."""
        if not one.name or not one.words & self.global_marks:
            return None
        if "void" not in one.words | reachable(set(one.words), self.macros):
            raise Refused(f"the kernel {one.name} that does not return void")
        if one.kind != toplevel.FUNCTION:
            return None
        first, last = one.parameters
        parameters = split_at(significant(tokens[first + 1 : last]), angles=True)
        if [[t.text for t in part] for part in parameters] == [["void"]]:
            parameters = []
        start, end = one.template
        template = split_at(significant(tokens[start + 1 : end]), angles=True)
        spaces = [name for name in scope if name and name != 'extern "C"']
        return Kernel(
            "::".join([*spaces, one.name]),
            tuple(tuple(part) for part in parameters),
            tuple(tuple(part) for part in template),
            _bounds(tokens, partner, one),
        )


def _bounds(
    tokens: Sequence[Token], partner: Mapping[int, int], one: Declaration
) -> tuple[Token, ...]:
    for place in range(one.first, one.body):
        if tokens[place].text != "__launch_bounds__":
            continue
        opening = next((p for p in range(place, one.body) if tokens[p].text == "("), 0)
        first = split_at(significant(tokens[opening + 1 : partner[opening]])) if opening else []
        return tuple(first[0]) if first else ()
    return ()


def _bodies(macros: dict[str, list[Macro]]) -> Iterator[Token]:
    for found in macros.values():
        for one in found:
            yield Token(MARK, ";")
            yield from one.body


def _of_the_host(tokens: Sequence[Token]) -> bool:
    """Whether something names what only hosts have: containers, streams, tensors."""
    for place, (kind, text) in enumerate(tokens):
        if text == "<<<":
            return True
        if kind != WORD:
            continue
        if _HOST_WORD.fullmatch(text):
            return True
        inner = [token.text for token in tokens[place + 1 : place + 3]]
        if text in _SPACES and len(inner) == 2 and inner[0] == "::":
            return text != "std" or not _IN_STD.fullmatch(inner[1])
    return False
