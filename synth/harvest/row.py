"""A kernel that a person wrote becomes a row; also how rows are compared up to names."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from extract import ModuleText, extract_module
from synth.codegen.modules import Generated
from synth.harvest.args import SIZE, SIZE_SYMBOL
from synth.rows.maker import NOT_MEASURED, Row
from validate.row.columns import GRADIENT_COLUMNS, PLAIN_COLUMNS, SCHEMA_VERSION
from validate.row.schema import HARVESTED, row_id

_IDENTIFIER = re.compile(r"(?:::)?[A-Za-z_]\w*")
_HELPER = re.compile(r"(?:adj_)?\w+_\d+\Z|\w*__\w+\Z")
_LITERAL = re.compile(r"\b\d[\w.]*(?:[eE][+-]?\d+)?\b|\"(?:[^\"\\]|\\.)*\"")
_BUILTIN = re.compile(r"\bwp::(\w+)\s*(?:<[^;(]*>)?\(")
_NO_OPS = re.compile(r"adj_.*|.*_t|tid\w*|address|copy|load|where_?|launch_coord.*|tile_shared.*")


def plain_text(generated: Generated) -> str:
    """Warp's text with the names of helpers as a module of this kernel alone would have them."""
    counts: dict[str, int] = {}
    renames = {}
    for name, plain in generated.helpers:
        renames[name] = f"{plain}_{counts.get(plain, 0)}"
        counts[plain] = counts.get(plain, 0) + 1

    def new(match: re.Match[str]) -> str:
        word = match[0]
        prefix = "adj_" if word.startswith("adj_") and word[4:] in renames else ""
        return prefix + renames.get(word[len(prefix) :], word[len(prefix) :])

    return re.sub(r"\b[A-Za-z_]\w*", new, generated.text) if renames else generated.text


def same_up_to_helpers(first: ModuleText, second: ModuleText) -> bool:
    """Whether two modules of one kernel are one text but for the names of helpers and structs."""
    to: dict[str, str] = {}
    back: dict[str, str] = {}
    words = [_IDENTIFIER.findall(_whole(module)) for module in (first, second)]
    rest = [_IDENTIFIER.sub("@", _whole(module)) for module in (first, second)]
    if rest[0] != rest[1] or len(words[0]) != len(words[1]):
        return False
    for a, b in zip(*words, strict=True):
        if a != b and not (_HELPER.match(a) or _HELPER.match(b)):
            return False
        if to.setdefault(a, b) != b or back.setdefault(b, a) != a:
            return False
    return True


def _whole(module: ModuleText) -> str:
    (kernel,) = module.kernels
    return "\0".join((module.prologue, module.helpers, kernel.forward, kernel.backward or ""))


def text_key(row: Row) -> str:
    """What two rows share when their CUDA is one text up to the kernel's name."""
    columns = ("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward")
    text = "\0".join(row[column] or "" for column in columns)
    text = re.sub(rf"\b{row['kernel_name']}_cuda_kernel_", "_cuda_kernel_", text)
    return hashlib.sha256(text.encode()).hexdigest()


def split_key(row: Row) -> str:
    """What decides the split: the CUDA without any name or literal.

    Kernels that differ in names, constants and dtypes alone are never in two splits.
    """
    text = _LITERAL.sub("0", f"{row['cuda_helpers']}\0{row['cuda_forward']}")
    text = re.sub(r"\b(?:wp::)?(?:u?int|float|bool|half|vec|mat|quat)\w*", "T", text)
    order: dict[str, str] = {}
    words = re.sub(
        r"(?<!::)\b[A-Za-z_]\w*", lambda m: order.setdefault(m[0], f"w{len(order)}"), text
    )
    return hashlib.sha256(re.sub(r"\s+", " ", words).encode()).hexdigest()[:16]


def used_builtins(cuda_forward: str, helpers: str) -> list[str]:
    """Names of Warp's builtins that a text calls, without the ones that every kernel has."""
    found = set(_BUILTIN.findall(cuda_forward)) | set(_BUILTIN.findall(helpers))
    return sorted(name for name in found if not _NO_OPS.fullmatch(name))


def describe(kernel: Any, name: str, module: str) -> str:
    """The first paragraph of the kernel's docstring, or where it stands."""
    doc = (kernel.func.__doc__ or "").strip()
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return paragraph or f"The kernel {name} of {module}."


def make_row(
    *,
    name: str,
    python: str,
    description: str,
    cuda: Row,
    args: list[dict[str, Any]],
    dim: list[str],
    block_dim: int,
    provenance: dict[str, Any],
) -> Row:
    """A row whose evidence is still to be measured."""
    identity = row_id(python, name)
    return {
        "schema_version": SCHEMA_VERSION,
        "id": identity,
        "structure": None,
        "category": HARVESTED,
        "idiom": None,
        "level": None,
        "kernel_name": name,
        "description": description,
        "python": python,
        "reference": None,
        "program": None,
        **{column: cuda[column] for column in cuda if column.startswith("cuda_")},
        **dict.fromkeys((*PLAIN_COLUMNS, *GRADIENT_COLUMNS, "array_python", "array_reason")),
        "line_map_python": cuda["line_map_python"],
        "line_map_cuda": cuda["line_map_cuda"],
        "args": args,
        "sizes": [{"symbol": SIZE_SYMBOL, "value": SIZE, "min": 1, "multiple_of": 1}],
        "regime": None,
        "launch": {"dim": dim, "block_dim": block_dim},
        "input_seed": int(identity, 16) >> 1,
        "edge_inputs": [],
        "ops": used_builtins(cuda["cuda_forward"], cuda["cuda_helpers"]),
        "checks": dict(NOT_MEASURED),
        "provenance": provenance,
    }


def extract_alone(text: str, name: str) -> ModuleText:
    """Take the text of one kernel apart; ValueError when the kernel is not there alone."""
    module = extract_module(text, strip_kernel_hash=False)
    names = [kernel.name for kernel in module.kernels]
    if names != [name]:
        raise ValueError(f"the CUDA text holds {', '.join(names) or 'no kernel'}, not {name}")
    return module
