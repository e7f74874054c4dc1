/**
 * Keyboard shortcuts. An element with `data-shortcut="c"` is clicked by that key (or focused, with
 * `data-shortcut-focus`) when nobody is typing; `?` lists what the page offers. Ctrl or ⌘ with Enter sends the form
 * that one is in. Single keys can be switched off, for people whose voice or hand presses them by accident.
 */
import { _, make, store, typing } from "./dom.js";

const OFF = "keys-off";

const visible = (element) => element.getClientRects().length > 0 && !element.disabled;

/** The visible elements with a shortcut, the last one of each key: what came last into the page is meant. */
function offers() {
  const found = new Map();
  for (const element of document.querySelectorAll("[data-shortcut]")) {
    if (visible(element)) found.set(element.dataset.shortcut, element);
  }
  return found;
}

function label(element) {
  return element.dataset.shortcutLabel || element.getAttribute("aria-label") || element.textContent.trim();
}

function entry(key, text) {
  return [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)];
}

function showKeys() {
  const dialog = document.getElementById("keys");
  const off = make("input", { type: "checkbox", id: "keys-off", onchange: (event) => store.set(OFF, event.target.checked ? "1" : "") });
  off.checked = store.get(OFF) === "1";
  dialog.querySelector("[data-keys-list]").replaceChildren(
    ...[...offers()].flatMap(([key, element]) => entry(key, label(element))),
    ...entry("Ctrl ⏎", _("Submit the current form")),
    ...entry("?", _("Show keyboard shortcuts")),
  );
  dialog.querySelector(".check")?.remove();
  dialog.append(make("label", { class: "check small" }, off, " ", _("Turn single keys off")));
  dialog.showModal();
}

function press(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.form ?? event.target.closest?.("form");
    if (form) {
      event.preventDefault();
      const primary = form.querySelector("[data-primary]");
      if (!primary) form.requestSubmit();
      else if (visible(primary)) primary.click(); // as htmx tells the button that was used by its click
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented || typing(event.target)) return;
  if (document.querySelector("dialog[open]") || store.get(OFF) === "1") return;
  if (event.key === "Enter" && event.target.closest?.("a, button, summary, input, [role=option]")) return;
  if (event.key === "?") {
    event.preventDefault();
    showKeys();
    return;
  }
  const element = offers().get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (!element) return;
  event.preventDefault();
  if (element.hasAttribute("data-shortcut-focus")) element.focus();
  else element.click();
}

export function startKeys() {
  document.addEventListener("keydown", press);
  for (const button of document.querySelectorAll("[data-keys-open]")) {
    button.hidden = false;
    button.addEventListener("click", showKeys);
  }
}
