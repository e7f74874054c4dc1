"""Models in repositories of the platform's own hub: pinned to a commit, and made into a folder for one evaluation.

A repository holds a model folder with `model.yaml`, or what `save_pretrained` of the transformers library writes.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sqlalchemy.orm import Session

from dynabench.benchmark.registry.trial import OUTSIDE
from dynabench.hubs import reading, service
from dynabench.hubs.file_store import HubFileStore
from dynabench.hubs.git_store import GitStore, TreeEntry
from dynabench.hubs.problems import RepositoryMissing, RevisionMissing
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import RepositoryKind
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import archives, kinds, spec
from dynabench.models.starting import described
from dynabench.people.accounts.tables import Person
from dynabench.tasks.config import TaskConfig

PREFIX = "hub:"
REFERENCE = re.compile(
    r"(?:hub:)?(?P<repository>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?:@(?P<revision>[\w./-]{1,100}))?"
)
CONFIG, WEIGHTS = "config.json", ".safetensors"
SHOWN_DIGITS = 12
"""Digits of a commit in the names of models."""
PinModel = Callable[[str], str]
"""Pins a model of the hub to a commit; raises `Invalid` under `models`."""


def is_repository(reference: str) -> bool:
    """Return whether a reference names a repository of this platform's hub: `hub:OWNER/NAME`, `OWNER/NAME@REVISION`."""
    match = REFERENCE.fullmatch(reference)
    return reference.startswith(PREFIX) or (match is not None and match["revision"] is not None)


def repository_name(reference: str) -> str:
    """Return `OWNER/NAME`."""
    return reference.removeprefix(PREFIX).partition("@")[0]


def shown_name(reference: str) -> str:
    """Return the name of a pinned model on boards: `OWNER/NAME@` and the first digits of the commit."""
    name, _at, commit = reference.removeprefix(PREFIX).partition("@")
    return f"{name}@{commit[:SHOWN_DIGITS]}"


def pin_on_platform(session: Session, settings: Settings, viewer: Person | None, reference: str) -> str:
    """Return the reference with the commit that it means now, for a person who may read the repository.

    Raises `Invalid` under `models` also where the repository holds no model.
    """
    entry, commit = _find(session, settings, viewer, reference)
    _model_files(session, settings, entry, commit)
    return f"{PREFIX}{entry.full_name}@{commit}"


def refuse_repository(reference: str) -> str:
    """Refuse a repository where no platform is. Raises `Invalid` under `models`."""
    message = _("%(name)s is a repository of a platform's hub. Evaluate it there with --server.", name=reference)
    raise errors.Invalid({"models": message})


@dataclass(frozen=True)
class RepositoryModel:
    """The files of a model at a commit; `folder` is the git repository, `name` what the model is called."""

    folder: str
    name: str
    files: Sequence[reading.FileFacts]


def open_repository(session: Session, settings: Settings, viewer: Person | None, reference: str) -> RepositoryModel:
    """Return the model of a pinned reference, for a person who may read it now. Raises `Invalid` under `models`."""
    entry, commit = _find(session, settings, viewer, reference)
    return RepositoryModel(entry.row.folder, entry.row.name, _model_files(session, settings, entry, commit))


def make_repository_folder(
    settings: Settings, model: RepositoryModel, describe: Callable[[], TaskConfig], into: Path
) -> Path:
    """Make the folder of a model below `into`, with the checks of a submitted model folder.

    `describe` gives the config by which a model without `model.yaml` is described. Raises `Invalid`.
    """
    into.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = re.sub(r"[^a-z0-9._-]+", "-", model.name.lower()).strip("-._")[:64] or "model"
    with tempfile.TemporaryDirectory(prefix=".model-", dir=into) as place:
        folder = Path(place) / "files"
        _copy_files(settings, model, folder)
        if not (folder / spec.FILE).is_file():
            folder = described.from_folder(folder, name, describe(), Path(place) / "made")
        archives.check(folder)
        _check_kind(folder)
        return folder.rename(into / name)


def finished_folder(into: Path) -> Path | None:
    """Return the folder of a model that was made below `into` before; None where there is none."""
    finished = sorted(into.glob(f"*/{spec.FILE}"))
    return finished[0].parent if finished else None


def _find(session: Session, settings: Settings, viewer: Person | None, reference: str) -> tuple[HubEntry, str]:
    match = REFERENCE.fullmatch(reference)
    name = match["repository"] if match else reference.removeprefix(PREFIX)
    revision = (match["revision"] if match else "") or service.MAIN
    owner, _slash, own_name = name.partition("/")
    try:
        entry = service.find_entry(session, viewer, RepositoryKind.MODEL, owner, own_name)
        return entry, service.resolve_revision(session, settings, entry, revision)
    except RepositoryMissing:
        message = _("The hub has no model %(name)s that you may read. It may have been deleted or hidden.",
                    name=repr(name[:140]))  # fmt: skip
    except RevisionMissing:
        message = _("%(name)s has no branch, tag or commit %(revision)s.", name=name, revision=repr(revision))
    raise errors.Invalid({"models": message})


def _model_files(session: Session, settings: Settings, entry: HubEntry, commit: str) -> Sequence[reading.FileFacts]:
    """The files of the model at a commit: all but hidden ones, or those that transformers reads."""
    blobs = GitStore.of(settings, entry.row.folder).files(commit)
    paths = [path for path in blobs if not any(part.startswith(".") for part in PurePosixPath(path).parts)]
    if spec.FILE not in blobs:
        readable = kinds.kind("transformers").files or frozenset()
        paths = [path for path in paths if "/" not in path and PurePosixPath(path).suffix in readable]
        if CONFIG not in paths or not any(path.endswith(WEIGHTS) for path in paths):
            message = _("%(name)s holds no model: neither model.yaml, nor config.json with weights as safetensors.",
                        name=entry.full_name)  # fmt: skip
            raise errors.Invalid({"models": message})
    entries = [TreeEntry(path, blobs[path], False) for path in paths]
    facts = list(reading.file_facts(session, GitStore.of(settings, entry.row.folder), entry, entries))
    if len(facts) > archives.FILES or sum(fact.size for fact in facts) > archives.LARGEST:
        raise errors.Invalid({"models": f"{entry.full_name}: {archives.TOO_MUCH}"})
    return facts


def _copy_files(settings: Settings, model: RepositoryModel, folder: Path) -> None:
    store, large = GitStore.of(settings, model.folder), HubFileStore.of(settings)
    for facts in model.files:
        target = folder / archives.checked_name(facts.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if facts.large is None:
            target.write_bytes(store.blob(facts.entry.revision))
            continue
        stored_file = large.path(facts.large.digest)
        if not stored_file.is_file():
            raise errors.Invalid({"models": _("The file %(name)s is gone from the hub.", name=facts.path)})
        shutil.copyfile(stored_file, target)


def _check_kind(folder: Path) -> None:
    """Refuse kinds that answer elsewhere or ask other models, as for submitted folders. Raises `Invalid`."""
    details = spec.read(folder)
    if not kinds.kind(details.kind).inside:
        raise errors.Invalid({"models": OUTSIDE})
    if members := kinds.kind(details.kind).asks(details.options):
        message = _("It asks other models (%(names)s). Submit it to a task instead.", names=", ".join(members)[:200])
        raise errors.Invalid({"models": message})
