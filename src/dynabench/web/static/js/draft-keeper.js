/**
 * `<draft-keeper key="nli:17"><form>…</form></draft-keeper>`
 *
 * Keeps what somebody writes in the form's text fields and choices under the key, so that a reload, a failed post or
 * a closed lid loses nothing. An element `[data-draft-status]` inside says that it is saved. What the server put into
 * a field that differs from its default wins over the draft. Old drafts go: the newest 20 stay, for a week.
 */
import { _, store } from "./dom.js";

const WEEK = 7 * 24 * 3600 * 1000;

class DraftKeeper extends HTMLElement {
  connectedCallback() {
    this.name = `draft:${this.getAttribute("key")}`;
    this.restore();
    this.addEventListener("input", this.soon);
    this.addEventListener("change", this.soon);
    window.addEventListener("pagehide", this.save);
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
    window.removeEventListener("pagehide", this.save);
  }

  get fields() {
    return [...this.querySelectorAll("textarea[name], input[name], select[name]")]
      .filter((field) => !["hidden", "password", "file", "submit"].includes(field.type) && field.dataset.draft !== "off");
  }

  soon = () => {
    this.say("");
    clearTimeout(this.timer);
    this.timer = setTimeout(this.save, 400);
  };

  save = () => {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    const values = {};
    for (const field of this.fields) {
      if (field.type === "radio") { if (field.checked) values[field.name] = field.value; }
      else if (field.type === "checkbox") values[`${field.name}=${field.value}`] = field.checked;
      else values[field.name] = field.value;
    }
    const kept = store.set(this.name, JSON.stringify({ at: Date.now(), values }));
    this.say(kept ? _("saved") : _("not saved: the browser refuses storage"));
  };

  restore() {
    prune();
    let values;
    try { ({ values } = JSON.parse(store.get(this.name) ?? "{}")); } catch { /* an unreadable draft is no draft */ }
    if (!values) return;
    let changed = false;
    for (const field of this.fields) {
      const value = values[field.type === "checkbox" ? `${field.name}=${field.value}` : field.name];
      if (value === undefined) continue;
      if (field.type === "radio") {
        const chosen = this.querySelector(`input[type=radio][name="${CSS.escape(field.name)}"]:checked`);
        if (!chosen && field.value === value) { field.checked = true; changed = true; }
      } else if (field.type === "checkbox") {
        changed ||= field.checked !== value;
        field.checked = value;
      } else if (field.value !== value && !field.dataset.posted) {
        field.value = value;
        changed = true;
      }
    }
    if (!changed) return;
    this.say(_("draft restored"));
    this.dispatchEvent(new CustomEvent("draft:restored", { bubbles: true }));
  }

  say(text) {
    const status = this.querySelector("[data-draft-status]");
    if (status) status.textContent = text;
  }
}

/** Forget drafts that are a week old, and all but the newest 20. */
function prune() {
  const drafts = store.keys().filter((key) => key.startsWith("draft:")).map((key) => {
    try { return [JSON.parse(store.get(key)).at ?? 0, key]; } catch { return [0, key]; }
  });
  drafts.sort((a, b) => b[0] - a[0]);
  drafts.forEach(([at, key], index) => { if (index >= 20 || Date.now() - at > WEEK) store.remove(key); });
}

customElements.define("draft-keeper", DraftKeeper);
