/**
 * What htmx leaves to the page: the token that forms need, errors that keep what was written, focus on results.
 *
 * Servers answer errors with a fragment (`web/_error.html`, or the form again with messages); that is swapped in like
 * any result. What is no fragment - a problem document, a whole page, silence - becomes a message beside the form
 * with a button that sends the same request again.
 */
import { _, announce, csrf, make, sentence } from "./dom.js";
import { awaitAgain } from "./countdown.js";
import { toast } from "./toasts.js";

const SLOW = 10_000;
const running = new Map(); // XMLHttpRequest -> {timer, close}

function failed(source, target, message, status) {
  const again = make("button", { type: "button", class: "small quiet", onclick: () => { box.remove(); resend(source); } }, _("Try again"));
  const login = make("a", { href: `/login?next=${encodeURIComponent(location.pathname + location.search)}`, class: "button small" }, _("Log in"));
  // A server or a network that is away comes back: what can be sent again is, and nothing is said in red.
  const waits = [0, 502, 503, 504].includes(status) && Boolean(source.closest("[data-patient]"));
  const note = make("span", { "data-countdown": true });
  const box = make("div", { class: `callout ${waits ? "waits" : "bad"}`, role: waits ? "status" : "alert", tabindex: "-1", "data-failure": true, "data-again": waits && "3" },
    make("div", {}, make("p", {}, message, " ", note), ...(waits ? [make("progress", { "aria-label": _("Waiting") })] : []), make("p", {}, status === 401 ? login : again)));
  const place = place_of(source, target);
  place.querySelector(":scope > [data-failure]")?.remove();
  place.prepend(box);
  if (!source.getAttribute("hx-trigger")?.includes("change")) box.focus(); // what saves itself takes the focus from nobody
  if (waits) awaitAgain(box, source, resend);
}

function place_of(source, target) {
  const named = source.closest("[data-errors]")?.dataset.errors;
  return (named && document.querySelector(named)) || target || source.parentElement;
}

function resend(source) {
  if (source.matches("form")) source.requestSubmit();
  else source.click();
}

/** The server's own words when it sent a problem document, else what the status means. */
function problem(xhr) {
  try {
    const { detail } = JSON.parse(xhr.responseText);
    if (typeof detail === "string" && detail) return detail;
  } catch { /* no problem document */ }
  return sentence(xhr.status);
}

function beforeSwap({ detail }) {
  const { xhr, target, requestConfig } = detail;
  const whole = /^\s*<!doctype/i.test(xhr.responseText);
  const html = (xhr.getResponseHeader("Content-Type") ?? "").includes("html");
  if (xhr.status < 400) {
    // A whole page where a part was asked for: the log-in page behind a redirect, say. Go there.
    if (whole && target !== document.body && xhr.responseURL) {
      detail.shouldSwap = false;
      location.assign(xhr.responseURL);
    }
    return;
  }
  if (html && !whole) return;
  detail.shouldSwap = false;
  failed(requestConfig.elt, target, problem(xhr), xhr.status);
}

function silent({ detail }) {
  failed(detail.elt, detail.target, sentence(0), 0);
}

function before({ detail }) {
  const { elt, xhr } = detail;
  elt.setAttribute("aria-busy", "true");
  const entry = {};
  entry.timer = setTimeout(() => {
    entry.close = toast(_("This is taking longer than usual."), { seconds: 0, action: { label: _("Stop"), run: () => window.htmx.trigger(elt, "htmx:abort") } });
  }, SLOW);
  running.set(xhr, entry);
}

/** What was refused of an earlier attempt, once a later one is taken: nothing of it stays beside the form. */
function forget(form) {
  for (const each of form.querySelectorAll(':scope > .callout[data-focus], :scope > [data-failure]')) each.remove();
  for (const field of [...form.elements, ...form.querySelectorAll("[aria-invalid], .has-error")]) {
    field.removeAttribute("aria-invalid");
    field.classList.remove("has-error");
    for (const id of (field.getAttribute("aria-describedby") ?? "").split(/\s+/)) quiet(document.getElementById(id));
  }
  form.querySelectorAll(".field-error").forEach(quiet);
}

function quiet(message) {
  if (!message?.matches(".error, .field-error")) return;
  message.textContent = "";
  message.hidden = true;
}

function after({ detail }) {
  // A button that its own answer has replaced is no more: the event then comes from the form around it.
  const sender = detail.requestConfig?.elt ?? detail.elt;
  sender.removeAttribute("aria-busy");
  if (detail.successful && sender.matches("form")) forget(sender);
  const entry = running.get(detail.xhr);
  clearTimeout(entry?.timer);
  entry?.close?.();
  running.delete(detail.xhr);
}

function settled({ detail }) {
  const root = detail.elt;
  if (!(root instanceof Element)) return;
  if (detail.target instanceof Element) detail.target._source = detail.requestConfig?.elt;
  const find = (selector) => (root.matches(selector) ? root : root.querySelector(selector));
  const said = find("[data-announce]");
  if (said) announce(said.dataset.announce || said.textContent.trim());
  const focus = root.querySelector('[aria-invalid="true"]') ?? find("[data-focus]");
  if (focus) {
    focus.focus({ preventScroll: true });
    focus.scrollIntoView({ block: "nearest" });
  } else {
    goOn(root, detail.requestConfig?.elt);
  }
  for (const button of root.querySelectorAll("[data-retry]")) button.hidden = false;
  awaitAgain(root, detail.requestConfig?.elt, resend);
}

/** `data-then` of a form whose answer has no place of its own for the focus: where one goes on; seen from the top. */
function goOn(root, source) {
  const then = source?.dataset?.then;
  if (!then) return;
  document.querySelector(then)?.focus({ preventScroll: true });
  if (root.getBoundingClientRect().top < 0) root.scrollIntoView({ block: "start" });
}

/** "Try again" inside a fragment: send again what brought it here. */
function retry(event) {
  const button = event.target.closest?.("[data-retry]");
  for (let place = button; place; place = place.parentElement) {
    if (place._source) return resend(place._source);
  }
  return button && location.reload();
}

export function startHtmx() {
  const body = document.body;
  body.addEventListener("htmx:configRequest", ({ detail }) => { detail.headers["X-CSRF-Token"] = csrf(); });
  body.addEventListener("htmx:beforeRequest", before);
  body.addEventListener("htmx:afterRequest", after);
  body.addEventListener("htmx:beforeSwap", beforeSwap);
  body.addEventListener("htmx:sendError", silent);
  body.addEventListener("htmx:timeout", silent);
  body.addEventListener("htmx:afterSettle", settled);
  body.addEventListener("click", retry);
}
