"""Outcomes of suggestions.

The server alone decides them, when it records an example.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import Levenshtein
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection.assisting.tables import Assistance, Suggestion
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import Verdict

OUTCOMES = ("accepted", "edited", "ignored")


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Check the suggestion that a text was made from; `Invalid` where none such was shown on this handout."""
    suggestion = session.get(Suggestion, body.suggestion)
    if suggestion is None or suggestion.handout_id != handout.handout_id:
        raise errors.Invalid({"suggestion": _("Nothing was suggested to you here under this number. Leave it out.")})
    return body, {"suggestion": body.suggestion}


def recorded(session: Session, draft: "Draft", verdict: "Verdict", example_id: int) -> None:
    """Write down what became of what was suggested on the draft's handout; nothing where nothing was."""
    given = draft.handout
    if given is None:
        return
    shown = session.scalars(select(Suggestion).where(Suggestion.handout_id == given.id).order_by(Suggestion.id)).all()
    if shown:
        session.add(_became(shown, draft, example_id))


def _became(shown: Sequence[Suggestion], draft: "Draft", example_id: int) -> Assistance:
    """Accepted: the text is word for word a suggestion's, whether or not its author says that they used one."""
    texts = {each.field: str(draft.input.get(each.field) or "") for each in shown}
    mine = next((each for each in shown if each.id == draft.suggestion), None)
    same = [each for each in shown if each.text == texts[each.field]]
    origin = mine if mine in same else same[0] if same else mine
    if origin is None:
        return Assistance(example_id=example_id, shown=len(shown), outcome="ignored")
    return Assistance(
        example_id=example_id,
        shown=len(shown),
        outcome="accepted" if origin in same else "edited",
        distance=Levenshtein.distance(origin.text, texts[origin.field]),
        provider=origin.provider,
        model=origin.model,
        version=origin.version,
        text=origin.text,
    )
