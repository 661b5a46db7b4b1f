// The rows: packed into the page in blocks, unpacked when they are wanted.

const BLOCKS_KEPT = 8;
const blocks = new Map();

async function unpack(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** A block of rows; the latest few stay unpacked. */
function blockOf(number) {
  const known = blocks.get(number);
  blocks.delete(number);
  blocks.set(number, known ?? unpack(`block-${number}`));
  if (blocks.size > BLOCKS_KEPT) blocks.delete(blocks.keys().next().value);
  return blocks.get(number);
}

/** The row at a place of the index, with its texts. */
async function fullRow(index, place) {
  const block = await blockOf(Math.floor(place / index.block));
  const row = block.rows[place % index.block];
  return { ...row, prologue_text: block.prologues[row.prologue] };
}

const warpText = (row) => row.cuda_helpers + row.cuda_forward;

/** Gives each listed row what a search looks in; texts follow block by block. */
async function addTexts(index, progress) {
  for (let first = 0; first < index.rows.length; first += index.block) {
    const block = await unpack(`block-${first / index.block}`);
    block.rows.forEach((row, i) => {
      const texts = [row.python, row.cuda_plain ?? "", warpText(row)];
      index.rows[first + i].search += "\n" + texts.join("\n").toLowerCase();
    });
    progress((first + block.rows.length) / index.rows.length);
  }
}

function addNames(index) {
  for (const row of index.rows) {
    const names = [row.id, row.kernel_name, row.idiom ?? "", row.category, row.description ?? ""];
    row.search = names.join("\n").toLowerCase();
  }
}
