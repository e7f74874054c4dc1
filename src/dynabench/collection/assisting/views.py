"""The help with writing on the create page."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.collection.assisting import service
from dynabench.collection.assisting.tables import Suggestion
from dynabench.collection.forms import Posted
from dynabench.collection.schemas import HandoutOut
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Text
from dynabench.tasks.sections import assisted_field


@dataclass(frozen=True)
class Help:
    """The field that is helped with, what was suggested last, how often one may still ask.

    `used` is the id of the suggestion that the text is made from, 0 for none, and `before` what stood there before.
    `problems` say why a provider had nothing; `fresh` is true right after asking.
    """

    field: Text
    suggestions: Sequence[Suggestion]
    left: int
    used: int = 0
    before: str = ""
    problems: Sequence[str] = ()
    fresh: bool = False


def view(session: Session, handout: HandoutOut, config: TaskConfig, posted: Posted | None) -> Help | None:
    """The help on a handout; None where none is offered."""
    field = assisted_field(config)
    if not handout.assistant or handout.handout is None or field is None:
        return None
    left = config.assistant.times - service.asked_before(session, handout.handout)
    return Help(field, service.shown(session, handout.handout), left, posted.suggestion_id if posted else 0)
