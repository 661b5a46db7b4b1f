"""The dataset card, from the manifest and the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synth.card import tables
from synth.card.distributions import Distributions, distributions
from synth.card.gpu_summary import card_section
from synth.card.harvested import harvested_card
from synth.card.origin import made_with
from synth.card.rows import columns_table, examples
from synth.card.use import compile_section, train_section
from synth.card.yaml import configs_of, yaml_head
from synth.dataset.files import write_text
from synth.dataset.manifest import SPLITS, Manifest
from synth.dataset.views_index import Views

ANY_NAME = "USER/NAME"
_PICTURES = {
    "categories": "Rows by category and level",
    "lengths": "Lines a text",
    "dtypes": "Rows by dtype of an argument",
    "builtins": "Operators and builtins by the share of rows that have them",
    "rejects": "Why draws were not taken",
}


def write_card(
    out: Path,
    manifest: Manifest,
    views: Views | None = None,
    name: str = ANY_NAME,
    pictures: Sequence[str] = (),
) -> None:
    """Write the card of the dataset at ``out``, whose shards and headers are in their places.

    A harvested dataset has a card of its own, which shows neither views nor pictures.
    ``name`` is that of its repository; ``pictures`` are PNGs in ``images/``, without the ending.
    """
    if manifest.is_harvested:
        text = harvested_card(out, manifest)
    else:
        text = _generated_card(out, manifest, views, name, pictures)
    write_text(out / "README.md", text)


def _generated_card(
    out: Path, manifest: Manifest, views: Views | None, name: str, pictures: Sequence[str]
) -> str:
    shards = [out / shard["path"] for shard in manifest.shards]
    head = yaml_head(
        configs_of(out, manifest, views),
        "license: apache-2.0",
        "Warp Python to CUDA kernel pairs",
        manifest.rows,
        "synthetic",
    )
    found = distributions(shards)
    parts = [
        _opening(manifest, name),
        _proof(manifest, found),
        card_section(out, manifest),
        _contents(manifest, found, pictures),
        f"## Examples\n\n{examples(shards, len(manifest.counts['category']))}",
        f"## Columns\n\n{columns_table()}",
        compile_section(name, _first_split(manifest)),
        train_section(name, views),
        _limits(found),
        _licence(),
        _citation(name),
        made_with(manifest),
    ]
    return head + "\n" + "\n\n".join(part for part in parts if part) + "\n"


def _opening(manifest: Manifest, name: str) -> str:
    shape = manifest.shape
    adjoint = ", forward and adjoint" if shape["backward"] else ""
    proof = {
        "text": "no text was compiled or run (see below)",
        "compile": "what was compiled",
        "run": "what was compiled, run and compared",
    }
    return f"""# Python to CUDA kernel pairs

{manifest.rows:,} GPU kernels, each as NVIDIA Warp Python (`python`), as CUDA C++ that needs no Warp
(`cuda_plain`: what an engineer would write, with its parameters, launch and style), as the CUDA
C++ that Warp's code generator makes of it{adjoint} (`cuda_prologue`, `cuda_helpers`,
`cuda_forward`, `cuda_backward`: in this order one translation unit), and as a plain Python
reference (`reference`). `checks` says of every row how far it is proven: {proof[shape["verify"]]};
`args` and `sizes` draw inputs for any shape, with the tolerances that outputs must meet.

```python
from datasets import load_dataset

rows = load_dataset("{name}", split="{_first_split(manifest)}")
print(rows[0]["python"], rows[0]["cuda_plain"])
```"""


def _first_split(manifest: Manifest) -> str:
    return next(split for split in SPLITS if manifest.counts["split"].get(split))


def _proof(manifest: Manifest, found: Distributions) -> str:
    shape = manifest.shape
    rejects = manifest.draws["rejects_by_reason"]
    drawn, refused = manifest.draws["draws"], sum(rejects.values())
    listed = tables.table(("reason", "draws"), rejects.items())
    reasons = f":\n\n{listed}" if rejects else "."
    return f"""## How a row was made, and how far it is proven

A seeded generator draws a typed program from a named idiom. Renderers print it as Warp Python, as
plain Python and as plain CUDA; Warp's code generator translates the Warp Python.

{tables.evidence_table(found)}

{_checks(shape)}{_tiles_clause(shape, found)}

Gates, from an evaluation of the program in its own dtypes and in float64: outputs are finite and
not trivial (all zeros, the mean and copies of inputs fail), every input changes some output, every
branch and loop is used, integers do not overflow, no result depends on the order of threads, and
rounding moves an output by less than 1 % of its spread. Rows that share a structure (names and
literals abstracted) are in one split, at most {shape["structure_cap"]} of them; no two rows are
equal up to names.

{drawn:,} programs were drawn; {refused:,} were not taken{reasons}"""


def _checks(shape: Mapping[str, Any]) -> str:
    """What the levels of evidence mean, as far as this dataset goes."""
    if shape["verify"] == "text":
        return (
            "The CUDA text was neither compiled nor run: this dataset was made with "
            "`--verify text`."
        )
    compiled = f"The stored texts of every row were compiled by NVRTC {shape['nvrtc version']}."
    if shape["verify"] == "compile":
        adjoints = "adjoints (`cuda_backward`) were not checked"
        left_out = "adjoints were left out"
        return f"{compiled} Nothing was run; {adjoints if shape['backward'] else left_out}."
    ran = (
        f"{compiled} Warp's forward text and the plain one were also compiled as C++ and run on "
        "the host at three shapes, with outputs poisoned, guards around every buffer and a watch "
        "for races; their outputs agree with `reference` within the tolerances of `args`, and with "
        "each other. Barriers and shuffles of the plain text were run as such."
    )
    if shape.get("gradient"):
        ran += (
            " Backward kernels of our own (`cuda_plain_backward`) were run in the same way, and "
            "are published where they give the derivatives of `reference`."
        )
    if not shape["backward"]:
        return f"{ran} Warp's adjoints were left out."
    return (
        f"{ran} Warp's adjoint was run as well and compared with central differences of "
        "`reference`. Only rows where it agrees publish `cuda_backward`; `checks.adjoint` says why "
        "the others do not."
    )


def _tiles_clause(shape: Mapping[str, Any], found: Distributions) -> str:
    """What running Warp's text of tiles leaves open; nothing where there is none."""
    if shape["verify"] != "run" or not _has_tiles(found):
        return ""
    return (
        " Warp's text of tiles was run in blocks of one thread, as Warp runs it on CPUs: how its "
        "headers share elements out among the threads of a block only a GPU shows. The plain text "
        "of tiles was run in whole blocks."
    )


def _contents(manifest: Manifest, found: Distributions, pictures: Sequence[str]) -> str:
    adjoints, gradients = (manifest.counts.get(name) for name in ("adjoint", "gradient"))
    parts = [
        "## What is in it",
        tables.split_table(manifest),
        tables.cells_table(found),
        tables.lengths_table(found),
        tables.styles_table(found) if found.styles else "",
        tables.status_table("adjoint", adjoints) if adjoints else "",
        tables.status_table("backward kernel of ours", gradients) if gradients else "",
        tables.dtypes_table(found),
        tables.ops_line(found),
        *(f"![{_PICTURES[name]}](images/{name}.png)" for name in pictures),
    ]
    return "\n\n".join(part for part in parts if part)


def _has_tiles(found: Distributions) -> bool:
    return any(op.startswith("tile_") for op in found.ops)


def _limits(found: Distributions) -> str:
    kinds = "texture," if _has_tiles(found) else "tile, texture,"
    return f"""## What this data does not teach

The kernels are synthetic: small, one kernel a row, drawn from named idioms; a classifier tells
them from kernels of people. There are no {kinds} sparse, mesh or volume kernels, no tensor
cores, no asynchronous copies, no libraries and no programs of several kernels, and nothing of the
host side (allocation, copies, streams, error handling) beyond the launch. `cuda_forward` is Warp's
dialect (`wp::` calls, one operation a line), not what a person would write; `cuda_plain` is, but
few rows use shared memory or shuffles, and none is tuned for a device: it teaches to be right, not
to be quick. Tolerances suit each row's own inputs; runs on the host do not show what only a GPU can
(memory order between blocks, fast maths)."""


def _licence() -> str:
    return """## Licence

The rows, the views and this card are under Apache-2.0. `include/` holds CUDA headers of NVIDIA
Warp, unchanged; they are NVIDIA's, under Apache-2.0, with parts of others: `include/licenses` has
their licences and notices, which go along with any copy of them."""


def _citation(name: str) -> str:
    return f"""## Citation

```bibtex
@misc{{pairsmith,
  title        = {{Python to {{CUDA}} kernel pairs, each with its proof}},
  author       = {{{{pairsmith}}}},
  year         = {{2026}},
  howpublished = {{Hugging Face dataset {name}, made with pairsmith}}
}}
```"""
