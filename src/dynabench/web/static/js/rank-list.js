/**
 * `<rank-list>` around an ordered list whose items have a label and a box for their place (1 is the first): items are
 * moved by drag, by a pair of buttons, or by Alt with an arrow, and the boxes follow. Until the first move, or until
 * somebody says that the order is right as it stands, the boxes stay empty, so that nothing is sent that nobody said.
 */
import { _, announce, make } from "./dom.js";

class RankList extends HTMLElement {
  connectedCallback() {
    this.list = this.querySelector("ol");
    if (!this.list || this.classList.contains("live")) return;
    this.classList.add("live");
    for (const item of this.items) this.dress(item);
    this.keep = make("button", { type: "button", class: "quiet small rank-keep", onclick: () => { this.fill(); announce(_("Order saved.")); } }, _("Save order"));
    this.append(this.keep);
    this.addEventListener("pointerdown", this.down);
    this.addEventListener("keydown", this.key);
    document.addEventListener("draft:restored", this.restored);
    this.sort();
  }

  disconnectedCallback() {
    document.removeEventListener("draft:restored", this.restored);
  }

  get items() {
    return [...this.list.children];
  }

  name(item) {
    return item.querySelector(".rank-label").firstChild.textContent.trim();
  }

  box(item) {
    return item.querySelector(".rank-place");
  }

  dress(item) {
    const button = (step, sign, text) => make("button", {
      type: "button", class: "quiet icon", "data-step": step, "aria-label": text, onclick: () => this.move(item, step),
    }, sign);
    item.append(make("span", { class: "rank-buttons" },
      button(-1, "↑", _("Move %(name)s up", { name: this.name(item) })),
      button(1, "↓", _("Move %(name)s down", { name: this.name(item) }))));
    item.prepend(make("span", { class: "rank-grip", "aria-hidden": "true" }, "⠿"));
  }

  /** One place up or down; the focus stays on what was pressed. */
  move(item, step) {
    const focused = document.activeElement;
    const other = step < 0 ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (step < 0) other.before(item);
    else other.after(item);
    focused?.focus({ preventScroll: false });
    this.tell(item);
  }

  tell(item) {
    this.fill();
    announce(_("%(name)s is now %(place)s of %(all)s.", { name: this.name(item), place: this.items.indexOf(item) + 1, all: this.items.length }));
  }

  /** Write the places into the boxes. */
  fill() {
    this.items.forEach((item, index) => { this.box(item).value = index + 1; });
    this.settle();
    for (const name of ["input", "change"]) this.list.dispatchEvent(new Event(name, { bubbles: true }));
  }

  settle() {
    const items = this.items;
    const known = items.every((item) => this.box(item).value !== "");
    this.classList.toggle("ranked", known);
    this.keep.hidden = known;
    items.forEach((item, index) => {
      item.querySelector('[data-step="-1"]').setAttribute("aria-disabled", String(index === 0));
      item.querySelector('[data-step="1"]').setAttribute("aria-disabled", String(index === items.length - 1));
    });
  }

  /** Where all boxes are filled, as by a draft, the items go where these say. */
  sort() {
    const items = this.items;
    if (items.every((item) => this.box(item).value !== "")) {
      this.list.append(...items.sort((a, b) => this.box(a).value - this.box(b).value));
    }
    this.settle();
  }

  restored = (event) => {
    if (event.target.contains(this)) this.sort();
  };

  key = (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const item = event.target.closest?.(".rank-item");
    if (!step || !item) return;
    event.preventDefault();
    if (event.altKey) return this.move(item, step);
    const next = step < 0 ? item.previousElementSibling : item.nextElementSibling;
    next?.querySelector(`[data-step="${event.target.dataset.step}"]`)?.focus();
  };

  down = (event) => {
    const item = event.target.closest?.(".rank-item");
    if (!item || event.button > 0 || event.target.closest("button")) return;
    event.preventDefault();
    const [begun, pointer] = [this.items.indexOf(item), event.pointerId];
    this.setPointerCapture(pointer);
    item.classList.add("dragged");
    const over = ({ clientY }) => {
      const before = this.items.find((each) => each !== item && clientY < middle(each));
      if (before) { if (before.previousElementSibling !== item) before.before(item); }
      else if (this.list.lastElementChild !== item) this.list.append(item);
    };
    const end = () => {
      this.removeEventListener("pointermove", over);
      item.classList.remove("dragged");
      if (this.items.indexOf(item) !== begun) this.tell(item);
    };
    this.addEventListener("pointermove", over);
    this.addEventListener("lostpointercapture", end, { once: true });
  };
}

function middle(item) {
  const { top, height } = item.getBoundingClientRect();
  return top + height / 2;
}

customElements.define("rank-list", RankList);
