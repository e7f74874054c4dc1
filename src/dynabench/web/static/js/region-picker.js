/**
 * `<region-picker>` over a picture and rows of numbers: places are drawn, moved and sized with a pointer, or with keys:
 * arrows move, with Shift they change the size, with Ctrl by ten; Delete removes. The rows stay what the form sends.
 */
import { _, announce } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

class RegionPicker extends HTMLElement {
  connectedCallback() {
    this.stage = this.querySelector("[data-stage]");
    this.img = this.querySelector("[data-picture]");
    this.marks = this.querySelector("[data-marks]");
    this.rows = [...this.querySelectorAll("[data-row]")];
    this.box = this.getAttribute("shape") === "box";
    this.querySelector("[data-hint]").hidden = false;
    this.querySelector("[data-adding]").hidden = false;
    this.querySelector("[data-add]").onclick = () => this.add();
    for (const row of this.rows) {
      const remove = row.querySelector("[data-remove]");
      remove.hidden = false;
      remove.onclick = () => this.remove(row);
      row.addEventListener("input", () => this.draw());
    }
    this.stage.onpointerdown = (event) => this.down(event);
    this.stored = (event) => event.detail.field === this.getAttribute("of") && this.show(event.detail);
    document.addEventListener("media-stored", this.stored);
    this.chosen = (event) => this.choose(event.target);
    document.addEventListener("change", this.chosen);
    this.img.addEventListener("load", () => this.draw());
    this.draw();
  }

  disconnectedCallback() {
    document.removeEventListener("media-stored", this.stored);
    document.removeEventListener("change", this.chosen);
  }

  /** A picture that was chosen among several. */
  choose(radio) {
    const img = radio.type === "radio" && radio.name.split(".").slice(1).join(".") === this.getAttribute("of") && radio.closest("label")?.querySelector("img");
    if (img?.naturalWidth) this.show({ address: img.src, width: img.naturalWidth, height: img.naturalHeight });
  }

  /** Another picture: what was marked on the last one does not hold. */
  show({ address, width, height }) {
    Object.assign(this.img, { src: address, width, height });
    this.stage.hidden = false;
    for (const row of this.rows) this.set(row, null);
    this.draw();
  }

  get size() { return ["width", "height"].map((side) => Number(this.img.getAttribute(side)) || this.img[side === "width" ? "naturalWidth" : "naturalHeight"] || 1); }

  part(row, name) { return row.querySelector(`[data-part="${name}"]`); }

  get(row) {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => this.part(row, name)?.value ?? "");
    return x === "" || y === "" ? null : { x: +x, y: +y, width: this.box ? +width || 1 : 1, height: this.box ? +height || 1 : 1 };
  }

  /** Whole pixels, within the picture. */
  set(row, place) {
    const [wide, tall] = this.size;
    const fit = (value, most, least = 0) => Math.round(Math.min(most, Math.max(least, value)));
    const made = place && { width: fit(place.width, wide, 1), height: fit(place.height, tall, 1) };
    if (made) Object.assign(made, { x: fit(place.x, wide - made.width), y: fit(place.y, tall - made.height) });
    for (const name of ["x", "y", "width", "height"]) {
      const input = this.part(row, name);
      if (input) input.value = made ? made[name] : "";
    }
  }

  draw(focused) {
    const [wide, tall] = this.size;
    this.marks.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    this.marks.replaceChildren();
    this.rows.forEach((row, index) => {
      const place = this.get(row);
      row.hidden = !place;
      if (!place) return;
      const mark = document.createElementNS(SVG, this.box ? "rect" : "path");
      const told = this.box ? place : { d: `M${place.x + 0.5} ${place.y + 0.5}h0` };
      for (const [name, value] of Object.entries(told)) mark.setAttribute(name, value);
      for (const [name, value] of Object.entries({ tabindex: 0, role: "button", "vector-effect": "non-scaling-stroke", "data-index": index })) mark.setAttribute(name, value);
      mark.setAttribute("aria-label", _("Region %(n)s: left %(x)s, top %(y)s", { n: index + 1, x: place.x, y: place.y }) + (this.box ? `, ${place.width} × ${place.height}` : ""));
      mark.addEventListener("keydown", (event) => this.key(event, row, index));
      this.marks.append(mark);
      if (index === focused) mark.focus();
    });
    this.querySelector("[data-add]").disabled = this.rows.every((row) => this.get(row));
  }

  /** Tell the form that something was changed, once for a burst of keys. */
  change() {
    clearTimeout(this.changing);
    this.changing = setTimeout(() => this.dispatchEvent(new Event("change", { bubbles: true })), 300);
  }

  free() { return this.rows.find((row) => !this.get(row)); }

  add(place) {
    const row = this.free();
    if (!row) return null;
    const [wide, tall] = this.size;
    this.set(row, place ?? { x: wide * 0.375, y: tall * 0.375, width: this.box ? wide / 4 : 1, height: this.box ? tall / 4 : 1 });
    this.draw(this.rows.indexOf(row));
    this.change();
    return row;
  }

  remove(row) {
    this.set(row, null);
    this.draw();
    this.change();
    this.querySelector("[data-add]").focus();
    announce(_("Removed."));
  }

  key(event, row, index) {
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      this.remove(row);
      return;
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const place = this.get(row);
    const by = event.ctrlKey ? 10 : 1;
    const [first, second] = event.shiftKey && this.box ? ["width", "height"] : ["x", "y"];
    place[first] += way[0] * by;
    place[second] += way[1] * by;
    this.set(row, place);
    this.draw(index);
    this.change();
  }

  /** Where a pointer is, in pixels of the picture. */
  at(event) {
    const { left, top, width, height } = this.img.getBoundingClientRect();
    const [wide, tall] = this.size;
    return [((event.clientX - left) / width) * wide, ((event.clientY - top) / height) * tall];
  }

  down(event) {
    if (event.button > 0) return;
    event.preventDefault();
    const [x, y] = this.at(event);
    const held = event.target.dataset?.index;
    const row = held === undefined ? this.free() : this.rows[held];
    if (!row) return;
    const before = this.get(row);
    if (!before) this.set(row, { x: Math.floor(x), y: Math.floor(y), width: 1, height: 1 });
    this.draw(this.rows.indexOf(row));
    const move = (moved) => {
      const [toX, toY] = this.at(moved);
      if (before || !this.box) this.set(row, { ...(before ?? { width: 1, height: 1 }), x: before ? before.x + toX - x : Math.floor(toX), y: before ? before.y + toY - y : Math.floor(toY) });
      else this.set(row, { x: Math.min(x, toX), y: Math.min(y, toY), width: Math.abs(toX - x), height: Math.abs(toY - y) });
      this.draw(this.rows.indexOf(row));
    };
    const stop = new AbortController();
    window.addEventListener("pointermove", move, { signal: stop.signal });
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, () => { stop.abort(); this.change(); }, { signal: stop.signal });
  }
}

customElements.define("region-picker", RegionPicker);
