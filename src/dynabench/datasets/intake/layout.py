"""The layout of a file: the column of each field of a dataset's rows.

It is guessed from the first rows, or given by hand.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError

from dynabench.datasets.imports.formats import is_squad, spans_field
from dynabench.intake.mapping import find_column, list_columns, value_at
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.storable import printable
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Choice

Form = Literal["columns", "squad", "checklist"]
Column = Annotated[str, Field(max_length=200)]
TAG_COLUMNS = ("tags", "functionality", "tag", "slice", "slices", "category")
UID_COLUMNS = ("uid", "id", "case_id", "idx", "guid", "pairID")
ANSWER_COLUMNS = ("label", "gold_label", "label_gold", "answer", "answers", "gold", "target", "class")
SYNONYMS = {
    "entailment": ("e", "entails", "entailed"),
    "neutral": ("n", "neu"),
    "contradiction": ("c", "contradicts"),
    "positive": ("pos", "p"),
    "negative": ("neg",),
    "hateful": ("hate", "hateful speech"),
    "not hateful": ("non-hateful", "nothate", "not hate", "none", "neither"),
    "not_hateful": ("non-hateful", "nothate", "not hate", "none", "neither"),
}


class FileLayout(StrictModel):
    """The way to read a file.

    `fields` gives each field of the task (inputs of models, and answers) its column; a dotted name reaches
    into nested objects. `values` gives the meaning of values in the answer's column: an option, or a list of
    options that are all accepted. `uid` and `tags` are columns; `columns` are further ones that become tags
    `column=value`.
    """

    form: Form = "columns"
    fields: dict[Column, Column] = Field({})
    values: Annotated[dict[Column, Column | list[Column]], Field(max_length=1000)] = Field({})
    uid: Column = ""
    tags: Column = ""
    columns: Annotated[list[Column], Field(max_length=10)] = Field([])

    @classmethod
    def parse(cls, document: object) -> "FileLayout":
        """From a document or its YAML. Raises `Invalid` under `layout`."""
        try:
            return cls.model_validate(yaml.safe_load(document) if isinstance(document, str) else document)
        except (yaml.YAMLError, RecursionError) as problem:
            raise errors.Invalid({"layout": f"This is not valid YAML: {problem}"[:300]}) from None
        except ValidationError as problem:
            first = problem.errors()[0]
            where = printable(".".join(str(part) for part in first["loc"]))
            raise errors.Invalid({"layout": f"{where}: {first['msg']}"[:300]}) from None

    def check(self, config: TaskConfig) -> None:
        """Raises `Invalid` where it names no field of the task, no column for a field that is required, or no option.

        Keys are `field.NAME` and `value.NAME`, as forms have them.
        """
        if self.form != "columns":
            return
        fields = row_fields(config)
        wrong = {f"field.{name}": _("The task has no such field.") for name in self.fields if name not in fields}
        for name, field in fields.items():
            if field.required and not self.fields.get(name):
                wrong[f"field.{name}"] = _("Choose the column.")
        options = answer_options(config)
        for raw, meant in self.values.items() if options else ():
            for option in [meant] if isinstance(meant, str) else meant:
                if option not in options:
                    wrong[f"value.{printable(raw)}"] = _("Choose one of %(options)s.", options=", ".join(options))
        if wrong:
            raise errors.Invalid(wrong)


def row_fields(config: TaskConfig) -> dict[str, Any]:
    """The fields of a row: what models get, and the answer's, by name."""
    return {field.name: field for field in [*config.model_context, *config.fields("input"), *config.fields("answer")]}


def answer_options(config: TaskConfig) -> list[str]:
    """The options of the answer, where it is one choice."""
    first = config.fields("answer")[0]
    return first.values if isinstance(first, Choice) else []


def guess_from_rows(
    rows: Sequence[Mapping[str, Any]], config: TaskConfig, names: Mapping[str, Sequence[str]]
) -> FileLayout:
    """The layout that the first rows look like. `names` are the classes of columns that hold class numbers."""
    first = rows[0] if rows else {}
    if {"test", "type", "data"} <= first.keys() and isinstance(first["data"], list):
        return FileLayout(form="checklist")
    if spans_field(config) is not None and is_squad(dict(first)) and "uid" not in first:
        return FileLayout(form="squad")
    columns = list_columns(rows)
    chosen: dict[str, str] = {}
    for field in [*config.model_context, *config.fields("input")]:
        prefixes = ("", "inputs.", "context.values.", "input.", "context.")
        chosen[field.name] = find_column(columns, *(f"{prefix}{field.name}" for prefix in prefixes))
    free = [column for column in columns if column not in chosen.values()]
    for column in free:  # one text is left and one field: they belong together
        lacking = [name for name, match in chosen.items() if not match]
        if len(lacking) == 1 and column.casefold() in ("text", "sentence", "review", "tweet", "test_case", "content"):
            chosen[lacking[0]] = column
    for field in config.fields("answer"):
        first_of_all = "answers" if {"uid", "inputs", "answers"} <= first.keys() else f"answer.{field.name}"
        others = ANSWER_COLUMNS if len(config.fields("answer")) == 1 else ()
        chosen[field.name] = find_column(columns, first_of_all, field.name, *others)
    column = chosen[config.fields("answer")[0].name]
    return FileLayout(
        fields={name: column for name, column in chosen.items() if column},
        values=guess_values([value_at(row, column) for row in rows], answer_options(config), names.get(column, ())),
        uid=find_column(columns, *UID_COLUMNS),
        tags=find_column(columns, *TAG_COLUMNS),
    )


def guess_values(raw: Iterable[Any], options: Sequence[str], classes: Sequence[str]) -> dict[str, str | list[str]]:
    """Return the meanings of the answer's values where their names show them.

    Values that are options mean themselves.
    """
    called = {option.casefold(): option for option in options}
    called |= {other: option for option in options for other in SYNONYMS.get(option, ()) if other not in called}
    meanings: dict[str, str | list[str]] = {}
    for number, name in enumerate(classes):
        if option := called.get(name.casefold()):
            meanings[str(number)] = option
    for value in raw:
        if isinstance(value, str) and value not in options and (option := called.get(value.strip().casefold())):
            meanings[value] = option
    return meanings
