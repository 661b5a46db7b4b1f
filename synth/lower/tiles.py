"""The `__device__` functions of a matmul's CUDA C++, which copy tiles to shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from synth.lower.spec import Schedule, Spec

LANES = "xyzw"
_REAL = {"float32": "float", "float64": "double"}


class Words:
    """Names that the text of a spec uses again and again."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.schedule: Schedule = spec.schedule
        self.real = _REAL[spec.dtype]
        self.zero = "0.0f" if self.real == "float" else "0.0"
        self.unroll = "#pragma unroll" + (f" {s}" if (s := spec.schedule.unroll) else "")

    def vector(self, width: int) -> str:
        """The type of a vector of that many elements."""
        return f"{self.real}{width}"

    def relu(self, value: str) -> str:
        """The larger of a value and zero."""
        return f"{'fmaxf' if self.real == 'float' else 'fmax'}({value}, {self.zero})"

    def made(self, parts: Sequence[str]) -> str:
        """A vector of given elements."""
        return f"make_{self.vector(len(parts))}({', '.join(parts)})"


def device_functions(words: Words) -> list[str]:
    """The `__device__` functions that the kernel calls, a blank line after each."""
    lines = _aligned_rows(words) if words.schedule.vectorize > 1 else []
    lines += _load_tile(words, transposed=False)
    return lines + (_load_tile(words, transposed=True) if words.spec.transpose_b else [])


def _aligned_rows(words: Words) -> list[str]:
    kind = words.vector(words.schedule.vectorize)
    return [
        f"// Whether every row of a matrix starts where a {kind} may.",
        f"__device__ bool rows_aligned(const {words.real}* matrix, int columns)",
        "{",
        "    const size_t place = reinterpret_cast<size_t>(matrix);",
        f"    return columns % VECTOR == 0 && place % sizeof({kind}) == 0;",
        "}",
        "",
    ]


def _load_tile(words: Words, *, transposed: bool) -> list[str]:
    """A function that all threads of a block call to copy a tile to shared memory."""
    wide = words.schedule.vectorize > 1
    name = "load_transposed" if transposed else "load_tile"
    template, shape = ("int WIDTH, int HEIGHT, int STRIDE", "[HEIGHT][STRIDE]")
    about = ["// Copies HEIGHT x WIDTH elements of a row-major matrix, zeros beyond its edges."]
    if transposed:
        template, shape = ("int HEIGHT, int WIDTH, int STRIDE", "[WIDTH][STRIDE]")
        about = ["// The same, with rows and columns of the tile exchanged."]
    parameters = [
        f"{words.real} (&tile){shape}",
        f"const {words.real}* __restrict__ matrix",
        *(f"int {p}" for p in ("rows", "columns", "first_row", "first_column")),
        *(["bool aligned"] if wide else []),
    ]
    return [
        *about,
        f"template <{template}>",
        f"__device__ void {name}(",
        *(f"    {p}," for p in parameters[:-1]),
        f"    {parameters[-1]})",
        "{",
        *(_vector_loads(words, transposed) if wide else []),
        *_scalar_loads(words, transposed),
        "}",
        "",
    ]


def _element_loop(divisor: str, indent: str) -> list[str]:
    """The head of a loop over a tile's elements or vectors, and where each stands."""
    per_row = f"(WIDTH / {divisor})" if divisor else "WIDTH"
    count = f"HEIGHT * WIDTH / {divisor}" if divisor else "HEIGHT * WIDTH"
    column = f"i % {per_row} * {divisor}" if divisor else "i % WIDTH"
    lines = [
        "#pragma unroll",
        f"for (int i = threadIdx.x; i < {count}; i += THREADS) {{",
        f"    const int y = i / {per_row};",
        f"    const int x = {column};",
        "    const int row = first_row + y;",
        "    const int column = first_column + x;",
    ]
    return [f"{indent}{line}" for line in lines]


def _vector_loads(words: Words, transposed: bool) -> list[str]:
    width = words.schedule.vectorize
    kind = words.vector(width)
    store = [f"            *reinterpret_cast<{kind}*>(&tile[y][x]) = values;"]
    if transposed:
        places = ["x", *(f"x + {lane}" for lane in range(1, width))]
        pairs = zip(places, LANES, strict=False)
        store = [f"            tile[{place}][y] = values.{lane};" for place, lane in pairs]
    return [
        "    if (aligned) {",
        *_element_loop("VECTOR", "        "),
        f"            {kind} values = {words.made([words.zero] * width)};",
        "            if (row < rows && column < columns) {",
        "                const size_t at = static_cast<size_t>(row) * columns + column;",
        f"                values = *reinterpret_cast<const {kind}*>(matrix + at);",
        "            }",
        *store,
        "        }",
        "        return;",
        "    }",
    ]


def _scalar_loads(words: Words, transposed: bool) -> list[str]:
    place = "tile[x][y]" if transposed else "tile[y][x]"
    value = "matrix[static_cast<size_t>(row) * columns + column]"
    return [
        *_element_loop("", "    "),
        "        const bool inside = row < rows && column < columns;",
        f"        {place} = inside ? {value} : {words.zero};",
        "    }",
    ]
