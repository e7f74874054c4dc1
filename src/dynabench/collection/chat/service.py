"""The rules of a conversation: who may say what, in which order, and what the models are told."""

import hashlib
import random
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from dynabench.collection.chat.tables import ChatTurnState, Conversation, Reply, ReplyState, Turn
from dynabench.collection.handout_storage import own_handout
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.models.protocol import Message
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.tasks.fields.chat import BAD_CHOICE, SIDES, TIE_CHOICE, Chat

SILENT = timedelta(seconds=6)
"""Without a sign of life for so long, the process that wrote a reply down is gone."""
ENDED = (ReplyState.DONE, ReplyState.STOPPED, ReplyState.FAILED, ReplyState.CUT_OFF)


@dataclass(frozen=True)
class Asking:
    """The question to the models for one turn: `sides` are numbers of sides with model and version.

    `finished_texts` are the texts of sides that replied before and are not asked again. `accepted` says that a
    complete reply is taken as it is: there is one model, and the annotator is asked nothing about its
    replies.
    """

    turn_id: int
    attempt: int
    sides: tuple[tuple[int, str, str], ...]
    messages: tuple[Message, ...]
    max_tokens: int
    finished_texts: tuple[tuple[int, str], ...] = ()
    accepted: bool = False


@dataclass(frozen=True)
class Begun:
    """A turn that is under way or over; `asking` where models have yet to be asked."""

    conversation_id: int
    turn_id: int
    number: int
    asking: Asking | None


def begin(session: Session, person: Person, task_id: str, handout_id: int, rng: random.Random) -> Conversation:
    """The conversation that a person has on a handout, or a new one with its sides shuffled."""
    people.require_seat(session, person, task_id)
    current = rounds.open_round_of(session, task_id)
    handout = own_handout(session, person, current, handout_id, lock=True)
    if open_conversation := open_on(session, handout.id):
        return open_conversation
    _chat(session, current)
    targets = list(plan.targets_of_arm(current, handout.arm))
    if not targets:
        raise errors.Conflict(_("This condition uses no model, so there is no one to chat with."))
    if len(targets) > len(SIDES):
        raise errors.Conflict(_("A conversation can have %(n)s models at most. Tell the task's owner.", n=len(SIDES)))
    rng.shuffle(targets)
    conversation = Conversation(
        handout_id=handout.id, round_id=current.id, person_id=person.id, sides=[list(target) for target in targets]
    )
    session.add(conversation)
    session.flush()
    session.refresh(conversation)
    return conversation


def open_on(session: Session, handout_id: int) -> Conversation | None:
    """The conversation on a handout that is not sent in yet."""
    statement = select(Conversation).where(Conversation.handout_id == handout_id, Conversation.example_id.is_(None))
    return session.scalar(statement.order_by(Conversation.id.desc()).limit(1))


def own(session: Session, person: Person, conversation_id: int, *, lock: bool = False) -> Conversation:
    """A person's own conversation; for all others there is none."""
    conversation = session.get(Conversation, conversation_id, with_for_update=lock)
    if conversation is None or conversation.person_id != person.id:
        raise errors.NotFound(
            _("There is no conversation %(conversation_id)s that you can see.", conversation_id=conversation_id)
        )
    return conversation


def turn_of(conversation: Conversation, number: int) -> Turn:
    """A turn of a conversation by its number."""
    for turn in conversation.turns:
        if turn.number == number:
            return turn
    raise errors.NotFound(_("Conversation %(id)s has no turn %(number)s.", id=conversation.id, number=number))


def say(session: Session, person: Person, conversation_id: int, message: str, key: str) -> Begun:
    """Begin a turn, or find the one that the same request began; `Conflict` while another one waits for something."""
    conversation = own(session, person, conversation_id, lock=True)
    request = hashlib.sha256(message.encode()).hexdigest()
    for turn in conversation.turns:
        if turn.key == key:
            if turn.request != request:
                raise errors.Conflict(_("This key was used for another message. Use a new key for each message."))
            return Begun(conversation.id, turn.id, turn.number, None)
    chat = _live(session, person, conversation)
    if conversation.turns:
        _settled(conversation.turns[-1])
    if len(conversation.turns) >= chat.max_turns:
        raise errors.Conflict(
            _("This conversation has reached its limit of %(max_turns)s turns. Submit it.", max_turns=chat.max_turns)
        )
    if not message.strip():
        raise errors.Invalid({"said": _("Write a message first.")})
    if len(message) > chat.max_length:
        raise errors.Invalid(
            {
                "said": _(
                    "Your message has %(n)s characters; the limit is %(max_length)s.",
                    n=len(message),
                    max_length=chat.max_length,
                )
            }
        )
    number = len(conversation.turns) + 1
    turn = Turn(conversation_id=conversation.id, number=number, said=message, key=key, request=request)
    turn.replies = [Reply(side=side) for side in range(len(conversation.sides))]
    session.add(turn)
    session.flush()
    return Begun(conversation.id, turn.id, number, _asking(conversation, turn, chat))


def again(session: Session, person: Person, conversation_id: int, number: int) -> Begun:
    """Ask those models once more whose replies to the last turn broke off, failed, or were stopped."""
    conversation = own(session, person, conversation_id, lock=True)
    chat = _live(session, person, conversation)
    turn = turn_of(conversation, number)
    if turn is not conversation.turns[-1] or turn.state == ChatTurnState.CHOSEN:
        raise errors.Conflict(_("The conversation has continued. Only its last turn can be repeated."))
    if writing(turn):
        return Begun(conversation.id, turn.id, number, None)
    if all(reply.state == ReplyState.DONE for reply in turn.replies):
        raise errors.Conflict(_("All replies to this turn are complete."))
    for reply in turn.replies:
        if reply.state != ReplyState.DONE:
            reply.text, reply.state, reply.reason, reply.first_ms, reply.whole_ms = (
                "",
                ReplyState.WRITING,
                "",
                None,
                None,
            )
    turn.state, turn.stop, turn.beat_at, turn.attempt = ChatTurnState.WRITING, False, now(), turn.attempt + 1
    session.flush()
    return Begun(conversation.id, turn.id, number, _asking(conversation, turn, chat))


def choose(
    session: Session,
    person: Person,
    conversation_id: int,
    number: int,
    choice: str,
    ratings: dict[str, int],
    rng: random.Random,
) -> Conversation:
    """Say which reply to a turn was best; the conversation goes on from it. The same choice twice changes nothing.

    After a tie it goes on from one of the replies at random; where none is any good, the turn is left out.
    """
    conversation = own(session, person, conversation_id, lock=True)
    chat = _live(session, person, conversation)
    turn = turn_of(conversation, number)
    names = list(SIDES[: len(conversation.sides)])
    offered = (
        [*names, *([TIE_CHOICE] if chat.tie else []), *([BAD_CHOICE] if chat.bad else [])]
        if len(names) > 1
        else ["A", BAD_CHOICE]
    )
    if turn.state == ChatTurnState.CHOSEN:
        if turn.choice == choice:
            return conversation
        raise errors.Conflict(_("You already chose a reply for this turn. Reload the page to see the conversation."))
    if writing(turn):
        raise errors.Conflict(_("Replies are still being written. Wait or stop them."))
    if choice not in offered:
        raise errors.Invalid({"choice": _("Choose one of %(offered)s.", offered=", ".join(offered))})
    readable = [side for side, reply in enumerate(turn.replies) if reply.text.strip()]
    if choice in names and names.index(choice) not in readable:
        raise errors.Invalid({"choice": _("This reply is empty. Ask again, or choose another one.")})
    if choice == TIE_CHOICE and len(readable) < 2:
        raise errors.Invalid({"choice": _("A tie needs two replies. Ask again or choose the only reply.")})
    _rate(turn, chat, names, ratings)
    turn.choice, turn.state, turn.chosen_at = choice, ChatTurnState.CHOSEN, now()
    turn.continued = names.index(choice) if choice in names else rng.choice(readable) if choice == TIE_CHOICE else None
    session.flush()
    return conversation


def _rate(turn: Turn, chat: Chat, names: list[str], ratings: dict[str, int]) -> None:
    if strangers := sorted(set(ratings) - set(names)):
        raise errors.Invalid({f"ratings.{strangers[0][:20]}": _("There is no reply on this side.")})
    for side, reply in enumerate(turn.replies):
        rating = ratings.get(names[side])
        if not chat.rate or not reply.text.strip():
            continue
        if rating is None or not 1 <= rating <= chat.rate:
            raise errors.Invalid({f"ratings.{names[side]}": _("Rate this reply from 1 to %(rate)s.", rate=chat.rate)})
        reply.rating = rating


def stop(session: Session, person: Person, conversation_id: int, number: int) -> int:
    """Ask the process that writes the replies to a turn to stop; its id. A turn that is over stays as it is."""
    turn = turn_of(own(session, person, conversation_id, lock=True), number)
    if turn.state == ChatTurnState.WRITING:
        turn.stop = True
    return turn.id


def keep(session: Session, asking: Asking, replies: dict[int, dict[str, object]], ended: bool) -> bool:
    """Write down how far the replies have come, unless the author has asked again meanwhile; whether to stop."""
    values: dict[str, object] = {"beat_at": now()}
    if ended and asking.accepted and replies[0]["state"] == ReplyState.DONE:
        values |= {"state": "chosen", "continued": 0, "chosen_at": now()}
    elif ended:
        values |= {"state": "answered"}
    mine = (Turn.id == asking.turn_id, Turn.attempt == asking.attempt, Turn.state == ChatTurnState.WRITING)
    beat = session.execute(update(Turn).where(*mine).values(**values).returning(Turn.stop))
    stop_requested = beat.scalar_one_or_none()
    if stop_requested is None:
        return True
    for side, reply in replies.items():
        session.execute(update(Reply).where(Reply.turn_id == asking.turn_id, Reply.side == side).values(**reply))
    return bool(stop_requested)


def cut_off(session: Session, turn_id: int) -> None:
    """Mark a turn whose writer gives no sign of life any more; it may be asked again."""
    turn = session.get(Turn, turn_id, with_for_update=True)
    if turn is None or turn.state != ChatTurnState.WRITING or writing(turn):
        return
    turn.state = ChatTurnState.ANSWERED
    for reply in turn.replies:
        if reply.state == ReplyState.WRITING:
            reply.state = ReplyState.CUT_OFF


def writing(turn: Turn) -> bool:
    """Return whether replies are being written, as far as the stored state tells."""
    return turn.state == ChatTurnState.WRITING and turn.beat_at > now() - SILENT


def _live(session: Session, person: Person, conversation: Conversation) -> Chat:
    round = session.get_one(Round, conversation.round_id)
    people.require_seat(session, person, round.task_id)
    if round.state != RoundState.OPEN:
        raise errors.Conflict(
            _("Round %(number)s is %(state)s, so its conversations have ended.", number=round.number, state=round.state)
        )
    if conversation.example_id is not None:
        raise errors.Conflict(_("This conversation was submitted. Start a new one."))
    return _chat(session, round)


def _chat(session: Session, round: Round) -> Chat:
    chat = rounds.config_of(session, round.version_id).chat
    if chat is None:
        raise errors.Conflict(_("This task has no conversations."))
    return chat


def _settled(last: Turn) -> None:
    """Raise `Conflict` unless the last turn is over."""
    if last.state == ChatTurnState.CHOSEN:
        return
    if writing(last):
        raise errors.Conflict(_("The models are still replying. Wait or stop them."))
    raise errors.Conflict(_("Choose the best reply first, or ask again where a reply broke off."))


def _asking(conversation: Conversation, turn: Turn, chat: Chat) -> Asking:
    messages: list[Message] = [{"role": "system", "content": chat.system}] if chat.system else []
    for before in conversation.turns:
        if before.number < turn.number and before.continued is not None:
            messages.append({"role": "user", "content": before.said})
            messages.append({"role": "assistant", "content": before.replies[before.continued].text})
    messages.append({"role": "user", "content": turn.said})
    sides = [
        (reply.side, *conversation.sides[reply.side]) for reply in turn.replies if reply.state == ReplyState.WRITING
    ]
    finished_texts = tuple((reply.side, reply.text) for reply in turn.replies if reply.state != ReplyState.WRITING)
    accepted = len(conversation.sides) == 1 and not chat.rate
    return Asking(turn.id, turn.attempt, tuple(sides), tuple(messages), chat.max_tokens, finished_texts, accepted)


def forget(session: Session, person_id: int) -> None:
    """Delete a person's conversations that were not sent in; those that were belong to their examples."""
    theirs = select(Conversation.id).where(Conversation.person_id == person_id, Conversation.example_id.is_(None))
    turns = select(Turn.id).where(Turn.conversation_id.in_(theirs))
    session.execute(delete(Reply).where(Reply.turn_id.in_(turns)).execution_options(synchronize_session=False))
    session.execute(delete(Turn).where(Turn.conversation_id.in_(theirs)).execution_options(synchronize_session=False))
    mine = delete(Conversation).where(Conversation.person_id == person_id, Conversation.example_id.is_(None))
    session.execute(mine.execution_options(synchronize_session=False))
