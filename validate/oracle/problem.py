"""Try a problem in KernelBench's form on the CPU: what it computes, and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

TOLERANCE = 1e-4
"""KernelBench's for float32, absolute and relative (`get_tolerance_for_precision`)."""
MOST_ELEMENTS = 1 << 18
MOST_BYTES = 4 << 30
MOST_CALLS = 2048


class ProblemFailed(Exception):  # noqa: N818 - it is a result of a check, not an error of ours
    """The problem raises, or is one that the harness cannot judge by."""


def load_problem(text: str) -> dict[str, Any]:
    """The names of a problem's module. `text` is executed as it is: it has to be one of our own."""
    namespace: dict[str, Any] = {"__name__": "problem"}
    try:
        exec(compile(text, "<problem>", "exec"), namespace)
    except Exception as error:
        raise ProblemFailed(f"{type(error).__name__}: {error}") from error
    return namespace


def check_problem(
    text: str, sizes: Mapping[str, int], least: Mapping[str, tuple[int, int]], seeds: Sequence[int]
) -> None:
    """Run a problem as the harness does, and judge whether the harness can tell right from wrong.

    ``sizes`` are its module's variables of sizes, ``least`` for each its minimum and what it is a
    multiple of. It runs at sizes that are halved, the largest first, until its inputs have at most
    `MOST_ELEMENTS`, with all inputs as float32. Raises ProblemFailed where the output is none of
    one tensor, not finite, or passes for zeros, for one number, or for an input.
    """
    namespace = load_problem(text)
    smaller = shrunk(namespace, sizes, least)
    for seed in seeds:
        _judge(namespace, smaller, seed)


def _judge(namespace: dict[str, Any], sizes: Mapping[str, int], seed: int) -> None:
    import torch

    namespace.update(sizes)
    torch.manual_seed(seed)
    try:
        model = namespace["Model"](*namespace["get_init_inputs"]())
        inputs = [x.to(torch.float32) for x in namespace["get_inputs"]()]
        with torch.no_grad():
            output = model(*inputs)
    except Exception as error:
        raise ProblemFailed(f"{type(error).__name__}: {error}") from error
    if not isinstance(output, torch.Tensor):
        raise ProblemFailed("its output is no tensor")
    if not bool(torch.isfinite(output).all()):
        raise ProblemFailed("its output is not finite")
    value = output.to(torch.float64)
    guesses: dict[str, Any] = {"zeros": 0.0}
    if value.numel() > 1:
        guesses |= {"its mean": value.mean(), "its median": value.median()}
    for name, guess in guesses.items():
        if _passes(value, torch.zeros_like(value) + guess):
            raise ProblemFailed(f"{name} would pass")
    for guess in inputs:
        if guess.shape == value.shape and _passes(value, guess.to(torch.float64)):
            raise ProblemFailed("an input would pass")


def _passes(value: Any, guess: Any) -> bool:
    import torch

    return torch.allclose(value, guess, atol=TOLERANCE, rtol=TOLERANCE)


def shrunk(
    namespace: dict[str, Any], sizes: Mapping[str, int], least: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    """Sizes at which the inputs have at most `MOST_ELEMENTS` elements."""
    import torch

    found = dict(sizes)
    while True:
        namespace.update(found)
        with torch.device("meta"):
            count = sum(x.numel() for x in namespace["get_inputs"]())
        if count <= MOST_ELEMENTS:
            return found
        largest = max(found, key=lambda name: found[name])
        minimum, step = least[largest]
        smaller = max(minimum, step, found[largest] // 2 // step * step)
        if smaller == found[largest]:
            return found
        found[largest] = smaller


def check_cost(text: str) -> None:
    """Judge by shapes alone what a problem costs at its own sizes.

    Raises ProblemFailed where PyTorch would make more than `MOST_BYTES` of one tensor or more than
    `MOST_CALLS` calls; behind a call whose values decide on shapes nothing is counted.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(  # type: ignore[no-untyped-def]
            self, func, types, args=(), kwargs=None
        ):
            self.calls += 1
            if self.calls > MOST_CALLS:
                raise ProblemFailed(f"it makes more than {MOST_CALLS} calls")
            made = func(*args, **(kwargs or {}))
            for one in made if isinstance(made, tuple | list) else (made,):
                if isinstance(one, torch.Tensor) and one.numel() * one.element_size() > MOST_BYTES:
                    raise ProblemFailed("it makes a tensor of more than 4 GiB")
            return made

    namespace = load_problem(text)
    try:
        with torch.device("meta"), torch.no_grad():
            model = namespace["Model"](*namespace["get_init_inputs"]())
            inputs = [x.to(torch.float32) for x in namespace["get_inputs"]()]
            with Counting():
                model(*inputs)
    except NotImplementedError:
        return
