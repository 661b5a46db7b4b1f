"""Lower many specs of all ops, types and schedules: do they compile and agree, and is what is
missing noticed?

    PYTHONPATH=. python scripts/audit/lower_specs.py [--every N] [--part K/N] [--no-faults]
        [--json FILE]

Each spec's text is compiled by NVRTC for sm_80, sm_90 and sm_100 and run on the host at its usual
shapes. Of one spec of each kind (op, dtype, way of copying) each barrier, wait, commit and
predicate is left out in turn: the host run must refuse each. `--every`: only each N-th spec;
`--part`: the audit in several runs. What sm_90a alone can have is compiled for it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from synth.errors import SettingsError
from synth.lower.check import AnySpec, default_shapes, row_of
from synth.lower.ops import ops
from synth.lower.spec import read_spec
from synth.lower.text import lower
from validate.host.runner import HostRunner
from validate.nvrtc.compiler import CompileRunner
from validate.statuses import CompileStatus, RunStatus
from validate.text.helpers.tensor import HELPERS

ARCHS = ("sm_80", "sm_90", "sm_100")
_SIMT = (
    {"tile_m": 64, "tile_n": 64, "warp_m": 32, "warp_n": 32, "thread_m": 8, "thread_n": 4},
    {"tile_m": 32, "tile_n": 64, "warp_m": 32, "warp_n": 32, "thread_m": 4, "thread_n": 8},
    {"tile_m": 64, "tile_n": 32, "warp_m": 32, "warp_n": 16, "thread_m": 4, "thread_n": 4},
    {"tile_m": 128, "tile_n": 64, "warp_m": 64, "warp_n": 32, "thread_m": 8, "thread_n": 8},
)
_WAYS = (
    {"copy": "registers", "stages": 2},
    {"copy": "async", "stages": 2},
    {"copy": "async", "stages": 4},
    {"copy": "registers", "stages": 2, "tile_k": 16},
    {"copy": "async", "stages": 3, "persistent": 3},
    {"copy": "async", "stages": 3, "split_k": 2},
    {"copy": "registers", "stages": 2, "split_k": 3, "raster": 1},
    {"copy": "registers", "stages": 2, "persistent": 2, "blocks": 2},
)
_MMA = (
    {"tile_m": 64, "tile_n": 64, "warp_m": 32, "warp_n": 32},
    {"tile_m": 128, "tile_n": 64, "warp_m": 32, "warp_n": 64},
    {"tile_m": 64, "tile_n": 128, "warp_m": 64, "warp_n": 32},
)
_WGMMA = (
    {"tile_m": 64, "tile_n": 64, "warp_m": 16, "warp_n": 64},
    {"tile_m": 128, "tile_n": 128, "warp_m": 16, "warp_n": 128},
    {"tile_m": 64, "tile_n": 256, "warp_m": 16, "warp_n": 256},
    {"tile_m": 128, "tile_n": 64, "warp_m": 32, "warp_n": 64, "tile_k": 128},
)
_STAGES = (
    {"stages": 2},
    {"stages": 3, "raster": 1},
    {"stages": 5},
    {"stages": 3, "split_k": 2},
    {"stages": 4, "persistent": 3},
)
_FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"transpose_b": True},
    {"transpose_a": True, "bias": True, "activation": "relu"},
    {"batch": 2, "residual": True},
    {"scale": 0.5, "bias": True, "residual": True},
    {"transpose_a": True, "transpose_b": True, "activation": "gelu"},
)
_PLAIN = (
    *((8, 8, 8, 1), (16, 16, 8, 4), (32, 32, 8, 2), (48, 96, 12, 4), (16, 64, 8, 1)),
    *((8, 8, 8, 2), (64, 16, 8, 2), (128, 64, 8, 4), (96, 32, 6, 2)),
)
_ROWS = (
    {"threads": 32, "rows": 4, "held": 2},
    {"threads": 64, "held": 1},
    {"threads": 128, "held": 4},
    {"threads": 256, "held": 2},
    {"threads": 32, "rows": 1, "held": 8},
)
_TRANSPOSES = (
    {"tile": 32, "rows": 8},
    {"tile": 16, "rows": 4},
    {"tile": 64, "rows": 4, "pad": 2},
    {"tile": 32, "rows": 32, "pad": 0},
)
_ROW_OPS = ("softmax", "layer_norm", "rms_norm", "reduce_sum", "reduce_max", "reduce_mean")
_DTYPES = ("float32", "float64", "float16")


def all_specs() -> Iterator[dict[str, Any]]:
    """Specs as JSON has them."""
    for dtype in ("float32", "float64"):
        fields = cycle(_FIELDS)
        for tiles in _SIMT:
            # A fifth of the ways is skipped each time, so that fields and ways meet anew.
            for way in (*_WAYS, *_WAYS[:5]):
                yield from _products(dtype, {"core": "simt", **tiles, **way}, next(fields))
    yield from _by_tensor_cores()
    yield from _by_warpgroups()
    for op in _ROW_OPS:
        for dtype in _DTYPES:
            yield from ({"op": op, "dtype": dtype, "schedule": one} for one in _ROWS)
    for dtype in _DTYPES:
        yield from ({"op": "transpose", "dtype": dtype, "schedule": one} for one in _TRANSPOSES)
    for name, op in ops().items():
        yield from ({"op": name, **said} for said in op.trials())
    names = ("tile_m", "tile_n", "tile_k", "vectorize")
    for plain in ("matmul", "relu", "matmul_relu"):
        for tiles in _PLAIN:
            yield {"op": plain, "schedule": dict(zip(names, tiles, strict=True))}


def _by_tensor_cores() -> Iterator[dict[str, Any]]:
    for dtype, tile_ks in (
        ("float16", (32, 64)),
        ("bfloat16", (32, 64)),
        ("tf32", (16, 32)),
        ("int8", (64, 128)),
    ):
        fields = cycle(_FIELDS)
        for tiles in _MMA:
            for way in (*_STAGES, *_STAGES[:3]):
                for tile_k in tile_ks:
                    schedule = {"core": "mma", "copy": "async", **tiles, **way, "tile_k": tile_k}
                    yield from _products(dtype, schedule, next(fields))


def _by_warpgroups() -> Iterator[dict[str, Any]]:
    for dtype in ("float16", "bfloat16"):
        fields = cycle(_FIELDS)
        for tiles in _WGMMA:
            for way in ({"stages": 3}, {"stages": 4, "persistent": 3}, {"stages": 3, "split_k": 2}):
                schedule = {"core": "wgmma", "copy": "async", "tile_k": 64, **tiles, **way}
                yield from _products(dtype, schedule, next(fields))


def _products(
    dtype: str, schedule: dict[str, Any], fields: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """A product with these fields, less those that its type or schedule does not take."""
    said = dict(fields)
    if dtype in ("tf32", "int8"):
        said.pop("transpose_a", None)
    if dtype == "int8":
        said = {"transpose_b": True, **({"batch": 2} if "batch" in said else {})}
        schedule = {k: v for k, v in schedule.items() if k != "split_k"}
    if "split_k" in schedule:
        said.pop("batch", None)
    if dtype == "bfloat16" and said.get("activation") == "gelu":
        said["activation"] = "relu"
    defaults = {"thread_m": 4, "thread_n": 4} if dtype == "float64" else {}
    op = "matmul_relu" if said.get("activation") == "relu" else "matmul"
    yield {"op": op, "dtype": dtype, **said, "schedule": {**defaults, **schedule}}


_REMOVED = (
    (r"__syncthreads\(\);", ";"),
    (r"ptx_wait_copies(?:_for_products)?<[^>]*>\(\);", ";"),
    (r"ptx_wait_products<[^>]*>\(sums\[i\]\);", ";"),
    (r"ptx_commit_copies\(\);", ";"),
    (r"\brow < m && ", ""),
    (r" && column < n\)", ")"),
    (r"(?<!&& )\brow < rows && ", ""),
    (r" && column(?: \+ e)? < columns", ""),
    (r"if \(column \+ e < n\)", "if (true)"),
    (r"if \(first < n\)", "if (true)"),
    (r"if \(\(h \* THREADS \+ own\) \* GROUP < n\)", "if (true)"),
    (r"if \(row >= m\)", "if (false)"),
    (r"row < n && ", ""),
    (r" && column < m\)", ")"),
    (r"if \(at >= count\)", "if (false)"),
    (r"inside = row < rows;", "inside = true;"),
    (r"&& row < rows ", ""),
    (r"return y >= 0 && (?=y)", "return "),
    (r"[yx] >= 0(?= &&\n)", "true"),
    (r"[yx] / STRIDE < shape.out_(?:height|width)", "true"),
    (r"[yx] % STRIDE == 0", "true"),
    (r"first \+ GROUP <= n", "true"),
    (r"i = first; i < n; \+\+i", "i = first; i < first + GROUP; ++i"),
    (r"if \(bin < BINS\)", "if (true)"),
    (r"value >= 0 && ", ""),
    (r" && value < BINS", ""),
    (r"at \+ 4 <= n", "true"),
    (r"at \+ e < n \? ", "true ? "),
    (r"if \(at \+ e < n\)", "if (true)"),
    (r"lane >= step \? ", "true ? "),
    (r"lane > 0 \? ", "true ? "),
    (r"w < warp \? ", "true ? "),
    (r"first < n % 4", "true"),
    (r"is_within\(first_y \+ down, shape.height\) && ", ""),
    (r" && is_within\(first_x \+ right, shape.width\)", ""),
    (r"y < shape.height && ", ""),
    (r"x >= 0 && x", "x"),
    (r" && x < shape.width", ""),
    (r"if \(row < m\)", "if (true)"),
    (r"\bkey < n && ", ""),
    (r" && key <= row", ""),
    (r"if \(!\(key < n\)\)", "if (false)"),
)


def faulty(text: str) -> Iterator[tuple[str, str]]:
    """What was left out, and the text without it."""
    start = max((text.find(h) + len(h) for h in HELPERS.values() if h in text), default=0)
    # Helpers stand in one piece, and nothing in them is to be left out.
    head = min((text.find(h) for h in HELPERS.values() if h in text), default=0)
    for pattern, instead in _REMOVED:
        for match in re.finditer(pattern, text):
            if not head <= match.start() < start:
                changed = text[: match.start()] + instead + text[match.end() :]
                line = text.count("\n", 0, match.start()) + 1
                yield f"line {line}: {match[0]}", changed


def legal_specs() -> tuple[dict[str, dict[str, Any]], int]:
    """Specs by key, and how many are not legal."""
    found, illegal = {}, 0
    for said in all_specs():
        try:
            found[read_spec(said).key()] = said
        except SettingsError:
            illegal += 1
    return found, illegal


def compiled(specs: list[AnySpec]) -> list[str]:
    """Specs that do not compile for all architectures, or that which alone can have them, and
    why."""
    found = []
    with CompileRunner(batch_size=8) as compiler:
        for own in dict.fromkeys(spec.archs for spec in specs):
            some = [spec for spec in specs if spec.archs == own]
            rows = [row_of(spec, lower(spec), (1,) * len(spec.sizes)) for spec in some]
            results = compiler.compile_plain(rows, own or ARCHS)
            found += [
                f"{spec.canonical()}: {result.status} {result.log[:200]}"
                for spec, result in zip(some, results, strict=True)
                if result.status != CompileStatus.COMPILES
            ]
    return found


def disagreeing(host: HostRunner, specs: list[AnySpec]) -> tuple[int, list[str]]:
    """How many runs there were, and those that do not agree."""
    rows, of = [], []
    for spec in specs:
        lowered = lower(spec)
        for shape in default_shapes(spec):
            rows.append(row_of(spec, lowered, shape))
            of.append(f"{spec.canonical()} at {shape}")
    results = host.run_plain(rows)
    found = [
        f"{name}: {result.status} {result.reason[:200]}"
        for name, result in zip(of, results, strict=True)
        if result.status != RunStatus.AGREES
    ]
    return len(rows), found


def noticed(host: HostRunner, spec: AnySpec, texts: Mapping[str, str]) -> dict[str, str]:
    """What the host says of wrong texts, by name, where it says so at some shape: at the ragged
    one first, where most of them show."""
    lowered = lower(spec)
    whole, ragged, *more = default_shapes(spec)
    found: dict[str, str] = {}
    for shape in (ragged, whole, *more):
        left = [what for what in texts if what not in found]
        row = row_of(spec, lowered, shape)
        results = host.run_plain([{**row, "cuda_plain": texts[what]} for what in left])
        for what, result in zip(left, results, strict=True):
            if result.status == RunStatus.REFERENCE_ERROR:
                raise RuntimeError(f"{spec.canonical()}: {result.reason}")
            if result.status != RunStatus.AGREES:
                found[what] = str(result.status)
    return found


def missed(host: HostRunner, spec: AnySpec) -> tuple[Counter[str], list[str]]:
    """What the host said of texts with something left out, and what it did not notice."""
    texts = dict(faulty(lower(spec).text))
    said = noticed(host, spec, texts)
    unnoticed = [f"{spec.canonical()}: {what}" for what in texts if what not in said]
    return Counter(said.values()) + Counter({"agrees": len(unnoticed)}), unnoticed


def kind_of(said: dict[str, Any]) -> tuple[Any, ...]:
    """Specs of one kind have the same barriers and predicates."""
    schedule = said["schedule"]
    names = ("core", "copy", "persistent", "split_k", "vectorize")
    flags = tuple(sorted(name for name, value in said.items() if value is True))
    new = flags if said["op"] not in ("matmul", "matmul_relu") else ()
    return said["op"], said.get("dtype"), new, *(schedule.get(name) for name in names)


def main() -> None:
    """Print what was found; exit code 1 when something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="K/N: every N-th spec, from the K-th")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-faults", action="store_true")
    options = parser.parse_args()
    said, illegal = legal_specs()
    print(f"{len(said)} specs; {illegal} more are not legal")
    part, parts = map(int, options.part.split("/"))
    listed = list(said.values())[:: options.every][part - 1 :: parts]
    specs = [read_spec(one) for one in listed]
    bad = compiled(specs)
    print(f"{len(specs)} specs, {len(bad)} do not compile for {', '.join(ARCHS)}", flush=True)
    said_of: Counter[str] = Counter()
    unnoticed: list[str] = []
    with HostRunner(timeout_s=300) as host:
        runs, wrong = disagreeing(host, specs)
        print(f"{runs} runs, {len(wrong)} do not agree", flush=True)
        kinds = {kind_of(one): spec for one, spec in zip(listed, specs, strict=True)}
        for spec in [] if options.no_faults else kinds.values():
            found, more = missed(host, spec)
            said_of += found
            unnoticed += more
    print(f"{said_of.total()} texts with something left out: {dict(said_of)}")
    report = {"specs": len(specs), "runs": runs, "bad": bad, "wrong": wrong}
    report |= {"noticed": dict(said_of), "unnoticed": unnoticed}
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    print("\n".join([*bad, *wrong, *unnoticed][:60]))
    sys.exit(1 if bad or wrong or unnoticed else 0)


if __name__ == "__main__":
    main()
