/**
 * `<media-upload>` around a file input: what is chosen, pasted, dropped or recorded is sent at once, so that it is
 * shown, or refused, before the form is. The form then sends its digest. Without scripts the form sends the file.
 */
import { _, announce, csrf, make, sentence } from "./dom.js";

class MediaUpload extends HTMLElement {
  connectedCallback() {
    this.input = this.querySelector('input[type="file"]');
    this.said = this.querySelector("[data-said]");
    this.choices = this.closest("fieldset")?.querySelector("[data-choices]");
    this.help = this.said.textContent;
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.input.addEventListener("change", () => this.input.files[0] && this.send(this.input.files[0], this.input.files[0].name), { signal });
    this.addEventListener("dragover", (event) => { event.preventDefault(); this.classList.add("over"); }, { signal });
    this.addEventListener("dragleave", () => this.classList.remove("over"), { signal });
    this.addEventListener("drop", (event) => this.take(event, event.dataTransfer), { signal });
    this.addEventListener("paste", (event) => this.take(event, event.clipboardData), { signal });
    const button = this.querySelector("[data-record]");
    if (button && navigator.mediaDevices && globalThis.MediaRecorder) {
      button.hidden = false;
      button.addEventListener("click", () => this.record(button), { signal });
    }
  }

  disconnectedCallback() {
    this.stop.abort();
    this.recorder?.stop();
  }

  take(event, data) {
    this.classList.remove("over");
    const [file] = data?.files ?? [];
    if (!file) return;
    event.preventDefault();
    this.send(file, file.name);
  }

  async send(file, name) {
    this.tell(_("Uploading…"));
    let response;
    try {
      response = await fetch(`${this.getAttribute("to")}&name=${encodeURIComponent(name.slice(-120))}`, {
        method: "POST", body: file, headers: { "Content-Type": "application/octet-stream", "X-CSRF-Token": csrf(), Accept: "application/json" },
      });
    } catch {
      this.tell(sentence(0), true);
      return;
    }
    const data = await response.json().catch(() => null);
    if (!response.ok || !data) {
      this.input.value = "";
      this.tell(data?.detail ?? sentence(response.status), true);
      return;
    }
    this.keep(data, name);
  }

  /** Stored: the form has its digest, and the file itself need not be sent. */
  keep(data, name) {
    this.input.value = "";
    this.input.required = false;
    if (this.choices) this.choose(data);
    else this.preview(data, name);
    this.tell(_("Uploaded: %(name)s", { name }));
    const field = this.getAttribute("name").split(".").slice(1).join(".");
    this.dispatchEvent(new CustomEvent("media-stored", { bubbles: true, detail: { ...data, field } }));
  }

  choose(data) {
    this.choices.querySelector("[data-own]")?.remove();
    const radio = make("input", { type: "radio", name: this.getAttribute("name"), value: data.media, form: this.input.getAttribute("form") });
    this.choices.append(make("label", { class: "media-choice", "data-own": true }, radio, make("img", { class: "media-thumb", src: data.address, alt: _("Your own picture") })));
    radio.checked = true;
  }

  preview(data, name) {
    const digest = this.querySelector("[data-digest]");
    digest.value = this.getAttribute("kind") === "file" ? JSON.stringify({ media: data.media, name: name.slice(-120) }) : data.media;
    for (const name of ["input", "change"]) digest.dispatchEvent(new Event(name, { bubbles: true }));
    const place = this.querySelector("[data-preview]");
    const tiny = Math.max(data.width ?? 999, data.height ?? 999) <= 96 ? " media-tiny" : "";
    const shown = {
      image: () => make("img", { class: `media-img${tiny}`, src: data.address, alt: name, width: data.width, height: data.height }),
      audio: () => make("audio", { class: "media-sound", controls: true, src: data.address }),
      file: () => make("span", { class: "media-file" }, name),
    }[this.getAttribute("kind")]();
    place.replaceChildren(shown);
    place.hidden = false;
  }

  tell(text, wrong = false) {
    this.said.textContent = text;
    this.said.classList.toggle("field-error", wrong);
    this.said.classList.toggle("field-help", !wrong);
    announce(text);
  }

  async record(button) {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      this.tell(_("The microphone cannot be used. Allow it in the browser or choose a file."), true);
      return;
    }
    const pieces = [];
    this.recorder = new MediaRecorder(stream);
    this.recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
    const end = setTimeout(() => this.recorder?.stop(), Number(this.getAttribute("record")) * 1000 - 200);
    this.recorder.addEventListener("stop", () => {
      clearTimeout(end);
      for (const track of stream.getTracks()) track.stop();
      button.textContent = _("Record");
      const { mimeType } = this.recorder;
      this.recorder = null;
      if (this.isConnected) this.send(new Blob(pieces, { type: mimeType }), _("recording"));
    });
    this.recorder.start();
    button.textContent = _("Stop");
    this.tell(_("Recording…"));
  }
}

customElements.define("media-upload", MediaUpload);
