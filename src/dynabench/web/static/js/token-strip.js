/**
 * `<token-strip src="…">` or `<token-strip post="…" data-body='{…}'>`: the words that a model looked at.
 *
 * Attributes: `src` (GET) or `post` with `data-body` (POST, JSON); `model` and `label` are added to the request and
 * named in the explanation; `closer` offers the slower, more exact method that the answer names; `parts` ("start end") are labels to switch
 * between, for answers that are explained in parts; `methods` ("occlusion lime") are ways to choose from;
 * fields named in `folded` open on demand; the weights of the field `layer` are told to `<text-layers>`; `lazy` asks only once it is seen. The answer is
 * `{method, closer, label, completeness_error, fields: {field: [{text, start, end, weight}]}, maps}` with weights from -1 to 1;
 * fields may also stand at its top. `maps`, rows of weights by field, are drawn over the pictures that `data-pictures` names.
 *
 * Words in blue spoke for the label, words in orange against it; the line under a word carries the same value by its
 * thickness, and the number is shown on focus and hover and read out. Arrow keys move from word to word.
 */
import { countDown } from "./countdown.js";
import { _, fetchJson, make } from "./dom.js";
import { heatMap } from "./heat-map.js";
import { SLOW, chooser, methodInWords, wordOf } from "./strip-parts.js";

const TRIES = 20; // in a row by itself, ever more rarely; then a button is left
const LONGEST_PAUSE = 30; // seconds
class TokenStrip extends HTMLElement {
  connectedCallback() {
    this.parts = (this.getAttribute("parts") ?? "").split(" ").filter(Boolean);
    if (this.parts.length && !this.hasAttribute("label")) this.setAttribute("label", this.parts[0]);
    if (this.loaded) return;
    if (!this.hasAttribute("lazy")) this.load();
    else this.watch();
  }

  /** Wait until it is seen: what nobody looks at need not be computed. */
  watch() {
    this.seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.seen.disconnect();
      this.load();
    });
    this.seen.observe(this);
  }

  disconnectedCallback() {
    this.seen?.disconnect();
    this.abort?.abort();
    clearInterval(this.countdown);
  }

  request(method) {
    const extra = Object.fromEntries([["model", this.getAttribute("model")], ["label", this.getAttribute("label")], ["method", method]].filter(([, value]) => value));
    if (this.hasAttribute("post")) return [this.getAttribute("post"), { ...JSON.parse(this.dataset.body), ...extra }];
    const address = new URL(this.getAttribute("src"), location.href);
    for (const [name, value] of Object.entries(extra)) address.searchParams.set(name, value);
    return [address, undefined];
  }

  async load(method) {
    this.abort?.abort();
    clearInterval(this.countdown);
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.wait(method), 300);
    try {
      const [address, body] = this.request(method);
      this.draw(await fetchJson(address, { body, signal }));
      this.loaded = true;
      this.tries = 0;
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error, method);
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) this.removeAttribute("aria-busy");
    }
  }

  wait(method) {
    const text = SLOW.includes(method) || (method && this.loaded) ? _("Computing more precisely…") : _("Computing the explanation…");
    const note = make("p", { class: "strip-note", role: "status" }, text);
    if (this.loaded) this.querySelector(".strip-foot")?.replaceChildren(note);
    else this.replaceChildren(make("div", { class: "skeleton", "aria-hidden": "true" }, make("span"), make("span")), note);
  }

  fail(error, method) {
    const again = make("button", { type: "button", class: "link", onclick: () => this.load(method) }, _("Try again"));
    const later = make("span", { "aria-hidden": "true" }); // read out once, not every second
    const note = make("p", { class: "strip-note", role: "status" }, _("The explanation could not be computed. "), error.message, " ", later, " ", again);
    if (error.passes) this.tryLater(later, error.after, method);
    if (this.loaded) this.querySelector(".strip-foot").replaceChildren(note);
    else this.replaceChildren(note);
  }

  /** Count down in `note`, then ask again: a busy or absent host heals by itself. */
  tryLater(note, after, method) {
    this.tries = (this.tries ?? 0) + 1;
    if (this.tries > TRIES) return;
    const seconds = Math.ceil(Math.min(LONGEST_PAUSE, Math.max(after, 2 ** Math.min(this.tries, 5))));
    this.countdown = countDown(note, seconds, () => this.load(method));
  }

  draw(answer) {
    const fields = answer.fields ?? Object.fromEntries(Object.entries(answer).filter(([, value]) => Array.isArray(value)));
    const explained = answer.label ?? this.getAttribute("label") ?? "";
    const label = (this.parts.length && { start: _("the start"), end: _("the end") }[explained]) || explained;
    const layer = this.getAttribute("layer");
    const names = Object.keys(fields).filter((name) => name !== layer);
    const folded = (this.getAttribute("folded") ?? "").split(" ");
    const [open, shut] = [names.filter((name) => !folded.includes(name)), names.filter((name) => folded.includes(name))];
    const lines = (shown) => shown.map((name) => this.line(name, fields[name], label, open.length > 1 || folded.includes(name)));
    this.readout = make("span", { class: "strip-readout", "aria-hidden": "true" });
    const pictures = JSON.parse(this.dataset.pictures ?? "{}");
    const maps = Object.entries(answer.maps ?? {}).filter(([name]) => name in pictures);
    const heats = maps.map(([name, rows]) => heatMap(`/api/v1/media/${pictures[name]}`, rows, label));
    const more = this.details(shut.length && open.length ? lines(shut) : [], this.foot(answer));
    this.replaceChildren(...this.switch(), ...heats, ...lines(open.length ? open : shut), this.key(label), more);
    if (layer in fields) this.dispatchEvent(new CustomEvent("text-weighed", { bubbles: true, detail: { model: this.getAttribute("model") ?? "", words: fields[layer] } }));
    if (this.switched) this.querySelector('[aria-pressed="true"]')?.focus();
    this.switched = false;
    this.querySelector("[data-word]")?.setAttribute("tabindex", "0");
    if (this.closer) this.querySelector("[data-word]")?.focus();
    this.closer = false;
  }

  /** What few look for: the fields that are folded, the method, a more precise one. */
  details(lines, foot) {
    const box = make("details", { class: "strip-more", ontoggle: () => { this.unfolded = box.open; } }, make("summary", {}, _("Details")), ...lines, foot);
    box.open = Boolean(this.unfolded);
    return box;
  }

  key(label) {
    const sample = (side, text) => make("span", { class: `word ${side}`, "data-step": "4" }, text);
    return make("p", { class: "strip-key" }, sample("against", _("against")), " ", sample("towards", _("for %(label)s", { label })), " ", this.readout);
  }

  /** Which part of the answer is explained: its start or its end. */
  switch() {
    if (!this.parts.length) return [];
    const now = this.getAttribute("label");
    const names = { start: _("start"), end: _("end") };
    const button = (part) => make("button", {
      type: "button", "aria-pressed": String(part === now),
      onclick: () => { if (part !== this.getAttribute("label")) { this.setAttribute("label", part); this.switched = true; this.load(this.method); } },
    }, names[part] ?? part);
    return [make("div", { class: "segments strip-switch", role: "group", "aria-label": _("Explained part of the answer") }, ...this.parts.map(button))];
  }

  line(name, words, label, titled) {
    const list = make("ol", { class: "strip", dir: "auto", "aria-label": _("Words of %(field)s and their weight for %(label)s", { field: name, label }) });
    let end = null;
    for (const word of words) {
      if (end !== null && word.start > end) list.append(" ");
      list.append(wordOf(word, label, (text) => { this.readout.textContent = text; }, (event) => this.move(event)));
      end = word.end;
    }
    const row = make("div", { class: "strip-line" }, list);
    if (titled) row.prepend(make("span", { class: "strip-name" }, name));
    return row;
  }

  move(event) {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!way && !["Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const words = [...this.querySelectorAll("[data-word]")].filter((word) => word.checkVisibility()); // without folded fields, which have boxes but cannot be focused
    const here = words.indexOf(event.currentTarget);
    const there = event.key === "Home" ? 0 : event.key === "End" ? words.length - 1 : here + way;
    const next = words[Math.max(0, Math.min(words.length - 1, there))];
    event.currentTarget.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  foot(answer) {
    const foot = make("div", { class: "strip-foot" });
    const methods = (this.getAttribute("methods") ?? "").split(" ").filter(Boolean);
    foot.append(make("span", { class: "strip-method" }, methodInWords(answer, methods.length > 0)));
    if (methods.length) foot.append(chooser(methods, answer.method, this));
    if (this.hasAttribute("closer") && answer.closer && !methods.length) {
      foot.append(make("button", { type: "button", class: "link", onclick: () => { this.closer = true; this.method = answer.closer; this.load(answer.closer); } }, _("more precise")));
    }
    return foot;
  }
}

customElements.define("token-strip", TokenStrip);
