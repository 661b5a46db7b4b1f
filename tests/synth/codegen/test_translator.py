"""Translation through the real Warp: same text whatever the history; refusals."""

import hashlib
import importlib.metadata
import os
import pickle
import subprocess
import sys

import pytest

from extract import extract_module
from synth.codegen.translator import CodegenError, Translator, check_warp_version
from synth.errors import UnsupportedWarpError

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def module(body: str, args: str, before: str = "", name: str = "job") -> tuple[str, str]:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"import warp as wp\n\n\n{before}@wp.kernel\ndef {name}({args}):\n{lines}", name


def scalar(dtype: str) -> tuple[str, str]:
    body = f"i = wp.tid()\na = x[i] * wp.{dtype}(3) + x[i]\ny[i] = wp.max(a, x[i]) - wp.min(a, c)"
    args = f"x: wp.array(dtype=wp.{dtype}), c: wp.{dtype}, y: wp.array(dtype=wp.{dtype})"
    return module(body, args)


def clamped(limit: str) -> tuple[str, str]:
    before = (
        "@wp.struct\nclass Particle:\n    position: wp.vec3\n    mass: float\n\n\n"
        f"@wp.func\ndef soft_clamp(v: float):\n    return wp.min(v, {limit})\n\n\n"
    )
    body = (
        "i = wp.tid()\np = ps[i]\np.mass = soft_clamp(p.mass)\nps[i] = p\n"
        "q = Particle()\nq.position = p.position * 2.0\nwp.atomic_add(total, 0, q.position[1])"
    )
    return module(body, "ps: wp.array(dtype=Particle), total: wp.array(dtype=float)", before)


def sources() -> list[tuple[str, str]]:
    f = "x: wp.array(dtype=float), y: wp.array(dtype=float)"
    halves = "@wp.struct\nclass Half:\n    a: wp.float16\n    b: wp.vec3h\n\n\n"
    wide = "vec7 = wp.types.vector(length=7, dtype=wp.float64)\n\n\n"
    return [
        *map(scalar, FLOATS + INTEGERS),
        clamped("1.0"),
        clamped("v * 0.5"),
        module("i = wp.tid()\ny[i] = wp.sin(x[i])\ny[i] += 2.0", f),
        module(
            "i = wp.tid()\ns = float(0.0)\nfor k in range(n):\n    if k > 4:\n        break\n"
            "    s = s + wp.sqrt(wp.abs(x[i]))\nwhile s > 1.0:\n    s = s * 0.5\ny[i] = s",
            f + ", n: int",
        ),
        module(
            "i, j = wp.tid()\na = m[i]\nb = wp.transpose(a) * a + wp.identity(n=3, dtype=float)\n"
            "v = wp.inverse(b) * wp.vec3(1.0, 2.0, 3.0)\n"
            "for k in range(3):\n    v[k] = v[k] * 2.0\n"
            "o[i, j] = wp.dot(v, wp.cross(v, a[0])) + wp.determinant(b)",
            "m: wp.array(dtype=wp.mat33), o: wp.array2d(dtype=float)",
        ),
        module(
            "i = wp.tid()\nq = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), x[i])\n"
            "t = wp.transform(wp.vec3(x[i], 0.0, 0.0), wp.normalize(q))\n"
            "y[i] = wp.transform_point(wp.transform_inverse(t), wp.quat_rotate(q, c))[0]",
            f + ", c: wp.vec3",
        ),
        module(
            "i = wp.tid()\nr = wp.rand_init(7, i)\nb = int(wp.randf(r) * 8.0)\n"
            "wp.atomic_max(h, b, i)\nold = wp.atomic_add(h, b, 1)\nx[i] = float(old) % 2.0",
            "x: wp.array(dtype=float), h: wp.array(dtype=int)",
        ),
        module("i = wp.tid()\nh = s[i]\ny[i] = h.a + wp.dot(h.b, h.b)",
               "s: wp.array(dtype=Half), y: wp.array(dtype=wp.float16)", halves),
        module("i = wp.tid()\nv = vec7(wp.float64(x[i]))\ny[i] = float(wp.dot(v, v))", f, wide),
        module("i = wp.tid()\nr = wp.sub(b=x[i], a=2.0)\ny[i] = float(-((i & 3) << 1)) + r", f),
        module(
            "i = wp.tid()\ny[i] = quat_twist(x[i])\ny[i] = y[i] * wp.quat_twist(a, q)[3]",
            f + ", a: wp.vec3, q: wp.quat",
            "@wp.func\ndef quat_twist(v: float):\n    return v * 2.0\n\n\n",
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("backward", [True, False])
def test_memo_equals_stock(backward: bool) -> None:
    memo, stock = (Translator(backward=backward, memoise=m) for m in (True, False))
    assert memo.memo_active
    assert not stock.memo_active
    want = stock.translate_batch(sources())
    assert memo.translate_batch(sources()) == want
    assert memo.translate_batch(sources()) == want, "from what the memo kept"
    assert all(("_cuda_kernel_backward" in text) is backward for text in want)


def test_a_row_depends_on_its_source_alone() -> None:
    items = sources()
    batch = Translator().translate_batch(items)
    assert [Translator().translate(*item) for item in items] == batch
    assert Translator().translate_batch(items[::-1]) == batch[::-1]


def test_same_names_with_other_bodies_share_a_batch() -> None:
    one, other = Translator().translate_batch([clamped("1.0"), clamped("v * 0.5")])
    assert one != other
    for text in (one, other):
        assert "soft_clamp_0(" in text
        assert "soft_clamp_1" not in text
    assert "= 0.5;" in other
    assert "= 0.5;" not in one


def test_text_survives_hash_seeds_and_foreign_history() -> None:
    code = (
        "import sys, hashlib; sys.path.insert(0, 'tests/synth/codegen')\n"
        "if sys.argv[1:]:\n"
        "    import warp as wp, warp.fem, types\n"
        "    import test_translator as t\n"
        "    from synth.codegen.translator import Translator\n"
        "    Translator().translate(*t.clamped('9.0'))\n"
        "    wp.init()\n"
        "    wp.config.max_unroll = 1\n"
        "import test_translator as t\n"
        "print(t.digest())\n"
    )
    digests = set()
    for seed, history in (("1", []), ("2", []), ("3", ["history"])):
        done = subprocess.run(
            [sys.executable, "-c", code, *history],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert digests == {digest() + "\n"}


def digest() -> str:
    return hashlib.sha256("".join(Translator().translate_batch(sources())).encode()).hexdigest()


def test_counters_are_those_of_a_plain_import_and_left_as_found() -> None:
    code = (
        "import warp._src.context as c\nfrom synth.codegen.translator import _library_counts\n"
        "assert _library_counts(c) == c.function_key_counts, c.function_key_counts\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    import warp._src.context as context

    before = dict(context.function_key_counts)
    Translator().translate(*clamped("1.0"))
    assert dict(context.function_key_counts) == before
    assert "pairsmith_row" not in context.user_modules


def test_importing_this_package_does_not_import_warp() -> None:
    code = "import sys, synth.codegen.translator; assert 'warp' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("version", ["1.16.9", "1.20.0", "2.0", "0.15.1", "weird"])
def test_other_versions_are_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    with pytest.raises(UnsupportedWarpError, match=rf"^warp-lang {version} .*>=1\.17,<1\.20.*$"):
        Translator()


@pytest.mark.parametrize("version", ["1.17.0", "1.18.1", "1.19.0", "1.19.0rc1"])
def test_known_versions_pass(version: str) -> None:
    check_warp_version(version)


def test_missing_warp_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(UnsupportedWarpError, match="not installed"):
        check_warp_version()


def test_unknown_resolution_falls_back_to_stock(monkeypatch: pytest.MonkeyPatch) -> None:
    want = Translator().translate(*clamped("1.0"))
    import warp._src.codegen as codegen

    stock = codegen.Adjoint.resolve_func

    def resolve_func(adj, func, arg_types, kwarg_types, min_outputs, extra=None):  # type: ignore[no-untyped-def]
        return stock(adj, func, arg_types, kwarg_types, min_outputs)

    monkeypatch.setattr(codegen.Adjoint, "resolve_func", resolve_func)
    translator = Translator()
    assert not translator.memo_active
    assert translator.translate(*clamped("1.0")) == want


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        (module("i = wp.nonsense()", "x: int")[0], "job", "nonsense"),
        (module("i = wp.tid()", "x: int")[0], "other", "found: job"),
        ("import warp as wp\n", "job", "found: none"),
        ("def broken(:\n", "job", "SyntaxError"),
        (module("return x", "x: int")[0], "job", "return"),
        (clamped("1.0")[0] + clamped("2.0")[0].replace("def job", "def two"), "job", "job, two"),
    ],
)
def test_what_warp_refuses_is_told(source: str, name: str, message: str) -> None:
    translator = Translator()
    with pytest.raises(CodegenError, match=message) as caught:
        translator.translate(source, name)
    error = caught.value
    assert (error.kernel_name, error.source) == (name, source)
    assert error.__cause__ is not None
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert translator.translate(*clamped("1.0")), "goes on after an error"


def test_nothing_on_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    Translator().translate_batch(sources())
    assert capfd.readouterr().out == ""


def test_rows_are_let_go() -> None:
    import gc

    import warp as wp

    translator = Translator()
    items = sources()
    translator.translate_batch(items)
    gc.collect()
    before = sum(isinstance(thing, wp.Kernel) for thing in gc.get_objects())
    translator.translate_batch(items * 3)
    gc.collect()
    assert sum(isinstance(thing, wp.Kernel) for thing in gc.get_objects()) == before


def test_extracted_texts_are_clean_and_mapped() -> None:
    words = {"wp.sin(": "wp::sin(", "wp.sqrt(": "wp::abs(", "break": "goto end_for",
             "wp.inverse(": "wp::inverse(", "range(n)": "wp::range(", "wp.tid()": "builtin_tid",
             "wp.rand_init(": "wp::rand_init(", "wp.atomic_max(": "wp::atomic_max("}  # fmt: skip
    seen = set()
    for (source, name), text in zip(
        sources(), Translator().translate_batch(sources()), strict=True
    ):
        parts = extract_module(text, strip_kernel_hash=False)
        (kernel,) = parts.kernels
        assert kernel.name == name
        whole = parts.prologue + parts.helpers + kernel.forward + (kernel.backward or "")
        assert "<L " not in whole
        assert "pairsmith row" not in whole
        assert "\t" not in whole
        python, cuda = source.split("\n"), kernel.forward.split("\n")
        for line in python:
            assert len(line.strip()) < 8 or line.strip() not in whole
        assert kernel.line_map
        assert [at for _, at in kernel.line_map] == sorted(at for _, at in kernel.line_map)
        for line, at in kernel.line_map:
            assert cuda[at - 1].strip(" {}"), (line, at)
            for word, want in words.items():
                if word in python[line - 1]:
                    statement = "\n".join(cuda[at - 1 : at + 6])
                    assert want in statement
                    seen.add(word)
    assert seen == set(words)
