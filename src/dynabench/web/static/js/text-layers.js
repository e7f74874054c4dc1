/**
 * `<text-layers for="answer-answer" data-layers='[{actor, who, value}]'>`: what people and models marked in a passage, and
 * what a model looked at, as layers on the passage that stands on the page already, with a switch for each.
 *
 * `value` are spans (`start`, `end` in code points); the passage is a picker of words (`<answer-picker>`), and of its
 * marks the author's are its own. Weights come as the event `text-weighed` of a `<token-strip>` beside it. All is taken
 * off the passage again with this element. Without scripts its `<noscript>` says the same.
 */
import { _, make } from "./dom.js";

class TextLayers extends HTMLElement {
  connectedCallback() {
    this.passage = document.getElementById(this.getAttribute("for"));
    if (!this.passage) return;
    this.words = [...this.passage.querySelectorAll(".span-check")].map((box) => {
      const [start, end] = box.value.split(":").map(Number);
      return { start, end, label: box.nextElementSibling, gap: box.nextElementSibling.nextElementSibling };
    });
    this.layers = new Map();
    for (const { actor, who, value } of JSON.parse(this.dataset.layers)) {
      if (actor === "author") this.layers.set(actor, { on: true, spans: value ?? [], claim: true });
      else if (actor === "people") this.layers.set("own", { text: _("Your answer"), on: true });
      else this.layers.set(who, { text: who === this.getAttribute("model") ? _("Model's answer") : _("Answer: %(who)s", { who }), on: true, spans: value ?? [] });
    }
    this.place = this.closest(".answer, .last") ?? document;
    this.place.addEventListener("text-weighed", this.weigh);
    this.paint();
  }

  disconnectedCallback() {
    this.place?.removeEventListener("text-weighed", this.weigh);
    for (const word of this.words ?? []) clean(word);
    this.passage?.classList.remove("without-own");
  }

  weigh = ({ detail: { model, words } }) => {
    const before = this.layers.get(`weights ${model}`);
    const several = this.place.querySelectorAll("token-strip[layer]").length > 1;
    const first = ![...this.layers.keys()].some((name) => name.startsWith("weights"));
    this.layers.set(`weights ${model}`, { text: several ? _("Attribution: %(model)s", { model }) : _("Attribution"), on: before?.on ?? first, words });
    this.paint();
  };

  toggle(name) {
    const layer = this.layers.get(name);
    layer.on = !layer.on;
    if (layer.on && layer.words) { // one model's weights at a time: two would not be told apart
      for (const [other, { words }] of this.layers) if (words && other !== name) this.layers.get(other).on = false;
    }
    this.paint();
    this.querySelector(`[data-layer="${CSS.escape(name)}"]`)?.focus();
  }

  paint() {
    this.passage.classList.toggle("without-own", this.layers.get("own")?.on === false);
    for (const word of this.words) {
      clean(word);
      for (const { on, spans, words, claim } of this.layers.values()) {
        if (on && spans) mark(word, spans, claim ? "layer-claimed" : "layer-marked");
        if (on && words) shade(word, words);
      }
    }
    if (this.layers.has("author")) { // the claim that is checked: nothing to switch
      this.replaceChildren(_("Claimed answer:"), " ", this.words.filter(({ label }) => label.classList.contains("layer-claimed")).map(({ label }) => label.textContent).join(" "));
      return;
    }
    const button = ([name, { text, on, words }]) => make("button", { type: "button", "data-layer": name, class: name === "own" ? "layer-people" : words ? "layer-weights" : "layer-models", "aria-pressed": String(on), onclick: () => this.toggle(name) }, text);
    this.replaceChildren(make("span", { class: "layers-label" }, _("In the text:")), make("div", { class: "segments", role: "group", "aria-label": _("Layers on the text") }, ...[...this.layers].map(button)));
  }
}

function clean({ label, gap }) {
  label.classList.remove("layer-marked", "layer-claimed", "towards", "against");
  gap.classList.remove("layer-marked", "layer-claimed");
  delete label.dataset.step;
}

function mark({ start, end, label, gap }, spans, name) {
  const span = spans.find((each) => start < each.end && each.start < end);
  if (!span) return;
  label.classList.add(name);
  if (end < span.end) gap.classList.add(name);
}

function shade({ start, end, label }, words) {
  const weights = words.filter((each) => start < each.end && each.start < end).map(({ weight }) => Number(weight) || 0);
  if (!weights.length) return;
  const weight = weights.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most));
  const step = Math.round(Math.min(1, Math.abs(weight)) * 6);
  if (!step) return;
  label.dataset.step = step;
  label.classList.add(weight < 0 ? "against" : "towards");
}

customElements.define("text-layers", TextLayers);
