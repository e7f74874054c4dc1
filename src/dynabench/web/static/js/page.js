/** Habits of every page: menus close, buttons copy, drafts leave with their author. */
import { _, announce, store } from "./dom.js";
import { toast } from "./toasts.js";

const SLOW = 10_000, PATIENCE = 60_000; // milliseconds
const sent = new WeakSet(); // forms whose page is on its way

function closeMenus(event) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (event.type === "click" && !menu.contains(event.target)) {
      menu.open = false;
    }
  }
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    announce(_("Copied"));
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  } catch {
    announce(_("The browser did not allow copying."));
  }
}

/** The current tab of a row that scrolls is in sight. */
function showTabs() {
  for (const link of document.querySelectorAll(".tabs [aria-current], .segments [aria-current]")) {
    const row = link.closest(".tabs, .segments");
    const [outer, inner] = [row.getBoundingClientRect(), link.getBoundingClientRect()];
    if (inner.right > outer.right || inner.left < outer.left) row.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }
}

/** On a phone, cards of second rank begin folded. */
function foldCards() {
  if (!matchMedia("(max-width: 700px)").matches) return;
  for (const card of document.querySelectorAll("details[data-fold-narrow]")) card.open = false;
}

/** After an answer the form is one line on a phone, until "Edit and retry" opens it. */
function closeForm({ detail }) {
  const bench = detail.target?.id === "result" && detail.target.closest(".bench");
  if (!bench) return;
  bench.classList.remove("editing");
  if (matchMedia("(max-width: 800px)").matches) bench.scrollIntoView({ block: "start" });
}

/** A form whose answer is on its way is not sent again by a double click; a slow answer is told. A file leaves the page as it is. */
function sendOnce(event) {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || form.target || "download" in form.dataset) return;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  form.setAttribute("aria-busy", "true");
  const close = [];
  const slow = setTimeout(() => close.push(toast(_("This is taking longer than usual."), { seconds: 0 })), SLOW);
  const release = () => {
    clearTimeout(slow);
    for (const each of close) each();
    sent.delete(form);
    form.removeAttribute("aria-busy");
  };
  setTimeout(release, PATIENCE);
  addEventListener("pageshow", release, { once: true }); // back on this page as it was
}

export function startPage() {
  document.body.addEventListener("htmx:afterSwap", closeForm);
  showTabs();
  foldCards();
  document.addEventListener("click", (event) => {
    closeMenus(event);
    const button = event.target.closest?.("[data-copy]");
    if (button) copy(button);
    const edit = event.target.closest?.("[data-edit]");
    if (edit) {
      event.preventDefault();
      document.querySelector(edit.getAttribute("href"))?.closest(".bench")?.classList.add("editing");
      document.querySelector(`${edit.getAttribute("href")} :is(textarea:not([hidden]), input[type="text"], input[tabindex="0"])`)?.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenus(event);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.getAttribute("action") !== "/logout") return;
    for (const key of store.keys()) if (key.startsWith("draft:") || key === "recent-pages") store.remove(key);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "get") return; // a search: its address, which can be shared, names what was asked for
    const empty = [...event.target.elements].filter((each) => each.name && !each.disabled && each.value === "");
    for (const each of empty) each.disabled = true;
    setTimeout(() => { for (const each of empty) each.disabled = false; });
  });
  window.addEventListener("submit", sendOnce); // after all others, which may send the form themselves
  for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  for (const tab of document.querySelectorAll(".tabs [aria-current], .rail [aria-current], .module-tasks [aria-current]")) {
    tab.closest("nav").scrollLeft = tab.offsetLeft - 16; // on a phone the current one may be off the edge
  }
  // A form that was sent before these scripts arrived is answered with a whole page: its result takes the focus all the same.
  document.querySelector('[aria-invalid="true"], [role="alert"][data-focus], [data-announce][data-focus]')?.focus();
}
