/**
 * What the browser finds wrong with a field before anything is sent, in the page's own words and language beside the
 * field, where the server's messages stand, instead of in the browser's bubble. Without scripts the bubble stays.
 */
import { _, make } from "./dom.js";

let first = true; // of one attempt to send: the focus goes to the first field that is not right

/** Why the field is refused; the first reason that holds. */
function reason(field) {
  const { validity, type, min, max, step, minLength, value } = field;
  if (validity.valueMissing) return missing(field);
  if (validity.badInput) return type === "number" ? _("Enter a number.") : _("Enter a full date and time.");
  if (validity.typeMismatch && type === "email") return _("Enter a full mail address, such as name@example.org.");
  if (validity.typeMismatch) return _("Enter a full address such as https://example.org.");
  if (validity.tooShort) return _("Too short: %(n)s of at least %(least)s characters.", { n: value.length, least: minLength });
  if (validity.tooLong) return _("Too long: at most %(most)s characters.", { most: field.maxLength });
  if (validity.rangeUnderflow) return _("The minimum is %(least)s.", { least: min });
  if (validity.rangeOverflow) return _("The maximum is %(most)s.", { most: max });
  if (validity.stepMismatch) return step && step !== "1" ? _("Use steps of %(step)s.", { step }) : _("Enter a whole number.");
  return field.title || _("This does not match the required format.");
}

function missing({ type, localName }) {
  if (type === "checkbox") return _("Tick this box to continue.");
  if (type === "radio" || localName === "select") return _("Choose one.");
  return type === "file" ? _("Choose a file.") : _("This field is required.");
}

/** What the message is about: the field, or the group that its button belongs to. */
const subject = (field) => (field.type === "radio" && field.closest("fieldset")) || field;

/** The place for the message: the one that the field names and the server writes into, else a new one below it. */
function place(about) {
  const named = (about.getAttribute("aria-describedby") ?? "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id));
  const known = named.find((each) => each?.matches(".error, .field-error"));
  if (known) return known;
  const id = `${about.id || about.name || "group"}-problem`;
  const made = make("p", { class: "field-error", id, hidden: true });
  if (about.matches("fieldset")) about.append(made);
  else (about.closest(".field, label, .upload-row") ?? about).after(made);
  about.setAttribute("aria-describedby", `${about.getAttribute("aria-describedby") ?? ""} ${id}`.trim());
  return made;
}

function say(about, text) {
  const shown = place(about);
  (shown.querySelector("span") ?? shown).textContent = text;
  shown.hidden = !text;
  about.closest(".field")?.classList.toggle("has-error", Boolean(text));
  about.toggleAttribute("data-refused", Boolean(text));
  if (about.matches("fieldset")) return; // groups of radio buttons have no such state
  if (text) about.setAttribute("aria-invalid", "true");
  else about.removeAttribute("aria-invalid");
}

function refuse(event) {
  const field = event.target;
  event.preventDefault(); // no bubble
  say(subject(field), reason(field));
  if (!first) return;
  first = false;
  field.focus();
  setTimeout(() => { first = true; });
}

/** Once it is right, nothing is said of it; while it is not, what is said keeps up. */
function follow({ target }) {
  if (!target.validity) return;
  const about = subject(target);
  if (about.hasAttribute("data-refused")) say(about, target.validity.valid ? "" : reason(target));
}

export function startFieldErrors() {
  document.addEventListener("invalid", refuse, true);
  document.addEventListener("input", follow);
  document.addEventListener("change", follow);
}
