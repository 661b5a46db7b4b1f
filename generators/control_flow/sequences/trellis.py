"""Convolutional codes: the encoder, branch metrics, add-compare-select, survivors, traceback.

A. Viterbi, IEEE Trans. Inf. Theory 13 (1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.kit.functions import least, where
from generators.kit.masks import one_if
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, UINT32, UINT64 = Scalar("uint8"), Scalar("uint32"), Scalar("uint64")
_STATES = 64
"""States of a code of constraint length 7, whose decisions fill a 64-bit word."""
_SHORT = 16
"""States of one of constraint length 5, as GSM has it."""
_TAPS = {_STATES: (109, 79), _SHORT: (25, 27)}
"""Polynomials with the newest bit lowest: 0o133 and 0o171 of Voyager and 802.11, and GSM's."""


def _parity(value: Expr) -> Expr:
    return fn("bit_count", value) & 1


@dataclass(frozen=True)
class _Code:
    """A code of rate 1/2: the polynomials of its two bits."""

    taps: tuple[Expr, Expr]
    said: str

    def cost(self, k: BodyBuilder, register: Expr, soft: tuple[Expr, Expr]) -> Expr:
        """How little what was received fits the bits of a register: soft values of wrong sign."""
        bits = [_parity(register & tap) for tap in self.taps]
        return _sum([where(same(b, 1), r, -r) for b, r in zip(bits, soft, strict=True)])


def _sum(parts: Sequence[Expr]) -> Expr:
    return parts[0] + parts[1]


def _code(k: KernelBuilder, states: int = _STATES) -> _Code:
    """Polynomials as numbers in the kernel, or as parameters."""
    one, two = _TAPS[states]
    if k.draw.shape.chance(0.5):
        return _Code((k.lift(one, INT32), k.lift(two, INT32)), f"{one} and {two}")
    names = k.draw.word.choice((("poly0", "poly1"), ("gen_a", "gen_b")))
    first, second = (k.scalar(name, INT32, states + 1, 2 * states - 1) for name in names)
    return _Code((first, second), f"{first.name} and {second.name}")


_RULE = "the parity of the register and a polynomial"


def _encode(k: KernelBuilder, level: int) -> Title:
    """The encoder: parities of the last seven bits of a message."""
    k.size("frames", 5, 7)
    k.size("steps", 14, 18)
    f, t = k.thread("frames", "steps", names=k.draw.word.choice((("f", "t"), ("b", "n"))))
    bits = k.array("message info_bits", UINT8, ("frames", "steps"), low=0, high=1)
    code = _code(k)
    register = k.let("register window", k.lift(0, INT32))
    with k.for_("j back", 7) as j, k.if_(t >= j):
        k.assign(register, register | (cast(bits[f, t - j], INT32) << j))
    first, second = (_parity(register & tap) for tap in code.taps)
    said = "bit 0 being the newest of the last 7 message bits, those before the message 0"
    if k.draw.shape.chance(0.5):
        out = k.out("coded code_bits_out", UINT8, ("frames", "steps", "2"))
        for n, bit in enumerate((first, second)):
            k.store(out, (f, t, n), cast(bit, UINT8))
        how = "its two code bits"
    else:
        out = k.out("coded symbols_out", UINT8, ("frames", "steps"))
        k.store(out, (f, t), cast((first << 1) | second, UINT8))
        how = "its two code bits as one number, the first in bit 1"
    text = f"Convolutional encoder of rate 1/2: for each step, {out.name} gets {how}, each "
    text += f"{_RULE}, {code.said}, the "
    return Title(k.name("convolutional_encode conv_encode"), f"{text}register's {said}.")


def _branches(k: KernelBuilder, level: int) -> Title:
    """Costs of the four pairs of bits at each step."""
    k.size("frames", 5, 7)
    k.size("steps", 12, 16)
    f, t = k.thread("frames", "steps", names=k.draw.word.choice((("f", "t"), ("b", "n"))))
    out = k.out("branch_costs metrics", INT32, ("frames", "steps", "4"))
    if k.draw.shape.chance(0.5):
        soft = k.array("soft_bits quantized", INT32, ("frames", "steps", "2"), low=0, high=7)
        first, second = k.let("r0 a", soft[f, t, 0]), k.let("r1 b", soft[f, t, 1])
        for pair in range(4):
            parts = [7 - r if bit else r for r, bit in ((first, pair >> 1), (second, pair & 1))]
            k.store(out, (f, t, pair), _sum(parts))
        text = f"for each pair p, {out.name} gets the cost of its bits (the first is bit 1): r for "
        text += f"a 0 and 7 - r for a 1, summed, r being the 3-bit soft values in {soft.name}"
    else:
        heard = k.array("received hard_symbols", INT32, ("frames", "steps"), low=0, high=3)
        word = k.let("r symbol", heard[f, t])
        with k.for_("p pair", 4) as p:
            k.store(out, (f, t, p), fn("bit_count", word ^ p))
        text = (
            f"for each pair p of two bits, {out.name} gets how many of them differ from those of "
        )
        text += heard.name
    return Title(
        k.name("branch_metrics viterbi_branch_costs"), f"Branch metrics of a code: {text}."
    )


def _soft(k: KernelBuilder, dims: tuple[str, ...]) -> Var:
    if k.draw.shape.chance(0.6):
        return k.array("soft_bits llrs", INT32, (*dims, "2"), low=-127, high=127)
    return k.array("soft_bits llrs", FLOAT32, (*dims, "2"), low=-8.0, high=8.0)


def _element(array: Var) -> Scalar:
    found = array.type.element  # type: ignore[union-attr]
    assert isinstance(found, Scalar)
    return found


_TOLD = (
    "State s holds the last bits, the newest lowest: it is reached by bit s & 1 from the states "
    "s >> 1 and (s >> 1) + {half}, with the register 2 * p + (s & 1) of p. "
)
_COST = "A branch costs r for a code bit of 1 and -r for one of 0, r being the soft values"


def _select(k: KernelBuilder, level: int) -> Title:
    """One step: of the two ways into each state the cheaper."""
    k.size("frames", 5, 7)
    k.size("half_states", 5, 8)
    dims = ("frames", "2*half_states")
    f, s = k.thread(*dims, names=k.draw.word.choice((("f", "s"), ("b", "state"))))
    soft = _soft(k, ("frames",))
    kind = _element(soft)
    top = 400 if kind == INT32 else 20.0
    before = k.array("path_costs old_metrics", kind, dims, low=0, high=top)
    half = k.size_param("half_states half", "half_states")
    code = _code(k)
    pair = (k.let("r0", soft[f, 0]), k.let("r1", soft[f, 1]))
    low = k.let("p0 prev0", s >> 1)
    ways = []
    for n, p in enumerate((low, k.let("p1 prev1", low + half))):
        register = k.let(f"reg{n}", (p << 1) | (s & 1))
        ways.append(k.let(f"m{n} cost{n}", before[f, p] + code.cost(k, register, pair)))
    out = k.out("new_costs new_metrics", kind, dims)
    chosen = k.out("decisions survivors", UINT8, dims)
    if k.draw.shape.chance(0.5):
        k.store(out, (f, s), least(*ways))
        k.store(chosen, (f, s), cast(one_if(ways[1] < ways[0]), UINT8))
    else:
        with k.if_(ways[1] < ways[0]):
            k.store(out, (f, s), ways[1])
            k.store(chosen, (f, s), k.lift(1, UINT8))
        with k.else_():
            k.store(out, (f, s), ways[0])
            k.store(chosen, (f, s), k.lift(0, UINT8))
    text = "Add-compare-select of a Viterbi decoder of rate 1/2. "
    text += _TOLD.format(half=half.name)
    text += f"{_COST} in {soft.name}, code bits each {_RULE}, {code.said}. {out.name} gets "
    text += f"the lower of the two costs in {before.name} plus branch, "
    text += f"{chosen.name} 1 where the second is lower."
    return Title(k.name("viterbi_acs add_compare_select acs_step"), text)


def _traceback(k: KernelBuilder, level: int) -> Title:
    """The message of each frame, by its survivors from the last state back."""
    k.size("frames", 30, 40)
    k.size("steps", 10, 14)
    (f,) = k.thread("frames", names=(k.name("f frame"),))
    words = k.array("survivors decision_words", UINT64, ("steps", "frames"), low=0, high=2**64 - 1)
    steps = k.size_param("num_steps n_steps", "steps")
    start = k.draw.shape.chance(0.5)
    if start:
        ends = k.array("end_states best_states", INT32, "frames", low=0, high=_STATES - 1)
        state = k.let("state s", ends[f])
    else:
        state = k.let("state s", k.lift(0, INT32))
    out = k.out("decoded message", UINT8, ("frames", "steps"))
    with k.for_("i back", steps) as i:
        t = k.let("t step", steps - 1 - i)
        k.store(out, (f, t), cast(state & 1, UINT8))
        bit = k.let("bit choice", cast((words[t, f] >> cast(state, UINT64)) & 1, INT32))
        k.assign(state, (state >> 1) | (bit << 5))
    where_from = f"{ends.name}" if start else "state 0 (a terminated code)"
    text = (
        f"Viterbi traceback of a code of 64 states, from {where_from} at the last step: {out.name} "
    )
    text += (
        "gets the lowest bit of the state at each step; the state before is (s >> 1) + 32 * bit s "
    )
    return Title(
        k.name("viterbi_traceback trace_survivors"), f"{text}of {words.name} of that step."
    )


def _whole(k: KernelBuilder, level: int) -> Title:
    """A thread for each frame: all steps, survivors as words, costs in two rows by turns."""
    k.size("frames", 2, 3)
    k.size("steps", 3, 4, minimum=2)
    (f,) = k.thread("frames", names=(k.name("f frame"),))
    soft = _soft(k, ("frames", "steps"))
    kind = _element(soft)
    steps = k.size_param("num_steps n_steps", "steps")
    code = _code(k, _SHORT)
    dims, top = ("frames", "2", str(_SHORT)), 300 if kind == INT32 else 20.0
    costs = k.array("path_costs metrics", kind, dims, role="inout", low=0, high=top)
    words = k.out("survivors decision_words", UINT32, ("frames", "steps"))
    with k.for_("t step", steps) as t:
        now = k.let("cur now", t & 1)
        pair = (k.let("r0", soft[f, t, 0]), k.let("r1", soft[f, t, 1]))
        word = k.let("word bits", k.lift(0, UINT32))
        with k.for_("s state", _SHORT) as s:
            low = k.let("p0 prev0", s >> 1)
            ways = []
            for n, p in enumerate((low, k.let("p1 prev1", low + _SHORT // 2))):
                register = k.let(f"reg{n}", (p << 1) | (s & 1))
                cost = costs[f, now, p] + code.cost(k, register, pair)
                ways.append(k.let(f"m{n} cost{n}", cost))
            best = k.let("best chosen", ways[0])
            with k.if_(ways[1] < ways[0]):
                k.assign(best, ways[1])
                k.assign(word, word | (k.lift(1, UINT32) << cast(s, UINT32)))
            k.store(costs, (f, 1 - now, s), best)
        k.store(words, (f, t), word)
    text = f"Forward pass of a Viterbi decoder of rate 1/2 and {_SHORT} states, a thread for each "
    text += f"frame. {_TOLD.format(half=_SHORT // 2)}{_COST} in {soft.name} of the step, code bits "
    text += (
        f"each {_RULE}, {code.said}. The costs of a frame are in row t % 2 of {costs.name} before "
    )
    text += "step t and in the other row after it, each the lower of the two plus branch; bit s of "
    text += f"{words.name} is 1 where the second is lower."
    return Title(k.name("viterbi_forward viterbi_decode_forward"), text)


_FORMS = {1: (_encode, _branches), 2: (_select, _encode), 3: (_select, _traceback), 4: (_whole,)}


@idiom(depth=4)
def trellis_decoding(k: KernelBuilder, level: int) -> Title:
    """Convolutional codes: encoder, branch metrics, add-compare-select, traceback, forward pass."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)
