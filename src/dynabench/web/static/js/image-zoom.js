/**
 * `<image-zoom>` around a link to a picture: it is looked at here, closer and farther, by wheel, buttons and keys
 * (plus, minus, 0; arrows move). Without scripts the link opens the picture alone.
 */
import { _, make } from "./dom.js";

const STEPS = [1, 1.5, 2, 3, 4, 6, 8];

class ImageZoom extends HTMLElement {
  connectedCallback() {
    this.img = this.querySelector("img");
    const link = this.querySelector("a");
    if (!this.img || this.frame) return;
    this.step = 0;
    this.frame = make("div", { class: "zoom-frame", tabindex: "0", role: "group", "aria-label": _("%(what)s: zoom with plus and minus", { what: this.img.alt }) }, this.img);
    const button = (label, sign, by) => make("button", { type: "button", class: "quiet small zoom-button", "aria-label": label, title: label, onclick: () => this.zoom(by) }, sign);
    this.tools = make("div", { class: "zoom-tools" }, button(_("Zoom out"), "−", -1), button(_("Zoom in"), "+", 1), link);
    link.replaceChildren(_("Open full size"));
    link.className = "small";
    this.replaceChildren(this.frame, this.tools);
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1 : -1); } }, { passive: false });
    this.frame.addEventListener("dblclick", () => this.zoom(this.step ? -this.step : 2));
    this.show();
  }

  key(event) {
    const by = { "+": 1, "=": 1, "-": -1, 0: -this.step }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.zoom(by);
  }

  zoom(by) {
    const next = Math.min(STEPS.length - 1, Math.max(0, this.step + by));
    if (next === this.step) return;
    if (!this.step) this.base = this.img.getBoundingClientRect().width;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.frame;
    const ratio = STEPS[next] / STEPS[this.step];
    this.step = next;
    this.img.style.width = next ? `${this.base * STEPS[next]}px` : "";
    this.img.classList.toggle("zoomed", next > 0);
    this.frame.scrollTo((scrollLeft + clientWidth / 2) * ratio - clientWidth / 2, (scrollTop + clientHeight / 2) * ratio - clientHeight / 2);
    this.show();
  }

  show() {
    const [farther, closer] = this.tools.querySelectorAll("button");
    farther.disabled = !this.step;
    closer.disabled = this.step === STEPS.length - 1;
  }
}

customElements.define("image-zoom", ImageZoom);
