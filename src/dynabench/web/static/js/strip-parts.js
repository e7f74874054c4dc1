/** The parts of a `<token-strip>`: its words, and the method by which their weights were computed. */
import { _, decimal, make } from "./dom.js";

export const SLOW = ["layer_integrated_gradients", "integrated_gradients", "shapley"];
const METHODS = {
  gradient: _("gradient"), layer_integrated_gradients: _("layer integrated gradients"),
  integrated_gradients: _("integrated gradients"), exact: _("exact for this model"),
  occlusion: _("leave one word out"), grad_cam: _("Grad-CAM: the parts that the last layer read"), shapley: _("Shapley values, sampled"), lime: _("LIME"),
};

/** One word with its weight, which `show` is told on focus and hover. */
export function wordOf({ text, weight }, label, show, move) {
  const value = Math.max(-1, Math.min(1, Number(weight) || 0));
  const step = Math.round(Math.abs(value) * 6);
  const number = `${value < 0 ? "−" : "+"}${decimal(Math.abs(value), 2)}`;
  const side = step === 0 ? "" : value < 0 ? "against" : "towards";
  const spoken = value < 0 ? _("%(text)s: %(number)s, against %(label)s", { text, number, label }) : _("%(text)s: %(number)s, for %(label)s", { text, number, label });
  return make("li", {
    class: `word ${side}`, "data-step": step, "data-word": true, tabindex: "-1", "aria-label": spoken,
    onfocus: () => show(spoken), onmouseenter: () => show(spoken), onkeydown: move,
  }, text);
}

/** The method and what it leaves out; without its name where a list beside it says that. */
export function methodInWords({ method, completeness_error: error, cut_short: cut, maps = {} }, listed) {
  const how = method === "occlusion" && Object.keys(maps).length ? _("cover one part after the other") : METHODS[method] ?? method ?? "";
  const missed = error == null || method === "exact" ? "" : _("the weights miss %(percent)s % of the change in its answer", { percent: decimal(100 * error, error < 0.001 ? 2 : 1) });
  const short = cut ? _("time limit reached: best result so far") : "";
  return [listed ? "" : how, missed, short].filter(Boolean).join(" · ");
}

/** The methods to choose from; the first is the quickest, the others are asked for when chosen. */
export function chooser(methods, chosen, strip) {
  const options = methods.map((name) => make("option", { value: name, selected: name === chosen }, METHODS[name] ?? name.replaceAll("_", " ")));
  const list = make("select", { "aria-label": _("Method:"), onchange: () => { strip.chosen = true; strip.method = list.value; strip.load(list.value); } }, ...options);
  if (strip.chosen) queueMicrotask(() => list.focus());
  strip.chosen = false;
  return make("span", { class: "strip-how" }, _("by"), " ", list);
}
