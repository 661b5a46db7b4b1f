// Which lines of Warp CUDA a line of Python became, and the reverse.

/** Two maps, line -> lines: a statement's first CUDA line, and those after it that are as deep. */
function lineMaps(row) {
  const toCuda = new Map();
  const toPython = new Map();
  const text = warpText(row).split("\n");
  const before = row.cuda_helpers.split("\n").length - 1;
  const first = new Map();
  row.line_map_python.forEach((python, i) => {
    const cuda = row.line_map_cuda[i] + before;
    first.set(cuda, [...(first.get(cuda) ?? []), python]);
  });
  const depth = (line) => (text[line - 1] ?? "").search(/\S/);
  for (const [start, pythons] of first) {
    let end = start;
    while (end < text.length && !first.has(end + 1) && depth(end + 1) >= depth(start)) end++;
    for (const python of pythons) {
      for (let line = start; line <= end; line++) {
        toCuda.set(python, [...(toCuda.get(python) ?? []), line]);
        toPython.set(line, [...(toPython.get(line) ?? []), python]);
      }
    }
  }
  return { toCuda, toPython };
}

const ranges = (lines) => {
  const found = [];
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    if (found.length && found.at(-1)[1] === line - 1) found.at(-1)[1] = line;
    else found.push([line, line]);
  }
  return found.map(([low, high]) => (low === high ? `${low}` : `${low}–${high}`)).join(", ");
};

/** Join two panes: pointing at a line of one marks its lines in both. */
function joinPanes(python, cuda, row) {
  const { toCuda, toPython } = lineMaps(row);
  const lineOf = (pane, number) => pane.code.children[number - 1];
  const sides = [
    { pane: python, other: cuda, map: toCuda, back: toPython },
    { pane: cuda, other: python, map: toPython, back: toCuda },
  ];
  let marked = [];

  function mark(side, number) {
    for (const line of marked) line.classList.remove("mapped");
    const others = side?.map.get(number) ?? [];
    // Where a CUDA line is one of several of its statement, all of them belong to the mark.
    const own = others.length ? [...new Set(others.flatMap((line) => side.back.get(line)))] : [];
    const here = [...own.map((line) => lineOf(side.pane, line))];
    const there = [...others.map((line) => lineOf(side.other, line))];
    marked = [...here, ...there].filter(Boolean);
    for (const line of marked) line.classList.add("mapped");
    showNote(side, own, others);
    if (there.length) reveal(side.other, there);
  }

  function showNote(side, own, others) {
    for (const { pane } of sides) pane.note.textContent = "";
    if (!others.length) return;
    side.pane.note.textContent = `line ${ranges(own)} → ${side.other.title} ${ranges(others)}`;
    side.other.note.textContent = `line ${ranges(others)}`;
  }

  for (const side of sides) {
    const lineFrom = (event) => {
      const line = event.target.closest?.(".line");
      return line ? Number(line.dataset.line) : 0;
    };
    for (const number of side.map.keys()) lineOf(side.pane, number)?.classList.add("has-map");
    side.pane.code.addEventListener("pointerover", (event) => mark(side, lineFrom(event)));
    side.pane.code.addEventListener("click", (event) => mark(side, lineFrom(event)));
    side.pane.code.addEventListener("focusin", (event) => mark(side, lineFrom(event)));
    walkLines(side.pane);
  }
  // A tab that comes to the front shows the lines that were marked from the other.
  for (const { pane } of sides) {
    pane.shown = () => {
      const here = marked.filter((line) => pane.code.contains(line));
      if (here.length) reveal(pane, here);
    };
  }
}

function reveal(pane, lines) {
  const outer = pane.box.getBoundingClientRect();
  const seen = (line) => {
    const { top, bottom } = line.getBoundingClientRect();
    return top >= outer.top && bottom <= outer.bottom;
  };
  if (outer.height === 0 || lines.some(seen)) return;
  const offset = lines[0].getBoundingClientRect().top - outer.top;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const top = pane.box.scrollTop + offset - outer.height / 3;
  pane.box.scrollTo({ top, behavior: still ? "instant" : "smooth" });
}

/** Lines that are mapped can be reached with the keyboard: Tab enters, arrows walk. */
function walkLines(pane) {
  const stops = [...pane.code.querySelectorAll(".has-map")];
  if (stops.length === 0) return;
  for (const stop of stops) stop.tabIndex = -1;
  stops[0].tabIndex = 0;
  pane.code.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = stops.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = stops[Math.min(Math.max(at + step, 0), stops.length - 1)];
    next.focus({ preventScroll: true });
    reveal(pane, [next]);
  });
  pane.code.addEventListener("focusin", (event) => {
    if (!stops.includes(event.target)) return;
    for (const stop of stops) stop.tabIndex = stop === event.target ? 0 : -1;
  });
}
