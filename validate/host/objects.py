"""ELF object files as Clang writes them: what they ask for and hold, and linking them by hand.

A text's object is linked to a list of addresses and to nothing else: the loader would resolve any
symbol of this process, and a text may declare any. Format: "Tool Interface Standard (TIS)
Executable and Linking Format (ELF) Specification", version 1.2, and the ELF-64 object file format.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_HEADER = np.dtype(
    [
        ("ident", "V16"),
        *[(name, "<u2") for name in ("type", "machine")],
        ("version", "<u4"),
        *[(name, "<u8") for name in ("entry", "program_at", "sections_at")],
        ("flags", "<u4"),
        *[(name, "<u2") for name in ("size", "program_size", "programs", "section_size")],
        *[(name, "<u2") for name in ("sections", "names")],
    ]
)
_SECTION = np.dtype(
    [
        *[(name, "<u4") for name in ("name", "type")],
        *[(name, "<u8") for name in ("flags", "address", "at", "size")],
        *[(name, "<u4") for name in ("link", "info")],
        *[(name, "<u8") for name in ("align", "entry_size")],
    ]
)
_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("value", "<u8"),
        ("size", "<u8"),
    ]
)
_RELOCATION = np.dtype([("at", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
_PROGRAM_BITS, _SYMBOL_TABLE, _RELOCATIONS, _ALLOCATED_CODE = 1, 2, 4, 6
_X86_64 = 62
# `call *%rax` and its kin; the most bytes from what names a function to its call.
_CALL, _CALLED_WITHIN = re.compile(rb"\xff[\xd0-\xd7]"), 48
_IN_PROCESS, _VARIABLE, _GLOBAL_FUNCTION = 0, 1, 0x12
# By machine, a jump to the address that follows: `jmp *0(%rip)` behind a pad; `ldr x16, 8` and
# `br x16`.
_JUMPS = {
    62: bytes.fromhex("6690ff2500000000"),
    183: bytes.fromhex("5000005800021fd6"),
}


@dataclass(frozen=True)
class Variable:
    """A variable of a section: its name, where it starts in the section, and its bytes."""

    name: str
    start: int
    size: int


class ObjectFile:
    """One relocatable ELF-64 file. Raises ValueError for other bytes."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no little-endian ELF-64 object")
        self.data = data
        self._header = header = np.frombuffer(data, _HEADER, 1)[0]
        self._sections = np.frombuffer(
            data, _SECTION, int(header["sections"]), int(header["sections_at"])
        )
        (table,) = (s for s in self._sections if s["type"] == _SYMBOL_TABLE)
        self._table_at = int(table["at"])
        count = int(table["size"]) // _SYMBOL.itemsize
        self._symbols = np.frombuffer(data, _SYMBOL, count, self._table_at)
        self._strings_at = int(self._sections[table["link"]]["at"])
        self._names_at = int(self._sections[header["names"]]["at"])

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode("ascii", "replace")

    @cached_property
    def _names(self) -> list[str]:
        return [self._text(self._strings_at + at) for at in self._symbols["name"].tolist()]

    @cached_property
    def _section_names(self) -> list[str]:
        return [self._text(self._names_at + at) for at in self._sections["name"].tolist()]

    @cached_property
    def undefined(self) -> list[str]:
        """Names of the symbols that must come from elsewhere."""
        places = zip(self._names, self._symbols["section"].tolist(), strict=True)
        return [name for name, section in places if name and section == _IN_PROCESS]

    @cached_property
    def exported(self) -> list[str]:
        """Names of the symbols that others could be linked to."""
        of = (self._names, self._symbols["section"].tolist(), self._symbols["info"].tolist())
        return [n for n, section, info in zip(*of, strict=True) if n and section and info >> 4]

    def section_bytes(self, section: str) -> int:
        """The size of a section; 0 where there is no such section."""
        sizes = zip(self._section_names, self._sections["size"].tolist(), strict=True)
        return sum(size for name, size in sizes if name == section)

    def variables(self, section: str) -> list[Variable]:
        """What lies in a section, by start; none where there is no such section."""
        numbers = [n for n, name in enumerate(self._section_names) if name == section]
        there = np.isin(self._symbols["section"], numbers) & (
            self._symbols["info"] & 15 == _VARIABLE
        )
        found = [
            Variable(self._names[n], int(self._symbols["value"][n]), int(self._symbols["size"][n]))
            for n in np.flatnonzero(there).tolist()
        ]
        return sorted(found, key=lambda variable: variable.start)

    def calls(self, section_of: str) -> list[tuple[int, str]] | None:
        """Calls of other functions in the section of a symbol, by place: where each returns to,
        from the start of that symbol, and the name of what is called.

        None on machines whose code is not read here.
        """
        if int(self._header["machine"]) != _X86_64:
            return None
        place = self._symbols[self._names.index(section_of)]
        number = int(place["section"])
        start = int(self._sections[number]["at"])
        found = []
        for table in self._sections[self._sections["info"] == number]:
            if table["type"] != _RELOCATIONS:
                continue
            count = int(table["size"]) // _RELOCATION.itemsize
            entries = np.frombuffer(self.data, _RELOCATION, count, int(table["at"]))
            foreign = self._symbols["section"][entries["symbol"]] == _IN_PROCESS
            of = (entries["at"][foreign].tolist(), entries["symbol"][foreign].tolist())
            for at, symbol in zip(*of, strict=True):
                after = start + at + 8
                call = _CALL.search(self.data, after, after + _CALLED_WITHIN)
                if call is not None:
                    found.append((call.end() - start - int(place["value"]), self._names[symbol]))
        return sorted(found)

    def linked(self, addresses: Mapping[str, int]) -> bytes:
        """The file with its undefined functions at these addresses; names not in it stay so.

        Each becomes a jump in a section of its own: the loader knows no absolute symbols.
        """
        wanted = [
            (number, addresses[name])
            for number, name in enumerate(self._names)
            if name in addresses and self._symbols[number]["section"] == _IN_PROCESS
        ]
        jump = _JUMPS[int(self._header["machine"])]
        code = b"".join(jump + address.to_bytes(8, "little") for _, address in wanted)
        made = bytearray(self.data)
        table = np.frombuffer(made, _SYMBOL, len(self._symbols), self._table_at)
        for place, (number, _) in enumerate(wanted):
            table[number]["section"] = len(self._sections)
            table[number]["value"] = place * (len(jump) + 8)
            table[number]["info"] = _GLOBAL_FUNCTION
        del table
        return bytes(self._with_section(made, code))

    def _with_section(self, made: bytearray, code: bytes) -> bytearray:
        """The file with code in a further section, the table of sections behind it."""
        names = self._sections[int(self._header["names"])]
        held = self.data[int(names["at"]) : int(names["at"] + names["size"])]
        sections = np.concatenate([self._sections, np.zeros(1, _SECTION)])
        made += bytes(-len(made) % 16)
        sections[-1]["name"], sections[-1]["type"] = len(held), _PROGRAM_BITS
        sections[-1]["flags"], sections[-1]["align"] = _ALLOCATED_CODE, 16
        sections[-1]["at"], sections[-1]["size"] = len(made), len(code)
        made += code
        held += b".text.links\0"
        sections[int(self._header["names"])]["at"] = len(made)
        sections[int(self._header["names"])]["size"] = len(held)
        made += held
        made += bytes(-len(made) % 16)
        header = self._header.copy()
        header["sections_at"], header["sections"] = len(made), len(sections)
        made += sections.tobytes()
        made[: _HEADER.itemsize] = header.tobytes()
        return made
