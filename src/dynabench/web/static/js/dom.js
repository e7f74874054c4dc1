/** Small helpers that the other modules share. */

const words = document.getElementById("catalogue");
const catalogue = words ? JSON.parse(words.textContent) : {};

/** The page's language for `Intl`, with the digits that its texts have. */
export const locale = `${document.documentElement.lang || "en"}-u-nu-latn`;

/** A number with so many decimals, as the page's language writes it. */
export function decimal(value, digits) {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}

/** The text in the reader's language with `%(name)s` filled in; extracted like the templates' `_`. */
export function _(text, values = {}) {
  return (catalogue[text] ?? text).replace(/%\((\w+)\)s/g, (whole, name) => values[name] ?? whole);
}

/** An element with attributes and children; `on…` attributes are listeners, everything else is set as text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Say something to screen readers without moving the focus. */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region) return;
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 50);
}

export const csrf = () => document.querySelector('meta[name="csrf-token"]')?.content ?? "";

/** What the server or the network said, as a sentence; `status` is 0 when nothing was heard, `after` the seconds to wait. */
export class Failure extends Error {
  constructor(message, status = 0, after = 0) {
    super(message);
    this.status = status;
    this.after = after;
  }

  /** Whether the same request may succeed later: the server is busy or away. */
  get passes() {
    return [0, 429, 502, 503, 504].includes(this.status);
  }
}

/** Fetch JSON; throws a Failure whose message can be shown. `body` makes it a POST. */
export async function fetchJson(address, { body, signal } = {}) {
  const options = { headers: { Accept: "application/json" }, signal };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
    options.headers["X-CSRF-Token"] = csrf();
  }
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(_("The server cannot be reached."));
  }
  const data = await response.json().catch(() => null);
  if (!response.ok) {
    const after = Number(response.headers.get("Retry-After")) || 0;
    throw new Failure(data?.detail ?? sentence(response.status), response.status, after);
  }
  if (data === null) throw new Failure(_("The server sent an unreadable answer."), response.status);
  return data;
}

/** What a status means to a person, where the server did not say more. */
export function sentence(status) {
  if (status === 0) return _("The server cannot be reached. Your text is kept.");
  if (status === 401) return _("You have been logged out. Your text is kept.");
  if (status === 403) return _("This page has expired, or you may not do this. Reload it and try again.");
  if (status === 429) return _("Too fast. Wait a moment and try again.");
  return _("The server failed (%(status)s). Your text is kept.", { status });
}

/** Whether keys that somebody presses now are meant as text. */
export function typing(target) {
  return target instanceof Element
    && target.matches("textarea, select, input:not([type=radio], [type=checkbox], [type=button], [type=submit]), [contenteditable]");
}

/** Values that outlive the page; silently absent where the browser refuses storage. */
export const store = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); return true; } catch { return false; } },
  remove(key) { try { localStorage.removeItem(key); } catch { /* nothing was stored */ } },
  keys() { try { return Object.keys(localStorage); } catch { return []; } },
};
