/**
 * `<chat-field data-at="/tasks/x/chat" data-handout="7">` inside a form
 *
 * A conversation: its buttons post the form to the conversation's address, and the part that changes is put in place.
 * Replies are streamed as server-sent events. When the connection is lost, it goes on from the last event that came
 * (`Last-Event-ID`); a turn whose beginning was lost is sent again under its own key, so that it begins only once.
 * With `data-turn`, replies are being written already, begun by another page.
 */
import { _, announce, csrf, make, sentence } from "./dom.js";

const [LONGEST, TRIES] = [8000, 12]; // milliseconds between two tries, and tries
const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Each event of a stream as `{id, event, data}`. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const lines = block.split("\n").filter((line) => line && !line.startsWith(":"));
        if (!lines.length) continue;
        const fields = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        yield { ...fields, data: JSON.parse(fields.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

class ChatField extends HTMLElement {
  connectedCallback() {
    this.addEventListener("click", this.press);
    this.addEventListener("keydown", this.key);
    const { conversation, turn } = this.dataset;
    if (conversation) this.listen({ address: this.resuming(conversation, turn) });
  }

  disconnectedCallback() {
    this.gone = true;
    this.stopping?.abort();
  }

  resuming(conversation, turn) {
    return `/api/v1/conversations/${conversation}/turns/${turn}/events`;
  }

  key = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.target.name !== "said") return;
    event.preventDefault();
    event.stopPropagation();
    this.querySelector("[data-say]").click();
  };

  press = (event) => {
    const button = event.target.closest("button[formaction]");
    if (!button) return;
    event.preventDefault();
    if (this.busy && button.value !== "stop") return;
    const body = new FormData(button.form, button);
    if (button.value === "say" && !body.get("said").trim()) {
      this.querySelector("[name=said]").focus();
    } else if (button.value === "say") {
      this.said = body.get("said");
      this.write("");
      this.show(this.said);
      this.listen({ body });
    } else if (button.value === "again") {
      const turn = this.querySelector(".chat-turn:last-child");
      const said = turn.querySelector("[data-said]").textContent;
      turn.remove();
      this.show(said);
      this.listen({ body });
    } else if (button.value === "stop") {
      if (this.at) fetch(this.at.replace(/events$/, "stop"), { method: "POST", headers: { "X-CSRF-Token": csrf() } }).catch(() => {});
    } else {
      this.swap(body);
    }
  };

  /** Put a text where one writes, and have the draft of it follow. */
  write(text) {
    const area = this.querySelector("[name=said]");
    if (!area) return;
    area.value = text;
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** The turn as it begins: what was said, and an empty reply of each side. */
  show(said) {
    const turn = this.querySelector("template").content.cloneNode(true).firstElementChild;
    turn.querySelector("[data-said]").textContent = said;
    this.querySelector(".chat-turns").append(turn);
    for (const part of this.querySelectorAll(".chat-say, .chat-choice")) part.hidden = true;
    this.querySelector(".chat-stop").hidden = false;
    turn.scrollIntoView({ block: "nearest" });
    announce(_("The models are replying."));
  }

  /** Read the replies to their end, however often the connection is lost; then show what comes next. */
  async listen({ body, address }) {
    this.busy = true;
    this.at = address;
    let last = "";
    for (let lost = 0; lost < TRIES;) {
      this.stopping = new AbortController();
      try {
        const headers = { Accept: "text/event-stream", "HX-Request": "true", "X-CSRF-Token": csrf(), ...(last ? { "Last-Event-ID": last } : {}) };
        const how = this.at ? { headers } : { method: "POST", body, headers };
        const response = await fetch(this.at ?? this.dataset.at, { ...how, signal: this.stopping.signal });
        if (response.status === 429 || response.status === 502) throw new TypeError("later");
        if (!response.ok || !response.headers.get("Content-Type").startsWith("text/event-stream")) {
          await this.refused(response);
          return;
        }
        for await (const { id, event, data } of events(response.body)) {
          if (event !== "turn") lost = 0;
          last = id ?? last;
          if (event === "end") { await this.swap(); return; }
          this.take(event, data);
        }
      } catch { /* the connection was lost */ }
      if (this.gone) return;
      lost += 1;
      this.trouble(lost > 1 ? _("The connection was lost. Trying again…") : "");
      await wait(Math.min(250 * 2 ** lost, LONGEST));
    }
    if (body && !this.at) this.write(this.said ?? ""); // it has not begun: kept as a draft
    this.trouble(_("The connection is lost. Reload the page: nothing you wrote is lost."));
    this.busy = false;
  }

  take(event, data) {
    this.trouble("");
    if (event === "turn") {
      this.at = this.resuming(data.conversation, data.number);
      return;
    }
    const reply = this.querySelector(`.chat-turn:last-child [data-side="${data.side}"]`);
    if (event === "reply") reply.querySelector("[data-text]").append(data.text);
    if (event === "ended") reply.querySelector("[data-state]").textContent = { done: "", stopped: _("stopped"), failed: _("no answer"), cut_off: _("cut off") }[data.state];
  }

  trouble(text) {
    const place = this.querySelector("[data-trouble]");
    place.hidden = !text;
    if (place.textContent !== text) place.textContent = text;
  }

  /** A turn that was refused: the form comes back with the reason, and what was said stays. */
  async refused(response) {
    if (response.headers.get("HX-Redirect")) { window.location.assign(response.headers.get("HX-Redirect")); return; }
    await this.place(response, this.said);
  }

  /** Post a choice, or ask how things stand, and put the answer in place. */
  async swap(body) {
    this.busy = true;
    const headers = { "HX-Request": "true", "X-CSRF-Token": csrf() };
    try {
      const address = body ? this.dataset.at : `${this.dataset.at}?handout=${this.dataset.handout}`;
      await this.place(await fetch(address, body ? { method: "POST", body, headers } : { headers }));
    } catch {
      this.busy = false;
      this.trouble(sentence(0));
    }
  }

  async place(response, said = "") {
    const fresh = make("div");
    fresh.innerHTML = await response.text();
    const field = fresh.querySelector("chat-field");
    if (!field) {
      this.busy = false;
      for (const part of this.querySelectorAll(".chat-say, .chat-choice")) part.hidden = false;
      this.write(said ?? "");
      this.trouble(fresh.textContent.trim().replace(/\s+/g, " ").slice(0, 300) || sentence(response.status));
      return;
    }
    for (const { name, value } of this.querySelectorAll("input[type=radio]:checked")) {
      const same = field.querySelector(`input[name="${CSS.escape(name)}"][value="${CSS.escape(value)}"]`);
      if (same) same.checked = true; // a refused choice keeps its ratings
    }
    if (said && field.querySelector("[name=said]")) field.querySelector("[name=said]").value = said;
    this.replaceWith(field);
    const next = field.querySelector(".chat-choice button, [name=said]");
    next?.focus({ preventScroll: true });
    announce(field.querySelector("[role=alert]:not([hidden])")?.textContent || (field.querySelector(".chat-choice") ? _("The replies are complete. Choose the better one.") : ""));
  }
}

customElements.define("chat-field", ChatField);
