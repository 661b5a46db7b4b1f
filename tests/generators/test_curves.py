"""Tangents of curves are the derivatives of their points."""

from __future__ import annotations

from typing import Any

import pytest

from generators.arithmetic import curves


class _Numbers:
    """Takes a number for an expression."""

    @staticmethod
    def let(_names: str, value: Any) -> Any:
        return value


@pytest.mark.parametrize("form", sorted(curves._CURVES))
def test_a_tangent_is_the_derivative(form: str) -> None:
    p: list[Any] = [0.3, -1.1, 0.7, 2.4][: 3 if form == "quadratic" else 4]
    step = 1e-5

    def point(t: Any) -> Any:
        weights: list[Any] = curves._blending(_Numbers, form, t)  # type: ignore[arg-type]
        return sum(w * x for w, x in zip(weights, p, strict=True))

    for t in (0.1, 0.5, 0.8):
        place: Any = t
        slope: Any = curves._slope(form, place, p)
        assert (point(t + step) - point(t - step)) / (2 * step) == pytest.approx(slope, rel=1e-6)
