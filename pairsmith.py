"""pairsmith in one import: rows, tasks, a judge and a reward.

    import pairsmith

    for row in pairsmith.stream(seed=7, levels=(2, 3)): ...
    ds = pairsmith.tasks("sft", path="data/mine"); ds[0]["question"]
    trainer = GRPOTrainer(reward_funcs=pairsmith.reward, train_dataset=..., ...)

Nothing is loaded before it is asked for: a bare import costs some milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synth.loop.tasks import Tasks
    from validate.score.scorer import Scorer as Scorer

Row = Mapping[str, Any]
"""A row: `notes/formats/row.md` has its columns."""


def stream(
    seed: int = 0,
    categories: Sequence[str] = (),
    levels: Sequence[int] = (),
    verify: str = "compile",
) -> Iterator[Row]:
    """Rows without end; the same seed gives the same rows in the same order.

    ``categories`` and ``levels`` (1 to 5) are all where none is named. ``verify`` is ``text``,
    ``compile`` or ``run``: how far each row is proven before it is given. Raises
    ``synth.errors.SettingsError``, a ValueError, for what there is not.
    """
    from synth.dataset.settings import make_settings
    from synth.loop.rows import endless_rows

    asked = tuple(categories), tuple(levels)
    settings = make_settings(
        seed=seed, categories_asked=asked[0], levels_asked=asked[1], verify=verify
    )
    return endless_rows(settings)


def tasks(
    view: str = "sft",
    *,
    path: str | Path | None = None,
    rows: Iterable[Row] | None = None,
    size: int | None = None,
    splits: Sequence[str] = (),
    **drawn: Any,
) -> Tasks:
    """Tasks of the view ``sft``, ``plain_python`` or ``array``, answered by plain CUDA.

    From the dataset at ``path`` (its ``splits``, or all), from ``rows``, or else from
    ``stream(**drawn)``; at most ``size``, 500 of a stream where it is not said. ``ds[i]`` is
    ``{"question", "answer", "metadata"}`` and ``ds.score_answer(answer, entry)`` 1.0 or 0.0, as
    reasoning-gym has them. Raises ``synth.errors.SettingsError``.
    """
    from synth.loop.tasks import Tasks, dataset_rows

    if path is not None:
        return Tasks(dataset_rows(Path(path), splits), view, size)
    if rows is not None:
        return Tasks(rows, view, size)
    return Tasks(stream(**drawn), view, 500 if size is None else size, endless=True)


def reward(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """1.0 for each completion that passes, else 0.0, as TRL's trainers call it.

    ``columns["row"]`` has for each completion its row, or ``metadata["row"]`` of its task. None
    where the row itself is wrong. One scorer a process; `shaped_reward` has partial credit.
    """
    from synth.loop.rewards import shared_reward

    return shared_reward()(prompts, completions, **columns)


def shaped_reward(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """As `reward`, with up to 0.5 for what compiles, launches and is right in part."""
    from synth.loop.rewards import credit, shared_reward

    return shared_reward(credit)(prompts, completions, **columns)


def load(path: str | Path, *, lowered: bool = False) -> list[Row]:
    """All rows of the dataset at ``path``, each with its ``split``; SettingsError without one.

    Where ``pairsmith compile`` ran, ``checks`` have the registers, spills and shared memory of
    Warp's kernel that it measured. ``lowered`` adds to each row, under that name, the list of its
    records in the configuration `lowered` (`notes/formats/lowered.md`).
    """
    from synth.loop.machine import with_lowered, with_resources
    from synth.loop.tasks import dataset_rows

    rows = with_resources(Path(path), list(dataset_rows(Path(path))))
    return with_lowered(Path(path), rows) if lowered else rows


def __getattr__(name: str) -> Any:
    """`Scorer`, the judge itself (`notes/measurements/scorer.md`), when it is first named."""
    if name == "Scorer":
        from validate.score.scorer import Scorer

        return Scorer
    raise AttributeError(f"module 'pairsmith' has no attribute {name!r}")
