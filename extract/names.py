"""Take Warp's hash suffixes off the names of structs and kernels."""

import re
from collections.abc import Iterator

from extract.errors import ExtractError, line_of

_STRUCT = re.compile(r"struct[ \t]+(?P<full>(?P<name>\w+)_[0-9a-f]{8})\s*\{")
_KERNEL_HASH = re.compile(r"_[0-9a-f]{8}$")
_FORWARD, _BACKWARD = "_cuda_kernel_forward", "_cuda_kernel_backward"
_ADJOINT = "adj_"


def struct_renames(masked: str) -> dict[str, str]:
    """Map ``Particle_7d17593e`` to ``Particle`` for each struct that ``masked`` declares.

    Raises:
        ExtractError: two structs would get one name, or the name has another meaning already.
    """
    renames: dict[str, str] = {}
    for match in _struct_headers(masked):
        full, name = match["full"], match["name"]
        if name in renames.values() and full not in renames:
            line = line_of(masked, match.start("full"))
            raise ExtractError(f"line {line}: two structs would both be called {name}")
        if _in_use(name, masked):
            line = line_of(masked, match.start("full"))
            raise ExtractError(f"line {line}: struct {full} can not be called {name}: name in use")
        renames[full] = name
    return renames


def kernel_renames(symbols: list[str]) -> dict[str, str]:
    """Map ``relax_7d17593e_cuda_kernel_forward`` to ``relax_cuda_kernel_forward`` and so on.

    Warp gives the hash to all kernels of a module or to none, so names that only look hashed
    (``frame_20240101`` beside ``blend``) are left alone.

    Raises:
        ExtractError: two kernels would get one name.
    """
    renames = {symbol: _without_hash(symbol) for symbol in symbols}
    if any(old == new for old, new in renames.items()):
        return {}
    if len(set(renames.values())) < len(renames):
        raise ExtractError("two kernels would get one name without their hash suffixes")
    return renames


def split_symbol(symbol: str) -> tuple[str, bool]:
    """Return the kernel name in ``symbol`` and whether it is the backward kernel."""
    if symbol.endswith(_BACKWARD):
        return symbol[: -len(_BACKWARD)], True
    return symbol.removesuffix(_FORWARD), False


def rename(text: str, renames: dict[str, str]) -> str:
    """Replace whole names in ``text``, old to new, also behind ``adj_``."""
    present = [name for name in renames if name in text]
    if not present:
        return text
    parts: list[str] = []
    done = 0
    for at, old in sorted((at, name) for name in present for at in _renamed_at(name, text)):
        if at >= done:
            parts += text[done:at], renames[old]
            done = at + len(old)
    parts.append(text[done:])
    return "".join(parts)


def _struct_headers(masked: str) -> Iterator[re.Match[str]]:
    """Yield the struct headers that stand first on their line."""
    known = 0
    for match in _STRUCT.finditer(masked):
        line_start = masked.rfind("\n", known, match.start()) + 1
        before = masked[line_start or known : match.start()]
        known = match.end() - 1  # a brace: what follows it on its line is not first
        if not before.strip(" \t"):
            yield match


def _without_hash(symbol: str) -> str:
    name, _ = split_symbol(symbol)
    return _KERNEL_HASH.sub("", name) + symbol[len(name) :]


def _in_use(name: str, masked: str) -> bool:
    """Tell whether ``name`` stands alone somewhere.

    A qualified name (``wp::Mesh``) lives elsewhere and can not be mistaken.
    """
    return any(
        _starts_word(masked, at) and masked[max(0, at - 2) : at] != "::"
        for at in _word_ends(name, masked)
    )


def _renamed_at(name: str, text: str) -> Iterator[int]:
    """Yield where ``name`` stands alone or behind ``adj_``."""
    for at in _word_ends(name, text):
        before = at - len(_ADJOINT)
        if _starts_word(text, at) or (
            text.startswith(_ADJOINT, max(0, before)) and _starts_word(text, before)
        ):
            yield at


def _word_ends(name: str, text: str) -> Iterator[int]:
    """Yield where ``name`` is a word of ``text`` or the end of one.

    A compiled pattern for each name would cost more than all the search.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _is_word(text[end : end + 1]):
            yield at
        at = text.find(name, at + 1)


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or not _is_word(text[at - 1])


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
