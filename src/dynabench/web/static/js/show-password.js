/** A button beside each password that shows what was typed. */
import { _ } from "./dom.js";

function bind(place) {
  const input = place.querySelector("input");
  const button = place.querySelector("button");
  if (!input || !button || !button.hidden) return;
  button.hidden = false;
  const turn = (shown) => {
    input.type = shown ? "text" : "password";
    button.textContent = shown ? _("Hide password") : _("Show password");
    button.setAttribute("aria-pressed", String(shown));
  };
  button.addEventListener("click", () => turn(input.type === "password"));
  input.form?.addEventListener("submit", () => turn(false)); // so that browsers offer to keep it
}

export function startPasswords() {
  document.querySelectorAll("[data-show-password]").forEach(bind);
}
