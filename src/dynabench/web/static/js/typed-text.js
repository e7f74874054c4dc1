/** The words of a text that is being typed, as the server finds them, and where marks on it go while it changes. */

const WORD = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+|[’'](?![sS](?![\p{L}\p{N}_]))[\p{L}\p{N}]+)*|[’'][sS](?![\p{L}\p{N}_])|\S/gu;
const size = (text) => [...text].length;

/** The text as the server keeps it: line ends, normal form C, no blanks at its ends. */
export const kept = (text) => text.replace(/\r\n?/g, "\n").normalize("NFC").trim();

/** Words with their places in code points, each with the gap that follows it. */
export function wordsOf(text) {
  const found = [...text.matchAll(WORD)];
  let at = 0;
  return found.map((match, index) => {
    const start = at;
    const end = start + size(match[0]);
    const gap = text.slice(match.index + match[0].length, found[index + 1]?.index);
    at = end + size(gap);
    return { start, end, text: match[0], gap };
  });
}

/** The marks that a change of the text leaves, where they stand now, on whole words. */
export function moved(marks, before, after) {
  const [old, now] = [[...before], [...after]];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const shift = now.length - old.length;
  const words = wordsOf(after);
  return marks.flatMap((mark) => {
    const by = mark.end <= head ? 0 : mark.start >= old.length - tail ? shift : null;
    if (by === null) return [];
    const over = words.filter((word) => word.start < mark.end + by && mark.start + by < word.end);
    return over.length ? [{ ...mark, start: over[0].start, end: over.at(-1).end }] : [];
  });
}
