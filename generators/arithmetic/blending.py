"""Blends of 8-bit images in integer arithmetic."""

from __future__ import annotations

from generators.arithmetic.parts import (
    INT16,
    INT32,
    UINT8,
    UINT16,
    UINT32,
    Given,
    Grid,
    condition,
    elements,
    grid,
    local,
    parameters,
    step,
    store_where,
)
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import BOOL, Scalar
from generators.program.expr import Expr

_BLENDS = {
    "over": ("alpha_over", "composite_over", "blend_over"),
    "multiply": ("multiply_blend", "modulate", "tint_bytes"),
    "screen": ("screen_blend", "screen_bytes"),
    "lerp": ("crossfade", "mix_images", "lerp_bytes"),
    "add": ("additive_blend", "glow_add", "lighten_add"),
    "premultiply": ("premultiply_alpha", "apply_alpha"),
}


@idiom
def byte_blend(k: KernelBuilder, level: int) -> Title:
    """Blends of 8-bit images in integers: over, multiply, screen, crossfade; division by 255."""
    shape = k.draw.shape
    g = grid(k, {2: 4, 3: 2, 1: 1})
    form = shape.choice(sorted(_BLENDS))
    wide = shape.choice((UINT32, UINT32, UINT16, INT32)) if form != "add" else UINT32
    wanted = [(("src", "front", "top"), UINT8, 0, 255), (("dst", "back", "base"), UINT8, 0, 255)]
    if form in ("over", "lerp", "premultiply"):
        wanted.append((("alpha", "coverage", "opacity"), UINT8, 0, 255))
    if form == "premultiply":
        wanted.pop(1)
    found = elements(k, wanted, g, "Texel Layer", 0.15 if level < 3 else 0.35)
    values = [
        local(k, (n,), cast(f.value, wide)) for n, f in zip(("s", "d", "al"), found, strict=False)
    ]
    out = k.out("out blended result", UINT8, g.sizes)
    raw, text = _blend(form, values, [f.text for f in found])
    if level >= 2 and form != "add" and wide != UINT16 and shape.chance(0.5):
        fade = parameters(k, [("fade strength opacity_q", wide, 100, 256)], "Style", 0.3)
        raw, text = (raw * fade[0].value) >> 8, f"({text} * {fade[0].text}) >> 8"
    value, how = _over_255(k, level, form, raw, wide)
    done = f"Blend {', '.join(f.text for f in found)} in {wide}: t = {text}; {how}."
    result: Expr = cast(value, UINT8)
    if level >= 4:
        result = k.let("pixel mixed", result)
        done += _levels(k, level, result, found[0], g)
    if level >= 3 and shape.chance(0.5):
        test = condition(k, g)
        store_where(k, out, g, test.value, result, found[-1].value)
        done += f" Where not {test.text}, {found[-1].text} is stored."
    else:
        k.store(out, g.at, result)
    return Title(k.name(*_BLENDS[form]), f"{done} The result goes to {out.name}.")


def _blend(form: str, v: list[Expr], n: list[str]) -> tuple[Expr, str]:
    if form in ("over", "lerp"):
        text = f"{n[0]} * {n[2]} + {n[1]} * (255 - {n[2]})"
        return v[0] * v[2] + v[1] * (255 - v[2]), text
    if form in ("multiply", "premultiply"):
        return v[0] * v[1], f"{n[0]} * {n[1]}"
    if form == "screen":
        text = f"255 * 255 - (255 - {n[0]}) * (255 - {n[1]})"
        return 65025 - (255 - v[0]) * (255 - v[1]), text
    return v[0] + v[1], f"{n[0]} + {n[1]}"


def _over_255(k: KernelBuilder, level: int, form: str, raw: Expr, wide: Scalar) -> tuple[Expr, str]:
    if form == "add":
        return fn("min", raw, 255), "the result is min(t, 255)"
    forms = ("divide", "shift") if wide == UINT16 else ("divide", "exact", "rounded", "shift")
    how = k.draw.shape.choice(forms)

    def build(b: BodyBuilder, t: Expr) -> Expr:
        if how == "divide":
            return t // 255
        if how == "rounded":
            return (t + 127) // 255
        if how == "shift":
            return t >> 8
        u = b.let("u biased", t + 128)
        return (u + (u >> 8)) >> 8

    text = {
        "divide": "t / 255",
        "rounded": "(t + 127) / 255",
        "shift": "t >> 8",
        "exact": "(u + (u >> 8)) >> 8 with u = t + 128",
    }[how]
    value = step(k, "div255 scale_down", (("t", raw),), build, 0.6 if level >= 3 else 0.1)
    return value, f"the result is {text}"


def _levels(k: KernelBuilder, level: int, pixel: Expr, source: Given, g: Grid) -> str:
    """How far the pixel moved, or a flag for bright ones."""
    moved = k.out("change moved_by", INT16, g.sizes)
    change = cast(pixel, INT16) - cast(source.value, INT16)
    k.store(moved, g.at, change)
    done = f" {moved.name} gets the result minus {source.text}."
    if level == 5:
        bright = k.out("clipped bright", BOOL, g.sizes)
        limit = k.scalar("limit threshold", UINT8, 30, 90)
        k.store(bright, g.at, pixel > limit)
        done += f" {bright.name} says whether the result exceeds {limit.name}."
    return done
