"""Whether what a model returned is an answer: the same check where models are tried out and where they are served."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.errors import Unavailable
from dynabench.language import _
from dynabench.models.protocol import LARGEST, Card, Inputs, Output
from dynabench.storable import unstorable

SLACK = 1e-3
"""By how much probabilities may miss one."""
LONGEST = 20_000
"""Characters of a written answer."""
MOST = 1000
"""Spans of an answer, or texts with a probability."""
DRAWN = 12
"""Pictures of an answer."""
EXTRAS = 2**18
"""Characters of JSON that extras may take."""
SPAN = {"start", "end", "text"}


class Broken(Unavailable):
    """A model returned something that is no answer; says which row, what is wrong and what would be right."""


def checked(card: Card, batch: Sequence[Inputs], outputs: Any) -> list[Output]:
    """The outputs, one for each input of the batch, if each is an answer; raises `Broken`."""
    if not isinstance(outputs, list | tuple) or not all(isinstance(output, Output) for output in outputs):
        raise Broken(_("%(name)s did not return a list of outputs.", name=card.name))
    if len(outputs) != len(batch):
        raise Broken(
            _(
                "%(name)s returned %(n)s outputs for %(n2)s inputs; one for each is needed.",
                name=card.name,
                n=len(outputs),
                n2=len(batch),
            )
        )
    for row, (inputs, output) in enumerate(zip(batch, outputs, strict=True)):
        if told := _wrong(card, inputs, output):
            raise Broken(_("%(name)s, output %(row)s: %(told)s", name=card.name, row=row, told=told))
    return list(outputs)


def _wrong(card: Card, inputs: Inputs, output: Output) -> str:
    if not isinstance(output.answer, Mapping) or card.answer not in output.answer:
        return _("the answer lacks %(answer)s.", answer=repr(card.answer))
    answer = output.answer[card.answer]
    if card.returns == "label" and answer not in card.labels:
        return _("%(answer)s is none of the labels %(names)s.", answer=_short(answer), names=", ".join(card.labels))
    if card.returns == "text" and (not isinstance(answer, str) or len(answer) > LONGEST):
        return _(
            "a text of up to %(longest)s characters is needed, not %(answer)s.", longest=LONGEST, answer=_short(answer)
        )
    if card.returns in ("spans", "tags") and (told := _wrong_spans(card, inputs, answer)):
        return told
    if card.returns == "pictures" and (told := _wrong_pictures(answer)):
        return told
    return (
        _wrong_probabilities(card, output.probabilities)
        or _wrong_extras(output.extras)
        or _wrong_text(inputs, answer, output.probabilities, output.extras)
    )


def _wrong_spans(card: Card, inputs: Inputs, answer: Any) -> str:
    text = str(inputs.get(card.inputs[-1], ""))
    if not isinstance(answer, list) or len(answer) > MOST:
        return _("a list of up to %(most)s spans is needed, not %(answer)s.", most=MOST, answer=_short(answer))
    for span in answer:
        if not isinstance(span, Mapping) or not all(type(span.get(end)) is int for end in ("start", "end")):
            return _("a span is {start, end, text} with whole numbers, not %(span)s.", span=_short(span))
        if strangers := set(span) - (SPAN | {"label"} if card.returns == "tags" else SPAN):
            return _(
                "a span has no %(value)s; put what else there is to say into extras.", value=_short(strangers.pop())
            )
        start, end = span["start"], span["end"]
        if not 0 <= start <= end <= len(text) or span.get("text") != text[start:end]:
            return _(
                "the span %(span)s is not what %(inputs)s says there.", span=_short(span), inputs=repr(card.inputs[-1])
            )
        if card.returns == "tags" and span.get("label") not in card.labels:
            return _(
                "%(value)s is none of the labels %(names)s.",
                value=_short(span.get("label")),
                names=", ".join(card.labels),
            )
    return ""


def _wrong_pictures(answer: Any) -> str:
    if not isinstance(answer, list) or not 1 <= len(answer) <= DRAWN:
        return _("a list of 1 to %(drawn)s pictures is needed, not %(answer)s.", drawn=DRAWN, answer=_short(answer))
    for picture in answer:
        if not isinstance(picture, str) or not picture.startswith("data:image/") or len(picture) > LARGEST:
            return _(
                "a picture is a data:image/... text of up to %(largest)s MiB, not %(picture)s.",
                largest=LARGEST // 2**20,
                picture=_short(picture),
            )
    return ""


def _wrong_probabilities(card: Card, known: Any) -> str:
    if known is None:
        return ""
    if not isinstance(known, Mapping):
        return _("probabilities are an object from label to number, not %(known)s.", known=_short(known))
    for label, value in known.items():
        if not isinstance(value, float | int) or isinstance(value, bool):
            return _(
                "the probability of %(label)s is %(value)s, a %(name)s, not a number.",
                label=_short(label),
                value=_short(value),
                name=type(value).__name__,
            )
        if not -SLACK <= value <= 1 + SLACK:
            return _(
                "the probability of %(label)s is %(value)s; it must lie between 0 and 1.",
                label=_short(label),
                value=_short(value),
            )
    if card.returns != "label":
        fits = len(known) <= MOST and all(isinstance(text, str) and len(text) <= LONGEST for text in known)
        return (
            ""
            if fits
            else _(
                "probabilities are given for up to %(most)s texts of up to %(longest)s characters.",
                most=MOST,
                longest=LONGEST,
            )
        )
    if set(known) != set(card.labels):
        return _(
            "probabilities are given for %(value)s; needed: %(names)s.",
            value=_short(sorted(map(str, known))),
            names=", ".join(card.labels),
        )
    total = sum(known.values())
    return (
        ""
        if abs(total - 1) <= SLACK
        else _("the probabilities sum to %(total)s, not 1; apply a softmax.", total=f"{total:.4g}")
    )


def _wrong_extras(extras: Any) -> str:
    if not extras:
        return ""
    try:
        size = len(json.dumps(extras, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return _("extras must be values of JSON, not %(extras)s.", extras=_short(extras))
    return (
        ""
        if size <= EXTRAS
        else _("extras take %(size)s characters as JSON; %(extras)s at most are kept.", size=size, extras=EXTRAS)
    )


def _wrong_text(inputs: Inputs, *said: Any) -> str:
    """What is wrong with text that cannot be stored; where the inputs hold such text, an answer may quote it."""
    if not any(unstorable(list(said))) or any(unstorable(list(inputs.values()))):
        return ""
    return _("it holds NUL, half a surrogate pair or very deep nesting, which cannot be stored; write valid Unicode.")


def _short(value: Any) -> str:
    try:
        told = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, or nesting without end
        return _("a %(name)s beyond measure", name=type(value).__name__)
    return told if len(told) <= 80 else f"{told[:77]}..."
