"""A picture that the round's models draw of what a person writes, chosen among several."""

from typing import ClassVar, Literal

from pydantic import model_validator

from dynabench.kit.language import _
from dynabench.tasks.fields.image import Image
from dynabench.tasks.section import Name, Setting


class Drawing(Image):
    """One of the pictures that models draw of the input's texts; the model stays hidden until the example is sent.

    The value is that of an `image`. The input may have one drawing.
    """

    type: Literal["drawing"] = "drawing"  # type: ignore[assignment]
    upload: bool = Setting(False, description="Nothing is sent here: models draw.")
    attempts: int = Setting(20, ge=1, le=200, description="How often pictures may be drawn on what a person was given.")
    claims: dict[Name, str] = Setting(
        {},
        max_length=10,
        description="Answers that models stand for by drawing, such as harm: none. A model is fooled where it drew the "
        "picture that was chosen and the annotator's answer differs from it.",
    )

    missing: ClassVar[str] = _("Have pictures drawn and choose one.")

    @model_validator(mode="after")
    def _is_only_drawn(self) -> "Drawing":
        if self.upload or self.choose_from:
            raise ValueError(_("Models draw it: leave upload and choose_from out."))
        return self
