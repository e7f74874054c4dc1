"""Rows as CSV: a column per field of the task, JSON in the cells of what is nested."""

from collections.abc import Iterable, Iterator

import orjson

from dynabench.datasets.exports import NULL, Record, line
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import Scope
from dynabench.datasets.shapes import Flat, quoted, text_of
from dynabench.kit.csv_tables import BOM, guarded

PLACE = {name: number for number, name in enumerate(COLUMNS)}
CONDITION = ("start", "arm", "share", "ensemble", "targets", "assistant")
EXACT = "exact"  # the column of the whole row as JSON, where the other columns cannot hold it


class Sheet:
    """Turns records into lines of CSV."""

    def __init__(self, what: Scope) -> None:
        self.configs = what.configs
        self.flat = {name: Flat(what.configs, name) for name in ("context", "initial", "goal", "input", "answer")}
        self.said = Flat(what.configs, "explanation")
        self.attributions = what.attributions
        self.conditions: dict[str, list[str]] = {}

    @property
    def header(self) -> list[str]:
        """The columns' names."""
        flat = {name: columns.columns for name, columns in self.flat.items()}
        flat["context"] = [*flat["context"], "tag"]
        flat["condition"] = [f"condition.{name}" for name in CONDITION]
        flat["explanation"] = ["explanation.at", *self.said.columns]
        names = [column for member in COLUMNS for column in flat.get(member, [member])]
        return [*names, *(["attributions"] if self.attributions else []), EXACT]

    def line(self, record: Record) -> str:
        """One line; the cells of what never needs quotes have none."""
        loads = orjson.loads
        (uid, task, version, number, context, initial, goal, given, answer, fooled, author, source, condition, origin,
         distance, attempt, seconds, latency, at, predictions, validations, verdict, said, helped,
         program, *more) = record  # fmt: skip
        flat = self.flat
        held = loads(context)
        parts = (
            flat["context"].cells(held["values"]),
            flat["initial"].cells(loads(initial)) if initial != "{}" else flat["initial"].empty,
            (flat["goal"].cells(loads(goal)) if goal != "{}" else None) if goal != NULL else flat["goal"].empty,
            flat["input"].cells(loads(given)),
            flat["answer"].cells(loads(answer)),
            *self._said(said),
        )
        exact = "" if None not in parts else line(record)
        empty = (flat["context"], flat["initial"], flat["goal"], flat["input"], flat["answer"])
        whole = [part if part is not None else one.empty for part, one in zip(parts, empty, strict=False)]
        cells = [
            quoted(guarded(text_of(uid))), task[1:-1], version, number,
            *whole[0], self._name(held["tag"]), *whole[1], *whole[2], *whole[3], *whole[4],
            "" if fooled == NULL else fooled, author[1:-1], source[1:-1],
            *(self.conditions.get(condition) or self._condition(condition)),
            "" if origin == NULL else quoted(guarded(text_of(origin))), "" if distance == NULL else distance, attempt,
            seconds, latency, at[1:-1], quoted(predictions), quoted(validations), verdict[1:-1], *(parts[5] or [""]),
            *(parts[6] or self.said.empty), "" if helped == NULL else quoted(helped),
            "" if program == NULL else quoted(program), *map(quoted, more), quoted(exact),
        ]  # fmt: skip
        return ",".join(map(str, cells))

    def _name(self, text: str) -> str:
        return quoted(guarded(text)) if text else ""

    def _said(self, said: str) -> tuple[list[str], list[str] | None]:
        if said == NULL:
            return [""], self.said.empty
        explanation = orjson.loads(said)
        return [explanation["at"]], self.said.cells(explanation["values"])

    def _condition(self, text: str) -> list[str]:
        values = orjson.loads(text)
        share = "" if values["share"] is None else str(values["share"])
        targets = quoted(orjson.dumps(values["targets"]).decode())
        made = [values["start"], self._name(values["arm"]), share, values["ensemble"], targets]
        made.append("true" if values["assistant"] else "false")
        self.conditions[text] = made
        return made


def stream(pages: Iterable[list[Record]], what: Scope) -> Iterator[bytes]:
    """A header and a line per record (RFC 4180), in UTF-8 with a byte order mark, which spreadsheets ask for."""
    sheet = Sheet(what)
    yield f"{BOM}{','.join(map(quoted, sheet.header))}\r\n".encode()
    for page in pages:
        yield "".join([f"{sheet.line(record)}\r\n" for record in page]).encode()
