"""Texts as no person writes them: edits of tokens, halves of two texts, bytes at random."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_TOKEN = re.compile(r"\s+|[A-Za-z_]\w*|[0-9][\w.]*|[<>=!&|+*/%^-]+|.", re.DOTALL)
_SPACE = re.compile(r" ")
_WORD = re.compile(r"[A-Za-z_]\w*")
_OPERATOR = re.compile(r"[<>=!&|+*/%^-]+")
_OPERATORS = tuple(
    _SPACE.split("+ - * / % << >> & | ^ && || == != < <= > >= = += -= *= ++ -- ! ~ , ; -> ::")
)
_NUMBERS = _SPACE.split(
    "0 1 2 3 7 31 32 33 63 64 255 256 257 1023 1024 4096 65535 65536 2147483647 4294967295u -1 "
    "0xffffffffu 1.0f 0.5f 1e-30f 1e38f 3.4e39 0x 1u 08 1e 9223372036854775807LL 1ull"
)
_PHRASES = (
    "__syncthreads();",
    "__syncwarp();",
    "__shared__ float tile[256];",
    "extern __shared__ unsigned char bytes[];",
    "__device__ int counter;",
    "atomicAdd(&counter, 1);",
    "__threadfence();",
    "if (threadIdx.x == 0) return;",
    "for (;;) {}",
    "while (atomicCAS(&counter, 0, 1) != 0) {}",
    "__shfl_down_sync(0xffffffffu, 1, 16);",
    "__trap();",
    "assert(false);",
    'printf("%d\\n", threadIdx.x);',
    "#pragma unroll\n",
    "#include <cooperative_groups.h>\n",
    "#define n 7\n",
    "#if 0\n",
    "#endif\n",
    "template <typename T>",
    "__launch_bounds__(64)",
    "__global__ void second(int* p) { *p = 1; }",
    'extern "C"',
    "kernel<<<1, 256>>>(a, b, n);",
    'asm volatile("bar.sync 0;");',
    "int* p = nullptr; *p = 1;",
    "int big[1 << 20]; big[threadIdx.x] = 1;",
    "static int kept = 0; ++kept;",
    "goto end; end:;",
    "auto f = [&] (int i) { return i; };",
    "/*",
    "*/",
    "//",
    "```",
    "```cuda\n",
    "Launch it with the grid (1) and the block (32).",
    '{"grid": ["1"], "block": [64], "shared_bytes": 0}',
    "<think>",
    "\\\n",
    'R"(',
    "??/",
)
_CHARACTERS = (
    "\x00\x01\x07\x1b\x7f\x80\xff\u00b5\u0436\u200b\u202e\u2028\ud800\udfff\ufeff\U0001f600"
)

Change = Callable[[random.Random, list[str], Sequence[str]], None]


def mutate(stream: random.Random, texts: Sequence[str], at: int) -> tuple[str, str]:
    """A changed version of `texts[at]`, and the names of the changes, joined by a plus."""
    tokens = _TOKEN.findall(texts[at])
    names = []
    for _ in range(stream.choice((1, 1, 1, 1, 1, 2, 4))):
        (name,) = stream.choices(list(CHANGES), _WEIGHTS)
        names.append(name)
        CHANGES[name](stream, tokens, texts)
    return "".join(tokens), "+".join(names)


def _place(stream: random.Random, tokens: list[str]) -> int:
    """A place of a token that is more than space; of any where there is none; 0 for no tokens."""
    for _ in range(20):
        at = stream.randrange(max(1, len(tokens)))
        if tokens and not tokens[at].isspace():
            return at
    return 0


def _delete(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    at = _place(stream, tokens)
    del tokens[at : at + stream.choice((1, 1, 1, 2, 8))]


def _duplicate(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    at, length = _place(stream, tokens), stream.choice((1, 1, 3, 40))
    to = _place(stream, tokens) if stream.random() < 0.3 else at
    tokens[to:to] = tokens[at : at + length]


def _swap(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    if tokens:
        first, second = _place(stream, tokens), _place(stream, tokens)
        tokens[first], tokens[second] = tokens[second], tokens[first]


def _replace(
    stream: random.Random, tokens: list[str], fits: Callable[[str], bool], by: Sequence[str]
) -> None:
    able = [at for at, token in enumerate(tokens) if fits(token)]
    if able and by:
        tokens[stream.choice(able)] = stream.choice(by)


def _statement(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    """Leave out, double or move what stands between two semicolons."""
    ends = [at for at, token in enumerate(tokens) if token in (";", "{", "}")]
    if len(ends) < 3:
        return
    at = stream.randrange(len(ends) - 1)
    start, end = ends[at] + 1, ends[at + 1] + 1
    if tokens[end - 1] != ";":
        return
    taken = tokens[start:end]
    to = stream.choice([start, ends[stream.randrange(len(ends))] + 1])
    if stream.random() < 0.7:
        del tokens[start:end]
        to = to if to <= start else to - len(taken)
    if stream.random() < 0.7:
        tokens[to:to] = taken


def _number(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    _replace(stream, tokens, lambda token: token[:1].isdigit(), _NUMBERS)


def _operator(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    _replace(stream, tokens, lambda token: bool(_OPERATOR.fullmatch(token)), _OPERATORS)


def _identifier(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    words = [token for token in tokens if _WORD.fullmatch(token)]
    if stream.random() < 0.2:
        words = _WORD.findall(stream.choice(texts)[:20_000])
    _replace(stream, tokens, lambda token: bool(_WORD.fullmatch(token)), words)


def _cut(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    at = _place(stream, tokens)
    if stream.random() < 0.5:
        del tokens[at:]
    else:
        del tokens[:at]


def _splice(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    other = _TOKEN.findall(stream.choice(texts)[:100_000])
    tokens[_place(stream, tokens) :] = other[_place(stream, other) :]


def _phrase(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    tokens.insert(_place(stream, tokens), f" {stream.choice(_PHRASES)} ")


def _bytes(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    count = stream.choice((1, 1, 4, 64))
    drawn = (
        stream.choice(_CHARACTERS) if stream.random() < 0.5 else chr(stream.randrange(0x110000))
        for _ in range(count)
    )
    tokens.insert(_place(stream, tokens), "".join(drawn))


def _repeat(stream: random.Random, tokens: list[str], texts: Sequence[str]) -> None:
    at = _place(stream, tokens)
    if tokens:
        tokens[at] = tokens[at] * stream.choice((2, 30, 1000))


CHANGES: dict[str, Change] = {
    "deleted": _delete,
    "duplicated": _duplicate,
    "swapped": _swap,
    "statement": _statement,
    "number": _number,
    "operator": _operator,
    "identifier": _identifier,
    "cut": _cut,
    "spliced": _splice,
    "phrase": _phrase,
    "bytes": _bytes,
    "repeated": _repeat,
}
# Those after which a text often compiles are drawn most.
_WEIGHTS = [1, 1, 1, 6, 6, 6, 4, 1, 1, 4, 1, 1]
