"""The pages whose names are nearest to an address that does not exist."""

import re
from urllib.parse import unquote

from rapidfuzz import fuzz, process
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.site.documentation import documents
from dynabench.site.search.service import MAX_TASKS, SearchHit

LEAST = 60
"""Similarity, of 100, from which on a name is offered."""
MOST = 3


def words_of_address(path: str) -> str:
    """Return the words of an address for the search box: of `/tasks/natural-inference` the last part."""
    parts = [part for part in unquote(path).split("/") if re.search(r"[^\W\d_]{2}", part)]
    last = parts[1] if len(parts) > 1 and parts[0] == "tasks" else parts[-1] if parts else ""
    return " ".join(last.replace("-", " ").replace("_", " ").removesuffix(".md").split())[:60]


async def nearest_pages(request: Request) -> list[SearchHit]:
    """Return up to three tasks or documents with a similar name, best first; none for addresses of neither."""
    parts = [part for part in request.url.path.split("/") if part]
    if not parts or len(parts[-1]) > 100:
        return []
    address_words = words_of_address(request.url.path)
    if parts[0] == "docs":
        pages = await run_in_threadpool(documents.documents)
        return _best(
            address_words, [(page.name.rpartition("/")[2], page.title, page.address) for page in pages.values()]
        )
    if parts[0] == "tasks" or len(parts) == 1:
        return _best(address_words, await request.app.state.db.aread(_tasks))
    return []


def _tasks(session: Session) -> list[tuple[str, str, str]]:
    tasks = session.scalars(round_queries.tasks("", MAX_TASKS)).all()
    return [
        (task.id, rounds.config_of(session, task.version_id).name, f"/tasks/{task.id}")
        for task in tasks
        if task.version_id is not None
    ]


def _best(address_words: str, pages: list[tuple[str, str, str]]) -> list[SearchHit]:
    """The best of pages by their ids and titles."""
    names = {at: id.replace("-", " ") for at, (id, _title, _address) in enumerate(pages)}
    titles = {at: title for at, (_id, title, _address) in enumerate(pages)}
    scores: dict[int, float] = {}
    for choices in (names, titles):
        for _name, score, at in process.extract(
            address_words.casefold(), choices, scorer=fuzz.WRatio, processor=str.casefold
        ):
            scores[at] = max(score, scores.get(at, 0.0))
    best = sorted((at for at in scores if scores[at] >= LEAST), key=lambda at: -scores[at])
    return [SearchHit(pages[at][1], pages[at][2]) for at in best[:MOST]]
