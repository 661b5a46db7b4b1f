"""The dataset card: YAML that points ``load_dataset`` at the shards, then what a reader needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.manifest import SPLITS, Manifest

_SIZE_CATEGORIES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
)


def size_category(rows: int) -> str:
    """The Hub's name for a dataset of that many rows."""
    return next((name for limit, name in _SIZE_CATEGORIES if rows < limit), "1M<n<10M")


def render(manifest: Manifest, versions: Mapping[str, object], gpu_runs: str) -> str:
    """The text of the card; ``gpu_runs`` is its part on GPU runs."""
    name = "Warp Python to CUDA kernel pairs"
    head = yaml_head(manifest, "license: apache-2.0", name, "synthetic")
    return "\n".join([head, _body(manifest, versions, gpu_runs)])


def yaml_head(manifest: Manifest, licence: str, name: str, *tags: str) -> str:
    """The YAML of a card; ``licence`` is the line or lines that state it."""
    files = "\n".join(
        f"      - split: {split}\n        path: {split}/shard-*.parquet"
        for split in SPLITS
        if manifest.counts["split"].get(split)
    )
    tag_lines = "\n".join(f"  - {tag}" for tag in ("cuda", "gpu", "warp", "code", *tags))
    return f"""---
{licence}
pretty_name: {name}
task_categories:
  - text-generation
language:
  - code
tags:
{tag_lines}
size_categories:
  - {size_category(manifest.rows)}
configs:
  - config_name: default
    data_files:
{files}
---
"""


def _table(counts: Mapping[str, int], head: str) -> str:
    lines = [f"| {head} | rows |", "|---|--:|"]
    lines += [f"| {name} | {count} |" for name, count in counts.items()]
    return "\n".join(lines)


def _evidence(manifest: Manifest) -> str:
    shape = manifest.shape
    texts = "Every row passed the gates (below) and its own JSON schema."
    if shape["verify"] == "text":
        return (
            f"{texts} The CUDA text was neither compiled nor run: this dataset was made with "
            "`--verify text`."
        )
    archs, nvrtc = ", ".join(shape["archs"]), shape["nvrtc version"]
    compiled = (
        f"{texts} NVRTC {nvrtc} made PTX of the stored CUDA texts of every row, Warp's and the "
        f"plain one, for {archs}."
    )
    if shape["verify"] == "compile":
        return f"{compiled} Nothing was run, and adjoints (`cuda_backward`) were not checked."
    return (
        f"{compiled} Warp's forward text and the plain one were also compiled as C++ and run on "
        "the host at three shapes, with outputs poisoned, guards around every buffer and a watch "
        "for races; their outputs agree with `reference` within the tolerances of `args`, and "
        "with each other. Barriers and shuffles of the plain text were run as such.\n\n"
        f"{_adjoints(manifest)}"
    )


def _adjoints(manifest: Manifest) -> str:
    if not manifest.shape["backward"]:
        return "Adjoints were left out."
    counts = manifest.counts["adjoint"]
    statuses = sorted({name.split("/")[1] for name in counts})
    lines = [
        "Warp's adjoint of each row was run on the host as well and compared with central",
        "differences of `reference`. Only rows where it agrees publish `cuda_backward`;",
        "`checks.adjoint` says why the others do not:",
        "",
        f"| category | {' | '.join(statuses)} |",
        f"|---|{'--:|' * len(statuses)}",
    ]
    for category in sorted({name.split("/")[0] for name in counts}):
        cells = (str(counts.get(f"{category}/{status}", 0)) for status in statuses)
        lines.append(f"| {category} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _seeds(shape: Mapping[str, Any]) -> str:
    clean = cleaned(shape)
    if "merged" not in shape:
        return f"seed {shape['seed']}{clean}"
    seeds = ", ".join(str(part["seed"]) for part in shape["merged"])
    return f"merged from datasets of the seeds {seeds}{clean}"


def cleaned(shape: Mapping[str, Any]) -> str:
    """What a card says of benchmarks whose text was taken out; nothing where none was."""
    parts = shape.get("decontaminated", ())
    return "".join(f", decontaminated (benchmark files: {part['files']})" for part in parts)


def _body(manifest: Manifest, versions: Mapping[str, object], gpu_runs: str) -> str:
    shape = manifest.shape
    made_with = ", ".join(f"{name} {value}" for name, value in versions.items())
    rejects = manifest.draws["rejects_by_reason"]
    levels = ", ".join(map(str, shape["levels"]))
    return f"""# Python to CUDA kernel pairs

{manifest.rows} GPU kernels, each as NVIDIA Warp Python (`python`), as the CUDA C++ that Warp makes
of it (`cuda_prologue`, `cuda_helpers`, `cuda_forward`, `cuda_backward`: in this order one complete
translation unit), as CUDA C++ that needs no Warp (`cuda_plain`, one kernel a text, with its
parameters, launch and style in `plain_args`, `plain_launch` and `schedule`), and as a plain Python
reference (`reference`). `args`, `sizes`, `launch` and `input_seed` say how to draw inputs for any
shape and which tolerances outputs must meet.

## How far a row is proven

{_evidence(manifest)}

{gpu_runs}

Gates, from an evaluation of the program in its own dtypes and in float64: outputs are finite and
not trivial (all zeros, the mean and copies of inputs fail), every input changes some output, every
branch and loop is used, integers do not overflow, no result depends on the order of threads, and
rounding moves an output by less than 1 % of its spread. Rows that share a structure (names and
literals abstracted) are in one split, at most {shape["structure_cap"]} of them; no two rows are
equal up to names.

{_table(manifest.counts["split"], "split")}

{_table(manifest.counts["category"], "category")}

{_table(manifest.counts["level"], "level")}

{manifest.draws["draws"]} programs were drawn; {sum(rejects.values())} of them were not taken:

{_table(rejects, "reason")}

## Use

```python
from datasets import load_dataset

rows = load_dataset("USER/NAME", split="train")
print(rows[0]["python"], rows[0]["cuda_forward"])
```

`include/` holds Warp's headers (Apache-2.0, with their licences), against which the translation
unit of a row compiles with NVRTC.

## What this data does not teach

The kernels are synthetic: small, one kernel a row, drawn from named idioms. There are no tile,
texture, sparse, mesh or volume kernels, no tensor cores, no asynchronous copies and no multi-kernel
programs. `cuda_forward` is Warp's dialect (`wp::` calls, one operation a line), not what a person
would write; `cuda_plain` is, but few rows use shared memory or shuffles, and none is tuned for a
device.

## Made with

{made_with}; {_seeds(shape)}, levels {levels}, `--verify {shape["verify"]}`, adjoint
{"on" if shape["backward"] else "off"}. The bytes of the shards follow from these alone.
"""
