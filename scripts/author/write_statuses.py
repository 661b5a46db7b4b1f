"""Write ``notes/statuses.md``: every status and every reject reason with its sentence.

Run: python scripts/author/write_statuses.py. The words and sentences stand in
``validate/statuses.py`` and ``synth/reasons.py``; a test compares the page with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from synth.reasons import GateReason, HarvestStep, RuleReason, ViewReason, failed_checks
from validate.statuses import (
    AdjointStatus,
    ArrayStatus,
    CompileStatus,
    GpuStatus,
    GradientStatus,
    Likeness,
    OpenclStatus,
    RunStatus,
    ScoreStatus,
    Worded,
)

PAGE = Path(__file__).resolve().parents[2] / "notes" / "statuses.md"

_HEAD = """\
# Statuses and reject reasons

Every word that says what became of a draw, a row or a text, by the place where a user meets it.
Written by `python scripts/author/write_statuses.py` from `validate/statuses.py` and
`synth/reasons.py`: change the sentences there.
"""

_FAILED = (
    "Rows that fail a check",
    "Of rows that passed the gates and were left out by `--verify compile` or `run`: counted in "
    "`draws.rejects` of the manifest beside the reasons above, and written to "
    "`rejected/rejected.jsonl`.",
)

SECTIONS: tuple[tuple[str, str, type[Worded]], ...] = (
    (
        "The adjoint",
        "`checks.adjoint` of a row; `pairsmith show` and `stats` print it, and "
        "`notes/measurements/adjoint.md` says how it is found. Why the adjoint of one row does not "
        "agree is measured as `adjoint_reason` in `evidence/run.parquet`.",
        AdjointStatus,
    ),
    (
        "Our own backward kernel",
        "`checks.gradient` of a row; `pairsmith show` and `stats` print it, and "
        "`notes/measurements/gradient.md` says how it is found. Why a row has none is "
        "`gradient_reason` in `evidence/run.parquet`.",
        GradientStatus,
    ),
    (
        "The run on the host",
        "`checks.run_forward` and `checks.run_plain` of a row, which are `agrees` or null; the "
        "other statuses in `pairsmith validate`, `lower` and `doctor`.",
        RunStatus,
    ),
    (
        "The whole-array version",
        "`array_reason` of a row without `array_python`; `pairsmith show` and `stats` print it.",
        ArrayStatus,
    ),
    (
        "The compilation",
        "What NVRTC says of a text: `pairsmith validate`, `lower`, `doctor` and `harvest`. A row "
        "that compiles names its architectures in `checks.compile_archs`.",
        CompileStatus,
    ),
    (
        "A harvested kernel beside Warp's own CPU device",
        "Rows of `pairsmith harvest` have no reference: `checks.run_forward` is `agrees` where "
        "both ways do, and any other word is a reason without a run.",
        Likeness,
    ),
    (
        "OpenCL C on the CPU",
        "`pairsmith validate OUT --target opencl` and its report.",
        OpenclStatus,
    ),
    ("The run on a GPU", "`pairsmith gpu run` and its results in `OUT/gpu/`.", GpuStatus),
    (
        "The verdict on an answer",
        "`pairsmith score` and `validate.score.scorer`; the `failure` of the `repair` view is one "
        "of them.",
        ScoreStatus,
    ),
    (
        "Draws that the gates reject",
        "Counted by category, idiom and reason in `draws.rejects` of the manifest; `pairsmith "
        "stats` and the dataset card sum them up.",
        GateReason,
    ),
    (
        "Rows that the dataset refuses",
        "Counted there as well: of rows that passed gates and checks.",
        RuleReason,
    ),
    (
        "Rows that a training view leaves out",
        "Printed by `pairsmith training-views`, kept in its index and in the card.",
        ViewReason,
    ),
    (
        "Steps of a harvest",
        "The `step` in `rejected/harvest.jsonl`, and what comes before the colon of a reason that "
        "the manifest of a harvest counts; what comes after it is about the kernel.",
        HarvestStep,
    ),
)


def page() -> str:
    """The text of the page."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for title, where, words in SECTIONS:
        yield _section(title, where, {word.value: word.sentence for word in words})
        if words is GateReason:
            yield _section(*_FAILED, failed_checks())


def _section(title: str, where: str, sentences: Mapping[str, str]) -> str:
    lines = [f"| `{word}` | {sentence} |" for word, sentence in sentences.items()]
    return "\n".join([f"## {title}", "", where, "", "| word | meaning |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"written: {PAGE}")
