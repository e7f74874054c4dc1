"""The report on a model that was trained on a mix: the card for people, the record for programs."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dynabench.models import encoder
from dynabench.models.spec import Spec
from dynabench.models.training import card, mixing
from dynabench.models.training.learning import Learned, Settings
from dynabench.models.training.mixing import Guarded, Mix

PACKAGES = ("dynabench", "numpy", "scipy", "torch", "transformers", "peft", "safetensors")
OTHER = "other"
LIMITS = (
    "It is as good as its sources: it knows what their writers wrote about, and their mistakes. Rounds are "
    "written to fool models; shares of labels and of kinds of text in them are not those of any other use."
)


def licence(mix: Mix, settings: Settings) -> str:
    """The one licence of all sources and of the model that was trained further; `other` where they differ, or one has
    none."""
    found = {part.licence for part in mix.parts} | ({settings.begun.licence} if settings.begun else set())
    return found.pop() if len(found) == 1 and all(found) else OTHER


def record(ready: Guarded, settings: Settings, learned: Learned) -> dict[str, Any]:
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
        "evaluations": [{"at": at, "score": e.score, "loss": e.loss} for at, e in learned.course.found],
        "stopped": learned.stopped,
    }


def text(details: Spec, ready: Guarded, settings: Settings, learned: Learned) -> str:
    """The card as Markdown."""
    encoded = settings.method != "ngram" and settings.origin == settings.base
    told = card.Told(
        header=[f"base_model: {settings.base}"] if encoded else [],
        data=_sources(ready),
        training=_training(ready, settings, learned),
        limits=LIMITS,
        licence=_licence(details, ready.mix, settings),
    )
    return card.text(details, told)


def _sources(ready: Guarded) -> list[str]:
    share = mixing.shares(ready.mix.parts)
    kept_back = "a tenth of the groups of training rows, kept back" if ready.kept_back else "the development set given"
    return [
        "| source | licence | rows | weight | share of an epoch |",
        "|---|---|---|---|---|",
        *(
            f"| {part.name} | {part.licence or 'not told'} | {len(part.rows):,} | {part.weight:g} | "
            f"{share[part.name]:.1%} |"
            for part in ready.mix.parts
        ),
        "",
        f"{sum(ready.dropped.values()):,} training rows were dropped because their text occurs in a set that models "
        f"are chosen or tested on. `dev` is {kept_back}.",
    ]


def _training(ready: Guarded, settings: Settings, learned: Learned) -> list[str]:
    best = learned.course.best
    ended = f"stopped after {settings.patience} evaluations without a better one" if learned.stopped else "ran its plan"
    time = f"{learned.seconds:.1f} seconds" if learned.seconds < 120 else f"{learned.seconds / 60:.1f} minutes"
    return [
        f"{learned.told}; seed {settings.seed}, {learned.examples:,} rows, {time}.",
        f"Of {len(learned.course.found)} evaluations on `dev` the best is kept: score {best[1].score:.4f}, loss "
        f"{best[1].loss:.4f}. It {ended}.",
        "",
        f"Versions: Python {platform.python_version()}, {', '.join(_versions())}.",
    ]


def _versions() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _licence(details: Spec, mix: Mix, settings: Settings) -> str:
    if details.licence != OTHER:
        return f"{details.licence}, as its sources."
    sources = [(part.name, part.licence) for part in mix.parts]
    if settings.begun:
        sources.append((settings.origin, settings.begun.licence))
    told = "; ".join(f"{name}: {found or 'not told'}" for name, found in sources)
    encoded = "" if details.kind == "ngram" else f" The encoder ({encoder.HUB_ID}) is Apache-2.0."
    return f"Its sources have several licences: {told}.{encoded if details.kind != 'transformers' else ''}"
