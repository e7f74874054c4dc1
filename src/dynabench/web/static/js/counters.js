/**
 * Character counters (`[data-counter="id of the field"]`), counting characters as the server does, not UTF-16 units;
 * and fields of one line drawn as text areas, where Enter sends the form.
 */
function update(field) {
  const counter = field.id && document.querySelector(`[data-counter="${CSS.escape(field.id)}"]`);
  if (!counter) return;
  const length = [...field.value].length;
  const most = Number(counter.dataset.max);
  counter.textContent = `${length}/${most}`;
  counter.classList.toggle("over", length > most);
}

function oneLine(event) {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches?.("textarea[data-one-line]")) return;
  event.preventDefault();
  if (!event.shiftKey) event.target.form?.requestSubmit();
}

export function startCounters() {
  for (const counter of document.querySelectorAll("[data-counter]")) {
    const field = document.getElementById(counter.dataset.counter);
    if (field) update(field);
  }
  document.addEventListener("input", (event) => update(event.target));
  document.addEventListener("keydown", (event) => { if (!event.ctrlKey && !event.metaKey) oneLine(event); });
  document.addEventListener("draft:restored", (event) => {
    for (const field of event.target.querySelectorAll("textarea, input")) update(field);
  });
}
