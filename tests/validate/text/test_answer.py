"""What a model writes is read: completions, host code, launches, and what no text may have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from answers import HEAD, KERNEL, LAUNCHES, ROW, UNCLEAR, Expected, body, fence, host
from growth import grows_with_its_input

from synth.views.plain import plain_answer
from validate.statuses import ScoreStatus
from validate.text.answer import Reading, read_answer
from validate.text.formula import evaluate
from validate.text.plain import kernel_names

DATA = Path(__file__).resolve().parents[2] / "data"
REWRITES = sorted((DATA / "honest_rewrites").glob("*.cu"))


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, path.read_text().splitlines())}


def at_sizes(launch: Any, row: Any, factor: int = 1) -> tuple[list[int], list[int], int]:
    sizes = {e["symbol"]: e["value"] * factor + (factor - 1) for e in row["sizes"]}
    grid, block = ([evaluate(f, sizes) for f in launch[key]] for key in ("grid", "block"))
    for extents in (grid, block):
        while len(extents) > 1 and extents[-1] == 1:
            extents.pop()
    return grid, block, evaluate(launch.get("shared_bytes") or 0, sizes)


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    return rows_of(DATA / "judge" / "rows.jsonl")


def test_own_texts_are_read_without_loss(rows: dict[str, dict[str, Any]]) -> None:
    assert len(rows) >= 20
    for row in rows.values():
        found = read_answer(row["cuda_plain"], row)
        assert (found.status, found.problem, found.launch) == ("", "", None)
        assert [found.kernel] == kernel_names(row["cuda_plain"])
        without = re.sub(r'//[^\n]*|extern "C" |#include[^\n]*', "", row["cuda_plain"])
        assert found.code.split() == without.split()
        assert found.code.count("\n") == row["cuda_plain"].count("\n")


def test_the_answers_of_our_own_view_are_read(rows: dict[str, dict[str, Any]]) -> None:
    for row in rows.values():
        found = read_answer(plain_answer({**row, "schedule": '{"limits": ""}'}), row)
        assert (found.status, found.problem) == ("", "")
        assert [found.kernel] == kernel_names(row["cuda_plain"])
        for factor in (1, 3, 7):
            wanted = at_sizes(row["plain_launch"][0], row, factor)
            assert at_sizes(found.launch, row, factor) == wanted


@pytest.mark.parametrize("path", REWRITES, ids=lambda path: path.stem)
def test_rewrites_are_read_with_their_launch(path: Path) -> None:
    text = path.read_text()
    named, said = re.search(r"// row: (\w+)", text), re.search(r"// launch: (.*)", text)
    assert named is not None
    assert said is not None
    row = rows_of(DATA / "honest_rewrites" / "rows.jsonl")[named[1]]
    found = read_answer(text, row)
    assert (found.status, found.problem) == ("", "")
    assert at_sizes(found.launch, row, 5) == at_sizes(json.loads(said[1]), row, 5)


@pytest.mark.parametrize("name", LAUNCHES)
def test_a_launch_is_found_where_it_is_said(name: str) -> None:
    text, expected = LAUNCHES[name]
    found = read_answer(text, ROW)
    assert (found.status, found.problem) == ("", "")
    got: Expected = None if found.launch is None else at_sizes(found.launch, ROW)
    assert got == expected
    assert "<<<" not in found.code
    assert "cuda" not in found.code.lower()


@pytest.mark.parametrize("name", UNCLEAR)
def test_a_launch_that_is_not_understood_is_a_bad_one(name: str) -> None:
    found = read_answer(UNCLEAR[name], ROW)
    assert found.status == ScoreStatus.BAD_LAUNCH
    assert "launch" in found.problem
    assert "\n" not in found.problem


def test_launches_follow_sizes_and_not_their_values() -> None:
    text, _ = LAUNCHES["sizes by what is passed"]
    launch = read_answer(text, ROW).launch
    assert at_sizes(launch, ROW, 9) == ([10, 13], [32, 8], 128)


THINKING = "<think>\nPerhaps\n```cuda\n__global__ void bad() {}\n```\nno.\n</think>\n"
NAIVE = fence("__global__ void naive(float* x) { x[0] = 1; }\n")


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        "\ufeff" + KERNEL.replace("\n", "\r\n"),
        fence(KERNEL),
        "Sure, here's one!\n\n" + fence(KERNEL, "c++ title=a.cu") + "It isn't slow.\n",
        "~~~~\n" + KERNEL + "~~~~\n",
        "1. So:\n   " + fence(KERNEL, "").replace("\n```", "\n   ```"),
        "```cuda\n" + KERNEL,
        "Here's a kernel that doesn't fail:\n\n"
        + KERNEL
        + "\nIt takes a thread for each element.\n",
        THINKING + fence(KERNEL),
        THINKING + KERNEL,
        THINKING.removeprefix("<think>\n") + fence(KERNEL),
        NAIVE + "Faster:\n" + fence(KERNEL),
        fence(KERNEL) + "It's called so:\n" + fence("int main() { return 0; }\n", "cpp"),
        fence(KERNEL) + "Declared as\n" + fence(HEAD + ";\nint main() { return 0; }\n"),
        fence("print('x')\n", "python") + fence(KERNEL),
    ],
)
def test_the_answer_is_found_in_a_completion(text: str) -> None:
    found = read_answer(text, ROW)
    assert (found.status, found.problem, found.kernel) == ("", "", "scale")
    assert found.code.split() == KERNEL.split()
    assert found.launch is None


def test_helpers_of_an_earlier_block_are_taken_where_they_are_needed() -> None:
    helpers = "#define TWO 2\nstruct P { float v; };\n__device__ float f(P p) { return p.v; }\n"
    text = body("P p = { x[0] }; y[0] = f(p);")
    found = read_answer(fence(helpers, "cpp") + fence(text), ROW)
    assert found.status == ""
    assert "struct P { float v; };" in found.code
    found = read_answer(fence(helpers, "cpp") + fence(KERNEL), ROW)
    assert found.code.split() == KERNEL.split()
    own = "struct P { int w; };\n__device__ int f(P p) { return 3; }\n" + text
    assert "float v" not in read_answer(fence(helpers, "cpp") + fence(own), ROW).code


@pytest.mark.parametrize(
    "text",
    ["", "   \n", "int x;", "// __global__ void k() {}", HEAD + ";", THINKING, "<think>" + KERNEL]
    + ["__device__ void f() {}", "I cannot do that", fence("def f(): pass\n", "python")],
)
def test_no_kernel(text: str) -> None:
    found = read_answer(text, ROW)
    assert found.status == ScoreStatus.NO_KERNEL
    assert found.problem


OTHER = "__global__ void other(float* q) { q[0] = 1; }\n"
SAME = KERNEL.replace("scale", "mine")


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (KERNEL + OTHER, "scale"),
        (OTHER + SAME, "mine"),
        (KERNEL + SAME, "scale"),
        (KERNEL + SAME + "void go() { mine<<<1, 32>>>(0, 1, 0, 2, 3); }", "mine"),
        (HEAD + ";\n" + KERNEL, "scale"),
        ("namespace a { namespace b { " + SAME + "} }", "a::b::mine"),
        ("namespace a::b { namespace { " + SAME + "} }", "a::b::mine"),
        ("template <typename T>\n" + SAME.replace("float", "T"), "mine<float>"),
        ("template <typename T, int N = 3>\n" + SAME.replace("float", "T"), "mine<float>"),
        ("template <class T>\n" + host("scale<double><<<1, 2>>>(x, 1, y, w, h);"), "scale<double>"),
        (
            "template <int B, bool C>\n#define Q 8\n"
            + host("const int q = 4; scale<Q * q, true><<<1, 2>>>(x, 1, y, w, h);"),
            "scale<32, 1>",
        ),
        (
            "enum class Op { Sum };\ntemplate <Op kOp>\n"
            + host("scale<Op::Sum><<<1, 2>>>(x, 1, y, w, h);"),
            "scale<Op::Sum>",
        ),
        ("template <> " + KERNEL.replace("scale", "scale<float>"), "scale"),
    ],
)
def test_the_kernel_that_is_launched_is_named(text: str, kernel: str) -> None:
    found = read_answer(text, ROW)
    assert (found.status, found.problem, found.kernel) == ("", "", kernel)


@pytest.mark.parametrize(
    "text",
    [OTHER + OTHER.replace("other", "another"), SAME + SAME.replace("mine", "yours")]
    + ["template <int N>\n" + KERNEL],
)
def test_which_kernel_must_be_clear(text: str) -> None:
    assert read_answer(text, ROW).status == ScoreStatus.NO_KERNEL


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (KERNEL, None),
        (KERNEL.replace("void scale", "void __launch_bounds__(256) scale"), 256),
        ("#define T 128\n" + KERNEL.replace("void", "__launch_bounds__(T, 2) void"), 128),
        ("constexpr int T = 64 * 2;\n__launch_bounds__(T) " + KERNEL, 128),
        (
            "template <int T>\n__launch_bounds__(T) "
            + host("scale<96><<<1, 32>>>(x, 1, y, w, h);"),
            96,
        ),
        ("__launch_bounds__(f(3)) " + KERNEL, None),
    ],
)
def test_threads_that_are_promised_are_told(text: str, most: int | None) -> None:
    assert read_answer(text, ROW).most_threads == most


HONEST = {
    "static": ("static " + KERNEL, "static __global__"),
    "void first": (KERNEL.replace("__global__ void", "void __global__"), "void __global__"),
    "alignment": (body("__shared__ __align__(16) float s[32];"), "__align__(16) float s[32];"),
    "dynamic": (body("extern __shared__ float s[];"), "extern __shared__ float s[];"),
    "dynamic aligned": (
        body("extern __shared__ __align__(16) unsigned char raw[];"),
        "__align__(16) extern __shared__ unsigned char raw[];",
    ),
    "dynamic aligned first": (
        "extern __align__(8) __shared__ double s[];\n" + KERNEL,
        "__align__(8) extern __shared__ double s[];",
    ),
    "dynamic aligned last": (
        "extern __shared__ float4 __attribute__((aligned(16))) s[];\n" + KERNEL,
        "__align__(16) extern __shared__ float4 s[];",
    ),
    "dynamic volatile": (
        body("extern volatile __shared__ float s[];"),
        "extern __shared__ volatile float s[];",
    ),
    "dynamic of a macro": (
        "#define REAL float\n" + body("extern __shared__ REAL s[];"),
        "#define REAL float",
    ),
    "printf": (body(r'printf("%d \"q\" // no /* comment\n", w); assert(w && "w");'), "// no /*"),
    "other letters": (body('printf("ö");') + "// größer → é \U0001f600\n", '"ö"'),
    "attributes": (
        "[[maybe_unused]] static const int q = 3;\n"
        "__device__ __attribute__((noinline, unused)) int f() { return 1; }\n" + KERNEL,
        "__attribute__((noinline, unused)) int f()",
    ),
    "own names": (
        "__device__ float __warp_sum(float v) { return v; }\n#define _BLK 32\n#define __TILE 16\n"
        "template <typename _Tp> __device__ _Tp _F(_Tp __x) { return __x; }\n"
        + body("int __i = _BLK + __TILE; y[0] = __warp_sum(x[__i]);"),
        "#define __TILE 16",
    ),
    "a guard": ("#ifndef _SCALE_H_\n#define _SCALE_H_\n" + KERNEL + "#endif\n", "#ifndef _SCALE"),
    "linkage around": (
        '#ifdef __cplusplus\nextern "C" {\n#endif\n' + KERNEL + "#ifdef __cplusplus\n}\n#endif\n",
        "#ifdef __cplusplus\n\n#endif",
    ),
    "architecture": (
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600\n#define Q 1\n#else\n#define Q 2\n"
        "#endif\n" + body("int q = Q;"),
        "__CUDA_ARCH__ >= 600",
    ),
    "goto": (body("int i = 0; again: if (++i < 3) goto again;"), "goto again"),
    "a constant by a function": (
        "constexpr int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
        + body("__shared__ float s[cdiv(9, 2)];"),
        "__host__ __device__ constexpr int cdiv",
    ),
    "structs": (
        "struct V { float x; __host__ __device__ V operator+(const V& o) const { return {x}; } "
        "V& operator=(const V&) = default; V(int) = delete; };\n" + KERNEL,
        "= delete; };",
    ),
    "types and constants": (
        "enum { A = 3, B };\nenum class C : int { X };\nusing T = float;\ntypedef unsigned u32;\n"
        "__constant__ float t[3] = {1.f, 2.f, 3.f};\nconst float eps = 1e-6f;\n" + KERNEL,
        "const float eps = 1e-6f;",
    ),
    "a macro for a kernel": (
        '#define KERNEL extern "C" __global__ void\n' + KERNEL.replace("__global__ void", "KERNEL"),
        "#define KERNEL __global__ void",
    ),
    "a macro for functions": (
        "#define DEV __device__ __forceinline__\nDEV float f(float a) { return a; }\n" + KERNEL,
        "DEV float f(float a)",
    ),
    "macros again": (
        "#define A 1\n#undef A\n#define A 2\n#ifndef M_PI\n#define M_PI 3.14159\n#endif\n"
        "#define max(a, b) ((a) > (b) ? (a) : (b))\n" + body("y[0] = max(A, M_PI);"),
        "#undef A",
    ),
    "what is cut out": (
        "#if 0\n}} asm(\n#ifdef X\n#else\n#endif\n#elif 1\nconst int q = 3;\n#endif\n" + KERNEL,
        "#if 0\n\n\n\n\n#elif 1",
    ),
    "functions that are not known here": (body("y[0] = __fnew_rn(x[0]);"), "__fnew_rn"),
    "fences": (body("__threadfence(); __threadfence_block();"), "__threadfence_block"),
    "pragmas": (body("\n#pragma unroll 4\nfor (int i = 0; i < 3; ++i) y[i] = 0;\n"), "unroll 4"),
    "digits": (body("int q = 1'000'000; char c = '\\n'; y[q] = c;"), "1'000'000"),
    "device functions in a block of C": (
        'extern "C" {\n__device__ float f(float a) { return a; }\n' + KERNEL + "}\n",
        "__device__ float f(float a)",
    ),
    "cooperative groups": (
        "namespace cg = cooperative_groups;\nusing namespace cooperative_groups;\n" + KERNEL,
        "namespace cg = cooperative_groups;\nusing namespace cooperative_groups;",
    ),
    "a closure": (
        body("auto f = [=](float v) { return v + a; }; y[0] = f(x[0]);"),
        "[=](float v)",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_cuda_has_is_kept(name: str) -> None:
    text, kept = HONEST[name]
    found = read_answer(text, ROW)
    assert (found.status, found.problem, found.kernel) == ("", "", "scale")
    assert kept in found.code
    assert 'extern "C"' not in found.code
    assert found.code.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "int f(int a) { return a; }\n",
        "static inline float f(float a) { return a; }\n",
        "template <typename T> T f(T a) { return a; }\n",
        "constexpr int f(int a) { return a; }\n",
        "__host__ int f(int a) { return a; }\n",
        'extern "C" int f(const char*);\n',
        "int f(int);\n",
        "static std::vector<int> f;\n",
        "std::vector<int> f{1, 2};\n",
        "static int f = 3;\n",
        'const std::string f = "f";\n',
        "using f = torch::Tensor;\n",
        "struct f { cudaStream_t s; };\n",
        "using namespace std;\nint f() {}\n",
        "namespace f = torch::nn;\n",
        "#define f(x) x # x\n",
        'PYBIND11_MODULE(f, m) { m.def("f"); }\n',
    ],
)
def test_what_only_hosts_have_is_gone(text: str) -> None:
    call = body("y[0] = f(w);") if "f(" in text and "#define" not in text else KERNEL
    found = read_answer(text + call, ROW)
    assert found.status == ""
    assert found.code.strip() == call.strip()
    assert found.code.count("\n") == (text + call).count("\n")


def test_headers_are_told_and_their_lines_blank() -> None:
    text = '#include <math.h>\n#include "cuda_fp16.h"\n#  include <math.h> // again\n' + KERNEL
    found = read_answer(text, ROW)
    assert found.headers == ("cuda_fp16.h", "math.h")
    assert found.code.split("\n")[3].startswith("__global__")
    assert found.code.split() == KERNEL.split()


REFUSED = {
    "asm": (body('asm volatile("nop");'), "asm"),
    "asm behind a string": (body('const char* s = "//"; asm("x");'), "asm"),
    "asm behind a separator": (body("int q = 1'0; asm(\"nop\"); int r = 1'0;"), "asm"),
    "asm spliced": (body('as\\\nm("nop");'), "asm"),
    "asm by a macro": ("#define A asm\n" + body('A("x");'), "asm"),
    "pasted": ("#define A(x, y) x##y\n" + body("A(as, m)(0);"), "##"),
    "made a string": ("#define S(x) #x\n" + body("const char* s = S(a);"), "#"),
    "digraph": ("%:define A x\n" + KERNEL, "digraph"),
    "a file": ('#include "/etc/passwd"\n' + KERNEL, "/etc/passwd"),
    "a file behind a form feed": ('\f#include "/etc/passwd"\n' + KERNEL, "control"),
    "a file behind a return": ('int z;\r#include "/etc/passwd"\n' + KERNEL, "control"),
    "a file by a macro": ("#define F </etc/passwd>\n#include F\n" + KERNEL, "#include F"),
    "a question about a file": ("#if __has_include(<x>)\n#endif\n" + KERNEL, "__has_include"),
    "another header": ("#include <boost/x.hpp>\n" + KERNEL, "boost/x.hpp"),
    "the judge": (body("pairsmith::watch = nullptr;"), "judge"),
    "the judge in capitals": (body("int PairSmith_x;"), "judge"),
    "the judge in a string": (body('printf("pairsmith");'), "judge"),
    "words of the judge": ("#define watch nullptr\n" + body("int* q = watch;"), "watch"),
    "a jump": (body("_longjmp(nullptr, 1);"), "_longjmp"),
    "a saved place": (body("setjmp(0);"), "setjmp"),
    "another context": (body("swapcontext(nullptr, nullptr);"), "swapcontext"),
    "a pragma": ("#pragma redefine_extname k printf\n" + KERNEL, "redefine_extname"),
    "a pragma of GCC": ('#pragma GCC optimize("O3")\n' + KERNEL, "GCC"),
    "a pragma inside": (body('_Pragma("x")'), "_Pragma"),
    "an attribute of GCC": (body("[[gnu::used]] int z;"), "gnu"),
    "constructor": ("__device__ __attribute__((constructor)) void f() {}\n" + KERNEL, "constr"),
    "alias": ('__device__ __attribute__((alias("x"))) void f();\n' + KERNEL, "alias"),
    "out of the namespace": ("}\nint printf(const char*);\nnamespace x {" + KERNEL, "brace"),
    "std": ("namespace std { __device__ int x; }\n" + KERNEL, "std"),
    "linked as a kernel": ('extern "C" __global__ int PyRun(const char*);\n' + KERNEL, "PyRun"),
    "linked for a device": ('extern "C" __device__ int f(int);\n' + KERNEL, 'extern "C"'),
    "linked and not void": ('extern "C" __global__ float log1pf(float) {}\n' + KERNEL, "log1pf"),
    "not void": (KERNEL.replace("void", "int"), "void"),
    "extern": ("extern __device__ int x;\n" + KERNEL, "extern"),
    "extern inside": (body("extern int environ; y[0] = environ;"), "extern"),
    "extern in a macro": ("#define E extern int\n" + body("E environ;"), "extern"),
    "dynamic of a size": (body("extern __shared__ float s[3];"), "without a size"),
    "new": (body("float* p = new float[3];"), "new"),
    "delete": (body("delete x;"), "delete"),
    "malloc": (body("void* p = malloc(4);"), "malloc"),
    "goto": (body("void* p = 0; goto *p;"), "jump"),
    "typeid": (body("typeid(int);"), "typeid"),
    "a raw string": (body('const char* s = R"(x)";'), "raw string"),
    "a letter by its number": (body("int \\u0061 = 0;"), "backslash"),
    "a letter of a string": (body('const char* s = "\\u0061";'), "number"),
    "trigraph": (body('char c[] = "??/";'), "trigraph"),
    "a module": ("import std;\n" + KERNEL, "module"),
    "a control character": (body("\x01"), "control"),
    "a nul": (body("\0"), "control"),
    "a brace more": (KERNEL + "}", "brace"),
    "a brace less": (KERNEL + "{", "brace"),
    "a string without its end": (KERNEL + '"abc', "string"),
    "a comment without its end": (KERNEL + "/* x", "comment"),
    "half a character": ("\ud800" + KERNEL, "ud800"),
    "half a character in a string": (body('printf("\ud800");'), "half"),
    "too long": (KERNEL + "// " + "x" * 70000, "65536"),
    "a directive": ('#line 3 "x"\n' + KERNEL, "#line"),
    "nested": (body("(" * 300 + ")" * 300), "256 deep"),
    "threadIdx": ("#define threadIdx blockIdx\n" + body("y[threadIdx.x] = 0;"), "threadIdx"),
    "a barrier": ("#define __syncthreads() \n" + body("__syncthreads();"), "__syncthreads"),
    "undefined": ("#undef threadIdx\n" + KERNEL, "threadIdx"),
    "a type in dynamic memory": (body("extern __shared__ __clang_x__ s[];"), "__clang_x__"),
    "a machine's name made one's own": (
        "#define __unix 1\n#ifdef __unix\n#endif\n" + body("int q = __unix;"),
        "__unix",
    ),
    "a guard that asks": ("#ifndef __x86_64__\n#define __x86_64__\n#endif\n" + KERNEL, "x86"),
}


def assert_refused(found: Reading, name: str) -> None:
    assert found.status == ScoreStatus.COMPILE_ERROR
    assert found.problem.startswith("error: ")
    assert name in found.problem
    assert found.problem.isascii()
    assert (found.code, found.launch) == ("", None)


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_text_may_have_is_named(name: str) -> None:
    text, what = REFUSED[name]
    assert_refused(read_answer(text, ROW), what)
    if name != "too long":
        assert_refused(read_answer(fence(text), ROW), what)


COMPILERS = [
    *("__clang__", "__clang_major__", "__GNUC__", "__GNUC_MINOR__", "__SSE2__", "__AVX__"),
    *("__x86_64__", "__amd64", "__aarch64__", "__ARM_NEON", "__linux__", "__linux", "linux"),
    *("unix", "__unix__", "_WIN32", "_MSC_VER", "__APPLE__", "__OPTIMIZE__", "__NO_INLINE__"),
    *("__VERSION__", "__STDC_HOSTED__", "__STDC__", "__INT_MAX__", "__SIZE_TYPE__"),
    *("__BYTE_ORDER__", "__CHAR_BIT__", "__ELF__", "__LP64__", "_LP64", "_GNU_SOURCE"),
    *("__GXX_RTTI", "__EXCEPTIONS", "__cpp_lambdas", "__NVCC__", "__CUDACC_RTC__", "__FLT_MAX__"),
    *("__SANITIZE_THREAD__", "__CUDA_ARCH_LIST__", "__COUNTER__", "__INCLUDE_LEVEL__"),
    *("__TIMESTAMP__", "__BASE_FILE__", "__GCC_ATOMIC_INT_LOCK_FREE"),
]


@pytest.mark.parametrize("name", COMPILERS)
def test_questions_about_the_compiler_are_refused(name: str) -> None:
    for asked in (f"#ifdef {name}\n#endif", f"#if defined({name}) || 1\n#endif", f"y[0] = {name};"):
        assert_refused(read_answer(body(f"\n{asked}\n"), ROW), name)
    twice = f"#ifndef {name}\n#define {name} 1\n#endif\n"
    assert read_answer(twice + body(f"y[0] = {name};"), ROW).status == ScoreStatus.COMPILE_ERROR


@pytest.mark.parametrize(
    "name",
    ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__FILE__", "__LINE__", "__DATE__"]
    + ["__TIME__", "__builtin_return_address(0)", "__builtin_trap()", "__is_same(int, int)"]
    + ["__tsan_init()", "__sanitizer_x", "__start_x", "__stop_x", "__int128", "__float128"],
)
def test_names_of_the_compiler_are_refused(name: str) -> None:
    assert_refused(read_answer(body(f"auto q = {name};"), ROW), name.partition("(")[0])


@pytest.mark.parametrize("answer", [None, 3, b"x", ["x"], "x" * (1 << 21)])
def test_what_is_no_text_is_refused(answer: object) -> None:
    assert read_answer(answer, ROW).status == ScoreStatus.COMPILE_ERROR


PIECES = (
    [*"_a({<\"'/ \n#?[;\\,}", "\ud800", "é", "/*", "//\n", "*/", "a,", "a ", "__a ", "* __a "]
    + ["__global__ ", "extern ", 'extern "C" ', "```", "```\n", "~~~\n", "<<<", "<<<1>>>", "1'"]
    + ["a<<<1,1>>>(", "a<<<1,1>>>();", '{"grid":', '{"grid":1,"block":1}', "launch with grid ("]
    + ["launched over ", "</think>", "<think>", "template <", "template <a>", "int a = a;"]
    + ["dim3 a(1);", "dim3 a, b; ", "if (a) b = 1;", "else b = 1;", "{x = 1;", "a<b>(", "<>()"]
    + ["#define a a\n", "#define a b\n", "#undef a\n", "#if a\n", "f(){}", "constexpr int f(){}"]
    + ["__global__ void k(){}\n", "```\n__global__ void k(){}\n```\n", "namespace{}", "[[", '"\\']
    + ["extern __shared__ int a[];", "__attribute__((unused))", "a b = c;", "operator ", 'R"']
)


@pytest.mark.parametrize("piece", PIECES)
def test_reading_is_linear(piece: str) -> None:
    first = "__global__ void k(int a){}\n"
    for before, after in (("", ""), (f"{first}void f(){{", "}"), (fence(first), "")):

        def read(length: int, before: str = before, after: str = after) -> None:
            text = before + piece * (length // len(piece)) + after
            assert read_answer(text, ROW).status in {"", *ScoreStatus}

        assert grows_with_its_input(read, 2_500, 40_000)
