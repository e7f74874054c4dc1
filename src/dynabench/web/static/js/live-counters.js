/**
 * `[data-live="address"]`: counters that renew themselves while the page is seen. The address answers with texts by name,
 * which go into `[data-live-value="name"]` anywhere on the page. A hidden page asks nothing; errors make it ask less often.
 */
import { fetchJson } from "./dom.js";

const EVERY = 15_000;
const LONGEST = 300_000;

export function startLiveCounters() {
  const address = document.querySelector("[data-live]")?.dataset.live;
  if (!address) return;
  let pause = EVERY;
  let timer = 0;

  async function renew() {
    clearTimeout(timer);
    if (document.hidden) return; // it goes on when the page is seen again
    try {
      show(await fetchJson(address));
      pause = EVERY;
    } catch {
      pause = Math.min(2 * pause, LONGEST);
    }
    timer = setTimeout(renew, pause);
  }

  document.addEventListener("visibilitychange", renew);
  timer = setTimeout(renew, pause);
}

function show(texts) {
  for (const element of document.querySelectorAll("[data-live-value]")) {
    const text = texts[element.dataset.liveValue];
    if (text === undefined || text === element.textContent) continue;
    element.textContent = text;
    element.animate?.({ opacity: [0.2, 1] }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 400);
  }
}
