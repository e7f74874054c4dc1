"""Cards and records of trained models: what a run learnt from, how, and how well."""

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from dynabench.models import encoder
from dynabench.models.runtime import trains_in_bf16
from dynabench.models.spec import LabelScore, Spec
from dynabench.models.training import mixing
from dynabench.models.training.learning import Learned, LearningSettings
from dynabench.models.training.mixing import Guarded, Mix
from dynabench.models.training.recipes import Recipe, RecipeSource
from dynabench.models.training.rows import PreparedRows

if TYPE_CHECKING:
    from dynabench.models.training.run import Cost


@dataclass(frozen=True)
class CardParts:
    """The parts of a card that only this run can tell; each part is lines of Markdown."""

    training: Sequence[str]
    data: Sequence[str]
    limits: str
    licence: str
    summary: Sequence[str] = ()
    header: Sequence[str] = ()
    """Further lines of the header, such as the model it was made from."""


def card_text(details: Spec, parts: CardParts) -> str:
    """The card as Markdown, with the header that model hubs read."""
    return "\n".join(
        [
            "---",
            *_licence(details.licence.lower()),
            f"language: [{', '.join(details.languages)}]",
            f"pipeline_tag: {'text-classification' if details.labels else 'question-answering'}",
            *parts.header,
            "---",
            f"# {details.name}",
            "",
            *parts.summary,
            f"It answers the task `{details.task}`: {', '.join(details.inputs)} in, `{details.answer}` out "
            f"({', '.join(details.labels) or 'a span of the passage'}).",
            *_section("Scores", _scores(details)),
            *_section("Data", parts.data),
            *_section("Training", parts.training),
            *_section("Limits", [parts.limits]),
            *_section("Licence", [parts.licence]),
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
        (name, s.accuracy, s.macro_f1, s) if isinstance(s, LabelScore) else (name, s.exact_match, s.f1, s)
        for name, s in details.scores.items()
    ]
    return [
        "Of the weights in this folder, by the code that serves them; 95 % Wilson intervals.",
        "",
        f"| set | {first} | interval | {last} | n |",
        "|---|---|---|---|---|",
        *(f"| {name} | {a:.4f} | {s.low:.4f} to {s.high:.4f} | {b:.4f} | {s.n:,} |" for name, a, b, s in rows),
    ]


PACKAGES = ("dynabench", "numpy", "scipy", "torch", "transformers", "peft", "safetensors")
OTHER = "other"
LIMITS = (
    "It is as good as its sources: it knows what their writers wrote about, and their mistakes. Rounds are "
    "written to fool models; shares of labels and of kinds of text in them are not those of any other use."
)


def licence(mix: Mix, settings: LearningSettings) -> str:
    """The one licence of all sources and of the model that was trained further; `other` where they differ, or one has
    none."""
    licences = {part.licence for part in mix.parts} | ({settings.begun.licence} if settings.begun else set())
    return licences.pop() if len(licences) == 1 and all(licences) else OTHER


SUMMARIES = {
    "ngram": "A linear model over n-grams of characters and words, trained on {sources}.",
    "head": "A classifier over the frozen encoder {base}, trained on {sources}.",
    "lora": "A LoRA adapter on {base}, trained on {sources}.",
    "full": "{base} with all weights trained on {sources}.",
}
FURTHER_SUMMARIES = {
    "head": "{base} with its last layer retrained on {sources}.",
    "lora": "{base}, trained further on {sources} with a LoRA adapter.",
    "full": "{base} with all weights trained further on {sources}.",
}
"""The descriptions of models that were begun with another model of the task."""
DIGEST = re.compile(r" \([0-9a-f]{12}\)$")


def mix_summary(mix: Mix, settings: LearningSettings) -> str:
    """The description of the model in one sentence; the card names its sources with their digests."""
    base = settings.origin.partition("@")[0].rpartition("/")[2]
    texts = FURTHER_SUMMARIES if settings.begun and settings.method in FURTHER_SUMMARIES else SUMMARIES
    return texts[settings.method].format(base=base, sources=_source_names(mix))


def _source_names(mix: Mix) -> str:
    """The sources by names without digests, the rounds of the mix's own task first, by their numbers."""
    numbers = sorted({part.round for part in mix.parts if part.round is not None})
    rounds = f"round{'s' * (len(numbers) > 1)} {listed_text([str(number) for number in numbers])} of {mix.task}"
    others = [DIGEST.sub("", part.name) for part in mix.parts if part.round is None]
    return listed_text([*([rounds] if numbers else []), *others])


def listed_text(names: Sequence[str]) -> str:
    """Return the names as a list in a sentence: `a, b and c`."""
    return " and ".join((", ".join(names[:-1]), names[-1]) if len(names) > 1 else names)


def record(ready: Guarded, settings: LearningSettings, learned: Learned) -> dict[str, Any]:
    """The sources, the settings and the evaluations on the way; without times, which differ from run to run."""
    share = mixing.shares(ready.mix.parts)
    return {
        "method": settings.method,
        "base": settings.origin,
        "seed": settings.seed,
        "epochs": settings.epochs,
        "patience": settings.patience,
        "minutes": settings.minutes,
        "sources": [
            {
                "name": part.name,
                "licence": part.licence,
                "weight": part.weight,
                "rows": len(part.rows),
                "dropped": ready.dropped[part.name],
                "share": round(share[part.name], 4),
            }
            for part in ready.mix.parts
        ],
        "evaluations": [{"at": at, "score": e.score, "loss": e.loss} for at, e in learned.course.evaluations],
        "stopped": learned.stopped,
    }


def mix_card(details: Spec, ready: Guarded, settings: LearningSettings, learned: Learned) -> str:
    """The card as Markdown."""
    encoded = settings.method != "ngram" and settings.origin == settings.base
    parts = CardParts(
        header=[f"base_model: {settings.base}"] if encoded else [],
        data=_mix_sources(ready),
        training=_training(ready, settings, learned),
        limits=LIMITS,
        licence=_licence_note(details, ready.mix, settings),
    )
    return card_text(details, parts)


def _mix_sources(ready: Guarded) -> list[str]:
    share = mixing.shares(ready.mix.parts)
    kept_back = "a tenth of the groups of training rows, kept back" if ready.kept_back else "the development set given"
    return [
        "| source | licence | rows | weight | share of an epoch |",
        "|---|---|---|---|---|",
        *(
            f"| {part.name} | {part.licence or 'not stated'} | {len(part.rows):,} | {part.weight:g} | "
            f"{share[part.name]:.1%} |"
            for part in ready.mix.parts
        ),
        "",
        f"{sum(ready.dropped.values()):,} training rows were dropped because their text occurs in a set that models "
        f"are chosen or tested on. `dev` is {kept_back}.",
    ]


def _training(ready: Guarded, settings: LearningSettings, learned: Learned) -> list[str]:
    best = learned.course.best
    ended = f"stopped after {settings.patience} evaluations without a better one" if learned.stopped else "ran its plan"
    time = f"{learned.seconds:.1f} seconds" if learned.seconds < 120 else f"{learned.seconds / 60:.1f} minutes"
    return [
        f"{learned.description}; seed {settings.seed}, {learned.examples:,} rows, {time}.",
        f"Of {len(learned.course.evaluations)} evaluations on `dev` the best is kept: score {best[1].score:.4f}, loss "
        f"{best[1].loss:.4f}. It {ended}.",
        "",
        f"Versions: Python {platform.python_version()}, {', '.join(_versions())}.",
    ]


def _versions() -> list[str]:
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return versions


def _licence_note(details: Spec, mix: Mix, settings: LearningSettings) -> str:
    if details.licence != OTHER:
        return f"{details.licence}, as its sources."
    sources = [(part.name, part.licence) for part in mix.parts]
    if settings.begun:
        sources.append((settings.origin, settings.begun.licence))
    listed = "; ".join(f"{name}: {source_licence or 'not stated'}" for name, source_licence in sources)
    encoded = "" if details.kind == "ngram" else f" The encoder ({encoder.HUB_ID}) is Apache-2.0."
    return f"Its sources have several licences: {listed}.{encoded if details.kind != 'transformers' else ''}"


BASE = ("base_model: sentence-transformers/all-MiniLM-L6-v2", "library_name: peft")


def recipe_card(recipe: Recipe, details: Spec, prepared: PreparedRows[Any], cost: "Cost") -> str:
    """The card as Markdown."""
    parts = CardParts(
        header=BASE if recipe.kind != "ngram" else (),
        summary=[recipe.summary],
        data=_recipe_sources(recipe, prepared),
        training=[_recipe_settings(recipe, cost)],
        limits=recipe.limits.strip(),
        licence=f"{recipe.licence}. {recipe.licence_notes.strip()}",
    )
    return card_text(details, parts)


def _recipe_sources(recipe: Recipe, prepared: PreparedRows[Any]) -> list[str]:
    def line(source: RecipeSource) -> str:
        note = f"; {source.note}" if source.note else ""
        return f"- {source.name} ({source.licence}): {prepared.counts[source.name]:,} rows{note}"

    development = ", ".join(source.name for source in recipe.dev) or "a part of the training rows, kept back"
    or_twin = " or that of their twin" if any(source.twin for source in recipe.train) else ""
    return [
        *(line(source) for source in recipe.train),
        "",
        f"{prepared.overlap:,} training rows were dropped because their text{or_twin} occurs in a test or "
        "development set. "
        f"`dev` is {development}.",
    ]


def _recipe_settings(recipe: Recipe, cost: "Cost") -> str:
    device = "graphics processor" if cost.device == "cuda" else "processor"
    minutes = f"{cost.seconds / 60:.1f} minutes on a {device}, seed {recipe.seed}"
    if recipe.kind == "ngram":
        n = recipe.ngram
        sizes = f"characters of {n.characters[0]} to {n.characters[1]} and " if n.characters else ""
        pairs = " and pairs of words across the two texts" if n.pairs else ""
        return (
            f"Softmax regression over hashed n-grams (2^{n.bits} columns; {sizes}words up to {n.word_grams}{pairs}), "
            f"L2 penalty with C = {n.strength}, {minutes}. Recipe: `{recipe.name}.yaml`."
        )
    a = recipe.adapter
    mean = f"mean of the weights over the last {a.average:.0%} of the training, " if a.average else ""
    return (
        f"LoRA of rank {a.rank} on all linear layers, {cost.examples:,} examples ({cost.epochs:.1f} epochs), batches "
        f"of {a.batch} of like length, AdamW at {a.learning_rate:g} with warm-up and cosine, label smoothing "
        f"{a.smoothing:g}, word dropout {a.word_dropout:g}, {mean}"
        f"{'bf16 autocast' if trains_in_bf16(cost.device) else 'fp32'}; {minutes}. "
        f"Recipe: `{recipe.name}.yaml`."
    )
