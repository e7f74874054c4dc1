// Runs before the first paint: the theme that was chosen, else the system's; and a mark that scripts run.
(function () {
  var root = document.documentElement;
  var chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch (_) { /* storage may be refused: the system's theme holds */ }
  var dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "dark" : "light";
  root.classList.add("js");
})();
