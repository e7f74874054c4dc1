"""The card of a model that was trained by a recipe."""

from typing import TYPE_CHECKING, Any

from dynabench.models.runtime import trains_in_bf16
from dynabench.models.spec import Spec
from dynabench.models.training import card
from dynabench.models.training.recipes import Recipe, Source
from dynabench.models.training.rows import Prepared

if TYPE_CHECKING:
    from dynabench.models.training.run import Cost

BASE = ("base_model: sentence-transformers/all-MiniLM-L6-v2", "library_name: peft")


def text(recipe: Recipe, details: Spec, prepared: Prepared[Any], cost: "Cost") -> str:
    """The card as Markdown."""
    told = card.Told(
        header=BASE if recipe.kind != "ngram" else (),
        summary=[recipe.summary],
        data=_sources(recipe, prepared),
        training=[_settings(recipe, cost)],
        limits=recipe.limits.strip(),
        licence=f"{recipe.licence}. {recipe.licence_notes.strip()}",
    )
    return card.text(details, told)


def _sources(recipe: Recipe, prepared: Prepared[Any]) -> list[str]:
    def line(source: Source) -> str:
        note = f"; {source.note}" if source.note else ""
        return f"- {source.name} ({source.licence}): {prepared.counts[source.name]:,} rows{note}"

    development = ", ".join(source.name for source in recipe.dev) or "a part of the training rows, kept back"
    return [
        *(line(source) for source in recipe.train),
        "",
        f"{prepared.overlap:,} training rows were dropped because their text{_or_twin(recipe)} occurs in a test or "
        "development set. "
        f"`dev` is {development}.",
    ]


def _or_twin(recipe: Recipe) -> str:
    return " or that of their twin" if any(source.twin for source in recipe.train) else ""


def _settings(recipe: Recipe, cost: "Cost") -> str:
    minutes = f"{cost.seconds / 60:.1f} minutes on a processor, seed {recipe.seed}"
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
        f"{'bf16 autocast' if trains_in_bf16('cpu') else 'fp32'}; {minutes}. "
        f"Recipe: `{recipe.name}.yaml`."
    )
