/**
 * Fields that are asked for only when another field of the same form (`data-conditions`) has a value: `data-when` holds
 * alternatives, `field == value` among them. What depends on fields elsewhere was settled by the server.
 */
const COMPARISON = /^(\w+) *== *(.+)$/;

/** What stands under the name of a field, without its group: several values of several ticks; undefined for no field. */
function values(form, name) {
  const fields = [...form.elements].filter((field) => field.name?.split(".").slice(1).join(".") === name);
  if (!fields.length) return undefined;
  const ticked = fields.filter((field) => (["radio", "checkbox"].includes(field.type) ? field.checked : true));
  return ticked.map((field) => field.value);
}

function applies(form, when) {
  const known = when.split("|").map((word) => {
    const [, name, wanted] = word.match(COMPARISON) ?? [];
    const now = name && values(form, name);
    return now?.includes(wanted.replace(/^["']|["']$/g, ""));
  }).filter((one) => one !== undefined);
  return !known.length || known.some(Boolean);
}

function settle(root) {
  for (const form of root.querySelectorAll("form[data-conditions]")) {
    for (const field of form.querySelectorAll("[data-when]")) field.hidden = !applies(form, field.dataset.when);
  }
}

export function startConditions() {
  settle(document);
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (form?.matches("[data-conditions]")) settle(form.parentElement);
  });
  document.body.addEventListener("htmx:afterSettle", () => settle(document));
}
