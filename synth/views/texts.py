"""Questions and answers of the training views, from the stored texts of a row.

Each view has several phrasings; which one a row gets follows from its id. A question says all that
its answer depends on: the signature and the style of plain CUDA are asked for in so many words.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from generators.program import ir
from generators.program.serialise import from_json
from generators.program.walk import statements
from synth.reasons import ViewReason
from synth.render.cuda.styles.threads import ONE_THREAD_A_POINT
from synth.views.diagnosis import diagnosis, explained, launch_diagnosis
from synth.views.enough import lacking
from synth.views.exchange import Exchange, Preference
from synth.views.gradient import gradient
from synth.views.plain import (
    LeftOut,
    fenced,
    is_free,
    launch_json,
    needs,
    pick,
    plain_answer,
    wanted,
)
from synth.views.promise import promise_clause, python_numbers
from synth.views.reasons import reasons
from synth.views.repair import turns_of
from synth.views.sizes import (
    number,
    plain_names,
    regime_clause,
    rounded,
    said,
    shapes_clause,
    size_names,
)
from synth.views.slower import Slower
from synth.views.wrong import Wrong
from validate.row.tiles import is_tiled, places
from validate.statuses import AdjointStatus

Row = Mapping[str, Any]


def _to_plain(question: str, row: Row, asked: bool = False) -> Exchange:
    """``asked``: the question names the layout."""
    return Exchange(question, plain_answer(row), reasons(row, asked))


def _ported(question: str, row: Row) -> Exchange:
    """The answer to a question that ends with what is :func:`wanted`."""
    return _to_plain(question, row, asked=not is_free(row))


_SFT = (
    "Translate this NVIDIA Warp kernel into plain CUDA C++ that does not use Warp.",
    "Write the CUDA C++ kernel that does what this Warp kernel does.",
    "Port this kernel from Warp Python to CUDA C++.",
    "Here is a GPU kernel in Warp. Rewrite it as a CUDA kernel without Warp.",
    "Turn the Python below, an NVIDIA Warp kernel, into an equivalent CUDA `__global__` function.",
    "I prototyped this kernel in Warp. Give me the CUDA C++ version for production.",
    "Convert this Warp kernel to hand-written CUDA C++.",
    "Implement the following Warp kernel by hand in CUDA C++.",
)


def sft(row: Row) -> Exchange:
    """Warp Python to plain CUDA."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    asked = f"{_SFT[pick(row, 'sft', len(_SFT))]} {wanted(row)}"
    return _ported(f"{asked}\n\n{fenced('python', row['python'])}", row)


_WORDS = (
    "Write a CUDA C++ kernel.",
    "I need a CUDA kernel.",
    "Implement this as a CUDA `__global__` function.",
    "Please write this GPU kernel in CUDA C++.",
    "Write the CUDA for the following.",
    "How would you write this kernel in CUDA C++?",
)


def words(row: Row) -> Exchange:
    """What is to be computed in words alone, to plain CUDA, where the words are enough for it."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    if lacking(row):
        raise LeftOut(ViewReason.WORDS_LACK)
    asked = f"{_WORDS[pick(row, 'words', len(_WORDS))]} {row['description']}"
    return _ported(f"{asked}\n\n{wanted(row)}", row)


_PLAIN_PYTHON = (
    "Write a CUDA C++ kernel that computes what this Python does.",
    "Parallelise this Python function as a CUDA kernel; the calls of `thread` do not depend on "
    "each other.",
    "Here is a sequential reference in Python, with `dim` the shape that it runs over. Write the "
    "CUDA kernel.",
    "Port this reference from Python to a CUDA `__global__` function.",
)
_PLAIN_THREADS = (
    "Write a CUDA C++ kernel that computes what this Python does; each turn of the loops over "
    "`dim` is a thread.",
    "Parallelise this Python function as a CUDA kernel. `thread` is what one thread does.",
    "Here is a sequential reference in Python, with `dim` the shape of the launch. Write the CUDA "
    "kernel.",
    "Port this reference from Python to a CUDA `__global__` function, one thread for each call of "
    "`thread`.",
)
_PLAIN_BLOCKS = (
    "Write a CUDA C++ kernel that computes what this Python does; each turn of the loops over "
    "`dim` is a block of threads.",
    "Parallelise this Python function as a CUDA kernel. `thread` is what a block of threads does.",
    "Here is a sequential reference in Python, with `dim` the blocks along each axis. Write "
    "the CUDA kernel.",
    "Port this reference from Python to a CUDA `__global__` function, one block for each call of "
    "`thread`.",
)


def plain_python(row: Row) -> Exchange:
    """The plain Python reference to plain CUDA. It says what a thread does where the answer's
    threads do that."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    reference = needs(row, "reference", ViewReason.NO_REFERENCE)
    is_a_thread_each = json.loads(row["schedule"])["style"] == ONE_THREAD_A_POINT
    forms: tuple[str, ...] = _PLAIN_THREADS if is_a_thread_each else _PLAIN_PYTHON
    forms = _PLAIN_BLOCKS if is_tiled(row) else forms
    if forms is _PLAIN_PYTHON and _has_atomics(row):
        # Calls that add to one element do depend on each other.
        forms = tuple(form for form in forms if "do not depend" not in form)
    asked = f"{forms[pick(row, 'plain_python', len(forms))]} {wanted(row)}"
    if numbers := python_numbers(row):
        asked = f"{asked} {numbers}"
    return _ported(f"{asked}\n\n{fenced('python', reference)}", row)


def _has_atomics(row: Row) -> bool:
    tree = from_json(row["program"])
    return any(isinstance(s, ir.Atomic) for s in statements(tree.kernel.body))


_ARRAY = (
    "Write this NumPy function as a CUDA C++ kernel.",
    "The NumPy below makes temporary arrays. Fuse it into CUDA that needs none.",
    "Here is array code in NumPy. Give me the CUDA kernel that computes the same in one go.",
    "Port this vectorised NumPy to a CUDA `__global__` function.",
    "Speed this NumPy up with a CUDA C++ kernel.",
    "Implement what this NumPy function returns as CUDA C++.",
)


def array(row: Row) -> Exchange:
    """NumPy on whole arrays to plain CUDA."""
    needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    text = needs(row, "array_python", ViewReason.NO_ARRAY_PYTHON)
    asked = f"{_ARRAY[pick(row, 'array', len(_ARRAY))]} {wanted(row)}"
    for more in (_returned(row, text), python_numbers(row)):
        asked = f"{asked} {more}" if more else asked
    return _ported(f"{asked}\n\n{fenced('python', text)}", row)


def _returned(row: Row, text: str) -> str:
    """Where what a function returns goes, unless it returns it under the parameters' own names."""
    names = [arg["name"] for arg in row["args"] if arg["role"] != "in"]
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    (last,) = (f.body[-1] for f in functions if f.name == row["kernel_name"])
    if ast.unparse(last).removeprefix("return ").strip("()") == ", ".join(names):
        return ""
    plain = plain_names(row)
    into = ", ".join(f"`{plain.get(name, name)}`" for name in names)
    order = ", in this order" if len(names) > 1 else ""
    return f"What the function returns goes to {into}{order}."


_WARP = (
    "Show the CUDA that NVIDIA Warp generates for this kernel: structs, helper functions with "
    "their adjoints, and the forward kernel.",
    "Compile this Warp module to CUDA source in your head: give what Warp's code generator writes "
    "for structs and functions, and the forward kernel.",
    "Which CUDA C++ does Warp make of this kernel? Leave out the prologue and the backward kernel.",
    "Translate this Warp kernel into CUDA in Warp's own dialect (`wp::` functions).",
)


def warp(row: Row) -> Exchange:
    """Warp Python to Warp's CUDA."""
    asked = _WARP[pick(row, "warp", len(_WARP))]
    return Exchange(f"{asked}\n\n{fenced('python', row['python'])}", fenced("cuda", _forward(row)))


def _forward(row: Row) -> str:
    return str(row["cuda_helpers"] + row["cuda_forward"])


_ADJOINT = (
    "This is the forward CUDA kernel that NVIDIA Warp generated. Write its adjoint kernel.",
    "Differentiate this Warp CUDA kernel: write the backward kernel for reverse-mode automatic "
    "differentiation.",
    "Give the backward kernel to this forward kernel of Warp, with `adj_` arguments for gradients.",
    "Derive the adjoint of this kernel by hand, in the form that Warp uses.",
)


def adjoint(row: Row) -> Exchange:
    """Warp's forward CUDA to its adjoint, where that was checked."""
    if row["checks"]["adjoint"] != AdjointStatus.AGREES:
        measured = row["checks"]["adjoint"] is not None
        raise LeftOut(ViewReason.ADJOINT_DOES_NOT_AGREE if measured else ViewReason.NOT_CHECKED)
    backward = needs(row, "cuda_backward", ViewReason.NO_ADJOINT)
    asked = _ADJOINT[pick(row, "adjoint", len(_ADJOINT))]
    return Exchange(f"{asked}\n\n{fenced('cuda', _forward(row))}", fenced("cuda", backward))


_REVERSE = (
    "Rewrite this CUDA kernel as an NVIDIA Warp kernel in Python.",
    "Port this CUDA C++ to Warp: a complete Python module with `@wp.kernel`.",
    "Lift this CUDA kernel to Python with NVIDIA Warp, so that it can be differentiated.",
    "What would this CUDA kernel look like in Warp Python?",
)


def reverse(row: Row) -> Exchange:
    """Plain CUDA to Warp Python."""
    text = needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    dims, of = places(row, row["launch"]["dim"]), ""
    if is_tiled(row):
        of = f" blocks of {row['launch']['block_dim']} threads"
    dim = ", ".join(said(extent, size_names(row)) for extent in dims)
    asked = f"{_REVERSE[pick(row, 'reverse', len(_REVERSE))]} The Warp kernel is launched over "
    asked += f"({dim}){of}."
    if shapes := shapes_clause(row):
        asked = f"{asked} {shapes}"
    return Exchange(f"{asked}\n\n{fenced('cuda', text)}", fenced("python", row["python"]))


_REPAIR = (
    "This CUDA kernel is to do what the Warp kernel does, and it is wrong. Repair it.",
    "Find the mistake in this CUDA version of the Warp kernel and give the corrected kernel.",
    "The CUDA port below fails its test. Fix it.",
    "Debug this CUDA kernel: it should compute what the Python computes.",
)


_AGAIN = (
    "That is not right yet.",
    "It fails.",
    "This does not work.",
    "The test does not pass.",
)


def repair(row: Row, wrong: Wrong) -> Exchange:
    """A wrong kernel, and what was said of it, to the right one, after what was wrong: in one turn,
    or after earlier answers to the question that the row asks, the wrong one the last of them."""
    mended = _mended(wrong.columns(row), row, wrong.fault)
    if turns_of(row) == 1:
        asked = f"{_REPAIR[pick(row, 'repair', len(_REPAIR))]} {wanted(row, free=False)}"
        shown = plain_answer(wrong.columns(row))
        parts = [asked, fenced("python", row["python"]), shown, wrong.evidence]
        return replace(mended, question="\n\n".join(parts))
    first = sft(row)
    if wrong.worse is None:
        earlier = [Exchange(first.question, plain_answer(wrong.columns(row)))]
    else:
        worse = wrong.worse.columns(wrong.columns(row))
        second = _mended(worse, wrong.columns(row), wrong.worse.fault)
        again = replace(second, question=_again(row, wrong.worse, 1))
        earlier = [Exchange(first.question, plain_answer(worse)), again]
    return replace(mended, question=_again(row, wrong, 0), earlier=tuple(earlier))


def _mended(wrong: Row, right: Row, fault: str) -> Exchange:
    """The answer that sets a version right, after what was wrong with it and why."""
    told = [diagnosis(wrong["cuda_plain"], right["cuda_plain"])]
    told.append(launch_diagnosis(wrong["plain_launch"], right["plain_launch"], size_names(right)))
    texts = wrong["cuda_plain"], right["cuda_plain"]
    return Exchange("", plain_answer(right), explained(" ".join(filter(None, told)), fault, *texts))


def _again(row: Row, wrong: Wrong, turn: int) -> str:
    form = (pick(row, "repair/again", len(_AGAIN)) + turn) % len(_AGAIN)
    return f"{_AGAIN[form]} {wrong.evidence}"


_OPTIMISE = (
    "This CUDA kernel is right. Make it faster at the sizes that it is used with.",
    "Speed this kernel up; results must stay what they are.",
    "Optimise this CUDA kernel for the sizes below.",
    "My kernel is too slow. Rewrite it so that a GPU does it in less time.",
)


def optimise(row: Row, slow: Slower) -> Exchange:
    """A slower layout of the row's kernel to the row's, after what is slow in it, with the times
    that a device measured."""
    asked = _OPTIMISE[pick(row, "optimise", len(_OPTIMISE))]
    took, compared = _measured(row, slow)
    told = (asked, row["description"], regime_clause(row), promise_clause(row), took)
    about = " ".join(part for part in told if part)
    text = fenced("cuda", slow.columns["cuda_plain"])
    parts = [about, text, fenced("json", launch_json(slow.columns))]
    made = Exchange("\n\n".join(parts), plain_answer(row), reasons(row, given=slow.schedule))
    return replace(made, reasons=" ".join(filter(None, (made.reasons, compared))))


def _measured(row: Row, slow: Slower) -> tuple[str, str]:
    """What a question and an answer say of measured times; nothing where there are none."""
    if slow.timed is None:
        return "", ""
    names = size_names(row)
    sizes = ", ".join(f"`{names.get(s, s)}` = {number(n)}" for s, n in slow.timed.sizes.items())
    before, after = rounded(slow.slow_us), rounded(slow.timed.own_us)
    return (
        f"Measured on one {slow.timed.device} with {sizes} it takes {before} µs.",
        f"Measured there it takes {after} µs, the kernel given {before} µs.",
    )


def preference(row: Row, worse: Row, for_speed: bool = False) -> Preference:
    """Warp Python to the row's plain CUDA, rather than to that of other columns: to a right one,
    which is slower, where it is asked ``for_speed``."""
    asked = f"{_SFT[pick(row, 'preference', len(_SFT))]} {wanted(row, free=True)}"
    asked += " Make it as fast as you can." if for_speed else ""
    question = f"{asked}\n\n{fenced('python', row['python'])}"
    return Preference(question, plain_answer(row), plain_answer(worse))


EXCHANGES: dict[str, Callable[[Row], Exchange]] = {
    "sft": sft,
    "plain_python": plain_python,
    "array": array,
    "words": words,
    "warp": warp,
    "adjoint": adjoint,
    "reverse": reverse,
    "gradient": gradient,
}
"""Views that need nothing but the row."""
TO_PLAIN = ("sft", "plain_python", "array", "words")
"""Those of them that the row's plain CUDA answers."""

RENAMED, REPAIR, OPTIMISE, PREFERENCE = "renamed", "repair", "optimise", "preference"
TIMED_VIEWS = (OPTIMISE, PREFERENCE)
"""Views that take times from `gpu tune`, where it has left some."""
WRONG_ADJOINTS = "wrong_adjoints"
VIEW_NAMES = (*EXCHANGES, WRONG_ADJOINTS, RENAMED, REPAIR, OPTIMISE, PREFERENCE)
TORCH, AUTOGRAD, KERNELBENCH = "torch", "autograd", "kernelbench"
TENSOR_VIEWS = (TORCH, AUTOGRAD, KERNELBENCH)
"""Views whose texts are run with PyTorch as they are made; they are made where they are named."""
