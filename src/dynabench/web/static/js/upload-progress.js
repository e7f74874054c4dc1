/**
 * <upload-progress>: a form of files that shows how much of them is sent, and can be stopped.
 *
 * Without scripts the form is sent as it is. An answer at another address is gone to; the form's own address again
 * means that something has to be mended: its page takes the place of this one, with what was written.
 */
import { _, announce, csrf, decimal, make, sentence } from "./dom.js";

class UploadProgress extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.form?.addEventListener("submit", (event) => {
      if (![...this.form.querySelectorAll('input[type="file"]')].some((input) => input.files.length)) return;
      event.preventDefault();
      this.send(new FormData(this.form));
    });
  }

  send(data) {
    const request = new XMLHttpRequest();
    const bar = make("progress", { class: "import-bar", max: "1", value: "0", "aria-label": _("Submitted") });
    const said = make("span", { class: "small muted" }, _("Uploading…"));
    const stop = make("button", { type: "button", class: "quiet small", onclick: () => request.abort() }, _("Stop"));
    const box = make("div", { class: "upload-state" }, bar, make("p", { class: "row-between" }, said, stop));
    this.querySelector(".upload-state")?.remove();
    this.form.append(box);
    const buttons = this.form.querySelectorAll('button[type="submit"]');
    for (const button of buttons) button.disabled = true;
    announce(_("Uploading…"));
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      bar.value = total ? loaded / total : 0;
      said.textContent = loaded < total ? `${decimal(loaded / 1e6, 1)} / ${decimal(total / 1e6, 1)} MB` : _("Checking the file…");
    });
    const failed = (message) => {
      for (const button of buttons) button.disabled = false;
      box.replaceChildren(make("p", { class: "callout bad", role: "alert" }, message));
    };
    request.addEventListener("abort", () => failed(_("Stopped. Nothing was saved.")));
    request.addEventListener("error", () => failed(sentence(0)));
    request.addEventListener("load", () => this.answered(request, failed));
    request.open("POST", this.form.action);
    request.setRequestHeader("X-CSRF-Token", csrf());
    request.send(data);
  }

  answered(request, failed) {
    if (request.status < 400) {
      location.assign(request.responseURL);
      return;
    }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const fresh = page.querySelector("upload-progress");
    if (!fresh) {
      failed(page.querySelector("#main p")?.textContent || sentence(request.status));
      return;
    }
    document.querySelector("#main").replaceWith(document.adoptNode(page.querySelector("#main")));
    document.querySelector('#main [role="alert"], #main [aria-invalid="true"]')?.focus();
  }
}

customElements.define("upload-progress", UploadProgress);
