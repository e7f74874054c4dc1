/**
 * `<span-picker>` around one checkbox and label per word (values `start:end`, in code points): marking words becomes
 * drawing over them. Mouse or finger: press and draw, again to unmark. Keys: Tab enters once, arrows move, space
 * marks, Shift with an arrow marks on the way. The form then sends neighbouring words as one span, as JSON
 * `[{start, end}]`. Without scripts the checkboxes do. The boxes may belong to a form elsewhere (`form="…"`).
 */
import { _, announce } from "./dom.js";

export class SpanPicker extends HTMLElement {
  connectedCallback() {
    this.collect();
    if (!this.boxes.length && !this.dataset.follows) return;
    this.addEventListener("keydown", this.key);
    this.addEventListener("pointerdown", this.down);
    this.addEventListener("pointermove", this.over);
    this.addEventListener("click", this.click);
    window.addEventListener("pointerup", this.up);
    window.addEventListener("pointercancel", this.cancel);
    document.addEventListener("formdata", this.send);
  }

  collect() {
    this.boxes = [...this.querySelectorAll('input[type="checkbox"]')];
    this.labels = this.boxes.map((box) => this.querySelector(`label[for="${CSS.escape(box.id)}"]`));
    this.boxes.forEach((box, index) => { box.tabIndex = index ? -1 : 0; });
  }

  disconnectedCallback() {
    window.removeEventListener("pointerup", this.up);
    window.removeEventListener("pointercancel", this.cancel);
    document.removeEventListener("formdata", this.send);
  }

  /** Marked words that stand beside each other, joined. */
  spans() {
    const spans = [];
    let before = false;
    for (const box of this.boxes) {
      const [start, end] = box.value.split(":").map(Number);
      if (box.checked && before) spans.at(-1).end = end;
      else if (box.checked) spans.push({ start, end });
      before = box.checked;
    }
    return spans;
  }

  /** The form may come and go while the words stay, so that the document listens. */
  send = (event) => {
    const [{ form, name, disabled }] = this.boxes;
    if (event.target !== form) return;
    event.formData.delete(name);
    const spans = disabled ? [] : this.spans();
    if (spans.length) event.formData.set(name, JSON.stringify(spans));
  };

  mark(index, on) {
    const box = this.boxes[index];
    if (box.checked === on) return;
    box.checked = on;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  go(index) {
    for (const box of this.boxes) box.tabIndex = -1;
    this.boxes[index].tabIndex = 0;
    this.boxes[index].focus();
  }

  /** The word under the pointer, -1 for none. */
  under(event) {
    return this.labels.indexOf(document.elementFromPoint(event.clientX, event.clientY)?.closest("label"));
  }

  /** Where a key leads from the word `here`: its index, -1 where it leads nowhere. */
  way(key, here) {
    const forth = getComputedStyle(this).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: forth, ArrowLeft: -forth, ArrowDown: 1, ArrowUp: -1 }[key];
    const there = key === "Home" ? 0 : key === "End" ? this.boxes.length - 1 : step ? here + step : -1;
    return there < this.boxes.length ? there : -1;
  }

  down = (event) => {
    const from = this.labels.indexOf(event.target.closest?.("label"));
    if (from < 0 || event.button > 0) return;
    event.target.releasePointerCapture?.(event.pointerId);
    this.drawing = { from, on: !this.boxes[from].checked, before: this.boxes.map((box) => box.checked) };
    this.mark(from, this.drawing.on);
    this.go(from);
    event.preventDefault();
  };

  over = (event) => {
    if (!this.drawing) return;
    const to = this.under(event);
    if (to < 0) return;
    const { from, on, before } = this.drawing;
    const [first, last] = from < to ? [from, to] : [to, from];
    this.boxes.forEach((_box, index) => this.mark(index, index >= first && index <= last ? on : before[index]));
  };

  up = () => {
    if (!this.drawing) return;
    this.drawing = null;
    this.boxes[0].dispatchEvent(new Event("change", { bubbles: true }));
    const marked = this.labels.filter((_label, index) => this.boxes[index].checked).map((label) => label.textContent);
    announce(_("Marked: %(words)s", { words: marked.join(" ") || _("nothing") }));
  };

  cancel = () => this.up();

  /** The pointer has marked already; the label's own click would undo it. A click without a pointer is a key's. */
  click = (event) => {
    if (event.target.closest("label") && event.detail > 0) event.preventDefault();
  };

  key = (event) => {
    const here = this.boxes.indexOf(event.target);
    if (here < 0) return;
    const there = this.way(event.key, here);
    if (there < 0) return;
    event.preventDefault();
    if (event.shiftKey) {
      this.mark(here, true);
      this.mark(there, true);
      this.boxes[there].dispatchEvent(new Event("change", { bubbles: true }));
    }
    this.go(there);
  };
}

customElements.define("span-picker", SpanPicker);
