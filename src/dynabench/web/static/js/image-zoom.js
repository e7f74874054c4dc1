/**
 * `<image-zoom>` around a link to a picture: a press opens it large, in a dialog; there plus, minus, 0, the wheel with
 * Ctrl and a double click change its size. Without scripts the link opens the picture alone.
 */
import { _, make } from "./dom.js";

const STEPS = [1, 1.5, 2, 3, 4, 6, 8];

class ImageZoom extends HTMLElement {
  connectedCallback() {
    this.link = this.querySelector("a");
    if (!this.link || this.dialog) return;
    this.link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // as the browser does: in a tab of its own
      event.preventDefault();
      this.open();
    });
  }

  open() {
    const { href } = this.link;
    const { alt, naturalWidth } = this.querySelector("img");
    this.img = make("img", { src: href, alt });
    const button = (label, sign, act) => make("button", { type: "button", class: "quiet small icon", "aria-label": label, title: label, onclick: act }, sign);
    const tools = make("div", { class: "zoom-tools" },
      button(_("Zoom out"), "−", () => this.zoom(-1)), button(_("Zoom in"), "+", () => this.zoom(1)),
      make("a", { href, target: "_blank", rel: "noopener", class: "small" }, _("Open full size")),
      button(_("Close"), "✕", () => this.dialog.close()));
    this.frame = make("div", { class: "zoom-frame", tabindex: "0", role: "group", "aria-label": _("%(what)s: zoom with plus and minus", { what: alt }) }, this.img);
    this.dialog = make("dialog", { class: "zoom-dialog", "aria-label": alt, onclose: () => { this.dialog.remove(); this.dialog = undefined; this.link.focus(); } }, this.frame, tools);
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("wheel", (event) => { if (event.ctrlKey) { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1 : -1); } }, { passive: false });
    this.frame.addEventListener("dblclick", () => this.zoom(this.step ? -this.step : 2));
    this.append(this.dialog);
    this.dialog.showModal();
    this.frame.focus();
    this.step = 0;
    this.base = Math.min(Math.max(naturalWidth || 0, 480), this.frame.clientWidth - 8);
    this.zoom(0);
  }

  key(event) {
    const by = { "+": 1, "=": 1, "-": -1, 0: -this.step }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.zoom(by);
  }

  zoom(by) {
    const next = Math.min(STEPS.length - 1, Math.max(0, this.step + by));
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.frame;
    const ratio = STEPS[next] / STEPS[this.step];
    this.step = next;
    this.img.style.width = `${this.base * STEPS[next]}px`;
    this.frame.scrollTo((scrollLeft + clientWidth / 2) * ratio - clientWidth / 2, (scrollTop + clientHeight / 2) * ratio - clientHeight / 2);
    const [farther, closer] = this.dialog.querySelectorAll("button");
    farther.disabled = !this.step;
    closer.disabled = this.step === STEPS.length - 1;
  }
}

customElements.define("image-zoom", ImageZoom);
