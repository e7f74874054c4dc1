/** Character counters that follow their field; they count characters as the server does, not UTF-16 units. */
function update(field) {
  const counter = document.querySelector(`[data-counter-for="${CSS.escape(field.id)}"]`);
  if (!counter) return;
  const length = [...field.value].length;
  counter.querySelector("[data-count]").textContent = length;
  const most = Number(counter.dataset.max ?? field.maxLength);
  counter.classList.toggle("over", most > 0 && length > most);
}

export function startCounters() {
  document.addEventListener("input", (event) => {
    if (event.target.id && "value" in event.target) update(event.target);
  });
  document.addEventListener("draft:restored", (event) => {
    for (const field of event.target.querySelectorAll("textarea[id], input[id]")) update(field);
  });
}
