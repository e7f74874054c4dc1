/** The rows of a board: made by the server, moved and written anew here. */
import { _, locale } from "./dom.js";

const places = (n) => ({ minimumFractionDigits: n, maximumFractionDigits: n, roundingMode: "halfEven" }); // as the server
const digits = [0, 1, 2].map((n) => new Intl.NumberFormat(locale, places(n)));

export class BoardRows {
  /** The rows of `board`'s page and of its template, by number; a filter of the address may have left some out. */
  constructor(board, data) {
    this.data = data;
    this.body = board.querySelector(".lb-table tbody");
    this.heads = [...board.querySelectorAll('thead [data-c^="m."]')];
    const more = board.querySelector("template[data-more]");
    const rows = [...(this.body?.rows ?? []), ...(more?.content.querySelectorAll("tr") ?? [])];
    this.rows = new Map(rows.map((row) => [Number(row.dataset.row), {
      row,
      rank: row.querySelector('[data-c="rank"]'),
      score: row.querySelector('[data-c="score"]'),
      whisker: row.querySelector(".lb-whisker"),
      why: row.querySelector("[data-why]"),
      cells: data.metrics.map((each) => row.querySelector(`[data-c="m.${CSS.escape(each.name)}"]`)),
    }]));
    this.numbers = data.rows.map((row) => row[0]);
  }

  /**
   * The rows in the order asked for, those that fit. With `first` only so many are written and moved, above the others
   * as they are: what a reader sees at once; a call without it follows.
   */
  draw(order, sort, most, ranks, guarded, first) {
    if (!this.body) return;
    const rows = this.sorted(order, sort).filter(({ at }) => this.rows.has(this.numbers[at])).slice(0, first ?? most);
    const known = Object.values(ranks?.scores ?? {}).flat().filter((each) => each !== null);
    const ends = guarded ? [0, 100] : [Math.min(...known), Math.max(...known)];
    const format = digits[guarded ? 1 : 2];
    let group = 1;
    for (const { at, score, place, means } of rows) {
      const parts = this.rows.get(this.numbers[at]);
      const given = ranks?.ranks[this.numbers[at]];
      this.write(parts, place, score, given, ranks?.scores[this.numbers[at]], ends, format);
      parts.row.classList.toggle("lb-first", sort === "" && given !== undefined && given[2] !== group);
      group = given?.[2] ?? group;
      if (!ranks) means.forEach((value, metric) => this.cell(parts.cells[metric], value, metric));
    }
    const shown = rows.map(({ at }) => this.rows.get(this.numbers[at]));
    this.place(shown.flatMap(({ row, detail }) => (detail ? [row, detail] : [row])), first === undefined);
  }

  /** These rows in this order at the head of the table; a row that is in its place is not touched, which costs layout. */
  place(nodes, alone) {
    nodes.forEach((node, at) => {
      if (this.body.rows[at] !== node) this.body.insertBefore(node, this.body.rows[at] ?? null);
    });
    while (alone && this.body.rows.length > nodes.length) this.body.rows[nodes.length].remove();
  }

  sorted(order, sort) {
    const name = sort.replace(/^-/, "");
    const sign = sort.startsWith("-") ? -1 : 1;
    if (name === "" || name === "rank") return sign === 1 ? order : [...order].reverse();
    const text = (each, key) => this.rows.get(this.numbers[each.at])?.row.dataset[key] ?? "";
    if (name === "name") return [...order].sort((a, b) => sign * text(a, "name").localeCompare(text(b, "name")));
    if (name === "date") return [...order].sort((a, b) => -sign * text(a, "date").localeCompare(text(b, "date")));
    const at = this.data.metrics.findIndex((each) => `m.${each.name}` === name);
    const direction = sign * (this.data.metrics[at]?.direction ?? 1);
    const key = (each) => (Number.isFinite(each.means[at]) ? direction * each.means[at] : -Infinity);
    return [...order].sort((a, b) => key(b) - key(a));
  }

  write(parts, place, score, given, bounds, ends, format) {
    const known = Number.isFinite(score);
    const text = !known ? "–" : !given ? `${place}` : given[0] === given[1] ? `${given[0]}` : `${given[0]}–${given[1]}`;
    const strong = parts.rank.firstElementChild;
    strong.firstElementChild.textContent = text;
    const tie = strong.nextElementSibling;
    if (tie) tie.textContent = given ? _("group %(n)s", { n: given[2] }) : "";
    if (parts.why) {
      if (known) parts.why.hidden = true;
      else if (parts.why.hidden || !parts.why.textContent) {
        parts.why.textContent = _("It lacks a score with a weight above 0.");
        parts.why.hidden = false;
      }
    }
    parts.score.textContent = known ? format.format(score) : "–";
    if (known && parts.whisker) parts.score.append(parts.whisker);
    if (known && bounds) {
      this.range(parts.score, bounds[1], bounds[2], format);
      this.whisker(parts, bounds, ends);
    }
  }

  /** The whisker of a score moves to where it now stands between the least and the most of all. */
  whisker({ whisker }, [value, low, high], [least, most]) {
    if (!whisker) return;
    const at = (x) => (most > least ? `${(100 * ((x ?? value) - least)) / (most - least)}%` : "50%");
    const [, range, dot] = whisker.children;
    range.setAttribute("x1", at(low));
    range.setAttribute("x2", at(high));
    dot.setAttribute("cx", at(value));
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
    if (cell.firstChild?.nodeValue?.trim() === text) return;
    cell.textContent = text;
    cell.removeAttribute("title"); // the interval under other weights
  }

  columns(shown) {
    const hide = (cell) => { if (cell) cell.hidden = !shown.has(cell.dataset.c); };
    for (const cell of this.heads) hide(cell);
    for (const { cells } of this.rows.values()) cells.forEach(hide);
  }

  /** One row's scores by dataset, below it; they stay with the row where it moves. */
  async expand(link, parameters) {
    const row = link.closest("tr");
    const parts = this.rows.get(Number(row.dataset.row));
    const isOpen = () => link.getAttribute("aria-expanded") === "true";
    link.setAttribute("aria-expanded", String(!isOpen()));
    parts.detail?.remove();
    parts.detail = null;
    if (!isOpen()) return;
    try {
      const address = new URL(link.href);
      const response = await fetch(`${address.pathname}?${parameters}`, { headers: { "HX-Request": "true" } });
      if (!response.ok) throw new Error(String(response.status));
      const html = await response.text();
      if (!isOpen() || parts.detail) return; // closed again meanwhile
      const detail = document.createElement("tr");
      detail.setAttribute("data-detail", "");
      const cell = document.createElement("td");
      cell.colSpan = row.cells.length;
      cell.innerHTML = html; // made and escaped by our own server, as all parts of pages are
      detail.append(cell);
      parts.detail = detail;
      row.after(detail);
    } catch {
      location.href = link.href;
    }
  }
}
