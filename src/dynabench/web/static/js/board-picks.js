/** Two ticked rows of a board: a link that compares them. The oldest tick gives way to a third. */
export function startPicks(board) {
  const link = board.querySelector("a[data-compare]");
  if (!link) return;
  const picks = [];
  board.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-pick]")) return;
    if (target.checked) picks.push(target);
    else picks.splice(picks.indexOf(target), 1);
    if (picks.length > 2) picks.shift().checked = false;
    link.hidden = picks.length < 2;
    if (!link.hidden) link.href = `${link.dataset.compare}?a=${picks[0].value}&b=${picks[1].value}`;
  });
}
