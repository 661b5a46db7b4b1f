"""Which kernel of an answer is launched, and with which template arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from validate.text.device import Kernel
from validate.text.formula import bytes_of, evaluate
from validate.text.lexer import Token
from validate.text.meaning import Meaning, Unclear
from validate.text.toplevel import split_at

_TYPE_WORDS = frozenset({"typename", "class"})
_NO_TYPE = frozenset({"const", "volatile", "*", "&", "__restrict__", "__restrict", "restrict"})


class Unchosen(ValueError):  # noqa: N818 - what is wrong with a text, not with us
    """There is no kernel to launch, or it is not known which."""


def choose(kernels: Sequence[Kernel], launched: Sequence[str], row: Mapping[str, Any]) -> Kernel:
    """The kernel that is launched, or bears the row's name, or alone takes as many parameters.

    Raises Unchosen.
    """
    if not kernels:
        raise Unchosen("there is no __global__ void kernel")
    names = {kernel.name: kernel for kernel in kernels}
    fitting = [k for k in names.values() if len(k.parameters) == len(row["plain_args"])]
    for among in (fitting, list(names.values())):
        for name in launched:
            for kernel in among:
                if kernel.short_name == name:
                    return kernel
        for kernel in among:
            if kernel.short_name == row["kernel_name"]:
                return kernel
        if len(among) == 1:
            return among[0]
    raise Unchosen(f"one kernel is launched, there are {len(names)}, and it is not said which")


def instance(
    kernel: Kernel, given: Sequence[Token], meaning: Meaning, row: Mapping[str, Any]
) -> tuple[str, dict[str, str]]:
    """How to name a kernel in C++, and what its template parameters stand for.

    `given` are the template arguments of its launch. Raises Unchosen when one is not known.
    """
    passed = split_at(given, angles=True)
    known: dict[str, str] = {}
    written: list[str] = []
    for place, parameter in enumerate(kernel.template):
        texts = [token.text for token in parameter]
        default = texts.index("=") if "=" in texts else len(texts)
        name = texts[default - 1] if default else ""
        is_type = bool(texts) and texts[0] in _TYPE_WORDS
        own = passed[place] if place < len(passed) else None
        found = _argument(kernel, name, is_type, own, meaning, row)
        if found is None and default < len(texts) and own is None:
            break
        if found is None:
            raise Unchosen(f"the template argument {name} of {kernel.name} is not said")
        known[name] = found
        written.append(found)
    return (f"{kernel.name}<{', '.join(written)}>" if kernel.template else kernel.name), known


def _argument(
    kernel: Kernel,
    name: str,
    is_type: bool,
    own: Sequence[Token] | None,
    meaning: Meaning,
    row: Mapping[str, Any],
) -> str | None:
    if is_type:
        words = [token.text for token in own or ()]
        if words and (bytes_of(tuple(words)) is not None or _deduced(kernel, name, row) is None):
            return " ".join(words)
        return _deduced(kernel, name, row)
    if own is None:
        return None
    try:
        return str(evaluate(meaning.formula(own), {}))
    except (Unclear, ValueError):
        # `Op::Sum` and the like are the text's own.
        texts = [token.text for token in own]
        return "".join(texts) if "::" in texts else None


def _deduced(kernel: Kernel, name: str, row: Mapping[str, Any]) -> str | None:
    """What the row has where a kernel takes `name`, `name*` or `const name*`."""
    for parameter, arg in zip(kernel.parameters, row["plain_args"], strict=False):
        texts = [token.text for token in parameter]
        kind = [text for text in texts[:-1] if text not in _NO_TYPE]
        words = [word for word in arg["type"].replace("*", " * ").split() if word != "const"]
        if kind == [name] and texts.count("*") == words.count("*"):
            return " ".join(word for word in words if word != "*")
    return None


def most_threads(kernel: Kernel, meaning: Meaning, given: Mapping[str, str]) -> int | None:
    """The threads of a block that `__launch_bounds__` promises; None when it is not clear."""
    if not kernel.bounds:
        return None
    try:
        return evaluate(meaning.formula(kernel.bounds, given), {})
    except (Unclear, ValueError):
        return None
