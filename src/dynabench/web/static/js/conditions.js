/**
 * Fields that are asked for only when another field of the same form (`data-conditions`), or of the same row
 * (`data-row`), has a value: `data-when` holds alternatives, `field == value` among them. What depends on fields
 * elsewhere was settled by the server.
 */
const COMPARISON = /^(\w+) *== *(.+)$/;

function value(place, name) {
  const all = place.elements ?? place.querySelectorAll("input, select, textarea");
  const fields = [...all].filter((field) => field.name?.split(".").pop() === name);
  if (!fields.length) return undefined;
  const chosen = fields.find((field) => (field.type === "radio" || field.type === "checkbox" ? field.checked : true));
  return chosen?.value ?? "";
}

function applies(place, when) {
  const known = when.split("|").map((word) => {
    const [, name, wanted] = word.match(COMPARISON) ?? [];
    const now = name && value(place, name);
    return now === undefined ? undefined : now === wanted.replace(/^["']|["']$/g, "");
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
