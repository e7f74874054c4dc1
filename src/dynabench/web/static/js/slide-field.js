/**
 * `<slide-field>` around a native slider and its `<output>`: the number follows the handle. With the attribute `unset`
 * nobody has moved it yet: it says so, and is left out of what the form sends until it is moved, pressed, or kept
 * where it is by Space or Enter.
 */
class SlideField extends HTMLElement {
  connectedCallback() {
    this.input = this.querySelector('input[type="range"]');
    this.output = this.querySelector("output");
    this.addEventListener("input", this.touch);
    this.addEventListener("change", this.touch);
    this.addEventListener("pointerup", this.touch);
    this.addEventListener("keydown", this.key);
    document.addEventListener("formdata", this.send);
    document.addEventListener("draft:restored", this.restored);
    this.recall();
  }

  disconnectedCallback() {
    document.removeEventListener("formdata", this.send);
    document.removeEventListener("draft:restored", this.restored);
  }

  get unset() {
    return this.hasAttribute("unset");
  }

  show() {
    this.output.textContent = this.unset ? this.output.dataset.nothing : this.input.value;
    if (this.unset) this.input.setAttribute("aria-valuetext", this.output.dataset.nothing);
    else this.input.removeAttribute("aria-valuetext");
  }

  touch = () => {
    this.removeAttribute("unset");
    this.show();
  };

  key = (event) => {
    if (event.key !== " " && !(event.key === "Enter" && this.unset)) return;
    event.preventDefault();
    this.touch();
  };

  /** What a draft has moved is moved. */
  recall() {
    if (this.input.value !== this.input.defaultValue) this.removeAttribute("unset");
    this.show();
  }

  restored = (event) => {
    if (event.target.contains(this)) this.recall();
  };

  send = (event) => {
    if (event.target === this.input.form && this.unset) event.formData.delete(this.input.name);
  };
}

customElements.define("slide-field", SlideField);
