"""The parts of a matmul's CUDA C++: how tiles are multiplied and stored."""

from __future__ import annotations

from collections.abc import Sequence

from synth.lower.tiles import LANES, Words


def kernel_body(words: Words) -> list[str]:
    """What stands between the braces of the kernel."""
    return [*_declarations(words), *_loop(words), *_epilogue(words)]


def _declarations(words: Words) -> list[str]:
    s = words.schedule
    wide = s.vectorize > 1
    a_row, b_row = _tile_rows(words)
    align = f"__align__(sizeof({words.vector(s.vectorize)})) " if wide else ""
    b_columns = "k" if words.spec.transpose_b else "n"
    flags = [
        "    const bool a_aligned = rows_aligned(a, k);",
        f"    const bool b_aligned = rows_aligned(b, {b_columns});",
    ]
    sums = f"{_index('THREAD_M', s.thread_m)}{_index('THREAD_N', s.thread_n)}"
    start = " = {}" if sums else f" = {words.zero}"
    name = "sums" if sums else "sum"
    return [
        f"    {align}__shared__ {words.real} a_tile[TILE_M][{a_row}];",
        f"    {align}__shared__ {words.real} b_tile[TILE_K][{b_row}];",
        "    const int tx = threadIdx.x % THREADS_N;",
        "    const int ty = threadIdx.x / THREADS_N;",
        "    const int first_row = blockIdx.y * TILE_M;",
        "    const int first_column = blockIdx.x * TILE_N;",
        *(flags if wide else []),
        f"    {words.real} {name}{sums}{start};",
    ]


def _tile_rows(words: Words) -> tuple[str, str]:
    """Elements of a row of the tile of a, and of b."""
    pad = "VECTOR" if words.schedule.vectorize > 1 else "1"
    return f"TILE_K + {pad}", f"TILE_N + {pad}" if words.spec.transpose_b else "TILE_N"


def _index(name: str, extent: int) -> str:
    return f"[{name}]" if extent > 1 else ""


def _loop(words: Words) -> list[str]:
    a_flag, b_flag = (", a_aligned", ", b_aligned") if words.schedule.vectorize > 1 else ("", "")
    a_row, b_row = _tile_rows(words)
    load_b = [
        f"load_tile<TILE_N, TILE_K, {b_row}>(b_tile, b, k, n, first_k, first_column{b_flag});"
    ]
    if words.spec.transpose_b:
        load_b = [
            f"load_transposed<TILE_N, TILE_K, {b_row}>(",
            f"    b_tile, b, n, k, first_column, first_k{b_flag});",
        ]
    return [
        "    for (int first_k = 0; first_k < k; first_k += TILE_K) {",
        f"        load_tile<TILE_K, TILE_M, {a_row}>(a_tile, a, m, k, first_row, first_k{a_flag});",
        *(f"        {line}" for line in load_b),
        "        __syncthreads();",
        f"        {words.unroll}",
        "        for (int p = 0; p < TILE_K; ++p) {",
        *(f"            {line}" for line in _products(words)),
        "        }",
        "        __syncthreads();",
        "    }",
    ]


def _unrolled(index: str, end: str, step: int, inner: Sequence[str]) -> list[str]:
    add = f"++{index}" if step == 1 else f"{index} += {step}"
    return [
        "#pragma unroll",
        f"for (int {index} = 0; {index} < {end}; {add}) {{",
        *(f"    {line}" for line in inner),
        "}",
    ]


def _products(words: Words) -> list[str]:
    """The outer product of a column of A's tile and a row of B's, in registers."""
    s, real = words.schedule, words.real
    lines: list[str] = []
    a_value, b_value = f"a_tile[{_row(words)}][p]", f"b_tile[p][{_column(words)}]"
    if s.thread_n > 1:
        lines.append(f"{real} b_values[THREAD_N];")
        lines += _read_b(words)
        b_value = "b_values[j]"
    product = f"{_sum(words)} += {'a_value' if s.thread_n > 1 else a_value} * {b_value};"
    row = [product]
    if s.thread_n > 1:
        row = [f"const {real} a_value = {a_value};", *_unrolled("j", "THREAD_N", 1, row)]
    elif s.thread_m > 1:
        lines.append(f"const {real} b_value = {b_value};")
        row = [product.replace(b_value, "b_value")]
    return lines + (_unrolled("i", "THREAD_M", 1, row) if s.thread_m > 1 else row)


def _read_b(words: Words) -> list[str]:
    s = words.schedule
    if s.group == 1:
        return _unrolled("j", "THREAD_N", 1, [f"b_values[j] = b_tile[p][{_column(words)}];"])
    kind = words.vector(s.group)
    lines = [
        f"const {words.real}* from = &b_tile[p][{_column(words)}];",
        f"const {kind} values = *reinterpret_cast<const {kind}*>(from);",
    ]
    lines += [
        f"b_values[{at}] = values.{lane};" for at, lane in zip(_lanes(words), LANES, strict=False)
    ]
    return lines if s.group == s.thread_n else _unrolled("j", "THREAD_N", s.group, lines)


def _lanes(words: Words) -> list[str]:
    """Indices, among a thread's columns, of the elements of one vector."""
    s = words.schedule
    if s.group == s.thread_n:
        return [str(at) for at in range(s.group)]
    return ["j", *(f"j + {at}" for at in range(1, s.group))]


def _row(words: Words) -> str:
    """The row of the tile that holds a thread's i-th sums."""
    return "ty + i * THREADS_M" if words.schedule.thread_m > 1 else "ty"


def _column(words: Words) -> str:
    """The column of the tile that holds a thread's j-th sum, or vector of sums."""
    s = words.schedule
    own = f"tx * {s.group}" if s.group > 1 else "tx"
    return own if s.group == s.thread_n else f"{own} + j * THREADS_N"


def _sum(words: Words, at: str = "j") -> str:
    s = words.schedule
    index = f"{_index('i', s.thread_m)}{_index(at, s.thread_n)}"
    return f"sums{index}" if index else "sum"


def _epilogue(words: Words) -> list[str]:
    s = words.schedule
    groups = s.thread_n // s.group
    column = [f"const int column = first_column + {_column(words)};"]
    inner = [*column, *_store(words)]
    if groups > 1:
        inner = _unrolled("j", "THREAD_N", s.group, inner)
    inner = [f"const int row = first_row + {_row(words)};", *inner]
    lines = _unrolled("i", "THREAD_M", 1, inner) if s.thread_m > 1 else inner
    flags = ["const bool c_aligned = rows_aligned(c, n);"] if s.group > 1 else []
    return [f"    {line}" for line in [*flags, *lines]]


def _finished(words: Words, at: str = "j") -> str:
    value = _sum(words, at)
    return words.relu(value) if words.spec.op == "matmul_relu" else value


def _store(words: Words) -> list[str]:
    """What a thread writes of one group of columns, where the matrix has them."""
    s = words.schedule
    place = "static_cast<size_t>(row) * n + column"
    if s.group == 1:
        return ["if (row < m && column < n) {", f"    c[{place}] = {_finished(words)};", "}"]
    at = "e" if s.group == s.thread_n else "j + e"
    one = ["if (column + e < n) {", f"    to[e] = {_finished(words, at)};", "}"]
    return [
        "if (row < m && column < n) {",
        f"    {words.real}* const to = c + {place};",
        "    if (c_aligned) {",
        *(f"        {line}" for line in _vector_store(words)),
        "    } else {",
        *(f"        {line}" for line in _unrolled("e", str(s.group), 1, one)),
        "    }",
        "}",
    ]


def _vector_store(words: Words) -> list[str]:
    kind = words.vector(words.schedule.group)
    parts = [_finished(words, at) for at in _lanes(words)]
    if len(parts) == 2 and words.spec.op == "matmul":
        return [f"*reinterpret_cast<{kind}*>(to) = {words.made(parts)};"]
    return [
        f"*reinterpret_cast<{kind}*>(to) = make_{kind}(",
        *(f"    {part}," for part in parts[:-1]),
        f"    {parts[-1]});",
    ]
