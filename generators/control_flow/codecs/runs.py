"""Run-length codes: values by a search into run ends, runs of rows, PackBits, mixed runs."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, branch, index, same
from generators.control_flow.parallel.lanes import Seq, lanes, length, named
from generators.kit.functions import least, most
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, UINT32, INT8 = Scalar("uint8"), Scalar("uint32"), Scalar("int8")

_TYPES = {INT32: 3, FLOAT32: 2, UINT8: 2, Scalar("int64"): 1}


def _values(k: KernelBuilder, dims: tuple[str, ...]) -> tuple[Var, Scalar]:
    type_ = k.draw.shape.weighted(_TYPES)
    low, high = (-1.0, 1.0) if type_.is_float else (0, 90)
    return k.array("run_values values", type_, dims, low=low, high=high), type_


def _found(k: KernelBuilder, ends: Var, row: tuple[Expr, ...], count: Expr, at: Expr) -> Var:
    """How many run ends are not above a place, by bisection: the run that it is in."""
    lo, hi = k.draw.word.choice((("lo", "hi"), ("left", "right"), ("first", "last")))
    low, high = k.let(lo, k.lift(0, INT32)), k.let(hi, count)
    with k.while_(low < high):
        mid = k.let("mid middle", k.draw.shape.choice(((low + high) // 2, low + (high - low) // 2)))
        branch(k, (ends[index(*row, mid)] <= at, (low, mid + 1)), (None, (high, mid)))
    return low


def _expand(k: KernelBuilder, level: int) -> Title:
    """The value of each element, by a search for its run."""
    shape = k.draw.shape
    batched = level >= 2 and shape.chance(0.4)
    starts = level >= 2 and shape.chance(0.4)
    sliced = level >= 2 and not starts and shape.chance(0.5)
    outer: tuple[str, ...] = ("columns",) if batched else ()
    if batched:
        k.size("columns", 4, 6)
    k.size("runs", 9, 14)
    k.size("num_elements", 24 if batched else 64, 30 if batched else 96)
    names = (k.name("c col"), k.name("i e")) if batched else (k.name("i e tid"),)
    at = k.thread(*outer, "num_elements", names=names)
    row, i = at[:-1], at[-1]
    low, high = int(starts), 22 if batched else 60
    names_of = "run_starts starts" if starts else "run_ends ends"
    ends = k.array(names_of, INT32, (*outer, "runs"), init="sorted", low=low, high=high)
    values, type_ = _values(k, (*outer, "runs"))
    count = k.size_param("num_runs", "runs")
    place, spot = i, "i"
    if sliced:
        offset = k.scalar("offset slice_offset", INT32, 1, 9)
        place, spot = k.let("logical p", i + offset), f"i + {offset.name}"
    fill = k.scalar("fill_value null_value", type_, *((2.0, 4.0) if type_.is_float else (91, 99)))
    out = k.out("decoded expanded", type_, (*outer, "num_elements"))
    if not batched and not starts and shape.chance(0.3):
        run = k.let("run r", fn("lower_bound", ends, place + 1))
    else:
        run = _found(k, ends, row, count, place)
    beyond = same(run, 0) if starts else run >= count
    with k.if_(beyond):
        k.store(out, at, fill)
    with k.else_():
        k.store(out, at, values[index(*row, run - 1 if starts else run)])
    text = f"Expand runs: element i of {'column c of ' * batched}{out.name} gets the value in "
    text += f"{values.name} of the run that holds position {spot}. "
    text += f"{_where_runs(ends, starts)}, elements get {written(fill)}."
    return Title(k.name("expand_runs rle_decode decode_runs"), text)


def _where_runs(ends: Var, starts: bool) -> str:
    """Where runs begin or end, up to what lies beyond them."""
    if starts:
        text = f"Runs begin at {ends.name} (ascending, a run of none included) and go up to the "
        return f"{text}next start, the last without end; before the first start"
    text = f"A run ends before its {ends.name} (ascending, a run of none included), where the "
    return f"{text}next begins, the first at 0; from the last end on"


def _heads(k: KernelBuilder, level: int) -> Title:
    """Where runs begin, and how long the run is that begins or ends at an element."""
    shape = k.draw.shape
    batched = shape.chance(0.35)
    dims = ("rows", "num_elements") if batched else ("num_elements",)
    k.size("num_elements", 12 if batched else 60, 18 if batched else 90)
    if batched:
        k.size("rows", 5, 8)
    names = (k.name("row r"), k.name("i j")) if batched else (k.name("i tid"),)
    at = k.thread(*dims, names=names)
    row, i = at[:-1], at[-1]
    type_ = shape.choice((INT32, UINT8, UINT32, Scalar("int64")))
    data = k.array("values data symbols keys", type_, dims, low=0, high=2)
    own = k.let("value v", data[at])
    if level > 1:
        return _sizes(k, data, at, own)
    before = data[index(*row, most(i - 1, 0))]
    head = k.let("is_head starts_run", fn("or", same(i, 0), fn("ne", before, own)))
    out = k.out("heads head_flags", INT32, dims)
    k.store(out, at, cast(head, INT32))
    text = f"{out.name} gets 1 where an element of {data.name} is the first"
    text += f"{' of its row' * batched} or differs from the one before it, else 0."
    return Title(k.name("mark_run_starts run_heads"), text)


def _sizes(k: KernelBuilder, data: Var, at: tuple[Var, ...], own: Var) -> Title:
    """The length of each run, at its first or its last element, which walks along it."""
    row, i = at[:-1], at[-1]
    count = k.size_param("num_elements count", "num_elements")
    back = k.draw.shape.chance(0.35)
    edge, next_ = (
        (same(i, count - 1), least(i + 1, count - 1)) if back else (same(i, 0), most(i - 1, 0))
    )
    names = "is_last ends_run" if back else "is_head starts_run"
    head = k.let(names, fn("or", edge, fn("ne", data[index(*row, next_)], own)))
    out = k.out("run_lengths lengths_out", INT32, k.launch_dim)
    size = k.let("run size", k.lift(0, INT32))
    with k.if_(head):
        end = k.let("begin" if back else "end e", i)
        with k.while_(end >= 0 if back else end < count):
            with k.if_(fn("ne", data[index(*row, end)], own)):
                k.break_()
            k.augment(end, "sub" if back else "add", 1)
        k.assign(size, i - end if back else end - i)
    k.store(out, at, size)
    text = f"{out.name} gets at the {'last' if back else 'first'} element of each run of equal "
    text += f"{data.name}{' in a row' * bool(row)} the length of the run, 0 elsewhere."
    return Title(k.name(f"run_lengths_at_{'ends' if back else 'starts'} run_sizes"), text)


def _encode(k: KernelBuilder, level: int) -> Title:
    """The runs of each row in order: values with lengths or ends."""
    shape = k.draw.shape
    t = lanes(k, level, "row r")
    k.size("chars", 9, 14)
    type_ = shape.choice((INT32, UINT8, UINT8))
    data = t.array("data symbols pixels", type_, "chars", 0, 2)
    ends = shape.chance(0.5)
    n = named(k, "n count", data.whole())
    values = t.array("run_values values", type_, "chars", role="out")
    sizes = t.array(
        "run_ends ends" if ends else "run_lengths lengths_out", INT32, "chars", role="out"
    )
    runs = k.let("runs r_out", k.lift(0, INT32))
    start = k.let("start first", k.lift(0, INT32))
    with k.while_(start < n):
        value = k.let("value v", data[start])
        end = k.let("end stop", start + 1)
        with k.while_(end < n):
            with k.if_(fn("ne", data[end], value)):
                k.break_()
            k.augment(end, "add", 1)
        values.put(runs, value)
        sizes.put(runs, end if ends else end - start)
        k.augment(runs, "add", 1)
        k.assign(start, end)
    counts = t.each_out("run_counts num_runs", INT32)
    k.store(counts, t.at, runs)
    with k.for_("j rest", n, start=runs) as j:
        values.put(j, 0)
        sizes.put(j, 0)
    what = "the place where it ends, exclusive" if ends else "its length"
    text = f"Run-length encode {t.each} of {data.name}: for its runs of equal elements in order, "
    text += f"{values.name} gets the value and {sizes.name} {what}. {values.name} and "
    text += f"{sizes.name} get 0 behind the last run, and {counts.name} how many runs there are."
    return Title(k.name("rle_encode encode_runs encode_rows"), text)


def _packbits(k: KernelBuilder, level: int) -> Title:
    """PackBits (TIFF 6.0): literals and repeats after a header byte."""
    shape = k.draw.shape
    t = lanes(k, level, "row r", layouts="rows rows flat")
    k.size("chars", 9, 13)
    packed = t.array("packed encoded", INT8, "chars", -9, 4)
    out = t.array("decoded unpacked", INT8, "2*chars", role="out")
    n, counted = length(packed, level)
    room = k.size_param("capacity row_capacity", "2*chars")
    src, dst = k.let("src read_pos", k.lift(0, INT32)), k.let("dst write_pos", k.lift(0, INT32))
    merged = shape.chance(0.5)
    with k.while_(both(src < n, dst < room)):
        header = k.let("header h", cast(packed[src], INT32))
        k.augment(src, "add", 1)
        if merged:
            _copied(k, packed, out, (src, n), (dst, room), header)
        else:
            _split(k, packed, out, (src, n), (dst, room), header)
    lengths = t.each_out("decoded_lengths num_decoded", INT32)
    k.store(lengths, t.at, dst)
    with k.for_("j rest", room, start=dst) as j:
        out.put(j, 0)
    text = f"Decode PackBits: {t.each} of {packed.name}{counted} "
    text += "is a sequence of headers h, each followed by h + 1 literal bytes where h is not "
    text += "negative, else by one byte that is repeated 1 - h times (-128 does not occur as a "
    text += f"header). {out.name} gets the decoded bytes of the row (as many as fit, up to the end "
    text += f"of the packed row) with 0 behind them, and {lengths.name} their number."
    return Title(k.name("packbits_decode unpack_bits decode_packbits"), text)


End = tuple[Var, Expr]


def _copied(k: KernelBuilder, packed: Seq, out: Seq, src: End, dst: End, header: Var) -> None:
    """One loop for both: the source moves on, or stays."""
    (pos, n), (to, room) = src, dst
    step = k.let("step advance", k.lift(1, INT32))
    count = k.let("todo remaining", header + 1)
    with k.if_(header < 0):
        k.assign(step, 0)
        k.assign(count, 1 - header)
    with k.while_(both(both(count > 0, pos < n), to < room)):
        out.put(to, packed[pos])
        k.augment(to, "add", 1)
        k.augment(pos, "add", step)
        k.augment(count, "sub", 1)
    with k.if_(header < 0):
        k.augment(pos, "add", 1)


def _split(k: KernelBuilder, packed: Seq, out: Seq, src: End, dst: End, header: Var) -> None:
    """A loop for literals and one for repeats."""
    (pos, n), (to, room) = src, dst
    with k.if_(header >= 0):
        count = k.let("num_literals literals", least(header + 1, least(n - pos, room - to)))
        with k.for_("j q", count) as j:
            out.put(to + j, packed[pos + j])
        k.augment(pos, "add", count)
        k.augment(to, "add", count)
    with k.elif_(pos < n):
        repeats = k.let("repeats copies", least(1 - header, room - to))
        value = k.let("value byte", packed[pos])
        with k.for_("j q", repeats) as j:
            out.put(to + j, value)
        k.augment(pos, "add", 1)
        k.augment(to, "add", repeats)


def _hybrid(k: KernelBuilder) -> Title:
    """Runs that hold one value or are packed in bits, as Parquet has them."""
    shape = k.draw.shape
    k.size("runs", 8, 12)
    k.size("num_elements", 64, 90)
    (i,) = k.thread("num_elements", names=(k.name("i e tid"),))
    first = k.array("run_starts starts", INT32, "runs", init="sorted", low=1, high=60)
    kinds = k.array("is_packed packed_flags", INT32, "runs", low=0, high=1)
    values = k.array("run_values repeated", UINT32, "runs", low=0, high=4095)
    bit_starts = k.array("bit_starts bit_offsets", INT32, "runs", init="index_of:8*num_elements")
    words = k.array("words packed", UINT32, "num_elements+2", low=0, high=2**32 - 1)
    bits = k.scalar("bit_width num_bits", INT32, 5, 12)
    count = k.size_param("num_runs", "runs")
    table = None
    if shape.chance(0.5):
        table = k.array("dictionary dict_values", FLOAT32, "4096", low=-1.0, high=1.0)
    out = k.out("decoded values_out", FLOAT32 if table else UINT32, "num_elements")
    if shape.chance(0.3):
        run = k.let("run r", fn("lower_bound", first, i + 1))
    else:
        run = _found(k, first, (), count, i)
    with k.if_(same(run, 0)):
        k.store(out, i, 0 if table is None else 0.0)
        k.return_()
    k.augment(run, "sub", 1)
    value = k.let("value v", values[run])
    with k.if_(same(kinds[run], 1)):
        bit = k.let("bit bit_pos", bit_starts[run] + (i - first[run]) * bits)
        k.assign(value, _unpacked(k, words, bit, bits))
    text = f"Decode runs of two kinds: run r holds the elements from {first.name}[r] up to, not "
    text += f"including, {first.name}[r + 1], the last all that follow; {first.name} ascends, and "
    text += f"runs may be empty. Where {kinds.name}[r] is 0, all have the value {values.name}[r]; "
    text += f"where it is 1, element i has the {bits.name} bits of {words.name} from bit "
    text += f"{bit_starts.name}[r] + (i - {first.name}[r]) * {bits.name} on, counted from the "
    text += f"lowest bit of word 0. {out.name} gets "
    text += f"the entry of {table.name} at the value" if table else "the value"
    k.store(out, i, table[cast(value, INT32)] if table else value)
    text += ", 0 before the first run."
    return Title(k.name("decode_hybrid_runs rle_bitpacked_decode"), text)


def _unpacked(k: KernelBuilder, words: Var, bit: Expr, bits: Expr) -> Expr:
    """So many bits from a place on, of one word or of two."""
    word, shift = k.let("word w", bit // 32), k.let("shift s", bit % 32)
    found = k.let("packed_bits field", words[word] >> cast(shift, UINT32))
    with k.if_(shift + bits > 32):
        k.assign(found, found | (words[word + 1] << cast(32 - shift, UINT32)))
    return found & ((KernelBuilder.lift(1, UINT32) << cast(bits, UINT32)) - 1)


@idiom
def run_length(k: KernelBuilder, level: int) -> Title:
    """Run-length codes: expanded by a search, found, encoded, PackBits, mixed with packed bits."""
    forms = {
        1: (_expand, _heads),
        2: (_expand, _heads),
        3: (_expand, _encode),
        4: (_encode, _packbits),
        5: (_packbits, lambda k, level: _hybrid(k)),
    }
    return k.draw.shape.choice(forms[level])(k, level)
