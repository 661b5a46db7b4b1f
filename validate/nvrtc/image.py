"""What stands in the headers of a cubin, which is an ELF file of 64 bits."""

from __future__ import annotations

import re
import struct

_MAGIC = b"\x7fELF\x02\x01"
_CONSTANT = re.compile(r"\.nv\.constant\d+(?:\.(\w+))?")


def section_bytes(image: bytes) -> dict[str, int]:
    """The size of each section by its name. Raises ValueError for what is no ELF file."""
    if not image.startswith(_MAGIC):
        raise ValueError("the machine code is no ELF file of 64 bits")
    (at,) = struct.unpack_from("<Q", image, 0x28)
    width, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, at + width * k) for k in range(count)]
    names_at = headers[names_index][4]
    found = {}
    for name, _, _, _, _, size in headers:
        start = names_at + name
        found[image[start : image.index(b"\0", start)].decode()] = size
    return found


def constant_bytes(image: bytes, kernel: str) -> int:
    """Bytes of constant memory that a kernel reaches: its parameters, with what the system puts
    before them, literals of its own, and what the module declares."""
    return sum(
        size
        for name, size in section_bytes(image).items()
        if (match := _CONSTANT.fullmatch(name)) and match[1] in (None, kernel)
    )
