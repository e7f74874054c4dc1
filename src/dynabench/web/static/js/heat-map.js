/** The map of a picture: what spoke for the label, blue, and against it, orange and outlined. */
import { _, make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const LIGHTEST = 0.02; // weights that are not drawn
const PLACES = [
  [_("top left"), _("top"), _("top right")],
  [_("left"), _("middle"), _("right")],
  [_("bottom left"), _("bottom"), _("bottom right")],
];

/** A figure with the picture at `address` and its `rows` of weights from -1 to 1, from the top left. */
export function heatMap(address, rows, label) {
  const drawn = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${rows[0]?.length ?? 1} ${rows.length || 1}`, preserveAspectRatio: "none", "aria-hidden": "true" })) drawn.setAttribute(name, value);
  for (const [y, row] of rows.entries()) for (const [x, weight] of row.entries()) if (Math.abs(weight) >= LIGHTEST) drawn.append(cell(x, y, weight));
  const place = heaviest(rows);
  const told = _("The picture: parts that support %(label)s in blue, parts against it outlined in orange", { label });
  const picture = make("img", { src: address, alt: place ? `${told}. ${_("Most weight: %(place)s", { place })}` : told });
  return make("figure", { class: "heat" }, make("div", { class: "heat-over" }, picture, drawn));
}

function cell(x, y, weight) {
  const drawn = document.createElementNS(SVG, "rect");
  const facts = { class: weight < 0 ? "heat-against" : "heat-towards", x, y, width: 1, height: 1, "fill-opacity": Math.abs(weight) * 0.7 };
  for (const [name, value] of Object.entries(facts)) drawn.setAttribute(name, value);
  return drawn;
}

/** The third of the picture, in words, that holds the largest weight for the label; empty where none speaks for it. */
function heaviest(rows) {
  let [best, words] = [0, ""];
  for (const [y, row] of rows.entries()) for (const [x, weight] of row.entries()) {
    if (weight > best) [best, words] = [weight, PLACES[Math.floor((3 * y) / rows.length)][Math.floor((3 * x) / row.length)]];
  }
  return words;
}
