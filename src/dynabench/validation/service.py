"""Votes: who may cast one on what, what it decides, and taking it back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import attributions, projections
from dynabench.collection.tables import Example, Judgement, Standing, VerdictEvent
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.onboarding import admission
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.contributions import note_person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import LABELS, Verdict, Vote, model_was_wrong, verdict
from dynabench.tasks import TaskConfig
from dynabench.validation import moderation, places, queries
from dynabench.validation.controls import answers, consequences
from dynabench.validation.controls.drawing import ShownContent, example_content, read_content
from dynabench.validation.controls.tables import ControlAnswer
from dynabench.validation.tables import Reservation, Skip, Undo, Validation


@dataclass(frozen=True)
class Ballot:
    """A validator's ballot: a `vote` with the task's further questions (`values`), or a blind `answer`.

    `active_seconds` is the time for which the validator worked on it, as the page measured it. `expires_at` is that of
    the `CheckItem` that the ballot answers, if the page or program says so.
    """

    vote: str | None = None
    answer: dict[str, Any] | None = None
    values: dict[str, Any] = field(default_factory=dict)
    as_owner: bool = False
    active_seconds: float | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True)
class Outcome:
    """The state of an example after a vote or an undo; `vote` is the vote that the ballot counted as.

    `content` is what the validator saw under the number `example_id`.
    """

    id: int
    example_id: int
    content: ShownContent
    vote: str
    verdict: str
    votes: int
    config: TaskConfig
    predictions: Sequence[Any]


@dataclass
class VoteCase:
    """An example with all that the rules ask of it; its standing is locked."""

    standing: Standing
    example: Example
    round: Round
    config: TaskConfig
    votes: list[Validation]


def vote(session: Session, person: Person, example_id: int, ballot: Ballot) -> Outcome:
    """Cast a vote. Refuses one's own example, a second vote, and votes that nobody asked for.

    An owner's vote (`as_owner`) needs no place and decides at once, also after another decision or vote of theirs.
    Where the person was shown a control in place of the example, the vote answers that and leaves the example alone.
    """
    control = None if ballot.as_owner else answers.open_place(session, person, example_id)
    case = read_vote_case(session, example_id)
    _admit(session, person, case, ballot)
    content = (
        read_content(session, control.item_id, control.shown_id)
        if control
        else example_content(session, case.example, with_answers=False)
    )
    label, blind, values = _read(session, person, case, ballot, content)
    counted_blind = control is None and blind is not None and _first_answer(session, person, example_id)
    reservation = session.get(Reservation, (example_id, person.id))
    seconds, active = _spent(reservation, ballot.active_seconds)
    cast = Validation(
        example_id=example_id,
        person_id=person.id,
        vote=label,
        blind_answer=blind,
        by_owner=ballot.as_owner,
        values=values,
        seconds=seconds,
        active_seconds=active,
        weight=None if control else _weight(session, person, case.round),
    )
    session.add(cast)
    session.flush()
    if reservation is not None:
        session.delete(reservation)
    if counted_blind:
        count_blind(case.standing, label, +1)
    note_person(session, person.id)
    if control is not None:
        answers.record_answer(session, control, cast, case.round.task_id)
        return _control_outcome(cast, case.config, content)
    case.votes.append(cast)
    return vote_outcome(session, case, cast)


def decide(session: Session, person: Person, example_id: int, label: str) -> Outcome:
    """Record the decision of an expert, which stands alone as an owner's vote does; the latest decision counts.

    Refuses one's own example, and examples on which the expert's own vote stands.
    """
    case = read_vote_case(session, example_id)
    if case.standing.author_id == person.id:
        raise errors.Forbidden(_("This is your own example; another expert decides about it."))
    may.require(session, person, Action.ADJUDICATE, case.round.task_id)
    people.require_seat(session, person, case.round.task_id, checking=True)
    if label not in LABELS:
        raise errors.Invalid({"verdict": _("Choose one of %(value)s.", value=", ".join(sorted(LABELS)))})
    if any(cast.person_id == person.id and not cast.by_owner for cast in case.votes):
        raise errors.Conflict(_("You have voted on this example yourself; another expert decides about it."))
    cast = Validation(example_id=example_id, person_id=person.id, vote=label, by_owner=True, values={})
    session.add(cast)
    session.flush()
    case.votes.append(cast)
    return vote_outcome(session, case, cast)


def revoke(session: Session, person: Person, vote_id: int) -> Outcome:
    """Take the decision of an expert back: the other votes decide again.

    By the expert who made it, or by an owner.
    """
    cast = session.get(Validation, vote_id)
    if cast is None or not cast.by_owner:
        raise errors.NotFound(_("There is no such decision."))
    case = read_vote_case(session, cast.example_id)
    action = Action.ADJUDICATE if cast.person_id == person.id else Action.DECIDE_ALONE
    may.require(session, person, action, case.round.task_id)
    if all(vote.id != vote_id for vote in case.votes):
        raise errors.Conflict(_("This decision was taken back already."))
    session.add(Undo(validation_id=vote_id))
    case.votes = [vote for vote in case.votes if vote.id != vote_id]
    return vote_outcome(session, case, cast)


def answered_content(session: Session, answer: ControlAnswer) -> ShownContent:
    """Return what a validator saw who answered a control item."""
    return read_content(session, answer.item_id, answer.shown_id)


def _control_outcome(cast: Validation, config: TaskConfig, content: ShownContent) -> Outcome:
    """The outcome of an answer to a control: as that of the first vote on any example."""
    rule = config.validation
    label = str(verdict([Vote(cast.vote, False, None)], rule.votes, rule.adjudicate_up_to))
    return Outcome(cast.id, cast.example_id, content, cast.vote, label, 1, config, content.predictions)


def skip(session: Session, person: Person, example_id: int) -> None:
    """Pass an example on: no vote, its place is free again, and it is not handed to this person any more."""
    control = answers.open_place(session, person, example_id)
    standing = places.standing_of(session, example_id)
    if standing.author_id == person.id:
        raise errors.Forbidden(_("This is your own example; others check it."))
    people.require_seat(session, person, session.get_one(Round, standing.round_id).task_id, checking=True)
    if reservation := session.get(Reservation, (example_id, person.id)):
        session.delete(reservation)
    if control is not None:  # the person has not seen the example itself, which may come later
        control.done_at = now()
    elif session.get(Skip, (example_id, person.id)) is None:
        session.add(Skip(example_id=example_id, person_id=person.id))


def my_outcome(session: Session, person: Person, example_id: int) -> Outcome | None:
    """Return the standing of an example that this person voted on, or None without a vote or where it is concealed."""
    mine = session.scalars(queries.own_votes(example_id, person.id)).all()
    example, standing = session.get(Example, example_id), session.get(Standing, example_id)
    control = None if mine else answers.own_answer(session, person, example_id)
    if control and example:
        config = rounds.config_of(session, session.get_one(Round, example.round_id).version_id)
        return _control_outcome(control[1], config, answered_content(session, control[0]))
    if not mine or example is None or standing is None:
        return None
    if not disclosure.shows_example(standing):
        return None
    config = rounds.config_of(session, session.get_one(Round, example.round_id).version_id)
    content, cast = example_content(session, example), mine[-1]
    state = (cast.vote, standing.verdict, standing.votes)
    return Outcome(cast.id, example_id, content, *state, config, content.predictions)


def question(
    session: Session, person: Person, example_id: int, model: str, method: str, label: str
) -> attributions.AttributionQuestion:
    """Return the question about what a model looked at in an example, for a person whose vote on it stands.

    Raise `Conflict` before the person has voted.
    """
    outcome = my_outcome(session, person, example_id)
    if outcome is None:
        places.standing_of(session, example_id)  # says so where there is no such example
        raise errors.Conflict(_("The models' answers are shown after you have voted."))
    if outcome.content.example is None:  # an item of a file: no model was asked by the platform
        raise errors.Conflict(_("The model does not explain this answer."))
    return attributions.about(session, outcome.content.example, outcome.predictions, model, method, label)


def voted_today(session: Session, person: Person) -> int:
    """Return the number of a person's votes since midnight, UTC, that stand."""
    midnight = datetime.combine(now().date(), datetime.min.time(), tzinfo=UTC)
    return session.scalar(queries.votes_since(person.id, midnight)) or 0


def read_vote_case(session: Session, example_id: int) -> VoteCase:
    """Return an example as a vote needs it, with its standing locked. Raises `Conflict` for a withdrawn one."""
    standing = places.standing_of(session, example_id)
    if standing.retracted:
        raise errors.Conflict(_("The author has withdrawn this example."))
    if standing.hidden:
        raise errors.Conflict(_("A moderator has hidden this example."))
    round = session.get_one(Round, standing.round_id)
    if round.state not in queries.VALIDATED:
        raise errors.Conflict(
            _(
                "Round %(number)s is %(state)s; its examples can no longer be voted on.",
                number=round.number,
                state=round.state,
            )
        )
    example = session.get_one(Example, example_id)
    config = rounds.config_of(session, round.version_id)
    return VoteCase(standing, example, round, config, list(session.scalars(queries.votes(example_id))))


def _admit(session: Session, person: Person, case: VoteCase, ballot: Ballot) -> None:
    as_owner = ballot.as_owner
    if case.standing.author_id == person.id:
        raise errors.Forbidden(_("This is your own example; others check it."))
    if case.round.competition and case.example.id in places.examples_of_own_team(session, case.round.id, person.id):
        raise errors.Forbidden(_("This is an example of your own team; others check it."))
    people.require_seat(session, person, case.round.task_id, checking=True)
    if not as_owner:
        consequences.refuse_paused(session, person.id, case.round.task_id)
    if as_owner:
        may.require(session, person, Action.DECIDE_ALONE, case.round.task_id)
    if as_owner:  # again too: the latest owner's vote stands, also where it corrects their own
        return
    place = session.get(Reservation, (case.example.id, person.id))
    has_place = place is not None and place.expires_at > now()
    # The example's number stood for a control before: a window that still shows the control has an older place.
    is_of_place = has_place and ballot.expires_at in (None, place and place.expires_at)
    is_answered = not is_of_place and answers.is_answered(session, person, case.example.id)
    if is_answered or any(cast.person_id == person.id for cast in case.votes):
        raise errors.Conflict(_("You have already voted on this example."))
    if case.standing.verdict != Verdict.PENDING:
        raise errors.Conflict(_("This example already has a verdict: %(verdict)s.", verdict=case.standing.verdict))
    if not case.standing.open:
        reason = "it fooled no model" if case.standing.fooled is False else "its author has yet to judge the answer"
        raise errors.Conflict(_("This example needs no votes: %(reason)s.", reason=reason))
    if has_place:
        return  # it was given to a qualified person
    config = rounds.task_config(session, case.round.task_id)
    admission.require_qualified(session, person, config, OnboardingActivity.CHECK, begun=True)
    if places.free_places(session, case.config, person.id, case.example.id, places.ballots(case.votes)) < 1:
        raise errors.Conflict(_("Other validators are checking this example. Ask for the next one."))


def _read(
    session: Session, person: Person, case: VoteCase, ballot: Ballot, content: ShownContent
) -> tuple[str, dict[str, Any] | None, dict[str, Any]]:
    if (ballot.vote is None) == (ballot.answer is None):
        raise errors.Invalid({"vote": _("Send either a vote or, if the task asks for it, an answer.")})
    if ballot.vote is not None and ballot.vote not in LABELS:
        raise errors.Invalid({"vote": _("Choose one of %(value)s.", value=", ".join(sorted(LABELS)))})
    mode = None if ballot.as_owner else places.mode_for(session, case.config, person.id, case.example.id)
    if ballot.answer is not None:
        return _read_blind(session, person, case, ballot, content, blind=mode == "answer")
    label = str(ballot.vote)
    if mode == "answer" and label != Verdict.FLAGGED:
        raise errors.Invalid({"answer": _("Answer this item yourself, without the author's answer, or flag it.")})
    fields, task_id = case.config.validation.ask, case.round.task_id
    filled_values = media.fill_media_values(session, task_id, fields, "validation", ballot.values, person_id=person.id)
    values = case.config.clean_validation(
        filled_values, vote=label, input=content.input, context=content.context, answer=content.answer
    )
    _bind_media(session, case, values, content)
    return label, None, values


def _read_blind(
    session: Session, person: Person, case: VoteCase, ballot: Ballot, content: ShownContent, *, blind: bool
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    if not blind:  # also in mixed tasks where nobody handed the item out: who knows whether the claim was seen
        raise errors.Invalid(
            {"answer": _("Judge the answer shown with this item: vote correct, incorrect or flagged.")}
        )
    if ballot.values:
        raise errors.Invalid(dict.fromkeys(ballot.values, _("A blind answer has no further fields.")))
    task_id = case.round.task_id
    filled_values = media.fill_media_values(
        session, task_id, case.config.answer, "answer", ballot.answer, person_id=person.id
    )
    answer = case.config.clean_answer(filled_values, context=content.context, input=content.input)
    _bind_media(session, case, answer, content)
    inputs = case.config.model_inputs(content.context, content.input)
    agrees = case.config.agrees(answer, content.answer, inputs)
    return str(Verdict.CORRECT if agrees else Verdict.INCORRECT), answer, {}


def _bind_media(session: Session, case: VoteCase, values: dict[str, Any], content: ShownContent) -> None:
    """Files that a validator sent belong to the example; those sent with the answer to a control to none."""
    if content.example is not None and content.example.id == case.example.id:
        media.bind_media(session, case.round.task_id, values, example_id=case.example.id)


def _first_answer(session: Session, person: Person, example_id: int) -> bool:
    """Return whether this is the person's first vote on the item.

    After an undone vote it is not: the person has seen the claim.
    """
    return session.scalars(queries.votes_ever(example_id, person.id).limit(1)).first() is None


def _spent(reservation: Reservation | None, active: float | None) -> tuple[float | None, float | None]:
    """Return the seconds since the example was handed out, and the part of them that the validator was at work."""
    if reservation is None or reservation.since is None:
        return None, None
    seconds = max((now() - reservation.since).total_seconds(), 0.0)
    return seconds, None if active is None else min(active, seconds)


def _weight(session: Session, person: Person, round: Round) -> float | None:
    """Return the weight of a new vote: that of the person's latest one in the round, else the round's."""
    if round.vote_weight is None:
        return None
    latest = session.scalar(queries.last_weight(person.id, round.id))
    return round.vote_weight if latest is None else latest


def count_blind(standing: Standing, label: str, by: int) -> None:
    """Count a blind answer of a locked standing in (`by` is 1) or out (-1)."""
    standing.blind += by
    standing.blind_right += by * (label == Verdict.CORRECT)


def _judge(session: Session, standing: Standing, fooled: bool | None) -> None:
    predictions = session.scalars(queries.predictions(standing.example_id)).all()
    prediction_id = predictions[0].id if len(predictions) == 1 else None
    session.add(Judgement(example_id=standing.example_id, prediction_id=prediction_id, by="validators", fooled=fooled))
    session.flush()
    for prediction in predictions:
        session.expire(prediction, ["errs"])


def recount(session: Session, standing: Standing, config: TaskConfig, votes: Sequence[Validation]) -> str:
    """Give an example, whose standing is locked, the verdict that the votes that stand support, and return it."""
    rule, old = config.validation, standing.verdict
    new = str(verdict(places.ballots(votes), rule.votes, rule.adjudicate_up_to))
    standing.votes = len(votes)
    if new != old:
        session.add(VerdictEvent(example_id=standing.example_id, verdict=new))
        if standing.targets and config.fooled.judged_by == "validators":
            _judge(session, standing, model_was_wrong(Verdict(new)))
        projections.count_verdict(session, standing, new, config)
    return new


def vote_outcome(session: Session, case: VoteCase, cast: Validation) -> Outcome:
    """Return what a validator learns after a vote, and note its flags."""
    standing = case.standing
    if cast.vote == Verdict.FLAGGED:
        moderation.note_flags(session, standing.example_id, case.votes)
    new = recount(session, standing, case.config, case.votes)
    session.flush()
    content = example_content(session, case.example)
    state = (cast.vote, new, standing.votes)
    return Outcome(cast.id, case.example.id, content, *state, case.config, content.predictions)
