"""Metrics from repositories of the hub: named with the commit whose code a person trusts, computed in the sandbox."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

import dynabench
from dynabench.benchmark.evaluations.measures import comparison_columns
from dynabench.evaluate.inputs import ModuleOption
from dynabench.evaluation_modules import service as modules
from dynabench.hubs import queries as hub_queries
from dynabench.hubs.problems import RepositoryMissing, RevisionMissing
from dynabench.hubs.tables import HubRepository, RepositoryKind
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.sandbox.available import sandbox
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.open_evaluations.kinds import OpenTask, RoleKind
from dynabench.open_evaluations.metrics import ComputedScore, ScoredAnswers, numbers_of, with_interval
from dynabench.people.accounts.tables import Person
from dynabench.published_modules import loading, repositories, trust
from dynabench.published_modules.manifest import ModuleManifest
from dynabench.published_modules.repositories import COMMIT
from dynabench.published_modules.sandboxed import sandbox_module

PREFIX = "hub:"
REFERENCE = re.compile(
    r"hub:(?P<repository>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9_][\w.-]{0,95})(?:@(?P<revision>[\w./-]{1,100}))?"
    r"(?::(?P<options>.*))?"
)
LIMITS = HandlerOptions(
    memory_mb=1024, disk_mb=16, processors=1, processes=8, open_files=128, predict_seconds=60.0, load_seconds=60.0
)
"""What one metric may take for one model; see `HandlerOptions`."""
OFFERED_MODULES = 20
PREDICTIONS, REFERENCES = "predictions", "references"
SHOWN_DIGITS = 12
"""Digits of a commit in the names of scores."""


@dataclass(frozen=True)
class PublishedMetric:
    """A metric `hub:OWNER/NAME@REVISION:option=value`; an empty revision is the newest commit."""

    repository: str
    revision: str
    options: str

    @property
    def text(self) -> str:
        """The metric as people name it."""
        revision = f"@{self.revision}" if self.revision else ""
        return f"{PREFIX}{self.repository}{revision}" + (f":{self.options}" if self.options else "")

    @property
    def title(self) -> str:
        """The name of its scores."""
        return " ".join([f"{PREFIX}{self.repository}@{self.revision[:SHOWN_DIGITS]}", *_split_options(self.options)])


ModuleCode = tuple[ModuleManifest, Mapping[str, bytes]]
"""The declaration of a module, and its files by path."""
OpenModule = Callable[[PublishedMetric], ModuleCode]
"""Gives the code of a metric; raises ValueError where it is not to be had, or not trusted."""


@dataclass(frozen=True)
class PinnedMetric:
    """A metric with its commit; `notice` says what the person has to do before its code runs."""

    text: str
    manifest: ModuleManifest
    notice: str = ""


PinMetric = Callable[[str], PinnedMetric]
"""Pins a metric of a hub to a commit; raises `Invalid` under `metrics`."""


def is_published(text: str) -> bool:
    """True for the name of a metric of a hub."""
    return text.startswith(PREFIX)


def parse_published(text: str) -> PublishedMetric:
    """Return the metric that a text names. Raises `Invalid` under `metrics`."""
    match = REFERENCE.fullmatch(text)
    if match is None or ".." in text:
        message = _("%(name)s names no metric of the hub. Give hub:owner/name or hub:owner/name@commit.",
                    name=repr(text[:80]))  # fmt: skip
        raise errors.Invalid({"metrics": message})
    return PublishedMetric(match["repository"], match["revision"] or "", match["options"] or "")


def pin_on_platform(session: Session, settings: Settings, viewer: Person | None, text: str) -> PinnedMetric:
    """Pin a metric of the platform's hub that a person may read. Its code runs once they name the commit themselves.

    Raises `Invalid` under `metrics`.
    """
    metric = parse_published(text)
    try:
        manifest, commit = _read_module(session, settings, viewer, metric)
        check_usable(manifest, metric)
        sandbox(Path(dynabench.__file__).parent)
    except ValueError as problem:
        raise errors.Invalid({"metrics": str(problem)[:500]}) from None
    except errors.Unavailable as problem:
        raise errors.Invalid({"metrics": problem.detail}) from None
    pinned = replace(metric, revision=commit).text
    notice = "" if metric.revision == commit else _(
        "%(name)s is code of another person. Read it at %(page)s, then choose the commit that you trust: %(pinned)s",
        name=metric.repository, page=f"/hub/spaces/{metric.repository}", pinned=pinned,
    )  # fmt: skip
    return PinnedMetric(pinned, manifest, notice)


def open_on_platform(database: Database, settings: Settings, person_id: int | None) -> OpenModule:
    """Return the function that reads metrics of the platform's hub for a person, as they may read them now."""

    def read(session: Session, metric: PublishedMetric) -> ModuleCode:
        person = session.get(Person, person_id) if person_id else None
        module = _find_module(session, settings, person, metric)
        if module.manifest is None:
            raise ValueError(module.fault)
        return module.manifest, module.files

    return lambda metric: database.read(read, metric)


def _read_module(
    session: Session, settings: Settings, viewer: Person | None, metric: PublishedMetric
) -> tuple[ModuleManifest, str]:
    module = _find_module(session, settings, viewer, metric)
    if module.manifest is None:
        raise ValueError(module.fault)
    return module.manifest, module.revision


def _find_module(
    session: Session, settings: Settings, viewer: Person | None, metric: PublishedMetric
) -> modules.PublishedModule:
    owner, _slash, name = metric.repository.partition("/")
    try:
        return modules.find_module(session, settings, viewer, owner, name, metric.revision or "main")
    except RepositoryMissing:
        message = _("The hub has no evaluation module %(name)s that you may read. It may have been deleted or hidden.",
                    name=metric.repository)  # fmt: skip
        raise ValueError(message) from None
    except RevisionMissing:
        message = _("%(name)s has no branch, tag or commit %(revision)s.",
                    name=metric.repository, revision=repr(metric.revision))  # fmt: skip
        raise ValueError(message) from None


def pin_trusted(text: str) -> PinnedMetric:
    """Pin a metric of the hub of `HF_ENDPOINT` that the user of this machine trusts. Raises `Invalid`."""
    metric = parse_published(text)
    try:
        reference = repositories.parse_reference(metric.repository, metric.revision or None)
        pinned = replace(metric, revision=repositories.resolve_commit(reference))
        manifest, _files = open_trusted(pinned)
        check_usable(manifest, metric)
    except ValueError as problem:
        raise errors.Invalid({"metrics": str(problem)[:800]}) from None
    return PinnedMetric(pinned.text, manifest)


def open_trusted(metric: PublishedMetric) -> ModuleCode:
    """Return the code of a metric of the hub of `HF_ENDPOINT`. Raises ValueError, also where it is not trusted."""
    reference = repositories.parse_reference(metric.repository, metric.revision)
    digest = trust.check_trust(metric.repository, metric.revision, None, reference.pinned)
    files = repositories.fetch_files(reference, metric.revision)
    trust.check_digest(files, digest)
    return loading.declared_files(files)


def check_usable(manifest: ModuleManifest, metric: PublishedMetric) -> None:
    """Refuse a module that is no metric of predictions and references. Raises ValueError."""
    required = set(manifest.takes) - set(manifest.optional)
    if manifest.kind != "metric" or required != {PREDICTIONS, REFERENCES}:
        message = _("%(name)s is no metric of predictions and references; it is a %(kind)s of %(columns)s.",
                    name=metric.repository, kind=manifest.kind, columns=", ".join(sorted(required)))  # fmt: skip
        raise ValueError(message)
    read_options(manifest, metric)


def check_task(pinned: PinnedMetric, task: OpenTask) -> None:
    """Refuse answers that no published metric can read. Raises `Invalid` under `metrics`."""
    if task.reference.kind is RoleKind.TAGS:
        message = _("%(name)s cannot read tags. Metrics of the hub compare labels, numbers and texts.",
                    name=pinned.text)  # fmt: skip
        raise errors.Invalid({"metrics": message})


def read_options(manifest: ModuleManifest, metric: PublishedMetric) -> dict[str, Any]:
    """Return the options of a metric by name. Raises ValueError for those that its module does not have."""
    options: dict[str, Any] = {}
    for part in _split_options(metric.options):
        name, _equals, value = part.partition("=")
        option: ModuleOption | None = manifest.options.get(name)
        if option is None:
            known_names = ", ".join(manifest.options) or _("none")
            message = _("%(name)s has no option %(option)s; its options are %(known)s.",
                        name=metric.repository, option=repr(name[:40]), known=known_names)  # fmt: skip
            raise ValueError(message)
        options[name] = option.read(value)
    return options


def _split_options(text: str) -> list[str]:
    return re.split(r",(?=\w+=)", text) if text else []


def compute_published(
    metric: PublishedMetric, open_module: OpenModule, answers: ScoredAnswers, digest: str
) -> Iterator[ComputedScore]:
    """Yield the numbers of a metric of the hub, each with its 95 % interval over the same samples as other metrics.

    Raises ValueError where the module is gone, refuses the answers, fails, hangs or takes too much.
    """
    manifest, files = open_module(metric)
    columns = _columns(manifest, answers)
    options = read_options(manifest, metric)
    with sandbox_module(manifest, files, None, revision=metric.revision, limits=LIMITS, **options) as module:
        result = module.compute(**columns)
        try:
            drawn = module.replicates(columns, digest)
        except ValueError:
            drawn = {}
    better = {output.name: output.better or "" for output in manifest.card.outputs}
    for key in numbers_of([output.name for output in manifest.card.outputs], result):
        score = with_interval(metric.title, key, float(result[key]), len(answers.predictions), drawn.get(key))
        yield replace(score, better=better.get(key, ""))


def _columns(manifest: ModuleManifest, answers: ScoredAnswers) -> dict[str, Any]:
    """Predictions and references in the form that the module declares."""
    several = manifest.takes[REFERENCES] == "references"
    columns: dict[str, Any] = comparison_columns(answers.field, answers.predictions, answers.right, several)
    for name in (PREDICTIONS, REFERENCES):
        if manifest.takes[name] in ("numbers", "weights"):
            columns[name] = [_number(value) for value in columns[name]]
    return columns


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        message = _("The metric compares numbers, and an answer is %(answer)s.", answer=repr(str(value)[:40]))
        raise ValueError(message) from None


@dataclass(frozen=True)
class OfferedModule:
    """An evaluation module of the hub: what names it as a metric, at the newest commit."""

    reference: str
    name: str
    commit: str


def offered_modules(session: Session, viewer: Person) -> list[OfferedModule]:
    """Return the evaluation modules of the hub that a person may read, those that changed last first."""
    statement = hub_queries.listed_repositories(viewer, RepositoryKind.EVALUATION).order_by(
        HubRepository.changed_at.desc(), HubRepository.id.desc()
    )
    rows = session.execute(statement.limit(OFFERED_MODULES)).all()
    names = [(f"{namespace.name}/{repository.name}", repository.head) for repository, namespace in rows]
    return [OfferedModule(f"{PREFIX}{name}@{head}", name, head) for name, head in names if COMMIT.fullmatch(head or "")]
