/**
 * `[data-live="address of counters"]` with `data-live-events="address of the stream"`: counters and activity of a page
 * that is seen. Texts by name go into `[data-live-value="name"]`, the newest sentence into `[data-live-activity]`. The
 * stream is closed while the page is hidden, since a browser has six connections to a site; where there is no stream the
 * counters are asked for now and then.
 */
import { fetchJson, make } from "./dom.js";

const EVERY = 15_000;
const LONGEST = 300_000;
const MOST_FAILURES = 4;
const STREAM_AGAIN = 600_000;

const place = document.querySelector("[data-live]");
const counts = {}; // the largest that were shown: what a page says never falls while it is open
let stream = null;
let last = "";
let failures = 0;
let pause = EVERY;
let timer = 0;
let streamless = 0; // the moment from which on a stream is tried again

function show({ texts, counts: next }) {
  for (const [name, value] of Object.entries(next)) {
    if (value < (counts[name] ?? startCount(name))) delete texts[name];
    else counts[name] = value;
  }
  for (const element of document.querySelectorAll("[data-live-value]")) {
    const text = texts[element.dataset.liveValue];
    if (text !== undefined && text !== element.textContent) replace(element, text);
  }
}

function startCount(name) {
  return Number(document.querySelector(`[data-live-value="${name}"][data-live-count]`)?.dataset.liveCount ?? 0);
}

function replace(element, ...content) {
  element.replaceChildren(...content);
  element.animate?.({ opacity: [0.2, 1] }, matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 400);
}

function tell({ text, address, kind }) {
  for (const element of document.querySelectorAll("[data-live-activity]")) {
    element.hidden = false;
    element.dataset.kind = kind;
    const sentence = make("bdi", {}, text);
    replace(element, location.pathname.startsWith(address) ? sentence : make("a", { href: address }, sentence));
  }
}

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  if (Date.now() > streamless) return connect();
  try {
    show(await fetchJson(place.dataset.live));
    pause = EVERY;
  } catch {
    pause = Math.min(2 * pause, LONGEST);
  }
  timer = setTimeout(poll, pause);
}

/** No stream for a while: the server has no room, or something between here and there lets none through. */
function pollInstead() {
  disconnect();
  failures = 0;
  streamless = Date.now() + STREAM_AGAIN;
  poll();
}

function connect() {
  if (stream || document.hidden) return;
  const address = new URL(place.dataset.liveEvents, location.href);
  if (last) address.searchParams.set("last", last);
  stream = new EventSource(address);
  stream.addEventListener("open", () => { failures = 0; });
  stream.addEventListener("counters", ({ data }) => show(JSON.parse(data)));
  stream.addEventListener("activity", ({ data, lastEventId }) => { last = lastEventId; tell(JSON.parse(data)); });
  stream.addEventListener("error", () => {
    failures += 1; // meanwhile the browser connects again by itself, unless the answer was no stream
    if (stream?.readyState === EventSource.CLOSED || failures >= MOST_FAILURES) pollInstead();
  });
}

function disconnect() {
  clearTimeout(timer);
  stream?.close();
  stream = null;
}

function follow() {
  if (document.hidden) disconnect();
  else if (window.EventSource && Date.now() > streamless) connect();
  else poll();
}

if (!window.EventSource) streamless = Infinity;
document.addEventListener("visibilitychange", follow);
window.addEventListener("pagehide", disconnect);
window.addEventListener("pageshow", ({ persisted }) => { if (persisted) follow(); });
follow();
