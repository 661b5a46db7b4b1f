"""What plain CUDA makes of common shapes of a program: names, updates, casts, brackets, masks."""

from __future__ import annotations

import re

from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Array, Scalar, Vec
from generators.program.expr import Cast, Const, Load, Op, Var
from synth.render import warp
from synth.render.cuda.choose import schedules_of
from synth.render.cuda.module import render
from synth.render.text import float_text, int_text
from synth.rows.maker import Accepted

ROW, COL = Var("i", INT32), Var("j", INT32)
UINT8, UINT32 = Scalar("uint8"), Scalar("uint32")


def text_of(
    params: tuple[ir.Param, ...], body: ir.Body, style: str = "guarded", axes: int = 2
) -> str:
    """The plain text of a kernel of two thread dimensions, m and n, in blocks of so many axes."""
    kernel = ir.Kernel("kernel", params, ("i", "j"), ("m", "n"), body)
    sizes = (ir.Size("m", 8), ir.Size("n", 16))
    program = ir.Program("arithmetic", "test", 1, "", (), (), kernel, sizes, 0)
    listed = schedules_of(program)[style]
    return render(program, next(s for s in listed if len(s.block) == axes)).text


def grid(name: str, element: Scalar | Vec = FLOAT32, role: str = "in") -> ir.Param:
    return ir.Param(name, Array(element, 2), role, ("m", "n"))


def at(param: ir.Param, *indices: Var | Op | Const) -> Load:
    assert isinstance(param.type, Array)
    return Load(Var(param.name, param.type), indices or (ROW, COL), param.type.element)


def store(param: ir.Param, value: object) -> ir.Store:
    return ir.Store(Var(param.name, param.type), (ROW, COL), "", value)  # type: ignore[arg-type]


A, B, OUT = grid("a"), grid("b"), grid("out", role="out")


def test_a_flat_index_that_is_needed_thrice_has_a_name() -> None:
    text = text_of((A, B, OUT), (store(OUT, at(A) * at(B)),))
    assert "const int idx = i * n + j;\n    out[idx] = a[idx] * b[idx];" in text
    twice = text_of((A, OUT), (store(OUT, at(A) * 2.0),))
    assert "out[i * n + j] = a[i * n + j] * 2.0f;" in twice


def test_a_row_that_is_needed_thrice_has_a_name() -> None:
    total = at(A, ROW, COL - 1) + at(A, ROW, COL) + at(A, ROW, COL + 1)
    text = text_of((A, OUT), (ir.Assign("total", total), store(OUT, Var("total", FLOAT32))))
    assert "const int base = i * n;" in text
    assert "a[base + j - 1] + a[base + j] + a[base + j + 1];" in text


def test_a_literal_place_in_a_row_is_said_by_itself() -> None:
    """However often it is needed: people write ``a[base + 1]``, and no name for it."""
    first, second = (at(A, ROW, Const(k, INT32)) for k in (0, 1))
    value = first * second + first * first + second * second
    text = text_of((A, OUT), (ir.Assign("value", value), store(OUT, Var("value", FLOAT32))))
    assert "const int base = i * n;" in text
    assert "a[base] * a[base + 1] + a[base] * a[base] + a[base + 1] * a[base + 1]" in text
    assert text.count("const int") == 3


def test_one_row_on_is_an_extent() -> None:
    text = text_of((A, OUT), (store(OUT, at(A, Const(1, INT32), COL) * 2.0),))
    assert "a[n + j] * 2.0f" in text


def test_the_number_of_a_thread_is_its_flat_index() -> None:
    text = text_of((A, OUT), (store(OUT, at(A)),), "grid_stride", axes=1)
    assert "out[index] = a[index];" in text
    assert "index / n" not in text


def test_a_changed_variable_is_in_no_name() -> None:
    k = Var("k", INT32)
    body = (
        ir.Assign("k", COL),
        ir.Assign("k", k % 3),
        store(OUT, at(A, ROW, k) + at(B, ROW, k) * at(A, ROW, k)),
    )
    text = text_of((A, B, OUT), body)
    assert "i * n + k" in text or "base + k" in text
    assert "= i * n + k;" not in text


def test_updates_are_in_place() -> None:
    x, v = Var("x", FLOAT32), Var("v", Vec(3, FLOAT32))
    points = grid("points", Vec(3, FLOAT32))
    body = (
        ir.Assign("x", at(A)),
        ir.Assign("x", x + at(B)),
        ir.Assign("x", x * 2.0 + 1.0),
        ir.Assign("v", at(points)),
        ir.AugAssign("v", "add", at(points)),
        store(OUT, x + v[0]),
    )
    text = text_of((A, B, points, OUT), body)
    assert "x += b[idx];" in text
    assert "x = x * 2.0f + 1.0f;" in text
    assert "v += points[idx];" in text
    assert "operator+=(float3& a, float3 b)" in text


def test_casts_that_change_nothing_are_left_out() -> None:
    bytes_in, words = grid("bytes_in", UINT8), grid("words", UINT32)
    out = grid("out", INT32, "out")
    w = Var("w", UINT32)
    body = (
        ir.Assign("w", at(words) >> Cast(at(bytes_in), UINT32)),
        ir.Assign("c", Cast(at(bytes_in), INT32)),
        store(out, Cast(w & Const(0xFF00, UINT32), INT32) + Var("c", INT32)),
    )
    text = text_of((bytes_in, words, out), body)
    assert "words[idx] >> bytes_in[idx];" in text
    assert "    int c = bytes_in[idx];" in text
    assert "int(w & 0xFF00u) + c" in text


def test_brackets_that_change_nothing_are_left_out() -> None:
    p, q, r = (Op("gt", (at(A), Const(str(k), FLOAT32)), Scalar("bool")) for k in (1.0, 2.0, 3.0))
    flag = Scalar("bool")
    out = grid("out", flag, "out")
    both = Op("and", (p, Op("and", (q, r), flag)), flag)
    text = text_of((A, out), (store(out, both),))
    assert "a[idx] > 1.0f && a[idx] > 2.0f && a[idx] > 3.0f;" in text
    equal = Op("eq", (ROW, COL), flag)
    text = text_of((out,), (store(out, Op("not", (equal,), flag)),))
    assert "= i != j;" in text


def test_numbers_stand_in_both_languages_alike(all_accepted: list[Accepted]) -> None:
    """Nobody has to convert digits: masks, what hashes multiply with, large and small floats."""
    number = re.compile(r"(?<![.\w])(?:0x[0-9A-F]{3,}|\d+(?:\.\d+)?e-?\d+|\d{7,})")
    largest = ("2147483647", "4294967295")

    def numbers(text: str) -> set[str]:
        """Of floats as many digits as float32 has."""
        told = set(number.findall(text)) - {*largest}
        return {float_text(f"{float(n):.9g}") if "e" in n else n for n in told}

    seen = 0
    for a in all_accepted:
        python, text = warp.render(a.program), render(a.program).text
        found = numbers(text[text.index('extern "C"') :])
        assert found <= numbers(python), (a.program.idiom, python, text)
        seen += bool(found)
    assert seen > 20


def test_numbers_are_written_as_people_write_them() -> None:
    floats = ("0.5", "1e-06", "1000000000.0", "-1000000000.0", "12000000.0", "1e+16", "100000.0")
    written = ["0.5", "1e-6", "1e9", "-1e9", "1.2e7", "1e16", "100000.0"]
    assert [float_text(v) for v in floats] == written
    assert int_text(0x85EBCA6B, unsigned=True) == "0x85EBCA6B"
    assert int_text(1664525, unsigned=True) == "1664525"
    assert int_text(1 << 24, bits=True) == "0x1000000"
    assert int_text(7, bits=True) == "7"
    assert int_text(1000) == "1000"
