/**
 * `<form-builder data-address="…" data-area="id of the text area">` around the form of a config (`rounds/_builder.html`).
 * Each edit is sent with the text as it stands; the answer is the form and the check of the text after it, and the text
 * itself, which is put into the text area. Edits go one after the other. The text is the only state: Undo brings an
 * earlier one back. Without scripts the form is hidden, and the text is edited as it is.
 */
import { _, announce } from "./dom.js";

const MOST_UNDONE = 100;
const WIDE = "(min-width: 701px)"; // on a phone the parts of the form are folded at first

class FormBuilder extends HTMLElement {
  connectedCallback() {
    this.area = document.getElementById(this.dataset.area);
    this.past = [];
    this.queue = Promise.resolve();
    this.pressed = Promise.resolve();
    this.unfold();
    this.hidden = false;
    this.addEventListener("change", this.change);
    this.addEventListener("click", this.click);
    this.addEventListener("pointerdown", this.press);
    for (const name of ["dragstart", "dragover", "dragend", "drop"]) this.addEventListener(name, this[name]);
    document.addEventListener("htmx:oobBeforeSwap", this.remember);
    document.addEventListener("htmx:oobAfterSwap", this.restore);
  }

  disconnectedCallback() {
    document.removeEventListener("htmx:oobBeforeSwap", this.remember);
    document.removeEventListener("htmx:oobAfterSwap", this.restore);
  }

  /** Open the parts that wide screens show, but those that the owner has folded. */
  unfold() {
    if (!window.matchMedia(WIDE).matches) return;
    for (const part of this.querySelectorAll("details[data-wide]")) part.open ||= this.open?.get(part.id) ?? true;
  }

  /** A press that ends on a button must find the button: edits wait until the pointer is up and its click has come. */
  press = () => {
    this.pressed = new Promise((done) => {
      const up = () => setTimeout(done, 60);
      for (const name of ["pointerup", "pointercancel", "dragend"]) window.addEventListener(name, up, { once: true });
    });
  };

  change = (event) => {
    const { path } = event.target.dataset;
    if (!path) return;
    const text = event.target.type === "checkbox" ? String(event.target.checked) : event.target.value;
    this.edit({ kind: "set", path: JSON.parse(path), text });
  };

  click = (event) => {
    const button = event.target.closest("button[data-act]");
    if (!button) return;
    const { act, group } = button.dataset;
    if (act === "undo") this.undo();
    else if (act === "add") {
      const type = button.parentElement.querySelector("select").value;
      this.edit({ kind: "add", path: JSON.parse(group), type }, _("Field added."));
    } else {
      const path = JSON.parse(button.closest("[data-card]").dataset.card);
      const place = path.at(-1);
      const name = button.closest("[data-card]").querySelector("strong").textContent;
      if (act === "remove") this.edit({ kind: "remove", path }, _("%(name)s removed. Undo brings it back.", { name }));
      else this.move(path, place + (act === "up" ? -1 : 1), `${path.slice(0, -1).join("-")}`, act);
    }
  };

  move(path, to, group, act) {
    this.focusOn = `b-${group}-${to}-card-${act}`;
    this.edit({ kind: "move", path, to }, _("Moved to place %(place)s.", { place: to + 1 }));
  }

  edit(edit, message = "") {
    const moved = new Promise((done) => { setTimeout(done); }); // the focus, after the change that it ends
    this.queue = this.queue.then(() => moved).then(() => this.pressed).then(() => this.send(edit, message)).catch(() => announce(_("This did not work. Try again.")));
  }

  async send(edit, message) {
    const before = this.area.value;
    await this.post({ then: "edit", edit: JSON.stringify(edit) });
    const text = document.getElementById("edited-text").textContent;
    if (text && text !== before) {
      this.past.push(before);
      this.past.splice(0, this.past.length - MOST_UNDONE);
      this.write(text);
    }
    if (message) announce(message);
  }

  undo() {
    if (!this.past.length) return;
    this.write(this.past.pop());
    this.queue = this.queue.then(() => this.post({ then: "check" }));
    announce(_("Undone."));
  }

  write(text) {
    this.area.value = text;
    this.closest("main").querySelector("yaml-editor")?.count?.();
    this.querySelector('[data-act="undo"]').disabled = !this.past.length;
  }

  post(values) {
    const form = this.area.form;
    const target = values.then === "edit" ? "#builder" : "#check";
    const sent = { config: this.area.value, csrf: form.elements.csrf?.value ?? "", base: form.elements.base?.value ?? "", ...values };
    if (values.then === "edit") this.remember();
    return window.htmx.ajax("POST", this.dataset.address, { source: this, target, swap: "outerHTML", values: sent }).then(() => this.restore());
  }

  /** What is open and focused, for the form that takes this one's place. */
  remember = (event) => {
    if (event && event.detail?.target?.id !== "builder") return;
    this.open = new Map([...(this.open ?? []), ...[...this.querySelectorAll("details")].map((details) => [details.id, details.open])]);
    if (!event) this.top = window.scrollY; // the new form is closed at first, and the page shorter
    const held = document.activeElement;
    if (this.contains(held) && held.id) this.focusOn ??= held.id;
  };

  restore = (event) => {
    if (event && event.detail?.target?.id !== "builder") return;
    for (const details of this.querySelectorAll("details")) {
      if (this.open?.has(details.id)) details.open ||= this.open.get(details.id);
    }
    this.unfold();
    const again = this.focusOn && document.getElementById(this.focusOn);
    if (again && !again.disabled) again.focus({ preventScroll: true });
    else if (again) again.parentElement.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
    this.focusOn = undefined;
    if (this.top !== undefined) window.scrollTo(0, this.top);
    this.top = undefined;
  };

  dragstart = (event) => {
    this.dragged = event.target.closest("[data-card]");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", this.dragged.dataset.card);
    event.dataTransfer.setDragImage(this.dragged, 12, 12);
    this.dragged.classList.add("is-dragged");
  };

  dragover = (event) => {
    const list = this.dragged?.parentElement;
    if (!list?.contains(event.target)) return;
    event.preventDefault();
    const over = [...list.children].find((card) => card !== this.dragged && event.clientY < card.getBoundingClientRect().top + card.offsetHeight / 2);
    list.insertBefore(this.dragged, over ?? null);
  };

  drop = (event) => {
    if (!this.dragged) return;
    event.preventDefault();
    const path = JSON.parse(this.dragged.dataset.card);
    const to = [...this.dragged.parentElement.children].indexOf(this.dragged);
    if (to !== path.at(-1)) this.edit({ kind: "move", path, to }, _("Moved to place %(place)s.", { place: to + 1 }));
    this.dropped = true;
  };

  dragend = () => {
    this.dragged?.classList.remove("is-dragged");
    if (this.dragged && !this.dropped) {
      const place = JSON.parse(this.dragged.dataset.card).at(-1);
      const others = [...this.dragged.parentElement.children].filter((card) => card !== this.dragged);
      this.dragged.parentElement.insertBefore(this.dragged, others[place] ?? null);
    }
    this.dragged = this.dropped = undefined;
  };
}

customElements.define("form-builder", FormBuilder);
