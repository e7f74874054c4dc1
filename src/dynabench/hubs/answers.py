"""Repositories, files, commits and discussions in the form that clients of Hugging Face's hub read."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request

from dynabench.hubs.git_store import CommitFacts
from dynabench.hubs.reading import DELETED, FileFacts
from dynabench.hubs.schemas import TYPES
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import DiscussionEventKind, HubDiscussion, HubDiscussionEvent, HubReference, ReferenceKind
from dynabench.kit.api import site_address
from dynabench.people.accounts.tables import Person
from dynabench.web.filters import markdown

PREFIX = "/api/hub"


def hub_address(request: Request) -> str:
    """Return the address of the hub as its clients know it: their endpoint."""
    return f"{site_address(request)}{PREFIX}"


def repository_address(request: Request, entry: HubEntry) -> str:
    """Return the address of a repository below the endpoint."""
    kind = TYPES[entry.kind]
    return f"{hub_address(request)}/{'' if kind == 'model' else f'{kind}s/'}{entry.full_name}"


def next_link(request: Request, **changed: object) -> dict[str, str]:
    """Return the header that leads to the next page of a list."""
    query = [(name, value) for name, value in request.query_params.multi_items() if name not in changed]
    query += [(name, str(value)) for name, value in changed.items()]
    path = quote(request.url.path) if "raw_path" not in request.scope else request.scope["raw_path"].decode("latin-1")
    return {"Link": f'<{site_address(request)}{path.partition("?")[0]}?{urlencode(query)}>; rel="next"'}


def moment(at: datetime) -> str:
    """Return a moment in the hub's form."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def large_document(facts: FileFacts, name: str) -> dict[str, Any]:
    """Return the member `lfs` of a large file, in which its SHA-256 has this name; empty for others."""
    if facts.large is None:
        return {}
    return {"lfs": {name: facts.large.digest, "size": facts.size, "pointerSize": facts.pointer_size}}


def file_document(facts: FileFacts, last: CommitFacts | None = None) -> dict[str, Any]:
    """Return a file or folder of a list."""
    kind = "directory" if facts.entry.folder else "file"
    document: dict[str, Any] = {"type": kind, "oid": facts.entry.revision, "size": facts.size, "path": facts.path}
    document |= large_document(facts, "oid")
    if last is not None:
        document["lastCommit"] = {"id": last.revision, "title": last.title, "date": moment(last.at)}
    return document


def sibling_document(facts: FileFacts, sizes: bool) -> dict[str, Any]:
    """Return a file as the information about a repository lists it."""
    document: dict[str, Any] = {"rfilename": facts.path}
    if sizes:
        document |= {"size": facts.size, "blobId": facts.entry.revision} | large_document(facts, "sha256")
    return document


def repository_document(entry: HubEntry, tags: Sequence[str], revision: str = "") -> dict[str, Any]:
    """Return the facts of a repository, without its files."""
    row, card = entry.row, entry.row.card
    document: dict[str, Any] = {
        "_id": row.folder[:24],
        "id": entry.full_name,
        "author": entry.namespace,
        "sha": revision or row.head,
        "lastModified": moment(row.changed_at),
        "createdAt": moment(row.created_at),
        "private": row.private,
        "gated": False,
        "disabled": False,
        "downloads": row.downloads,
        "likes": 0,
        "tags": list(tags),
        "description": row.summary,
    }
    if TYPES[entry.kind] == "model":
        document["modelId"] = entry.full_name
        for name in ("pipeline_tag", "library_name"):
            if isinstance(card.get(name), str):
                document[name] = card[name]
        if isinstance(card.get("model-index"), list):
            document["model-index"] = card["model-index"]
    return document


def reference_documents(rows: Sequence[HubReference], pulls: bool) -> dict[str, Any]:
    """Return the branches and tags of a repository, with those of pull requests where they are asked for."""
    groups: dict[str, list[dict[str, str]]] = {"branches": [], "tags": [], "converts": [], "pullRequests": []}
    for row in rows:
        if row.kind == ReferenceKind.PULL:
            number = row.name.rpartition("/")[2]
            groups["pullRequests"].append({"name": number, "ref": row.name, "targetCommit": row.revision})
        else:
            folder, group = ("tags", "tags") if row.kind == ReferenceKind.TAG else ("heads", "branches")
            document = {"name": row.name, "ref": f"refs/{folder}/{row.name}", "targetCommit": row.revision}
            groups[group].append(document)
    if not pulls:
        del groups["pullRequests"]
    return groups


def commit_document(facts: CommitFacts, names: Mapping[str, str], formatted: bool = False) -> dict[str, Any]:
    """Return a commit of a list; `formatted` with its words once more, as a page shows them."""
    document: dict[str, Any] = {
        "id": facts.revision,
        "title": facts.title,
        "message": facts.body,
        "date": moment(facts.at),
        "authors": [{"user": names.get(facts.signature, DELETED)}],
    }
    return document | ({"formatted": {"title": facts.title, "message": facts.body}} if formatted else {})


def author_document(person_id: int | None, names: Mapping[int, str]) -> dict[str, Any]:
    """Return an author; without a name where the account is deleted."""
    return {"name": names.get(person_id or 0, "deleted"), "type": "user"}


def discussion_document(entry: HubEntry, discussion: HubDiscussion, names: Mapping[int, str]) -> dict[str, Any]:
    """Return a discussion of a list."""
    return {
        "num": discussion.number,
        "title": discussion.title,
        "status": discussion.state,
        "isPullRequest": discussion.pull,
        "author": author_document(discussion.author_id, names),
        "createdAt": moment(discussion.created_at),
        "repo": {"name": entry.full_name, "type": TYPES[entry.kind]},
        "pinned": False,
    }


def event_document(event: HubDiscussionEvent, names: Mapping[int, str]) -> dict[str, Any]:
    """Return an entry of a discussion."""
    author, at = author_document(event.author_id, names), moment(event.at)
    data: dict[str, Any] = dict(event.details)
    if event.kind == DiscussionEventKind.COMMENT:
        latest = {"raw": event.text, "html": str(markdown(event.text)), "updatedAt": at, "author": author}
        texts = [*event.details.get("earlier", ()), event.text]
        history = [latest | {"raw": text, "html": str(markdown(text))} for text in texts]
        data = {"edited": len(texts) > 1, "hidden": False, "latest": latest, "history": history}
    elif event.kind == DiscussionEventKind.COMMIT:
        data = {"subject": event.text, "oid": event.details.get("oid", "")}
    return {"id": f"{event.id:024x}", "type": event.kind, "createdAt": at, "author": author, "data": data}


def person_document(person: Person, namespace: str, token_scopes: frozenset[str] | None) -> dict[str, Any]:
    """Return the sender of a request."""
    role = "read" if token_scopes is not None and "annotate" not in token_scopes else "write"
    token = {"displayName": "token", "role": role}
    return {
        "type": "user",
        "id": f"{person.id:024x}",
        "name": namespace,
        "fullname": namespace,
        "emailVerified": person.email_confirmed_at is not None,
        "canPay": False,
        "isPro": False,
        "periodEnd": None,
        "orgs": [],
        "auth": {"type": "access_token", "accessToken": token},
    }
