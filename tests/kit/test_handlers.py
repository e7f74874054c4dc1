"""The plumbing of handlers: pages of lists, cursors, forms that are shown again, and where a form leads."""

from dataclasses import dataclass

import pytest
from fastapi import FastAPI, Request
from pydantic import ValidationError
from starlette.testclient import TestClient

from dynabench.kit.api import After, Limit
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.forms import redirect, rejection
from dynabench.kit.schemas import Page, RowModel, StrictModel


@dataclass
class Stamp:
    id: int
    name: str
    secret: str = "hidden"


class StampOut(RowModel):
    id: int
    name: str


class Stamps(Page[StampOut]):
    """Stamps, oldest first."""


class NumberedStamps(Page[StampOut, int]):
    """Stamps whose cursor is a number."""


ROWS = [Stamp(number, f"stamp {number}") for number in range(1, 4)]


@pytest.mark.parametrize(("rows", "following"), [(ROWS[:0], None), (ROWS[:1], None), (ROWS[:2], None), (ROWS, "2")])
def test_a_row_beyond_the_limit_means_that_another_page_follows(rows, following):
    items = [{"id": row.id, "name": row.name} for row in rows[:2]]
    assert Stamps.cut(rows, 2).model_dump() == {"items": items, "next": following}


def test_a_cursor_may_be_another_member_and_a_number_stays_one():
    assert Stamps.cut(ROWS, 2, "name").next == "stamp 2"
    assert NumberedStamps.cut(ROWS, 2).next == 2


def test_rows_that_are_no_items_are_shown_first():
    page = Stamps.cut([1, 2, 3], 1, show=lambda number: Stamp(number, "shown"))
    assert page.model_dump() == {"items": [{"id": 1, "name": "shown"}], "next": "1"}


def test_a_strict_body_refuses_what_it_does_not_know():
    class Body(StrictModel):
        name: str = ""

    with pytest.raises(ValidationError):
        Body.model_validate({"nmae": "x"})


@pytest.fixture(scope="module")
def site():
    app = FastAPI()

    @app.get("/rows")
    async def rows(after: After = None, limit: Limit = 50) -> dict[str, int | None]:
        return {"after": after, "limit": limit}

    @app.post("/tasks/{task}", name="task")
    async def task(request: Request, task: str):
        return redirect(request, "task", query={"saved": 3, "warning": "", "of": None}, anchor="end", task=task)

    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(("sent", "after"), [("", None), ("?after=", None), ("?after=7", 7)])
def test_a_page_begins_after_a_row_or_with_the_first(site, sent, after):
    assert site.get(f"/rows{sent}").json() == {"after": after, "limit": 50}


@pytest.mark.parametrize("sent", ["after=x", "after=-1", "after=9223372036854775808", "limit=0", "limit=101"])
def test_a_cursor_or_limit_outside_the_database_is_refused(site, sent):
    assert site.get(f"/rows?{sent}").status_code == 422


def test_a_form_leads_to_a_page_and_leaves_empty_values_out(site):
    answer = site.post("/tasks/nli")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tasks/nli?saved=3#end")


def test_a_problem_without_fields_is_shown_beside_the_field_that_is_meant():
    assert rejection(Invalid({"email": "Give an address."}), "name") == {
        "status": 422,
        "errors": {"email": "Give an address."},
    }
    assert rejection(Conflict("This name is taken."), "name") == {
        "status": 409,
        "errors": {"name": "This name is taken."},
    }
