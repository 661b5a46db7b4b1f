"""Hidden inputs and shapes: what answers to a row are run on, other than what the row shows.

Everything follows by SHA-256 from a secret number, the row's id and the number of the attempt, so
that all answers to a row meet the same. `shapes` says which sizes are drawn, `starts` what
accumulators start at, `effort` what is too much, `idle` which draws tell too little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from validate.oracle.reference import ReferenceFailed
from validate.row.edges import Args, Edge, edges_of, with_edges
from validate.row.inputs import Array, draw_trial_inputs
from validate.row.sizes import awkward_sizes, evaluate_all, own_sizes
from validate.score import shapes
from validate.score.effort import Effort
from validate.score.idle import ONE_VALUE, outputs_without_work
from validate.score.shapes import Row, Sizes, Stream
from validate.score.starts import Starts, choose_starts
from validate.score.wanted import wanted_outputs

TRIES = 4
"""How many hidden draws are made for a row before its own inputs are used."""

KINDS = ("hidden", "own inputs, hidden shapes", "own")
"""Where the inputs and the shapes of a draw come from, best first."""

REFERENCE, OWN = "reference", "own"

LARGEST = ("big", "long")
"""Trials of which answers run the first that the row's own text can; accesses are not watched."""

MOST_STEPS = 800_000
"""Basic blocks that the row's own text may enter at an optional trial, all threads together."""

# Draws of one attempt of which the one that tells most is taken.
_REDRAWS = 6
_MANY = 1 << 30
_WIDE_MS, _TWO_BLOCKS_MS, _BLOCKS_MS = 15.0, 30.0, 12.0
# Accesses are not watched there, which takes an eighth of the time.
_BIG_MS = 100.0
_FEW_MS, _LITTLE_MORE = 8.0, 1.3
_SEEDS = 1 << 63

Outputs = dict[str, Array]


@dataclass(frozen=True)
class Trial:
    """One launch: its sizes, its inputs, and where the wanted values come from.

    `what` names it: near, again (the same shape on other inputs), small, minimum, one of the row's
    own edge inputs at its own sizes, wide, blocks,
    whole (blocks without a tail), big, long (in place of big where that is too much), own. `oracle`
    is "reference" or "own": the row's own text, at shapes that are too much for the reference. An
    `optional` trial is left out for all answers to a row when the row's own text does not run well
    there or enters more than `most_steps` basic blocks (0: no such limit). With `row_starts`
    accumulators start as the row has them, so that a single entry shows in a minimum or a maximum.
    """

    sizes: Sizes
    input_seed: int
    oracle: str = REFERENCE
    what: str = "near"
    optional: bool = False
    most_steps: int = 0
    row_starts: bool = False
    edge: Edge | None = None

    def args(self, row: Row) -> Args:
        """The row's `args`, with the edge of this trial."""
        found: Args = row["args"] if self.edge is None else with_edges(row["args"], self.edge)
        return found


@dataclass(frozen=True)
class Draw:
    """The trials of a row, in the order in which one process runs them. `kind` is one of KINDS.

    `starts` has bounds of the start values of accumulators, by name (for `draw_trial_inputs`).
    `idle` names outputs that a kernel without work gets right. `wanted` has what the reference
    wants, by the number of the trial, where that is known already.
    """

    kind: str
    trials: tuple[Trial, ...]
    starts: Starts = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    wanted: Mapping[int, Outputs] = field(default_factory=dict, compare=False, repr=False)

    @property
    def accumulators(self) -> bool:
        """Whether any accumulator starts at drawn values."""
        return bool(self.starts)

    def starts_of(self, trial: Trial) -> Starts:
        """What accumulators start at in a trial, for `draw_trial_inputs`."""
        return {} if trial.row_starts else self.starts

    def without(self, numbers: Sequence[int]) -> Draw:
        """The same draw with some trials, by number, left out."""
        kept = [n for n in range(len(self.trials)) if n not in set(numbers)]
        known = {kept.index(n): outputs for n, outputs in self.wanted.items() if n in kept}
        return replace(self, trials=tuple(self.trials[n] for n in kept), wanted=known)


def draws(row: Row, hidden_seed: int) -> Iterator[Draw]:
    """The draws of a row in the order in which they are to be taken: the first that fits.

    Two with accumulators that start at drawn values, one with accumulators as the row has them, one
    without wide shapes, in which sums outgrow tolerances that were set for small ones; then with
    the row's own inputs, then what the row itself was checked on. A draw on which a kernel without
    work gets an output right is made anew; when all do, that with the fewest such outputs is taken.
    Where the reference fails on a draw, so does `Judge`.
    """
    for attempt in range(TRIES):
        yield _told_apart(row, hidden_seed, attempt)
    stream = Stream(f"{hidden_seed}/{row['id']}/{TRIES}")
    own_seed = row["input_seed"]
    trials = [Trial(shapes.near(row, stream), own_seed), *_small(row, stream, own_seed, own_seed)]
    yield Draw(KINDS[1], tuple(trials))
    own = tuple(Trial(sizes, own_seed, what="own") for sizes in awkward_sizes(row["sizes"]))
    yield Draw(KINDS[2], own)


def trial_inputs(row: Row, trial: Trial, draw: Draw) -> dict[str, Array]:
    """What goes into a trial. Raises ValueError when it cannot be drawn."""
    return draw_trial_inputs(trial.args(row), trial.sizes, trial.input_seed, draw.starts_of(trial))


def reference_outputs(row: Row, trial: Trial, draw: Draw) -> Outputs:
    """What the reference wants of a trial. Raises ReferenceFailed, and ValueError when no inputs
    can be drawn."""
    inputs = trial_inputs(row, trial, draw)
    dim = evaluate_all(row["launch"]["dim"], trial.sizes)
    return wanted_outputs(row, dim, inputs)


def _told_apart(row: Row, hidden_seed: int, attempt: int) -> Draw:
    """The draw of an attempt on which the fewest outputs come without work: in all its trials, then
    in the first alone."""
    best: Draw | None = None
    least = (_MANY, _MANY)
    for number in range(_REDRAWS):
        stream = Stream(f"{hidden_seed}/{row['id']}/{attempt}/{number}")
        draw = _draw(row, stream, with_starts=attempt < 2)
        try:
            draw, weakness = _known(row, draw)
        except (ReferenceFailed, ValueError):
            best = best or draw
            continue
        if weakness < least:
            best, least = draw, weakness
        if least == (0, 0):
            break
    assert best is not None
    if attempt == TRIES - 1:
        return best
    stream = Stream(f"{hidden_seed}/{row['id']}/{attempt}/large")
    return replace(best, trials=best.trials + tuple(_large(row, best, stream)))


def _draw(row: Row, stream: Stream, with_starts: bool) -> Draw:
    sizes = shapes.near(row, stream)
    first, second = stream.below(_SEEDS), stream.below(_SEEDS)
    trials = [Trial(sizes, first), Trial(sizes, second, what="again", row_starts=True)]
    trials += _small(row, stream, stream.below(_SEEDS), stream.below(_SEEDS))
    trials += _edges(row)
    starts: Starts = {}
    if with_starts:
        try:
            starts = choose_starts(row, sizes, first)
        except (ReferenceFailed, ValueError):
            # Of a reference that fails here the judge says so.
            starts = {}
    return Draw(KINDS[0], tuple(trials), starts)


def _small(row: Row, stream: Stream, small_seed: int, minimum_seed: int) -> list[Trial]:
    small, minimum = shapes.small(row, stream), shapes.minimum(row)
    found = [Trial(small, small_seed, what="small")]
    if minimum != small:
        found.append(Trial(minimum, minimum_seed, what="minimum", row_starts=True))
    return found


def _edges(row: Row) -> list[Trial]:
    """The edge inputs of a row, as they are: only on these it is known to be sure."""
    own, seed = own_sizes(row["sizes"]), row["input_seed"]
    return [
        Trial(own, seed, what=f"at {edge['name']}", row_starts=True, edge=edge)
        for edge in edges_of(row)
    ]


def _known(row: Row, draw: Draw) -> tuple[Draw, tuple[int, int]]:
    """A draw of reference trials with what they want; how many outputs need no work, in all trials
    and in the first."""
    wanted = {n: reference_outputs(row, trial, draw) for n, trial in enumerate(draw.trials)}
    inputs = [trial_inputs(row, trial, draw) for trial in draw.trials]
    told = [(inputs[n], wanted[n]) for n in wanted]
    idle = tuple(outputs_without_work(row["args"], told))
    # Of a single trial, any output of one element is one value.
    first = [w for w in outputs_without_work(row["args"], told[:1]) if ONE_VALUE not in w]
    return replace(draw, wanted=wanted, idle=idle), (len(idle), len(first))


def _large(row: Row, draw: Draw, stream: Stream) -> Iterator[Trial]:
    """Shapes of several blocks, as many as take the row's own text little."""
    others = shapes.small(row, stream)
    effort = Effort(row, others)

    def within(limit: float) -> shapes.Fits:
        def fits(sizes: Sizes) -> bool:
            try:
                return effort.milliseconds(sizes) <= limit
            except (ReferenceFailed, ValueError):
                return False

        return fits

    limits = within(_WIDE_MS), within(_TWO_BLOCKS_MS)
    for entry in row["sizes"]:
        symbol = entry["symbol"]
        wide = shapes.wide(row, symbol, others, stream, *limits)
        if wide is not None:
            # With more threads what is wrong shows in more of them.
            more = {**shapes.launched_like(row, wide, draw.trials[0].sizes), symbol: wide[symbol]}
            limit = max(_FEW_MS, _LITTLE_MORE * effort.milliseconds(wide))
            wide = more if within(limit)(more) else wide
        yield from _trial(f"wide {symbol}", wide, stream)
    yield from _trial("blocks", shapes.blocks(row, others, stream, within(_BLOCKS_MS)), stream)
    yield from _trial("whole", shapes.whole_blocks(row, others, within(_WIDE_MS)), stream)
    yield from _trial("big", shapes.big(row, others, stream, within(_BIG_MS)), stream)
    yield from _trial("long", shapes.long(row, others, stream), stream)


def _trial(what: str, sizes: Sizes | None, stream: Stream) -> Iterator[Trial]:
    seed = stream.below(_SEEDS)
    if sizes is not None:
        yield Trial(sizes, seed, OWN, what, optional=True, most_steps=MOST_STEPS)
