"""Search as JSON, which the command palette reads."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from dynabench.kit.language import translate
from dynabench.people.accounts.auth import Viewer, scope
from dynabench.site.search.requests import search_everything
from dynabench.site.search.service import LONGEST

router = APIRouter(prefix="/api/v1", tags=["search"], dependencies=[Depends(scope("read"))])


class SearchHitOut(BaseModel):
    """Something that was found."""

    title: str
    address: str = Field(description="Path on this site.", examples=["/tasks/nli"])
    text: str
    place: str = Field(description="Where it belongs, such as a task's name.")
    write: str = Field(description="Path of the form, for a task whose round is open; else empty.")


class SearchGroupOut(BaseModel):
    """The hits of one kind, best first."""

    kind: str = Field(examples=["tasks"])
    title: str
    count: int
    more: bool = Field(description="True where there are more than `count`, which is then where counting ended.")
    hits: list[SearchHitOut]


class SearchOut(BaseModel):
    """The groups that have hits."""

    groups: list[SearchGroupOut]
    complete: bool = Field(description="False where a source took too long; ask again in a second.")


@router.get("/search")
async def search(
    request: Request,
    viewer: Viewer,
    q: Annotated[str, Query(max_length=LONGEST)] = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> SearchOut:
    """Return what has all words: tasks, documents, models, datasets, metrics, people, examples of released rounds."""
    results = await search_everything(request, viewer, q, limit)
    return SearchOut(
        groups=[
            SearchGroupOut(
                kind=group.kind,
                title=translate(group.title),
                count=group.count,
                more=group.more,
                hits=[SearchHitOut.model_validate(hit, from_attributes=True) for hit in group.hits],
            )
            for group in results.groups
        ],
        complete=results.complete,
    )
