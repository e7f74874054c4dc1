"""Boards that readers kept: frozen ones (snapshots), and ones with weights of their own (forks).

Knows no web framework. A snapshot holds what every visitor may see, also if an owner takes it: no private submission,
no submitter's name.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.benchmark.evaluations.records import canonical_json
from dynabench.benchmark.leaderboards import files, queries, schemas
from dynabench.benchmark.leaderboards.tables import Fork, Snapshot
from dynabench.benchmark.ranking import BoardRanking, rank_entrants, read_weights
from dynabench.benchmark.reading import read_board
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import webhooks
from dynabench.rounds import service as rounds
from dynabench.rounds.service import record_act

SNAPSHOTS_PER_DAY = 20  # snapshots of one person
MAX_FORKS = 50  # of one person
TITLE, NOTE = 200, 1000
LARGEST_NUMBER = 1e15  # numbers from here on are told as none: databases write them in other ways
DIGITS = 6


def take_snapshot(session: Session, person: Person, task: str, params: Mapping[str, str], title: str) -> Snapshot:
    """Freeze the public board of a task under these weights (`read_weights`).

    Raises `Invalid` for weights or a title that will not do, `TooMany` after `A_DAY` in a day.
    """
    public = read_board(session, None, task)
    chosen = read_weights(public, params)
    since = now() - timedelta(days=1)
    if (session.scalar(queries.count_snapshots(person.id, since)) or 0) >= SNAPSHOTS_PER_DAY:
        raise errors.TooMany(
            _("The limit is %(a_day)s snapshots a day. Take this one tomorrow.", a_day=SNAPSHOTS_PER_DAY),
            retry_after=3600,
        )
    document = snapshot_document(rank_entrants(public, chosen))
    moment = now()
    document["taken_at"] = moment.isoformat(timespec="seconds")
    slug = f"{task[:20].strip('-_')}-{moment:%Y%m%d}-{secrets.token_hex(4)}"
    snapshot = Snapshot(
        slug=slug, task_id=task, title=_title(title), document=document, digest=document_digest(document)
    )
    snapshot.person_id, snapshot.made_at = person.id, moment
    session.add(snapshot)
    session.flush()
    record_act(session, person, "snapshot.taken", task=task, snapshot=slug)
    message = {
        "task": task,
        "snapshot": slug,
        "title": snapshot.title,
        "digest": snapshot.digest,
        "page": f"/snapshots/{slug}",
    }
    webhooks.emit_event(session, task, "snapshot.taken", message)
    return snapshot


def snapshot_document(ranking: BoardRanking) -> dict[str, Any]:
    """Return the content of a board to keep.

    It has the rows, weights, digests of data, versions of models and code, and signatures of records.
    """
    board = ranking.board
    content = files.board_document(ranking, ranking.rows) | {"code": __version__}
    for row, document in zip(ranking.rows, content["rows"], strict=True):
        for name in ("submitter", "bytes"):
            del document[name]
        signatures = board.standings.signatures[board.rows[row.place], board.columns]
        document["signatures"] = {
            dataset.name: text for dataset, text in zip(board.datasets, signatures, strict=True) if text
        }  # fmt: skip
    return _storable(content)  # type: ignore[no-any-return]


def _storable(value: Any) -> Any:
    """The same with floats that every database gives back as they are."""
    if isinstance(value, float):
        return None if abs(value) >= LARGEST_NUMBER else round(value, DIGITS) + 0.0
    if isinstance(value, dict):
        return {name: _storable(item) for name, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value


def document_digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of a document."""
    return hashlib.sha256(canonical_json(document)).hexdigest()


def find_snapshot(session: Session, slug: str) -> Snapshot:
    """The snapshot at this address; raises `NotFound`."""
    snapshot = session.get(Snapshot, slug)
    if snapshot is None:
        raise errors.NotFound(_("There is no such snapshot."))
    return snapshot


def snapshot_citation(snapshot: Snapshot, address: str) -> str:
    """BibTeX for a snapshot at `address`."""
    title = snapshot.title or f"Leaderboard of {snapshot.task_id}"
    plain = re.sub(r"[\\{}\"%$#&~^_]", lambda found: f"\\{found[0]}" if found[0] in "{}%$#&_" else " ", title)
    return "\n".join((
        f"@misc{{dynabench-{snapshot.slug},",
        f"  title = {{{plain}}},",
        f"  howpublished = {{Dynabench leaderboard snapshot, \\url{{{address}}}}},",
        f"  year = {{{snapshot.made_at:%Y}}},",
        f"  month = {{{snapshot.made_at:%b}}},",
        f"  note = {{SHA-256 {snapshot.digest}}}",
        "}",
    ))  # fmt: skip


def _title(text: str, needed: bool = False) -> str:
    text = " ".join(text.split())
    if len(text) > TITLE or (needed and not text):
        raise errors.Invalid(
            {
                "title": _("Give a title of 1 to %(title)s characters.", title=TITLE)
                if needed
                else _("At most %(title)s.", title=TITLE)
            }
        )
    return text


def _note(text: str) -> str:
    if len(text) > NOTE:
        raise errors.Invalid({"note": _("At most %(note)s characters.", note=NOTE)})
    return text.strip()


def make_fork(
    session: Session, person: Person, task: str, params: Mapping[str, str], title: str, note: str = ""
) -> Fork:
    """Keep weights under a name. Raises `Invalid` by field, `Conflict` where a person keeps `FORKS` already."""
    public = read_board(session, None, task)
    chosen, name = read_weights(public, params), _title(title, needed=True)
    if (session.scalar(queries.count_forks(person.id)) or 0) >= MAX_FORKS:
        raise errors.Conflict(
            _("You have %(forks)s boards of your own, which is the limit. Delete one first.", forks=MAX_FORKS)
        )
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:28].strip("-") or "board"
    fork = Fork(slug=f"{words}-{secrets.token_hex(3)}", task_id=task, title=name, note=_note(note))
    fork.weights, fork.person_id = chosen.document(), person.id
    session.add(fork)
    session.flush()
    record_act(session, person, "fork.made", task=task, fork=fork.slug)
    return fork


def find_fork(session: Session, slug: str) -> Fork:
    """The fork at this address; raises `NotFound`."""
    fork = session.get(Fork, slug)
    if fork is None:
        raise errors.NotFound(_("There is no such board."))
    return fork


def _own_fork(session: Session, person: Person, slug: str) -> Fork:
    fork = find_fork(session, slug)
    may.refuse_unless(may.may(person, Action.CHANGE_BOARD, author=fork.person_id))
    return fork


def change_fork(
    session: Session,
    person: Person,
    slug: str,
    params: Mapping[str, str] | None = None,
    title: str | None = None,
    note: str | None = None,
) -> Fork:
    """Change what a fork is called or how it weighs; None leaves as it was."""
    fork = _own_fork(session, person, slug)
    if params is not None:
        fork.weights = read_weights(read_board(session, None, fork.task_id), params).document()
    if title is not None:
        fork.title = _title(title, needed=True)
    if note is not None:
        fork.note = _note(note)
    record_act(session, person, "fork.changed", task=fork.task_id, fork=slug)
    return fork


def delete_fork(session: Session, person: Person, slug: str) -> Fork:
    """Delete a fork."""
    fork = _own_fork(session, person, slug)
    session.delete(fork)
    record_act(session, person, "fork.deleted", task=fork.task_id, fork=slug)
    return fork


def detach_person(session: Session, person_id: int) -> None:
    """Remove the name of a person who leaves from the boards and reports that the person kept.

    The addresses stay good; from then on only admins can change the person's forks.
    """
    for statement in queries.detach_person(person_id):
        session.execute(statement)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LISTED_FORKS = 100  # forks of a task that are listed


def snapshot_row(snapshot: Snapshot, by: Person | None) -> schemas.SnapshotRow:
    """One line about a snapshot."""
    return schemas.SnapshotRow(
        slug=snapshot.slug,
        task=snapshot.task_id,
        title=snapshot.title,
        digest=snapshot.digest,
        by=by.public_name if by else "",
        made_at=snapshot.made_at,
    )


def snapshot_page(session: Session, task: str, after: str, limit: int) -> schemas.SnapshotPage:
    """A page of a task's snapshots, newest first."""
    rounds.get_task(session, task)
    rows = session.execute(queries.snapshots_of_task(task, _cursor(after), limit + 1)).all()
    items = [snapshot_row(snapshot, person) for snapshot, person in rows[:limit]]
    more = len(rows) > limit
    return schemas.SnapshotPage(items=items, next=_cursor_text(items[-1]) if more else None)


def _cursor_text(last: schemas.SnapshotRow) -> str:
    microseconds = (last.made_at - EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}_{last.slug}"


def _cursor(text: str) -> tuple[datetime, str] | None:
    if not text:
        return None
    moment, _line, slug = text.partition("_")
    try:
        return EPOCH + timedelta(microseconds=int(moment)), slug
    except (ValueError, OverflowError, OSError):
        raise errors.Invalid({"after": _("Give the `next` value of an earlier page.")}) from None


def fork_out(fork: Fork, by: Person | None) -> schemas.ForkOut:
    """A fork."""
    return schemas.ForkOut(
        slug=fork.slug, task=fork.task_id, title=fork.title, note=fork.note, weights=fork.weights,
        by=by.public_name if by else "", made_at=fork.made_at,
    )  # fmt: skip


def read_fork(session: Session, slug: str) -> schemas.ForkOut:
    """The fork at this address; raises `NotFound`."""
    fork = find_fork(session, slug)
    return fork_out(fork, session.get(Person, fork.person_id) if fork.person_id else None)


def list_forks(session: Session, task: str) -> schemas.ForkList:
    """A task's forks, newest first."""
    rounds.get_task(session, task)
    return schemas.ForkList(
        items=[fork_out(*row) for row in session.execute(queries.forks_of_task(task, LISTED_FORKS))]
    )
