"""Text and lists: n-grams, document frequencies, similarity votes, compaction by offsets."""

from __future__ import annotations

from generators.atomic.parallel.hashing import hashed
from generators.atomic.parallel.parts import (
    COUNTS,
    UINT32,
    Shared,
    Work,
    both,
    extent_of,
    guarded,
    named,
    spot,
    work,
)
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.text import written
from generators.kit.words import singular
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var


@idiom(depth=3)
def ngram_counts(k: KernelBuilder, level: int) -> Title:
    """N-grams of tokens: pairs in a table, longer ones by a rolling hash into buckets."""
    pairs = k.draw.shape.chance(0.35)
    with work(k, level, "num_tokens", (60, 84), "i t", "documents", "list lists") as w:
        w.kept["scope"] = "all"
        text = _token_pairs(w) if pairs else _token_hashes(w)
    names = "count_bigrams count_token_pairs"
    return Title(k.name(names if pairs else "ngram_counts count_ngrams hash_ngrams"), text)


def _token_pairs(w: Work) -> str:
    """Two tokens at a distance, in a table of the vocabulary."""
    k, shape = w.k, w.k.draw.shape
    size = k.size("vocab", 4, 6)
    tokens = k.array("tokens ids", INT32, w.dims, init=f"index_of:{size}")
    out = w.shared("pair_counts bigram_table", shape.weighted(COUNTS), (size, size))
    gap = k.draw.value.choice((1, 1, 2))
    i = written(w.i)
    with w.guard(w.i + gap < extent(tokens, len(w.dims) - 1)):
        a = w.let("a first", tokens[w.at], 1.0)
        b = w.let("b second", tokens[spot(*w.at[:-1], w.i + gap)], 1.0)
        marked = w.level > 1 and shape.chance(0.4)
        if marked:
            zero = k.lift(0, INT32)
            with k.if_(both(fn("ne", a, zero), fn("ne", b, zero))):
                out.update("add", (a, b), 1)
        else:
            out.update("add", (a, b), 1)
    what = "bigrams" if gap == 1 else "skip-bigrams, pairs with one token between them"
    text = f"Count {what}: for every {i}, add 1 to {out.said('p', 'q')}, p and q being "
    text += (
        f"{tokens.name} at {i} and {i} + "
        f"{gap}{' of one document' * (len(w.dims) > 1)}, if there are both"
    )
    return text + (" and neither is 0 (a separator)." if marked else ".")


def _token_hashes(w: Work) -> str:
    """Several tokens, hashed one after the other."""
    k, shape = w.k, w.k.draw.shape
    size = k.size("buckets", 9, 14)
    tokens = k.array("tokens ids codes", INT32, w.dims, low=0, high=255)
    out = w.shared("counts ngram_table table", shape.weighted(COUNTS), (size,))
    order: Expr = k.lift(k.draw.value.choice((2, 3, 4)), INT32)
    if shape.chance(0.5):
        order = k.scalar("order gram_length", INT32, 2, 4)
    # Also D. J. Bernstein's constants.
    base, first = k.draw.value.choice(((31, 0), (257, 0), (131, 0), (33, 5381)))
    count = extent_of(k, size)
    signed, i = shape.chance(0.3), written(w.i)
    type_ = INT32 if signed else UINT32
    with w.guard(w.i + order <= extent(tokens, len(w.dims) - 1)):
        start = k.lift(first, type_)
        h = k.let("h code rolling", start)
        with k.for_("j q", order) as j:
            token = tokens[spot(*w.at[:-1], w.i + j)]
            mixed = h * k.lift(base, type_) + cast(token, type_)
            k.assign(h, mixed % count if signed else mixed)
        slot: Expr = h if signed else cast(h % cast(count, UINT32), INT32)
        out.update("add", (w.let("slot bucket", slot, 0.6),), 1)
    place = out.said("h" if signed else f"h % {written(count)}")
    text = f"Count hashed n-grams: for every {i} with {written(order)} {tokens.name} from {i} on"
    text += " in the document" * (len(w.dims) > 1)
    text += f", add 1 to {place}. The hash h begins as {written(start)} and becomes "
    text += f"{'(' * signed}h * {base} + token{')' * signed}"
    return (
        text + (f" % {written(count)}" if signed else " modulo 2^32") + " for each of the tokens."
    )


@idiom(depth=3)
def document_frequency(k: KernelBuilder, level: int) -> Title:
    """Document frequencies, as TF-IDF and inverted indices need: a term counts once a document."""
    shape = k.draw.shape
    k.size("documents", 5, 7)
    k.size("vocab", 7, 10)
    form = shape.choice(("each", "each", "rows", "ragged"))
    names = [k.name("d doc"), k.name("i t p")]
    init, ends = "index_of:vocab", None
    if form == "ragged":
        k.size("num_tokens", 50, 60, minimum=48)
        words = "offsets row_ptr doc_start"
        ends = k.array(words, INT32, "documents+1", init="sorted", low=0, high=48)
        tokens = k.array("tokens terms", INT32, "num_tokens", init=init)
    else:
        padded = shape.chance(0.5)
        k.size("length", 9, 12, minimum=9 if padded else 1)
        tokens = k.array("tokens terms", INT32, ("documents", "length"), init=init)
        if padded:
            ends = k.array("lengths doc_lengths", INT32, "documents", low=4, high=9)
    dims = ("documents", "length") if form == "each" else ("documents",)
    d, *rest = k.thread(*dims, names=names[: len(dims)])
    c = _Documents(k, level, tokens, d, form == "ragged")
    if form == "each" and ends is not None:
        with guarded(k, rest[0] < ends[d], False):
            c.token(rest[0], False)
    elif form == "each":
        c.token(rest[0], False)
    else:
        upto = extent(tokens, 1) if ends is None else ends[d]
        if form == "ragged" and ends is not None:
            c.first, upto = k.let("start begin", ends[d]), ends[d + 1]
        k.used.discard(names[1])
        with k.for_(names[1], named(k, "stop n_tokens", upto), start=c.first) as i:
            c.token(i, True)
    return Title(k.name("document_frequency count_documents"), c.said(ends))


class _Documents:
    """Tokens of documents: the first of each kind in a document counts."""

    def __init__(self, k: KernelBuilder, level: int, tokens: Var, d: Var, ragged: bool) -> None:
        shape = k.draw.shape
        self.k, self.tokens, self.d, self.ragged = k, tokens, d, ragged
        self.first: Expr = k.lift(0, INT32)
        self.df = k.accumulator("doc_freq df doc_counts", shape.weighted(COUNTS), "vocab")
        self.tf: Var | None = None
        if level > 1 and shape.chance(0.4):
            self.tf = k.accumulator("term_counts cf", INT32, "vocab")
        self.ordered = shape.chance(0.35)
        self.stop = shape.chance(0.4)

    def _at(self, i: Expr) -> Expr:
        return self.tokens[i] if self.ragged else self.tokens[self.d, i]

    def token(self, i: Expr, inner: bool) -> None:
        """One token: all of a kind, and the first of each document."""
        k = self.k
        term = k.let("term token", self._at(i))
        if self.stop:
            with guarded(k, fn("ne", term, k.lift(0, INT32)), inner):
                self._count(i, term, inner)
        else:
            self._count(i, term, inner)

    def _count(self, i: Expr, term: Var, inner: bool) -> None:
        k = self.k
        if self.tf is not None:
            k.atomic("add", self.tf, term, 1)
        if self.ordered:
            with k.if_(fn("eq", i, self.first)):
                k.atomic("add", self.df, term, 1)
            with k.elif_(fn("ne", self._at(i - 1), term)):
                k.atomic("add", self.df, term, 1)
            return
        seen = k.let("seen", k.lift(0, INT32))
        with k.for_("j q", i, start=self.first) as j, k.if_(fn("eq", self._at(j), term)):
            k.assign(seen, k.lift(1, INT32))
            k.break_()
        with guarded(k, fn("eq", seen, k.lift(0, INT32)), inner):
            k.atomic("add", self.df, term, 1)

    def said(self, ends: Var | None) -> str:
        text = f"Document frequency of the {self.tokens.name}: count in {self.df.name}[t] the "
        text += "documents in which t occurs"
        if self.tf is not None:
            text += f", and in {self.tf.name}[t] how often it occurs in all"
        if self.ragged and ends is not None:
            text += f". Document d has tokens {ends.name}[d] to {ends.name}[d + 1] - 1"
        else:
            text += ". Document d is row d"
            text += f", of which the first {ends.name}[d] tokens count" if ends is not None else ""
        if self.ordered:
            text += (
                ". Documents are sorted, so that a token counts where the one before it differs."
            )
        else:
            text += ". A token counts where no earlier one of its document is the same."
        return text + (" Token 0 is padding and left out." if self.stop else "")


@idiom(depth=3)
def similarity_votes(k: KernelBuilder, level: int) -> Title:
    """SimHash: every feature votes for or against each bit of a document's fingerprint.

    M. Charikar, STOC 2002.
    """
    shape = k.draw.shape
    with work(
        k, level, "num_features", (48, 72), "i f", "documents", "list lists blocks", True
    ) as w:
        hash_of, how = hashed(k, 0.6)
        load = w.read("features shingles", shape.choice((INT32, UINT32)), 0, 5000)
        key = w.let("key item", cast(load, UINT32), 1.0)
        type_: Scalar = shape.weighted({INT32: 3, FLOAT32: 3})
        weight = None
        value: Expr = k.lift(1, type_)
        if type_ == FLOAT32:
            weight = w.read("weights tf_idf", type_, 0.2, 2.0)
            value = named(k, "w weight", weight, 1.0)
        place: list[Expr] = []
        said: list[str] = []
        bits = str(k.draw.value.choice((16, 32)))
        dims = [bits]
        if len(w.dims) == 1 and w.block is None:
            dims = [k.size("docs", 4, 6), bits]
            owner = w.read("doc_ids owners", INT32, init="index_of:docs")
            place, said = [w.let("d doc", owner, 1.0)], [written(owner)]
        out = w.shared("votes bit_votes", type_, dims)
        seed = k.lift(k.draw.value.choice((1, 7, 42)), UINT32)
        h = k.let("h code", hash_of(key, seed))
        _vote(k, out, h, int(bits), place, value)
    what = "1" if weight is None else written(weight)
    text = (
        f"SimHash votes: for each {singular(load.array.name)} and each of the "
        f"{'lowest 16' if bits == '16' else '32'} bits of its "
    )
    text += f"hash with seed {written(seed)}, add {what} to {out.said(*said, 'bit')} if the bit is "
    text += f"set, else subtract it. The hash is {how}.{w.about}"
    return Title(k.name("simhash_votes fingerprint_votes"), text)


def _vote(
    k: KernelBuilder, out: Shared, h: Expr, bits: int, place: list[Expr], value: Expr
) -> None:
    """A vote for each bit that is set, one against each that is not."""
    branch = k.draw.shape.chance(0.5)
    with k.for_("bit b", bits) as bit:
        one = (h >> cast(bit, UINT32)) & k.lift(1, UINT32)
        test = fn("ne", named(k, "bit_set on", one, 0.4), k.lift(0, UINT32))
        if not branch:
            vote = named(k, "vote sign", fn("where", test, value, -value))
            out.update("add", (*place, bit), vote)
            return
        with k.if_(test):
            out.update("add", (*place, bit), value)
        with k.else_():
            out.update("sub", (*place, bit), value)
