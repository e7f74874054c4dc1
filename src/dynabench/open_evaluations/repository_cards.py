"""Results of open evaluations in the cards of models' repositories on the hub: by a commit, or as a pull request."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.evaluate.cards import CardError, split_card
from dynabench.evaluate.cards.card_text import CardText, decode_card
from dynabench.evaluate.cards.model_index import KEY, CardResult, merge_results
from dynabench.hubs import commits, discussions, service
from dynabench.hubs import queries as hub_queries
from dynabench.hubs.card import README
from dynabench.hubs.commits import CommitOutcome, CommitRequest
from dynabench.hubs.git_store import GitStore, blob_of
from dynabench.hubs.problems import CommitOverdue, RepositoryMissing
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import DiscussionState, HubNamespace, HubRepository, RepositoryKind
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import queries
from dynabench.open_evaluations.card_results import card_model_name, signed_results
from dynabench.open_evaluations.repository_models import is_repository, repository_name
from dynabench.open_evaluations.service import VisibleEvaluation, find_changeable
from dynabench.open_evaluations.tables import CardLocation, CardState, ModelCardEntry, OpenEvaluationModel, OpenState
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds.service import record_act

TRIES = 5
log = logging.getLogger(__name__)
ADDED, REMOVED = "Add evaluation results", "Remove evaluation results"


@dataclass(frozen=True)
class RepositoryEntry:
    """A model of an evaluation and its entry in a repository; `suggested` is the repository that it is likely of.

    `state` is empty without an entry, else the state of the pull request, or `shown`.
    """

    model: OpenEvaluationModel
    entry: ModelCardEntry | None
    name: str
    suggested: str
    state: str


def repository_entries(session: Session, person: Person, seen: VisibleEvaluation) -> list[RepositoryEntry]:
    """Return the models of an evaluation that are done, with their entries in repositories."""
    rows = {
        row.model: row
        for row in session.scalars(queries.card_entries(seen.evaluation.id))
        if row.place == CardLocation.REPOSITORY
    }
    entries = []
    for model in seen.models:
        if model.state != OpenState.DONE:
            continue
        row = rows.get(model.number)
        hub_entry = _entry_of(session, row) if row else None
        name = hub_entry.full_name if hub_entry else ""
        state = _state(session, row, hub_entry) if row and hub_entry else ""
        entries.append(RepositoryEntry(model, row, name, _suggest(session, person, model), state))
    return entries


def _entry_of(session: Session, row: ModelCardEntry) -> HubEntry | None:
    repository = session.get(HubRepository, row.repository_id) if row.repository_id else None
    namespace = session.get(HubNamespace, repository.owner_id) if repository else None
    return HubEntry(repository, namespace.name) if repository and namespace else None


def _state(session: Session, row: ModelCardEntry, entry: HubEntry) -> str:
    if not row.pull:
        return row.state
    state = discussions.find_discussion(session, entry, row.pull).state
    return CardState.ON_CARD if state == DiscussionState.MERGED else state


def _suggest(session: Session, person: Person, model: OpenEvaluationModel) -> str:
    """The repository that the model is called after: its own id, or one of the person's own with its name."""
    own = session.get(HubNamespace, person.id)
    names = [repository_name(model.reference)] if "/" in model.reference else []
    names += [f"{own.name}/{model.name.rpartition('/')[2]}"] if own else []
    for name in names:
        namespace, _slash, own_name = name.partition("/")
        if session.execute(hub_queries.repository_named(RepositoryKind.MODEL, namespace, own_name)).first():
            return name
    return ""


@dataclass(frozen=True)
class _Change:
    """A change of a card: the repository, the edit of the card, and the text of the commit."""

    entry: HubEntry
    change: Callable[[CardText], CardText]
    title: str
    body: str


def add_to_repository(
    db: Database, settings: Settings, person: Person, id: int, number: int, repository: str, site: str
) -> CommitOutcome:
    """Merge the results of a model into the card of a repository: a commit for its owner, else a pull request.

    All other text of the card stays. Raises `Invalid` under `repository`, `Conflict`, or what a commit raises.
    """
    tokens: list[str] = []

    def begin(session: Session) -> tuple[HubEntry, bool, str]:
        seen = find_changeable(session, person, id)
        model = _done_model(seen, number)
        if session.get(ModelCardEntry, (id, number, CardLocation.REPOSITORY)) is not None:
            raise errors.Conflict(_("The results of this model are in a repository already. Take them back first."))
        entry = _find_repository(session, person, repository)
        direct = bool(may.may(person, Action.CHANGE_REPOSITORY, author=entry.row.owner_id))
        seen.evaluation.listed = True
        return entry, direct, repository_name(model.reference) if is_repository(model.reference) else model.name

    entry, direct, name = db.write(begin)

    def merge(card: CardText) -> CardText:
        model_name = card_model_name(card, name)
        results = db.read(_results, settings, person, id, number, model_name, site)
        tokens[:] = [result.verify_token or "" for result in results]
        return merge_results(card, results, model_name=model_name, overwrite=True)

    body = f"Measured by {site}, open evaluation {id}."
    outcome = _write_card(db, settings, person, _Change(entry, merge, ADDED, body), not direct)

    def keep(session: Session) -> None:
        state = CardState.ON_CARD if direct else CardState.PROPOSED
        session.merge(
            ModelCardEntry(
                evaluation_id=id, model=number, place=CardLocation.REPOSITORY, target=name, repository_id=entry.row.id,
                state=state, revision=outcome.revision, pull=outcome.number, tokens=tokens,
            )
        )  # fmt: skip
        subject = {"evaluation": id, "model": name, "repository": entry.full_name, "pull": outcome.number}
        record_act(session, person, "open_evaluation.repository_card", **subject)

    db.write(keep)
    return outcome


def add_to_own_repositories(db: Database, settings: Settings, person: Person, id: int, site: str) -> None:
    """Add the results of each model that came from a repository of the hub to the card there, once.

    A card that cannot be changed stays as it is; the author can add the results by hand.
    """
    entries = db.read(lambda session: repository_entries(session, person, find_changeable(session, person, id)))
    for item in entries:
        if item.entry is None and is_repository(item.model.reference):
            try:
                name = repository_name(item.model.reference)
                add_to_repository(db, settings, person, id, item.model.number, name, site)
            except errors.Problem as problem:
                log.warning("open evaluation %s, card of %s: %s", id, item.model.reference, problem.detail)


def remove_from_repository(db: Database, settings: Settings, person: Person, id: int, number: int) -> None:
    """Take the results of a model back: the pull request is closed, or a commit or a pull request removes them."""

    def begin(session: Session) -> tuple[HubEntry | None, ModelCardEntry, bool]:
        find_changeable(session, person, id)
        row = session.get(ModelCardEntry, (id, number, CardLocation.REPOSITORY))
        if row is None:
            raise errors.Conflict(_("No results of this model are in a repository."))
        entry = _entry_of(session, row)
        if entry is None:
            return None, row, False
        if row.pull and _state(session, row, entry) != CardState.ON_CARD:
            if discussions.find_discussion(session, entry, row.pull).state != DiscussionState.CLOSED:
                discussions.change_state(session, person, entry, row.pull, DiscussionState.CLOSED)
            return None, row, False
        return entry, row, bool(may.may(person, Action.CHANGE_REPOSITORY, author=entry.row.owner_id))

    entry, row, direct = db.write(begin)
    if entry is not None:
        body = "Taken back by the author of the evaluation."
        change = _Change(entry, lambda card: without_tokens(card, row.tokens), REMOVED, body)
        _write_card(db, settings, person, change, not direct)

    def forget(session: Session) -> None:
        present_row = session.get(ModelCardEntry, (id, number, CardLocation.REPOSITORY))
        if present_row is not None:
            session.delete(present_row)
            record_act(session, person, "open_evaluation.card_removed", evaluation=id, model=row.target)

    db.write(forget)


def without_tokens(card: CardText, tokens: Sequence[str]) -> CardText:
    """Return the card without the results that have these tokens; all its other values stay. Raises `CardError`."""
    present = card.metadata().get(KEY)
    if not isinstance(present, list):
        return card
    models = []
    for model in present:
        groups = model.get("results") if isinstance(model, dict) else None
        if not isinstance(groups, list):
            models.append(model)
            continue
        other_groups = [group for group in (_group_without(group, tokens) for group in groups) if group is not None]
        if other_groups or not groups:
            models.append({**model, "results": other_groups})
    return card.with_value(KEY, models)


def _group_without(group: object, tokens: Sequence[str]) -> object | None:
    metrics = group.get("metrics") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(metrics, list):
        return group
    other_metrics = [item for item in metrics if not isinstance(item, dict) or item.get("verifyToken") not in tokens]
    return {**group, "metrics": other_metrics} if other_metrics or not metrics else None


def _done_model(seen: VisibleEvaluation, number: int) -> OpenEvaluationModel:
    model = next((model for model in seen.models if model.number == number), None)
    if model is None or model.state != OpenState.DONE or seen.evaluation.state != OpenState.DONE:
        raise errors.Conflict(_("This model is not done in this evaluation."))
    return model


def _find_repository(session: Session, person: Person, name: str) -> HubEntry:
    namespace, _slash, own_name = name.strip().partition("/")
    try:
        return service.find_entry(session, person, RepositoryKind.MODEL, namespace, own_name)
    except RepositoryMissing:
        message = _("The hub has no model %(name)s that you may read. Give its name as owner/name.", name=repr(name))
        raise errors.Invalid({"repository": message}) from None


def _results(
    session: Session, settings: Settings, person: Person, id: int, number: int, model_name: str, site: str
) -> list[CardResult]:
    seen = find_changeable(session, person, id)
    return signed_results(session, settings, seen.evaluation, _done_model(seen, number), model_name, site)


def _write_card(db: Database, settings: Settings, person: Person, change: _Change, proposes: bool) -> CommitOutcome:
    """Change the README.md of a repository on its newest commit; begun again where another commit comes first."""
    store = GitStore.of(settings, change.entry.row.folder)
    for _try in range(TRIES):
        head = db.read(service.resolve_revision, settings, change.entry, service.MAIN)
        item = store.find(head, README)
        try:
            before = decode_card(store.blob(item.revision)) if item and not item.folder else ""
            after = str(change.change(split_card(before)))
        except CardError as error:
            message = _("The card of %(name)s cannot take this: %(why)s", name=change.entry.full_name, why=str(error))
            raise errors.Invalid({"repository": message}) from None
        if after == before:
            return CommitOutcome(head)
        blob = blob_of(after.encode())
        request = CommitRequest(change.title, change.body, head, {README: blob.id.decode()})
        request.new_bytes = store.write([blob])
        try:
            return commits.commit_changes(db, settings, person, change.entry, service.MAIN, request, proposes=proposes)
        except CommitOverdue:
            continue
    raise errors.Unavailable(_("Too many commits to this branch at the same time."), retry_after=2)
