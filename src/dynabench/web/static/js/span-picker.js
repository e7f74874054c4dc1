/**
 * `<span-picker text="They finished eating."><input name="ask.fooling_words" value="[]"></span-picker>`
 *
 * Marks words of `text` (or of the field whose id is `source`) and writes `[{start, end, text}]` as JSON into the
 * input inside, offsets in characters (code points, as Python counts). Without scripts the input stays what it is: a
 * field to type the words into. Mouse or finger: press and draw over words, again to unmark. Keys: arrows move, space
 * marks, Shift with an arrow marks on the way.
 */
import { _, announce, make } from "./dom.js";

const spaces = /^\s+$/u;

/** Words and signs of a text with their code-point offsets, in any script. */
export function words(text) {
  const found = [];
  let at = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    const length = [...segment].length;
    if (!spaces.test(segment)) found.push({ text: segment, start: at, end: at + length });
    at += length;
  }
  return found;
}

class SpanPicker extends HTMLElement {
  connectedCallback() {
    if (this.box) return;
    this.input = this.querySelector("input, textarea");
    const source = this.getAttribute("source");
    this.text = this.getAttribute("text") ?? document.getElementById(source)?.value ?? "";
    this.words = words(this.text);
    this.marked = this.read();
    this.box = make("ol", {
      class: "picker", role: "listbox", dir: "auto", "aria-multiselectable": "true", "aria-label": this.getAttribute("label") ?? _("Mark words"),
      onkeydown: (event) => this.key(event), onpointerdown: (event) => this.down(event), onpointermove: (event) => this.over(event),
    });
    let end = null;
    this.options = this.words.map((word, index) => {
      if (end !== null && word.start > end) this.box.append(" ");
      end = word.end;
      const option = make("li", { role: "option", class: "pick", tabindex: index ? "-1" : "0", "data-index": index }, word.text);
      this.box.append(option);
      return option;
    });
    this.input.hidden = true;
    this.input.type = "hidden";
    this.append(this.box);
    window.addEventListener("pointerup", this.up);
    this.show();
  }

  disconnectedCallback() {
    window.removeEventListener("pointerup", this.up);
  }

  /** Which words the input's spans already cover, as a set of indices. */
  read() {
    let spans = [];
    try { spans = JSON.parse(this.input.value || "[]"); } catch { /* words typed without scripts stay unmarked */ }
    if (!Array.isArray(spans)) return new Set();
    const inside = (word) => spans.some((span) => word.start >= span.start && word.end <= span.end);
    return new Set(this.words.flatMap((word, index) => (inside(word) ? [index] : [])));
  }

  /** Neighbouring marked words are one span. */
  spans() {
    const characters = [...this.text];
    const spans = [];
    let last = -2;
    for (const index of [...this.marked].sort((a, b) => a - b)) {
      const word = this.words[index];
      if (index === last + 1) spans.at(-1).end = word.end;
      else spans.push({ start: word.start, end: word.end });
      last = index;
    }
    return spans.map(({ start, end }) => ({ start, end, text: characters.slice(start, end).join("") }));
  }

  show() {
    this.options.forEach((option, index) => option.setAttribute("aria-selected", String(this.marked.has(index))));
    this.input.value = JSON.stringify(this.spans());
  }

  mark(index, on) {
    if (on === this.marked.has(index)) return;
    if (on) this.marked.add(index);
    else this.marked.delete(index);
    this.show();
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  focusOn(index) {
    for (const option of this.options) option.tabIndex = -1;
    this.options[index].tabIndex = 0;
    this.options[index].focus();
  }

  down(event) {
    const index = Number(event.target.closest?.("[data-index]")?.dataset.index ?? NaN);
    if (Number.isNaN(index) || event.button > 0) return;
    event.target.releasePointerCapture?.(event.pointerId);
    this.drawing = { on: !this.marked.has(index), from: index, before: new Set(this.marked) };
    this.mark(index, this.drawing.on);
    this.focusOn(index);
    event.preventDefault();
  }

  over(event) {
    if (!this.drawing) return;
    const option = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-index]");
    if (!option || !this.box.contains(option)) return;
    const [from, to] = [this.drawing.from, Number(option.dataset.index)].sort((a, b) => a - b);
    this.words.forEach((_word, index) => {
      this.mark(index, index >= from && index <= to ? this.drawing.on : this.drawing.before.has(index));
    });
  }

  up = () => {
    if (!this.drawing) return;
    this.drawing = null;
    announce(_("Marked: %(words)s", { words: this.spans().map((span) => span.text).join(", ") || _("nothing") }));
  };

  key(event) {
    const here = Number(event.target.dataset.index);
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === " " || event.key === "Enter") this.mark(here, !this.marked.has(here));
    else if (way || event.key === "Home" || event.key === "End") {
      const there = event.key === "Home" ? 0 : event.key === "End" ? this.words.length - 1 : here + way;
      if (there < 0 || there >= this.words.length) return;
      if (event.shiftKey) { this.mark(here, true); this.mark(there, true); }
      this.focusOn(there);
    } else return;
    if (event.ctrlKey || event.metaKey) return;
    event.preventDefault();
  }
}

customElements.define("span-picker", SpanPicker);
