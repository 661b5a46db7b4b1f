// Evidence, arguments and provenance of a row. Null is said, not left out.

const shown = (value) => {
  if (value === null || value === undefined) return el("span", { class: "null" }, NOT_MEASURED);
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
};

const orDash = (value) => (value === null || value === undefined || value === "" ? "–" : String(value));

/** Terms and values; what is no node is shown as text. */
function terms(pairs) {
  const parts = pairs.flatMap(([name, value]) => {
    const text = value instanceof Node ? value : shown(value);
    return [el("dt", {}, name), el("dd", {}, text)];
  });
  return el("dl", {}, ...parts);
}

function table(heads, rows, label) {
  const head = el("tr", {}, ...heads.map((name) => el("th", { scope: "col" }, name)));
  const body = rows.map((cells) => el("tr", {}, ...cells.map((cell) => el("td", {}, cell))));
  const box = el("table", {}, el("thead", {}, head), el("tbody", {}, ...body));
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, box);
}

const section = (title, ...parts) => el("section", { class: "facts" }, el("h3", {}, title), ...parts);

function badge(label, status, good) {
  const kind = status === null ? "unknown" : good ? "good" : "other";
  const sign = { unknown: "–", good: "✓", other: "•" }[kind];
  const said = status ?? NOT_MEASURED;
  return el(
    "li",
    { class: `badge ${kind}` },
    el("span", { "aria-hidden": "true" }, sign),
    ` ${label} `,
    el("b", {}, said),
  );
}

function badges(row) {
  const { checks } = row;
  const compiled = checks.compile_archs?.length ? checks.compile_archs.join(" ") : null;
  const found = [
    badge("compiled", compiled, true),
    badge("Warp CUDA on the host", checks.run_forward, checks.run_forward === "agrees"),
    badge("plain CUDA on the host", checks.run_plain, checks.run_plain === "agrees"),
    badge("adjoint", checks.adjoint?.replaceAll("_", " ") ?? null, checks.adjoint === "agrees"),
    badge("gradient", checks.gradient?.replaceAll("_", " ") ?? null, checks.gradient === "agrees"),
  ];
  if (row.gpu.length) {
    const passed = row.gpu.filter((record) => record.status === "passed").length;
    const all = passed === row.gpu.length;
    found.push(badge("GPU", `${passed} of ${row.gpu.length} texts passed`, all));
  }
  return el("ul", { class: "badges", "aria-label": "Evidence" }, ...found);
}

const WHOLE = /^(bool|u?int\d+)$|\[u?int\d+\]$/;

/** How close each output must be; whole numbers have no tolerance, because they must be equal. */
function tolerancesOf(row) {
  const outputs = row.args.filter((arg) => arg.role === "out" || arg.role === "inout");
  return outputs.map((arg) => {
    if (arg.rtol !== null) return `${arg.name}: rtol ${arg.rtol}, atol ${orDash(arg.atol)}`;
    return `${arg.name}: ${WHOLE.test(arg.dtype) ? "exact" : "none given"}`;
  });
}

function evidence(row) {
  const { checks } = row;
  const tolerances = tolerancesOf(row);
  const parts = [
    terms([
      ["Compiled for", checks.compile_archs?.length ? checks.compile_archs : null],
      ["Warp CUDA, host run", checks.run_forward],
      ["Plain CUDA, host run", checks.run_plain],
      ["Adjoint", checks.adjoint],
      ["Own backward kernel", checks.gradient],
      ["Run shapes", checks.shapes?.length ? el("code", {}, checks.shapes.join("\n")) : null],
      ["Tolerances of outputs", tolerances.length ? el("code", {}, tolerances.join("\n")) : null],
      ["Largest error, ulp", checks.max_ulp],
      ["Registers", checks.registers],
      ["Spilled bytes", checks.spill_bytes],
      ["Shared memory, bytes", checks.shared_bytes],
    ]),
  ];
  if (row.gpu.length) {
    const rows = row.gpu.map((g) => [g.device, g.text, g.status, orDash(g.time_us), orDash(g.reason)]);
    parts.push(table(["Device", "Text", "Status", "µs", "Reason"], rows, "GPU runs"));
  }
  return section("Evidence", ...parts);
}

const rangeOf = (arg) => (arg.low === null && arg.high === null ? "–" : `${orDash(arg.low)} … ${orDash(arg.high)}`);

function argumentsOf(row) {
  const lines = row.args.flatMap((arg) => [
    [arg.name, arg.kind, arg.dtype, arg.role, arg.shape?.join(" × ") || "–", orDash(arg.init), rangeOf(arg)],
    ...(arg.fields ?? []).map((f) => [
      `${arg.name}.${f.name}`, "field", f.dtype, "", "", orDash(f.init), rangeOf(f),
    ]),
  ]);
  const heads = ["Name", "Kind", "dtype", "Role", "Shape", "Init", "Range"];
  return section("Arguments", table(heads, lines, "Arguments"));
}

function launchOf(row) {
  const inUse = new Map((row.regime ?? []).map((s) => [s.symbol, `${counted(s.low)} … ${counted(s.high)}`]));
  const sizes = (row.sizes ?? []).map((s) => [
    s.symbol, orDash(s.value), orDash(s.min), orDash(s.multiple_of), inUse.get(s.symbol) ?? "–",
  ]);
  const pairs = [["Warp launch", `dim ${row.launch.dim.join(" × ")}, block ${orDash(row.launch.block_dim)}`]];
  if (row.plain_launch === null) pairs.push(["Plain CUDA", "this row has none"]);
  else {
    for (const s of row.plain_scratch) pairs.push(["Scratch memory", el("code", {}, `${s.dtype} ${s.name}[${s.count}], starts as ${s.init}`)]);
    const several = row.plain_launch.length > 1;
    for (const { kernel, args, grid, block, shared_bytes } of row.plain_launch) {
      const head = several ? `${kernel}(${args.join(", ")})\n` : "";
      const plain = `${head}grid ${grid.join(", ")}\nblock ${block.join(" × ")}\nshared ${orDash(shared_bytes)} bytes`;
      pairs.push(["Plain launch", el("code", {}, plain)]);
    }
    const parameters = row.plain_args.map((a) => `${a.type} ${a.name}${a.size ? ` = ${a.size}` : ""}`);
    pairs.push(["Plain parameters", el("code", {}, parameters.join("\n"))]);
    pairs.push(["Schedule", el("code", {}, scheduleText(row.schedule))]);
  }
  const sizeTable = table(["Size", "Value", "Min", "Multiple of", "In use"], sizes, "Sizes");
  return section("Sizes and launch", sizeTable, terms(pairs));
}

const counted = (size) => size.toLocaleString("en");

const scheduleText = (schedule) =>
  Object.entries(JSON.parse(schedule)).map(([name, value]) => `${name}: ${value}`).join("\n");

function provenanceOf(row) {
  const from = row.provenance;
  const pairs = ["seed", "index", "attempt", "pairsmith", "warp"].map((name) => [name, orDash(from[name])]);
  pairs.push(["nvrtc", from.nvrtc ?? "not used"]);
  if (from.module !== null) {
    pairs.push(["module", from.module], ["line", orDash(from.line)]);
    pairs.push(["self-contained", from.self_contained === null ? "–" : from.self_contained ? "yes" : "no"]);
  }
  pairs.push(["input seed", orDash(row.input_seed)], ["structure", orDash(row.structure)]);
  pairs.push(["operations", el("code", { class: "flow" }, (row.ops ?? []).join("  ") || "–")]);
  return section("Provenance", terms(pairs));
}
