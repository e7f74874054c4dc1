/** What the form of a board says: steps of weights, filters and columns, and the address that carries them. */
import { _ } from "./dom.js";

const FILTERS = ["size", "licence", "language", "since"];

export class BoardForm {
  /** `usual` has the default steps of `metrics` and `datasets` by name, and the default `form` of the score. */
  constructor(form, usual) {
    this.form = form;
    this.usual = usual;
  }

  steps(prefix, names) {
    return names.map((name) => Number(this.form.elements[`${prefix}.${name}`].value));
  }

  /** Steps by place of these metrics and datasets. */
  weights(metrics, datasets) {
    return {
      metrics: this.steps("m", metrics),
      datasets: this.steps("d", datasets),
      form: this.form.elements.form.value,
    };
  }

  /** What an address says of weights: all of them, or those that differ from the defaults. */
  parameters(whole) {
    const { usual } = this;
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

  /** Its own address, with the table's `sort`. */
  address(sort) {
    const found = this.parameters(false);
    for (const name of FILTERS) {
      if (this.form.elements[name].value) found.set(name, this.form.elements[name].value);
    }
    const boxes = [...this.form.querySelectorAll('[name="columns"]')];
    if (boxes.some((box) => !box.checked)) for (const box of boxes) if (box.checked) found.append("columns", box.value);
    if (sort) found.set("sort", sort);
    return found.size ? `?${found}` : location.pathname;
  }

  /** The normalised share beside each slider, and what other forms and links carry. */
  shares() {
    for (const prefix of ["m", "d"]) {
      const sliders = [...this.form.querySelectorAll(`input[type="range"][name^="${prefix}."]`)];
      const total = sliders.reduce((sum, each) => sum + Number(each.value), 0);
      for (const each of sliders) {
        const share = total ? `${Math.round((100 * each.value) / total)}%` : "–";
        each.parentElement.querySelector("output").textContent = `${each.value} · ${share}`;
        const chip = document.querySelector(`[data-chip="${CSS.escape(each.name)}"]`);
        if (chip) {
          chip.hidden = !Number(each.value);
          chip.querySelector("[data-share]").textContent = share;
        }
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

  /** What was filtered by; other rows come from the server. */
  filters() {
    return FILTERS.map((name) => this.form.elements[name].value).join();
  }

  columns() {
    return new Set([...this.form.querySelectorAll('[name="columns"]')].filter((box) => box.checked).map((box) => `m.${box.value}`));
  }

  reset() {
    const { usual } = this;
    for (const [prefix, group] of [["m", "metrics"], ["d", "datasets"]]) {
      for (const [name, step] of Object.entries(usual[group])) this.form.elements[`${prefix}.${name}`].value = step;
    }
    this.form.elements.form.value = usual.form;
    for (const name of FILTERS) this.form.elements[name].value = "";
    for (const box of this.form.querySelectorAll('[name="columns"]')) box.checked = true;
  }
}
