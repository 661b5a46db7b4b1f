"""Lowered texts: the spec and its key, NVRTC and the host run of many schedules, and the index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sweeps import part_of

from synth.errors import SettingsError
from synth.lower import build as lower_build
from synth.lower.build import build
from synth.lower.check import Shape, default_shapes, row_of, tolerance
from synth.lower.index import Index
from synth.lower.spec import OPS, Spec, read_spec
from synth.lower.text import lower
from validate.errors import CompileUnavailable
from validate.host.runner import HostRunner, RunResult
from validate.nvrtc.compiler import CompileRunner

# tile_m, tile_n, tile_k, vectorize
SCHEDULES = (
    (8, 8, 8, 1),
    (8, 8, 8, 2),
    (8, 8, 8, 4),
    (16, 16, 8, 1),
    (16, 16, 16, 2),
    (16, 16, 8, 4),
    (32, 32, 8, 1),
    (32, 32, 32, 2),
    (32, 32, 8, 4),
    (16, 64, 8, 1),
    (16, 64, 8, 4),
    (64, 16, 8, 2),
    (32, 16, 4, 4),
    (48, 96, 12, 4),
    (96, 32, 6, 2),
    (128, 64, 8, 4),
)


def spec_of(op: str, tiles: tuple[int, int, int, int], **more: Any) -> Spec:
    names = ("tile_m", "tile_n", "tile_k", "vectorize")
    unroll = {"unroll": more.pop("unroll")} if "unroll" in more else {}
    return read_spec(
        {"op": op, "schedule": {**dict(zip(names, tiles, strict=True)), **unroll}, **more}
    )


def all_specs() -> list[Spec]:
    found = [spec_of(op, tiles) for op in OPS for tiles in SCHEDULES]
    doubles = [tiles for tiles in SCHEDULES if tiles[3] <= 2]
    found += [spec_of(op, tiles, dtype="float64") for op in OPS for tiles in doubles]
    fused = [tiles for tiles in SCHEDULES if tiles[0] != 8]
    found += [spec_of("matmul_relu", tiles, transpose_b=True, unroll=2) for tiles in fused]
    return found + [spec_of("matmul", (32, 32, 8, 2), dtype="float64", transpose_b=True)]


SPECS = part_of(all_specs(), 4, Spec.canonical, lambda spec: (spec.op, spec.dtype))
REFUSED = {
    *("agrees", "wrong_value", "read_out_of_bounds", "wrote_out_of_bounds", "data_race", "crashed"),
    "undefined",
}


@pytest.fixture(scope="module")
def host() -> Iterator[HostRunner]:
    with HostRunner(timeout_s=120) as runner:
        yield runner


def run(host: HostRunner, spec: Spec, text: str, shapes: list[Shape]) -> list[RunResult]:
    lowered = lower(spec)
    assert lowered.text != text
    rows = [{**row_of(spec, lowered, shape), "cuda_plain": text} for shape in shapes]
    return host.run_plain(rows)


def test_every_schedule_compiles() -> None:
    rows = [row_of(spec, lower(spec), (1, 1, 1)) for spec in SPECS]
    with CompileRunner(archs=["sm_80", "sm_90"], batch_size=16) as compiler:
        results = compiler.compile_plain(rows)
    assert [(r.status, r.archs, r.log) for r in results] == [
        ("compiles", ["sm_80", "sm_90"], "") for _ in SPECS
    ]


@pytest.mark.parametrize("op", OPS)
def test_every_schedule_agrees_at_every_shape(host: HostRunner, op: str) -> None:
    specs = [spec for spec in SPECS if spec.op == op]
    rows = [row_of(spec, lower(spec), shape) for spec in specs for shape in default_shapes(spec)]
    results = host.run_plain(rows)
    assert len(results) >= 5 * 4
    assert {(r.id, r.status, r.reason) for r in results if r.status != "agrees"} == set()
    assert max(r.tolerance_used for r in results) <= 0.5


@pytest.mark.parametrize("which", [0, 1])
def test_a_text_without_one_of_its_barriers_is_refused(host: HostRunner, which: int) -> None:
    for spec in SPECS:
        if spec.op == "relu":
            continue
        parts = lower(spec).text.split("__syncthreads();")
        assert len(parts) == 3
        text = "__syncthreads();".join(["".join(parts[:2]), parts[2]])
        if which:
            text = "__syncthreads();".join([parts[0], "".join(parts[1:])])
        (result,) = run(host, spec, text, default_shapes(spec)[:1])
        assert result.status in ("data_race", "wrong_value", "read_out_of_bounds"), spec


@pytest.mark.parametrize(
    ("op", "old", "new"),
    [
        ("matmul", "if (row < m && column < n)", "if (column < n)"),
        ("matmul", "if (row < m && column < n)", "if (row < m)"),
        ("matmul", "if (row < rows && column < columns)", "if (column < columns)"),
        (
            "matmul",
            "const bool inside = row < rows && column < columns",
            "const bool inside = true",
        ),
        ("matmul", "columns % VECTOR == 0 && ", ""),
        ("matmul", "first_k < k", "first_k + TILE_K <= k"),
        ("matmul", "+= a_value", "= a_value"),
        ("matmul", "tx * 4", "tx * 3"),
        ("matmul_relu", "fmaxf(sums[i][0], 0.0f)", "sums[i][0]"),
        ("relu", "i + VECTOR <= end", "i <= end"),
        ("relu", "fmaxf(values.w, 0.0f)", "values.w"),
    ],
)
def test_a_wrong_text_is_refused(host: HostRunner, op: str, old: str, new: str) -> None:
    spec = spec_of(op, (32, 32, 8, 4))
    text = lower(spec).text
    assert old in text
    results = run(host, spec, text.replace(old, new), default_shapes(spec))
    assert {r.status for r in results} != {"agrees"}
    assert {r.status for r in results} <= REFUSED


def test_texts_keep_the_house_style() -> None:
    for spec in SPECS:
        text = lower(spec).text
        assert max(map(len, text.split("\n"))) <= 100
        assert f'extern "C" __global__ void __launch_bounds__(THREADS) {spec.op}(' in text
        assert "__restrict__" in text
        assert text.endswith("}\n")
        assert not any(line.endswith(" ") or "\t" in line for line in text.split("\n"))
        assert (f"{'double' if spec.dtype == 'float64' else 'float'}4" in text) == (
            spec.schedule.vectorize == 4
        )


def test_the_launch_fits_the_block() -> None:
    for spec in SPECS:
        launch = lower(spec).launch
        assert launch["block"] == [spec.schedule.threads]
        assert spec.schedule.threads % 32 == 0
        assert spec.shared_bytes <= 48 * 1024
        assert spec.schedule.tile_m % spec.schedule.thread_m == 0
        assert spec.schedule.tile_n % spec.schedule.thread_n == 0


def test_a_key_does_not_depend_on_order_white_space_or_defaults() -> None:
    one = read_spec('{"op": "matmul", "schedule": {"tile_m": 32, "tile_k": 8}, "dtype": "float32"}')
    two = read_spec('{"dtype":"float32","schedule":{"tile_k":8,\n"tile_m":32},"op":"matmul"}')
    assert one.key() == two.key()
    assert " " not in one.canonical()
    assert read_spec(one.canonical()) == one
    keys = {spec.key() for spec in SPECS}
    assert len(keys) == len(SPECS)
    assert one.key() == "bb42ec6cc50544e0bac27d0968d9d26d1971872bd49c8bd0b71b1f704b8fb11b"


@pytest.mark.parametrize(
    ("text", "field", "allowed"),
    [
        ('{"op": "conv"}', "op: ", "matmul, relu, matmul_relu"),
        ("{}", "op: is missing", "matmul, relu, matmul_relu"),
        ('{"op": ["relu"]}', "op: ", "matmul"),
        ('{"op": "relu", "tile": 1}', "tile: unknown field", "op, dtype, schedule, transpose_b"),
        ('{"op": "relu", "a\\nb": 1}', '"a\\nb": unknown field', "op, dtype"),
        ('{"op": "relu", "op": "relu"}', "op: is given twice", "once"),
        ('{"op": "matmul", "dtype": "float8"}', "dtype: ", "float32, float64, float16"),
        ('{"op": "matmul", "transpose_b": 1}', "transpose_b: 1", "true and false"),
        ('{"op": "relu", "transpose_b": true}', "transpose_b: true", "false"),
        ('{"op": "relu", "schedule": null}', "schedule: null", "an object"),
        ('{"op": "matmul", "schedule": {"x": 1}}', "schedule.x: unknown", "tile_m, tile_n, tile_k"),
        ('{"op": "matmul", "schedule": {"tile_m": 0}}', "schedule.tile_m: 0", "from 1 to 1024"),
        ('{"op": "matmul", "schedule": {"tile_m": true}}', "schedule.tile_m: true", "from 1"),
        ('{"op": "matmul", "schedule": {"tile_m": 32.0}}', "schedule.tile_m: 32.0", "from 1"),
        ('{"op": "matmul", "schedule": {"tile_n": 30}}', "schedule.tile_n: 30", "multiples of"),
        ('{"op": "matmul", "schedule": {"tile_k": 6}}', "schedule.tile_k: 6", "multiples of"),
        ('{"op": "matmul", "schedule": {"vectorize": 3}}', "schedule.vectorize: 3", "1, 2, 4"),
        (
            '{"op": "matmul", "dtype": "float64", "schedule": {"vectorize": 4}}',
            "schedule.vectorize: 4",
            "1, 2 for float64",
        ),
        ('{"op": "matmul", "schedule": {"unroll": 9}}', "schedule.unroll: 9", "from 1 to 8"),
        (
            '{"op": "matmul", "schedule": {"tile_m": 4, "tile_n": 4}}',
            "schedule.tile_m, schedule.tile_n: ",
            "32 to 1024, multiples of 32",
        ),
        (
            '{"op": "relu", "schedule": {"tile_m": 512, "tile_n": 512}}',
            "schedule.tile_m, schedule.tile_n: ",
            "32 to 1024",
        ),
        (
            '{"op": "matmul", "schedule": {"tile_m": 128, "tile_n": 128, "tile_k": 64}}',
            "schedule.tile_m, schedule.tile_n, schedule.tile_k: ",
            "up to 49152",
        ),
        ("[1]", "the spec is no JSON object", "op, dtype"),
        ('{"op"', "the spec is no JSON: ", ""),
        ("[" * 100_000, "the spec is no JSON: ", ""),
    ],
)
def test_a_bad_spec_is_refused_in_one_line(text: str, field: str, allowed: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_spec(text)
    assert str(caught.value).startswith(field)
    assert allowed in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_tolerance_follows_the_inner_size() -> None:
    assert tolerance(read_spec({"op": "relu"}), 64) == 0.0
    assert tolerance(spec_of("matmul", (32, 32, 8, 4)), 8) == 32 * 2.0**-24
    assert tolerance(spec_of("matmul", (32, 32, 8, 2), dtype="float64"), 8) == 32 * 2.0**-53


SHAPES: list[Shape] = [(3, 5, 7), (32, 32, 16)]


def test_the_index_holds_what_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, index = read_spec({"op": "matmul", "schedule": {"tile_m": 32}}), Index(tmp_path)
    first = build(spec, ["sm_90"], SHAPES, index)
    assert first.made == ["text", "sm_90", "3,5,7", "32,32,16"]
    assert first.good

    def unavailable(*_: object) -> None:
        raise CompileUnavailable("not here")

    for name in ("lower", "compile_archs", "run_shapes"):
        monkeypatch.setattr(lower_build, name, unavailable)
    second = build(spec, ["sm_90"], SHAPES, index)
    assert second.made == []
    assert json.dumps(second.as_dict()) == json.dumps(first.as_dict())
    with pytest.raises(CompileUnavailable):
        build(spec, ["sm_80"], [], index)
    with pytest.raises(CompileUnavailable):
        build(read_spec({"op": "matmul", "schedule": {"tile_k": 16}}), [], [], index)
    monkeypatch.setattr(lower_build, "compile_versions", lambda: {"nvrtc": "0.0"})
    with pytest.raises(CompileUnavailable):
        build(spec, ["sm_90"], [], index)


@pytest.mark.parametrize("harm", ["cut", "empty", "other", "value", "bytes"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, harm: str) -> None:
    spec, index = read_spec({"op": "relu"}), Index(tmp_path)
    first = build(spec, ["sm_90"], SHAPES[:1], index)
    entries = sorted(tmp_path.rglob("*.json"))
    assert len(entries) == 3
    sound = {path: path.read_bytes() for path in entries}
    for path, data in sound.items():
        harmed = {
            "cut": data[: len(data) // 2],
            "empty": b"",
            "other": b'{"of":{},"value":1,"sha256":""}',
            "value": data.replace(b'"relu', b'"RELU').replace(b'"agrees"', b'"wrong"'),
            "bytes": b"\xff" + data,
        }[harm]
        path.write_bytes(harmed)
    again = build(spec, ["sm_90"], SHAPES[:1], index)
    assert again.as_dict() == first.as_dict()
    assert again.made[0] == "text"
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*.json"))} == sound
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_failed_check_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, index = read_spec({"op": "relu"}), Index(tmp_path)

    def broken(spec: Spec) -> Any:
        lowered = lower(spec)
        text = lowered.text.replace("fmaxf(x[j], 0.0f)", "x[j] / 0")
        return type(lowered)(lowered.kernel_name, text, lowered.args, lowered.launch, [])

    monkeypatch.setattr(lower_build, "lower", broken)
    first = build(spec, ["sm_90"], SHAPES[:1], index)
    assert not first.good
    assert first.checks[0].status == "wrong_value"
    assert build(spec, ["sm_90"], SHAPES[:1], index).made == ["3,5,7"]
