"""Try a problem in KernelBench's form on the CPU: what it computes, and what it would cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from validate.oracle.rounding import NoSuchCall, amplified

TOLERANCE = 1e-4
"""KernelBench's for float32, absolute and relative (`get_tolerance_for_precision`)."""
MOST_ELEMENTS = 1 << 18
"""Of the inputs, where answers that compute nothing are tried."""
ROUNDING_SHARE = 0.25
"""Of the tolerance, that rounding of the reference may take: an answer rounds otherwise."""
MANY_ELEMENTS = 1 << 22
"""Of the inputs, where single precision is compared with double: a value that rounding decides is
met once in millions."""
SLIGHTLY_AMPLIFIED, AMPLIFIED = 4, 1024
"""Times that rounding is made greater there. What it decides on is met that many times as often,
and a jump shows that is more than so many times the tolerance: many times for a rare one, few for
a small one."""
STRAY_SHARE = 0.01
"""Of the tolerance, what rounding may take of few elements however little it takes of others."""
STRAYS = 16
"""Times the rounding of 999 elements in a thousand, that it may take of any above that share:
beyond it, as of a quotient by what is nearly zero for few, other draws move some further."""
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
    one tensor, not finite, or passes for zeros, for one number, for an input or for a tensor that
    PyTorch makes on the way; and where, at up to `MANY_ELEMENTS`, rounding alone moves it by more
    than `ROUNDING_SHARE` of the tolerance, less in proportion where at ``sizes`` an output is made
    of more inputs: rounding of a sum grows with the number of its terms at most. Nor may rounding
    that is made greater (`SLIGHTLY_AMPLIFIED`, `AMPLIFIED`) move it by more than so many times as
    much, as it does where a value jumps, nor few of its elements much more than the others.
    """
    namespace = load_problem(text)
    few = shrunk(namespace, sizes, least, MOST_ELEMENTS)
    many = shrunk(namespace, sizes, least, MANY_ELEMENTS)
    for seed in seeds:
        _judge(namespace, few, seed)
    growth = _inputs_an_output(namespace, sizes) / _inputs_an_output(namespace, many)
    share = ROUNDING_SHARE / max(1.0, growth)
    values = [_compare_with_double(text, many, seed, share) for seed in seeds]
    for seed, value in zip(seeds, values, strict=True):
        for times in (SLIGHTLY_AMPLIFIED, AMPLIFIED):
            _compare_with_amplified(namespace, many, seed, value, times)
    # What collects many values may come to the same for all draws.
    _judge(namespace, many, seeds[0])


def _inputs_an_output(namespace: dict[str, Any], sizes: Mapping[str, int]) -> float:
    """Elements of the inputs for one of the output; all where values decide on its shape."""
    import torch

    namespace.update(sizes)
    inputs = _elements(namespace)
    try:
        with torch.device("meta"), torch.no_grad():
            model = namespace["Model"](*namespace["get_init_inputs"]())
            output = model(*(x.to(torch.float32) for x in namespace["get_inputs"]()))
    except NotImplementedError:
        return float(inputs)
    except Exception as error:
        raise ProblemFailed(f"{type(error).__name__}: {error}") from error
    return inputs / max(1, output.numel())


def _compare_with_double(text: str, sizes: Mapping[str, int], seed: int, share: float) -> Any:
    """What single precision gives, which is close enough to double."""
    import torch

    single = load_problem(text)
    _, value = _run(single, sizes, seed, torch.float32)
    double = load_problem(text.replace("torch.float32", "torch.float64"))
    _, exact = _run(double, sizes, seed, torch.float64)
    _, moved = _run(double, sizes, seed, torch.float64, moved=True)
    for other in (value.to(torch.float64), moved.to(torch.float64)):
        if not _passes(other, exact.to(torch.float64), share):
            raise ProblemFailed("rounding moves its output beyond the tolerance")
    return value


def _compare_with_amplified(
    namespace: dict[str, Any], sizes: Mapping[str, int], seed: int, value: Any, times: int
) -> None:
    """``value`` is what single precision gives for the seed as it is."""
    import torch

    try:
        _, moved = _run(namespace, sizes, seed, torch.float32, within=amplified(times))
    except NoSuchCall as error:
        raise ProblemFailed(str(error)) from error
    wide = (moved.double() - value.double()).abs() / (TOLERANCE * (1.0 + value.double().abs()))
    shares = wide.nan_to_num(0.0).flatten() / times
    if not shares.numel():
        return
    most = float(shares.max())
    usual = float(shares.kthvalue(max(1, int(0.999 * shares.numel()))).values)
    if most > ROUNDING_SHARE or most > max(STRAY_SHARE, STRAYS * usual):
        raise ProblemFailed("rounding decides on a value")


def _run(
    namespace: dict[str, Any],
    sizes: Mapping[str, int],
    seed: int,
    dtype: Any,
    moved: bool = False,
    within: Any = None,
) -> Any:
    """Inputs as float32 numbers, of a type, and what the model makes of them in a context; floats
    may be moved by half a unit in their last place, up or down."""
    import torch

    namespace.update(sizes)
    torch.manual_seed(seed)
    try:
        model = namespace["Model"](*namespace["get_init_inputs"]())
        drawn = namespace["get_inputs"]()
        inputs = [x.to(torch.float32).to(dtype) for x in drawn]
        if moved:
            inputs = [
                x * (1.0 + 2.0**-24 * (2 * torch.randint(0, 2, x.shape) - 1))
                if of.is_floating_point()
                else x
                for x, of in zip(inputs, drawn, strict=True)
            ]
        with torch.no_grad(), within or contextlib.nullcontext():
            return inputs, model(*inputs)
    except (ProblemFailed, NoSuchCall):
        raise
    except Exception as error:
        raise ProblemFailed(f"{type(error).__name__}: {error}") from error


def _judge(namespace: dict[str, Any], sizes: Mapping[str, int], seed: int) -> None:
    import torch

    inputs, output = _run(namespace, sizes, seed, torch.float32)
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
    with _watching(lambda made: _would_pass(made, output, value)):
        _run(namespace, sizes, seed, torch.float32)


def _would_pass(made: Any, output: Any, value: Any) -> None:
    """Raise ProblemFailed for a tensor made on the way that memory may hold in the output's place:
    the harness takes what lies there for an answer."""
    import torch

    for one in made if isinstance(made, tuple | list) else (made,):
        alike = getattr(one, "shape", None) == output.shape and one.dtype == output.dtype
        # The output itself comes last, equal in every bit.
        if alike and not torch.equal(one, output) and _passes(value, one.to(torch.float64)):
            raise ProblemFailed("memory that PyTorch has freed would pass")


def _watching(look: Callable[[Any], None]) -> Any:
    """A context in which ``look`` is given what each call of PyTorch makes."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(  # type: ignore[no-untyped-def]
            self, func, types, args=(), kwargs=None
        ):
            made = func(*args, **(kwargs or {}))
            look(made)
            return made

    return Watching()


def _passes(value: Any, guess: Any, share: float = 1.0) -> bool:
    import torch

    bound = share * TOLERANCE
    return torch.allclose(value, guess, atol=bound, rtol=bound, equal_nan=True)


def shrunk(
    namespace: dict[str, Any],
    sizes: Mapping[str, int],
    least: Mapping[str, tuple[int, int]],
    most: int,
) -> dict[str, int]:
    """Sizes at which the inputs have at most so many elements, no tensor on the way more than 16
    times as many bytes as they, and all calls together at most 256 times their work."""
    found = dict(sizes)
    while True:
        namespace.update(found)
        elements = _elements(namespace)
        if elements <= most:
            largest_bytes, calls = _cost(namespace)
            if largest_bytes <= 64 * most and elements * calls <= 256 * most:
                return found
        largest = max(found, key=lambda name: found[name])
        minimum, step = least[largest]
        smaller = max(minimum, step, found[largest] // 2 // step * step)
        if smaller == found[largest]:
            return found
        found[largest] = smaller


def _elements(namespace: dict[str, Any]) -> int:
    import torch

    with torch.device("meta"):
        return sum(x.numel() for x in namespace["get_inputs"]())


def check_cost(text: str) -> None:
    """Judge by shapes alone what a problem costs at its own sizes.

    Raises ProblemFailed where PyTorch would make more than `MOST_BYTES` of one tensor or more than
    `MOST_CALLS` calls; behind a call whose values decide on shapes nothing is counted.
    """
    largest, calls = _cost(load_problem(text))
    if calls >= MOST_CALLS:
        raise ProblemFailed(f"it makes {MOST_CALLS} calls or more")
    if largest > MOST_BYTES:
        raise ProblemFailed("it makes a tensor that is too large")


class _Enough(Exception):  # noqa: N818 - a run by shapes has said all that it is asked
    """More calls than are counted."""


def _cost(namespace: dict[str, Any]) -> tuple[int, int]:
    """Bytes of the largest tensor that a model makes, and its calls, which are counted so far."""
    import torch

    largest, calls = 0, 0

    def look(made: Any) -> None:
        nonlocal largest, calls
        calls += 1
        for one in made if isinstance(made, tuple | list) else (made,):
            if isinstance(one, torch.Tensor):
                largest = max(largest, one.numel() * one.element_size())
        if calls >= MOST_CALLS:
            raise _Enough

    try:
        with torch.device("meta"), torch.no_grad():
            model = namespace["Model"](*namespace["get_init_inputs"]())
            inputs = [x.to(torch.float32) for x in namespace["get_inputs"]()]
            with _watching(look):
                model(*inputs)
    except (NotImplementedError, _Enough):
        pass
    except Exception as error:
        raise ProblemFailed(f"{type(error).__name__}: {error}") from error
    return largest, calls
