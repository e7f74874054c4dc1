/**
 * Completion of keys and values in a config's editor, from the JSON Schema at `data-schema`: a list under the caret as
 * one types or with Ctrl+Space; arrows choose, Enter or Tab take, Escape closes. Without it the text area is as before.
 */
import { _, announce, make } from "./dom.js";
import { offers, place } from "./yaml-place.js";

const MOST = 8;
let schema; // fetched when an editor is first written in

async function known(address) {
  schema ??= fetch(address).then((answer) => (answer.ok ? answer.json() : null)).catch(() => null);
  return schema;
}

export function completing(editor, area) {
  const list = make("ul", { id: "yaml-offers", class: "yaml-offers", role: "listbox", hidden: true });
  editor.append(list);
  editor.after(make("p", { class: "small muted" }, _("Press Ctrl+Space for suggestions.")));
  let shown = [];
  let chosen = -1;
  let at = null;

  const close = () => {
    list.hidden = true;
    shown = [];
    area.removeAttribute("aria-activedescendant");
    area.setAttribute("aria-expanded", "false");
  };

  const mark = (index) => {
    chosen = index;
    [...list.children].forEach((each, n) => each.setAttribute("aria-selected", String(n === index)));
    if (index >= 0) area.setAttribute("aria-activedescendant", `yaml-offer-${index}`);
    list.children[index]?.scrollIntoView({ block: "nearest" });
  };

  const put = () => {
    const style = getComputedStyle(area);
    const before = area.value.slice(0, area.selectionStart).split("\n");
    const height = parseFloat(style.lineHeight);
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const left = area.offsetLeft + parseFloat(style.paddingLeft) + pen.measureText("x").width * (before.at(-1).length - at.word.length) - area.scrollLeft;
    list.style.left = `${Math.max(0, Math.min(left, editor.clientWidth - list.offsetWidth))}px`;
    list.style.top = `${area.offsetTop + parseFloat(style.paddingTop) + before.length * height - area.scrollTop}px`;
  };

  const show = async (asked) => {
    const rules = await known(editor.dataset.schema);
    if (!rules || area.selectionStart !== area.selectionEnd) return close();
    at = place(area.value, area.selectionStart);
    shown = at && (asked || at.word) ? offers(rules, at).slice(0, asked ? 40 : MOST) : [];
    if (!shown.length) return close();
    list.replaceChildren(...shown.map((each, n) => make("li", { id: `yaml-offer-${n}`, role: "option", "aria-selected": "false" },
      make("code", {}, each.text), make("span", { class: "small muted" }, each.note))));
    list.hidden = false;
    area.setAttribute("aria-expanded", "true");
    mark(asked ? 0 : -1);
    put();
    if (asked) announce(shown.slice(0, 5).map((each) => each.text).join(", "));
  };

  const take = (index) => {
    const { text } = shown[index];
    const end = area.selectionStart;
    area.setRangeText(at.kind === "key" ? `${text}: ` : text, end - at.word.length, end, "end");
    close();
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.focus();
  };

  area.setAttribute("aria-controls", list.id);
  area.setAttribute("aria-autocomplete", "list");
  area.addEventListener("input", () => show(false));
  area.addEventListener("blur", close);
  area.addEventListener("scroll", close);
  list.addEventListener("mousedown", (event) => {
    const item = event.target.closest("li");
    event.preventDefault();
    if (item) take([...list.children].indexOf(item));
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return show(true);
    }
    if (list.hidden) return undefined;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark((chosen + step + shown.length) % shown.length);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else return undefined;
    return event.preventDefault();
  });
}
