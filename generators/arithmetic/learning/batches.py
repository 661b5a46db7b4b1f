"""Batches on their way: caches of keys and values, ragged rows, crops and mixtures."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var

_ROLES = {"k": "keys", "v": "values"}
_LEAST_SLOTS = 16
"""Every cache has room for so many tokens; the lengths that are drawn stay below."""


def _slot(k: KernelBuilder, way: str, position: Expr) -> tuple[Expr, str]:
    """In which slot of its cache a token goes, and that in words."""
    if way == "plain":
        return position, "slot {}"
    slots = k.size_param("num_slots window capacity", "max_len")
    if way == "ring":
        return k.let("slot place", position % slots), f"slot {{}} % {slots.name}"
    sink = k.scalar("num_sinks sink_tokens", INT32, 2, 4)
    ring = sink + (position - sink) % (slots - sink)
    slot = k.let("slot place", position)
    with k.if_(position >= slots):
        k.assign(slot, ring)
    told = f"slot {{}}, or from {slots.name} on in slot {sink.name} + ({{}} - {sink.name}) % "
    return slot, f"{told}({slots.name} - {sink.name})"


@idiom
def append_to_cache(k: KernelBuilder, level: int) -> Title:
    """New keys, or keys and values, put into a cache: in order, in a ring, in pages of a table."""
    shape = k.draw.shape
    k.half_inputs = False  # What is cached is of the cache's type.
    k.size("batch", 8, 11)
    heads = shape.chance(0.7)
    inner = ("heads", "dim") if heads else ("dim",)
    for symbol in inner:
        k.size(symbol, *{"heads": (2, 3), "dim": (4, 6)}[symbol])
    words = {"heads": "h head", "dim": "d c"}
    at = k.thread("batch", *inner, names=[k.name("b seq"), *(k.name(words[n]) for n in inner)])
    way = shape.weighted({"plain": 3, "ring": 2, "sinks": level // 2, "pages": 1 + level // 2})
    roles = ("k", "v") if shape.chance(0.3 + 0.08 * level) else ("k",)
    new, said = _fresh(k, at, inner, roles)
    idle = shape.chance(0.3)
    top = {"plain": _LEAST_SLOTS - 1, "pages": 4 * _LEAST_SLOTS - 1}.get(way, 3 * _LEAST_SLOTS)
    lengths = k.array("lengths cache_lens seq_lens", INT32, "batch", low=-12 * idle, high=top)
    position = k.let("pos position past", lengths[at[0]])
    if idle:
        with k.if_(position < 0):
            k.return_()
    if way == "pages":
        dims, index, told = _paged(k, at, inner, position)
    else:
        k.size("max_len", _LEAST_SLOTS, 20, minimum=_LEAST_SLOTS)
        slot, told = _slot(k, way, position)
        told = told.replace("{}", f"{lengths.name}[{at[0].name}]")
        swapped = heads and shape.chance(0.4)
        dims = ("batch", "heads", "max_len", "dim") if swapped else ("batch", "max_len", *inner)
        index = (at[0], at[1], slot, at[2]) if swapped else (at[0], slot, *at[1:])
    caches = []
    for role, value in zip(roles, new, strict=True):
        names = f"{role}_cache cache_{role}"
        cache = k.array(names, FLOAT32, dims, role="inout", low=-1.0, high=1.0)
        k.store(cache, index, value)
        caches.append(cache.name)
    text = f"Append the {' and '.join(_ROLES[role] for role in roles)} of one token of each "
    text += f"sequence to a cache: {said} goes into {' and '.join(caches)}, in {told}."
    text += f" Sequences whose entry of {lengths.name} is negative are skipped." if idle else ""
    return Title(k.name("append_kv_cache update_kv_cache write_kv_cache"), text)


def _fresh(
    k: KernelBuilder, at: tuple[Var, ...], inner: tuple[str, ...], roles: tuple[str, ...]
) -> tuple[list[Expr], str]:
    """The new elements: of arrays of their own, or of the fused product that queries share."""
    shape = k.draw.shape
    if shape.chance(0.6):
        x = [k.array(f"new_{r} {r}_new", FLOAT32, k.launch_dim, low=-1.0, high=1.0) for r in roles]
        return [v[at] for v in x], f"each element of {' and '.join(v.name for v in x)}"
    if len(inner) > 1 and shape.chance(0.5):
        qkv = k.array("qkv fused_qkv", FLOAT32, ("batch", "3", *inner), low=-1.0, high=1.0)
        values: list[Expr] = [
            qkv[
                (
                    at[0],
                    n + 1,
                )
                + at[1:]
            ]
            for n in range(len(roles))
        ]
        return values, f"what {qkv.name} has at 1{' and 2' * (len(roles) > 1)} of its second axis"
    per = "*".join(inner)
    qkv = k.array("qkv fused_qkv", FLOAT32, ("batch", f"3*{per}"), low=-1.0, high=1.0)
    column: Expr = at[1]
    if len(inner) > 1:
        column = k.let("col channel", at[1] * k.size_param("head_dim", "dim") + at[2])
    hidden = k.size_param("hidden", per)
    offsets = [hidden + column, 2 * hidden + column][: len(roles)]
    said = f"what lies in {qkv.name} from column {hidden.name} on"
    if len(roles) > 1:
        said = f"what lies in {qkv.name} from columns {hidden.name} and 2 * {hidden.name} on"
    return [qkv[at[0], o] for o in offsets], said


def _paged(
    k: KernelBuilder, at: tuple[Var, ...], inner: tuple[str, ...], position: Expr
) -> tuple[tuple[str, ...], tuple[Operand, ...], str]:
    """A cache of pages that a table names for each sequence."""
    k.size("pages", 4, 5, minimum=4)
    fixed = k.draw.shape.chance(0.5)
    per = "16" if fixed else k.size("page_size", 16, 18, minimum=16)
    table = k.array("block_table page_table", INT32, ("batch", "pages"), init="permutation")
    size: Expr = k.lift(16, INT32) if fixed else k.size_param("page_size block_len", "page_size")
    logical = k.let("logical page_no", position // size)
    page = k.let("page block_id", table[at[0], logical])
    offset: Expr = position % size if k.draw.shape.chance(0.5) else position - logical * size
    offset = k.let("offset in_page", offset)
    if len(inner) > 1 and k.draw.shape.chance(0.4):
        dims: tuple[str, ...] = ("batch*pages", "heads", per, "dim")
        index: tuple[Operand, ...] = (page, at[1], offset, at[2])
    else:
        dims, index = ("batch*pages", per, *inner), (page, offset, *at[1:])
    long = size.name if isinstance(size, Var) else "16"
    told = f"the page that {table.name} has at p / {long} of the sequence, at place p % {long} in "
    return dims, index, f"{told}it, p being its length"


@idiom
def unpad_rows(k: KernelBuilder, level: int) -> Title:
    """Ragged rows between a padded batch and one packed list, by the offsets of their starts."""
    shape = k.draw.shape
    total, most_ = 40, 36
    k.size("batch", 4, 6)
    tail = shape.choice(((), ("features",), ("features",), ("heads", "dim")))
    for symbol in tail:
        k.size(symbol, *{"features": (3, 5), "heads": (2, 2), "dim": (3, 3)}[symbol])
    names = tuple(k.name({"features": "c f", "heads": "h", "dim": "d"}[n]) for n in tail)
    k.size("tokens", total, 48, minimum=total)
    k.size("max_len", 5, 7)
    packed = shape.chance(0.45)
    starts = k.array(
        "cu_seqlens offsets row_starts", INT32, "batch+1", init="sorted", low=0, high=most_
    )
    return _to_list(k, starts, tail, names) if packed else _to_batch(k, starts, tail, names)


def _to_batch(
    k: KernelBuilder, starts: Var, tail: tuple[str, ...], names: tuple[str, ...]
) -> Title:
    """Each place of the padded batch gets its token, or what the padding is."""
    shape = k.draw.shape
    at = k.thread("batch", "max_len", *tail, names=[k.name("b seq"), k.name("t pos step"), *names])
    rows = k.array("packed flat_tokens x", FLOAT32, ("tokens", *tail), low=-1.0, high=1.0)
    out = k.out("padded batch_out", FLOAT32, ("batch", "max_len", *tail))
    start = k.let("start begin", starts[at[0]])
    length: Expr = starts[at[0] + 1] - start
    if shape.chance(0.35):
        length = least(length, k.scalar("max_tokens limit", INT32, 4, 6))
    length = k.let("length n_valid", length)
    kept = f" (of which at most {k.params[-1].name} count)" if k.params[-1].type == INT32 else ""
    left = shape.chance(0.35)
    place: Expr = at[1]
    told = "on the right"
    if left:
        width = extent(out, 1) if shape.chance(0.5) else k.size_param("max_len", "max_len")
        place = k.let("t_in inner", at[1] - (width - length))
        told = "on the left"
    inside = place >= 0 if left else place < length
    fill: Expr = k.lift(0.0, FLOAT32)
    filled = "0"
    if shape.chance(0.5):
        fill = k.scalar("pad_value fill", FLOAT32, -3.0, -2.0)
        filled = k.params[-1].name
    outside = place < 0 if left else place >= length
    _padded(k, (out, at), (inside, outside), rows[(start + place,) + at[2:]], fill)
    text = f"Pad ragged rows to a batch: row {at[0].name} has the tokens of {rows.name} from "
    text += f"{starts.name}[{at[0].name}] to before the next offset{kept}. They are stored in "
    text += f"{out.name}, padded with {filled} {told}; what is too long is cut on that side."
    return Title(k.name("pad_packed_sequences pad_rows"), text)


def _padded(
    k: KernelBuilder,
    target: tuple[Var, tuple[Var, ...]],
    tests: tuple[Expr, Expr],
    token: Expr,
    fill: Expr,
) -> None:
    """Store a token where one is, else the padding: by an early end, in two arms, or in a local."""
    (out, at), (inside, outside) = target, tests
    form = k.draw.shape.weighted({"arms": 3, "early": 3, "local": 2})
    if form == "early":
        with k.if_(outside):
            k.store(out, at, fill)
            k.return_()
        k.store(out, at, token)
    elif form == "arms":
        with k.if_(inside):
            k.store(out, at, token)
        with k.else_():
            k.store(out, at, fill)
    else:
        value = k.let("value v", fill)
        with k.if_(inside):
            k.assign(value, token)
        k.store(out, at, value)


def _to_list(k: KernelBuilder, starts: Var, tail: tuple[str, ...], names: tuple[str, ...]) -> Title:
    """Each token of the list finds its row by a search among the starts."""
    shape = k.draw.shape
    at = k.thread("tokens", *tail, names=[k.name("i tok"), *names])
    token = at[0]
    padded = k.array("padded batch_in x", FLOAT32, ("batch", "max_len", *tail), low=-1.0, high=1.0)
    out = k.out("packed flat_out", FLOAT32, ("tokens", *tail))
    last: Expr = starts[extent(starts) - 1]
    if shape.chance(0.5):
        last = k.let("last stop total", last)
    outside = fn("or", token < starts[0], token >= last)
    early = shape.chance(0.6)
    if early:
        with k.if_(outside):
            k.store(out, at, 0.0)
            k.return_()
    row, how = _owner(k, starts, token)
    place = k.let("t pos", token - starts[row])
    limit = (extent(padded, 1) if shape.chance(0.6) else k.size_param("max_len", "max_len")) - 1
    value = padded[
        (
            row,
            least(place, limit),
        )
        + at[1:]
    ]
    if early:
        k.store(out, at, value)
    else:
        with k.if_(outside):
            k.store(out, at, 0.0)
        with k.else_():
            k.store(out, at, value)
    text = (
        f"Pack a padded batch into one list: token {token.name} of {out.name} belongs to the row r "
    )
    text += f"with {starts.name}[r] <= {token.name} < {starts.name}[r + 1], found {how}, and gets "
    text += f"what {padded.name} has there at its place {token.name} - {starts.name}[r] (the last "
    text += "place at most). Tokens of no row get 0."
    return Title(k.name("unpad_rows pack_padded_batch"), text)


def _owner(k: KernelBuilder, starts: Var, token: Var) -> tuple[Expr, str]:
    """The last row that starts at or before a token, the search never leaving the rows."""
    way = k.draw.shape.weighted({"binary": 3, "count": 1})
    if way == "binary":
        low, high = k.let("lo left", k.lift(0, INT32)), k.let("hi right", extent(starts) - 1)
        with k.while_(high - low > 1):
            middle = k.let("mid middle", (low + high) // 2)
            with k.if_(starts[middle] <= token):
                k.assign(low, middle)
            with k.else_():
                k.assign(high, middle)
        return low, "by binary search"
    row = k.let("row seq", k.lift(0, INT32))
    with k.for_("r candidate", extent(starts) - 1, start=1) as r:
        with k.if_(starts[r] > token):
            k.break_()
        k.assign(row, r)
    return row, "one after the other"
