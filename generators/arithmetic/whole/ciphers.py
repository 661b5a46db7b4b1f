"""Stream ciphers of adds, rotations and exclusive ors: ChaCha and Salsa20, a block a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from generators.arithmetic.types import UINT32
from generators.build import BodyBuilder, KernelBuilder, cast, make
from generators.build.registry import Title, idiom
from generators.kit.naming import helper
from generators.kit.sources import filled
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Operand, Var, literal

_TOP = 2**32 - 1
_SIGMA = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
"""The words of "expand 32-byte k"."""
_STATE, _FOUR = Mat(4, 4, UINT32), Vec(4, UINT32)

_CHACHA = (
    "a += b, d = rotl(d ^ a, 16), c += d, b = rotl(b ^ c, 12), a += b, d = rotl(d ^ a, 8), c += d, "
    "b = rotl(b ^ c, 7)"
)
_SALSA = "b ^= rotl(a + d, 7), c ^= rotl(b + a, 9), d ^= rotl(c + b, 13), a ^= rotl(d + c, 18)"
_RULES = {"chacha": _CHACHA, "salsa": _SALSA}
_PASSES = {
    "chacha": (
        "the columns (x[0, j], x[1, j], x[2, j], x[3, j]), j from 0 to 3, then of the diagonals "
        "(x[0, j], x[1, (j + 1) % 4], x[2, (j + 2) % 4], x[3, (j + 3) % 4])"
    ),
    "salsa": (
        "the columns (x[j, j], x[(j + 1) % 4, j], x[(j + 2) % 4, j], x[(j + 3) % 4, j]), j from 0 "
        "to 3, then of the rows (x[j, j], x[j, (j + 1) % 4], x[j, (j + 2) % 4], x[j, (j + 3) % 4])"
    ),
}
_TITLES = {"chacha": "ChaCha", "salsa": "Salsa20"}

Words = Sequence[Var]


def _rotl(x: Expr, n: int) -> Expr:
    return (x << n) | (x >> 32 - n)


def _quarter(b: BodyBuilder, kind: str, words: Words, rotl: Callable[[Expr, int], Expr]) -> None:
    """The quarter-round, in place."""
    a, b_, c, d = words
    if kind == "salsa":
        for to, (one, other), n in ((b_, (a, d), 7), (c, (b_, a), 9), (d, (c, b_), 13)):
            b.assign(to, to ^ rotl(one + other, n))
        b.assign(a, a ^ rotl(d + c, 18))
        return
    for first, second in ((16, 12), (8, 7)):
        b.augment(a, "add", b_)
        b.assign(d, rotl(d ^ a, first))
        b.augment(c, "add", d)
        b.assign(b_, rotl(b_ ^ c, second))


class _Rounds:
    """A cipher's rounds on a local 4 x 4 state."""

    def __init__(self, k: KernelBuilder, level: int, kind: str) -> None:
        shape = k.draw.shape
        self.k, self.kind = k, kind
        self.turned = shape.chance(0.6)
        self.rotl = self._rotation() if self.turned else _rotl
        self.quarter = self._helper() if level > 1 and shape.chance(0.55) else ""

    def _rotation(self) -> Callable[[Expr, int], Expr]:
        k = self.k
        name = helper(
            k,
            "rotl rotate_left",
            [("x", UINT32), ("n", UINT32)],
            lambda _, x, n: (x << n) | (x >> 32 - n),
        )
        return lambda x, n: k.call(name, x, literal(n, UINT32))

    def _helper(self) -> str:
        def build(body: BodyBuilder, v: Expr) -> Expr:
            words = [body.let(name, v[n]) for n, name in enumerate("abcd")]
            _quarter(body, self.kind, words, self.rotl)
            return make(_FOUR, *words)

        return helper(self.k, "quarter_round quarter", [("v", _FOUR)], build)

    def at(self, x: Var, cells: Sequence[tuple[Expr | int, Expr | int]]) -> None:
        """A quarter-round of these four entries of the state."""
        k = self.k
        if self.quarter:
            words = make(_FOUR, *(x[cell] for cell in cells))
            q = k.let("q v", k.call(self.quarter, words))
            for n, cell in enumerate(cells):
                k.set(x, cell, q[n])
            return
        before = set(k.used)
        found = [k.let(name, x[cell]) for name, cell in zip("abcd", cells, strict=True)]
        _quarter(k, self.kind, found, self.rotl)
        for value, cell in zip(found, cells, strict=True):
            k.set(x, cell, value)
        k.used = before

    def double(self, x: Var) -> None:
        """A round of columns and one of diagonals or rows."""
        k = self.k
        before = set(k.used)
        with k.for_("j col", 4) as j:
            turned = [j, *((j + n) % 4 for n in (1, 2, 3))]
            if self.kind == "chacha":
                self.at(x, [(n, j) for n in range(4)])
            else:
                self.at(x, [(row, j) for row in turned])
        k.used = before
        with k.for_("j col", 4) as j:
            turned = [j, *((j + n) % 4 for n in (1, 2, 3))]
            if self.kind == "chacha":
                self.at(x, list(enumerate(turned)))
            else:
                self.at(x, [(j, col) for col in turned])

    def run(self, x: Var, count: Operand) -> None:
        with self.k.for_("r pair", count):
            self.double(x)

    @property
    def rule(self) -> str:
        """A double round, in words."""
        return (
            f"a double round takes quarter-rounds of {_PASSES[self.kind]}; "
            f"the quarter-round of (a, b, c, d) is {_RULES[self.kind]}, rotl rotating left"
        )


def _one_quarter(k: KernelBuilder, kind: str) -> Title:
    """A quarter-round of four words that lie in vectors, rows, or arrays of their own."""
    rounds = _Rounds(k, 1, kind)
    k.size("blocks", 40, 60)
    way = k.draw.shape.choice(("vectors", "rows", "columns", "halves"))
    (i,) = k.thread("blocks", names=(k.name("i tid"),))
    span = {"low": 0, "high": _TOP}
    places: list[tuple[Operand, ...]] = [(i, n) for n in range(4)]
    if way == "vectors":
        x = k.array("state words_in", _FOUR, "blocks", low=0, high=_TOP)
        v = k.let("v q", x[i])
        words = [k.let(name, v[n]) for n, name in enumerate("abcd")]
        out = k.out("mixed new_state", _FOUR, "blocks")
    elif way == "halves":
        arrays = [
            k.array(f"{name}_words", UINT32, "blocks", role="inout", **span)  # type: ignore[arg-type]
            for name in "abcd"
        ]
        words = [k.let(name, array[i]) for name, array in zip("abcd", arrays, strict=True)]
    else:
        dims = ("blocks", "4") if way == "rows" else ("4", "blocks")
        places = places if way == "rows" else [(n, i) for n in range(4)]
        x = k.array("state words_in", UINT32, dims, low=0, high=_TOP)
        words = [k.let(name, x[place]) for name, place in zip("abcd", places, strict=True)]
        out = k.out("mixed new_state", UINT32, dims)
    _quarter(k, kind, words, rounds.rotl)
    name = k.name(f"{kind}_quarter_round quarter_round")
    text = f"{_TITLES[kind]} quarter-round: {_RULES[kind]}, rotl rotating left, of "
    if way == "halves":
        for array, word in zip(arrays, words, strict=True):
            k.store(array, i, word)
        return Title(name, f"{text}a, b, c, d in {', '.join(a.name for a in arrays)}, in place.")
    if way == "vectors":
        k.store(out, i, make(_FOUR, *words))
    else:
        for place, word in zip(places, words, strict=True):
            k.store(out, place, word)
    part = {"vectors": "components of each vector", "rows": "words of each row"}.get(way)
    text += f"the {part or 'words of each column'} of {x.name} as a, b, c, d, into {out.name}."
    return Title(name, text)


def _state_rounds(k: KernelBuilder, level: int, kind: str) -> Title:
    """Double rounds of states that lie in memory."""
    shape = k.draw.shape
    rounds = _Rounds(k, level, kind)
    k.size("blocks", 24, 40)
    columns = shape.chance(0.35)
    (i,) = k.thread("blocks", names=(k.name("i block tid"),))
    dims = ("16", "blocks") if columns else ("blocks", "16")
    state = k.array("states state_words", UINT32, dims, low=0, high=_TOP)
    out = k.out("new_states mixed_words", UINT32, dims)
    several = shape.chance(0.6)
    count = k.scalar("num_double_rounds double_rounds", INT32, 3, 10) if several else None
    x = k.let("x", filled(_STATE, 0))
    with k.for_("w word", 16) as w:
        k.set(x, (w // 4, w % 4), state[(w, i) if columns else (i, w)])
    if count is None:
        rounds.double(x)
    else:
        rounds.run(x, count)
    added = several and shape.chance(0.6)
    with k.for_("n slot", 16) as n:
        place = (n, i) if columns else (i, n)
        value = x[n // 4, n % 4]
        k.store(out, place, value + state[place] if added else value)
    layout = "word, block" if columns else "block, word"
    text = f"{'A' if count is None else count.name} {_TITLES[kind]} double round"
    text += (
        f"{'s' * several} of each state of 16 words ({state.name} [{layout}], row by row a 4 x 4 "
    )
    text += f"matrix x) into {out.name}{', with the first state added' * added}: {rounds.rule}."
    return Title(k.name(f"{kind}_double_rounds {kind}_permute"), text)


def _begun(kind: str, key: Key, nonce: Key, counter: Expr) -> tuple[Expr, str]:
    """The first state; what it is, in words."""
    c = [literal(word, UINT32) for word in _SIGMA]
    if kind == "chacha":
        cells = [*c, *(key(n) for n in range(8)), counter, *(nonce(n) for n in range(3))]
        said = "the constants, the 8 words of the key, the counter, the 3 words of the nonce"
    else:
        low = [c[0], *(key(n) for n in range(4)), c[1], nonce(0), nonce(1), counter]
        cells = [*low, literal(0, UINT32), c[2], *(key(n) for n in range(4, 8)), c[3]]
        said = (
            "the first constant, 4 words of the key, the second constant, the 2 words of the "
            "nonce, the counter, 0, the third constant, 4 words of the key, the fourth constant"
        )
    return make(_STATE, *cells), said


Key = Callable[[int], Expr]


def _keystream(k: KernelBuilder, level: int, kind: str) -> Title:
    """Blocks of the key stream: alone, on words of data, or of many messages with their keys."""
    shape = k.draw.shape
    rounds = _Rounds(k, level, kind)
    size = 3 if kind == "chacha" else 2
    own = level == 5
    if own:
        k.size("messages", 4, 6)
        k.size("blocks", 5, 8)
        m, i = k.thread("messages", "blocks", names=(k.name("m msg"), k.name("i block")))
        keys = k.array("keys", UINT32, ("messages", "8"), low=0, high=_TOP)
        nonces = k.array("nonces", UINT32, ("messages", str(size)), low=0, high=_TOP)
        key, nonce = (lambda n: keys[m, n]), (lambda n: nonces[m, n])
    else:
        k.size("blocks", 24, 40)
        (i,) = k.thread("blocks", names=(k.name("i block tid"),))
        keys = k.array("key", UINT32, "8", low=0, high=_TOP)
        nonces = k.array("nonce", UINT32, str(size), low=0, high=_TOP)
        key, nonce = (lambda n: keys[n]), (lambda n: nonces[n])
    fixed = shape.chance(0.5)
    count: Operand = 10 if fixed else k.scalar("num_double_rounds", INT32, 4, 10)
    first = k.scalar("first_counter counter_start", UINT32, 0, _TOP)
    begun, said = _begun(kind, key, nonce, k.let("ctr", first + cast(i, UINT32)))
    start = k.let("start s0 initial", begun)
    x = k.let("x", start)
    rounds.run(x, count)
    how = _delivered(k, level, x, start, (m, i) if own else (i,))
    text = f"{_TITLES[kind]} key stream, {'20 rounds' if fixed else f'2 * {count.name} rounds'}: "  # type: ignore[union-attr]
    text += f"the state x of {'block i of each message' if own else 'block i'}, a 4 x 4 matrix, "
    text += f"starts, row by row, with {said}; the constants are 0x61707865, 0x3320646e, "
    text += f"0x79622d32, 0x6b206574, and the counter is {first.name} + i (modulo 2^32). After "
    text += f"the double rounds the first state is added, which gives 16 words. {how} Here "
    text += f"{rounds.rule}."
    return Title(k.name(f"{kind}_keystream {kind}_block" if level == 3 else f"{kind}_xor"), text)


def _delivered(k: KernelBuilder, level: int, x: Var, start: Var, at: tuple[Var, ...]) -> str:
    """Store the words of a block, or what they make of data."""
    shape, dims = k.draw.shape, ("messages",) if len(at) > 1 else ()
    *outer, i = at
    if level == 3:
        flat = shape.chance(0.5)
        out = k.out("keystream stream_words", UINT32, "16*blocks" if flat else ("blocks", "16"))
        with k.for_("w n", 16) as w:
            k.store(out, (16 * i + w,) if flat else (i, w), x[w // 4, w % 4] + start[w // 4, w % 4])
        where = f"at {out.name}[16 * i + n]" if flat else f"at {out.name}[i, n]"
        return f"Word n is stored {where}."
    ragged = None
    span = (*dims, "16*blocks")
    if level == 5 or shape.chance(0.5):
        names = "num_words message_length"
        ragged = (
            k.array("lengths num_words", INT32, "messages", low=1, high=70)
            if dims
            else k.scalar(names, INT32, 100, 300)
        )
    inplace = ragged is not None or shape.chance(0.3)
    role = "inout" if inplace else "in"
    names = "data data_words" if inplace else "plaintext data_words"
    data = out = k.array(names, UINT32, span, low=0, high=_TOP, role=role)
    if not inplace:
        out = k.out("ciphertext data_out", UINT32, span)
    end = ragged
    if ragged is not None and dims:
        end = k.let("end num_words", ragged[outer[0]])
    with k.for_("w n", 16) as w:
        place: tuple[Expr, ...] = (*outer, k.let("p pos", 16 * i + w))
        mixed = data[place] ^ (x[w // 4, w % 4] + start[w // 4, w % 4])
        with k.if_(place[-1] < end) if end is not None else nullcontext():
            k.store(out, place, mixed)
    text = f"{out.name} gets {data.name} ^ these words" if not inplace else ""
    text = text or f"{data.name} is xored with these words in place"
    text += ", word n of block i at 16 * i + n"
    if ragged is None:
        return f"{text}."
    return f"{text}; only the first {ragged.name} words {'of each message ' * bool(dims)}change."


@idiom
def chacha_rounds(k: KernelBuilder, level: int) -> Title:
    """ChaCha and Salsa20 (Bernstein, 2008; RFC 8439): quarter-rounds, states, key streams."""
    kind = k.draw.shape.weighted({"chacha": 3, "salsa": 2})
    if level == 1:
        return _one_quarter(k, kind)
    return _state_rounds(k, level, kind) if level == 2 else _keystream(k, level, kind)
