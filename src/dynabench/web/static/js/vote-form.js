/**
 * `<vote-form>` around the form of a vote: buttons with `data-asks` have fields of their own (`data-when`). The first
 * press shows these fields, the second one, or the button that stands with them, sends. Without scripts all fields
 * are shown and each button sends at once.
 */
class VoteForm extends HTMLElement {
  connectedCallback() {
    this.panel = this.querySelector("[data-asked]");
    this.addEventListener("click", this.press);
    const boxes = this.closest(".item")?.querySelectorAll("[data-correction] input") ?? [];
    for (const box of boxes) box.disabled = true; // the shown text is marked once it is to be corrected
    const wrong = this.panel?.querySelector(".field-error");
    if (this.panel && !wrong) this.panel.hidden = true;
    const posted = this.getAttribute("vote");
    if (wrong && posted) this.open(posted);
  }

  press = (event) => {
    const button = event.target.closest('button[name="vote"]');
    if (!button || !this.panel) return;
    if (!button.hasAttribute("data-asks") || this.vote === button.value) return;
    event.preventDefault();
    this.open(button.value);
    const first = document.querySelector(".item .correcting input[tabindex='0']") ?? this.panel.querySelector("[data-field]:not([hidden]) :is(input, textarea, select)");
    (first ?? this.sender).focus();
  };

  open(vote) {
    this.vote = vote;
    this.panel.hidden = false;
    const shown = this.closest(".item")?.querySelectorAll("[data-correction] [data-field]") ?? [];
    for (const field of [...shown, ...this.panel.querySelectorAll("[data-field]")]) {
      if (field.parentElement.closest("[data-field]")) continue; // it stands and falls with the group around it
      const when = field.dataset.when?.split("|") ?? [];
      const applies = !when.length || when.some((word) => word === vote || word.includes("="));
      if (field.closest("[data-correction]")) field.closest("[data-correction]").classList.toggle("correcting", applies);
      else field.hidden = !applies;
      for (const input of field.querySelectorAll("input, textarea, select")) input.disabled = !applies;
    }
    this.sender = this.panel.querySelector("[data-sender]");
    this.sender.value = vote;
    this.querySelectorAll('.keys-row button[name="vote"]').forEach((button) => {
      button.setAttribute("aria-expanded", String(button.value === vote && button.hasAttribute("data-asks")));
    });
  }
}

customElements.define("vote-form", VoteForm);
