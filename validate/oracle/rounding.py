"""Rounding of PyTorch's calls, made greater than it is: to see where it decides on a value."""

from __future__ import annotations

from typing import Any

_PRODUCTS = frozenset({"addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv"})
"""PyTorch has these of whole numbers on a CPU, and on no GPU."""


class NoSuchCall(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """A call of PyTorch that no GPU has."""


def amplified(times: float) -> Any:
    """A context in which each call of PyTorch that rounds to float32 does so ``times`` as much.

    What a call rounds off is the difference to the same call on the same values as float64: zero
    for what is exact (a choice, a comparison, a product with a power of two), so that only what
    other hardware or another order of operations may move is moved. Views and calls that change
    their arguments are left as they are. Raises NoSuchCall for products of whole numbers.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    def doubled(value: Any) -> Any:
        single = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(torch.float64) if single else value

    def away(single: Any, double: Any) -> Any:
        if not isinstance(single, torch.Tensor) or single.dtype != torch.float32:
            return single
        moved = single + (times * (single.to(torch.float64) - double)).to(torch.float32)
        # Where both overflow there is no difference.
        return torch.where(torch.isfinite(moved), moved, single)

    class Amplified(TorchDispatchMode):
        def __torch_dispatch__(  # type: ignore[no-untyped-def]
            self, func, types, args=(), kwargs=None
        ):
            kwargs = kwargs or {}
            schema = func._schema
            made = func(*args, **kwargs)
            if schema.is_mutable or any(one.alias_info for one in schema.returns):
                return made
            if schema.name.partition("::")[2] in _PRODUCTS and not made.is_floating_point():
                raise NoSuchCall(f"{schema.name} of whole numbers")
            double = func(*tree_map(doubled, args), **tree_map(doubled, kwargs))
            if isinstance(made, tuple | list):
                return type(made)(map(away, made, double))
            return away(made, double)

    return Amplified()
