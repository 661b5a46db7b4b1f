"""Sizes whose names say how large they are in use: images, batches, heads, vocabularies.

Of each name the ranges that are drawn from, where the launch counts other sizes besides or counts
it not at all. Sides of images and grids are smaller where there are three axes.
"""

from __future__ import annotations

from collections.abc import Mapping

Range = tuple[int, int]


def _named(**ranges: tuple[Range, ...]) -> dict[str, tuple[Range, ...]]:
    """The ranges by name; keys hold several names, joined by two underscores."""
    return {name: each for names, each in ranges.items() for name in names.split("__")}


_FLAT: tuple[Range, ...] = ((256, 1024), (1024, 4096))
_SOLID: tuple[Range, ...] = ((32, 128), (128, 256))
SIDES = (
    *(("h", "w"), ("height", "width"), ("ny", "nx"), ("img_h", "img_w")),
    ("cell_rows", "cell_cols"),
)
"""Sides of an image or a plane, which belong together."""
_SIDES = frozenset(side for pair in SIDES[:3] for side in pair)
_THIRD = frozenset({"nz", "d", "slices"})

CALLED: Mapping[str, tuple[Range, ...]] = _named(
    taps=((3, 9), (9, 33)),
    groups=((4, 16), (16, 256)),
    classes=((8, 64), (64, 1000)),
    channels__chans__cout=((8, 64), (64, 256)),
    cin=((3, 4), (16, 64), (64, 256)),
    heads=((8, 16), (16, 64)),
    bands=((3, 4), (3, 12)),
    dim__vdim__kdim=((32, 128), (64, 256)),
    half_dim=((16, 64), (32, 128)),
    features=((32, 128), (128, 1024)),
    b__batch__images__clouds__scenes__worlds__folds__models__tracks__streams=((4, 16), (16, 64)),
    frames__series__filters__views=((16, 64), (64, 256)),
    seqs=((32, 128), (128, 512)),
    bins=((16, 64), (64, 256)),
    conf_bins=((10, 20), (15, 50)),
    orientations=((6, 9), (9, 18)),
    img_h=((384, 1536),),
    img_w=((640, 2560),),
    radius=((1, 4), (4, 16)),
    rhos=((512, 1024), (1024, 4096)),
    acc_height__acc_width=((512, 2048),),
    cams=((64, 512), (512, 4096)),
    buckets__docs=((1024, 65_536), (65_536, 1_000_000)),
    sketch_width=((1024, 4096), (4096, 65_536)),
    sketch_depth__rotors__max_influences=((3, 4), (4, 8)),
    joints=((6, 12), (12, 32)),
    legs__segs=((8, 32), (32, 128)),
    wells=((96, 384),),
    days=((30, 365), (365, 3650)),
    hours=((168, 744), (744, 8760)),
    sets=((1024, 8192), (8192, 65_536)),
    x_words=((4, 8),),
    edges__num_edges__num_faces__num_elements=((4096, 65_536), (65_536, 500_000)),
    brackets__parts__components__terms__adapters__experts=((4, 8), (8, 16)),
    levels__objects__shapes__rank__window=((4, 16), (16, 64)),
    beams__sections=((2, 4), (4, 8)),
    drafted=((3, 8), (4, 16)),
    actions__slots=((8, 32), (32, 64)),
    shifts=((4, 8), (8, 16)),
    sides__tones=((6, 20), (20, 60)),
    degree__max_degree__longest=((8, 32), (32, 64)),
    chars=((32, 128), (128, 512)),
    hidden=((256, 1024), (1024, 4096)),
    labels__pairs=((16, 64), (32, 128)),
    states__k_clusters__symbols=((8, 64), (64, 256)),
    bones__max_fill=((32, 64), (64, 256)),
    vocab=((8_000, 32_000), (32_000, 128_000)),
    angles=((64, 180), (180, 720)),
    disparities=((32, 128), (64, 256)),
    lags__thresholds=((16, 64), (64, 256)),
    regions=((64, 1024), (1024, 8192)),
    top_k=((4, 16), (16, 64)),
    max_len__places=((512, 2048), (2048, 4096)),
    table_slots=((1024, 8192), (8192, 65_536)),
    pages=((1024, 8192), (8192, 65_536)),
    page_size=((8, 16), (16, 32)),
    voices__links=((4, 16), (8, 32)),
    elem_nodes__atoms=((3, 8), (4, 10)),
    order=((64, 256), (256, 1024)),
    rhs=((4, 16), (16, 64), (64, 256)),
    basis=((8, 32), (32, 64)),
    scenarios=((64, 256), (256, 1024)),
    lamps=((4, 16), (8, 64)),
    balls__boxes=((8, 64), (64, 256)),
    tris__faces=((64, 512), (512, 4096)),
    num_vortices=((64, 512), (512, 4096)),
    refs__probes=((1024, 4096), (4096, 16_384)),
    log_nodes=((16, 20), (20, 24)),
    bvh_nodes=((1023, 8191), (8191, 65_535)),
    accounts__users__meters__workers__rooms=((256, 4096), (4096, 65_536)),
    basins__desks__feeders__teams__assemblies__tasks=((8, 64), (64, 512)),
    tariff_zones__languages__sessions__trials=((4, 8), (8, 24)),
    tile_rows__tile_cols=((32, 64), (64, 128)),
    cell_rows__cell_cols=((16, 64), (64, 256)),
    ybins=((16, 64), (64, 256)),
    stripes=((256, 1024), (1024, 8192)),
    num_groups=((64, 256), (256, 1024)),
    walk_length=((16, 64), (64, 256)),
    replicas=((4, 16), (16, 64)),
    tree_nodes=((4, 16), (16, 128)),
    total_bins=((1024, 8192), (8192, 65_536)),
    feature_words=((4, 16), (16, 64)),
    max_entries=((16, 64), (64, 256)),
    stations=((64, 256), (256, 4096)),
    months=((12, 12), (12, 120)),
    in_h__in_w__out_h__out_w=((256, 1024), (1024, 4096)),
    blocks_y__blocks_x=((32, 128), (128, 256)),
    row_words=((16, 64), (64, 256)),
    noise_size=((32, 64), (64, 128)),
    phases=((8, 16), (16, 64)),
    sources__targets=((512, 2048), (1024, 4096)),
    sites__patterns=((4096, 65_536), (65_536, 500_000)),
    categories=((4, 4), (4, 8)),
    level_nodes__num_partials=((16, 64), (64, 256)),
    children=((2, 4), (3, 8)),
    column_blocks__codewords=((4096, 65_536), (65_536, 1_000_000)),
    range_bins__range_gates=((256, 1024), (1024, 8192)),
    directions=((181, 361), (361, 1801)),
    sensors=((8, 16), (16, 64)),
    num_beams=((32, 128), (128, 512)),
    elements=((64, 128), (128, 256)),
    depths__lateral=((256, 512), (512, 1024)),
    replica_len=((64, 256), (256, 1024)),
    freq_bins=((512, 2048), (2048, 8192)),
    pulses__pulses_out__doppler_bins__chirps=((32, 128), (128, 256)),
    beams_formed__azimuths=((180, 360), (360, 3600)),
    parity_checks=((1024, 4096), (4096, 32_768)),
    code_bits=((2048, 8192), (8192, 65_536)),
    check_degree=((6, 8), (7, 20)),
    var_degree=((3, 4), (3, 6)),
    lifting=((27, 81), (128, 384)),
    base_cols=((24, 24), (26, 68)),
    half_states=((32, 32), (32, 128)),
    disks=((6, 12), (12, 24)),
    parities=((2, 3), (3, 6)),
    checks=((16, 32), (32, 64)),
    code_len__message_len=((204, 255),),
    frame_size=((80, 160), (160, 320)),
    neurons=((1024, 8192), (8192, 65_536)),
    synapses=((200_000, 2_000_000), (1_000_000, 10_000_000)),
    fan=((32, 128), (100, 1000)),
    inputs=((784, 1024), (1024, 4096)),
    populations=((4, 16), (16, 64)),
    qmc_points=((4096, 65_536), (65_536, 1_000_000)),
    qmc_dims=((4, 16), (16, 64)),
    point_chunks=((1024, 8192), (8192, 65_536)),
    run_length__replicates=((16, 64), (64, 256)),
    candidates__lattice_points=((512, 2048), (2048, 8192)),
    designs=((16, 64), (64, 256)),
    design_points=((128, 512), (512, 2048)),
    contracts=((256, 1024), (1024, 4096)),
    grid_h__grid_w=((8, 16), (16, 64)),
    horizon=((32, 128), (128, 512)),
    tree_level__lattice_steps=((64, 256), (256, 1024)),
    ray_samples=((64, 256), (256, 1024)),
)
_INNER: Mapping[str, tuple[Range, ...]] = _named(
    q__planes=((4, 8), (6, 16)),
    cells=((64, 256), (256, 1024)),
    keys__queries=((64, 256), (256, 2048)),
    tokens__observations=((1024, 4096), (4096, 16_384)),
    inner_dim=((64, 256), (256, 1024)),
    num_particles=((1000, 4000), (4000, 20_000)),
    block_size=((16, 32), (32, 128)),
)
"""Of sizes that the launch does not count, under names that mean something else where it does."""
_AUDIO = frozenset({"channels", "tracks", "tones"})
"""Beside one of these a number of samples is a length of sound."""
_ALONE: Mapping[str, tuple[Range, ...]] = _named(
    channels__tracks__streams__models__clouds__folds=((64, 256), (256, 1024)),
    states__batch__seqs=((64, 256), (256, 1024)),
    units__stations__sources__targets=((4096, 16_384), (8192, 32_768)),
    width=((1024, 4096), (4096, 8192)),
    envs=((1024, 8192), (8192, 65_536)),
    features=((1024, 4096), (4096, 16_384)),
    out_features=((4096, 16_384), (8192, 32_768)),
    rhs=((256, 1024), (1024, 8192)),
    tokens__capacities__triplets__edge_points=((8192, 65_536), (65_536, 500_000)),
    num_active=((10_000, 100_000), (50_000, 500_000)),
    neurons=((10_000, 100_000), (100_000, 1_000_000)),
    qmc_dims=((1024, 4096), (4096, 21_201)),
    contracts=((4096, 16_384), (16_384, 131_072)),
)
"""The same of a size that the launch counts and nothing else, where that is no large number."""

_HELD = frozenset({"particles", "num_particles"})
"""Beside one of these a grid has about as many cells as there are particles, or a few less."""
_HELD_SIDES: Mapping[tuple[bool, bool], tuple[Range, ...]] = {
    (True, False): ((256, 512), (512, 1024)),
    (True, True): ((64, 128),),
    (False, False): ((192, 256),),
    (False, True): ((32, 40),),
}
"""Sides of such a grid, by whether each particle has a thread and whether there are three axes."""
_CROWDS = frozenset({"n", "num", "count", "scenes", "worlds", "batch", "b"})
"""Sizes of sets of points, beside which a width is how many neighbours each has."""

SEARCHED = frozenset({"table_slots", "bvh_nodes"})
"""Tables and trees in which a loop, though bounded by their size, looks at a few places."""
POINTS = frozenset({"nodes", "num_nodes", "verts", "num_verts", "nv", "points", "num_points"})
"""What elements, edges and faces share: a share of them."""
SHARING = ("num_edges", "edges", "num_elements", "num_faces", "faces", "tris")
"""What shares points, where it is one of several sizes."""
FACES = frozenset({"num_faces", "faces", "tris"})
"""A closed mesh of triangles has half as many points."""


def ranges_of(
    name: str, others: frozenset[str], alone: bool, counted: bool = False
) -> tuple[Range, ...]:
    """The ranges of a size beside ``others``, none where its name does not say them.

    ``counted``: the launch counts it; ``alone``: it counts that and nothing else, and then only
    sides of an image say something.
    """
    beside = _beside(name, others, counted)
    if beside:
        return beside
    if alone:
        return _ALONE.get(name, ())
    return (() if counted else _INNER.get(name, ())) or CALLED.get(name, ())


def _beside(name: str, others: frozenset[str], counted: bool) -> tuple[Range, ...]:
    """The ranges that a size has for what stands beside it."""
    sides = _SIDES & {name, *others}
    if {name, *others} >= {"nx", "nz"} and "ny" not in {name, *others} and name in ("nx", "nz"):
        return _FLAT
    if name in _SIDES | {"nz"} and _HELD & others and len(sides) > 1:
        return _HELD_SIDES[bool(_HELD & others & {"particles"}), "nz" in {name, *others}]
    if name in _SIDES and (len(sides) > 1 or "nz" in others):
        return _SOLID if _THIRD & others else _FLAT
    if name == "nz" and sides:
        return _SOLID
    if name in ("width", "k") and not counted and others and others <= _CROWDS:
        return CALLED["degree"]
    for (symbol, where), (beside, ranges) in _BESIDE.items():
        placed = {"counted": counted, "inner": not counted}.get(where, True)
        if name == symbol and placed and (beside & others or not beside):
            return ranges
    return ()


_BESIDE: Mapping[tuple[str, str], tuple[frozenset[str], tuple[Range, ...]]] = {
    ("block_rows", ""): (frozenset({"nodes"}), ((256, 1024), (512, 2048))),
    ("nodes", ""): (frozenset({"block_rows"}), ((2048, 4096), (4096, 8192))),
    ("width", ""): (frozenset({"nodes"}), CALLED["labels"]),
    ("nodes", "counted"): (
        frozenset({"width", "heads", "edges"}),
        ((20_000, 200_000), (100_000, 1_000_000)),
    ),
    ("bins", ""): (frozenset({"angles"}), CALLED["rhos"]),
    ("num_particles", "inner"): (frozenset({"nx"}), ((16_000, 60_000),)),
    ("terms", ""): (frozenset({"frames", "m"}), ((3, 4), (4, 6))),
    ("particles", "counted"): (
        frozenset({"nx"}),
        ((500_000, 4_000_000), (1_000_000, 8_000_000)),
    ),
    ("nx", "inner"): (frozenset({"num_particles"}), ((256, 1024), (1024, 8192))),
    ("buckets", ""): (frozenset({"systems"}), ((256, 1024), (512, 2048))),
    ("bodies", "inner"): (frozenset({"zones"}), ((64, 256), (256, 1024))),
    ("zones", "inner"): (frozenset({"bodies"}), ((4, 8), (8, 16))),
    ("atoms", "counted"): (frozenset({"frames"}), ((512, 1024), (1024, 2048))),
    ("atoms", ""): (frozenset({"bins"}), ((4096, 8192), (8192, 16_384))),
    ("items", ""): (frozenset({"top_k"}), ((256, 1024), (1024, 8192))),
    ("keys", "inner"): (frozenset({"queries"}), ((256, 1024), (1024, 4096))),
    ("max_len", ""): (frozenset({"tokens"}), ((512, 2048), (1024, 4096))),
    ("tokens", ""): (frozenset({"max_len"}), ((2048, 8192), (8192, 32_768))),
    ("samples", "inner"): (_AUDIO, ((1024, 8192), (8192, 48_000))),
    ("channels", ""): (frozenset({"tracks"}), ((1, 2), (2, 8))),
    ("steps", ""): (frozenset({"envs"}), ((32, 128), (128, 512))),
    ("steps", "inner"): (frozenset({"neurons"}), ((100, 1000),)),
    ("particles", ""): (frozenset({"filters"}), ((256, 1024), (1024, 8192))),
    ("words", ""): (frozenset({"neurons"}), ((32, 256), (256, 2048))),
    ("steps", "counted"): (frozenset({"actions"}), ((128, 512), (512, 1024))),
    ("samples", "counted"): (frozenset({"devices"}), ((1024, 8192),)),
    ("channels", "counted"): (frozenset({"devices"}), ((4096, 16_384), (16_384, 65_536))),
    ("tracks", "counted"): (frozenset({"channels"}), ((64, 256), (256, 1024))),
    ("chans", "counted"): (frozenset({"tokens"}), ((1024, 2048), (2048, 8192))),
    ("batch", "counted"): (
        frozenset({"actions", "states", "labels"}),
        ((64, 256), (256, 1024)),
    ),
    ("tokens", "counted"): (frozenset({"heads"}), ((256, 1024), (1024, 4096))),
    ("frames", "inner"): (frozenset({"labels"}), ((256, 1024), (1024, 2048))),
    ("boxes", "counted"): (frozenset({"batch"}), ((256, 1024), (1024, 4096))),
    ("features", "inner"): (frozenset({"rank"}), ((512, 2048), (1024, 4096))),
    ("groups", "inner"): (frozenset({"out_features"}), ((16, 64), (32, 128))),
    ("slots", ""): (frozenset({"sets", "documents"}), ((32, 128), (64, 256))),
    ("nodes", "inner"): (frozenset({"strands"}), ((8, 32), (32, 128))),
    ("planes", "counted"): (frozenset({"chans"}), ((8, 32), (16, 64))),
    ("out_planes", "counted"): (frozenset({"chans"}), ((8, 32), (16, 64))),
    ("rows", ""): (frozenset({"planes"}), ((32, 64), (64, 128))),
    ("cols", "counted"): (frozenset({"planes"}), ((32, 64), (64, 128))),
    ("out_rows", "counted"): (frozenset({"out_planes"}), ((32, 64), (64, 128))),
    ("out_cols", "counted"): (frozenset({"out_planes"}), ((32, 64), (64, 128))),
    ("rows", "counted"): (frozenset({"nnz"}), ((20_000, 200_000), (100_000, 1_000_000))),
    ("nnz", "counted"): (frozenset(), ((200_000, 2_000_000), (1_000_000, 10_000_000))),
}
"""By a name, and where it has to stand: beside which sizes (any where none are named) it has
which ranges."""
