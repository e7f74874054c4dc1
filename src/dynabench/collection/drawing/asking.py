"""Has models draw and stores what they drew, checked as an upload is, while nothing of the database is held."""

import base64
import binascii
from collections.abc import Sequence

from anyio import to_thread

from dynabench.collection import targets
from dynabench.collection.drawing import service
from dynabench.collection.drawing.service import Side, Wanted
from dynabench.collection.drawing.tables import Sheet
from dynabench.kit.db import Database
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.facts import UploadRefused
from dynabench.models.client import Answer, Host
from dynabench.models.validity import DRAWN


async def draw(db: Database, host: Host, settings: Settings, wanted: Wanted) -> Sheet:
    """The sheet of all models' pictures; `Unavailable` where one draws nothing, or something that is not taken."""
    if wanted.sheet is not None:
        return wanted.sheet
    answers = await targets.gather(host, wanted.targets, wanted.inputs)
    sides = await to_thread.run_sync(_stored, settings, wanted, answers)
    return await db.awrite(service.keep, wanted, sides)


def _stored(settings: Settings, wanted: Wanted, answers: Sequence[Answer]) -> list[Side]:
    return [_side(settings, wanted, answer) for answer in answers]


def _side(settings: Settings, wanted: Wanted, answer: Answer) -> Side:
    drawn = answer.answer.get(wanted.field.name)
    if not isinstance(drawn, list) or not 1 <= len(drawn) <= DRAWN:
        raise Unavailable(_("A model answered without pictures. Tell the owner of the task."))
    try:
        stored = [media.store_upload(settings, _content(each), wanted.field) for each in drawn]
    except (UploadRefused, ValueError) as problem:
        told = problem.told if isinstance(problem, UploadRefused) else _("It cannot be read.")
        raise Unavailable(
            _("A model drew something that is not taken. %(told)s Tell the owner of the task.", told=told)
        ) from problem
    return Side(answer.model, answer.version, answer.latency_ms, tuple(stored))


def _content(text: object) -> bytes:
    """The bytes of a picture as `data:` text; raises ValueError."""
    head, _, packed = str(text).partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValueError("no picture")
    try:
        return base64.b64decode(packed, validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error
