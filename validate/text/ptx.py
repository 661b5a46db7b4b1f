"""PTX text: which kernels it has, and what a kernel amounts to whatever it is called."""

from __future__ import annotations

import re

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
_SPILLS = re.compile(r"(\d+) bytes spill (?:stores|loads)")
_SHARED = re.compile(r"\b(\d+) bytes smem")


def entries(text: str) -> set[str]:
    """The names of the kernels that a module defines; what inline assembly says is not heard."""
    return set(_ENTRY.findall(_INLINE_ASM.sub("", text)))


def resources(log: str) -> dict[str, tuple[int, int, int]]:
    """Registers a thread, spilled bytes (stores and loads) and static shared bytes a kernel.

    `log` is what `ptxas -v` said, whatever the architecture.
    """
    parts = _ENTRY_INFO.split(log)
    found = {}
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        registers = _REGISTERS.search(said)
        if registers is None:
            raise ValueError(f"no registers of {name} in the log of ptxas: {said[:200]}")
        shared = _SHARED.search(said)
        spills = sum(int(number) for number in _SPILLS.findall(said))
        found[name] = (int(registers[1]), spills, int(shared[1]) if shared else 0)
    return found


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
