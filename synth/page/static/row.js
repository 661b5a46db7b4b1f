// One row: head, texts side by side (one at a time on a phone), facts, folded texts.

function pane(title, key, text, language, aside = "") {
  const code = text === null ? el("code", { class: "missing" }, "This row has none.") : codeOf(text, language);
  const note = el("span", { class: "note" });
  // Focusable, so that the keyboard can scroll it.
  const box = el("pre", { tabindex: 0, role: "region", "aria-label": `${title}, text` }, code);
  const head = el(
    "div",
    { class: "pane-head" },
    el("h3", {}, title),
    el("span", { class: "aside" }, aside),
    note,
    text === null ? null : copyButton(text, title),
  );
  const whole = el("section", { class: "pane", id: `pane-${key}`, "data-pane": key, "aria-label": title }, head, box);
  return { key, title, whole, box, code, note, shown: () => {} };
}

function fold(title, text, language) {
  if (text === null || text === "") {
    return el("p", { class: "absent" }, el("b", {}, title), ": this row has none");
  }
  const box = el("pre", { tabindex: 0, role: "region", "aria-label": `${title}, text` });
  const details = el("details", { class: "fold" }, el("summary", {}, title), copyButton(text, title), box);
  // Coloured when it is opened: most are not.
  details.addEventListener("toggle", () => box.childElementCount || box.append(codeOf(text, language)));
  return details;
}

let tabChosen = "python";

function tabsOf(panes) {
  const tabs = panes.map((one) =>
    el("button", { type: "button", role: "tab", id: `tab-${one.key}`, "aria-controls": `pane-${one.key}` }, one.title),
  );
  const choose = (at, focus) => {
    tabChosen = panes[at].key;
    panes.forEach((one, i) => {
      one.whole.classList.toggle("front", i === at);
      tabs[i].setAttribute("aria-selected", i === at);
      tabs[i].tabIndex = i === at ? 0 : -1;
    });
    if (focus) tabs[at].focus();
    panes[at].shown();
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(at, false));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose((at + step + tabs.length) % tabs.length, true);
    });
  });
  choose(Math.max(0, panes.findIndex((one) => one.key === tabChosen)), false);
  return el("div", { class: "tabs", role: "tablist", "aria-label": "Texts" }, ...tabs);
}

function headOf(row) {
  const kind = [row.category, row.idiom].filter(Boolean).join(" · ");
  const level = row.level === null ? "no level" : `level ${row.level}`;
  return el(
    "div",
    { class: "row-head" },
    el("h2", { tabindex: -1 }, row.kernel_name),
    el("p", { class: "meta" }, `${kind} · ${level} · ${row.split} · `, el("code", {}, row.id)),
    row.description ? el("p", { class: "description" }, row.description) : null,
    badges(row),
  );
}

const styleOf = (row) => (row.schedule === null ? "" : JSON.parse(row.schedule).style.replaceAll("_", " "));

/** Fill the page's main part with a row. */
function drawRow(row) {
  const python = pane("Python", "python", row.python, "python");
  const plain = pane("Plain CUDA", "plain", row.cuda_plain, "cuda", styleOf(row));
  const warp = pane("Warp CUDA", "warp", warpText(row), "cuda");
  joinPanes(python, warp, row);
  const panes = [python, plain, warp];
  byId("detail").replaceChildren(
    headOf(row),
    el("div", { class: "texts" }, tabsOf(panes), el("div", { class: "panes" }, ...panes.map((one) => one.whole))),
    el("div", { class: "columns" }, evidence(row), launchOf(row), provenanceOf(row), argumentsOf(row)),
    el(
      "div",
      { class: "folds" },
      fold("NumPy (whole arrays)", row.array_python, "python"),
      fold("Backward kernel (plain CUDA)", row.cuda_plain_backward, "cuda"),
      fold("Reference (plain Python)", row.reference, "python"),
      fold("Backward (Warp CUDA)", row.cuda_backward, "cuda"),
      fold("Prologue (Warp CUDA, the same in nearly every row)", row.prologue_text, "cuda"),
    ),
  );
  byId("detail").scrollTop = 0;
  byId("detail").setAttribute("aria-label", `Row ${row.kernel_name}`);
}
