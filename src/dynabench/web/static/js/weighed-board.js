/**
 * `<weighed-board ranks="…">`: the form's sliders re-rank the table at once, the address carries what was chosen, and
 * rank intervals under these weights come from the server as soon as it has them. Without scripts the form is a plain
 * one. At most `at-once` rows are in the page.
 */
import { BoardForm } from "./board-form.js";
import { BoardRows } from "./board-rows.js";
import { startPicks } from "./board-picks.js";
import { averaged, dynascore } from "./dynascore.js";
import { _, announce, fetchJson } from "./dom.js";

const WAIT = 250; // milliseconds of rest before the server is asked
const FIRST = 25; // rows that a window shows at once: they are drawn before the next paint, the others after it

class WeighedBoard extends HTMLElement {
  connectedCallback() {
    if (this.form) return;
    this.data = JSON.parse(this.querySelector('script[type="application/json"]').textContent);
    this.form = this.querySelector("form");
    this.asked = new BoardForm(this.form, this.data.usual);
    this.table = new BoardRows(this, this.data);
    this.status = this.querySelector("[data-status]");
    this.most = Number(this.getAttribute("at-once"));
    this.sort = this.getAttribute("sort") || "";
    this.primary = this.data.metrics.findIndex((each) => each.name === this.data.primary);
    this.values = this.data.rows.map((row) => row[1]);
    this.filtered = this.asked.filters();
    this.more();
    this.form.querySelector('[type="submit"]').hidden = true;
    startPicks(this);
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("change", () => this.changed());
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.changed(); });
    this.querySelector("[data-reset]").addEventListener("click", (event) => this.reset(event));
    this.addEventListener("click", (event) => this.clicked(event));
    this.asked.shares();
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    this.asking?.abort();
  }

  more() {
    const line = this.querySelector("[data-more-line]");
    if (line) line.hidden = this.table.rows.size <= this.most;
  }

  changed() {
    const address = this.asked.address(this.sort);
    if (address === this.address) return; // a slider tells of the same step as it moves and as it rests
    this.address = address;
    if (this.asked.filters() !== this.filtered) {
      history.replaceState(history.state, "", address);
      location.reload(); // other rows: the server makes them
      return;
    }
    this.asked.shares();
    this.rank(FIRST);
    clearTimeout(this.rest);
    requestAnimationFrame(() => { this.rest = setTimeout(() => this.finish(), 0); });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT);
  }

  /** The rest of a change, after the reader has seen its first rows: the address, the columns, and the other rows. */
  finish() {
    history.replaceState(history.state, "", this.address);
    this.table.columns(this.asked.columns());
    if (!this.empty) this.draw();
  }

  /** Scores and order under the form's weights, at once; ranks as the order says, until the server's intervals come. */
  rank(first) {
    const weights = this.asked.weights(this.data.metrics.map((each) => each.name), this.data.datasets);
    const empty = !weights.metrics.some(Boolean) || !weights.datasets.some(Boolean);
    this.empty = empty;
    if (empty) {
      this.status.textContent = _("Give at least one metric and one dataset a weight above 0.");
      return;
    }
    const means = averaged(this.values, weights.datasets);
    const needed = weights.metrics.flatMap((step, at) => (step || at === this.primary ? [at] : []));
    const whole = means.map((row, place) => !this.data.rows[place][2] && needed.every((at) => Number.isFinite(row[at])));
    const ranked = means.flatMap((_row, at) => (whole[at] ? [at] : []));
    const scores = dynascore(ranked.map((at) => means[at]), this.data.metrics, weights.metrics, this.primary, weights.form);
    const found = ranked.map((at, place) => ({ at, score: Math.round(scores[place] * 1e9) / 1e9 }));
    found.sort((one, other) => other.score - one.score);
    this.order = found.map(({ at, score }, place) => ({ at, score, place: place + 1, means: means[at] }))
      .concat(means.flatMap((row, at) => (whole[at] ? [] : [{ at, score: NaN, place: 0, means: row }])));
    this.classList.add("lb-waiting");
    this.draw(undefined, first);
  }

  async ask() {
    if (this.empty) return;
    this.asking?.abort();
    this.asking = new AbortController();
    const address = new URL(this.getAttribute("ranks"), location.href);
    for (const [name, value] of this.asked.parameters(true)) address.searchParams.set(name, value);
    try {
      const ranks = await fetchJson(address, { signal: this.asking.signal });
      this.draw(ranks);
      this.classList.remove("lb-waiting");
      this.status.textContent = _("Ranked again with your weights.");
      announce(this.status.textContent);
    } catch (error) {
      if (error.name !== "AbortError") this.status.textContent = _("The order is right; rank intervals could not be loaded: %(why)s", { why: error.message });
    }
  }

  reset(event) {
    event.preventDefault();
    this.asked.reset();
    this.sort = "";
    this.changed();
  }

  /** The rows in the order asked for, those that fit or the `first`; with the server's `ranks` once they are there. */
  draw(ranks, first) {
    const guarded = this.form.elements.form.value === "guarded";
    this.classList.toggle("lb-exact", !guarded);
    if (this.order) this.table.draw(this.order, this.sort, this.most, ranks, guarded, first);
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
      this.table.expand(open, this.asked.parameters(true));
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
}

customElements.define("weighed-board", WeighedBoard);
