"""Formats of pixel words, and two images of one format blended."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    UINT8,
    UINT16,
    UINT32,
    Grid,
    elements,
    local,
    named,
    tuned_limit,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Expr

FORMATS: dict[str, tuple[Scalar, tuple[tuple[str, int, int], ...]]] = {
    "rgb565": (UINT16, (("r", 11, 5), ("g", 5, 6), ("b", 0, 5))),
    "bgr565": (UINT16, (("b", 11, 5), ("g", 5, 6), ("r", 0, 5))),
    "argb1555": (UINT16, (("a", 15, 1), ("r", 10, 5), ("g", 5, 5), ("b", 0, 5))),
    "rgba4444": (UINT16, (("r", 12, 4), ("g", 8, 4), ("b", 4, 4), ("a", 0, 4))),
    "rgba8888": (UINT32, (("r", 24, 8), ("g", 16, 8), ("b", 8, 8), ("a", 0, 8))),
    "abgr8888": (UINT32, (("a", 24, 8), ("b", 16, 8), ("g", 8, 8), ("r", 0, 8))),
    "bgrx8888": (UINT32, (("b", 24, 8), ("g", 16, 8), ("r", 8, 8))),
    "rgb10a2": (UINT32, (("r", 22, 10), ("g", 12, 10), ("b", 2, 10), ("a", 0, 2))),
    "la88": (UINT16, (("l", 8, 8), ("a", 0, 8))),
    "rgb332": (UINT8, (("r", 5, 3), ("g", 2, 3), ("b", 0, 2))),
}


Layout = tuple[tuple[str, int, int], ...]


def described(layout: Layout) -> str:
    return ", ".join(f"{c} in {bits} bits from bit {at}" for c, at, bits in layout)


def joined(parts: list[Expr], layout: Layout) -> Expr:
    word: Expr | None = None
    for part, (_, at, _) in zip(parts, layout, strict=True):
        shifted = part << at if at else part
        word = shifted if word is None else word | shifted
    assert word is not None
    return word


def field(k: BodyBuilder, word: Expr, at: int, bits: int, total: int) -> Expr:
    shifted = word >> at if at else word
    return shifted if at + bits == total else shifted & (2**bits - 1)


def repacked(k: KernelBuilder, level: int, g: Grid, name: str) -> Title:
    """Two images of one format, blended channel by channel and packed again."""
    word, layout = FORMATS[name]
    high = 2**word.bits - 1
    wanted = [((n, f"{n}_px"), word, 0, high) for n in ("front", "back")]
    front, back = elements(k, wanted, g, ("PixelPair",), 0.3)
    out = k.out(("blended", "mixed", "result"), word, g.sizes)
    form = k.draw.shape.choice(("average", "mix", "brighter", "darker", "gap"))
    share = tuned_limit(k, FLOAT32, 0.2, 0.8) if form == "mix" else None
    a = local(k, ("a", "src"), front.value)
    b = local(k, ("b", "dst"), back.value)

    def build(body: BodyBuilder, p: Expr, q: Expr, *weight: Expr) -> Expr:
        if form == "average":
            return (p + q + 1) >> 1
        if form in ("brighter", "darker"):
            return fn("max" if form == "brighter" else "min", p, q)
        if form == "gap":
            return fn("max", p, q) - fn("min", p, q)
        assert isinstance(p.type, Scalar)
        blend = fn("lerp", cast(q, FLOAT32), cast(p, FLOAT32), weight[0])
        return cast(blend + 0.5, p.type)

    parts: list[Expr] = []
    wide = UINT32
    call = ""
    for letter, at, bits in layout:
        pair = [cast(field(k, v, at, bits, word.bits), wide) for v in (a, b)]
        pair += [share.value] if share else []
        if not call and k.draw.shape.chance(0.5):
            params = [(n, v.type) for n, v in zip(("p", "q", "weight"), pair, strict=False)]
            call = helper(k, ("mix_channel", "blend_channel"), params, build)
        value = k.call(call, *pair) if call else build(k, *pair)
        parts.append(named(k, (letter, f"{letter}_mix"), value, 0.6))
    packed = cast(joined(parts, layout), word)
    rule = {
        "average": "(p + q + 1) >> 1",
        "brighter": "max(p, q)",
        "darker": "min(p, q)",
        "gap": "|p - q|",
        "mix": f"q + {share.text if share else ''} * (p - q) + 0.5, truncated",
    }[form]
    done = (
        f"Combine the {name} pixels ({described(layout)}) of {front.text} (p) and {back.text} (q)"
    )
    k.store(out, g.at, packed)
    return Title(
        k.name(f"blend_{name}", "combine_pixels", f"mix_{name}"),
        f"{done} (q) channel by channel: {rule}. Store them packed again in {out.name}.",
    )
