"""Integers of a varying number of bytes: LEB128, zigzag, deltas, lengths, Stream VByte."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both
from generators.control_flow.parallel.lanes import Seq, lanes, length
from generators.kit.functions import where
from generators.kit.naming import routine
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, UINT32, UINT64, INT64 = (Scalar(n) for n in ("uint8", "uint32", "uint64", "int64"))

_SIGNED = {UINT32: INT32, UINT64: INT64}
_BYTES = {UINT32: 5, UINT64: 10}
_ZIGZAG = "by zigzag (0, -1, 1, -2, ... are 0, 1, 2, 3, ...)"
_SIGN = f", coded {_ZIGZAG},"


def _unzigzag(k: KernelBuilder, level: int, value: Expr, type_: Scalar, wraps: bool) -> Expr:
    """The signed number of a zigzag code; as an unsigned one, modulo its range, where it wraps."""
    signed = type_ if wraps else _SIGNED[type_]

    def decoded(_: BodyBuilder, z: Expr) -> Expr:
        if wraps:
            return (z >> 1) ^ (~(z & 1) + 1)
        return cast(z >> 1, signed) ^ -cast(z & 1, signed)

    chance = 0.5 if level > 1 else 0.0
    return routine(k, chance, "zigzag_decode unzigzag", {"z": type_}, decoded)(value)


def _zigzag(value: Expr, type_: Scalar) -> Expr:
    """The zigzag code of a signed number."""
    return cast(where(value < 0, -2 * value - 1, 2 * value), type_)


def _sizes(k: KernelBuilder, level: int) -> Title:
    """How many bytes each number takes: by a loop, or by comparisons."""
    shape = k.draw.shape
    signed = shape.chance(0.4)
    type_ = UINT32 if not signed and shape.chance(0.5) else UINT64
    k.size("num_values", 64, 90)
    (i,) = k.thread("num_values", names=(k.name("i tid"),))
    kind = _SIGNED[type_] if signed else type_
    top = 3_000_000
    values = k.array("values numbers", kind, "num_values", low=-top if signed else 0, high=top)
    code: Expr = values[i]
    if signed:
        own = k.let("value v", values[i])
        code = _zigzag(own, type_)
    rest = k.let("rest z", code)
    size = k.let("size num_bytes", k.lift(1, INT32))
    if shape.chance(0.6) or type_ == UINT64:
        with k.while_(rest >= 128):
            k.assign(rest, rest >> 7)
            k.augment(size, "add", 1)
    else:
        with k.if_(rest >= 1 << 21):
            k.assign(size, 4)
        with k.elif_(rest >= 1 << 14):
            k.assign(size, 3)
        with k.elif_(rest >= 128):
            k.assign(size, 2)
    out = k.out("byte_counts encoded_sizes", INT32, "num_values")
    k.store(out, i, size)
    text = f"{out.name} gets how many bytes each of {values.name} takes as a varint of 7 bits a "
    text += f"byte (at least one byte){f', coded {_ZIGZAG} first' * signed}."
    return Title(k.name("varint_sizes leb128_sizes encoded_lengths"), text)


def _decode_body(k: KernelBuilder, data: Var, pos: Var, type_: Scalar, early: bool) -> Var:
    """The varint at ``pos``, which moves behind it."""
    value = k.let("value result", k.lift(0, type_))
    shift = k.let("shift s", k.lift(0, INT32))
    if early:
        with k.while_(shift < 7 * _BYTES[type_]):
            byte = k.let("byte b", cast(data[pos], type_))
            k.augment(pos, "add", 1)
            k.assign(value, value | ((byte & 127) << cast(shift, type_)))
            with k.if_(byte < 128):
                k.break_()
            k.augment(shift, "add", 7)
        return value
    going = k.let("more going", k.lift(1, INT32))
    with k.while_(both(fn("eq", going, 1), shift < 7 * _BYTES[type_])):
        byte = k.let("byte b", cast(data[pos], type_))
        k.assign(value, value | ((byte & 127) << cast(shift, type_)))
        k.assign(going, cast(byte >> 7, INT32))
        k.augment(shift, "add", 7)
        k.augment(pos, "add", 1)
    return value


def _rule(type_: Scalar) -> str:
    most_bytes = _BYTES[type_]
    return (
        "a varint has 7 bits a byte, lowest first, its last byte below 128, and ends at the latest "
        f"after {most_bytes} bytes (bits from {type_.bits} on are lost)"
    )


def _at_starts(k: KernelBuilder, level: int) -> Title:
    """One varint a thread, at its given start."""
    shape = k.draw.shape
    type_ = shape.choice((UINT32, UINT64))
    signed = shape.chance(0.5)
    k.size("num_values", 40, 64)
    (i,) = k.thread("num_values", names=(k.name("i tid"),))
    data = k.array("data encoded buffer", UINT8, "4*num_values+10", low=0, high=255)
    starts = k.array("starts offsets", INT32, "num_values", init="index_of:4*num_values")
    pos = k.let("pos p", starts[i])
    value = _decode_body(k, data, pos, type_, shape.chance(0.5))
    out = k.out("values decoded", _SIGNED[type_] if signed else type_, "num_values")
    k.store(out, i, _unzigzag(k, level, value, type_, False) if signed else value)
    text = f"Decode the varint of {data.name} that begins at each of {starts.name} into {out.name}"
    text += f"{f', coded {_ZIGZAG}' * signed}: {_rule(type_)}."
    if level >= 2 and shape.chance(0.4):
        sizes = k.out("next_starts ends", INT32, "num_values")
        k.store(sizes, i, pos)
        text += f" {sizes.name} gets where the next one begins."
    return Title(k.name("decode_varints leb128_decode read_varints"), text)


def _streams(k: KernelBuilder, level: int) -> Title:
    """Rows of varints one after another: stored, or differences that are added up."""
    shape = k.draw.shape
    t = lanes(k, level, "row r", layouts="rows rows flat")
    k.size("row_bytes", 18, 26)
    signed = level >= 3 and shape.chance(0.6)
    delta = level >= 3 and shape.chance(0.6)
    data = t.array("data encoded", UINT8, "row_bytes", 0, 255)
    n, counted = length(data, level, ragged=True)
    kind = INT32 if signed and not delta else UINT32
    out = t.array("decoded values_out", kind, "row_bytes", role="out")
    acc = None
    if delta:
        bases = k.array("first_values bases", UINT32, t.dims, low=0, high=5000)
        acc = k.let("current running", bases[t.at])
    pos, number = k.let("pos p", k.lift(0, INT32)), k.let("number q", k.lift(0, INT32))
    with k.while_(pos < n):
        value = _next_number(k, data, pos, n)
        found = _unzigzag(k, level, value, UINT32, delta) if signed else value
        if acc is not None:
            k.augment(acc, "add", found)
            found = acc
        out.put(number, found)
        k.augment(number, "add", 1)
    counts = t.each_out("value_counts num_decoded", INT32)
    k.store(counts, t.at, number)
    with k.for_("j rest", data.whole(), start=number) as j:
        out.put(j, 0)
    text = f"Decode {t.each} of {data.name}{counted}, varints one after another, into {out.name}: "
    text += "7 bits a byte, lowest first, the last byte of one below 128, or the last of the row "
    text += "(bits from 32 on are lost)."
    if signed:
        text += f" They are signed, coded {_ZIGZAG}."
    if acc is not None:
        text += f" They are differences: each value is the one before it, at first {bases.name}, "
        text += "plus the difference (modulo 2^32)."
    text += f" {out.name} gets 0 in the places behind these, and {counts.name} how many numbers "
    text += "there are."
    return Title(k.name("decode_varint_rows varint_rows delta_decode"), text)


def _next_number(k: KernelBuilder, data: Seq, pos: Var, n: Expr) -> Var:
    """The number that begins at ``pos``, which moves behind it."""
    value = k.let("value result", k.lift(0, UINT32))
    shift = k.let("shift s", k.lift(0, INT32))
    with k.while_(pos < n):
        byte = k.let("byte b", cast(data[pos], UINT32))
        k.augment(pos, "add", 1)
        with k.if_(shift < 32):
            k.assign(value, value | ((byte & 127) << cast(shift, UINT32)))
        k.augment(shift, "add", 7)
        with k.if_(byte < 128):
            k.break_()
    return value


def _control(k: KernelBuilder, level: int) -> Title:
    """Stream VByte: two bits of a control byte say how many bytes a number has."""
    shape = k.draw.shape
    k.size("groups", 40, 60)
    (g,) = k.thread("groups", names=(k.name("g group tid"),))
    control = k.array("control control_bytes", UINT8, "groups", low=0, high=255)
    data = k.array("data data_bytes", UINT8, "12*groups+16", low=0, high=255)
    starts = k.array("data_starts offsets", INT32, "groups", init="index_of:12*groups")
    delta = shape.chance(0.5)
    flat = shape.chance(0.5)
    out = k.out("decoded values", UINT32, "4*groups" if flat else ("groups", "4"))
    codes = k.let("codes ctrl", cast(control[g], INT32))
    pos = k.let("pos p", starts[g])
    acc = None
    if delta:
        bases = k.array("group_bases previous_values", UINT32, "groups", low=0, high=100_000)
        acc = k.let("current running", bases[g])
    with k.for_("j lane", 4) as j:
        size = k.let("size num_bytes_j", ((codes >> 2 * j) & 3) + 1)
        value = k.let("value v", k.lift(0, UINT32))
        with k.for_("b byte", size) as b:
            k.assign(value, value | (cast(data[pos + b], UINT32) << cast(8 * b, UINT32)))
        k.augment(pos, "add", size)
        if acc is not None:
            k.augment(acc, "add", value)
        k.store(out, (4 * g + j,) if flat else (g, j), value if acc is None else acc)
    where = f"Element 4 * g + j of {out.name}" if flat else f"Element j of row g of {out.name}"
    text = "Decode Stream VByte: number j of the four of group g takes as many bytes as bits 2 * j "
    text += (
        f"and 2 * j + 1 of {control.name}[g] say, plus one; the bytes, lowest first, follow each "
    )
    text += f"other in {data.name} from {starts.name}[g] on. {where} gets the number"
    if acc is not None:
        text += (
            f" plus the output before it in the group, plus {bases.name}[g] for the first (modulo "
        )
        text += "2^32)"
    return Title(k.name("stream_vbyte decode_groups"), f"{text}.")


def _encode(k: KernelBuilder, level: int) -> Title:
    """Rows of numbers, or of their differences, written as varints."""
    shape = k.draw.shape
    t = lanes(k, level, "row r", layouts="rows")
    k.size("row_values", 6, 9)
    type_ = shape.choice((UINT32, INT32, UINT64, INT64))
    signed = type_ in (INT32, INT64)
    whole = UINT32 if type_.bits == 32 else UINT64
    delta = shape.chance(0.5)
    ascends = delta and not signed
    values = t.array(
        "sorted_values sorted_ids" if ascends else "values ids",
        type_,
        "row_values",
        -40_000 if signed else 0,
        40_000,
        init="sorted" if ascends else "uniform",
    )
    out = t.array("encoded data_out", UINT8, f"{_BYTES[whole]}*row_values", role="out")
    pos = k.let("pos p", k.lift(0, INT32))
    before = k.let("before previous", k.lift(0, type_)) if delta else None
    with k.for_("j q", values.whole()) as j:
        own = k.let("value v", values[j])
        number: Expr = own
        if before is not None:
            number = k.let("gap diff", own - before)
            k.assign(before, own)
        if signed:
            number = _zigzag(number, whole)
        _put_number(k, out, pos, number)
    sizes = t.each_out("encoded_sizes byte_counts", INT32)
    k.store(sizes, t.at, pos)
    with k.for_("e rest_at", out.whole(), start=pos) as e:
        out.put(e, 0)
    what = "the differences of neighbours (the first from 0)" if delta else "the numbers"
    text = f"Encode {t.each} of {values.name}{', ascending' * ascends}: {what}"
    text += f"{_SIGN * signed} become varints one after another, 7 bits a byte, lowest first, all "
    text += f"bytes of one but the last with 128 added. {out.name} gets the bytes of the row "
    text += f"and 0 behind them, and {sizes.name} the number of these bytes."
    return Title(k.name("encode_varint_rows varint_encode delta_varint_encode"), text)


def _put_number(k: KernelBuilder, out: Seq, pos: Var, number: Expr) -> None:
    """Write a varint at ``pos``, which moves behind it."""
    rest = k.let("rest z", number)
    with k.while_(rest >= 128):
        out.put(pos, cast((rest & 127) | 128, UINT8))
        k.assign(rest, rest >> 7)
        k.augment(pos, "add", 1)
    out.put(pos, cast(rest, UINT8))
    k.augment(pos, "add", 1)


@idiom
def varint(k: KernelBuilder, level: int) -> Title:
    """LEB128 and its kin: sizes, numbers at given starts, rows with deltas, Stream VByte."""
    forms = {
        1: (_sizes, _at_starts),
        2: (_at_starts,),
        3: (_streams, _control),
        4: (_streams, _control, _encode),
        5: (_streams, _encode),
    }
    return k.draw.shape.choice(forms[level])(k, level)
