"""Edge inputs: what they draw, and what a row is run on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hand_rows import all_rows, arg, field
from hypothesis import given
from hypothesis import strategies as st

from validate.row.edges import settings, with_edges
from validate.row.inputs import DRAWN, draw_inputs
from validate.row.sizes import awkward_sizes, describe

Array = np.ndarray[Any, Any]


def edge(among: list[str], name: str = "x", part: str = "") -> dict[str, Any]:
    return {"name": "edges", "values": [{"arg": name, "field": part, "among": among}]}


def both(entry: dict[str, Any], among: list[str], n: int = 400) -> tuple[Array, Array]:
    """An argument as drawn, and at an edge."""
    sizes = {"n": n}
    edged = with_edges([entry], edge(among))
    return draw_inputs([entry], sizes, 7)["x"], draw_inputs(edged, sizes, 7)["x"]


def test_only_listed_values_and_drawn_ones_come() -> None:
    drawn, edged = both(arg("x", "float32"), ["0.0", "0.25", DRAWN])
    zero, quarter = edged == 0.0, edged == 0.25
    assert min(zero.sum(), quarter.sum(), (edged == drawn).sum()) > 90
    runs = zero.reshape(-1, 8).all(axis=1)
    assert 2 <= runs.sum() < 25
    assert (zero | quarter | (edged == drawn)).all()


@pytest.mark.parametrize(
    ("dtype", "init", "among", "wanted"),
    [
        ("float16", "uniform", ["0.1"], {float(np.float16(0.1))}),
        ("int8", "integers", ["-128", "127"], {-128, 127}),
        ("uint64", "uniform", ["18446744073709551615", "0"], {2**64 - 1, 0}),
        ("bool", "uniform", ["1"], {True}),
        ("int32", "index_of:n", ["0", "399"], {0, 399}),
    ],
)
def test_every_dtype_takes_its_ends(
    dtype: str, init: str, among: list[str], wanted: set[object]
) -> None:
    low, high = ("0", str(2**64 - 1)) if dtype == "uint64" else ("-1", "1")
    _, edged = both(arg("x", dtype, init=init, low=low, high=high), among)
    assert set(edged.tolist()) == wanted
    assert edged.dtype == np.dtype(dtype)


def test_a_vector_is_now_and_then_zero_as_a_whole() -> None:
    drawn, edged = both(arg("x", "vec3[float32]"), ["0.0", DRAWN, DRAWN, DRAWN])
    zeros = (edged == 0.0).sum(axis=1)
    assert (zeros == 3).sum() > 30
    assert (zeros == 1).sum() > 30
    assert ((edged == 0.0) | (edged == drawn)).all()


def test_what_an_init_promises_still_holds() -> None:
    _, ordered = both(arg("x", "int32", init="sorted", low="0", high="9"), ["0", "9"])
    assert (np.diff(ordered) >= 0).all()
    _, turns = both(arg("x", "quat[float32]", init="unit"), ["-1", "0", "1"])
    assert np.allclose(np.linalg.norm(turns, axis=1), 1.0)
    _, matrices = both(arg("x", "mat3x3[float32]", init="well_conditioned"), ["0.0"])
    assert all(np.array_equal(m, np.diag(np.diag(m))) for m in matrices)


def test_a_field_of_a_struct_alone() -> None:
    kind = {**field("kind", "int32"), "low": "0", "high": "4"}
    fields = (field("mass", "float32"), kind)
    entry = arg("x", "Particle", fields=fields)
    sizes = {"n": 50}
    drawn = draw_inputs([entry], sizes, 7)["x"]
    edged = draw_inputs(with_edges([entry], edge(["4"], part="kind")), sizes, 7)["x"]
    assert (edged["kind"] == 4).all()
    assert np.array_equal(edged["mass"], drawn["mass"])


@given(st.lists(st.sampled_from(["0.0", "0.5", "-0.5", DRAWN]), min_size=1, max_size=6))
def test_the_same_edge_draws_the_same(among: list[str]) -> None:
    _, first = both(arg("x", "float32"), among, 40)
    _, second = both(arg("x", "float32"), among, 40)
    assert np.array_equal(first, second)


def test_a_row_is_run_at_its_shapes_and_then_at_its_edges() -> None:
    row = all_rows()[0]
    shapes = [describe(sizes) for sizes in awkward_sizes(row["sizes"])]
    assert [setting.name for setting in settings(row)] == shapes
    name = row["args"][0]["name"]
    row = {**row, "edge_inputs": [edge(["0.5"], name)]}
    *usual, last = settings(row)
    assert [setting.name for setting in usual] == shapes
    assert last.name == f"{shapes[0]} at edges"
    assert last.args[0]["among"] == ["0.5"]
    assert all("among" not in entry for entry in row["args"])
