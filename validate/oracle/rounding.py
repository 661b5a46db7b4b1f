"""Rounding of PyTorch's calls, made greater than it is: to see where it decides on a value."""

from __future__ import annotations

from typing import Any

_PRODUCTS = frozenset({"addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv"})
"""PyTorch has these of whole numbers on a CPU, and on no GPU."""
_SUMS = frozenset({"sum", "mean"})
"""PyTorch adds by halves; one thread, or atomics of many, add one after the other."""
_UNIT = 2.0**-24
"""Of a float32, the most that one addition rounds off in proportion to its result."""


class NoSuchCall(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """A call of PyTorch that no GPU has."""


def amplified(times: float) -> Any:
    """A context in which each call of PyTorch that rounds to float32 does so ``times`` as much.

    What a call rounds off is the difference to the same call on the same values as float64: zero
    for what is exact (a choice, a comparison, a product with a power of two), so that only what
    other hardware or another order of operations may move is moved. Of a sum it is, if that is
    more, what is rounded off by terms that are added one after the other (`in_turn`). Views and
    calls that change their arguments are left as they are. Raises NoSuchCall for products of whole
    numbers.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    class Amplified(TorchDispatchMode):
        def __torch_dispatch__(  # type: ignore[no-untyped-def]
            self, func, types, args=(), kwargs=None
        ):
            kwargs = kwargs or {}
            schema = func._schema
            name = schema.name.partition("::")[2]
            made = func(*args, **kwargs)
            if schema.is_mutable or any(one.alias_info for one in schema.returns):
                return made
            if name in _PRODUCTS and not made.is_floating_point():
                raise NoSuchCall(f"{schema.name} of whole numbers")
            wider = tree_map(_doubled, args), tree_map(_doubled, kwargs)
            double = func(*wider[0], **wider[1])
            if isinstance(made, tuple | list):
                return type(made)(
                    _away(one, of, times) for one, of in zip(made, double, strict=True)
                )
            if name not in _SUMS:
                return _away(made, double, times)
            terms = wider[0][0]
            squares = func(terms * terms, *wider[0][1:], **wider[1])
            count = terms.numel() // max(1, made.numel())
            return _away(made, double, times, in_turn(double, squares, count, name))

    return Amplified()


def _doubled(value: Any) -> Any:
    import torch

    single = isinstance(value, torch.Tensor) and value.dtype == torch.float32
    return value.to(torch.float64) if single else value


def _away(single: Any, double: Any, times: float, least: Any = None) -> Any:
    """``single`` with its difference to ``double`` so many times, which is ``least`` or more."""
    import torch

    if not isinstance(single, torch.Tensor) or single.dtype != torch.float32:
        return single
    off = single.to(torch.float64) - double
    if least is not None:
        off = torch.where(off < 0, -1.0, 1.0) * torch.maximum(off.abs(), least)
    moved = single + (times * off).to(torch.float32)
    # Where both overflow there is no difference.
    return torch.where(torch.isfinite(moved), moved, single)


def in_turn(total: Any, squares: Any, terms: int, name: str) -> Any:
    """About what a sum or mean rounds off whose terms are added one after the other in float32.

    Each addition rounds off at most `_UNIT` of the sum so far, half of it in the mean and of any
    sign (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2): together the root
    of the sum of their squares. Sums so far grow by the terms' mean m and stray by their standard
    deviation s, so that the squares of T of them come to m^2 T^3 / 3 + s^2 T^2 / 2. ``total`` and
    ``squares`` are the sums, or the means, of the terms and of their squares, as float64.
    """
    whole = 1 if name == "mean" else terms
    mean, mean_square = total / whole, squares / whole
    strayed = (mean_square - mean * mean).clamp(min=0.0)
    passed = mean * mean * float(terms) ** 3 / 3 + strayed * terms**2 / 2
    return 0.5 * _UNIT * passed.sqrt() * (whole / terms)
