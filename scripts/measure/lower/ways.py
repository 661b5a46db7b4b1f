"""What PyTorch does instead of lowered ops: inputs, results in float64 and the library's ways.

Each function gives the arrays of an op by name, the wanted results by the names of its outputs, and
ways to do it by name. Needs PyTorch and a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sizes = dict[str, int]
Work = Callable[[], Any]
Made = tuple[dict[str, Any], dict[str, Any], dict[str, Work]]


def matmul(sizes: Sizes, kind: Any, torch: Any) -> Made:
    """Inputs and output of a product, the result in float64, and the library's ways."""
    m, n, k = (sizes[name] for name in "mnk")
    arrays = {"a": random(torch, (m, k), kind), "b": random(torch, (k, n), kind)}
    arrays["c"] = torch.full((m, n), float("nan"), dtype=kind, device="cuda")
    out = torch.empty_like(arrays["c"])
    wanted = arrays["a"].double() @ arrays["b"].double()
    return arrays, {"c": wanted}, {"torch": lambda: torch.mm(arrays["a"], arrays["b"], out=out)}


def random(torch: Any, shape: tuple[int, ...], kind: Any) -> Any:
    """Values in [-1, 1)."""
    return (torch.rand(shape, device="cuda", dtype=torch.float32) * 2 - 1).to(kind)


def over_rows(name: str) -> Callable[[Sizes, Any, Any], Any]:
    """Softmax, normalisations and reductions of the rows of a matrix, eager and compiled."""

    def made(sizes: Sizes, kind: Any, torch: Any) -> Made:
        m, n = sizes["m"], sizes["n"]
        functional = torch.nn.functional
        arrays = {"x": random(torch, (m, n), kind)}
        given = {"layer_norm": ("weight", "bias"), "rms_norm": ("weight",)}.get(name, ())
        arrays |= {one: random(torch, (n,), kind) for one in given}
        called = {
            "softmax": lambda x: functional.softmax(x, -1),
            "layer_norm": lambda x, w, b: functional.layer_norm(x, (n,), w, b, 1e-5),
            "rms_norm": lambda x, w: functional.rms_norm(x, (n,), w, 1e-5),
            "reduce_sum": lambda x: x.sum(-1),
            "reduce_max": lambda x: x.amax(-1),
            "reduce_mean": lambda x: x.mean(-1),
            "transpose": lambda x: x.t().contiguous(),
        }[name]
        wanted = called(*(array.double() for array in arrays.values()))
        inputs = list(arrays.values())
        with torch.no_grad():
            # Else the second shape would be compiled for all shapes.
            torch._dynamo.reset()
            compiled_way = torch.compile(called, dynamic=False)
            compiled_way(*inputs)
        arrays["y"] = torch.full(wanted.shape, float("nan"), dtype=kind, device="cuda")
        ways = {"torch": lambda: called(*inputs), "compiled": lambda: compiled_way(*inputs)}
        return arrays, {"y": wanted}, ways

    return made


def attention(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Scaled dot products; float64 by heads, so that it fits."""
    given = (sizes["batch"], sizes["heads"])
    extents = {"q": sizes["m"], "k": sizes["n"], "v": sizes["n"]}
    arrays = {
        name: random(torch, (*given, rows, fields["head_dim"]), kind)
        for name, rows in extents.items()
    }
    inputs, causal = list(arrays.values()), fields["causal"]
    called = torch.nn.functional.scaled_dot_product_attention
    wanted = torch.stack(
        [
            called(*(array[i].double() for array in inputs), is_causal=causal)
            for i in range(given[0])
        ]
    )
    arrays["o"] = torch.full_like(arrays["q"], float("nan"))
    return arrays, {"o": wanted}, {"torch": lambda: called(*inputs, is_causal=causal)}


def conv2d(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Convolutions by cuDNN, as it chooses, and as it finds by trying."""
    groups, taps = fields["groups"], (fields["kernel_h"], fields["kernel_w"])
    image = (sizes["images"], groups * sizes["channels"], sizes["height"], sizes["width"])
    filters = (groups * sizes["filters"], sizes["channels"], *taps)
    arrays = {"weight": random(torch, filters, kind), "x": random(torch, image, kind)}
    said = {name: fields[name] for name in ("stride", "padding", "groups")}

    def called(x: Any, weight: Any) -> Any:
        return torch.nn.functional.conv2d(x, weight, **said)

    def tried() -> Any:
        torch.backends.cudnn.benchmark = True
        found = called(arrays["x"], arrays["weight"])
        torch.backends.cudnn.benchmark = False
        return found

    torch.backends.cudnn.allow_tf32 = False
    wanted = called(arrays["x"].double(), arrays["weight"].double())
    arrays["y"] = torch.full(wanted.shape, float("nan"), dtype=kind, device="cuda")
    ways = {"torch": lambda: called(arrays["x"], arrays["weight"]), "benchmark": tried}
    return arrays, {"y": wanted}, ways


def histogram(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Counts of whole numbers, and PyTorch's histogram of them as floats."""
    bins = fields["bins"]
    x = torch.randint(0, bins, (sizes["n"],), dtype=kind, device="cuda")
    floats = x.float()
    wanted = torch.bincount(x, minlength=bins).double()
    ways = {
        "bincount": lambda: torch.bincount(x, minlength=bins),
        "histc": lambda: torch.histc(floats, bins, 0, bins),
    }
    arrays = {"x": x, "counts": torch.full((bins,), -1, dtype=kind, device="cuda")}
    return arrays, {"counts": wanted}, ways


def scan(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Sums of a prefix."""
    x = random(torch, (sizes["n"],), kind)
    arrays = {"x": x, "y": torch.full_like(x, float("nan"))}
    return arrays, {"y": torch.cumsum(x.double(), 0)}, {"torch": lambda: torch.cumsum(x, 0)}


def matmul_backward(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Gradients of a product: the two products that autograd makes."""
    m, n, k = (sizes[name] for name in "mnk")
    grad_c, a, b = (random(torch, shape, kind) for shape in ((m, n), (m, k), (k, n)))
    arrays = {"grad_c": grad_c, "a": a, "b": b}
    arrays |= {"grad_a": torch.empty_like(a), "grad_b": torch.empty_like(b)}
    wide = grad_c.double()
    wanted = {"grad_a": wide @ b.double().t(), "grad_b": a.double().t() @ wide}
    return arrays, wanted, {"torch": lambda: (grad_c @ b.t(), a.t() @ grad_c)}


def conv2d_backward(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """Gradients of a convolution by cuDNN, as it chooses, and as it finds by trying."""
    arrays, _, _ = conv2d(sizes, kind, torch, fields)
    y, x, weight = arrays["y"], arrays["x"], arrays["weight"]
    grad_y = random(torch, tuple(y.shape), kind)
    grads = {"grad_x": torch.empty_like(x), "grad_weight": torch.empty_like(weight)}
    measures = [[fields["stride"]] * 2, [fields["padding"]] * 2, [1, 1], False, [0, 0]]

    def called(grad: Any, x: Any, weight: Any) -> Any:
        asked = [*measures, fields["groups"], [True, True, False]]
        return torch.ops.aten.convolution_backward(grad, x, weight, None, *asked)

    def tried() -> Any:
        torch.backends.cudnn.benchmark = True
        found = called(grad_y, x, weight)
        torch.backends.cudnn.benchmark = False
        return found

    wide = called(*(array.double() for array in (grad_y, x, weight)))
    ways = {"torch": lambda: called(grad_y, x, weight), "benchmark": tried}
    given = {"grad_y": grad_y, "x": x, "weight": weight}
    return given | grads, dict(zip(grads, wide, strict=False)), ways


def relu_backward(sizes: Sizes, kind: Any, torch: Any, fields: dict[str, Any]) -> Made:
    """The gradient of relu, as autograd has it."""
    grad_y, y = (random(torch, (sizes["n"],), kind) for _ in range(2))
    arrays = {"grad_y": grad_y, "y": y, "grad_x": torch.empty_like(y)}
    called = torch.ops.aten.threshold_backward
    wanted = {"grad_x": called(grad_y.double(), y.double(), 0)}
    return arrays, wanted, {"torch": lambda: called(grad_y, y, 0)}


FIELD_OPS = {
    **{"attention": attention, "conv2d": conv2d, "histogram": histogram, "scan": scan},
    "matmul_backward": matmul_backward,
    "conv2d_backward": conv2d_backward,
    "relu_backward": relu_backward,
}
"""The same of ops whose jobs have fields."""

_OVER_ROWS = ("softmax", "layer_norm", "rms_norm", "transpose")
OPS = {
    "matmul": matmul,
    **{name: over_rows(name) for name in (*_OVER_ROWS, "reduce_sum", "reduce_max", "reduce_mean")},
}
"""By op."""
