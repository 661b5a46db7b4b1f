"""Write the row that README.md shows: of ``data/samples`` the one that is quickest to read.

Run: python scripts/author/write_example.py; `make samples` does. What stands between the two marks
in README.md is replaced; a test compares it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from synth.dataset.stored import stored_rows
from validate.statuses import AdjointStatus, RunStatus

ROOT = Path(__file__).resolve().parents[2]
SAMPLES, README = ROOT / "data" / "samples", ROOT / "README.md"
BEGIN, END = "<!-- row: scripts/author/write_example.py -->\n", "<!-- end of row -->\n"


def example() -> dict[str, Any]:
    """The sample with the fewest characters of those that were proven in every way."""
    proven = [
        row
        for _, row in stored_rows(SAMPLES)
        if row["checks"]["adjoint"] == AdjointStatus.AGREES and len(row["plain_launch"]) == 1
        if row["checks"]["run_forward"] == row["checks"]["run_plain"] == RunStatus.AGREES
    ]
    return min(proven, key=lambda row: (len(row["python"]) + len(row["cuda_plain"]), row["id"]))


def shown(row: dict[str, Any]) -> str:
    """A row's two texts, how to launch the second, and its proof."""
    checks = row["checks"]
    launch = {name: row["plain_launch"][0][name] for name in ("grid", "block")}
    proof = {
        "compile_archs": "NVRTC made PTX of both CUDA texts for these",
        "run_forward": "Warp's CUDA, run on the host, against a float64 reference",
        "run_plain": "the plain CUDA, the same way",
        "adjoint": "Warp's derivative, against central differences of the reference",
        "shapes": "where all of that ran",
    }
    cells = [
        f"| `{name}` | `{json.dumps(checks[name])}` | {what} |" for name, what in proof.items()
    ]
    parts = [
        "```python",
        row["python"].strip(),
        "```",
        "",
        "```cuda",
        row["cuda_plain"].strip(),
        f"// plain_launch: {json.dumps(launch)}",
        "```",
        "",
        "| `checks` | value | what was done |",
        "|---|---|---|",
        *cells,
    ]
    return "\n".join(parts) + "\n"


def with_example(text: str) -> str:
    """The text of a README with the row of the day between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"README.md lacks {BEGIN.strip()} … {END.strip()}")
    return before + BEGIN + "\n" + shown(example()) + "\n" + END + after


if __name__ == "__main__":
    README.write_text(with_example(README.read_text()))
    print(f"written: {README}")
