"""Questions and answers of the training views, from the stored texts of a row.

Each view has several phrasings; which one a row gets follows from its id. A question says all that
its answer depends on: the signature and the style of plain CUDA are asked for in so many words.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from synth.reasons import ViewReason
from synth.render.cuda.style import styles
from synth.views.promise import promise_clause
from synth.views.regime import regime_clause
from synth.views.sizes import said, shapes_clause, size_names
from validate.row.tiles import is_tiled, places
from validate.statuses import AdjointStatus
from validate.text.launches import FORMULA

Row = Mapping[str, Any]


class LeftOut(Exception):  # noqa: N818 - no error: a row that a view has no use for
    """A row has nothing for a view; ``reason`` is counted."""

    def __init__(self, reason: ViewReason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Exchange:
    """One question and its answer."""

    question: str
    answer: str


def pick(row: Row, what: str, count: int) -> int:
    """A number below ``count`` that follows from the row's id and what it is for."""
    digest = hashlib.sha256(f"{what}/{row['id']}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % count


def fenced(language: str, text: str) -> str:
    """A text as a block of Markdown."""
    return f"```{language}\n{text.strip(chr(10))}\n```"


def plain_answer(row: Row) -> str:
    """The plain CUDA of a row and how it is launched."""
    # A sentence goes on in its line; after a block of several launches it stands apart.
    gap = "\n\n" if len(row["plain_launch"]) > 1 else " "
    ends = gap.join(part for part in (_launch(row), _reason(row)) if part)
    return f"{fenced('cuda', row['cuda_plain'])}\n\n{ends}"


def wanted(row: Row) -> str:
    """What is asked of plain CUDA beyond what it computes: signature, block and style."""
    args = ", ".join(f"{arg['type']} {arg['name']}" for arg in row["plain_args"])
    schedule = json.loads(row["schedule"])
    block = " x ".join(map(str, row["plain_launch"][0]["block"]))
    asked = [f"The signature is `{row['kernel_name']}({args})`, for blocks of {block} threads."]
    if len(row["plain_launch"]) > 1:
        asked = [
            f"The kernels have blocks of {block} threads and take of `{args}` what they need. "
            "Tell their launches in order and their scratch memory as JSON."
        ]
    if structs := _structs(row, args):
        asked.append(f"There, {' and '.join(f'`{struct}`' for struct in structs)}.")
    if shapes := shapes_clause(row):
        asked.append(shapes)
    if regime := regime_clause(row):
        asked.append(regime)
    if promised := promise_clause(row):
        asked.append(promised)
    if style := styles()[schedule["style"]].asks(schedule):
        asked.append(style)
    if schedule.get("launch_bounds"):
        asked.append("Declare the launch bounds.")
    return " ".join(asked)


def _structs(row: Row, signature: str) -> list[str]:
    """Declarations of the structs that a signature needs, each in one line, in the text's order."""
    found = re.findall(r"^struct (\w+) \{(.*?)^\};", row["cuda_plain"], re.DOTALL | re.MULTILINE)
    declared = {name: " ".join(body.split()) for name, body in found}
    needed: set[str] = set()
    left = [signature]
    while left:
        words = {word for word in re.findall(r"\w+", left.pop()) if word in declared}
        left += [declared[name] for name in words - needed]
        needed |= words
    return [f"struct {name} {{ {body} }};" for name, body in declared.items() if name in needed]


_LIMITS = {
    "memory": "the time goes to memory traffic",
    "cache": "the time goes to what the caches are asked for",
    "instructions": "the time goes to instructions",
    "atomics": "the time goes to atomics",
    "latency": "the time is what one thread takes from its start to its end",
}


def _reason(row: Row) -> str:
    """Why the kernel is laid out like that: what limits it, and what its style does about it."""
    schedule = json.loads(row["schedule"])
    if not schedule["limits"]:
        return ""
    because = styles()[schedule["style"]].because
    more = f"; {because}" if because else ""
    return f"At these sizes {_LIMITS[schedule['limits']]}{more}."


def _launch(row: Row) -> str:
    names = size_names(row)
    if len(row["plain_launch"]) > 1:
        return fenced("json", _launches(row, names))
    (launch,) = row["plain_launch"]
    grid = ", ".join(said(extent, names) for extent in launch["grid"])
    block = ", ".join(map(str, launch["block"]))
    shared = launch["shared_bytes"]
    more = f", {shared} bytes of dynamic shared memory" if shared else ""
    return f"Launch it with the grid ({grid}) and the block ({block}){more}."


def _launches(row: Row, names: Mapping[str, str]) -> str:
    """Several launches and their scratch memory, with parameters' names for sizes, an entry a line:
    what `validate.text.launches.said_launches` reads."""
    launches = [
        {
            "kernel": one["kernel"],
            "args": [said(a, names) if a.startswith(FORMULA) else a for a in one["args"]],
            "grid": [said(extent, names) for extent in one["grid"]],
            "block": one["block"],
            **({"shared_bytes": one["shared_bytes"]} if one["shared_bytes"] else {}),
        }
        for one in row["plain_launch"]
    ]
    scratch = [{**entry, "count": said(entry["count"], names)} for entry in row["plain_scratch"]]
    lists = [("launches", launches), ("scratch", scratch)]
    parts = [
        f'  "{key}": [\n' + ",\n".join(f"    {json.dumps(entry)}" for entry in entries) + "\n  ]"
        for key, entries in lists
        if entries
    ]
    return "{\n" + ",\n".join(parts) + "\n}"


def _needs(row: Row, column: str, reason: ViewReason) -> str:
    text = row[column]
    if text is None:
        raise LeftOut(reason)
    return str(text)


_SFT = (
    "Translate this NVIDIA Warp kernel into plain CUDA C++ that does not use Warp.",
    "Write the CUDA C++ kernel that does what this Warp kernel does.",
    "Port this kernel from Warp Python to CUDA C++.",
    "Here is a GPU kernel in Warp. Rewrite it as a CUDA kernel without Warp.",
    "Turn the Python below, an NVIDIA Warp kernel, into an equivalent CUDA `__global__` function.",
    "I prototyped this kernel in Warp. Give me the CUDA C++ version for production.",
    "Convert to CUDA C++. It must hold for all sizes and for all inputs of the ranges given.",
    "Implement the following Warp kernel by hand in CUDA C++.",
)


def sft(row: Row) -> Exchange:
    """Warp Python to plain CUDA."""
    _needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    about = f" {row['description']}" if pick(row, "sft/about", 3) == 0 else ""
    asked = f"{_SFT[pick(row, 'sft', len(_SFT))]}{about} {wanted(row)}"
    return Exchange(f"{asked}\n\n{fenced('python', row['python'])}", plain_answer(row))


_PLAIN_PYTHON = (
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
    """The plain Python reference to plain CUDA."""
    _needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    reference = _needs(row, "reference", ViewReason.NO_REFERENCE)
    forms = _PLAIN_BLOCKS if is_tiled(row) else _PLAIN_PYTHON
    asked = f"{forms[pick(row, 'plain_python', len(forms))]} {wanted(row)}"
    return Exchange(f"{asked}\n\n{fenced('python', reference)}", plain_answer(row))


_ARRAY = (
    "Write this NumPy function as a CUDA C++ kernel.",
    "The NumPy below makes temporary arrays. Fuse it into CUDA that needs none.",
    "Here is array code in NumPy. Give me the CUDA kernel that computes the same in one go.",
    "Port this vectorised NumPy to a CUDA `__global__` function.",
    "Speed this NumPy up with a CUDA C++ kernel; outputs go to arrays of the names returned.",
    "Implement what this NumPy function returns as CUDA C++.",
)


def array(row: Row) -> Exchange:
    """NumPy on whole arrays to plain CUDA."""
    _needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    text = _needs(row, "array_python", ViewReason.NO_ARRAY_PYTHON)
    about = f" {row['description']}" if pick(row, "array/about", 3) == 0 else ""
    asked = f"{_ARRAY[pick(row, 'array', len(_ARRAY))]}{about} {wanted(row)}"
    return Exchange(f"{asked}\n\n{fenced('python', text)}", plain_answer(row))


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
    backward = _needs(row, "cuda_backward", ViewReason.NO_ADJOINT)
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
    text = _needs(row, "cuda_plain", ViewReason.NO_PLAIN_CUDA)
    dims, of = places(row, row["launch"]["dim"]), ""
    if is_tiled(row):
        of = f" blocks of {row['launch']['block_dim']} threads"
    dim = ", ".join(said(extent, size_names(row)) for extent in dims)
    asked = f"{_REVERSE[pick(row, 'reverse', len(_REVERSE))]} It is launched over ({dim}){of}."
    if shapes := shapes_clause(row):
        asked = f"{asked} {shapes}"
    return Exchange(f"{asked}\n\n{fenced('cuda', text)}", fenced("python", row["python"]))


_REPAIR = (
    "This CUDA kernel is to do what the Warp kernel does, and it is wrong. Repair it.",
    "Find the mistake in this CUDA version of the Warp kernel and give the corrected kernel.",
    "The CUDA port below fails its test. Fix it.",
    "Debug this CUDA kernel: it should compute what the Python computes.",
)


def repair(row: Row, wrong: str, evidence: str) -> Exchange:
    """A wrong kernel, and what was said of it, to the right one."""
    asked = f"{_REPAIR[pick(row, 'repair', len(_REPAIR))]} {wanted(row)}"
    parts = [asked, fenced("python", row["python"]), fenced("cuda", wrong), evidence]
    return Exchange("\n\n".join(parts), plain_answer(row))


EXCHANGES: dict[str, Callable[[Row], Exchange]] = {
    "sft": sft,
    "plain_python": plain_python,
    "array": array,
    "warp": warp,
    "adjoint": adjoint,
    "reverse": reverse,
}
"""Views that need nothing but the row."""

RENAMED, REPAIR = "renamed", "repair"
VIEW_NAMES = (*EXCHANGES, RENAMED, REPAIR)
