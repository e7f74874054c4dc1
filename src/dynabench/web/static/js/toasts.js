/** Short messages at the lower edge, and the pill that offers to undo something for a minute. */
import { _, make } from "./dom.js";

/** Show `text`; `action` is {label, run}. Returns a function that takes the message away. */
export function toast(text, { action, seconds = 6 } = {}) {
  const close = () => element.remove();
  const element = make("div", { class: "toast" }, make("span", {}, text));
  if (action) element.append(make("button", { type: "button", class: "link", onclick: () => { close(); action.run(); } }, action.label));
  document.getElementById("toasts").append(element);
  if (seconds) setTimeout(close, seconds * 1000);
  return close;
}

/**
 * `<undo-pill seconds="60">…form with an undo button…</undo-pill>`: shows how long the offer stands and goes away
 * with it. Without scripts it stays, and the server says when it is too late.
 */
class UndoPill extends HTMLElement {
  connectedCallback() {
    this.left = Number(this.getAttribute("seconds") ?? 60);
    this.clock = make("span", { class: "undo-left", "aria-hidden": "true" });
    this.append(this.clock);
    this.tick();
    this.timer = setInterval(() => this.tick(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
    this.clock.remove();
  }

  tick() {
    if (this.left <= 0) {
      // Somebody who stands on the button should not lose their place without a word.
      if (!this.contains(document.activeElement)) this.remove();
      return;
    }
    this.clock.textContent = _("%(left)s s", { left: this.left });
    this.left -= 1;
  }
}

customElements.define("undo-pill", UndoPill);
