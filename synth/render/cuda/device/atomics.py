"""Atomics: calls of what a dialect has, and device functions for what it has not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from generators.program.dtypes import FLOAT32, Scalar, Type, scalar_of
from synth.render.cuda.device.functions import Library, device
from synth.render.cuda.dialect.current import pointer, spoken
from synth.render.cuda.text import Prec, Text, at_least, call
from synth.render.cuda.types import is_builtin_vector, parts
from synth.render.cuda.updates import address_of, unsigned

LOCAL = "local"
"""The space of memory that a block shares; the other is ``""``, global memory."""

_CUDA_NAMES = {
    **{"add": "Add", "exch": "Exch", "min": "Min", "max": "Max", "and": "And", "or": "Or"},
    "xor": "Xor",
}
_WIDE_BY_BITS = ("add", "sub", "exch", "cas", "and", "or", "xor")


class _Update(NamedTuple):
    """An atomic of a scalar: at which address, with what, and in which memory that is."""

    op: str
    scalar: Scalar
    address: str
    value: Text
    compare: Text | None
    space: str

    def called(self, name: str) -> str:
        """The call of a function that takes the address and the value."""
        return f"{name}({self.address}, {self.value.text})"

    def exchanged(self, name: str) -> str:
        """The call of one that takes what it compares with between these."""
        assert self.compare is not None
        return f"{name}({self.address}, {self.compare.text}, {self.value.text})"


def atomic_call(
    lib: Library,
    op: str,
    scalar: Scalar,
    place: Text,
    value: Text,
    compare: Text | None = None,
    space: str = "",
) -> str:
    """The call that updates a scalar in memory."""
    update = _Update(op, scalar, address_of(place), value, compare, space)
    return (_cuda if spoken().overloads else _opencl)(lib, update)


def _cuda(lib: Library, update: _Update) -> str:
    op, scalar, address, value, compare, _ = update
    if scalar.name == "int64" and op in _WIDE_BY_BITS:
        compare = None if compare is None else unsigned(compare)
        address, value = f"(unsigned long long*){address}", unsigned(value)
    update = update._replace(address=address, value=value, compare=compare)
    if op == "cas":
        return update.exchanged("atomicCAS")
    if op == "sub":
        if scalar.bits == 32 and scalar.is_int:
            return update.called("atomicSub")
        return _negative(update).called("atomicAdd")
    if op in ("min", "max") and scalar.is_float:
        return update.called(lib.function(f"atomic_{op}", scalar))
    if op == "exch" and scalar.name == "float64":
        # CUDA exchanges no doubles.
        bits = call("__double_as_longlong", [value])
        update = update._replace(address=f"(unsigned long long*){address}", value=bits)
    return update.called(f"atomic{_CUDA_NAMES[op]}")


def _opencl(lib: Library, update: _Update) -> str:
    op, scalar, address, value, _, space = update
    if scalar.bits == 64:
        lib.extensions.update(_WIDE)
    if scalar.is_float and op in ("sub", "add", "min", "max"):
        if op == "sub":
            op, update = "add", _negative(update)
        return update.called(lib.function(f"atomic_{op}{'_local' if space else ''}", scalar))
    name = f"{_family(scalar)}_{_OPENCL_NAMES.get(op, op)}"
    if op == "cas":
        return update.exchanged(name)
    if op == "exch" and scalar.name == "float64":
        bits = call("as_ulong", [value])
        update = update._replace(address=f"({_volatile('ulong', space)}){address}", value=bits)
    return update.called(name)


def _negative(update: _Update) -> _Update:
    """What subtracts, as what adds."""
    return update._replace(value=Text(f"-{at_least(update.value, Prec.POSTFIX)}"))


_OPENCL_NAMES = {"exch": "xchg", "cas": "cmpxchg"}
_WIDE = ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics")


def _family(scalar: Scalar) -> str:
    """How the names of its atomics begin: those of 64 bits are those of an extension."""
    return "atom" if scalar.bits == 64 else "atomic"


def _volatile(kind: str, space: str) -> str:
    return f"volatile {pointer(kind, False, _space(space))}"


def _space(space: str) -> str:
    return spoken().local if space == LOCAL else spoken().global_


def part_atomics(lib: Library, op: str, type_: Type, space: str = "") -> str:
    """Ask for the device function that updates a composite, a component at a time; its name."""
    name, kind = f"atomic_{op}{'_local' if space and not spoken().overloads else ''}", type_
    spelled, key = lib.spelled(name, type_), (name, (type_,))
    if key not in lib.functions:
        scalar = scalar_of(type_)
        lines = []
        for k, p in enumerate(parts(type_)):
            at = Text(f"address->{p[1:]}")
            if is_builtin_vector(type_) and not spoken().overloads:
                # No address can be had of a component.
                at = Text(f"(({pointer(lib.type(scalar), False, _space(space))})address)[{k}]")
            update = atomic_call(lib, op, scalar, at, Text(f"value{p}"), space=space)
            lines.append(f"    {update};\n")
        address = f"{lib.pointer(kind, space=_space(space))} address"
        head = f"{spoken().function}void {spelled}({address}, {lib.type(kind)} value)"
        lib.functions[key] = f"{head}\n{{\n{''.join(lines)}}}\n"
    return spelled


def _extreme(lib: Library, op: str, s: Scalar) -> str:
    """Bits of floats of one sign are ordered as integers are. What would change nothing is not
    written, as in Warp's own: few values of many are an extreme."""
    kind, zero = ("float", "0.0f") if s == FLOAT32 else ("double", "0.0")
    signed, unsigned_ = (lib.type(Scalar(n)) for n in (f"int{s.bits}", f"uint{s.bits}"))
    as_signed = spoken().called("__float_as_int" if s == FLOAT32 else "__double_as_longlong")
    as_unsigned = f"{spoken().called('__float_as_uint')}(value)"
    if s != FLOAT32:
        as_unsigned = f"({unsigned_}){as_signed}(value)"
    same, other = ("Min", "Max") if op == "min" else ("Max", "Min")
    head = f"{spoken().function}void {lib.spelled(f'atomic_{op}', s)}"
    beyond = "<" if op == "min" else ">"
    return (
        f"{head}({kind}* address, {kind} value)\n{{\n"
        f"    if (!(value {beyond} *(volatile {kind}*)address)) {{\n"
        "        return;\n"
        "    }\n"
        f"    if (value >= {zero}) {{\n"
        f"        atomic{same}(({signed}*)address, {as_signed}(value + {zero}));\n"
        "    } else {\n"
        f"        atomic{other}(({unsigned_}*)address, {as_unsigned});\n"
        "    }\n}\n"
    )


def _exchanged(lib: Library, name: str, s: Scalar, joined: Callable[[str], str], space: str) -> str:
    """A loop that swaps in the joined value as long as others were faster."""
    bits, kind = lib.type(Scalar(f"uint{s.bits}")), lib.type(s)
    if s.bits == 64:
        lib.extensions.update(_WIDE)
    head = f"{spoken().function}void {lib.spelled(name, s)}"
    swap = f"{_family(s)}_cmpxchg(word, expected, as_{bits}({joined(f'as_{kind}(expected)')}))"
    lines = [
        f"{_volatile(bits, space)} word = ({_volatile(bits, space)})address;",
        f"{bits} seen = *word;",
        f"{bits} expected;",
        "do {",
        "    expected = seen;",
        f"    seen = {swap};",
        "} while (seen != expected);",
    ]
    body = "".join(f"    {line}\n" for line in lines)
    return f"{head}({_volatile(kind, space)} address, {kind} value)\n{{\n{body}}}\n"


def _register(op: str, space: str) -> None:
    name = f"atomic_{op}{'_local' if space else ''}"

    @device(name)
    def make(lib: Library, s: Scalar) -> str:
        if spoken().overloads:
            return _extreme(lib, op, s)

        def joined(old: str) -> str:
            return f"{old} + value" if op == "add" else f"f{op}({old}, value)"

        return _exchanged(lib, name, s, joined, space)


for _op in ("add", "min", "max"):
    for _where in ("", LOCAL):
        _register(_op, _where)
