"""The card of a harvested dataset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from synth.card.origin import decontaminated
from synth.card.tables import table
from synth.card.yaml import configs_of, yaml_head
from synth.dataset.manifest import Manifest
from synth.dataset.settings import Versions

NO_LICENCE = "not stated"
_SHORT_NAMES = frozenset(
    ("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "isc", "mpl-2.0", "unlicense")
    + ("gpl-2.0", "gpl-3.0", "lgpl-2.1", "lgpl-3.0", "agpl-3.0")
    + ("cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0")
)
"""Those of the Hub's that a harvest may have."""


def harvested_card(out: Path, manifest: Manifest) -> str:
    """The card of the dataset at ``out``, whose shards are in their places."""
    versions = {f.name: manifest.shape[f"{f.name} version"] for f in fields(Versions)}
    licence = _licence_lines(manifest.shape["licence"])
    name = "Warp Python to CUDA kernel pairs, harvested"
    head = yaml_head(configs_of(out, manifest, None), licence, name, manifest.rows)
    return "\n".join([head, _body(manifest, versions)])


def _licence_lines(licence: str) -> str:
    """The Hub wants its own short names; anything else is ``other`` with a name."""
    if licence == NO_LICENCE or not licence.strip():
        return "license: unknown"
    short = licence.lower()
    if short in _SHORT_NAMES:
        return f"license: {short}"
    name = re.sub(r"[^\w .,+()/-]", " ", licence)
    return f'license: other\nlicense_name: "{" ".join(name.split())}"'


def _body(manifest: Manifest, versions: Mapping[str, object]) -> str:
    shape = manifest.shape
    made_with = ", ".join(f"{name} {value}" for name, value in versions.items())
    return f"""# Python to CUDA kernel pairs, harvested

{manifest.rows} GPU kernels that people wrote in NVIDIA Warp, each as Python (`python`) and as the
CUDA C++ that Warp makes of it (`cuda_prologue`, `cuda_helpers`, `cuda_forward`, `cuda_backward`:
in this order one complete translation unit). `provenance.module` and `provenance.line` say where
a kernel is from.

## Licence

Rows carry the licence of the modules they were taken from. Stated by who harvested them:
{shape["licence"]}. `include/` holds Warp's headers (Apache-2.0, with their licences).

## How far a row is proven

Each row compiles with NVRTC for {", ".join(shape["archs"])}. Where `provenance.self_contained` is
true, `python` alone translates to the CUDA of the row; where it is false, names in it may be free.
Where `checks.run_forward` is `agrees`, the CUDA text, compiled as C++ and run on the host, wrote
the same outputs as the kernel did on Warp's own CPU device, at the shape in `checks.shapes` and
from guessed inputs. There is no reference, no tolerance, and nothing was run on a GPU. `args`,
`sizes` and `launch` are guesses from the kernel's annotations.

{_tables(manifest)}

Rows whose CUDA is equal but for names, literals and dtypes are in one split; no two rows have the
same CUDA up to the kernel's name. What was left out is listed in `rejected/`, with reasons.

## Made with

{made_with}; at most {shape["per_module"] or "any number of"} rows a module.

{decontaminated(shape)}
"""


def _tables(manifest: Manifest) -> str:
    """How many kernels came through each step, and how many rows each split has."""
    steps = {name.replace("_", "-"): n for name, n in manifest.draws["steps"].items()}
    return "\n\n".join(
        (
            table(("step", "kernels"), steps.items()),
            table(("split", "rows"), manifest.counts["split"].items()),
        )
    )
