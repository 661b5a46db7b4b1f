// The list of rows that match: drawn in pieces, as far as it is looked at.

const ROWS_PER_PIECE = 60;

const list = { index: null, found: [], drawn: 0, current: -1 };

function drawList(index, found) {
  Object.assign(list, { index, found, drawn: 0, current: -1 });
  byId("rows").replaceChildren();
  byId("none").hidden = found.length > 0;
  byId("list").scrollTop = 0;
  drawPiece();
}

function drawPiece(upTo = list.drawn + ROWS_PER_PIECE) {
  const last = Math.min(upTo, list.found.length);
  const items = [];
  for (let at = list.drawn; at < last; at++) items.push(itemOf(list.index.rows[list.found[at]], at));
  byId("rows").append(...items);
  list.drawn = Math.max(list.drawn, last);
}

function itemOf(row, at) {
  const level = row.level === null ? null : el("span", { class: "level" }, `L${row.level}`);
  const button = el(
    "button",
    { type: "button", tabindex: -1, "data-at": at },
    el("span", { class: "name" }, row.kernel_name),
    level,
    el("span", { class: "kind" }, [row.category, row.idiom].filter(Boolean).join(" · ")),
    row.split === "train" ? null : el("span", { class: "split" }, row.split),
  );
  return el("li", { "aria-setsize": list.found.length, "aria-posinset": at + 1 }, button);
}

const itemAt = (at) => byId("rows").children[at]?.firstElementChild;

/** Mark an item as the current one and bring it into sight; -1 for none. */
function setCurrent(at, focus = false) {
  itemAt(list.current)?.removeAttribute("aria-current");
  byId("rows").querySelector("[tabindex='0']")?.setAttribute("tabindex", -1);
  list.current = at;
  if (at >= list.drawn) drawPiece(at + ROWS_PER_PIECE);
  const item = itemAt(at);
  if (item) item.setAttribute("aria-current", "true");
  (item ?? itemAt(0))?.setAttribute("tabindex", 0);
  if (item) bringIntoSight(byId("list"), item);
  if (item && focus) item.focus({ preventScroll: true });
}

/** Scroll a box, and nothing around it, until an element in it can be seen. */
function bringIntoSight(box, element) {
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  const room = 8;
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + room;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + room;
}

byId("list").addEventListener("scroll", () => {
  const box = byId("list");
  if (box.scrollTop + 2 * box.clientHeight > box.scrollHeight) drawPiece();
});
