// Elements and coloured code. Text enters the page as text nodes alone, never as markup.

const byId = (id) => document.getElementById(id);

/** An element with attributes (handlers as functions) and children (nodes or text). */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const words = (text) => text.trim().split(/\s+/).join("|");

const PYTHON_WORDS = words(`and as assert break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield`);
const CUDA_WORDS = words(`alignas auto break case const constexpr continue default do else enum extern for
  goto if inline namespace operator return sizeof static static_cast reinterpret_cast struct switch
  template typedef typename union unsigned using volatile while __device__ __global__ __restrict__
  __shared__ __forceinline__ __launch_bounds__ __align__`);
const CUDA_TYPES = words(`void bool char short int long float double half size_t
  u?int(?:8|16|32|64)(?:_t)? float(?:16|32|64) __half2? (?:float|int|uint|double|long|ulonglong|longlong)[234]
  \\w+_t vec[234]\\w* mat\\d\\d\\w* quat\\w* transform\\w*`);
const NUMBER = String.raw`\b0[xX][\da-fA-F]+[uUlL]*|(?:\b\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*`;
const STRING = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;

/** One expression a language; the name of the group that matched is the class of the token. */
const GRAMMARS = {
  python: new RegExp(
    [
      String.raw`(?<com>#.*)`,
      String.raw`(?<str>[rbfRBF]{0,2}(?:"""[^]*?(?:"""|$(?![^]))|'''[^]*?(?:'''|$(?![^]))|${STRING}))`,
      String.raw`(?<num>${NUMBER})`,
      String.raw`(?<pre>^[ \t]*@[\w.]+)`,
      String.raw`(?<key>\b(?:${PYTHON_WORDS})\b)`,
      String.raw`(?<typ>\b(?:True|False|None|self|int|float|bool|str)\b)`,
      String.raw`(?<fun>[A-Za-z_]\w*(?=\())`,
      String.raw`(?<name>[A-Za-z_]\w*)`,
    ].join("|"),
    "gm",
  ),
  cuda: new RegExp(
    [
      String.raw`(?<com>//.*|/\*[^]*?(?:\*/|$(?![^])))`,
      String.raw`(?<str>${STRING})`,
      String.raw`(?<num>${NUMBER})`,
      String.raw`(?<pre>^[ \t]*#.*)`,
      String.raw`(?<key>\b(?:${CUDA_WORDS})\b)`,
      String.raw`(?<typ>\b(?:${CUDA_TYPES})\b)`,
      String.raw`(?<fun>[A-Za-z_]\w*(?=\())`,
      String.raw`(?<name>[A-Za-z_]\w*)`,
    ].join("|"),
    "gm",
  ),
};

/** [class or "", text] pieces of a text. */
function* tokens(text, language) {
  let end = 0;
  for (const match of text.matchAll(GRAMMARS[language])) {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    if (kind === "name") continue;
    if (match.index > end) yield ["", text.slice(end, match.index)];
    yield [kind, match[0]];
    end = match.index + match[0].length;
  }
  if (end < text.length) yield ["", text.slice(end)];
}

/** A <code> with one element a line, coloured. */
function codeOf(text, language) {
  const code = el("code");
  let line = null;
  const begin = () => {
    line = el("span", { class: "line", "data-line": code.childElementCount + 1 });
    code.append(line);
  };
  begin();
  for (const [kind, piece] of tokens(text.replace(/\n+$/, ""), language)) {
    piece.split("\n").forEach((part, i) => {
      if (i > 0) begin();
      if (part !== "") line.append(kind ? el("span", { class: kind }, part) : part);
    });
  }
  return code;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, or no clipboard for pages of this kind: the old way still works there.
    const area = el("textarea", { class: "hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function copyButton(text, what) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copy(text);
    button.textContent = done ? "Copied" : "Not copied";
    say(done ? `${what} copied` : `${what} could not be copied`);
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
  return button;
}

function say(text) {
  byId("said").textContent = text;
}
