"""Words that many threads share: bit sets of groups, packed winners, checksums of blocks."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.tally import INT64, UINT32, UINT64, Tally, any_of, indices, threads
from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, least, most
from generators.kit.sites import Site, over
from generators.program.dtypes import INT32, Array, Scalar, Vec
from generators.program.expr import Expr, Var


def _bit(place: Expr, type_: Scalar) -> Expr:
    return KernelBuilder.lift(1, type_) << cast(place, type_)


def _entries(k: KernelBuilder, level: int) -> Tally:
    return Tally(level, threads(k, "n", 64, 96, "i e"))


def _owner(t: Tally, size: str, names: str) -> Expr:
    """The group of an entry, of a declared size."""
    t.k.size(size, 10, 14)
    owner = t.s.read(names, INT32, init=f"index_of:{size}")
    return t.let("g owner", owner, 0.5)


def _item_sets(k: KernelBuilder, level: int) -> Title:
    """Which items each user has: sets as rows of words."""
    type_ = k.draw.shape.weighted({UINT32: 3, UINT64: 1})
    t, bits = _entries(k, level), type_.bits
    k.size("num_words", 3, 4)
    item = t.let("item", t.s.read("items item_ids", INT32, init=f"index_of:{bits}*num_words"))
    at = (_owner(t, "users", "user_of user_ids"), t.let("word w", item // bits, 0.6))
    t.into(
        "item_sets seen", ("users", "num_words"), at, t.let("mask", _bit(item % bits, type_)), "or"
    )
    opening = (
        f"Bit set of the items of each user, {bits} items a word: for each entry {t.s.where}, "
    )
    return t.title("mark_items build_item_sets set_item_bits", opening)


def _calendar(k: KernelBuilder, level: int) -> Title:
    """Free days of rooms or workers: each booking clears a day."""
    t = _entries(k, level)
    type_ = k.draw.shape.choice((UINT32, UINT64))
    first = k.scalar("first_day start_day", INT32, 100, 102)
    day = t.let("day", t.s.read("days booked_days", INT32, 102, 100 + type_.bits - 1) - first)
    free = t.let("mask keep", fn("invert", _bit(day, type_)))
    room = _owner(t, "rooms", "room_of room_ids")
    t.into("free_days available", "rooms", room, free, "and")
    t.notes.append(f" Bit d of a word is day {first.name} + d; a set bit is a free day.")
    return t.title(
        "clear_booked_days book_rooms", f"Clear booked days: for each booking {t.s.where}, "
    )


def _hours(k: KernelBuilder, level: int) -> Title:
    """In which hours of a day something happened."""
    t = _entries(k, level)
    hour = t.let("hour", t.s.read("minutes minute_of_day", INT32, 0, 1439) // 60)
    user = _owner(t, "users", "user_of user_ids")
    t.into("active_hours hour_masks", "users", user, t.let("mask", _bit(hour, UINT32)), "or")
    opening = f"Active hours of each user, one bit an hour: for each event {t.s.where}, "
    return t.title("mark_active_hours collect_hours", opening)


def _materials(k: KernelBuilder, level: int) -> Title:
    """Which materials a tile of the screen holds; or lights, by a flag that toggles."""
    t = _entries(k, level)
    kind = t.s.read("material_ids materials", INT32, 0, 31)
    mask = t.let("mask bit", _bit(kind, UINT32))
    tile = _owner(t, "tiles", "tile_of tile_ids")
    t.into("material_masks tile_masks", "tiles", tile, mask, "or")
    opening = f"Materials that occur in each tile, one bit each: for each pixel {t.s.where}, "
    return t.title("mark_tile_materials tile_material_masks", opening)


def _parity(k: KernelBuilder, level: int) -> Title:
    """Parity words of stripes, as RAID keeps them: of all parts of a stripe."""
    type_ = k.draw.shape.choice((UINT32, UINT64))
    names = indices(k, "s stripe", "p part", "w j")
    t = Tally(level, over(k, "stripes parts words", names, ((5, 6), (4, 5), (4, 6))))
    data = t.s.array("data blocks", type_, 0, 2**31)
    stripe, part, w = t.s.at
    place = (stripe, w)
    t.into("parity parity_blocks", ("stripes", "words"), place, t.let("word", data[t.s.at]), "xor")
    opening = f"Parity blocks of stripes (RAID): for each word {t.say(w)} of each part "
    return t.title(
        "stripe_parity xor_parity", f"{opening}{t.say(part)} of stripe {t.say(stripe)}, "
    )


def _voxels(k: KernelBuilder, level: int) -> Title:
    """Occupied voxels as bits: 32 along x share a word."""
    t = Tally(level, threads(k, "num_points", 64, 90, "i p"), "Points")
    real = k.draw.wide_float_type()
    for size in ("ny", "nz"):
        k.size(size, 4, 6)
    k.size("x_words", 2, 2, minimum=2)
    p = t.let("pt pos", t.s.read("points positions", Vec(3, real), 0.1, 5.5))
    edge = k.scalar("voxel_size cell", real, 0.9, 1.1)
    cells = [t.let(f"i{a}", cast(fn("floor", p[c] / edge), INT32)) for c, a in enumerate("xyz")]
    names = ("x_words", "ny", "nz")
    counts = [k.size_param(n if n != "x_words" else "num_x_words", n) for n in names]
    ends = [counts[0] * 32, counts[1], counts[2]]
    tests = [test for c, n in zip(cells, ends, strict=True) for test in (c < 0, c >= n)]
    t.skip(any_of(tests), "the voxel lies outside of the grid")
    at = (cells[2], cells[1], t.let("word", cells[0] // 32))
    t.known.update({c: f"i{a}" for c, a in zip(cells, "xyz", strict=True)})
    t.defined.append(f"ix, iy and iz are the floors of a point's coordinates over {edge.name}")
    t.known[at[2]] = "ix // 32"
    t.into("occupancy voxel_bits", ("nz", "ny", "x_words"), at, _bit(cells[0] % 32, UINT32), "or")
    opening = f"Bit field of occupied voxels, 32 along x in a word: for each point {t.s.where}, "
    return t.title("mark_voxels voxelize_points occupancy_bits", opening)


def _light_tiles(k: KernelBuilder, level: int) -> Title:
    """Tiles of the screen that lights reach, a bit for each light (tiled shading)."""
    k.size("views", 2, 3)
    k.size("num_words", 2, 2)
    t = Tally(level, over(k, "views 32*num_words", indices(k, "v view", "light l")))
    view, light = t.s.at
    k.size("tile_rows", 5, 7)
    k.size("tile_cols", 5, 7)
    x = k.let("tx", t.s.read("tile_x center_x", INT32, init="index_of:tile_cols"))
    y = k.let("ty", t.s.read("tile_y center_y", INT32, init="index_of:tile_rows"))
    reach = k.let("r reach", t.s.read("radius_tiles reach_tiles", INT32, 0, 2))
    rows, cols = k.size_param("tile_rows", "tile_rows"), k.size_param("tile_cols", "tile_cols")
    word, mask = k.let("word", light // 32), k.let("mask", _bit(light % 32, UINT32))
    dims = ("views", "tile_rows", "tile_cols", "num_words")
    out = k.accumulator("light_masks tile_lights", UINT32, dims)
    round_ = k.draw.shape.chance(0.5)
    top, left = k.let("top", most(y - reach, 0)), k.let("left", most(x - reach, 0))
    bottom = k.let("bottom", least(y + reach, rows - 1))
    right = k.let("right", least(x + reach, cols - 1))
    rows_ = k.for_("row", bottom + 1, start=top)
    with rows_ as row, k.for_("col", right + 1, start=left) as col:
        if not round_:
            k.atomic("or", out, (view, row, col, word), mask)
        else:
            away = (row - y) * (row - y) + (col - x) * (col - x)
            with k.if_(fn("le", away, reach * reach)):
                k.atomic("or", out, (view, row, col, word), mask)
    text = "Tiled light culling: each light of a view sets its bit, 32 lights a word, in the mask "
    text += "of every tile of that view's screen whose distance from the light's own tile, in tiles"
    text += ", is at most its radius." if round_ else " along each axis, is at most its radius."
    return Title(k.name("cull_lights mark_light_tiles"), text)


def _mask_runs(k: KernelBuilder, level: int) -> Title:
    """A thread joins the masks of a run of one group before it issues an atomic."""
    width = k.draw.value.choice((4, 8, 16))
    type_ = k.draw.shape.choice((UINT32, UINT64))
    k.size("chunks", 7, 10)
    k.size("users", 12, 16)
    (t,) = k.thread("chunks", names=(k.name("t chunk"),))
    dims = f"{width}*chunks"
    kinds, joined = k.draw.word.choice((("permission_ids", "granted"), ("event_types", "seen")))
    events = k.array(kinds, INT32, dims, low=0, high=type_.bits - 1)
    users = k.array("user_of user_ids", INT32, dims, init="index_of:users")
    first = k.let("first start", t * width)
    current, held = k.let("current", users[first]), k.let("bits mask", k.lift(0, type_))
    out = k.accumulator(joined, type_, "users")
    with k.for_("j step", width) as j:
        user = k.let("user", users[first + j])
        with k.if_(fn("ne", user, current)):
            k.atomic("or", out, current, held)
            k.assign(current, user)
            k.assign(held, k.lift(0, type_))
        k.assign(held, fn("bit_or", held, _bit(events[first + j], type_)))
    k.atomic("or", out, current, held)
    text = f"Bit set of the {events.name} of each user: each thread goes through {width} "
    text += "consecutive entries, sets the bits of a run of one user in a register, and ors them "
    text += f"into {out.name} of the user where the user changes and at the end."
    return Title(k.name("mark_by_user collect_user_bits"), text)


_FLAGS: dict[int, tuple[Callable[[KernelBuilder, int], Title], ...]] = {
    1: (_item_sets, _calendar, _hours, _materials),
    2: (_item_sets, _calendar, _parity, _hours),
    3: (_voxels, _parity, _mask_runs),
    4: (_light_tiles, _mask_runs, _voxels),
}


@idiom(depth=4)
def group_flags(k: KernelBuilder, level: int) -> Title:
    """Bit sets of groups, gathered by atomic or, and, exclusive or."""
    return k.draw.shape.choice(_FLAGS[level])(k, level)


class _Packed(Tally):
    """Keys of a score above and an index below, of which the largest or the smallest wins."""

    def __init__(self, k: KernelBuilder, level: int, s: Site, entries: str = "Entries") -> None:
        super().__init__(level, s, entries)
        self.key = k.draw.shape.choice((INT64, UINT64))
        self.lowest = self.chance(0.4)
        self.how = "min" if self.lowest else "max"
        self.type = k.draw.shape.weighted({INT32: 3, UINT32: 1})
        self.start = 2**62 if self.lowest else 0
        self.first = self.lowest or self.chance(0.5, 2)

    def packed(self, value: Expr, index: Expr, said: str, where: str) -> Expr:
        """A score and an index as one integer."""
        k = self.k
        low = cast(index, self.key)
        if self.first and not self.lowest:
            low, where = k.lift(2**32 - 1, self.key) - low, f"(2^32 - 1 - {where})"
        joined = fn("bit_or", cast(value, self.key) << 32, low)
        found = k.let("packed_key entry packed_entry", joined)
        self.known[found] = f"({said} << 32) | {where}"
        return found

    def closing(self, what: str, scores: Var) -> str:
        wins = "first" if self.first else "last"
        assert isinstance(scores.type, Array)
        signed = scores.type.element == INT32
        sign = f" Values of {scores.name} are not negative." if signed else ""
        return f" Of equal {what} the {wins} wins.{sign}"


def _best_of_groups(k: KernelBuilder, level: int) -> Title:
    """The best entry of each group, or of all."""
    t = _Packed(k, level, threads(k, "n", 64, 90))
    scores = t.s.read("scores votes" if not t.lowest else "costs penalties", t.type, 0, 5000)
    score = t.let("score" if not t.lowest else "cost", scores)
    key = t.packed(score, t.s.at[0], t.say(scores), t.s.where)
    grouped = t.chance(0.75)
    at: Expr = k.lift(0, INT32)
    if grouped:
        k.size("groups", 6, 9)
        group = t.s.read("group_ids owners", INT32, init="index_of:groups")
        at = t.let("g group", group, 0.4)
    t.into("best winner", "groups" if grouped else "1", at, key, t.how, t.start)
    name = f"packed_arg{t.how}"
    what = f"Index of the {'lowest cost' if t.lowest else 'highest score'}"
    opening = f"{what}{' of each group' if grouped else ''}, packed: for each entry {t.s.where}, "
    return t.title(
        f"{name} {'group_' * grouped}arg{t.how}",
        opening,
        t.closing(scores.array.name, scores.array),
    )


def _nearest_fragment(k: KernelBuilder, level: int) -> Title:
    """Visibility buffer: the depth and the primitive of the nearest fragment of each pixel."""
    t = Tally(level, threads(k, "num_fragments", 64, 90, "i f"), "Fragments")
    key = k.draw.shape.choice((INT64, UINT64))
    k.size("height", 4, 6)
    k.size("width", 5, 7)
    depth = t.s.read("depth_mm", INT32, 0, 60_000)
    near = t.let("d depth", depth)
    prim = t.s.read("primitive_ids triangle_ids", INT32, 0, 9999)
    if t.chance(0.5):
        t.skip(near < k.scalar("near_mm", INT32, 2000, 9000))
    x = t.s.read("pixel_x px", INT32, init="index_of:width")
    y = t.s.read("pixel_y py", INT32, init="index_of:height")
    joined = fn("bit_or", cast(near, key) << 32, cast(prim, key))
    packed = t.let("packed_entry packed_key", joined)
    t.into("visibility vis_buffer", ("height", "width"), (y, x), packed, "min", 2**62)
    opening = f"Visibility buffer of depth and primitive: for each fragment {t.s.where}, "
    return t.title("visibility_buffer resolve_visibility", opening)


def _best_of_chunk(k: KernelBuilder, level: int) -> Title:
    """A thread finds the best of a chunk by itself, then one atomic joins the chunks."""
    width = k.draw.value.choice((4, 8, 16))
    k.size("chunks", 7, 10)
    (c,) = k.thread("chunks", names=(k.name("t chunk"),))
    dims = (f"{width}*chunks",)
    t = _Packed(k, level, Site(k, "chunk", dims, (c,)))
    scores = k.array("costs errors" if t.lowest else "scores votes", t.type, dims, low=0, high=5000)
    at = k.let("best_i", c * width)
    best = k.let("best_cost" if t.lowest else "best_score", scores[at])
    with k.for_("j step", width, start=1) as j:
        i = k.let("i e", c * width + j)
        value = k.let("cost" if t.lowest else "score", scores[i])
        better = (fn("lt", value, best), value > best)[not t.lowest]
        if not t.first:
            better = fn("ge", value, best)
        with k.if_(better):
            k.assign(best, value)
            k.assign(at, i)
    key = t.packed(best, at, "value", "index")
    out = k.accumulator("best winner", t.key, "1", t.start)
    k.atomic(t.how, out, 0, key)
    side = "smallest" if t.lowest else "largest"
    text = f"Arg{t.how} of {scores.name}: each thread finds the {side} of {width} consecutive ones "
    text += f"and its index, and updates {out.name}[0] by an atomic {t.how} of {t.say(key)}."
    return Title(
        k.name(f"packed_arg{t.how} arg{t.how}_chunks"), f"{text}{t.closing('values', scores)}"
    )


def _nearest_reference(k: KernelBuilder, level: int) -> Title:
    """Brute-force nearest neighbours: blocks of references, joined by a minimum of packed keys."""
    width = k.draw.value.choice((8, 16))
    size = k.draw.shape.choice((2, 3))
    names = indices(k, "q query", "b block")
    q, b = over(k, "num_queries blocks", names, ((8, 12), (3, 4))).at
    key = k.draw.shape.choice((INT64, UINT64))
    vec = Vec(size, INT32)
    queries = k.array("queries query_cells", vec, "num_queries", low=-60, high=60)
    refs = k.array("references ref_cells", vec, f"{width}*blocks", low=-60, high=60)
    own = k.let("p own", queries[q])
    word = k.draw.word.choice(("best", "nearest"))
    best = k.let(f"{word}_d2", k.lift(2**31 - 1, INT32))
    at = k.let(f"{word}_i", b * width)
    with k.for_("j step", width) as j:
        i = k.let("i r", b * width + j)
        gap = k.let("gap diff", refs[i] - own)
        away = k.let("d2", dot(gap, gap))
        with k.if_(away < best):
            k.assign(best, away)
            k.assign(at, i)
    joined = fn("bit_or", cast(best, key) << 32, cast(at, key))
    out = k.accumulator("nearest_key best_match", key, "num_queries", 2**62)
    k.atomic("min", out, q, k.let("packed_key entry", joined))
    text = "Brute-force nearest neighbours on integer coordinates: for each query and "
    text += (
        f"block of {width} references, find the reference of the smallest squared distance d and "
    )
    text += f"its index r (the first of equal ones), and lower {out.name} of the query to "
    return Title(k.name("nearest_neighbours match_nearest"), f"{text}(d << 32) | r.")


_WINNERS: dict[int, tuple[Callable[[KernelBuilder, int], Title], ...]] = {
    1: (_best_of_groups,),
    2: (_best_of_groups, _nearest_fragment),
    3: (_nearest_fragment, _best_of_chunk),
    4: (_best_of_chunk, _nearest_reference),
    5: (_nearest_reference,),
}


@idiom
def packed_winner(k: KernelBuilder, level: int) -> Title:
    """The best entry of each group, its value and its number packed into one integer."""
    return k.draw.shape.choice(_WINNERS[level])(k, level)
