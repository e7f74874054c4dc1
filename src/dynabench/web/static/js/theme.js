/** The button that turns light into dark; the choice is kept, and the system's holds until there is one. */
import { _, announce, store } from "./dom.js";

const root = document.documentElement;

function apply(theme) {
  if (root.dataset.theme === theme) return;
  root.dataset.theme = theme;
  document.dispatchEvent(new CustomEvent("themechange"));
}

export function startTheme() {
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const theme = root.dataset.theme === "dark" ? "light" : "dark";
      store.set("theme", theme);
      apply(theme);
      announce(theme === "dark" ? _("Dark colours") : _("Light colours"));
    });
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const followSystem = () => {
    if (!store.get("theme")) apply(dark.matches ? "dark" : "light");
  };
  dark.addEventListener("change", followSystem);
  followSystem(); // the system may have changed since theme-early.js asked it, while this script was on its way
}
