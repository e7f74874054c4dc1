/**
 * `<writing-counts key="…">` with two hidden fields, `typed` and `pasted`: how many characters were typed and pasted into
 * the texts of its form. Numbers only, never the text. Kept for this tab, so that a reload goes on.
 */
const PASTES = ["insertFromPaste", "insertFromDrop", "insertFromPasteAsQuotation"];

class WritingCounts extends HTMLElement {
  connectedCallback() {
    this.name = `writing:${this.getAttribute("key")}`;
    this.counts = { typed: 0, pasted: 0, ...this.stored() };
    this.lengths = new WeakMap();
    this.stop = new AbortController();
    const options = { signal: this.stop.signal, passive: true };
    const form = this.closest("form");
    form?.addEventListener("beforeinput", (event) => this.lengths.set(event.target, event.target.value?.length ?? 0), options);
    form?.addEventListener("input", (event) => this.count(event), options);
    this.tell();
  }

  disconnectedCallback() {
    this.stop.abort();
  }

  stored() {
    try { return JSON.parse(sessionStorage.getItem(this.name)); } catch { return null; }
  }

  count(event) {
    if (!event.isTrusted || !this.lengths.has(event.target)) return; // what scripts fill in, nobody wrote
    const pastes = PASTES.includes(event.inputType);
    const more = (event.target.value?.length ?? 0) - this.lengths.get(event.target);
    const added = pastes && event.data ? event.data.length : Math.max(0, more);
    this.counts[pastes ? "pasted" : "typed"] += added;
    this.tell();
  }

  tell() {
    for (const [name, number] of Object.entries(this.counts)) this.querySelector(`[name="${name}"]`).value = String(Math.min(number, 999_999));
    try { sessionStorage.setItem(this.name, JSON.stringify(this.counts)); } catch { /* then a reload begins anew */ }
  }
}

customElements.define("writing-counts", WritingCounts);
