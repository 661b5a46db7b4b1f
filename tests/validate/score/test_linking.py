"""What a text cannot reach: functions of C, of Python, of the judge and of other answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from score_rows import NOTHING, PER_THREAD, RIGHT, STORE, cube_answer, cube_row, kernel, statuses

from validate.score.scorer import Answer, Scorer


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer(hidden_seed=12) as found:
        yield found


PYTHON = 'PyRun_SimpleString("import os; os._exit(3)")'
# What is declared, and what is called: functions of Python, of the C library, of the loader, of the
# judge, of Warp, variables of the process.
CALLS = {
    "Python's as a kernel": (
        'extern "C" __global__ int PyRun_SimpleString(const char*);',
        f"{PYTHON};",
    ),
    "Python's for a device": (
        'extern "C" __device__ int PyRun_SimpleString(const char*);',
        f"{PYTHON};",
    ),
    "Python's with C linkage in braces": (
        'extern "C" { __device__ int PyRun_SimpleString(const char*); }',
        f"{PYTHON};",
    ),
    "Python's, of the host": ('extern "C" int PyRun_SimpleString(const char*);', f"{PYTHON};"),
    "Python's with no linkage said": (
        "__device__ int PyRun_SimpleString(const char*);",
        f"{PYTHON};",
    ),
    "Python's within the kernel": ("", f"extern int PyRun_SimpleString(const char*); {PYTHON};"),
    "Python's undeclared": ("", f"{PYTHON};"),
    "Python's state": (
        'extern "C" __device__ void* PyGILState_Ensure();',
        "if (PyGILState_Ensure() == nullptr) return;",
    ),
    "system": ('extern "C" __global__ int system(const char*);', 'system("true");'),
    "write": (
        'extern "C" __device__ long write(int, const void*, unsigned long);',
        'write(1, "x", 1);',
    ),
    "mprotect": (
        'extern "C" __device__ int mprotect(void*, unsigned long, int);',
        "mprotect(out, 1, 7);",
    ),
    "dlsym": (
        'extern "C" __device__ void* dlsym(void*, const char*);',
        'if (dlsym(nullptr, "k") == nullptr) return;',
    ),
    "exit": ('extern "C" __device__ void exit(int);', "exit(0);"),
    "_exit": ('extern "C" __device__ void _exit(int);', "_exit(0);"),
    "abort": ('extern "C" __device__ void abort();', "if (i < 0) abort();"),
    "getpid": ('extern "C" __device__ int getpid();', "if (getpid() == 0) return;"),
    "rand": ('extern "C" __device__ int rand();', "if (rand() == 0) return;"),
    "time": ('extern "C" __device__ long time(long*);', "if (time(nullptr) == 0) return;"),
    "puts of the library": ('extern "C" int puts(const char*);', 'puts("x");'),
    "environ": ('extern "C" __device__ char** environ;', "if (environ == nullptr) return;"),
    "errno": (
        'extern "C" __device__ int* __errno_location();',
        "*__errno_location() = 1;",
    ),
    "a weak function": (
        'extern "C" __device__ __attribute__((weak)) int getpid();',
        "if (getpid && getpid() == 0) return;",
    ),
    "a function under another name": (
        '__device__ int mine() __asm__("getpid");',
        "if (mine() == 0) return;",
    ),
    "an alias": (
        '__device__ __attribute__((weakref("getpid"))) int mine();',
        "if (mine() == 0) return;",
    ),
    "a function chosen while loading": (
        'extern "C" void* pick() { return 0; }\n'
        '__device__ __attribute__((ifunc("pick"))) int mine();',
        "if (mine() == 0) return;",
    ),
    "a friend": (
        "struct S { friend __device__ int getpid(); };",
        "if (getpid() == 0) return;",
    ),
    "a macro's function": (
        '#define DECLARE(name) extern "C" __device__ int name();\nDECLARE(getpid)',
        "if (getpid() == 0) return;",
    ),
    "a template's function": (
        "template <class T> __device__ int getpid_of();\n",
        "if (getpid_of<int>() == 0) return;",
    ),
    "a builtin of the compiler": ("", '__builtin_printf("x");'),
    "the frame": ("", "((void**)__builtin_frame_address(0))[1] = nullptr;"),
    "the judge's launch": (
        'extern "C" __device__ void pairsmith_plain_0(void**, void*, void*);',
        "pairsmith_plain_0(nullptr, nullptr, nullptr);",
    ),
    "the judge's section": (
        'extern "C" __device__ char __start_pairsmith_shared_0[];',
        "__start_pairsmith_shared_0[0] = 1;",
    ),
    "what Clang calls": (
        'extern "C" __device__ void __tsan_func_exit();',
        "__tsan_func_exit();",
    ),
    "Warp's": ('extern "C" __device__ int wp_init(const char*);', "wp_init(nullptr);"),
    "an operator": ("", "int* p = new int[3]; p[0] = 1; if (p[0] == 2) return;"),
    "a context": (
        'extern "C" __device__ int getcontext(void*);',
        "getcontext(out);",
    ),
    "an exception": ("", "try { if (i < 0) throw 1; } catch (...) { return; }"),
    "a type's name": ("", "if (typeid(int).name() == nullptr) return;"),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_the_process_can_be_called(scorer: Scorer, name: str) -> None:
    before, call = CALLS[name]
    found = scorer.score_batch([cube_answer(f"{call} {STORE}", before), cube_answer(STORE)])
    assert found[0].status == "compile_error", found[0]
    assert "error" in found[0].reason
    assert found[1].passed


def test_what_is_declared_and_not_used_does_no_harm(scorer: Scorer) -> None:
    before = 'extern "C" int puts(const char*);\n'
    assert statuses(scorer, [cube_answer(STORE, before)]) == ["passed"]


LOG_IS_0 = "if (i < n) out[i] = halve(a[i], steps) + log1pf(a[i]);"
LOG_IS_RIGHT = "if (i < n) out[i] = halve(a[i], steps) + (log1pf(1.0f) - 0.6931472f) * 0.1f;"
TAKES = {
    "log1pf as a kernel": 'extern "C" __global__ float log1pf(float a) { return 0.0f; }',
    "log1pf for a device": 'extern "C" __device__ float log1pf(float a) { return 0.0f; }',
    "log1pf by namesake": "__device__ float log1pf(float a) { return 0.0f; }",
    "log1p": 'extern "C" __device__ double log1p(double a) { return 0.0; }',
    "log1pf within braces": 'extern "C" { __device__ float log1pf(float) { return 0.0f; } }',
    "log1pf, weak": 'extern "C" __device__ __attribute__((weak)) float log1pf(float) { return 0; }',
    "memset": 'extern "C" __device__ void* memset(void* p, int, unsigned long) { return p; }',
    "the judge's launch": 'extern "C" __global__ void pairsmith_plain_0(void**, void*, void*) {}',
    "what Clang calls": 'extern "C" __device__ void __tsan_write4(void*) {}',
    "the judge's steps": 'extern "C" __device__ void __sanitizer_cov_trace_pc() {}',
}


@pytest.mark.parametrize("name", TAKES)
def test_a_text_changes_no_function_of_its_neighbours(scorer: Scorer, name: str) -> None:
    """In both directions: neither is a right answer made wrong, nor a wrong one right."""
    taker = cube_answer(STORE, TAKES[name])
    around = [cube_answer(LOG_IS_0), cube_answer(LOG_IS_RIGHT)]
    found = statuses(scorer, [*around, taker, *around])
    assert found[:2] + found[3:] == ["wrong_value", "passed"] * 2
    # Of its own text it may say what it likes where a device lets it.
    assert found[2] in ("passed", "compile_error")


@pytest.mark.parametrize("name", ["k", "other", "solve_cube", "pairsmith_row_0::k"])
def test_a_neighbours_kernel_cannot_be_run(scorer: Scorer, name: str) -> None:
    plain = name.rpartition("::")[2]
    right = kernel(STORE).replace("void k(", f"void {plain}(")
    takes = "(const float* a, float* out, int steps, int n);"
    for linkage in ('extern "C" ', "", "extern "):
        declared = f"{linkage}__global__ void {plain}{takes}"
        thief = kernel(f"{name}(a, out, steps, n);", "").replace("void k(", "void thief(")
        answers = [Answer(text, cube_row(), PER_THREAD) for text in (right, declared + thief, right)]
        found = statuses(scorer, answers)
        assert found[::2] == ["passed"] * 2
        assert found[1] in ("compile_error", "no_kernel"), (linkage, found)


def test_neighbours_share_no_variables(scorer: Scorer) -> None:
    keeps = "__device__ float kept[4];\n"
    first = cube_answer(f"{STORE} if (i == 0) kept[0] = 5.0f;", keeps)
    second = cube_answer(f"if (kept[0] != 0.0f) {{ {STORE} }}", keeps)
    assert statuses(scorer, [first, second, first, second]) == ["passed", "wrong_value"] * 2


def test_a_kernel_that_was_compiled_before_is_not_there_any_more(scorer: Scorer) -> None:
    empty = replace(cube_answer(STORE), cuda=kernel("", "__global__ void k2();" + RIGHT))
    assert statuses(scorer, [cube_answer(STORE), empty, cube_answer(NOTHING)]) == [
        "passed",
        "wrong_value",
        "wrong_value",
    ]
