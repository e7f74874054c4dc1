"""What models did for an author before a draft is sent in: a conversation, or pictures that they drew."""

from typing import Any

from sqlalchemy.orm import Session

from dynabench.accounts.tables import Person
from dynabench.collection.assisting import fates
from dynabench.collection.chat import sending as conversations
from dynabench.collection.drawing import sending as drawings
from dynabench.collection.schemas import ExampleIn
from dynabench.rounds import arms
from dynabench.tasks import TaskConfig


def taken(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, given: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """The draft with what was done in the place of its number or digest, and who did it, as members of a `Draft`.

    `given` is a row of `statements.GIVEN`. Raises `Invalid` for a suggestion that nobody made on this handout.
    """
    used = {"suggestion": fates.used(session, given.handout_id, body.suggestion)}
    if config.chat is not None and arms.asks(given.arms, given.handout_arm):
        input, conversed = conversations.taken(session, person.id, config, given.handout_id, body.input)
        return body.model_copy(update={"input": input}), {"conversed": conversed, **used}
    if config.drawing is not None:
        input, drawn = drawings.taken(session, person.id, config, given.handout_id, body.input, given.context)
        return body.model_copy(update={"input": input}), {"drawn": drawn, **used}
    return body, used
