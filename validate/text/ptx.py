"""PTX text: which kernels it has, and what a kernel amounts to whatever it is called."""

from __future__ import annotations

import re
from dataclasses import dataclass

_INLINE_ASM = re.compile(r"// begin inline asm\n.*?// end inline asm\n", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*")
_ENTRY = re.compile(r"^\.visible \.entry (\w+)\(", re.MULTILINE)
_SYMBOL = re.compile(r"[%$]?[A-Za-z_$][\w$]*")
# Numbered by the function's place in the module.
_POSITIONAL = re.compile(r"\$L__BB\d+_\d+|__local_depot\d+|\bcallseq \d+")
_HEAD = re.compile(r"^\.(?:version|target|address_size)\b")
_ITEM_NAME = re.compile(r"([A-Za-z_$][\w$]*)\s*(?:\[|\(|=|;|$)")

_ENTRY_INFO = re.compile(r"Compiling entry function '(\w+)'")
_REGISTERS = re.compile(r"Used (\d+) registers")
_BARRIERS = re.compile(r"used (\d+) barriers")
_STORES = re.compile(r"(\d+) bytes spill stores")
_LOADS = re.compile(r"(\d+) bytes spill loads")
_SHARED = re.compile(r"\b(\d+) bytes smem")
_FRAME = re.compile(r"(\d+) bytes stack frame")
_STACK = re.compile(r"(\d+) bytes cumulative stack size")
# What -lineinfo adds.
_LINE_INFO = re.compile(
    r"^\t\.(?:loc|file)\t[^\n]*\n|^\t\.section\t\.debug_\w+\n\t\{\n.*?^\t\}\n?",
    re.DOTALL | re.MULTILINE,
)


def entries(text: str) -> set[str]:
    """The names of the kernels that a module defines; what inline assembly says is not heard."""
    return set(_ENTRY.findall(_INLINE_ASM.sub("", text)))


@dataclass(frozen=True)
class Usage:
    """What a kernel needs: registers a thread, bytes of a thread's spills that the machine code
    stores and loads (in functions that were not inlined too), static shared memory of a block, the
    stack of a thread (with that of called functions, where ptxas adds them up), and named
    barriers."""

    registers: int
    spill_stores: int
    spill_loads: int
    shared_bytes: int
    stack_bytes: int
    barriers: int


def usage(log: str) -> dict[str, Usage]:
    """What each kernel needs. `log` is what `ptxas -v` said, whatever the architecture.

    Raises ValueError for a log that does not say how many registers a kernel has.
    """
    parts = _ENTRY_INFO.split(log)
    found = {}
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        if _REGISTERS.search(said) is None:
            raise ValueError(f"no registers of {name} in the log of ptxas: {said[:200]}")
        stack = _STACK.search(said) or _FRAME.search(said)
        found[name] = Usage(
            registers=_first(_REGISTERS, said),
            spill_stores=sum(map(int, _STORES.findall(said))),
            spill_loads=sum(map(int, _LOADS.findall(said))),
            shared_bytes=_first(_SHARED, said),
            stack_bytes=int(stack[1]) if stack else 0,
            barriers=_first(_BARRIERS, said),
        )
    return found


def _first(pattern: re.Pattern[str], said: str) -> int:
    match = pattern.search(said)
    return int(match[1]) if match else 0


def resources(log: str) -> dict[str, tuple[int, int, int]]:
    """Registers a thread, spilled bytes (stores and loads) and static shared bytes a kernel."""
    return {
        name: (one.registers, one.spill_stores + one.spill_loads, one.shared_bytes)
        for name, one in usage(log).items()
    }


def without_line_info(text: str) -> str:
    """PTX as it would be had it not been asked for lines of the source, without empty lines at its
    end."""
    return _LINE_INFO.sub("", text).rstrip() + "\n"


class Module:
    """The definitions of a PTX module by name."""

    def __init__(self, text: str) -> None:
        """Split a module at its outermost definitions; comments go."""
        self._items: dict[str, str] = {}
        for item in _items(_COMMENT.sub("", text)):
            self._items.setdefault(_name_of(item), item)

    def normalised(self, kernel: str) -> str | None:
        """A kernel and all it refers to, with names by order of appearance; None if not there.

        Labels, names of kernels, functions and variables carry no meaning here; registers are
        numbered a function already.
        """
        if kernel not in self._items:
            return None
        order = {kernel: 0}
        queue = [kernel]
        for name in queue:
            for symbol in _SYMBOL.findall(self._items[name]):
                if symbol in self._items and symbol not in order:
                    order[symbol] = len(order)
                    queue.append(symbol)
        text = "\n".join(self._renamed(name, order) for name in queue)
        labels: dict[str, str] = {}
        text = _POSITIONAL.sub(lambda m: labels.setdefault(m[0], f"L{len(labels)}"), text)
        return "\n".join(line for raw in text.splitlines() if (line := " ".join(raw.split())))

    def _renamed(self, name: str, order: dict[str, int]) -> str:
        def rename(match: re.Match[str]) -> str:
            word = match[0]
            if word in order:
                return f"name{order[word]}"
            for prefix in (f"{name}_param_", f"{name}_retval"):
                if word.startswith(prefix):
                    return f"{prefix.removeprefix(name).lstrip('_')}{word.removeprefix(prefix)}"
            return word

        return _SYMBOL.sub(rename, self._items[name])


def _items(text: str) -> list[str]:
    """Definitions at the outermost level: up to a semicolon, or a body in braces."""
    found: list[str] = []
    part: list[str] = []
    depth = 0
    body = False
    for line in text.splitlines():
        if not part and (not line.strip() or _HEAD.match(line)):
            continue
        if depth and line.lstrip().startswith(".shared "):
            # A variable that only one function uses is declared in it.
            found.append(line.strip())
            continue
        part.append(line)
        depth += line.count("{") - line.count("}")
        body = body or line.strip().startswith("{")
        if depth == 0 and (line.rstrip().endswith(";") or (body and line.strip() == "}")):
            found.append("\n".join(part))
            part, body = [], False
    return found


def _name_of(item: str) -> str:
    # ".func (.param .b32 retval) name(" names its result first.
    head = re.sub(r"^(\.(?:visible|weak|extern)\s+)?\.func\s*\([^)]*\)", "", item)
    match = _ITEM_NAME.search(head)
    return match[1] if match else ""
