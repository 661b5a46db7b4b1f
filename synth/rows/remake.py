"""A stored row against what its ``program`` column makes today."""

from __future__ import annotations

from importlib.metadata import version

from extract import ExtractError
from generators import every_category
from generators.build.draw import Draw, Reject
from generators.program.ir import Program
from generators.program.keys import program_keys
from generators.program.serialise import from_json, to_json
from synth.codegen.translator import CodegenError, Translator
from synth.gates.edges import choose_edges
from synth.gates.judge import judge
from synth.gradient.terms import Undifferentiable
from synth.render import warp as render_warp
from synth.render.array import module as render_array
from synth.rows.gradients import WITHOUT_GRADIENT, gradient_columns
from synth.rows.maker import Row, cuda_columns, drawn_program, program_columns
from validate.statuses import ArrayStatus


def differing_columns(row: Row) -> tuple[str, str]:
    """The first column that the program does not make again, and why; empty when all are equal.

    Covers every column but the CUDA texts, ``checks`` and ``provenance``, and judges the program
    by the gates anew. No text of the row is executed. The second string is the rename key.
    """
    if row["program"] is None:
        return "program is null: the row cannot be made again", ""
    try:
        program = from_json(row["program"])
        tolerances = judge(program)
        edges = choose_edges(program, tolerances)
        keys = program_keys(program)
    except Reject as reject:
        return f"program does not pass the gates: {reject}", ""
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return f"program is damaged: {type(error).__name__}: {error}", ""
    made = program_columns(program, tolerances, edges, keys, render_warp.render(program))
    if row["array_reason"] in (ArrayStatus.OFF, ArrayStatus.DIFFERS):
        # Left out for what the program does not say; that none is there is still to be so.
        made |= {"array_python": None, "array_reason": row["array_reason"]}
    else:
        made |= render_array.columns(program)
    if row["cuda_plain_backward"] is not None:
        made |= _remade_gradient(program)
    wrong = [name for name, value in made.items() if row[name] != value]
    if wrong:
        return f"the program makes another {', '.join(wrong)}", keys.rename
    return _false_origin(row), keys.rename


def _remade_gradient(program: Program) -> Row:
    try:
        return gradient_columns(program)
    except Undifferentiable:
        return dict(WITHOUT_GRADIENT)


def _false_origin(row: Row) -> str:
    """Whether seed, index and attempt of ``provenance`` lead to another program."""
    origin = row["provenance"]
    if row["category"] not in every_category() or origin["pairsmith"] != version("pairsmith"):
        return ""
    draw = Draw(origin["seed"], row["category"], origin["index"], origin["attempt"])
    try:
        same = to_json(drawn_program(draw, row["level"])) == row["program"]
    except Reject:
        same = False
    return "" if same else "provenance does not lead to this program"


def retranslated(row: Row, translator: Translator) -> Row:
    """The CUDA columns that ``python`` gives.

    Executes ``python``: call it for rows whose ``python`` the program makes again. Raises
    CodegenError or ExtractError when it does not translate.
    """
    text = translator.translate(row["python"], row["kernel_name"])
    return cuda_columns(text, row["kernel_name"])


def retranslated_difference(row: Row, translator: Translator) -> str:
    """What of the CUDA is not what ``python`` gives; an empty string when all is equal.

    Executes ``python``, as :func:`retranslated`.
    """
    try:
        made = retranslated(row, translator)
    except (CodegenError, ExtractError) as error:
        return f"python does not translate: {str(error).splitlines()[0]}"
    wrong = [name for name, value in made.items() if row[name] != value]
    return f"python translates to another {', '.join(wrong)}" if wrong else ""
