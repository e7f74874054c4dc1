"""The fate of a person's conversations when the person leaves the platform."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from dynabench.collection.chat.tables import Conversation, Reply, Turn


def forget(session: Session, person_id: int) -> None:
    """Delete somebody's conversations that were not sent in; those that were belong to their examples."""
    theirs = select(Conversation.id).where(Conversation.person_id == person_id, Conversation.example_id.is_(None))
    turns = select(Turn.id).where(Turn.conversation_id.in_(theirs))
    session.execute(delete(Reply).where(Reply.turn_id.in_(turns)).execution_options(synchronize_session=False))
    session.execute(delete(Turn).where(Turn.conversation_id.in_(theirs)).execution_options(synchronize_session=False))
    mine = delete(Conversation).where(Conversation.person_id == person_id, Conversation.example_id.is_(None))
    session.execute(mine.execution_options(synchronize_session=False))
