"""What PyTorch does instead of a lowered op, for times beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from statistics import median
from typing import Any

from synth.lower.choose.request import Request
from synth.lower.tune.gpu import REPEATS
from validate.gpu.bench import Turn, device_times
from validate.gpu.launch import stream_of

_PLAIN = {"batch": 1, "scale": 1.0, "bias": False, "activation": "none", "residual": False}


def library_us(request: Request, device: int) -> float | None:
    """PyTorch's time in microseconds by the clock of the candidates; None where PyTorch is not
    installed or nothing here is written for the op."""
    try:
        torch: Any = import_module("torch")
    except ImportError:
        return None
    work = _work(request, torch)
    if work is None:
        return None
    torch.cuda.synchronize()
    with torch.no_grad(), torch.cuda.stream(torch.cuda.ExternalStream(stream_of(device).ptr)):
        return float(median(device_times([Turn(lambda: None, work)], REPEATS)))


def _work(request: Request, torch: Any) -> Callable[[], Any] | None:
    """cuBLAS for products, TF32 for that dtype alone."""
    sizes, dtype = request.chosen_for, request.dtype
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    kind = getattr(torch, {"tf32": "float32"}.get(dtype, dtype))

    def drawn(*names: str) -> Any:
        shape = tuple(sizes[name] for name in names)
        return (torch.rand(shape, device="cuda") * 2 - 1).to(kind)

    if request.op == "matmul":
        plain = all(request.problem[name] == value for name, value in _PLAIN.items())
        return _product(request, torch, drawn) if plain and dtype != "int8" else None
    functional = torch.nn.functional
    works: Mapping[str, Callable[..., Any]] = {
        "softmax": lambda x: functional.softmax(x, -1),
        "layer_norm": lambda x, w, b: functional.layer_norm(x, w.shape, w, b, 1e-5),
        "rms_norm": lambda x, w: functional.rms_norm(x, w.shape, w, 1e-5),
        "reduce_sum": lambda x: x.sum(-1),
        "reduce_max": lambda x: x.amax(-1),
        "reduce_mean": lambda x: x.mean(-1),
        "transpose": lambda x: x.t().contiguous(),
    }
    if request.op not in works:
        return None
    given = {"layer_norm": 2, "rms_norm": 1}.get(request.op, 0)
    arrays = [drawn("m", "n"), *(drawn("n") for _ in range(given))]
    called = works[request.op]
    return lambda: called(*arrays)


def _product(request: Request, torch: Any, drawn: Callable[..., Any]) -> Callable[[], Any]:
    a = drawn(*("km" if request.problem["transpose_a"] else "mk"))
    b = drawn(*("nk" if request.problem["transpose_b"] else "kn"))
    a = a.t() if request.problem["transpose_a"] else a
    b = b.t() if request.problem["transpose_b"] else b
    out = torch.mm(a, b)
    return lambda: torch.mm(a, b, out=out)
