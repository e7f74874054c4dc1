/**
 * Fields that are asked for only when another field of the same form (`data-conditions`), or of the same row
 * (`data-row`), has a value: `data-when` holds alternatives, `field == value` among them. What depends on fields
 * elsewhere was settled by the server.
 */
const COMPARISON = /^(\w+) *== *(.+)$/;

/** What stands under the name of a field of a form or a row: several values of several ticks; undefined for no field. */
function values(place, name) {
  const all = place.elements ?? place.querySelectorAll("input, select, textarea");
  const own = (full) => (place.elements ? full.split(".").slice(1).join(".") === name : full.endsWith(`.${name}`));
  const fields = [...all].filter((field) => field.name && own(field.name));
  if (!fields.length) return undefined;
  const ticked = fields.filter((field) => (["radio", "checkbox"].includes(field.type) ? field.checked : true));
  return ticked.map((field) => field.value);
}

function applies(place, when) {
  const known = when.split("|").map((word) => {
    const [, name, wanted] = word.match(COMPARISON) ?? [];
    const now = name && values(place, name);
    return now?.includes(wanted.replace(/^["']|["']$/g, ""));
  }).filter((one) => one !== undefined);
  return !known.length || known.some(Boolean);
}

function settle(root) {
  for (const field of root.querySelectorAll("form[data-conditions] [data-when], [data-row] [data-when]")) {
    field.hidden = !applies(field.closest("[data-row], form[data-conditions]"), field.dataset.when);
  }
}

export function startConditions() {
  settle(document);
  document.addEventListener("change", (event) => {
    const place = event.target.closest("[data-row], form[data-conditions]");
    if (place) settle(place.parentElement);
  });
  document.addEventListener("rows:changed", (event) => settle(event.target));
  document.body.addEventListener("htmx:afterSettle", () => settle(document));
}
