"""Canonical JSON and the two keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators import categories
from generators.build import KernelBuilder
from generators.build.draw import Draw, Reject, Stream, round_numbers
from generators.build.registry import LEVELS
from generators.program.dtypes import FLOAT32, Array, Mat, Scalar, Vec, parse_type
from generators.program.expr import Expr
from generators.program.ir import Body, Comment, For, If, Program, While
from generators.program.keys import program_keys
from generators.program.serialise import from_json, to_json
from generators.program.signatures import OpTypeError

draws = st.builds(
    lambda name, seed, index, level: categories()[name].draw(Draw(seed, name, index, 0), level),
    st.sampled_from(sorted(categories())),
    st.integers(0, 2**40),
    st.integers(0, 2**30),
    st.sampled_from(LEVELS),
)

NAMED = {"Var", "Assign", "AugAssign", "SetComponent", "SetField", "Sample", "For", "Param"}


def _edited(program: Program, edit: Callable[[dict[str, Any]], None]) -> Program:
    """The program with ``edit`` applied to every node of its JSON."""

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            edit(value)
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    raw = json.loads(to_json(program))
    walk(raw)
    return from_json(json.dumps(raw))


def _rename(node: dict[str, Any]) -> None:
    if node.get("_") in NAMED:
        node["name"] = f"renamed_{node['name']}"
    if node.get("_") in ("Function", "Kernel"):
        node["name"] = f"other_{node['name']}"
    if node.get("_") == "Call":
        node["function"] = f"other_{node['function']}"
    if node.get("_") == "Kernel":
        node["threads"] = [f"renamed_{t}" for t in node["threads"]]


def _change_literal(node: dict[str, Any]) -> None:
    if node.get("_") == "Const" and node["type"] not in ("bool", "int32"):
        node["value"] = "7.25" if isinstance(node["value"], str) else 7 - node["value"] % 2


def _reverse_sums(node: dict[str, Any]) -> None:
    if node.get("_") == "Op" and node["op"] in ("add", "min", "bit_xor"):
        node["args"] = node["args"][::-1]


@settings(max_examples=60, deadline=None)
@given(draws)
def test_json_round_trip_is_exact_and_canonical(program: Program) -> None:
    text = to_json(program)
    assert from_json(text) == program
    assert to_json(from_json(text)) == text
    assert text.isascii()


@settings(max_examples=60, deadline=None)
@given(draws)
def test_keys_ignore_names(program: Program) -> None:
    assert program_keys(_edited(program, _rename)) == program_keys(program)


@settings(max_examples=60, deadline=None)
@given(draws)
def test_keys_ignore_the_order_of_commuting_operands(program: Program) -> None:
    assert program_keys(_edited(program, _reverse_sums)) == program_keys(program)


@settings(max_examples=60, deadline=None)
@given(draws)
def test_only_the_rename_key_sees_literals(program: Program) -> None:
    changed = _edited(program, _change_literal)
    before, after = program_keys(program), program_keys(changed)
    assert before.structure == after.structure
    assert (before.rename == after.rename) == (changed == program)


def test_keys_see_operators_types_and_the_order_of_differences() -> None:
    def key(build: Callable[[Expr, Expr], Expr], type_: Scalar = FLOAT32) -> str:
        k = KernelBuilder(Draw(0, "test", 0, 0))
        n = k.size("n", 8, 8)
        a, b, out = (k.array(name, type_, n, low=0, high=1) for name in ("a", "b", "c"))
        (i,) = k.thread(n)
        k.store(out, i, build(a[i], b[i]))
        return program_keys(k.program("test", 1, "kernel", "A test kernel.")).structure

    sums = key(lambda a, b: a + b)
    assert sums == key(lambda a, b: b + a)
    others = [
        key(lambda a, b: a - b),
        key(lambda a, b: b - a),
        key(lambda a, b: a * b),
        key(lambda a, b: a + a),
        key(lambda a, b: a + b, Scalar("float64")),
    ]
    assert len({sums, *others}) == 6


def _comments(body: Body) -> Iterator[str]:
    """The comments in a body and in all blocks within."""
    for statement in body:
        if isinstance(statement, Comment):
            yield statement.text
        elif isinstance(statement, If):
            for _, block in statement.branches:
                yield from _comments(block)
            yield from _comments(statement.orelse)
        elif isinstance(statement, For | While):
            yield from _comments(statement.body)


@pytest.mark.parametrize("category", sorted(categories()))
def test_docs_and_comments_hold_no_spelling_of_warp(category: str) -> None:
    for idiom in sorted(categories()[category].idioms):
        for level in LEVELS:
            for index in range(2):
                draw = Draw(5, f"{category}/{idiom}/{level}", index, 0)
                try:
                    program = categories()[category].draw_idiom(idiom, draw, level)
                except Reject:
                    continue
                parts = (program.kernel, *program.functions)
                texts = [part.doc for part in parts]
                texts += [text for part in parts for text in _comments(part.body)]
                for text in texts:
                    assert "wp." not in text
                    assert not text.startswith("For each thread:")


def _component_writer(index: int, loop_names: tuple[str, str], step: int = 1) -> Program:
    k = KernelBuilder(Draw(0, "test", 0, 0))
    n = k.size("n", 8, 8)
    a = k.array("a", Vec(2, FLOAT32), n, low=0, high=1)
    (i,) = k.thread(n)
    v = k.let("v", a[i])
    for name in loop_names:
        with k.for_(name, 3 if step > 0 else -3, step=step):
            k.set(v, index, v[0] + v[1])
        k.used.discard(name)
    k.store(a, i, v)
    return k.program("test", 1, "kernel", "A test kernel.")


def test_keys_see_which_component_is_written_and_the_direction_of_a_loop() -> None:
    structures = {
        program_keys(_component_writer(index, ("j", "k"), step)).structure
        for index, step in ((0, 1), (1, 1), (0, -1))
    }
    assert len(structures) == 3


def test_keys_ignore_whether_a_loop_variable_is_used_again() -> None:
    twice, other = (_component_writer(0, names) for names in (("k", "k"), ("k", "j")))
    assert program_keys(twice) == program_keys(other)


def test_atomics_that_no_device_has_are_refused() -> None:
    k = KernelBuilder(Draw(0, "test", 0, 0))
    for element, op_name in ((Scalar("uint8"), "add"), (FLOAT32, "or")):
        counts = k.accumulator("counts", element, "4")
        with pytest.raises(TypeError, match="no atomic"):
            k.atomic(op_name, counts, 0, counts[0])


@pytest.mark.parametrize(
    "text",
    ["bool", "int8", "uint64", "float16", "vec2[float32]", "vec7[int64]", "mat2x3[float64]"]
    + ["quat[float32]", "transform[float64]", "array4[mat4x4[float32]]", "array1[bool]"],
)
def test_types_print_and_parse(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize("text", ["float", "vec3", "vec3[vec2[int8]]", "array5[int8]", "", "x y"])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unknown scalar type"):
        parse_type(text)


@pytest.mark.parametrize("text", ['{"_":"Program"}', "[]", '{"_":"Nothing"}', "{}"])
def test_what_is_no_program_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        from_json(text)


def test_ops_refuse_types_that_do_not_fit() -> None:
    k = KernelBuilder(Draw(0, "test", 0, 0))
    x = k.scalar("x", FLOAT32)
    v = k.scalar("v", Vec(3, FLOAT32))
    m = k.scalar("m", Mat(2, 2, FLOAT32))
    for build in (
        lambda: v + x,
        lambda: m * v,
        lambda: x // 2,
        lambda: x + k.scalar("d", Scalar("float64")),
    ):
        with pytest.raises((OpTypeError, TypeError)):
            build()


def test_arrays_take_as_many_indices_as_dimensions() -> None:
    k = KernelBuilder(Draw(0, "test", 0, 0))
    grid = k.array("grid", FLOAT32, ("n", "m"))
    assert grid.type == Array(FLOAT32, 2)
    with pytest.raises(TypeError, match="takes 2 indices"):
        grid[0]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**32))
def test_drawn_integers_stay_in_range(low: int, width: int) -> None:
    stream = Stream(f"range/{low}/{width}")
    assert all(low <= stream.integer(low, low + width) <= low + width for _ in range(20))


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_drawn_constants_stay_in_range_and_are_short(low: float, width: float) -> None:
    text = Stream(f"constant/{low}/{width}").constant(low, low + width)
    assert low <= float(text) <= low + width


def test_streams_of_different_keys_share_nothing() -> None:
    first, second = Stream("a"), Stream("b")
    assert not {first.bits64() for _ in range(500)} & {second.bits64() for _ in range(500)}


def test_constants_are_round_where_their_range_holds_round_ones() -> None:
    assert round_numbers(0.5, 2.0) == [0.5, 0.6, 0.75, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0]
    assert round_numbers(-2.0, -1.0) == [-2.0, -1.5, -1.2, -1.0]
    assert round_numbers(-1.0, 1.0) == round_numbers(0.0, 0.0) == []
    stream = Draw(0, "constants", 0, 0).value
    assert {float(stream.constant(0.5, 2.0)) for _ in range(200)} == {*round_numbers(0.5, 2.0)}
    assert 0.61 <= float(stream.constant(0.61, 0.69)) <= 0.69
