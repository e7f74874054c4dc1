"""Datasets as programs and pages see them."""

import re

from sqlalchemy.orm import Session

from dynabench.datasets import library, library_queries
from dynabench.datasets.library_schemas import DatasetFull, DatasetOut, DatasetPage, DatasetVersionOut
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

VERSIONS = LISTED = 50  # on a page
CURSOR = re.compile(r"([a-z0-9-]{1,60})\.([01])\.([a-z0-9-]{1,62})")


def version_out(session: Session, dataset: Dataset, version: DatasetVersion, owner: bool) -> DatasetVersionOut:
    """Return a version; refused rows, progress and the small slices of what is hidden are for owners."""
    disclosure = Disclosure.of(None, dataset, owner=owner)
    slices = {name: n for name, n in version.slices.items() if disclosure.shows_tag(n, version.rows)}
    out = DatasetVersionOut(
        number=version.number, state=version.state, digest=version.digest, rows=version.rows, slices=slices,
        created_at=version.created_at,
    )  # fmt: skip
    if owner:
        out.reason = version.reason
        if version.job_id:
            out.refused = session.scalar(library_queries.refused(version.job_id))
            job = session.get(jobs.Job, version.job_id)
            done = (job.done if job else None) or {}
            if version.state == DatasetState.READING:
                out.progress = {name: done.get(name, 0) for name in ("rows", "refused", "bytes", "of")}
    return out


def _common(session: Session, found: Dataset, version: DatasetVersion | None, owner: bool) -> dict[str, object]:
    shown = version_out(session, found, version, owner) if version else None
    return {
        "task": found.task_id, "name": found.name, "title": found.title, "kind": found.kind,
        "visibility": found.visibility, "licence": found.licence, "languages": found.languages,
        "source": found.source, "weight": found.weight, "retired": found.retired_at is not None,
        "created_at": found.created_at, "version": shown,
    }  # fmt: skip


def page(
    session: Session, viewer: Person | None, task: str = "", q: str = "", after: str = "", limit: int = LISTED
) -> DatasetPage:
    """A page of the datasets that the viewer may see."""
    if task:
        rounds.task(session, task)
    sought = library.sought(session, viewer, task, q)
    found = session.execute(library_queries.listed(sought, _place(after)).limit(limit + 1)).all()
    items = [DatasetOut.model_validate(_common(session, each, version, False)) for each, version in found[:limit]]
    last = found[limit - 1][0] if len(found) > limit else None
    following = f"{last.task_id}.{int(last.retired_at is not None)}.{last.name}" if last else None
    hidden = session.scalar(library_queries.hidden(task)) if task else None
    return DatasetPage(items=items, next=following, hidden=hidden)


def counts(session: Session, viewer: Person | None, q: str = "") -> dict[str, int]:
    """Return the number of datasets that the viewer may see, by task."""
    return dict(session.execute(library_queries.counts(library.sought(session, viewer, "", q))).all())


def _place(after: str) -> library_queries.Place | None:
    """The place that a page's cursor stands for; None for the first page."""
    if not after:
        return None
    if not (found := CURSOR.fullmatch(after)):
        raise errors.Invalid({"after": _("Give the `next` of an earlier page.")})
    return found[1], found[2] == "1", found[3]


def full(session: Session, viewer: Person | None, task: str, name: str, warning: str = "") -> DatasetFull:
    """A dataset with its versions; those that are not ready are for owners."""
    found = library.find(session, viewer, task, name)
    owner = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, task))
    current = session.get(DatasetVersion, found.version_id) if found.version_id else None
    versions = session.scalars(library_queries.versions(found.id).limit(VERSIONS))
    shown = [version_out(session, found, each, owner) for each in versions if owner or each.state == DatasetState.READY]
    common = _common(session, found, current, owner)
    return DatasetFull.model_validate({**common, "card": found.card, "versions": shown, "warning": warning})


def version(session: Session, person: Person | None, task: str, name: str, number: int) -> DatasetVersion:
    """A version of a dataset, for owners."""
    found = library.owned(session, person, task, name)
    for each in session.scalars(library_queries.versions(found.id)):
        if each.number == number:
            return each
    raise errors.NotFound(_("Dataset %(name)s has no version %(number)s.", name=repr(name), number=number))
