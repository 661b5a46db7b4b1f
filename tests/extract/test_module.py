"""Taking CUDA text apart: nasty texts, attributes, hashes."""

import contextlib

import pytest
from growth import grows_with_its_input
from hypothesis import given
from hypothesis import strategies as st

from extract import ExtractError, extract_module

HEAD = '#define WP_NO_CRT\n#include "builtin.h"\n\n'
BODY = "(\n    wp::launch_bounds_t<1> dim)\n{\n    int a = 0;\n}\n"
HOSTILE = [
    "// a { brace } in a comment\n",
    "/* {\n * }} \" ' */\n",
    'const char* s = "{ \\" } // not a comment";\n',
    "char c = '{'; char q = '\\'';\n",
    "int big = 1'000'000; char d = '}';\n",
    'const char* r = R"x({ " )" )x";\n',
    "// goes on \\\n } } in the next line\n",
    '// extern "C" __global__ void lost_cuda_kernel_forward() {\n',
    'const char* g = "__global__";\n',
    "static int f(int x) { if (x) { return 1; } return 0; }\n",
]
ATTRIBUTES = [
    'extern "C" __global__ void NAME',
    'extern "C" __launch_bounds__(128, 2) WP_CLUSTER_DIMS(2, 1, 1) __global__ void NAME',
    'extern "C" __launch_bounds__(128) __global__ void WP_MAXNREG(64) NAME',
    'extern  "C"\n__global__ /* } */ __launch_bounds__((1 + 2) * 32) void\nNAME',
    '#line 12 "/home/someone/x.py"\nextern "C" __global__ void NAME',
]


def kernel(name: str, header: str = ATTRIBUTES[0], body: str = BODY) -> str:
    return header.replace("NAME", name) + body


@given(st.lists(st.sampled_from(HOSTILE), max_size=6), st.sampled_from(HOSTILE))
def test_hostile_text_fools_nobody(helpers: list[str], inside: str) -> None:
    body = "()\n{\n" + inside + "}\n"
    forward = kernel("blend_cuda_kernel_forward", body=body)
    backward = kernel("blend_cuda_kernel_backward", body=body)
    text = HEAD + "int first;\n" + "".join(helpers) + forward + backward
    module = extract_module(text)
    (found,) = module.kernels
    assert (found.name, found.forward, found.backward) == ("blend", forward, backward)
    assert module.prologue == HEAD.rstrip("\n") + "\n"
    assert module.prologue + module.helpers + found.forward + (found.backward or "") == (
        text.replace("\n\n", "\n")
    )


@given(st.lists(st.sampled_from(ATTRIBUTES), min_size=1, max_size=5), st.data())
def test_as_many_kernels_out_as_in(headers: list[str], data: st.DataObject) -> None:
    text = HEAD
    for number, header in enumerate(headers):
        text += data.draw(st.sampled_from(HOSTILE)) + kernel(f"k{number}", header)
    module = extract_module(text)
    assert [found.name for found in module.kernels] == [f"k{n}" for n in range(len(headers))]
    assert all(found.forward.endswith("    int a = 0;\n}\n") for found in module.kernels)
    assert all(found.forward.startswith("extern") for found in module.kernels)


@given(st.text(alphabet="{}\"'/*\\\nR() a1#x<L>_", max_size=40))
def test_any_text_is_either_taken_or_refused(junk: str) -> None:
    text = HEAD + "int first;\n" + junk + "\n" + kernel("k")
    try:
        module = extract_module(text)
    except ExtractError:
        return
    hidden = "/*" in junk or "//" in junk or '"' in junk or "'" in junk
    assert [found.name for found in module.kernels] == ["k"] or hidden


@pytest.mark.parametrize("opening", ["'", '"', "/*", 'R"(', "// ", "int a = (", 'extern "C" '])
def test_time_is_linear_where_nothing_fits(opening: str) -> None:
    def read(times: int) -> None:
        with contextlib.suppress(ExtractError):
            extract_module(kernel("k") + opening + "many words (a, b) \\' " * times + "\n")

    assert grows_with_its_input(read, 100, 4_000)


@pytest.mark.parametrize("again", ["# \\ ", "#a \\\n", "1'0", "x{} ", "x struct P_00000001 {} "])
def test_time_is_linear_where_much_fits(again: str) -> None:
    def read(times: int) -> None:
        extract_module("#define A\n" + again * times + "\n" + kernel("k"))

    assert grows_with_its_input(read, 2_000, 50_000)


@pytest.mark.parametrize(
    "text",
    [
        'extern "C" __global__ void k() {',
        kernel("k") + "}",
        kernel("k") + "static void f() {",
        "extern __global__ void k() {}",
        '__global__ void k() {}\nextern "C" __global__ void j() {}',
        'extern "C" __global__ void k();',
        kernel("k") + kernel("k"),
        'extern "C" __global__ void k() { if (1) {\n}\n' + kernel("j"),
        kernel("k_cuda_kernel_backward"),
        kernel("k") + '"open',
        kernel("k") + "/* open",
        kernel("k") + "\x00",
        "struct P_00000001 {};\nstruct P_00000002 {};\n" + kernel("k"),
        "int P;\nstruct P_00000001 {};\n" + kernel("k"),
        "#define LAUNCH __global__ void\n" + kernel("k"),
    ],
)
def test_refusals(text: str) -> None:
    with pytest.raises(ExtractError, match=r"line \d+: |without a forward"):
        extract_module(text)


def test_refused_where_a_part_ends_inside_a_comment() -> None:
    with pytest.raises(ExtractError, match="line 1: the block comment"):
        extract_module("#define A /* goes\non */\n" + kernel("k"))


def test_names_are_replaced_all_at_once() -> None:
    text = (
        "struct P_00000001 {};\nstruct adj_P_00000001 {};\n"
        "adj_P_00000001 a; adj_adj_P_00000001 b;\n"
        "P_00000001& c; wp::P d; adj_adj_adj_P_00000001 e;\n"
    )
    kernels = kernel("k_00000001_00000002") + kernel("k_00000001")
    module = extract_module(text + kernels)
    assert module.helpers == (
        "struct P {};\nstruct adj_P {};\nadj_P a; adj_adj_P b;\n"
        "P& c; wp::P d; adj_adj_adj_P_00000001 e;\n"
    )
    assert [found.name for found in module.kernels] == ["k_00000001", "k"]


def test_hashes_go_and_look_alikes_stay() -> None:
    text = (
        "struct Ray_0123abcd\n{\n    Ray_0123abcd() = default;\n};\n"
        "void adj_Ray_0123abcd(Ray_0123abcd & a, int Ray_0123abcdef, int my_Ray_0123abcd);\n"
        'const char* s = "Ray_0123abcd";\n'
    )
    hashed = kernel("cast_deadbeef_cuda_kernel_forward")
    module = extract_module(text + hashed)
    assert module.helpers == (
        "struct Ray\n{\n    Ray() = default;\n};\n"
        "void adj_Ray(Ray & a, int Ray_0123abcdef, int my_Ray_0123abcd);\n"
        'const char* s = "Ray_0123abcd";\n'
    )
    assert module.kernels[0].name == "cast"
    assert "cast_cuda_kernel_forward" in module.kernels[0].forward
    assert extract_module(hashed, strip_kernel_hash=False).kernels[0].name == "cast_deadbeef"
    both = extract_module(hashed + kernel("blend_cuda_kernel_forward"))
    assert [found.name for found in both.kernels] == ["cast_deadbeef", "blend"]


def test_clean_text() -> None:
    helper = (
        '// /home/me/my file.py:10\n#line 10 "/home/me/my file.py"\nstatic int f()   \n{\n'
        '    // def f():     { } " */ \\                     <L 11>\n'
        "\tint a\t= 0;\n\n\n\n\n    // stays \\  \n    return a;  // trailing  <L 3>\n}\n"
    )
    module = extract_module("\n" + HEAD + helper.replace("\n", "\r\n") + "\n\n\n" + kernel("k"))
    assert module.prologue == HEAD.rstrip("\n") + "\n"
    assert module.helpers == (
        "static int f()\n{\n    int a    = 0;\n\n    // stays\n"
        "    return a;  // trailing  <L 3>\n}\n"
    )


def test_line_map_skips_what_is_no_code_of_the_line() -> None:
    body = (
        "()\n{\n    // primal vars\n    int var_0;\n"
        "    // n = n  # <L 3>                <L 4>\n    // while n:                  <L 5>\n"
        "    start_while_0:;\n    a = (b);\n    if (!a) goto end_while_0;\n"
        "    // k = 3                      <L 6>\n    goto start_while_0;\n    end_while_0:;\n"
        "    // if c:                      <L 7>\n    if (c) {\n"
        "        // k = 2                  <L 8>\n    }\n    d = where(c, a, b);\n"
        "    // continue                   <L 9>\n    goto start_while_0;\n}\n"
    )
    (found,) = extract_module(kernel("k_cuda_kernel_forward", body=body)).kernels
    lines = found.forward.split("\n")
    assert [(n, lines[at - 1].strip()) for n, at in found.line_map] == [
        (5, "a = (b);"),
        (7, "if (c) {"),
        (9, "goto start_while_0;"),
    ]
    assert "<L" not in found.forward


def test_line_map_counts_the_lines_of_raw_strings() -> None:
    raw = 'const char* s = R"(\n\n\n\n)";\n'
    body = (
        "()\n{\n" + raw + "    // a = 1     <L 5>\n    a = 1;\n" + raw + "//  b  <L 6>\nb();\n}\n"
    )
    (found,) = extract_module(kernel("k", body=body)).kernels
    lines = found.forward.split("\n")
    assert found.forward.count(raw) == 2
    assert [(n, lines[at - 1].strip()) for n, at in found.line_map] == [(5, "a = 1;"), (6, "b();")]
