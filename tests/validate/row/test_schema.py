from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import fastjsonschema
import jsonschema
import pytest
from hand_rows import Row, all_rows, arg, output, scalar, soft_clamp, structs
from hypothesis import given, settings
from hypothesis import strategies as st

from validate.row.schema import check_row, row_id, row_json_schema

JUDGE = jsonschema.Draft7Validator(row_json_schema())
FAST = fastjsonschema.compile(row_json_schema(), use_default=False)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        items = []
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**63),
    st.sampled_from([-1.5, 0.25, 1.0]),
    st.text(max_size=4).filter(lambda text: not text.endswith("\n")),
    st.sampled_from(["n", "n+1", "m*", "float32", "vec3[float32]", "index_of:n", "in", "agrees"]),
    st.builds(dict),
    st.builds(list),
)


@st.composite
def mutations(draw: st.DrawFn) -> Row:
    row = copy.deepcopy(draw(st.sampled_from(all_rows())))
    *way, last = draw(st.sampled_from(places(row)))
    target: Any = row
    for key in way:
        target = target[key]
    action = draw(st.sampled_from(["replace", "remove", "add"]))
    if action == "remove":
        del target[last]
    elif action == "add" and isinstance(target, dict):
        target["surplus"] = 1
    else:
        target[last] = draw(SCALARS)
    return row


@given(mutations())
@settings(max_examples=150, deadline=None)
def test_both_validators_agree(row: Row) -> None:
    try:
        FAST(row)
        fast = True
    except fastjsonschema.JsonSchemaValueException:
        fast = False
    assert fast == JUDGE.is_valid(row)
    assert fast or check_row(row)


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft7Validator.check_schema(row_json_schema())


def test_a_harvested_row_may_lack_what_only_we_know() -> None:
    row = soft_clamp()
    nothing = dict.fromkeys(("structure", "idiom", "level", "reference", "program"))
    row |= nothing | {"args": [a | {"rtol": None, "atol": None} for a in row["args"]]}
    assert check_row(row) == []


BY_HAND: list[tuple[dict[str, Any], str]] = [
    ({"id": "0" * 16}, "id is"),
    ({"id": "X" * 16}, "id must match pattern"),
    ({"id": "0" * 16 + "\n"}, "id must match pattern"),
    ({"surplus": 1}, "surplus"),
    ({"cuda_forward": "void f() {}"}, "cuda_forward has no kernel"),
    ({"cuda_backward": "void f() {}"}, "cuda_backward has no kernel"),
    ({"cuda_helpers": "// return x    <L 12>\n"}, "line of Python"),
    ({"cuda_helpers": "// /home/someone/file.py:3\n"}, "absolute path"),
    ({"cuda_helpers": '#line 3 "x"\n'}, "#line"),
    ({"line_map_cuda": [1]}, "differ in length"),
    ({"line_map_cuda": [9999], "line_map_python": [1]}, "line_map_cuda points past"),
    ({"launch": {"dim": ["q"], "block_dim": 256}}, "launch.dim uses q"),
    ({"launch": {"dim": ["n-1"], "block_dim": 256}}, "must match pattern"),
    ({"reference": "def other(dim): ...\n"}, "reference defines no function"),
    ({"sizes": [{"symbol": "n", "value": 6, "min": 1, "multiple_of": 4}]}, "against its min"),
    ({"args": [arg("heights", "float32")]}, "no arg is an output"),
    ({"args": [arg("x", "float32"), output("x", "float32")]}, "arg x occurs twice"),
    ({"args": [output("x", "float32", shape=("k",))]}, "shape of x uses k"),
    ({"args": [output("x", "float32") | {"atol": None}]}, "without rtol and atol"),
    ({"args": [output("x", "float32", rtol=float("inf"))]}, "not finite"),
    ({"args": [output("x", "int32") | {"rtol": 0.1}]}, "is no float output"),
    ({"args": [output("x", "P")]}, "has no fields"),
    ({"args": [output("x", "vec3[float]")]}, "must be valid exactly|must match|not a scalar"),
    ({"args": [scalar("x", "float32") | {"role": "out"}]}, "only an array"),
    ({"args": [scalar("x", "float32") | {"shape": ["n"]}]}, "has a shape"),
    ({"args": [arg("x", "float32", shape=())]}, "has no shape"),
    ({"args": [arg("x", "float32", low=None)]}, "needs low and high"),
    ({"args": [arg("x", "float32", low="2.0")]}, "is above high"),
    ({"args": [arg("x", "float32", init="gaussian")]}, "must match pattern"),
    ({"args": [arg("x", "float32", init="reduction_identity", low=None)]}, "needs low"),
]


@pytest.mark.parametrize(("change", "problem"), BY_HAND, ids=[why for _, why in BY_HAND])
def test_problems_that_are_found(change: dict[str, Any], problem: str) -> None:
    problems = check_row(soft_clamp() | change)
    assert any(_matches(problem, found) for found in problems), problems


def _matches(pattern: str, text: str) -> bool:
    return any(part in text for part in pattern.split("|"))


def test_a_struct_by_value_is_no_scalar() -> None:
    row = structs()
    row |= {"args": [a | {"kind": "scalar"} if a["name"] == "push" else a for a in row["args"]]}
    assert check_row(row) == ["arg push: kind scalar does not fit Particle"]


def test_row_id() -> None:
    row = soft_clamp()
    assert row_id(row["python"], row["kernel_name"]) == row["id"]


@pytest.mark.parametrize("junk", [None, [], "row", {}, {"id": 1}])
def test_anything_that_is_no_row_is_refused(junk: Any) -> None:
    assert check_row(junk)


def test_importing_is_cheap() -> None:
    heavy = "'pyarrow' in sys.modules or 'warp' in sys.modules"
    code = f"import sys, validate.row.schema; sys.exit({heavy})"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
