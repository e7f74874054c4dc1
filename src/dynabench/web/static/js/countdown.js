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

/** The request of `source` was answered by `root`: go on waiting if that says so. */
export function awaitAgain(root, source, resend) {
  const form = source?.closest?.("[data-patient]");
  if (!form) return;
  const box = root.matches("[data-again]") ? root : root.querySelector("[data-again]");
  const tries = (waiting.get(form)?.tries ?? 0) + 1;
  stop(form);
  if (!box || tries > MOST) return;
  let left = Math.max(1, Math.ceil(Number(box.dataset.again) || 2), Math.min(8, Math.floor(tries / 3)));
  const told = box.querySelector("[data-countdown]");
  told.setAttribute("aria-hidden", "true"); // read out once, not every second
  const say = () => { told.textContent = _("Trying again in %(n)s s.", { n: left }); };
  const timer = setInterval(() => {
    if (!form.isConnected || !box.isConnected) return stop(form);
    left -= 1;
    if (left > 0) return say();
    clearInterval(timer);
    told.textContent = _("Trying again…");
    return resend(source);
  }, 1000);
  waiting.set(form, { timer, tries, box });
  say();
}

export function startCountdown() {
  for (const name of ["input", "change"]) {
    document.addEventListener(name, ({ target }) => stop(target.form ?? target.closest?.("form")));
  }
}
