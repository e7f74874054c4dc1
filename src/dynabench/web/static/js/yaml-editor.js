/** A text area with numbered lines; a link with `data-line` leads to its line. Without scripts it is a text area. */
import { make } from "./dom.js";
import { completing } from "./yaml-complete.js";

class YamlEditor extends HTMLElement {
  connectedCallback() {
    this.area = this.querySelector("textarea");
    this.gutter = make("div", { class: "yaml-gutter", "aria-hidden": "true" });
    this.prepend(this.gutter);
    this.area.addEventListener("input", () => this.count());
    this.area.addEventListener("scroll", () => { this.gutter.scrollTop = this.area.scrollTop; });
    if (this.dataset.schema) completing(this, this.area);
    this.count();
  }

  count() {
    const lines = this.area.value.split("\n").length;
    if (lines === this.lines) return;
    this.lines = lines;
    this.gutter.textContent = Array.from({ length: lines }, (_, n) => n + 1).join("\n");
    this.gutter.scrollTop = this.area.scrollTop;
  }

  show(line) {
    const before = this.area.value.split("\n").slice(0, line - 1).join("\n").length;
    const start = line > 1 ? before + 1 : 0;
    const end = this.area.value.indexOf("\n", start);
    this.area.focus();
    this.area.setSelectionRange(start, end < 0 ? this.area.value.length : end);
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
  }
}

customElements.define("yaml-editor", YamlEditor);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-line]");
  const editor = link && document.querySelector("yaml-editor");
  if (!editor) return;
  event.preventDefault();
  editor.show(Number(link.dataset.line));
});
