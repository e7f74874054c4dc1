"""Base models: bodies that refuse unknown members, answers made from rows, pages of lists. No web framework."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar as DefaultTypeVar

Item = TypeVar("Item")
Row = TypeVar("Row")
Cursor = DefaultTypeVar("Cursor", default=str)


class StrictModel(BaseModel):
    """A document in which unknown members are refused: the body of a request, a file of settings."""

    model_config = ConfigDict(extra="forbid")


class RowModel(BaseModel):
    """An answer that `model_validate` makes from any object with attributes of these names, such as a table's row."""

    model_config = ConfigDict(from_attributes=True)


class Page(BaseModel, Generic[Item, Cursor]):
    """A page of a list; `next` is the `after` of the page that follows, and null on the last page."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)

    items: list[Item]
    next: Cursor | None = None

    @classmethod
    def cut(cls, rows: Sequence[Row], limit: int, cursor: str = "id", show: Callable[[Row], Any] | None = None) -> Self:
        """Return a page of the first `limit` of `rows`; a row beyond them means that another page follows.

        Read `limit + 1` rows. `show` makes an item of a row, where the items are not made by its attributes alone.
        `cursor` names the attribute of the last item from which the next page goes on.
        """
        items = [show(row) for row in rows[:limit]] if show else rows[:limit]
        following = str(getattr(items[-1], cursor)) if len(rows) > limit else None
        return cls.model_validate({"items": items, "next": following})
