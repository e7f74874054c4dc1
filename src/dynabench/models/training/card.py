"""The frame that every trained model's card has: written from the run, so that it says what happened."""

from collections.abc import Sequence
from dataclasses import dataclass

from dynabench.models.spec import Score, Spec


@dataclass(frozen=True)
class Told:
    """The parts of a card that only this run can tell; each part is lines of Markdown."""

    training: Sequence[str]
    data: Sequence[str]
    limits: str
    licence: str
    summary: Sequence[str] = ()
    header: Sequence[str] = ()
    """Further lines of the header, such as the model it was made from."""


def text(details: Spec, told: Told) -> str:
    """The card as Markdown, with the header that model hubs read."""
    return "\n".join(
        [
            "---",
            *_licence(details.licence.lower()),
            f"language: [{', '.join(details.languages)}]",
            f"pipeline_tag: {'text-classification' if details.labels else 'question-answering'}",
            *told.header,
            "---",
            f"# {details.name}",
            "",
            *told.summary,
            f"It answers the task `{details.task}`: {', '.join(details.inputs)} in, `{details.answer}` out "
            f"({', '.join(details.labels) or 'a span of the passage'}).",
            *_section("Scores", _scores(details)),
            *_section("Data", told.data),
            *_section("Training", told.training),
            *_section("Limits", [told.limits]),
            *_section("Licence", [told.licence]),
            "",
        ]
    )


def _licence(name: str) -> list[str]:
    """The header's lines: model hubs know no SPDX references, and call such a licence `other` with a name."""
    return ["license: other", f"license_name: {name}"] if name.startswith("licenseref-") else [f"license: {name}"]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _scores(details: Spec) -> list[str]:
    first, last = ("exact match", "F1") if details.kind == "extractor" else ("accuracy", "macro F1")
    rows = [
        (name, s.accuracy, s.macro_f1, s) if isinstance(s, Score) else (name, s.exact_match, s.f1, s)
        for name, s in details.scores.items()
    ]
    return [
        "Of the weights in this folder, by the code that serves them; 95 % Wilson intervals.",
        "",
        f"| set | {first} | interval | {last} | n |",
        "|---|---|---|---|---|",
        *(f"| {name} | {a:.4f} | {s.low:.4f} to {s.high:.4f} | {b:.4f} | {s.n:,} |" for name, a, b, s in rows),
    ]
