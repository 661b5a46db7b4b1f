"""Kernels that accumulate: what an entry gives, where it goes, which entries count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, field, fn
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.pieces import helper
from generators.kit.words import singular
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var, op
from generators.program.ir import FieldInit


@dataclass(frozen=True)
class Input:
    """What an entry is made of: candidate names, and the range of its values."""

    names: str
    low: float
    high: float


@dataclass(frozen=True)
class Ledger:
    """One subject of accumulation."""

    inputs: dict[str, Input]
    amounts: tuple[Formula, ...]
    sums: str
    groups: str
    titles: str
    kinds: tuple[str, ...] = ("add",)
    whole: bool = False
    record: str = "Sample"
    limits: str = "limit threshold cutoff"
    counts: str = "counts hits num_seen"
    limit: tuple[float, float] | None = (0.2, 0.6)


Place = tuple[Expr, ...]


_TARGETS = {
    1: {"total": 2, "bins": 5, "rows": 3, "columns": 3, "blocks": 3},
    2: {"total": 2, "bins": 5, "rows": 3, "columns": 3, "blocks": 3, "plane": 4},
    3: {"bins": 4, "rows": 3, "columns": 3, "blocks": 2, "plane": 4, "row_bins": 3},
    4: {"bins": 3, "plane": 4, "row_bins": 4, "strips": 5, "volume": 3},
    5: {"bins": 2, "plane": 4, "row_bins": 4, "strips": 6, "volume": 4},
}


_MASKS = {1: 0.15, 2: 0.7, 3: 0.6, 4: 0.75, 5: 0.9}


_FLAG_TYPES = {"int32": 4, "uint8": 3, "int8": 1, "bool": 3}


class Accumulation:
    """One kernel in the making."""

    def __init__(self, k: KernelBuilder, level: int, ledger: Ledger) -> None:
        shape = k.draw.shape
        self.k, self.level, self.ledger = k, level, ledger
        self.form = shape.weighted(_TARGETS[level])
        whole = {INT32: 5, Scalar("int64"): 3} if ledger.whole else {}
        self.type = shape.weighted(whole) if whole else k.draw.wide_float_type()
        many = {4: shape.integer(1, 2), 5: shape.integer(2, 3)}.get(level, 1)
        self.amount, *self.others = shape.sample(list(ledger.amounts), many)
        self.loaded: dict[str, Expr] = {}
        self.more: dict[str, Var] = {}
        self.kind = shape.choice(ledger.kinds)
        self.mask_text = ""
        self._launch()

    def _launch(self) -> None:
        k, form = self.k, self.form
        if form in ("total", "bins", "plane"):
            n = k.size(k.draw.word.choice(("n", "count")), 72, 96)
            self.dims: tuple[str, ...] = (n,)
            self.place: Place = k.thread(n, names=(k.name("i", "tid", "e"),))
        elif form == "blocks":
            m = k.size("m", 18, 24)
            self.width = k.draw.value.choice((2, 3, 4))
            self.dims = (f"{self.width}*{m}",)
            self.place = k.thread(*self.dims, names=(k.name("i", "tid"),))
        elif form == "volume":
            self.dims = tuple(
                k.size(s, *b) for s, b in zip("bhw", ((3, 4), (4, 6), (4, 6)), strict=True)
            )
            self.place = k.thread(*self.dims, names=("b", "i", "j"))
        else:
            rows, cols = k.size("rows", 8, 11), k.size("cols", 7, 9)
            self.dims = (rows, cols)
            if form == "strips":
                r = k.thread(rows, names=(k.name("i", "row", "r"),))
                self.place = r
            else:
                self.place = k.thread(
                    rows, cols, names=k.draw.word.choice((("i", "j"), ("row", "col")))
                )

    def declare(self) -> None:
        """Declare what entries are made of: an array each, or an array of structs."""
        k, ledger = self.k, self.ledger
        amounts = (self.amount, *self.others)
        keys, self.once = keys_of(amounts), read_once(amounts)
        self.sources: dict[str, tuple[Var, str]] = {}
        struct_share = {1: 0.1, 2: 0.15}.get(self.level, 0.3)
        if len(keys) > 1 and k.draw.shape.chance(struct_share):
            used: list[FieldInit] = []
            for key in keys:
                i = ledger.inputs[key]
                name = k.draw.word.choice(
                    [n for n in i.names.split() if n not in {u.name for u in used}]
                )
                used.append(FieldInit(name, self.type, "uniform", str(i.low), str(i.high)))
            record = k.struct(k.name(ledger.record), *((u.name, u.type) for u in used))
            lowered = record.name.lower()
            var = k.array((f"{lowered}s", f"{lowered}_list"), record, self.dims, fields=used)
            self.sources = {key: (var, u.name) for key, u in zip(keys, used, strict=True)}
            return
        for key in keys:
            i = ledger.inputs[key]
            low, high = (int(i.low), int(i.high)) if self.ledger.whole else (i.low, i.high)
            var = k.array(tuple(i.names.split()), self.type, self.dims, low=low, high=high)
            self.sources[key] = (var, "")

    def shown(self, amount: Formula) -> str:
        """A formula with the arrays' names."""
        named = {k: f"{v.name}.{part}" if part else v.name for k, (v, part) in self.sources.items()}
        return amount.said(named)

    def _load(self, key: str, place: Place, twice: bool) -> Expr:
        """What an entry holds, in a local when it is read more than once."""
        k, (var, part) = self.k, self.sources[key]
        if part:
            if var.name not in self.loaded:
                record = var[place]
                names = (str(record.type).lower(), "rec", "entry")
                self.loaded[var.name] = k.let(names, record)
            return field(self.loaded[var.name], part)
        if key not in self.loaded:
            loaded: Expr = var[place]
            if twice or k.draw.shape.chance(0.25):
                singles = [singular(n) for n in self.ledger.inputs[key].names.split()]
                self.loaded[key] = k.let((*singles, "x", "v"), loaded)
            else:
                return loaded
        return self.loaded[key]

    def value(self, place: Place, amount: Formula) -> Expr:
        """What the entry at a place gives, inline or by a helper."""
        k = self.k
        args = [self._load(key, place, key not in self.once) for key in amount.keys]
        if self.level >= 3 and k.draw.shape.chance(0.4) and not amount.plain:
            inputs = [self.ledger.inputs[key] for key in amount.keys]
            params = [(singular(i.names.split()[0]), self.type) for i in inputs]
            names = (amount.name, f"{amount.name}_of")
            return k.call(helper(k, names, params, amount.build), *args)
        return amount.build(k, *args)

    def masked(self, place: Place, leave: Callable[[], None]) -> None:
        """Leave out some entries, by a flag or a code."""
        k, shape = self.k, self.k.draw.shape
        if not shape.chance(_MASKS[self.level]):
            return
        how = shape.choice(("flag", "unset", "code", "below"))
        if how in ("flag", "unset"):
            type_ = Scalar(shape.weighted(_FLAG_TYPES))
            names = ("valid", "active", "enabled") if how == "flag" else ("skip", "hidden", "muted")
            flags = k.array(names, type_, self.dims, low=0, high=1)
            value = flags[place]
            if type_.name == "bool":
                test: Expr = op("not", value) if how == "flag" else value
            else:
                test = fn("eq" if how == "flag" else "ne", value, 0)
            self.mask_text = (
                f" Entries whose {flags.name} is {'zero' if how == 'flag' else 'set'} are left out."
            )
        else:
            codes = k.array(
                ("status", "kind", "category", "quality"), INT32, self.dims, low=0, high=4
            )
            if how == "code":
                code: Operand = k.draw.value.integer(1, 4)
                if shape.chance(0.5):
                    code = k.scalar(("wanted", "target_kind", "only"), INT32, 1, 2)
                test = fn("ne", codes[place], code)
                wanted = code.name if isinstance(code, Var) else code
                self.mask_text = f" Only entries whose {codes.name} is {wanted} count."
            else:
                least = k.scalar(("min_quality", "lowest"), INT32, 1, 2)
                test = codes[place] < least
                self.mask_text = f" Entries whose {codes.name} is below {least.name} are left out."
        with k.if_(test):
            leave()

    def targets(self) -> tuple[tuple[str, ...], Callable[[Place], Place], str]:
        """Shape of the accumulators, the element of an entry, and what to call it."""
        k, form = self.k, self.form
        names = tuple(self.ledger.groups.split())
        if form == "total":
            return ("1",), lambda p: (k.lift(0, INT32),), "element 0"
        if form == "blocks":
            width = self.width
            return ("m",), lambda p: (p[0] // width,), f"element i // {width} for entry i"
        if form == "rows":
            return self.dims[:1], lambda p: p[:1], "its row"
        if form == "columns":
            return self.dims[1:], lambda p: p[1:], "its column"
        if form == "volume":
            where = k.draw.shape.choice(("first", "last", "plane"))
            chosen = {"first": slice(0, 1), "last": slice(2, 3), "plane": slice(1, 3)}[where]
            texts = {
                "first": "its first index",
                "last": "its last index",
                "plane": "its last two indices",
            }
            return self.dims[chosen], lambda p: p[chosen], texts[where]
        m = k.size(k.draw.word.choice(("groups", "m", "bins")), 5, 8)
        along = {"row_bins": self.dims[1:], "strips": self.dims[1:]}.get(form, self.dims)
        index = k.array(names, INT32, along, init=f"index_of:{m}")
        if form in ("row_bins", "strips"):
            return (
                (self.dims[0], m),
                lambda p: (p[0], index[p[1]]),
                f"its row and the {index.name} of its column",
            )
        if form == "plane":
            q = k.size("parts", 3, 4)
            second = k.array(
                (*(f"sub_{n}" for n in names), "phase"), INT32, along, init=f"index_of:{q}"
            )
            return (m, q), lambda p: (index[p], second[p]), f"its {index.name} and {second.name}"
        return (m,), lambda p: (index[p],), f"its {index.name}"
