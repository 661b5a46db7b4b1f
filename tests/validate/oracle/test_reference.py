from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hand_rows import all_rows, arg, field, output, structs

from validate.oracle.reference import ReferenceFailed, check_syntax, run_reference
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes


def run(body: str, *args: dict[str, Any]) -> Any:
    names = ", ".join(entry["name"] for entry in args)
    text = f"import math\nimport numpy as np\n\n\ndef kernel(dim, {names}):\n    {body}\n"
    inputs = draw_inputs(args, {"n": 4}, 1)
    before = {name: value.copy() for name, value in inputs.items()}
    outputs = run_reference(text, "kernel", args, (4,), inputs)
    for name, value in before.items():
        assert inputs[name].tobytes() == value.tobytes()
    return outputs["out"]


X = arg("x", "float32")


def test_values_come_as_python_numbers() -> None:
    out = run("out[:] = [type(v) is float for v in x]", X, output("out", "bool"))
    assert out.tolist() == [True] * 4
    out = run("out[:] = [v + 2**40 for v in x]", arg("x", "int64", low="0", high="9"),
              output("out", "int64"))  # fmt: skip
    assert out.dtype == np.int64
    assert out.min() >= 2**40


def test_floats_stay_in_double() -> None:
    out = run("for i in range(4): out[i] = 1.0 / 3.0", X, output("out", "float16"))
    assert out.dtype == np.float64
    assert (out == 1.0 / 3.0).all()


def test_vectors_of_integers_are_exact() -> None:
    out = run("for i in range(4): out[i] = np.array([2**62 + 1, i], dtype=object)",
              X, output("out", "vec2[int64]"))  # fmt: skip
    assert out[3].tolist() == [2**62 + 1, 3]


def test_structs_come_back_by_field() -> None:
    row = structs()
    shape = own_sizes(row["sizes"])
    inputs = draw_inputs(row["args"], shape, row["input_seed"])
    dim = evaluate_all(row["launch"]["dim"], shape)
    outputs = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
    moved, particles = outputs["moved"], inputs["particles"]
    assert moved["mass"].dtype == np.float64
    assert np.array_equal(moved["mass"], particles["mass"] * inputs["push"]["mass"])
    assert np.array_equal(moved["fixed"], particles["fixed"])


@pytest.mark.parametrize(
    ("body", "dtype", "why"),
    [
        ("out[0] = 1.0", "float32", "element 1 was not written"),
        ("out[:] = [300] * 4", "uint8", "300 does not fit uint8"),
        ("out[:] = [-1] * 4", "uint64", "-1 does not fit uint64"),
        ("out[:] = [1.0] * 4", "int32", "is a float, not a int32"),
        ("out[:] = [True] * 4", "int32", "is a bool"),
        ("out[:] = [1] * 4", "bool", "is a int"),
        ("out[:] = [1j] * 4", "float32", "is a complex"),
        ("out[4] = 1.0", "float32", "IndexError"),
        ("out[0] = math.sqrt(-1.0)", "float32", "ValueError"),
        ("open('x')", "float32", "name open"),
    ],
)
def test_what_a_reference_may_not_do(body: str, dtype: str, why: str) -> None:
    with pytest.raises(ReferenceFailed, match=why):
        run(body, X, output("out", dtype))


def test_a_field_left_out_is_found() -> None:
    entry = output("out", "P", fields=(field("mass", "float32"),))
    text = (
        "class P:\n    def __init__(self, mass):\n        self.mass = mass\n\n\n"
        "def kernel(dim, out):\n    del out[0].mass\n"
    )
    with pytest.raises(ReferenceFailed, match=r"out\.mass"):
        run_reference(text, "kernel", [entry], (4,), draw_inputs([entry], {"n": 4}, 1))


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "import numpy.lib",
        "from os import path",
        "from . import math",
        "x = ().__class__",
        "__import__('os')",
        "import numpy\nnumpy.load('x')",
        "getattr(1, 'real')",
        "def f(:",
    ],
)
def test_forbidden_text(text: str) -> None:
    assert check_syntax(text)


def test_good_references_are_allowed() -> None:
    assert [check_syntax(row["reference"]) for row in all_rows()] == [[]] * len(all_rows())


def test_cross_of_a_reference_is_numpys_to_the_bit() -> None:
    generator = np.random.default_rng(0)
    text = "import numpy as np\n\n\ndef k(dim, a, b, out):\n    out[0] = np.cross(a[0], b[0])\n"
    for kind, dtype in (("vec3[float32]", np.float32), ("vec3[int32]", np.int32)):
        args = [
            {**_vector(name, kind), "role": role} for name, role in (("a", "in"), ("b", "in"))
        ] + [{**_vector("out", kind), "role": "out"}]
        for _ in range(50):
            a, b = ((generator.normal(size=(1, 3)) * 100).astype(dtype) for _ in range(2))
            inputs = {"a": a, "b": b, "out": np.zeros((1, 3), dtype)}
            found = run_reference(text, "k", args, (1,), inputs)["out"]
            wide = np.float64 if dtype == np.float32 else np.int64
            wanted = np.cross(a.astype(wide), b.astype(wide))
            assert found.tobytes() == wanted.astype(found.dtype).tobytes()


def _vector(name: str, dtype: str) -> dict[str, Any]:
    return {"name": name, "kind": "array", "dtype": dtype, "fields": []}
