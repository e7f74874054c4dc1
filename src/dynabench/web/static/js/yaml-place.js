/** Where the caret stands in a config's YAML, and what a JSON Schema lets stand there. Pure functions over texts. */

const ENTRY = /^(\s*)((?:- +)*)([\w-]+):(?:\s+(.*))?$/;

/** Keys of one flow mapping: `a: 1, b: x` as {a: "1", b: "x"}. */
function pairs(text) {
  return Object.fromEntries([...text.matchAll(/([\w-]+):\s*([^,{}[\]]*)/g)].map(([, key, value]) => [key, value.trim()]));
}

/** Where braces and brackets stand that are still open at the end of `text`, and the quote that is (or a comment). */
function open_brace(text) {
  const open = [];
  let quote = "";
  [...text].forEach((sign, at) => {
    if (quote) quote = sign === quote ? "" : quote;
    else if (sign === '"' || sign === "'" || sign === "#") quote = sign;
    else if (sign === "{" || sign === "[") open.push(at);
    else if (sign === "}" || sign === "]") open.pop();
  });
  return { open, quote };
}

/** Keys above a line that hold it, the entries beside it, both by indentation. */
function block(lines, row, column, dash) {
  const path = [];
  const siblings = {};
  let at = column;
  let mine = !dash;
  for (let n = row - 1; n >= 0; n--) {
    const entry = ENTRY.exec(lines[n]);
    if (!entry) continue;
    const place = entry[1].length + entry[2].length;
    if (place === at && path.length === 0 && mine) {
      siblings[entry[3]] = entry[4] ?? "";
      if (entry[2]) mine = false;
    } else if (place < at) {
      path.unshift(entry[3]);
      at = place;
    }
  }
  for (let n = row + 1; n < lines.length; n++) {
    const entry = ENTRY.exec(lines[n]);
    if (!entry) continue;
    const place = entry[1].length + entry[2].length;
    if (place < column || entry[2]) break;
    if (place === column) siblings[entry[3]] ??= entry[4] ?? "";
  }
  return { path, siblings };
}

/** What the caret at `offset` is about: {kind: "key" | "value", path, siblings, word}; null where nothing is offered. */
export function place(text, offset) {
  const lines = text.split("\n");
  const row = text.slice(0, offset).split("\n").length - 1;
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  const word = /[\w.-]*$/.exec(line)[0];
  const { open, quote } = open_brace(line);
  if (quote) return null;
  const lead = /^(\s*)((?:- +)*)/.exec(line);
  const around = block(lines, row, lead[0].length, lead[2] !== "");
  if (open.length) return flow(line, open, lines[row].slice(line.length), around, word);
  const entry = /^\s*(?:- +)*([\w-]+):\s+([\w.-]*)$/.exec(line);
  if (entry) return { kind: "value", path: [...around.path, entry[1]], siblings: around.siblings, word };
  return line.length === lead[0].length + word.length ? { kind: "key", ...around, word } : null;
}

/** Inside braces: the keys in front of them lead there. */
function flow(line, open, rest, around, word) {
  const path = [...around.path];
  let from = 0;
  for (const at of open) {
    const key = /([\w-]+):\s*$/.exec(line.slice(from, at));
    if (key) path.push(key[1]);
    from = at + 1;
  }
  const inside = line.slice(from);
  const part = inside.slice(inside.lastIndexOf(",") + 1);
  const siblings = { ...pairs(rest.split("}")[0]), ...pairs(inside.slice(0, inside.length - part.length)) };
  const value = /^\s*([\w-]+):\s+[\w.-]*$/.exec(part);
  if (value) return { kind: "value", path: [...path, value[1]], siblings, word };
  if (line[open.at(-1)] === "[") return { kind: "value", path, siblings, word };
  return part.trim() === word ? { kind: "key", path, siblings, word } : null;
}

/** The alternatives that a schema holds: references followed, lists opened, the field type of `siblings` chosen. */
function alternatives(schema, node, siblings, seen = 0) {
  if (!node || seen > 12) return [];
  const more = (each) => alternatives(schema, each, siblings, seen + 1);
  if (node.$ref) return more(node.$ref.split("/").slice(1).reduce((at, key) => at?.[key], schema));
  const some = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap(more);
  const items = node.items ? more(node.items) : [];
  const chosen = (node.allOf ?? []).flatMap((each) => {
    if (!each.if) return more(each);
    return each.if.properties?.type?.const === siblings.type ? more(each.then) : [];
  });
  return [...some, ...items, ...chosen, node];
}

/** What may stand at a place: [{text, note}], keys that are there already left out. */
export function offers(schema, at) {
  let nodes = [schema];
  for (const [depth, key] of at.path.entries()) {
    const beside = at.kind === "value" && depth === at.path.length - 1 ? at.siblings : {};
    nodes = nodes.flatMap((node) => alternatives(schema, node, beside)).flatMap((node) => node.properties?.[key] ?? []);
  }
  nodes = nodes.flatMap((node) => alternatives(schema, node, at.kind === "key" ? at.siblings : {}));
  const found = new Map();
  for (const node of nodes) {
    if (at.kind === "key") {
      for (const [name, each] of Object.entries(node.properties ?? {})) {
        if (!(name in at.siblings)) found.set(name, { text: name, note: each.description ?? "" });
      }
    } else {
      const values = node.enum ?? (node.const !== undefined ? [node.const] : node.type === "boolean" ? [true, false] : []);
      for (const value of values) found.set(String(value), { text: String(value), note: "" });
    }
  }
  const begun = at.word.toLowerCase();
  return [...found.values()].filter((each) => each.text.toLowerCase().startsWith(begun) && each.text !== at.word);
}
