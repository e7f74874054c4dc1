/**
 * Elements that few pages have: a page asks for those that it has when it is sent, and whatever comes later, as a part
 * of a page, has its own loaded here. The list of files and elements comes from `web/bundles.py`.
 */
const list = document.getElementById("parts");
const parts = Object.entries(list ? JSON.parse(list.textContent) : {});

function load() {
  for (const [file, tags] of parts) {
    if (document.querySelector(tags.map((tag) => `${tag}:not(:defined)`).join())) import(new URL(`../${file}`, import.meta.url));
  }
}

const LIVE_AFTER = 1500;

/** The live feed comes once the page is there: nothing that is read or used waits for it. */
function loadFeed() {
  if (document.querySelector("[data-live]")) setTimeout(() => import(new URL("../js/live-feed.js", import.meta.url)), LIVE_AFTER);
}

export function startParts() {
  document.addEventListener("htmx:load", load);
  window.addEventListener("load", loadFeed);
}
