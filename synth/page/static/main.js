// The page as a whole: from the address to the list to the row, and back.

const phone = matchMedia("(max-width: 800px)");
let index = null;
let drawnRow = null;

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = false;
  byId("total").textContent = "";
}

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

function showTotal() {
  const { rows, total } = index;
  byId("total").textContent =
    rows.length === total ? count(total, "row") : `${rows.length.toLocaleString("en")} of ${count(total, "row")}`;
  if (rows.length < total) byId("total").title = "A sample, even over category, level and split";
}

let textsRead = 0;

function showCount(found) {
  const still = asked.q.trim() && textsRead < 1 ? `, reading texts: ${Math.floor(textsRead * 100)} %` : "";
  byId("count").textContent = `${count(found, "match").replace("matchs", "matches")}${still}`;
}

/** Draw what is asked for anew; `keep` leaves the list alone when the same rows match. */
function refresh() {
  const { found, counts } = matching(index);
  showFacets(counts);
  showCount(found.length);
  const chosen = FACETS.reduce((sum, facet) => sum + asked.chosen[facet.key].size, 0);
  byId("clear").hidden = chosen === 0 && !asked.q.trim();
  byId("show-facets").textContent = chosen ? `Filters (${chosen})` : "Filters";
  const same = found.length === list.found.length && found.every((place, at) => place === list.found[at]);
  if (!same || list.index === null) drawList(index, found);
  const place = index.rows.findIndex((row) => row.id === asked.row);
  setCurrent(list.found.indexOf(place));
  if (place < 0 && asked.row === null && !phone.matches && found.length) return openAt(0);
  return showRow(place);
}

async function showRow(place) {
  const id = asked.row;
  document.body.classList.toggle("open", id !== null);
  moveButtons();
  if (id === drawnRow) return;
  if (place < 0) {
    drawnRow = id;
    const text = id === null ? "Choose a row." : `This page has no row ${id}.`;
    byId("detail").replaceChildren(el("p", { class: "empty" }, text));
    return;
  }
  try {
    const row = await fullRow(index, place);
    if (asked.row !== id) return;
    drawnRow = id;
    drawRow(row);
  } catch (error) {
    const text = `Row ${id} cannot be shown: ${error.message}`;
    byId("detail").replaceChildren(el("p", { class: "empty", role: "alert" }, text));
    throw error;
  }
  // The neighbour is likely next.
  if (list.found[list.current + 1] !== undefined) fullRow(index, list.found[list.current + 1]);
}

function moveButtons() {
  byId("previous").disabled = list.current <= 0;
  byId("next").disabled = list.current >= list.found.length - 1;
}

/** Show the row at a place of the list. `remember` makes the browser's Back return from it. */
function openAt(at, { remember = false, focus = false } = {}) {
  const place = list.found[at];
  if (place === undefined) return Promise.resolve();
  asked.row = index.rows[place].id;
  history[remember ? "pushState" : "replaceState"](null, "", hash());
  setCurrent(at, focus);
  return showRow(place);
}

const inList = () => phone.matches && !document.body.classList.contains("open");

function move(step) {
  const at = Math.min(Math.max(list.current + step, 0), list.found.length - 1);
  const focus = byId("list").contains(document.activeElement) || inList();
  // On a phone's list a row is only pointed at; elsewhere it shows at once.
  if (inList()) setCurrent(at, true);
  else openAt(at, { focus });
}

function changed() {
  history.replaceState(null, "", hash());
  refresh();
}

function toList() {
  asked.row = null;
  history.replaceState(null, "", hash());
  document.body.classList.remove("open");
  drawnRow = null;
  itemAt(Math.max(list.current, 0))?.focus({ preventScroll: true });
}

async function enter() {
  if (list.current < 0) setCurrent(0);
  await openAt(list.current, { remember: phone.matches && inList() });
  byId("detail").querySelector("h2")?.focus({ preventScroll: true });
}

function wrapLines() {
  const on = document.body.classList.toggle("wrap");
  say(on ? "Long lines are wrapped" : "Long lines are not wrapped");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape") {
    document.querySelectorAll(".facet[open]").forEach((one) => leaveFacet(one));
    if (event.target === byId("q")) (itemAt(Math.max(list.current, 0)) ?? byId("detail")).focus();
    return;
  }
  if (typing && event.target.type !== "checkbox") {
    if (event.key === "Enter") event.preventDefault();
    return;
  }
  const scrolls = event.target.closest("pre, .facet, [role=tablist], .wide");
  const arrows = scrolls ? {} : { ArrowDown: 1, ArrowUp: -1 };
  const step = { j: 1, k: -1, ...arrows }[event.key];
  const pressesButton = event.target.closest("button, summary, a, input") && !byId("list").contains(event.target);
  if (event.key === "/") byId("q").focus();
  else if (step) move(step);
  else if (event.key === "Enter" && !pressesButton) enter();
  else if (event.key === "w") wrapLines();
  else return;
  event.preventDefault();
}

function leaveFacet(facet) {
  const inside = facet.contains(document.activeElement);
  facet.open = false;
  if (inside) facet.querySelector("summary").focus();
}

function listen() {
  let waiting = 0;
  byId("q").addEventListener("input", () => {
    asked.q = byId("q").value;
    clearTimeout(waiting);
    waiting = setTimeout(changed, 60);
  });
  // Not by its address: what stands after # there is what is asked for.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("detail").focus();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", () => {
    asked.q = byId("q").value = "";
    for (const { key } of FACETS) asked.chosen[key].clear();
    changed();
    byId("q").focus();
  });
  byId("rows").addEventListener("click", (event) => {
    const item = event.target.closest("button");
    if (item) openAt(Number(item.dataset.at), { remember: inList() });
  });
  byId("show-facets").addEventListener("click", () => {
    const on = document.body.classList.toggle("facets-open");
    byId("show-facets").setAttribute("aria-expanded", on);
  });
  byId("show-list").addEventListener("click", () => {
    const off = document.body.classList.toggle("no-list");
    byId("show-list").setAttribute("aria-expanded", !off);
    byId("show-list").textContent = off ? "Show list" : "Hide list";
  });
  byId("back").addEventListener("click", toList);
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", (event) => {
    for (const one of document.querySelectorAll(".facet[open]")) if (!one.contains(event.target)) one.open = false;
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.(".facet") || !event.target.open || phone.matches) return;
    for (const one of document.querySelectorAll(".facet[open]")) if (one !== event.target) one.open = false;
  }, true);
  for (const name of ["hashchange", "popstate"]) addEventListener(name, fromAddress);
}

function fromAddress() {
  readHash();
  byId("q").value = asked.q;
  refresh();
}

async function start() {
  if (typeof DecompressionStream !== "function") {
    return trouble("This browser cannot unpack the rows: it has no DecompressionStream. Open the page in Chrome or Edge 92, Firefox 113, Safari 16.4 or newer.");
  }
  index = await unpack("index");
  addNames(index);
  showTotal();
  drawFacets(index, changed);
  listen();
  fromAddress();
  performance.mark("first list");
  await addTexts(index, (share) => {
    textsRead = share;
    if (asked.q.trim() && share < 1) showCount(list.found.length);
  });
  if (asked.q.trim()) refresh();
  performance.mark("texts read");
  document.body.dataset.ready = "true";
}

start().catch((error) => {
  trouble(`The page cannot show its rows: ${error.message}. Make it again with pairsmith view.`);
  throw error;
});
