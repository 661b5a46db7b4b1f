"""What PyTorch does instead of a lowered op, for times beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from statistics import median
from typing import Any

from synth.lower.choose.request import Request
from synth.lower.op import Operand, OpSpec
from synth.lower.tune.gpu import REPEATS
from validate.gpu.bench import Turn, device_times
from validate.gpu.launch import stream_of
from validate.text.formula import evaluate

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
    torch.backends.cudnn.allow_tf32 = False
    kind = getattr(torch, {"tf32": "float32"}.get(dtype, dtype))

    def drawn(*names: str) -> Any:
        shape = tuple(sizes[name] for name in names)
        return (torch.rand(shape, device="cuda") * 2 - 1).to(kind)

    if request.op == "matmul":
        plain = all(request.problem[name] == value for name, value in _PLAIN.items())
        return _product(request, torch, drawn) if plain and dtype != "int8" else None
    if request.op in _BY_OPERANDS:
        operands = {one.name: _drawn(request, one, kind, torch) for one in _given(request)}
        return _BY_OPERANDS[request.op](torch, request.problem, operands)
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


def _given(request: Request) -> list[Operand]:
    """What an op is given, in its order."""
    assert isinstance(request.first, OpSpec)
    *given, _ = request.first.kind.operands(request.first.plan)
    return [one for one in given if not one.out]


def _drawn(request: Request, one: Operand, kind: Any, torch: Any) -> Any:
    shape = tuple(int(evaluate(extent, request.chosen_for)) for extent in one.shape)
    if not kind.is_floating_point:
        # PyTorch counts no value that is none of the bins.
        return torch.randint(0, request.problem.get("bins", 1000), shape, device="cuda", dtype=kind)
    return (torch.rand(shape, device="cuda") * 2 - 1).to(kind)


def _attention(torch: Any, said: Mapping[str, Any], given: Mapping[str, Any]) -> Callable[[], Any]:
    called = torch.nn.functional.scaled_dot_product_attention
    return lambda: called(*given.values(), is_causal=said["causal"])


def _measures(said: Mapping[str, Any]) -> dict[str, int]:
    return {name: said[name] for name in ("stride", "padding", "groups")}


def _conv2d(torch: Any, said: Mapping[str, Any], given: Mapping[str, Any]) -> Callable[[], Any]:
    called, measures = torch.nn.functional.conv2d, _measures(said)
    return lambda: called(given["x"], given["weight"], given.get("bias"), **measures)


def _conv2d_backward(
    torch: Any, said: Mapping[str, Any], given: Mapping[str, Any]
) -> Callable[[], Any]:
    measures = [[said["stride"]] * 2, [said["padding"]] * 2, [1, 1], False, [0, 0]]
    bias = [given["weight"].shape[0]] if said["bias"] else None
    asked = [bias, *measures, said["groups"], [True, True, said["bias"]]]
    arrays = [given[name] for name in ("grad_y", "x", "weight")]
    return lambda: torch.ops.aten.convolution_backward(*arrays, *asked)


def _matmul_backward(
    torch: Any, said: Mapping[str, Any], given: Mapping[str, Any]
) -> Callable[[], Any]:
    grad_c, a, b = (given[name] for name in ("grad_c", "a", "b"))
    sums = (lambda: (grad_c.sum(0),)) if said["bias"] else tuple
    return lambda: (grad_c @ b.t(), a.t() @ grad_c, *sums())


_BY_OPERANDS: Mapping[str, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]] = {
    "attention": _attention,
    "conv2d": _conv2d,
    "conv2d_backward": _conv2d_backward,
    "matmul_backward": _matmul_backward,
    "histogram": lambda torch, said, given: (
        lambda: torch.bincount(given["x"], minlength=said["bins"])
    ),
    "relu_backward": lambda torch, said, given: (
        lambda: torch.ops.aten.threshold_backward(given["grad_y"], given["y"], 0)
    ),
    "scan": lambda torch, said, given: lambda: torch.cumsum(given["x"], 0, dtype=given["x"].dtype),
}


def _product(request: Request, torch: Any, drawn: Callable[..., Any]) -> Callable[[], Any]:
    a = drawn(*("km" if request.problem["transpose_a"] else "mk"))
    b = drawn(*("nk" if request.problem["transpose_b"] else "kn"))
    a = a.t() if request.problem["transpose_a"] else a
    b = b.t() if request.problem["transpose_b"] else b
    out = torch.mm(a, b)
    return lambda: torch.mm(a, b, out=out)
