/**
 * `<labelled-spans>` around a text's words (`data-start`, `data-end` in code points), labels to mark with (`data-label`),
 * and a hidden textarea that holds the marked spans as JSON and is what the form sends. Mouse or finger: choose a label,
 * draw over words; a click on a mark of that label takes it away. Keys as in `<span-picker>`, then a number or Enter
 * labels what is drawn, or the word one is on, and Delete takes its marks away. The rows that stand here for pages
 * without scripts go. Spans that overlap others take their place, unless `data-overlap` lets them share words. Where
 * `data-follows` names a text field of the form, its words are those as they are typed, and marks move along.
 */
import { _, announce, make } from "./dom.js";
import { SpanPicker } from "./span-picker.js";
import { kept, moved, wordsOf } from "./typed-text.js";

class LabelledSpans extends SpanPicker {
  connectedCallback() {
    const first = !this.field;
    this.field = this.querySelector("[data-value]");
    this.list = this.querySelector("[data-list]");
    this.brushes = [...this.querySelectorAll("[data-label]")];
    this.brush = this.brushes[0];
    this.source = this.closest("form")?.elements[this.dataset.follows];
    if (first) this.upgrade();
    super.connectedCallback();
    this.source?.addEventListener("input", this.follow);
    this.addEventListener("keydown", this.press);
    document.addEventListener("draft:restored", this.read);
    this.read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    document.removeEventListener("draft:restored", this.read);
    this.source?.removeEventListener("input", this.follow);
  }

  /** Words become checkboxes whose ticks are what is drawn at the moment; the rows go. */
  upgrade() {
    this.querySelector("[data-rows]")?.remove();
    for (const part of this.querySelectorAll("[data-brushes], [data-hint]")) part.hidden = false;
    this.draw([...this.querySelectorAll(".labelled-word")].map((word) => {
      word.querySelector(".labelled-number").remove();
      return { start: word.dataset.start, end: word.dataset.end, text: word.textContent, gap: word.nextElementSibling.textContent };
    }));
    for (const brush of this.brushes) brush.addEventListener("click", () => this.choose(brush));
    this.querySelector("[data-brushes]").addEventListener("keydown", this.turn);
  }

  draw(words) {
    this.querySelector("[data-text]").replaceChildren(...words.flatMap((word, index) => {
      const id = `${this.id}-word-${index}`;
      return [make("input", { type: "checkbox", class: "span-check", id, value: `${word.start}:${word.end}` }),
        make("label", { class: "span-word", for: id }, word.text), make("span", { class: "span-gap" }, word.gap)];
    }));
  }

  /** The text has changed: its words are drawn anew, and marks stay on what they were on. */
  follow = () => {
    const text = kept(this.source.value);
    this.marks = moved(this.marks, this.text, text);
    this.text = text;
    this.draw(wordsOf(text));
    this.collect();
    this.changed();
  };

  read = () => {
    if (this.source) {
      this.text = kept(this.source.value);
      this.draw(wordsOf(this.text));
      this.collect();
    }
    try { this.marks = JSON.parse(this.field.value || "[]"); } catch { this.marks = []; }
    this.choose(this.brush);
    this.show();
  };

  send = () => {}; // the textarea is sent

  choose(brush) {
    this.brush = brush;
    for (const each of this.brushes) {
      each.setAttribute("aria-checked", String(each === brush));
      each.tabIndex = each === brush ? 0 : -1;
    }
  }

  /** Arrows among the labels. */
  turn = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.choose(this.brushes.at((this.brushes.indexOf(this.brush) + step) % this.brushes.length));
    this.brush.focus();
  };

  place(box) {
    const [start, end] = box.value.split(":").map(Number);
    return { start, end };
  }

  /** Label what is drawn; of a word without a drawing, the word. Drawing one word of a mark again takes that away. */
  apply(brush, toggles = false) {
    this.choose(brush);
    const { label } = brush.dataset;
    const drawn = this.spans();
    const single = toggles && this.boxes.filter((box) => box.checked).length === 1 && drawn[0];
    const again = single && this.marks.find((mark) => mark.label === label && mark.start <= single.start && single.end <= mark.end);
    if (again) return this.remove(again);
    for (const span of drawn) {
      const gone = (mark) => (mark.start < span.end && span.start < mark.end) && (!("overlap" in this.dataset) || mark.label === label);
      this.marks = [...this.marks.filter((mark) => !gone(mark)), { ...span, label }];
    }
    if (this.marks.length > Number(this.dataset.most)) this.marks.length = Number(this.dataset.most);
    announce(drawn.map((span) => this.told({ ...span, label })).join("; "));
    this.changed();
  }

  remove(mark) {
    announce(_("Removed: %(mark)s", { mark: this.told(mark) }));
    this.marks = this.marks.filter((each) => each !== mark);
    this.changed();
  }

  changed() {
    for (const box of this.boxes) box.checked = false;
    this.marks.sort((one, other) => one.start - other.start || one.end - other.end);
    this.field.value = JSON.stringify(this.marks);
    for (const name of ["input", "change"]) this.field.dispatchEvent(new Event(name, { bubbles: true }));
    this.show();
  }

  covers(mark, box) {
    const { start, end } = this.place(box);
    return mark.start < end && start < mark.end;
  }

  words(mark) {
    return this.labels.filter((_label, index) => this.covers(mark, this.boxes[index])).map((label) => label.textContent).join(" ");
  }

  told(mark) {
    const brush = this.brushes.find((each) => each.dataset.label === mark.label);
    return _("%(words)s, %(label)s", { words: this.words(mark), label: brush?.dataset.name ?? mark.label });
  }

  show() {
    for (const tag of this.querySelectorAll(".labelled-tag")) tag.remove();
    this.boxes.forEach((box, index) => {
      const over = this.marks.filter((mark) => this.covers(mark, box));
      const next = this.boxes[index + 1];
      const goesOn = next && over.some((mark) => this.covers(mark, next));
      const label = this.labels[index];
      const tone = this.brushes.find((each) => each.dataset.label === over[0]?.label)?.dataset.tone;
      label.className = `span-word${tone ? ` labelled-mark tone-${tone}` : ""}${over.length > 1 ? " labelled-twice" : ""}`;
      label.nextElementSibling.className = `span-gap${tone && goesOn ? ` labelled-mark tone-${tone}` : ""}`;
      const names = over.map((mark) => this.brushes.find((each) => each.dataset.label === mark.label));
      box.setAttribute("aria-label", [label.textContent, ...names.map((brush) => brush?.dataset.name)].join(", "));
      const ending = over.filter((mark) => !next || !this.covers(mark, next)).map((mark) => names[over.indexOf(mark)]);
      label.after(...ending.map((brush) => make("span", { class: `labelled-tag tone-${brush.dataset.tone}`, "aria-hidden": "true" }, brush.dataset.name)));
    });
    this.list.hidden = !this.marks.length;
    this.list.replaceChildren(...this.marks.map((mark) => make("li", {}, this.told(mark), " ",
      make("button", { type: "button", class: "link", "aria-label": _("Remove %(name)s", { name: this.told(mark) }), onclick: () => { this.remove(mark); this.focusWord(mark); } }, _("Remove")))));
  }

  focusWord(mark) {
    this.go(this.boxes.findIndex((box) => this.covers(mark, box)));
  }

  up = () => {
    if (!this.drawing) return;
    this.drawing = null;
    this.apply(this.brush, true);
  };

  /** Another gesture, such as scrolling, took the pointer: nothing is labelled. */
  cancel = () => {
    if (!this.drawing) return;
    this.drawing = null;
    for (const box of this.boxes) box.checked = false;
  };

  press = (event) => {
    const box = this.boxes.includes(event.target) ? event.target : null;
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    const brush = event.key === "Enter" ? this.brush : /^[1-9]$/.test(event.key) && this.brushes[event.key - 1];
    const marks = ["Delete", "Backspace"].includes(event.key) ? this.marks.filter((mark) => this.covers(mark, box)) : [];
    if (brush) {
      if (!this.boxes.some((each) => each.checked)) box.checked = true;
      this.apply(brush);
    }
    for (const mark of marks) this.remove(mark);
    if (brush || marks.length) event.preventDefault();
  };
}

customElements.define("labelled-spans", LabelledSpans);
