/**
 * Fields that are asked for only when another field of the same form (`data-conditions`) has a value: `data-when` holds
 * alternatives, `field == value` among them. What depends on fields elsewhere was settled by the server.
 */
const COMPARISON = /^(\w+) *== *(.+)$/;

function value(form, name) {
  const fields = [...form.elements].filter((field) => field.name?.split(".").pop() === name);
  if (!fields.length) return undefined;
  const chosen = fields.find((field) => (field.type === "radio" || field.type === "checkbox" ? field.checked : true));
  return chosen?.value ?? "";
}

function applies(form, when) {
  const known = when.split("|").map((word) => {
    const [, name, wanted] = word.match(COMPARISON) ?? [];
    const now = name && value(form, name);
    return now === undefined ? undefined : now === wanted.replace(/^["']|["']$/g, "");
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
