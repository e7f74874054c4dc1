/**
 * `<used-suggestion for="input-hypothesis">` around suggestions: "Use" puts one into the field at once, which remembers
 * whose it was, and "Take it back" brings what stood there before. Without this script the form does the same.
 */
import { _, announce } from "./dom.js";

class UsedSuggestion extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.pressed);
  }

  disconnectedCallback() {
    this.removeEventListener("click", this.pressed);
  }

  get field() {
    return document.getElementById(this.getAttribute("for"));
  }

  pressed = (event) => {
    const button = event.target.closest("[data-use], [data-undo]");
    if (!button || !this.field) return;
    event.preventDefault();
    const [used, before] = ["suggestion", "before"].map((name) => this.querySelector(`input[name="${name}"]`));
    if ("undo" in button.dataset) {
      this.put(before.value);
      [used.value, before.value] = ["", ""];
      announce(_("Your own text is back"));
    } else {
      if (!used.value) before.value = this.field.value;
      used.value = button.value;
      this.put(document.getElementById(`suggestion-${button.value}`).textContent);
      announce(_("The suggestion was inserted"));
    }
    for (const item of this.querySelectorAll(".suggestion")) {
      item.toggleAttribute("data-used", item.contains(button) && Boolean(used.value));
    }
    this.querySelector(".suggestion-undo").hidden = !used.value;
  };

  put(text) {
    this.field.value = text;
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.field.focus();
  }
}

customElements.define("used-suggestion", UsedSuggestion);
