/**
 * `<vega-chart label="…"><script type="application/json">…</script><div data-table>…</div></vega-chart>`
 *
 * Draws a compiled Vega spec as SVG once it comes near the screen; the library is loaded then, and interprets
 * expressions instead of evaluating them. Colours that mean something are written in the spec as the light theme has
 * them and replaced by those of the current theme. The same numbers are in the table, which is what one sees without
 * scripts and behind "Show as table".
 */
import { _, locale, make } from "./dom.js";

const NAMED = { "#c2571a": "--people", "#1f5fbf": "--models", "#1c1b18": "--ink", "#57534b": "--ink-2", "#dfdbd1": "--line", "#8d877b": "--line-strong" };
const VENDOR = new URL("../vendor/vega.js", import.meta.url);

/** The spec in the colours of the current theme; a probe resolves custom properties to plain colours. */
function themed(text) {
  const probe = make("span", { hidden: true });
  document.body.append(probe);
  const colour = (name) => {
    probe.style.setProperty("color", `var(${name})`);
    return getComputedStyle(probe).color;
  };
  const spec = Object.entries(NAMED).reduce((all, [hex, name]) => all.replaceAll(new RegExp(hex, "gi"), colour(name)), text);
  probe.remove();
  return JSON.parse(spec);
}

/** Numbers and months of the axes as the page's language writes them, in the form that Vega takes. */
function spoken() {
  const parts = Object.fromEntries(new Intl.NumberFormat(locale).formatToParts(-1234567.8).map(({ type, value }) => [type, value]));
  const months = (month) => [...Array(12).keys()].map((n) => new Intl.DateTimeFormat(locale, { month, timeZone: "UTC" }).format(Date.UTC(2026, n, 1)));
  const days = (weekday) => [...Array(7).keys()].map((n) => new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" }).format(Date.UTC(2026, 1, n + 1)));
  return {
    number: { decimal: parts.decimal, thousands: parts.group ?? ",", grouping: [3], currency: ["", ""] },
    time: {
      dateTime: "%x, %X", date: "%-d/%-m/%Y", time: "%H:%M:%S", periods: ["AM", "PM"],
      days: days("long"), shortDays: days("short"), months: months("long"), shortMonths: months("short"),
    },
  };
}

class VegaChart extends HTMLElement {
  connectedCallback() {
    if (this.canvas) return;
    this.spec = this.querySelector('script[type="application/json"]').textContent;
    this.table = this.querySelector("[data-table]");
    this.canvas = make("div", { class: "chart-canvas" });
    this.button = make("button", { type: "button", class: "link chart-toggle", "aria-pressed": "false", onclick: () => this.flip() }, _("Show as table"));
    this.append(this.canvas, this.button);
    this.table.hidden = true;
    this.seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.seen.disconnect();
      this.draw();
    }, { rootMargin: "300px" });
    this.seen.observe(this);
    document.addEventListener("themechange", this.redraw);
    window.addEventListener("beforeprint", this.redraw);
  }

  disconnectedCallback() {
    this.seen?.disconnect();
    document.removeEventListener("themechange", this.redraw);
    window.removeEventListener("beforeprint", this.redraw);
    this.view?.finalize();
  }

  redraw = () => { if (this.view) this.draw(); };

  async draw() {
    try {
      const { parse, View, Warn, expressionInterpreter } = await import(VENDOR);
      this.view?.finalize();
      this.view = new View(parse(themed(this.spec), null, { ast: true }), {
        expr: expressionInterpreter, locale: locale.startsWith("en") ? undefined : spoken(), renderer: "svg", container: this.canvas, hover: true, logLevel: Warn,
      });
      await this.view.runAsync();
      this.describe();
    } catch {
      // A chart that cannot be drawn is still a table.
      this.flip(true);
      this.button.hidden = true;
    }
  }

  /** One picture with one name: its parts are in the table. */
  describe() {
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${this.getAttribute("label")}. ${_("The numbers are in the table.")}`);
    const svg = this.canvas.querySelector("svg");
    for (const name of ["role", "aria-roledescription", "aria-label"]) svg?.removeAttribute(name);
    svg?.setAttribute("aria-hidden", "true");
    for (const part of svg?.querySelectorAll("[role]") ?? []) {
      for (const name of ["role", "aria-roledescription", "aria-label", "tabindex"]) part.removeAttribute(name);
    }
  }

  flip(force) {
    const table = force === true || this.table.hidden;
    this.table.hidden = !table;
    this.canvas.hidden = table;
    this.button.setAttribute("aria-pressed", String(table));
    this.button.textContent = table ? _("Show as chart") : _("Show as table");
    if (!table) this.view?.resize().runAsync();
  }
}

customElements.define("vega-chart", VegaChart);
