"""The rules of help with writing: who may ask for suggestions, where, and how often; what was shown is written down."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import anyio
from rapidfuzz.distance import Levenshtein
from sqlalchemy import ForeignKey, Index, String, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.collection import eligibility
from dynabench.collection.assisting.providers import Suggested, SuggestionRequest, World, providers
from dynabench.collection.forms import Posted
from dynabench.collection.handout_tables import Handout
from dynabench.collection.schemas import ExampleIn, HandoutOut
from dynabench.kit import errors
from dynabench.kit.db import Base, Key, now
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Context, Round, RoundState
from dynabench.tasks import TaskConfig
from dynabench.tasks.assistant_sections import assisted_field
from dynabench.tasks.fields import FieldError, Text

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import TargetVerdict


class Suggestion(Base):
    """A text that was suggested to a person on a handout of theirs, for one field of the input.

    `asking` counts from 1 how often they had asked; `provider` is where the text comes from, with `model` and `version`
    where a model wrote it; `about` is what is told of it, such as the name of an edit.
    """

    __tablename__ = "suggestions"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    asking: Mapped[int]
    provider: Mapped[str] = mapped_column(String(40))
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    field: Mapped[str] = mapped_column(String(40))
    text: Mapped[str]
    about: Mapped[dict[str, Any]]
    latency_ms: Mapped[float]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_suggestions_handout", "handout_id", "id"),)


class Assistance(Base):
    """The outcome of the suggestions that an author saw on the hand-out of an example.

    There is no row where the author saw none. `outcome` is `accepted` (the text is a suggestion's), `edited`
    (it was made from one, `distance` characters away) or `ignored`; for `ignored`, `provider`, `model`,
    `version` and `text` are empty.
    """

    __tablename__ = "assistances"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    shown: Mapped[int]
    outcome: Mapped[str] = mapped_column(String(10))
    distance: Mapped[int | None]
    provider: Mapped[str] = mapped_column(String(40), default="")
    model: Mapped[str] = mapped_column(String(100), default="")
    version: Mapped[str] = mapped_column(String(64), default="")
    text: Mapped[str] = mapped_column(default="")


@dataclass(frozen=True)
class Brought:
    """The suggestions of one provider and its time in ms, or the sentence that says why it has none."""

    provider: str
    suggestions: Sequence[Suggested]
    latency_ms: float
    problem: str = ""


@dataclass(frozen=True)
class Offered:
    """The suggestions shown now; `problems` are sentences about providers that had none."""

    items: Sequence[Suggestion]
    problems: Sequence[str]


def ask(
    session: Session, person: Person, handout_id: int, input: Mapping[str, Any], task_id: str = ""
) -> SuggestionRequest:
    """Check that a person may ask for suggestions on a handout of theirs (of this task, where named).

    Raises `NotFound` where it is not theirs, `Conflict` where its round is over, its arm offers no help, or they asked
    as often as the task allows.
    """
    handout = session.get(Handout, handout_id)
    if handout is None or handout.person_id != person.id:
        raise errors.NotFound(_("You have no handout %(handout_id)s.", handout_id=handout_id))
    round_ = session.get_one(Round, handout.round_id)
    if task_id and round_.task_id != task_id:
        raise errors.NotFound(_("You have no handout %(handout_id)s.", handout_id=handout_id))
    people.require_seat(session, person, round_.task_id)
    if round_.state != RoundState.OPEN:
        raise errors.Conflict(_("Round %(number)s is closed.", number=round_.number))
    eligibility.admit(session, person, round_)
    config = rounds.config_of(session, round_.version_id)
    field = assisted_field(config)
    if field is None or not plan.offers_assistant(round_.arms, handout.arm):
        raise errors.Conflict(_("This task offers no writing assistant."))
    times = asked_before(session, handout.id)
    if times >= config.assistant.times:
        raise errors.Conflict(
            _(
                "You have used all %(times)s requests for this context. Choose a suggestion or continue without one.",
                times=times,
            )
        )
    context = session.get_one(Context, handout.context_id)
    draft = input.get(field.name)
    return SuggestionRequest(
        task_id=round_.task_id,
        person_id=person.id,
        handout_id=handout.id,
        context_id=context.id,
        config=config,
        field=field,
        context=config.shown_context(context.values),
        goal=handout.goal,
        draft=_clean(field, draft) or "",
        seed=f"{handout.id}:{times}",
    )


async def bring(request: SuggestionRequest, world: World) -> list[Brought]:
    """Return the suggestions of all providers of the config, which are asked at the same time."""
    provider_functions, by_provider = providers(), dict[str, Brought]()

    async def ask_provider(name: str) -> None:
        begun = time.perf_counter()
        suggestions: Sequence[Suggested] = ()
        problem = ""
        try:
            suggestions = await provider_functions[name](request, world)
        except (errors.Unavailable, errors.Invalid) as refused:
            problem = refused.detail
        by_provider[name] = Brought(name, suggestions, round((time.perf_counter() - begun) * 1000, 3), problem)

    async with anyio.create_task_group() as group:
        for name in request.config.assistant.providers:
            group.start_soon(ask_provider, name)
    return [by_provider[name] for name in request.config.assistant.providers]


def keep(session: Session, request: SuggestionRequest, brought: Sequence[Brought]) -> Offered:
    """Write down what is shown: in turn from each provider, nothing twice on one handout, nothing the field refuses."""
    session.get_one(Handout, request.handout_id, with_for_update=True)
    times = asked_before(session, request.handout_id)
    if times >= request.config.assistant.times:
        raise errors.Conflict(_("You sent two requests for suggestions at once. Reload the page to see them."))
    texts = select(Suggestion.text).where(Suggestion.handout_id == request.handout_id)
    known_texts = {request.draft, *session.scalars(texts)}
    suggestions: list[Suggestion] = []
    waiting = [(batch, list(batch.suggestions)) for batch in brought]
    while len(suggestions) < request.most and any(rest for _, rest in waiting):
        for batch, rest in waiting:
            if (suggestion := _next(request, batch, rest, known_texts)) is not None and len(suggestions) < request.most:
                suggestion.asking = times + 1
                suggestions.append(suggestion)
    session.add_all(suggestions)
    session.flush()
    return Offered(suggestions, [batch.problem for batch in brought if batch.problem])


def _next(
    request: SuggestionRequest, brought: Brought, rest: list[Suggested], known_texts: set[str]
) -> Suggestion | None:
    while rest:
        suggested = rest.pop(0)
        text = _clean(request.field, suggested.text)
        if text is None or text in known_texts:
            continue
        known_texts.add(text)
        return Suggestion(
            handout_id=request.handout_id,
            person_id=request.person_id,
            provider=brought.provider,
            model=suggested.model,
            version=suggested.version,
            field=request.field.name,
            text=text,
            about=dict(suggested.about),
            latency_ms=brought.latency_ms,
        )
    return None


def _clean(field: Text, raw: object) -> str | None:
    """A text as the field stores it; None where it is empty or refused."""
    try:
        return field.check(raw) if isinstance(raw, str) else None
    except FieldError:
        return None


def asked_before(session: Session, handout_id: int) -> int:
    """Return the number of times that suggestions were shown on a hand-out: one index range."""
    latest = select(func.max(Suggestion.asking)).where(Suggestion.handout_id == handout_id)
    return session.scalar(latest) or 0


def latest_suggestions(session: Session, handout_id: int) -> Sequence[Suggestion]:
    """Return the suggestions that were shown last on a hand-out."""
    last = asked_before(session, handout_id)
    mine = select(Suggestion).where(Suggestion.handout_id == handout_id, Suggestion.asking == last)
    return session.scalars(mine.order_by(Suggestion.id)).all()


def forget(session: Session, person_id: int) -> None:
    """Delete what was suggested to a person; what became of it stands beside their examples."""
    statement = delete(Suggestion).where(Suggestion.person_id == person_id)
    session.execute(statement.execution_options(synchronize_session=False))


OUTCOMES = ("accepted", "edited", "ignored")


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Check the suggestion that a text was made from; `Invalid` where none such was shown on this handout."""
    suggestion = session.get(Suggestion, body.suggestion)
    if suggestion is None or suggestion.handout_id != handout.handout_id:
        raise errors.Invalid({"suggestion": _("You have no suggestion of this number here. Leave it out.")})
    return body, {"suggestion": body.suggestion}


def recorded(session: Session, draft: "Draft", verdict: "TargetVerdict", example_id: int) -> None:
    """Write down what became of what was suggested on the draft's handout; nothing where nothing was."""
    handout = draft.handout
    if handout is None:
        return
    suggestions = session.scalars(
        select(Suggestion).where(Suggestion.handout_id == handout.id).order_by(Suggestion.id)
    ).all()
    if suggestions:
        session.add(_became(suggestions, draft, example_id))


def _became(suggestions: Sequence[Suggestion], draft: "Draft", example_id: int) -> Assistance:
    texts = {suggestion.field: str(draft.input.get(suggestion.field) or "") for suggestion in suggestions}
    mine = next((suggestion for suggestion in suggestions if suggestion.id == draft.suggestion), None)
    same = [suggestion for suggestion in suggestions if suggestion.text == texts[suggestion.field]]
    origin = mine if mine in same else same[0] if same else mine
    if origin is None:
        return Assistance(example_id=example_id, shown=len(suggestions), outcome="ignored")
    return Assistance(
        example_id=example_id,
        shown=len(suggestions),
        outcome="accepted" if origin in same else "edited",
        distance=Levenshtein.distance(origin.text, texts[origin.field]),
        provider=origin.provider,
        model=origin.model,
        version=origin.version,
        text=origin.text,
    )


@dataclass(frozen=True)
class Help:
    """The field that is helped with, what was suggested last, how often one may still ask.

    `used` is the id of the suggestion that the text is made from, 0 for none, and `before` what stood there before.
    `problems` say why a provider had nothing; `fresh` is true right after asking.
    """

    field: Text
    suggestions: Sequence[Suggestion]
    remaining: int
    used: int = 0
    before: str = ""
    problems: Sequence[str] = ()
    fresh: bool = False


def view(session: Session, handout: HandoutOut, config: TaskConfig, posted: Posted | None) -> Help | None:
    """The help on a handout; None where none is offered."""
    field = assisted_field(config)
    if not handout.assistant or handout.handout is None or field is None:
        return None
    requests_left = config.assistant.times - asked_before(session, handout.handout)
    return Help(
        field, latest_suggestions(session, handout.handout), requests_left, posted.suggestion_id if posted else 0
    )
