"""Take Warp's hash suffixes off the names of structs and kernels."""

import re

from extract.errors import ExtractError, line_of

_STRUCT = re.compile(r"^[ \t]*struct[ \t]+(?P<full>(?P<name>\w+)_[0-9a-f]{8})\s*\{", re.MULTILINE)
_KERNEL_HASH = re.compile(r"_[0-9a-f]{8}$")
_FORWARD, _BACKWARD = "_cuda_kernel_forward", "_cuda_kernel_backward"


def struct_renames(masked: str) -> dict[str, str]:
    """Map ``Particle_7d17593e`` to ``Particle`` for each struct that ``masked`` declares.

    Raises:
        ExtractError: two structs would get one name, or the name has another meaning already.
    """
    renames: dict[str, str] = {}
    for match in _STRUCT.finditer(masked):
        full, name = match["full"], match["name"]
        line = line_of(masked, match.start("full"))
        if name in renames.values() and full not in renames:
            raise ExtractError(f"line {line}: two structs would both be called {name}")
        # a qualified name (wp::Mesh) lives elsewhere and can not be mistaken
        if re.search(rf"(?<!::)\b{name}\b", masked):
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


def _without_hash(symbol: str) -> str:
    name, _ = split_symbol(symbol)
    return _KERNEL_HASH.sub("", name) + symbol[len(name) :]


def renamer(renames: dict[str, str]) -> re.Pattern[str] | None:
    """Return the pattern of the names to replace, also behind ``adj_``; None without names."""
    if not renames:
        return None
    names = "|".join(sorted(map(re.escape, renames), key=len, reverse=True))
    return re.compile(rf"(?:\b|(?<=\badj_))(?:{names})\b")
