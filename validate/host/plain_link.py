"""Plain CUDA as machine code: compiled behind a precompiled header and linked to the runtime.

What a text is linked to is a list: the functions of the runtime and those of the C library's
mathematics. Nothing else of this process can be reached by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from validate.host import clang
from validate.host.kept import kept_folder, made_once, write_once
from validate.host.objects import ObjectFile
from validate.row.inputs import Array
from validate.text import plain_host
from validate.text.plain_host import SECTIONS, section_name

_RUNTIME = "pairsmith_runtime"
_BOUNDS = "out_of_bounds"
_MOST_VARIABLES = 1 << 24
_LIBM = frozenset(
    name + end
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign"),
        *("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma"),
        *("fmax", "fmin", "fmod", "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp", "lgamma"),
        *("llrint", "llround", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "modf"),
        *("nan", "nearbyint", "nextafter", "pow", "remainder", "remquo", "rint", "round"),
        *("roundeven", "scalbln", "scalbn", "sin", "sincos", "sinh", "sqrt", "tan", "tanh"),
        *("tgamma", "trunc", "y0", "y1", "yn"),
    )
    for end in ("", "f")
)
_OF_THE_COMPILER = frozenset(
    {
        *("memcpy", "memmove", "memset", "memcmp", "__powidf2", "__powisf2", "__popcountdi2"),
        *("__divti3", "__modti3", "__udivti3", "__umodti3", "__multi3", "_GLOBAL_OFFSET_TABLE_"),
        *("__extendhfsf2", "__truncsfhf2", "__truncdfhf2", "__truncsfbf2", "__truncdfbf2"),
        *("__gnu_h2f_ieee", "__gnu_f2h_ieee"),
    }
)


class Linker:
    """Header and runtime of one process, made once."""

    def __init__(self, folder: Path) -> None:
        """Compile both, or take them from the user's cache; `folder` is for where there is none.

        Raises HostRunUnavailable when they do not compile.
        """
        header, source = plain_host.header_text(), plain_host.runtime_text()
        include_dir = kept_folder("plain", *plain_host.FLAGS, header, source) or folder / "plain"
        include_dir.mkdir(exist_ok=True)
        # A worker that follows a dead one finds the header and what was made of it.
        write_once(include_dir / "builtin.h", header)
        self._header = clang.precompile(include_dir, include_dir, plain_host.FLAGS)

        def make(scratch: Path) -> Path:
            clang.build_fast(source, scratch / "runtime.o")
            return scratch / "runtime.o"

        runtime = made_once(include_dir / "runtime.o", make)
        exported = ObjectFile(runtime.read_bytes()).exported
        clang.load(runtime, _RUNTIME)
        self._addresses = {name: clang.lookup(_RUNTIME, name) for name in exported}

    def build(self, rows: Sequence[Mapping[str, Any]], obj_path: Path) -> list[Layout]:
        """Compile the plain texts of rows to an object file that can be loaded.

        Returns where the variables of each lie. Raises CompileError; the log is on standard error,
        or the error's own text.
        """
        text = plain_host.translation_unit(rows)
        clang.build_bare(text, obj_path, (*plain_host.FLAGS, "-include-pch", str(self._header)))
        found = ObjectFile(obj_path.read_bytes())
        strange = [name for name in found.undefined if not self._may_use(name)]
        if strange:
            raise clang.CompileError(f"error: nothing of the name {min(strange)} can be called")
        held = max(
            found.section_bytes(section_name(s, p)) for s in SECTIONS for p in range(len(rows))
        )
        if held > _MOST_VARIABLES:
            raise clang.CompileError(f"error: variables of {held} bytes are too many")
        obj_path.write_bytes(found.linked(self._addresses))
        return [Layout(found, position) for position in range(len(rows))]

    def _may_use(self, name: str) -> bool:
        own = name.startswith(("__start_pairsmith_", "__stop_pairsmith_"))
        return own or name in self._addresses or name in _LIBM or name in _OF_THE_COMPILER


class Layout:
    """What is known of a kernel's object.

    `inside` has, by section, which bytes belong to variables: 1, and 0 in the gaps between them.
    """

    def __init__(self, found: ObjectFile, position: int) -> None:
        self._found, self._position = found, position
        self.inside: list[Array] = []
        for section in SECTIONS:
            name = section_name(section, position)
            inside = np.zeros(found.section_bytes(name), np.uint8)
            for variable in found.variables(name):
                if "pairsmith_gap_" not in variable.name:
                    inside[variable.start : variable.start + variable.size] = 1
            self.inside.append(inside)

    @cached_property
    def checks(self) -> frozenset[int] | None:
        """The places, from the kernel's entry, to which comparisons return that Clang put there to
        check an index: none of the text's own. None: not known on this machine.

        Reading them takes long, and only who asks what a launch compared needs them.
        """
        return _checks(self._found, f"pairsmith_plain_{self._position}_0")


def _checks(found: ObjectFile, entry: str) -> frozenset[int] | None:
    calls = found.calls(entry)
    if calls is None:
        return None
    # What comes next is the block that tells of a bad index, with its count of steps.
    names = [name for _, name in calls]
    return frozenset(
        place
        for number, (place, name) in enumerate(calls)
        if name.startswith("__sanitizer_cov_trace_") and "_cmp" in name
        if any(_BOUNDS in follower for follower in names[number + 1 : number + 3])
    )
