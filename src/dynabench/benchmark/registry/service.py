"""The models that a person may see, and who may change that. Knows no web framework.

A model's state comes from its host (`models.client.ModelState`), its visibility from the listing. For a person who
may not see a model, there is no model of that name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries
from dynabench.benchmark.registry.tables import ModelListing
from dynabench.collection import statistics
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _, joined
from dynabench.models.client import ModelHealth, ModelState
from dynabench.models.protocol import ModelCard
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import ModelVisibility, shows_model
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds.service import record_act
from dynabench.stats.rates import Rate

VISIBILITIES = tuple(ModelVisibility)
NOTE = 500  # characters of a note
ROUNDS = 30  # rounds of a model that are listed

Healths = Mapping[tuple[str, str], ModelHealth]
"""By name and version."""


@dataclass(frozen=True)
class ModelCopy:
    """A version of a model, on one host or several.

    `where` and `reason` are vague for all but those who look after the model.
    """

    version: str
    state: str
    reason: str
    where: str
    card: ModelCard | None
    health: ModelHealth | None
    available: bool

    @property
    def asleep(self) -> bool:
        """True if the next call loads it."""
        return self.available and self.state != "READY"


@dataclass(frozen=True)
class ListedModel:
    """A model as one viewer sees it. `copies` are its versions by host; the first that is ready stands first."""

    name: str
    task: str
    copies: tuple[ModelCopy, ...]
    visibility: str = "public"
    keeper: str = ""
    note: str = ""
    may_change: bool = False
    may_name_keeper: bool = False

    @property
    def copy(self) -> ModelCopy:
        """The one that answers when no version is asked for."""
        return self.copies[0]

    @property
    def card(self) -> ModelCard | None:
        """Its card; None where every version is broken."""
        return next((copy.card for copy in self.copies if copy.card), None)

    def version(self, version_id: str = "") -> ModelCopy:
        """The copy of this version, by default the first one; raises `NotFound`."""
        for copy in self.copies:
            if version_id in ("", copy.version):
                return copy
        raise errors.NotFound(_("No host serves version %(wanted)s of %(name)s.", wanted=version_id, name=self.name))

    def ready(self, version_id: str = "") -> ModelCard:
        """The card of a version that can answer now; raises `Unavailable` with why it cannot."""
        copy = self.version(version_id)
        if not copy.available or copy.card is None:
            why = "it is being loaded" if copy.state == "LOADING" else copy.reason or "it is out of service"
            raise errors.Unavailable(
                _("%(name)s cannot answer right now: %(why)s. Try again later.", name=self.name, why=why)
            )
        return copy.card


@dataclass(frozen=True)
class PlayedRound:
    """A round in which a model is a target; the rates are those of its own answers, whatever other `targets` said."""

    task: str
    number: int
    state: str
    version: str
    targets: tuple[str, ...]
    mer: Rate
    vmer: Rate
    vmer_is_lower_bound: bool


class _Visibility:
    """The visibility of models for one person: read once, then applied to each model."""

    def __init__(self, session: Session, viewer: Person | None) -> None:
        self.viewer = viewer
        self.names_keepers = bool(may.may(viewer, Action.NAME_KEEPER))
        self.roles = dict(session.execute(queries.roles(viewer.id)).all()) if viewer else {}
        self.listings = {listing.name: (listing, keeper) for listing, keeper in session.execute(queries.listings())}

    def listing(self, name: str) -> tuple[ModelListing | None, Person | None]:
        return self.listings.get(name, (None, None))

    def keeps(self, name: str) -> bool:
        listing, _ = self.listing(name)
        return bool(may.may(self.viewer, Action.CHANGE_MODEL, author=listing.keeper_id if listing else None))

    def sees(self, name: str, task: str) -> bool:
        listing, _ = self.listing(name)
        visibility = listing.visibility if listing else "public"
        return shows_model(visibility, self.keeps(name), task in self.roles)


def models(session: Session, viewer: Person | None, states: Sequence[ModelState], health: Healths) -> list[ListedModel]:
    """The models that `viewer` may see, by name, from what the hosts say."""
    eyes = _Visibility(session, viewer)
    named: dict[str, list[ModelState]] = {}
    for state in states:
        named.setdefault(state.name, []).append(state)
    seen = [(name, _task(named[name]), named[name]) for name in sorted(named)]
    return [_model(eyes, name, task, entry, health) for name, task, entry in seen if eyes.sees(name, task)]


def find_model(
    session: Session, viewer: Person | None, states: Sequence[ModelState], health: Healths, name: str
) -> ListedModel:
    """The model of this name; raises `NotFound` where there is none that `viewer` may see."""
    matches = models(session, viewer, [state for state in states if state.name == name], health)
    if not matches:
        raise errors.NotFound(_("There is no model %(name)s.", name=repr(name)))
    return matches[0]


def search_models(all_models: Sequence[ListedModel], q: str = "", task: str = "") -> list[ListedModel]:
    """Those whose name holds `q`, of `task` where one is given."""
    term = q.strip().casefold()
    return [model for model in all_models if term in model.name.casefold() and task in ("", model.task)]


def is_visible(session: Session, viewer: Person | None, name: str, task: str) -> bool:
    """Return True if `viewer` may see the model of this name according to its listing."""
    return _Visibility(session, viewer).sees(name, task)


def played_rounds(session: Session, viewer: Person | None, name: str, task: str = "") -> list[PlayedRound]:
    """The rounds against a model, newest first, as its page shows them to a person who may see it; else none."""
    if not is_visible(session, viewer, name, task):
        return []
    rounds_found = []
    for round_, version in session.execute(queries.rounds_against(name, ROUNDS)):
        whole = statistics.statistics(session, round_, by=()).total
        rates = statistics.by_target(session, round_, whole)[name, version].rates
        targets = tuple(target.model for target in round_.targets)
        least = statistics.is_lower_bound(session, round_)
        rounds_found.append(
            PlayedRound(round_.task_id, round_.number, round_.state, version, targets, rates.mer, rates.vmer, least)
        )
    return rounds_found


def change_listing(
    session: Session,
    actor: Person,
    model: ListedModel,
    visibility: str,
    note: str | None = None,
    keeper: str | None = None,
) -> None:
    """Say who may see a model (its keeper, admins) and who keeps it (admins; "" for nobody, None leaves it)."""
    if not model.may_change:
        raise errors.Forbidden(_("Only the model's keeper and administrators can change who sees it."))
    wrong = _wrong(visibility, note)
    named = session.scalar(round_queries.person_by_username(keeper)) if keeper else None
    if keeper and named is None:
        wrong["keeper"] = _("There is no user called %(keeper)s.", keeper=repr(keeper))
    if wrong:
        raise errors.Invalid(wrong)
    listing = _listing(session, model.name)
    if keeper is not None and (named.id if named else None) != listing.keeper_id and not model.may_name_keeper:
        raise errors.Forbidden(_("Only administrators can name a model's keeper."))
    was = listing.visibility
    listing.visibility, listing.changed_at = visibility, now()
    listing.note = listing.note if note is None else note.strip()
    if keeper is not None:
        listing.keeper_id = named.id if named else None
    record_act(
        session, actor, "model.listing", model=model.name, visibility=visibility, was=was, person=listing.keeper_id
    )


@dataclass(frozen=True)
class ListingView:
    """The visibility of a model, and its keeper (a username, empty for none)."""

    name: str
    visibility: str
    keeper: str
    note: str


def listing_of(session: Session, name: str) -> ListingView:
    """Return the listing of a model that has one."""
    listing = session.get_one(ModelListing, name)
    keeper = session.get(Person, listing.keeper_id) if listing.keeper_id else None
    return ListingView(name, listing.visibility, keeper.username if keeper else "", listing.note)


def remove_keeper(session: Session, person_id: int) -> None:
    """Remove a person who leaves as the keeper of models."""
    session.execute(queries.remove_keeper(person_id))


def _wrong(visibility: str, note: str | None) -> dict[str, str]:
    wrong = {}
    if visibility not in VISIBILITIES:
        wrong["visibility"] = _("Choose one of %(visibilities)s.", visibilities=", ".join(VISIBILITIES))
    if note is not None and len(note) > NOTE:
        wrong["note"] = _("This has %(n)s characters; the limit is %(note)s.", n=f"{len(note):,}", note=NOTE)
    return wrong


def _listing(session: Session, name: str) -> ModelListing:
    """The row, locked; made where there is none. Of two who make it at once, one finds the other's."""
    if session.get(ModelListing, name) is None:
        try:
            with session.begin_nested():
                session.add(ModelListing(name=name))
        except IntegrityError:
            session.expire_all()
    return session.get_one(ModelListing, name, with_for_update=True)


def _task(states: Sequence[ModelState]) -> str:
    return next((state.card.task for state in states if state.card), "")


def _model(eyes: _Visibility, name: str, task: str, states: Sequence[ModelState], health: Healths) -> ListedModel:
    listing, keeper = eyes.listing(name)
    keeps = eyes.keeps(name)
    close = keeps or bool(may.may(eyes.viewer, Action.ENTER_MODEL, role=eyes.roles.get(task)))
    order = sorted(states, key=lambda state: (not state.available, state.on_demand))
    return ListedModel(
        name=name,
        task=task,
        copies=tuple(_copy(state, health.get((name, state.version)), close) for state in order),
        visibility=listing.visibility if listing else "public",
        keeper=keeper.username if keeper and keeps else "",
        note=listing.note if listing and keeps else "",
        may_change=keeps,
        may_name_keeper=eyes.names_keepers,
    )


def _copy(state: ModelState, health: ModelHealth | None, close: bool) -> ModelCopy:
    """Reasons and failures name files and addresses of the deployment, which are nobody's business but its keepers'."""
    if health is not None and not close:
        health = replace(health, last_failure="")
    reason = state.reason if close else ""
    where = joined(", ", dict.fromkeys(_place(part, close) for part in state.where.split(",") if part))
    return ModelCopy(state.version, state.state, reason, where, state.card, health, state.available)


def _place(where: str, close: bool) -> str:
    """A host's address as people read it."""
    host = urlsplit(where).hostname or ""
    if not host or host in ("localhost", "127.0.0.1", "::1"):
        return _("this machine")
    return host if close else _("another machine")
