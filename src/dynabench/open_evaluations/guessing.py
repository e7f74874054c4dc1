"""Guesses that a person can change: the task of a dataset, and which column plays which part."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dynabench.intake.mapping import FilePreview, value_at
from dynabench.media.store import is_reference
from dynabench.open_evaluations.choices import LEFT_OUT
from dynabench.open_evaluations.kinds import OPEN_TASKS, ColumnRole, OpenTask, RoleKind
from dynabench.open_evaluations.multiple_choice import UnfitValue, find_group, guess_base, read_choices
from dynabench.open_evaluations.picture_folders import StoredPicture
from dynabench.open_evaluations.row_source import ClassNames, RowSource
from dynabench.open_evaluations.rows import read_reference, row_with_lists

ORDER = (
    "multiple-choice",
    "question-answering",
    "natural-language-inference",
    "visual-question-answering",
    "image-classification",
    "token-classification",
    "text-classification",
    "regression",
    "translation",
    "summarization",
    "text-generation",
)
"""Tasks from the one whose columns are told apart best to the one that nearly every dataset could be."""
FEW_LABELS = 100
LONGEST_CHOICE = 500
_FRACTION = re.compile(r"-?\d*\.\d*[1-9]\d*")


def guess_task(source: RowSource, preview: FilePreview, classes: ClassNames) -> str:
    """Return the task that the dataset names if its columns are there, else the first whose columns are all there."""
    for name in (source.task, *ORDER) if source.task in OPEN_TASKS else ORDER:
        task = OPEN_TASKS[name]
        columns = guess_columns(task, source, preview, classes)
        if all(role.name in columns for role in task.roles if role.required):
            return name
    return source.task if source.task in OPEN_TASKS else "text-classification"


def guess_columns(
    task: OpenTask,
    source: RowSource,
    preview: FilePreview,
    classes: ClassNames,
    chosen: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return a column for each role: the chosen one, the one that the dataset says, else one of a usual name.

    A column counts only where its first values fit the role.
    """
    columns = {
        role.name: chosen[role.name]
        for role in task.roles
        if chosen and is_choosable(role, preview, chosen.get(role.name, ""))
    }
    for role in task.roles:
        if role.name in columns:
            continue
        names = [source.columns.get(role.name, ""), *role.known_names]
        free = [column for column in preview.columns if column not in columns.values()]
        by_name = {column.casefold(): column for column in reversed(free)}
        likely = [by_name[name.casefold()] for name in names if name.casefold() in by_name]
        if match := next((column for column in likely if _fits(role, preview, column, classes)), ""):
            columns[role.name] = match
        elif role.kind is RoleKind.CHOICES and (group := find_group(free)):
            columns[role.name] = group
    return _complete_translation(task, preview, columns)


def is_choosable(role: ColumnRole, preview: FilePreview, column: str) -> bool:
    """True for a column of the rows, for several with commas between that hold a choice each, and for none at all."""
    if column == LEFT_OUT:
        return not role.required
    names = [name.strip() for name in column.split(",")]
    several = role.kind is RoleKind.CHOICES and len(names) > 1
    return column in preview.columns or (several and all(name in preview.columns for name in names))


def guess_first_number(
    task: OpenTask, preview: FilePreview, columns: Mapping[str, str], chosen: str
) -> Literal["", "0", "1"]:
    """Return from which number on right choices are counted, `0` or `1`; empty where they are no numbers.

    A `chosen` one stays.
    """
    if task.reference.kind is not RoleKind.CHOICE or not {"choices", task.reference.name} <= columns.keys():
        return ""
    answers = []
    for row in preview.values:
        try:
            offered = read_choices(row_with_lists(row, columns["choices"]), columns["choices"])
        except UnfitValue:
            continue
        answers.append((value_at(row, columns[task.reference.name]), offered))
    guessed = guess_base(answers)
    return "" if not guessed else "1" if (chosen or guessed) == "1" else "0"


def _complete_translation(task: OpenTask, preview: FilePreview, columns: dict[str, str]) -> dict[str, str]:
    """Two languages in one object, `translation: {en, de}`, are source and translation."""
    inner = [column for column in preview.columns if column.startswith("translation.")]
    if task.name == "translation" and len(inner) == 2 and not {"source", "translation"} <= columns.keys():
        return {**columns, "source": inner[0], "translation": inner[1]}
    return columns


def guess_pair(task: OpenTask, columns: Mapping[str, str]) -> str:
    """Return the languages that the names of the columns say, such as `en-de`; empty where they say none."""
    ends = [columns.get(name, "").rpartition(".")[2] for name in ("source", "translation")]
    return "-".join(ends) if task.name == "translation" and all(len(end) == 2 for end in ends) else ""


def _fits(role: ColumnRole, preview: FilePreview, column: str, classes: ClassNames) -> bool:
    """True where the first values have the form of the role."""
    values = [value_at(row, column) for row in preview.values[:20]]
    present = [value for value in values if value not in (None, "")]
    if not present:
        return False
    if role.kind is RoleKind.IMAGE:
        return all(_is_picture(value) for value in present)
    if role.kind is RoleKind.WORDS:
        return all(isinstance(value, list | str) and not _is_picture(value) for value in present)
    if role.kind is RoleKind.TAGS:
        return all(isinstance(value, list) or (isinstance(value, str) and value[:1] == "[") for value in present)
    if role.kind is RoleKind.CHOICES:
        return all(_holds_choices(value, column) for value in present)
    if role.kind is RoleKind.CHOICE:
        return all(isinstance(value, str | int) and len(str(value)) <= LONGEST_CHOICE for value in present)
    if role.kind is RoleKind.TEXT:
        return all(isinstance(value, str | int | float) and not _is_picture(value) for value in present)
    return _is_reference(role, present, column, classes, preview)


def _is_reference(
    role: ColumnRole, values: Sequence[Any], column: str, classes: ClassNames, preview: FilePreview
) -> bool:
    try:
        for value in values:
            read_reference(role, value, column, classes.get(column, ()))
    except UnfitValue:
        return False
    if role.kind is RoleKind.LABEL:
        every = {str(value_at(row, column)) for row in preview.values}
        if any(_FRACTION.fullmatch(text) for text in every):
            return False
        return len(every) <= max(FEW_LABELS, len(preview.values) // 2) and all(len(text) <= 100 for text in every)
    return True


def _holds_choices(value: Any, column: str) -> bool:
    try:
        read_choices(row_with_lists({column: value}, column), column)
    except UnfitValue:
        return False
    return True


def _is_picture(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_reference(value) or isinstance(value.get("bytes"), bytes)
    return isinstance(value, bytes | StoredPicture) or (isinstance(value, str) and value.startswith("data:image/"))
