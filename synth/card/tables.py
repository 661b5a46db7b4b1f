"""Tables of the card: how far rows are proven, and what they consist of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from synth.card.distributions import TEXTS, Distributions
from synth.dataset.manifest import SPLITS, Manifest
from synth.dataset.views_index import Views

_MOST_DTYPES, _MOST_OPS = 20, 40


def table(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    text = [f"| {' | '.join(heads)} |", f"|---|{'--:|' * (len(heads) - 1)}"]
    text += [f"| {' | '.join(_cell(value) for value in line)} |" for line in lines]
    return "\n".join(text)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def evidence_table(found: Distributions) -> str:
    """How many rows each check has passed, or was not made of."""
    names = {
        "run_forward": "Warp's CUDA ran on the host and agrees with `reference`",
        "run_plain": "plain CUDA ran on the host and agrees with `reference`",
        "run_array": "whole-array NumPy ran and agrees with `reference`",
    }
    archs = [
        (f"NVRTC made PTX of all texts for {value}", count)
        for value, count in _values(found.evidence, "compile_archs")
    ]
    runs = [(what, found.evidence[f"{name}: agrees"]) for name, what in names.items()]
    adjoint, gradient = (
        [(f"{what}: {value}", count) for value, count in _values(found.evidence, name)]
        for name, what in (("adjoint", "adjoint"), ("gradient", "backward kernel of ours"))
    )
    lines = [
        ("passed the gates, the schema and the text checks", found.rows),
        *(archs or [("compiled", 0)]),
        *runs,
        *(adjoint or [("adjoint checked", 0)]),
        *(gradient or [("backward kernel of ours checked", 0)]),
    ]
    return table(("evidence", "rows"), lines)


def _values(evidence: Mapping[str, int], name: str) -> list[tuple[str, int]]:
    """The values of a check that were measured, with their rows, the commonest first."""
    prefix = f"{name}: "
    found = {k.removeprefix(prefix): n for k, n in evidence.items() if k.startswith(prefix)}
    found.pop("not measured", None)
    return sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))


def status_table(head: str, counts: Mapping[str, int]) -> str:
    """Statuses by category, from the manifest's ``category/status`` counts."""
    statuses = sorted({name.split("/")[1] for name in counts})
    lines = [
        [category, *(counts.get(f"{category}/{status}", 0) for status in statuses)]
        for category in sorted({name.split("/")[0] for name in counts})
    ]
    return table((head, *statuses), lines)


def split_table(manifest: Manifest) -> str:
    counts = manifest.counts["split"]
    return table(("split", "rows"), [(s, counts[s]) for s in SPLITS if s in counts])


def cells_table(found: Distributions) -> str:
    """Rows by category and level."""
    levels = sorted({level for _, level in found.cells}, key=lambda level: level or 0)
    heads = ["no level" if level is None else f"level {level}" for level in levels]
    lines = [
        [category, *(found.cells[category, level] for level in levels)]
        for category in sorted({category for category, _ in found.cells})
    ]
    return table(("category", *heads), lines)


def lengths_table(found: Distributions) -> str:
    lines = [
        (f"{words} (`{name}`)", *found.quantiles(name))
        for name, words in TEXTS.items()
        if name in found.lines
    ]
    return table(("lines of", "10 %", "median", "90 %"), lines)


def dtypes_table(found: Distributions) -> str:
    most = sorted(found.dtypes.items(), key=lambda entry: (-entry[1], entry[0]))
    return table(("dtype of an argument", "rows"), most[:_MOST_DTYPES])


def styles_table(found: Distributions) -> str:
    return table(("style of the plain CUDA", "rows"), sorted(found.styles.items()))


def ops_line(found: Distributions) -> str:
    """The commonest operators and builtins, in one line."""
    most = sorted(found.ops.items(), key=lambda entry: (-entry[1], entry[0]))
    named = ", ".join(f"`{name}` {count:,}" for name, count in most[:_MOST_OPS])
    more = f", and {len(most) - _MOST_OPS} more" if len(most) > _MOST_OPS else ""
    return f"{len(most)} operators and builtins occur; rows with the commonest: {named}{more}."


def views_table(views: Views) -> str:
    """Rows and lengths of each view, and what was left out."""
    lines = []
    for name, view in views.views.items():
        _, middle, high, most = view.lengths.get("chars", [0, 0, 0, 0])
        tokens = view.lengths.get("tokens")
        why = ", ".join(f"{reason.replace('_', ' ')} {n:,}" for reason, n in view.left_out.items())
        cells = [f"`{name}`", view.rows, middle, high, most]
        lines.append([*cells, *([tokens[1], tokens[3]] if tokens else []), why or "none"])
    heads = ["view", "rows", "median characters", "90 %", "most"]
    with_tokens = views.settings["tokenizer"] is not None
    return table([*heads, *(["median tokens", "most"] if with_tokens else []), "left out"], lines)
