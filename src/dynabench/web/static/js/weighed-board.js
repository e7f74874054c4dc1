/**
 * `<weighed-board ranks="…">`: the form's sliders re-rank the table at once, the address carries what was chosen, and
 * rank intervals under these weights come from the server as soon as it has them. Without scripts the form is a plain
 * one. Rows are made by the server; they are moved and their scores rewritten here. At most `at-once` are in the page.
 */
import { averaged, dynascore } from "./dynascore.js";
import { _, announce, fetchJson } from "./dom.js";

const WAIT = 250; // milliseconds of rest before the server is asked
const number = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const digits = [0, 1, 2].map((n) => new Intl.NumberFormat("en", { minimumFractionDigits: n, maximumFractionDigits: n }));

class WeighedBoard extends HTMLElement {
  connectedCallback() {
    if (this.form) return;
    this.data = JSON.parse(this.querySelector('script[type="application/json"]').textContent);
    this.form = this.querySelector("form");
    this.body = this.querySelector(".lb-table tbody");
    this.status = this.querySelector("[data-status]");
    this.most = Number(this.getAttribute("at-once"));
    this.sort = this.getAttribute("sort") || "";
    this.primary = this.data.metrics.findIndex((each) => each.name === this.data.primary);
    this.gather();
    this.form.querySelector('[type="submit"]').hidden = true;
    if (matchMedia("(max-width: 900px)").matches) for (const part of this.form.querySelectorAll("details")) part.open = false;
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("change", () => this.changed());
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.changed(); });
    this.querySelector("[data-reset]").addEventListener("click", (event) => this.reset(event));
    this.addEventListener("click", (event) => this.clicked(event));
    this.shares();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
    this.asking?.abort();
  }

  /** The rows of the page and of its template, by number; a filter of the address may have left some out. */
  gather() {
    const more = this.querySelector("template[data-more]");
    const rows = [...(this.body?.rows ?? []), ...(more?.content.querySelectorAll("tr") ?? [])];
    this.rows = new Map(rows.map((row) => [Number(row.dataset.row), {
      row,
      rank: row.querySelector('[data-c="rank"]'),
      score: row.querySelector('[data-c="score"]'),
      why: row.querySelector("[data-why]"),
      cells: this.data.metrics.map((each) => row.querySelector(`[data-c="m.${CSS.escape(each.name)}"]`)),
    }]));
    this.numbers = this.data.rows.map((row) => row[0]);
    this.values = this.data.rows.map((row) => row[1]);
    this.filtered = ["size", "licence", "language", "since"].map((name) => this.form.elements[name].value).join();
    this.more();
  }

  more() {
    const line = this.querySelector("[data-more-line]");
    if (line) line.hidden = this.rows.size <= this.most;
  }

  steps(prefix, names) {
    return names.map((name) => Number(this.form.elements[`${prefix}.${name}`].value));
  }

  weights() {
    return {
      metrics: this.steps("m", this.data.metrics.map((each) => each.name)),
      datasets: this.steps("d", this.data.datasets),
      form: this.form.elements.form.value,
    };
  }

  /** What an address says of weights: all of them, or those that differ from the defaults. */
  parameters(whole) {
    const { usual } = this.data;
    const found = new URLSearchParams();
    for (const [prefix, group] of [["m", "metrics"], ["d", "datasets"]]) {
      for (const [name, step] of Object.entries(usual[group])) {
        const { value } = this.form.elements[`${prefix}.${name}`];
        if (whole || Number(value) !== step) found.set(`${prefix}.${name}`, value);
      }
    }
    const form = this.form.elements.form.value;
    if (whole || form !== usual.form) found.set("form", form);
    return found;
  }

  address() {
    const found = this.parameters(false);
    for (const name of ["size", "licence", "language", "since"]) {
      if (this.form.elements[name].value) found.set(name, this.form.elements[name].value);
    }
    const boxes = [...this.form.querySelectorAll('[name="columns"]')];
    if (boxes.some((box) => !box.checked)) for (const box of boxes) if (box.checked) found.append("columns", box.value);
    if (this.sort) found.set("sort", this.sort);
    return found.size ? `?${found}` : location.pathname;
  }

  changed() {
    history.replaceState(history.state, "", this.address());
    const filtered = ["size", "licence", "language", "since"].map((name) => this.form.elements[name].value).join();
    if (filtered !== this.filtered) {
      location.reload(); // other rows: the server makes them
      return;
    }
    this.shares();
    this.columns();
    this.rank();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  /** The normalised share beside each slider, and what other forms and links carry. */
  shares() {
    for (const prefix of ["m", "d"]) {
      const sliders = [...this.form.querySelectorAll(`input[type="range"][name^="${prefix}."]`)];
      const total = sliders.reduce((sum, each) => sum + Number(each.value), 0);
      for (const each of sliders) {
        const share = total ? `${Math.round((100 * each.value) / total)}%` : "–";
        each.parentElement.querySelector("output").textContent = `${each.value} · ${share}`;
        each.setAttribute("aria-valuetext", _("%(step)s of 5, %(share)s", { step: each.value, share }));
      }
    }
    const whole = this.parameters(true);
    for (const field of document.querySelectorAll("input[data-weights]")) field.value = `?${whole}`;
    for (const link of document.querySelectorAll("a[data-carry]")) {
      const address = new URL(link.href);
      for (const [name, value] of whole) address.searchParams.set(name, value);
      link.href = address;
    }
  }

  columns() {
    const shown = new Set([...this.form.querySelectorAll('[name="columns"]')].filter((box) => box.checked).map((box) => `m.${box.value}`));
    const hide = (cell) => { if (cell) cell.hidden = !shown.has(cell.dataset.c); };
    for (const cell of this.querySelectorAll('thead [data-c^="m."]')) hide(cell);
    for (const { cells } of this.rows.values()) cells.forEach(hide);
  }

  /** Scores and order under the form's weights, at once; ranks as the order says, until the server's intervals come. */
  rank() {
    const weights = this.weights();
    const empty = !weights.metrics.some(Boolean) || !weights.datasets.some(Boolean);
    this.empty = empty;
    if (empty) {
      this.status.textContent = _("Give at least one metric and one dataset a weight above 0.");
      return;
    }
    const means = averaged(this.values, weights.datasets);
    const needed = weights.metrics.flatMap((step, at) => (step || at === this.primary ? [at] : []));
    const whole = means.map((row) => needed.every((at) => Number.isFinite(row[at])));
    const ranked = means.flatMap((_row, at) => (whole[at] ? [at] : []));
    const scores = dynascore(ranked.map((at) => means[at]), this.data.metrics, weights.metrics, this.primary, weights.form);
    const found = ranked.map((at, place) => ({ at, score: scores[place] }));
    found.sort((one, other) => other.score - one.score);
    this.order = found.map(({ at, score }, place) => ({ at, score, place: place + 1, means: means[at] }))
      .concat(means.flatMap((row, at) => (whole[at] ? [] : [{ at, score: NaN, place: 0, means: row }])));
    this.classList.add("lb-waiting");
    this.draw();
  }

  /** The rows in the order asked for, those that fit; only these are written anew. */
  draw(ranks) {
    if (!this.body || !this.order) return;
    const rows = this.sorted().filter(({ at }) => this.rows.has(this.numbers[at])).slice(0, this.most);
    for (const { at, score, place, means } of rows) {
      const parts = this.rows.get(this.numbers[at]);
      const given = ranks?.ranks[this.numbers[at]];
      this.write(parts, place, score, given, ranks?.scores[this.numbers[at]]);
      if (!ranks) means.forEach((value, metric) => this.cell(parts.cells[metric], value, metric));
    }
    this.body.replaceChildren(...rows.map(({ at }) => this.rows.get(this.numbers[at]).row));
  }

  sorted() {
    const name = this.sort.replace(/^-/, "");
    const sign = this.sort.startsWith("-") ? -1 : 1;
    if (name === "" || name === "rank") return sign === 1 ? this.order : [...this.order].reverse();
    const text = (each, key) => this.rows.get(this.numbers[each.at])?.row.dataset[key] ?? "";
    if (name === "name") return [...this.order].sort((a, b) => sign * text(a, "name").localeCompare(text(b, "name")));
    if (name === "date") return [...this.order].sort((a, b) => -sign * text(a, "date").localeCompare(text(b, "date")));
    const at = this.data.metrics.findIndex((each) => `m.${each.name}` === name);
    const direction = sign * (this.data.metrics[at]?.direction ?? 1);
    const key = (each) => (Number.isFinite(each.means[at]) ? direction * each.means[at] : -Infinity);
    return [...this.order].sort((a, b) => key(b) - key(a));
  }

  write(parts, place, score, given, bounds) {
    const known = Number.isFinite(score);
    const text = !known ? "–" : !given ? `${place}` : given[0] === given[1] ? `${given[0]}` : `${given[0]}–${given[1]}`;
    const strong = parts.rank.firstElementChild;
    strong.textContent = text;
    const tie = strong.nextElementSibling;
    if (tie) tie.textContent = given ? _("group %(n)s", { n: given[2] }) : "";
    if (parts.why) {
      if (known) parts.why.hidden = true;
      else if (parts.why.hidden || !parts.why.textContent) {
        parts.why.textContent = _("It lacks a score that is weighed.");
        parts.why.hidden = false;
      }
    }
    parts.score.textContent = known ? number.format(score) : "–";
    if (known && bounds) this.range(parts.score, bounds[1], bounds[2], number);
  }

  range(cell, low, high, format) {
    if (low === null || high === null || low === high) return;
    const range = document.createElement("span");
    range.className = "lb-range";
    range.textContent = `${format.format(low)}–${format.format(high)}`;
    cell.append(range);
  }

  cell(cell, value, metric) {
    if (!cell) return;
    const format = digits[this.data.metrics[metric].digits];
    const text = Number.isFinite(value) ? format.format(value) : "–";
    if (cell.firstChild?.nodeValue?.trim() !== text) cell.textContent = text;
  }

  async ask() {
    if (this.empty) return;
    this.asking?.abort();
    this.asking = new AbortController();
    const address = new URL(this.getAttribute("ranks"), location.href);
    for (const [name, value] of this.parameters(true)) address.searchParams.set(name, value);
    try {
      const ranks = await fetchJson(address, { signal: this.asking.signal });
      this.draw(ranks);
      this.classList.remove("lb-waiting");
      this.status.textContent = _("Ranked anew under your weights.");
      announce(this.status.textContent);
    } catch (error) {
      if (error.name !== "AbortError") this.status.textContent = _("The order is right; rank intervals could not be read: %(why)s", { why: error.message });
    }
  }

  reset(event) {
    event.preventDefault();
    const { usual } = this.data;
    for (const [prefix, group] of [["m", "metrics"], ["d", "datasets"]]) {
      for (const [name, step] of Object.entries(usual[group])) this.form.elements[`${prefix}.${name}`].value = step;
    }
    this.form.elements.form.value = usual.form;
    for (const name of ["size", "licence", "language", "since"]) this.form.elements[name].value = "";
    for (const box of this.form.querySelectorAll('[name="columns"]')) box.checked = true;
    this.sort = "";
    this.changed();
  }

  clicked(event) {
    const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    const open = event.target.closest?.("a[data-open]");
    const sort = event.target.closest?.("a[data-sort]");
    if (event.target.closest?.("[data-show-more]")) {
      this.most += 100;
      if (!this.order) this.rank();
      this.draw();
      this.ask();
      this.more();
    } else if (open && plain) {
      event.preventDefault();
      this.expand(open);
    } else if (sort && plain) {
      event.preventDefault();
      this.sortBy(sort);
    }
  }

  sortBy(link) {
    const name = link.dataset.sort;
    this.sort = this.sort === name || (name === "rank" && !this.sort) ? `-${name}` : name === "rank" ? "" : name;
    for (const head of this.querySelectorAll("thead [aria-sort]")) head.removeAttribute("aria-sort");
    link.closest("th").setAttribute("aria-sort", this.sort.startsWith("-") ? "descending" : "ascending");
    this.changed();
  }

  /** One row's scores by dataset, below it. */
  async expand(link) {
    const row = link.closest("tr");
    const next = row.nextElementSibling;
    const open = link.getAttribute("aria-expanded") === "true";
    link.setAttribute("aria-expanded", String(!open));
    if (next?.hasAttribute("data-detail")) next.remove();
    if (open) return;
    try {
      const address = new URL(link.href);
      const response = await fetch(`${address.pathname}?${this.parameters(true)}`, { headers: { "HX-Request": "true" } });
      if (!response.ok) throw new Error(String(response.status));
      const detail = document.createElement("tr");
      detail.setAttribute("data-detail", "");
      const cell = document.createElement("td");
      cell.colSpan = row.cells.length;
      cell.innerHTML = await response.text(); // made and escaped by our own server, as all parts of pages are
      detail.append(cell);
      row.after(detail);
    } catch {
      location.href = link.href;
    }
  }
}

customElements.define("weighed-board", WeighedBoard);
