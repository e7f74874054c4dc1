"""Releases as pages and the API show them, with the gaps of models between the public and the hidden test part.

A gap is a sign that a model has seen the public part. The parts were drawn at random from one pool, so a model that saw
neither differs on them by chance alone. A model is flagged where an exact one-sided test of that, corrected by Holm's
method over all models and all rounds of the task that the viewer sees, is below 5 %: the chance of any false flag among
all of them is then 5 % at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import hypot
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.measures import ACCURACIES
from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.releases import service
from dynabench.benchmark.releases.description import bibtex_entry
from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import MANIFEST_NAME, ReleaseFile, ReleaseManifest
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard
from dynabench.collection.tables import WITHHELD
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.p_values import holm, random_split_p_value


class RulesIn(StrictModel):
    """The rules for dividing the examples; a missing rule is that of the task's config."""

    train: float | None = Field(None, ge=0, le=1)
    dev: float | None = Field(None, ge=0, le=1)
    test: float | None = Field(None, ge=0, le=1)
    hidden: float | None = Field(None, ge=0, le=1)
    disjoint: list[Literal["writers", "contexts"]] | None = Field(None, max_length=2)
    unverified: Literal["apart", "train"] | None = None
    near_duplicate: float | None = Field(None, ge=0.5, le=1)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)


class ReleaseIn(RulesIn):
    """A release to be made."""

    anyway: bool = Field(False, description="In spite of the warnings of the preview.")


class ReleasePreviewOut(BaseModel):
    """The preview of a release: the rules in force, and the report of the checks."""

    task: str
    round: int
    rules: dict[str, Any]
    report: ReleaseReport


class GapOut(BaseModel):
    """A model on the public and on the hidden part to test on, and the difference: public minus hidden.

    `p` is that of an exact one-sided test whether the model answers more of the public rows right than a random
    division explains, corrected (Holm) over all models and rounds of the task; None where rows cannot be counted. A
    model with a `p` of 0.05 or less is `flagged`: it has probably seen the public part. `n` are numbers of rows.
    """

    model: str
    version: str
    entered_at: datetime
    public: float
    hidden: float
    gap: float
    low: float | None
    high: float | None
    n: tuple[int, int]
    p: float | None = None
    flagged: bool = False


class ReleaseOut(BaseModel):
    """A round's release. Before it is `ready` its task's owners alone see it; `reason` says why it `failed`."""

    task: str
    round: int
    state: str
    reason: str = ""
    id: str = Field("", description="By which it is cited: names the very bytes of all files.")
    digest: str = Field("", description="SHA-256 of manifest.json.")
    licence: str = ""
    canary: str = ""
    rules: dict[str, Any] = {}
    report: ReleaseReport | None = None
    files: list[ReleaseFile] = []
    test: str | None = Field(None, description="The dataset of the public part to test on.")
    hidden: str | None = Field(None, description="The dataset of the hidden part, of which owners know the name alone.")
    citation: str = ""
    created_at: datetime
    released_at: datetime | None = None
    gaps: list[GapOut] = []


class ReleasePage(BaseModel):
    """Releases of a task, newest round first."""

    items: list[ReleaseOut]
    next: str | None = None


LEVEL = 0.05
"""Chance of any false flag on a task."""


@dataclass(frozen=True)
class ScorePair:
    """A model's scores on the public and the hidden part of one release; `p` is None where rows cannot be counted."""

    release: int
    entrant: Entrant
    public: ScoreCell
    hidden: ScoreCell
    p: float | None


def score_gaps(session: Session, settings: Settings, viewer: Person | None, release: Release) -> list[GapOut]:
    """Return the gap of each model that `viewer` may see and that was scored on both parts, the largest first.

    Submissions whose score on the hidden part is withheld (`evaluations.score_ladder`) are left out: a gap would reveal
    it.
    """
    board = read_board(session, viewer, release.task_id, retired=True)
    releases = [ready for ready, _ in service.ready_releases(session, release.task_id)]
    pairs = [pair for ready in releases for pair in _pairs(session, settings, board, ready)]
    corrected = corrected_p([pair.p for pair in pairs])
    gap_outs = []
    for pair, p in zip(pairs, corrected, strict=True):
        if pair.release == release.id:
            gap, low, high = gap_with_limits(pair.public, pair.hidden, board.primary.direction)
            gap_outs.append(
                GapOut(
                    model=pair.entrant.label,
                    version=pair.entrant.version,
                    entered_at=pair.entrant.entered_at,
                    public=pair.public.value,
                    hidden=pair.hidden.value,
                    gap=gap,
                    low=low,
                    high=high,
                    n=(pair.public.n, pair.hidden.n),
                    p=p,
                    flagged=p is not None and p <= LEVEL,
                )
            )
    return sorted(gap_outs, key=lambda pair: (-pair.gap, pair.model))


def corrected_p(values: Sequence[float | None]) -> list[float | None]:
    """Return the p values after Holm's correction over all values that are not None."""
    known_values = [value for value in values if value is not None]
    corrected = iter(holm(known_values).tolist() if known_values else [])
    return [None if value is None else next(corrected) for value in values]


def _pairs(session: Session, settings: Settings, board: TaskBoard, release: Release) -> list[ScorePair]:
    data = {entry.version_id: entry for entry in board.datasets}
    test, hidden = data.get(release.test_id or 0), data.get(release.hidden_id or 0)
    if test is None or hidden is None:
        return []
    primary = board.primary
    both = [
        (entrant, public, secret)
        for entrant in board.entrants
        if not entrant.anonymous and not board.held(entrant, hidden)
        if (public := board.cell(entrant, test, primary)) is not None
        and (secret := board.cell(entrant, hidden, primary)) is not None
    ]
    if primary.name in ACCURACIES:
        counts = [(round(public.value * public.n), round(secret.value * secret.n)) for _, public, secret in both]
        tests: list[float | None] = [
            random_split_p_value(first, public.n, second, secret.n)
            for (first, second), (_, public, secret) in zip(counts, both, strict=True)
        ]
    else:
        tests = _by_rows(session, settings, [entry.id for entry, _, _ in both], test, hidden)
    return [ScorePair(release.id, *entry, p) for entry, p in zip(both, tests, strict=True)]


def _by_rows(
    session: Session, settings: Settings, submissions: Sequence[int], test: ScoredDataset, hidden: ScoredDataset
) -> list[float | None]:
    """The p values by rows that are answered right by the task's rule; None where row scores were not stored."""
    counts: list[dict[int, tuple[int, int]]] = []
    for item in (test, hidden):
        right: dict[int, tuple[int, int]] = {}
        for evaluation in session.scalars(queries.finished_evaluations(submissions, item.version_id)):
            rows = row_scores.read_row_scores(settings, evaluation.id)
            if rows is not None:
                right[evaluation.submission_id] = (int((rows[1] > 0.5).sum()), rows.shape[1])
        counts.append(right)
    public, secret = counts
    return [
        random_split_p_value(*public[item], *secret[item]) if item in public and item in secret else None
        for item in submissions
    ]


def gap_with_limits(
    public: ScoreCell, hidden: ScoreCell, direction: int = 1
) -> tuple[float, float | None, float | None]:
    """Return how much better the first score is than the second, with limits; these are None where a score has none.

    The limits follow from those of both scores, whose rows are independent of each other: Zou and Donner,
    Statistics in Medicine 27 (2008) 1693-1702.
    """
    value = public.value - hidden.value
    if None in (public.low, public.high, hidden.low, hidden.high):
        return direction * value, None, None
    down = hypot(public.value - (public.low or 0.0), (hidden.high or 0.0) - hidden.value)
    up = hypot((public.high or 0.0) - public.value, hidden.value - (hidden.low or 0.0))
    low, high = value - down, value + up
    return (value, low, high) if direction > 0 else (-value, -high, -low)


def release_with_gaps(
    session: Session, settings: Settings, address: str, viewer: Person | None, task: str, number: int
) -> ReleaseOut:
    """Return a round's release with the gaps of models; `NotFound` where the viewer may see none.

    `address` is that of the platform, for citations.
    """
    release = service.visible_release(session, viewer, task, number)
    view = release_out(session, address, release, session.get_one(Round, release.round_id))
    return view.model_copy(update={"gaps": score_gaps(session, settings, viewer, release)})


def release_page(session: Session, address: str, task: str) -> ReleasePage:
    """Return all ready releases of a task, without gaps."""
    return ReleasePage(items=[release_out(session, address, *entry) for entry in service.ready_releases(session, task)])


def release_out(session: Session, address: str, release: Release, round_: Round) -> ReleaseOut:
    """Return the public view of a release; of the hidden part it has the size alone."""
    config = rounds.config_of(session, round_.version_id)
    fields: dict[str, Any] = {
        "task": release.task_id,
        "round": round_.number,
        "state": release.state,
        "reason": release.reason,
        "licence": config.data.licence,
        "rules": release.rules,
        "report": public_report(service.release_report(release)),
        "created_at": release.created_at,
        "released_at": release.released_at,
        "test": _name(session, release.test_id),
        "hidden": _name(session, release.hidden_id),
    }
    if release.state != ReleaseState.READY:
        return ReleaseOut(**fields)
    manifest = ReleaseManifest.model_validate(release.manifest)
    location = f"{address.rstrip('/')}/tasks/{release.task_id}/rounds/{round_.number}/release"
    title = f"{config.name}, round {round_.number}"
    own = ReleaseFile(path=MANIFEST_NAME, bytes=len(manifest.text()), sha256=release.digest)
    return ReleaseOut(
        **fields,
        id=identifier(release.task_id, round_.number, release.digest),
        digest=release.digest,
        canary=manifest.canary,
        files=[*manifest.files, own],
        citation=bibtex_entry(release.task_id, round_.number, title, manifest.closed_at, location, release.digest),
    )


def public_report(report: ReleaseReport | None) -> ReleaseReport | None:
    """Return a report without the answers and writers of the hidden parts."""
    if report is None:
        return None
    public = {
        name: {part: value for part, value in getattr(report, name).items() if part not in WITHHELD}
        for name in ("labels", "writers")
    }
    return report.model_copy(update=public)


def identifier(task: str, number: int, digest: str) -> str:
    """Return a short name that contains the start of the digest."""
    return f"dynabench:{task}.r{number}.{digest[:16]}"


def _name(session: Session, version: int | None) -> str | None:
    dataset_version = session.get(DatasetVersion, version) if version else None
    return session.get_one(Dataset, dataset_version.dataset_id).name if dataset_version else None


def downloadable_release(session: Session, viewer: Person | None, task: str, number: int) -> Release:
    """Return the release whose files the viewer may download: a ready one, to logged-in viewers only if the task has
    a content warning."""
    release = service.visible_release(session, viewer, task, number)
    if release.state != ReleaseState.READY:
        raise errors.Conflict(_("The files of this release are still being written."))
    if viewer is None and rounds.task_config(session, task).content_warning:
        raise errors.Unauthenticated(_("This task has a content warning. Log in to download the files."))
    return release
