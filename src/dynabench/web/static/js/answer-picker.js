/**
 * `<answer-picker id="…">` around the words of a passage, as in `<span-picker>`: one stretch of them is the answer.
 *
 * Mouse or finger: draw over it, or press its first and then its last word. Keys: Tab enters once, arrows move by
 * word and by line, Shift with an arrow takes along what lies between, Enter or space sets the first and then the last
 * word, Escape or Delete clears. `<picked-answer for="…">` says what is picked, wherever it stands. Without scripts
 * the first and the last word are ticked.
 */
import { _, announce, make } from "./dom.js";
import { SpanPicker } from "./span-picker.js";

class AnswerPicker extends SpanPicker {
  connectedCallback() {
    super.connectedCallback();
    if (!this.boxes.length) return;
    this.addEventListener("keyup", (event) => { if (event.key === " ") event.preventDefault(); });
    this.closest("draft-keeper")?.addEventListener("draft:restored", () => this.tidy());
    this.tidy();
  }

  /** What is ticked, from first to last: `[first, last]` or null. */
  get range() {
    const ticked = this.boxes.flatMap((box, index) => (box.checked ? [index] : []));
    return ticked.length ? [ticked[0], ticked.at(-1)] : null;
  }

  get text() {
    const [first, last] = this.range ?? [0, -1];
    return this.labels.slice(first, last + 1)
      .map((label, index) => label.textContent + (first + index < last ? label.nextElementSibling.textContent : "")).join("");
  }

  /** After a reload or a restored draft: everything between, and the place where Tab enters. */
  tidy() {
    const { range } = this;
    if (range) this.select(...range);
    if (range) this.boxes.forEach((box, index) => { box.tabIndex = index === range[0] ? 0 : -1; });
    this.tell();
  }

  select(one, other) {
    const [first, last] = one < other ? [one, other] : [other, one];
    let changed = false;
    this.boxes.forEach((box, index) => {
      const on = index >= first && index <= last;
      changed ||= box.checked !== on;
      box.checked = on;
    });
    if (changed) for (const name of ["input", "change"]) this.boxes[0].dispatchEvent(new Event(name, { bubbles: true }));
    this.tell();
  }

  clear() {
    this.start = undefined;
    this.select(-1, -1);
    announce(_("No answer marked."));
  }

  /** A word was chosen: the first one, or the last one after it. */
  press(index) {
    const whole = this.start !== undefined;
    this.select(whole ? this.start : index, index);
    this.start = whole ? undefined : index;
    if (whole) this.say();
    else announce(_("From “%(word)s”. Now choose the last word.", { word: this.labels[index].textContent }));
  }

  say() {
    announce(this.range ? _("Answer: %(text)s", { text: this.text }) : _("No answer marked."));
  }

  tell() {
    for (const place of document.querySelectorAll(`picked-answer[for="${CSS.escape(this.id)}"]`)) place.show?.(this);
  }

  way(key, here) {
    if (key !== "ArrowDown" && key !== "ArrowUp") return super.way(key, here);
    const boxes = this.labels.map((label) => label.getBoundingClientRect());
    const { left, top, height } = boxes[here];
    const further = (box) => (key === "ArrowDown" ? box.top - top : top - box.top) > height / 2;
    const lines = boxes.filter(further).map((box) => Math.abs(box.top - top));
    const next = boxes.flatMap((box, index) => (further(box) && Math.abs(box.top - top) < Math.min(...lines) + height / 2 ? [index] : []));
    const nearest = (one, other) => Math.abs(boxes[one].left - left) - Math.abs(boxes[other].left - left);
    return next.sort(nearest)[0] ?? (key === "ArrowDown" ? this.boxes.length - 1 : 0);
  }

  key = (event) => {
    const here = this.boxes.indexOf(event.target);
    if (here < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const there = this.way(event.key, here);
    if (there >= 0) this.move(here, there, event.shiftKey);
    else if (event.key === "Enter" || event.key === " ") this.press(here);
    else if (["Escape", "Delete", "Backspace"].includes(event.key)) this.clear();
    else return;
    event.preventDefault();
  };

  move(here, there, taking) {
    if (taking) {
      this.anchor ??= this.start ?? here;
      this.start = undefined;
      this.select(this.anchor, there);
      this.say();
    } else {
      this.anchor = undefined;
    }
    this.go(there);
  }

  down = (event) => {
    const from = this.labels.indexOf(event.target.closest?.("label"));
    if (from < 0 || event.button > 0 || this.boxes[0].disabled) return;
    event.target.releasePointerCapture?.(event.pointerId);
    this.drawing = { from: event.shiftKey && this.range ? this.range[0] : from, at: from, before: this.range };
    this.anchor = undefined;
    this.go(from);
    event.preventDefault();
  };

  over = (event) => {
    if (!this.drawing) return;
    const to = this.under(event);
    if (to < 0 || (to === this.drawing.at && !this.drawing.moved)) return;
    this.drawing.moved = true;
    this.start = undefined;
    this.select(this.drawing.from, to);
  };

  up = () => {
    if (!this.drawing) return;
    const { from, at, moved } = this.drawing;
    this.drawing = undefined;
    if (!moved && from === at) {
      this.press(at);
    } else {
      if (!moved) this.select(from, at);
      this.start = undefined;
      this.say();
    }
  };

  /** The finger scrolls instead. */
  cancel = () => {
    if (!this.drawing) return;
    const { before, moved } = this.drawing;
    this.drawing = undefined;
    if (moved) this.select(...(before ?? [-1, -1]));
  };

  /** Ticking is done here; a click that no key and no pointer made is an assistive program's. */
  click = (event) => {
    const index = this.boxes.indexOf(event.target);
    if (index >= 0 || event.target.closest("label")) event.preventDefault();
    if (index >= 0 && event.detail === 0 && event.isTrusted) setTimeout(() => this.press(index)); // after the undone tick
  };
}

customElements.define("answer-picker", AnswerPicker);

class PickedAnswer extends HTMLElement {
  connectedCallback() {
    this.hint ??= [...this.childNodes];
    this.hidden = false;
    document.getElementById(this.getAttribute("for"))?.tell?.();
  }

  show(picker) {
    const clear = make("button", { type: "button", class: "link", onclick: () => { picker.clear(); picker.go(picker.boxes.findIndex((box) => box.tabIndex === 0)); } }, _("Clear"));
    const there = this.hint.filter((node) => node.nodeName === "A");
    this.replaceChildren(...(picker.range ? [make("q", { class: "picked-text", dir: "auto" }, picker.text), " ", ...there, " ", clear] : this.hint));
  }
}

customElements.define("picked-answer", PickedAnswer);
