/**
 * What heals by itself (`[data-again="seconds"]`: a model that is loaded, or busy) counts down, and sends the form that
 * brought it here again. Only forms with `data-patient`, and not while somebody changes them; after so many tries in a
 * row a button is left.
 */
import { _ } from "./dom.js";

const MOST = 40;
const waiting = new Map(); // form -> {timer, tries}

function stop(form) {
  const entry = waiting.get(form);
  if (!entry) return;
  clearInterval(entry.timer);
  waiting.delete(form);
  const told = entry.box?.querySelector("[data-countdown]");
  if (told) told.textContent = "";
}

/** Count down the seconds in `note`, then call `done`; returns the timer. */
export function countDown(note, seconds, done) {
  let left = seconds;
  const say = () => { note.textContent = _("Trying again in %(n)s s.", { n: left }); };
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return say();
    clearInterval(timer);
    note.textContent = _("Trying again…");
    return done();
  }, 1000);
  say();
  return timer;
}

/** The request of `source` was answered by `root`: go on waiting if that says so. */
export function awaitAgain(root, source, resend) {
  const form = source?.closest?.("[data-patient]");
  if (!form) return;
  const box = root.matches("[data-again]") ? root : root.querySelector("[data-again]");
  const tries = (waiting.get(form)?.tries ?? 0) + 1;
  stop(form);
  if (!box || tries > MOST) return;
  const seconds = Math.max(1, Math.ceil(Number(box.dataset.again) || 2), Math.min(8, Math.floor(tries / 3)));
  const note = box.querySelector("[data-countdown]");
  note.setAttribute("aria-hidden", "true"); // read out once, not every second
  const timer = countDown(note, seconds, () => (form.isConnected && box.isConnected ? resend(source) : stop(form)));
  waiting.set(form, { timer, tries, box });
}

/** A whole page that heals by itself counts down; the answer's Refresh header loads it again, with or without scripts. */
function awaitPage() {
  const page = document.querySelector("[data-reload]");
  if (page) countDown(page.querySelector("[data-countdown]"), Math.max(1, Number(page.dataset.reload)), () => {});
}

export function startCountdown() {
  awaitPage();
  for (const name of ["input", "change"]) {
    document.addEventListener(name, ({ target }) => stop(target.form ?? target.closest?.("form")));
  }
}
