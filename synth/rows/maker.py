"""A program becomes a row: texts, keys, input contract, provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from extract import ModuleText, extract_module
from generators import every_category
from generators.build.draw import Draw, Reject
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Cast, Const, Var
from generators.program.ir import Assign, AugAssign, Comment, For, Program
from generators.program.keys import Keys, program_keys
from generators.program.prune import read_names
from generators.program.serialise import to_json
from generators.program.walk import bodies, expressions, statements, used_ops
from synth.codegen.translator import Translator
from synth.dataset.settings import Settings, Versions
from synth.gates.contract import Tolerance, args_with_tolerances, launch_of, sizes_of
from synth.gates.edges import Edge, choose_edges
from synth.gates.judge import judge
from synth.reasons import GateReason
from synth.render import warp as render_warp
from synth.render.array import module as render_array
from synth.render.cuda import module as render_cuda
from synth.render.cuda.regime import regime_of
from synth.render.reference import module as render_reference
from synth.rows.garbage import fewer_collections, keep_what_is_there
from validate.row.columns import GRADIENT_COLUMNS, SCHEMA_VERSION
from validate.row.schema import row_id
from validate.statuses import ArrayStatus

Row = dict[str, Any]

FEWEST_STATEMENTS, MOST_STATEMENTS = 2, 70
"""Of a kernel's body, the thread index left out."""

WITHOUT_ARRAY = {"array_python": None, "array_reason": ArrayStatus.OFF}

HARVEST_ORIGIN = ("module", "line", "self_contained")

NOT_MEASURED: dict[str, Any] = {
    "compile_archs": None,
    "run_forward": None,
    "run_plain": None,
    "run_array": None,
    "adjoint": None,
    "gradient": None,
    "shapes": None,
    "max_ulp": None,
    "registers": None,
    "spill_bytes": None,
    "shared_bytes": None,
}


@dataclass(frozen=True)
class Accepted:
    """A draw that passed the gates."""

    program: Program
    tolerances: dict[str, Tolerance]
    edges: list[Edge]
    keys: Keys
    index: int
    attempt: int


def attempt_draw(settings: Settings, category: str, index: int, attempt: int) -> Accepted:
    """One attempt at one index; :class:`generators.build.draw.Reject` when it is no good."""
    place = Draw(settings.seed, category, index, attempt)
    program = drawn_program(place, settings.level_of(index))
    try:
        return accept_drawn(program, index, attempt)
    except Reject as reject:
        reject.idiom = program.idiom
        raise


def accept_drawn(program: Program, index: int, attempt: int) -> Accepted:
    """As :func:`accept`, of a program that nobody has read: its form is judged first."""
    _require_length(program)
    _require_use(program)
    _require_turns(program)
    return accept(program, index, attempt)


def accept(program: Program, index: int, attempt: int) -> Accepted:
    """A program with what the gates say of it.

    :class:`generators.build.draw.Reject` when it is no good.
    """
    tolerances = judge(program)
    edges = choose_edges(program, tolerances)
    return Accepted(program, tolerances, edges, program_keys(program), index, attempt)


def drawn_program(place: Draw, level: int) -> Program:
    """The program of one attempt. May raise :class:`generators.build.draw.Reject`."""
    source = every_category()[place.category]
    idiom = source.choose(place, level)
    try:
        return source.draw_idiom(idiom, place, level)
    except Reject as reject:
        reject.idiom = idiom
        raise


def _require_length(program: Program) -> None:
    """Reject a body that is a single statement, or longer than people write at a time."""
    count = sum(not isinstance(s, Comment) for s in statements(program.kernel.body))
    if not FEWEST_STATEMENTS <= count <= MOST_STATEMENTS:
        raise Reject(GateReason.TOO_SHORT_OR_LONG)


def _require_use(program: Program) -> None:
    """Reject a local that nothing reads: no person leaves one. Reject a kernel that assigns one of
    its parameters anew: where a thread does several elements, the next would begin with it."""
    params = {p.name for p in program.kernel.params}
    for s in statements(program.kernel.body):
        if isinstance(s, Assign | AugAssign) and s.name in params:
            raise Reject(GateReason.PARAMETER_ASSIGNED, s.name)
    for body in bodies(program):
        read = read_names(body)
        made = {s.name for s in statements(body) if isinstance(s, Assign)}
        if made - read:
            raise Reject(GateReason.UNREAD_LOCAL, min(made - read))


def _require_turns(program: Program) -> None:
    """Reject a loop over literals that turns once: no person writes one. Reject one that casts its
    counter to float64: where Warp unrolls it, the counter is no index any more."""
    for body in bodies(program):
        for s in statements(body):
            if not (isinstance(s, For) and isinstance(s.start, Const)):
                continue
            if not isinstance(s.stop, Const):
                continue
            if len(range(int(s.start.value), int(s.stop.value), s.step)) < 2:
                raise Reject(GateReason.SINGLE_TURN, s.name)
            counter = Var(s.name, INT32)
            if Cast(counter, Scalar("float64")) in expressions(s.body):
                raise Reject(GateReason.COUNTER_RETYPED, s.name)


class PairMaker:
    """Turns accepted draws into rows; keeps one translator, and so one Warp, for its life."""

    def __init__(self, settings: Settings, versions: Versions) -> None:
        self.settings = settings
        self.versions = versions
        self.translator = Translator(backward=settings.backward)
        keep_what_is_there()

    def rows(self, accepted: Sequence[Accepted]) -> list[Row]:
        """One row for each draw; a row does not depend on what else is in the batch."""
        with fewer_collections():
            sources = [(render_warp.render(a.program), a.program.kernel.name) for a in accepted]
            modules = self.translator.translate_batch(sources)
            return [
                self._row(a, source, text)
                for a, (source, _), text in zip(accepted, sources, modules, strict=True)
            ]

    def _row(self, accepted: Accepted, python: str, module_text: str) -> Row:
        program = accepted.program
        return {
            "schema_version": SCHEMA_VERSION,
            **program_columns(program, accepted.tolerances, accepted.edges, accepted.keys, python),
            **cuda_columns(module_text, program.kernel.name),
            **(render_array.columns(program) if self.settings.array else WITHOUT_ARRAY),
            **dict.fromkeys(GRADIENT_COLUMNS),
            "checks": dict(NOT_MEASURED),
            "provenance": self._provenance(accepted),
        }

    def _provenance(self, accepted: Accepted) -> dict[str, Any]:
        return {
            "seed": self.settings.seed,
            "index": accepted.index,
            "attempt": accepted.attempt,
            "pairsmith": self.versions.pairsmith,
            "warp": self.versions.warp,
            "nvrtc": None,
            **dict.fromkeys(HARVEST_ORIGIN),
        }


def program_columns(
    program: Program,
    tolerances: Mapping[str, Tolerance],
    edges: list[Edge],
    keys: Keys,
    python: str,
) -> Row:
    """The columns that follow from the program; ``python`` is what the renderer makes of it."""
    kernel = program.kernel
    return {
        "id": row_id(python, kernel.name),
        "structure": keys.structure,
        "category": program.category,
        "idiom": program.idiom,
        "level": program.level,
        "kernel_name": kernel.name,
        "description": program.description,
        "python": python,
        "reference": render_reference.render(program),
        "program": to_json(program),
        "args": args_with_tolerances(program, tolerances),
        "sizes": sizes_of(program),
        "regime": [asdict(span) for span in regime_of(program)],
        "launch": launch_of(program),
        "input_seed": program.input_seed,
        "edge_inputs": edges,
        "ops": used_ops(program),
        **render_cuda.render(program).columns(),
    }


def cuda_columns(module_text: str, name: str) -> Row:
    """The columns that follow from Warp's module text.

    ``AssertionError`` when the kernel is not there alone.
    """
    module = extract_module(module_text, strip_kernel_hash=False)
    assert [k.name for k in module.kernels] == [name], f"{name}: {[k.name for k in module.kernels]}"
    return module_columns(module, module.kernels[0].line_map)


def module_columns(module: ModuleText, line_map: Sequence[tuple[int, int]]) -> Row:
    """The CUDA columns of a module with one kernel."""
    (kernel,) = module.kernels
    return {
        "cuda_prologue": module.prologue,
        "cuda_helpers": module.helpers,
        "cuda_forward": kernel.forward,
        "cuda_backward": kernel.backward,
        "line_map_python": [line for line, _ in line_map],
        "line_map_cuda": [line for _, line in line_map],
    }


@lru_cache(maxsize=4)
def pair_maker(settings: Settings, versions: Versions) -> PairMaker:
    """The process's own maker for these settings."""
    return PairMaker(settings, versions)
