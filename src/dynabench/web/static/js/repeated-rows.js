/**
 * `<repeated-rows data-least="1" data-most="5">` around rows (`data-row`) and a template for another one, in which
 * `__row__` stands for its number: blank rows that nobody asked for go, and buttons add and remove. Without scripts the
 * server offers some blank rows. Numbers in names may have gaps; the server counts what is left.
 */
import { _, announce } from "./dom.js";

const CONTROLS = "input, select, textarea";

/** Whether somebody has filled something in; a hidden input is not theirs, but for the digest of a file they sent. */
function filled(row) {
  return [...row.querySelectorAll(CONTROLS)].some((control) => {
    if (control.type === "hidden") return control.matches("[data-digest]") && control.value !== "";
    if (control.type === "range" || control.matches("select[data-part]")) return false;
    if (control.type === "radio" || control.type === "checkbox") return control.checked;
    return !["", "[]"].includes(control.value.trim());
  });
}

class RepeatedRows extends HTMLElement {
  connectedCallback() {
    this.least = Number(this.dataset.least);
    this.most = Number(this.dataset.most);
    this.next = this.rows.length;
    for (const row of this.rows.slice(this.least).reverse()) {
      if (filled(row) || row.querySelector(".field-error")) break;
      row.remove();
    }
    this.querySelector(":scope > .actions [data-add]").addEventListener("click", this.add);
    this.addEventListener("click", this.press);
    this.settle();
  }

  get rows() {
    return [...this.querySelectorAll(":scope > [data-row]")];
  }

  add = () => {
    const html = this.querySelector(":scope > template").innerHTML.replaceAll("__row__", String(this.next++));
    const row = document.createRange().createContextualFragment(html).firstElementChild;
    (this.rows.at(-1) ?? this.querySelector(":scope > template")).after(row);
    this.settle();
    row.querySelector(CONTROLS)?.focus();
    announce(_("Added: %(name)s", { name: this.titleOf(row) }));
  };

  press = (event) => {
    const row = event.target.closest("[data-remove]")?.closest("[data-row]");
    if (!row) return;
    const title = this.titleOf(row);
    const beside = row.nextElementSibling?.matches("[data-row]") ? row.nextElementSibling : this.rows.at(this.rows.indexOf(row) - 1);
    row.remove();
    this.settle();
    beside.querySelector(CONTROLS)?.focus();
    announce(_("Removed: %(name)s", { name: title }));
    for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, { bubbles: true }));
  };

  titleOf(row) {
    return row.querySelector(".group-head .field-label").textContent.trim();
  }

  settle() {
    const { rows } = this;
    rows.forEach((row, index) => {
      row.querySelector("[data-number]").textContent = String(index + 1);
      const remove = row.querySelector("[data-remove]");
      remove.hidden = rows.length <= this.least;
      remove.setAttribute("aria-label", _("Remove %(name)s", { name: this.titleOf(row) }));
    });
    this.querySelector(":scope > .actions [data-add]").hidden = rows.length >= this.most;
    this.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
  }
}

customElements.define("repeated-rows", RepeatedRows);
