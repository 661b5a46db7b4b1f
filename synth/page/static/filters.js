// What is asked for: kept in the address after #, so that a view can be shared and bookmarked.

const NOT_MEASURED = "not measured";

const FACETS = [
  { key: "category", label: "Category", of: (row) => [row.category] },
  { key: "level", label: "Level", of: (row) => [row.level === null ? "none" : String(row.level)] },
  { key: "evidence", label: "Evidence", all: true, of: evidenceOf },
  { key: "adjoint", label: "Adjoint", of: (row) => [row.adjoint ?? NOT_MEASURED] },
  { key: "split", label: "Split", of: (row) => [row.split], order: ["train", "validation", "test"] },
];

const EVIDENCE = {
  compiled: "compiled",
  run: "run on host",
  adjoint: "adjoint agrees",
  plain: "plain CUDA run",
  gpu: "GPU passed",
  gpu_failed: "GPU failed",
};

/** What was shown of a row; a row must have all that is asked for. */
function evidenceOf(row) {
  const found = [];
  if (row.compiled) found.push("compiled");
  if (row.run === "agrees") found.push("run");
  if (row.adjoint === "agrees") found.push("adjoint");
  if (row.plain === "agrees") found.push("plain");
  if (row.gpu.length > 0) found.push(row.gpu.every((s) => s === "passed") ? "gpu" : "gpu_failed");
  return found;
}

const valueLabel = (facet, value) =>
  facet.key === "evidence" ? EVIDENCE[value] : value.replaceAll("_", " ");

const asked = { q: "", row: null, chosen: Object.fromEntries(FACETS.map((f) => [f.key, new Set()])) };

function readHash() {
  const said = new URLSearchParams(location.hash.slice(1));
  asked.q = said.get("q") ?? "";
  asked.row = said.get("row");
  for (const { key } of FACETS) asked.chosen[key] = new Set(said.getAll(key));
}

function hash() {
  const said = new URLSearchParams();
  if (asked.q.trim()) said.set("q", asked.q);
  for (const { key } of FACETS) for (const value of asked.chosen[key]) said.append(key, value);
  if (asked.row !== null) said.set("row", asked.row);
  return `#${said}`;
}

/** Words of a search; what stands in double quotes is one. */
const searchWords = (text) =>
  [...text.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map((match) => match[1] ?? match[2]);

function fits(facet, row) {
  const chosen = asked.chosen[facet.key];
  if (chosen.size === 0) return true;
  const values = facet.of(row);
  return facet.all ? [...chosen].every((v) => values.includes(v)) : values.some((v) => chosen.has(v));
}

/** Places of the rows that match, and for each facet how many rows each of its values would give. */
function matching(index) {
  const found = [];
  const sought = searchWords(asked.q);
  const counts = Object.fromEntries(FACETS.map((f) => [f.key, new Map()]));
  index.rows.forEach((row, place) => {
    if (!sought.every((word) => row.search.includes(word))) return;
    const missed = FACETS.filter((facet) => !fits(facet, row));
    if (missed.length === 0) found.push(place);
    for (const facet of FACETS) {
      if (missed.length > 1 || (missed.length === 1 && (facet.all || missed[0] !== facet))) continue;
      const count = counts[facet.key];
      for (const value of facet.of(row)) count.set(value, (count.get(value) ?? 0) + 1);
    }
  });
  return { found, counts };
}

/** The choices of each facet, as boxes to tick, in one fold each. */
function drawFacets(index, changed) {
  for (const facet of FACETS) {
    const values = [...new Set(index.rows.flatMap(facet.of))];
    const order = facet.order ?? (facet.all ? Object.keys(EVIDENCE) : null);
    values.sort((a, b) => (order ? order.indexOf(a) - order.indexOf(b) : a < b ? -1 : 1));
    const boxes = values.map((value) => {
      const box = el("input", { type: "checkbox", value });
      box.addEventListener("change", () => {
        asked.chosen[facet.key][box.checked ? "add" : "delete"](value);
        changed();
      });
      const name = el("span", { class: "value" }, valueLabel(facet, value));
      return el("label", {}, box, name, el("span", { class: "n" }));
    });
    const hint = facet.all ? "all of" : "any of";
    const group = el("div", { role: "group", "aria-label": `${facet.label}, ${hint}` }, ...boxes);
    if (facet.all) group.prepend(el("p", { class: "hint" }, "a row must have all that is ticked"));
    if (values.length === 0) group.append(el("p", { class: "hint" }, "nothing was measured"));
    const summary = el("summary", {}, facet.label, el("span", { class: "chosen" }));
    const fold = el("details", { class: "facet", "data-facet": facet.key }, summary, group);
    byId("facets").append(fold);
  }
}

/** Bring ticks, counts and summaries in line with what is asked. */
function showFacets(counts) {
  for (const fold of document.querySelectorAll(".facet")) {
    const facet = FACETS.find((f) => f.key === fold.dataset.facet);
    const chosen = asked.chosen[facet.key];
    for (const box of fold.querySelectorAll("input")) {
      box.checked = chosen.has(box.value);
      const count = counts[facet.key].get(box.value) ?? 0;
      const label = box.closest("label");
      label.querySelector(".n").textContent = count.toLocaleString("en");
      label.classList.toggle("empty", count === 0);
    }
    const names = [...chosen].map((value) => valueLabel(facet, value) ?? value);
    fold.querySelector(".chosen").textContent = names.length > 1 ? names.length : (names[0] ?? "");
    fold.classList.toggle("active", names.length > 0);
  }
}
