/** `<picture-field>` around a file input: a picture that is pasted anywhere on the page becomes its file. */
class PictureField extends HTMLElement {
  connectedCallback() {
    this.stop = new AbortController();
    this.querySelector("[data-paste]")?.removeAttribute("hidden");
    document.addEventListener("paste", (event) => this.paste(event), { signal: this.stop.signal });
  }

  disconnectedCallback() {
    this.stop.abort();
  }

  paste(event) {
    const pictures = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    const input = this.querySelector('input[type="file"]');
    if (!pictures.length || !input) return;
    event.preventDefault();
    const chosen = new DataTransfer();
    chosen.items.add(pictures[0]);
    input.files = chosen.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

customElements.define("picture-field", PictureField);
