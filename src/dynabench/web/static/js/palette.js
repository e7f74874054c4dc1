/**
 * The command palette: one box from which every page is two keys away. Ctrl or ⌘ with K, "/" or the header's box open it;
 * before anything is typed it shows actions and the pages seen last, and asks the server for nothing.
 */
import { _, fetchJson, make, store } from "./dom.js";

const RECENT = "recent-pages";
const MOST_RECENT = 6;
const WAIT = 120; // milliseconds without a key before a search is sent

let dialog, input, list, note, asked, timer, active = -1;

/** The pages seen last, newest first: pairs of address and title. */
function recentPages() {
  try { return JSON.parse(store.get(RECENT) ?? "[]").filter((entry) => Array.isArray(entry) && entry.length === 2); } catch { return []; }
}

function remember() {
  const path = location.pathname;
  if (/^\/($|search|log|register|settings|inbox|mail)/.test(path) || document.querySelector(".empty-code")) return;
  const title = document.title.replace(/ · Dynabench$/, "");
  store.set(RECENT, JSON.stringify([[path, title], ...recentPages().filter(([other]) => other !== path)].slice(0, MOST_RECENT + 1)));
}

/** Actions: those of the header's menus, and writing and checking for the task whose page this is. */
function actions() {
  const task = /^\/tasks\/([a-z0-9-]+)/.exec(location.pathname)?.[1];
  const own = task && task !== "new" ? [[_("Write for this task"), `/tasks/${task}/create`], [_("Check for this task"), `/tasks/${task}/validate`], [_("Leaderboard of this task"), `/tasks/${task}/leaderboard`]] : [];
  const links = [...document.querySelectorAll("[data-palette-action]")].map((link) => [link.textContent.trim(), link.getAttribute("href")]);
  const toggle = document.querySelector("[data-theme-toggle]");
  return [...own, ...links].map(([title, address]) => ({ title, address })).concat(toggle ? [{ title: _("Switch between dark and light"), act: () => toggle.click() }] : []);
}

const has = (text, words) => words.every((word) => text.toLowerCase().includes(word));

function marked(text, words) {
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length).join("|");
  if (!pattern) return [text];
  return text.split(new RegExp(`(${pattern})`, "i")).map((piece, at) => (at % 2 ? make("mark", {}, piece) : piece));
}

function option(entry, words) {
  const attributes = { role: "option", "aria-selected": "false", tabindex: "-1", href: entry.address };
  const element = make(entry.address ? "a" : "div", attributes, make("bdi", {}, ...marked(entry.title, words)));
  if (entry.place) element.append(make("span", { class: "palette-place" }, entry.place));
  if (entry.act) element.addEventListener("click", () => { dialog.close(); entry.act(); });
  return element;
}

function show(groups, words) {
  list.replaceChildren(...groups.filter((group) => group.hits.length).map((group, at) => {
    const title = make("p", { id: `palette-group-${at}`, class: "palette-title" }, group.title);
    return make("div", { role: "group", "aria-labelledby": `palette-group-${at}` }, title, ...group.hits.map((hit) => option(hit, words)));
  }));
  options().forEach((element, at) => { element.id = `palette-option-${at}`; });
  select(options().length ? 0 : -1);
}

const options = () => [...list.querySelectorAll("[role=option]")];

function select(at) {
  const all = options();
  all[active]?.setAttribute("aria-selected", "false");
  for (const element of all) if (element.getAttribute("aria-selected") === "true") element.setAttribute("aria-selected", "false");
  active = at;
  if (all[at]) {
    all[at].setAttribute("aria-selected", "true");
    all[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[at].id);
  } else input.removeAttribute("aria-activedescendant");
}

/** What is known without the server: actions and recent pages that have the words. */
function known(words) {
  const pages = recentPages().filter(([path]) => path !== location.pathname).map(([address, title]) => ({ title, address }));
  return [
    { title: _("Actions"), hits: actions().filter((entry) => has(entry.title, words)).slice(0, words.length ? 4 : 9) },
    { title: _("Recent pages"), hits: pages.filter((entry) => has(entry.title, words)).slice(0, MOST_RECENT) },
  ];
}

async function search() {
  const text = input.value.trim();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  asked?.abort();
  clearTimeout(timer);
  show(known(words), words);
  note.textContent = "";
  if (!text) return;
  asked = new AbortController();
  const { signal } = asked;
  let tries = 0;
  const ask = async () => {
    tries += 1;
    try {
      const { groups, complete } = await fetchJson(`/api/v1/search?limit=4&q=${encodeURIComponent(text)}`, { signal });
      if (signal.aborted) return;
      const write = groups.flatMap((group) => group.hits).filter((hit) => hit.write).map((hit) => ({ title: _("Write in %(task)s", { task: hit.title }), address: hit.write }));
      const found = groups.reduce((total, group) => total + group.count, 0);
      const all = { title: _("Search"), hits: [{ title: _("All results for “%(text)s”", { text }), address: `/search?q=${encodeURIComponent(text)}` }] };
      const [own, recent] = known(words);
      show([...groups, { title: own.title, hits: [...write.slice(0, 2), ...own.hits] }, recent, all], words);
      note.textContent = found ? _("%(n)s results", { n: found }) : complete ? _("Nothing found") : _("Searching");
      if (!complete && tries < 3) timer = setTimeout(ask, 1000);
    } catch (error) {
      if (error.name !== "AbortError") note.textContent = error.message;
    }
  };
  timer = setTimeout(ask, WAIT);
}

function press(event) {
  const count = options().length;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && count) select((active + step + count) % count);
  else if (event.key === "Home" && event.ctrlKey) select(0);
  else if (event.key === "End" && event.ctrlKey) select(count - 1);
  else if (event.key === "Enter" && options()[active]) {
    const chosen = options()[active];
    if (chosen.href && (event.ctrlKey || event.metaKey)) window.open(chosen.href, "_blank", "noopener");
    else chosen.click();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function open(text = "") {
  if (dialog.open) return dialog.close();
  if (document.querySelector("dialog[open]")) return undefined;
  input.value = text;
  dialog.showModal();
  input.focus();
  return search();
}

export function startPalette() {
  dialog = document.getElementById("palette");
  if (!dialog) return;
  [input, list, note] = [dialog.querySelector("input"), dialog.querySelector("[role=listbox]"), dialog.querySelector("[role=status]")];
  remember();
  input.addEventListener("input", search);
  input.addEventListener("keydown", press);
  list.addEventListener("pointermove", (event) => {
    const at = options().indexOf(event.target.closest("[role=option]"));
    if (at >= 0 && at !== active) select(at);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  for (const opener of document.querySelectorAll("[data-palette-open]")) {
    opener.addEventListener("click", (event) => { event.preventDefault(); open(opener.value); });
    opener.addEventListener("input", () => { open(opener.value); opener.value = ""; });
  }
  for (const key of document.querySelectorAll("[data-palette-key]")) {
    key.hidden = false;
    if (!/Mac|iP(hone|ad)/.test(navigator.platform)) key.textContent = "Ctrl K";
  }
}
