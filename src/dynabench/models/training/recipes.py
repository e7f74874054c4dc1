"""Recipes: which data, which labels, which settings a shipped model is trained with."""

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

from dynabench.kit.errors import NotFound

FOLDER = Path(__file__).parent / "recipes"
Kind = Literal["adapter", "extractor", "ngram"]
"""Classifiers over the shared encoder, extractors of an answer over it, and linear classifiers over n-grams."""
Aim = Literal["mean", "least"]
"""What a threshold makes large: the mean of the development sets' macro F1, or the least of them."""


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RecipeSource(Strict):
    """Rows of files of one format: gzipped or plain JSON lines below the data folder."""

    name: str
    files: list[str] = Field(description="Globs below the data folder.")
    columns: dict[str, str] = Field(default={}, description="Input field by column, where the names differ.")
    twin: dict[str, str] = Field(
        default={},
        description="Column by input field of a row's twin: what it was edited from or into, with another label "
        "mostly. A training row whose twin is held out goes: who remembers the one is wrong about the other.",
    )
    label: str = "label"
    labels: dict[str, str] = Field(default={}, description="Label by value, where they differ; others are dropped.")
    part: tuple[float, float] | None = Field(
        None,
        description="Only rows whose text falls in this part of the line from 0 to 1, first end included: a hash of "
        "the text and the recipe's `split_seed` decides, so that a text's copies fall on one side.",
    )
    tweets: bool = Field(False, description="Rows are tweets: no entities, addresses and RT, mentions are `@user`.")
    asked: str = Field("", description="Input whose statements become yes/no questions; rows without one are dropped.")
    limit: int | None = Field(None, description="At most so many rows, drawn at random.")
    repeat: int = Field(1, ge=1, description="How often an epoch has each training row.")
    only_among: list[str] = Field(default=[], description="Labels that the annotators could choose from; empty: all.")
    licence: str = ""
    note: str = ""


class Floor(Strict):
    """The scores that a model must reach on a test set."""

    accuracy: float | None = None
    macro_f1: float | None = None
    f1: float | None = Field(None, description="Of an extractor.")


class Adapter(Strict):
    """Settings of a LoRA adapter's training."""

    rank: int = 16
    alpha: int = 32
    lora_dropout: float = 0.05
    head_dropout: float = 0.1
    epochs: float = 4.0
    final_epochs: float = Field(0.0, description="Epochs after those, on rows that had all labels to choose from.")
    batch: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup: float = 0.06
    smoothing: float = 0.0
    word_dropout: float = Field(0.0, description="Share of words left out of half of the training inputs.")
    average: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the training, its end, over which weights are averaged; 0: the last weights.",
    )
    attention: Literal["sdpa", "eager"] = Field(
        "sdpa", description="How attention is computed while training: `eager` is quicker on inputs as short as tweets."
    )


class Ngram(Strict):
    """Settings of a linear model over n-grams."""

    bits: int = 18
    characters: tuple[int, int] | None = (2, 5)
    word_grams: int = 2
    pairs: bool = False
    strength: float = Field(1.0, description="Inverse of the L2 penalty, as scikit-learn's `C`.")
    keep: int = Field(200_000, description="Features kept, those with the largest weights first.")


class ExtractorRecipe(Strict):
    """The choice of questions that an extractor is trained on.

    Its adapter's settings stand under `adapter`.
    """

    longest: int = Field(1000, description="Passages of so many characters or more are left out.")
    once: bool = Field(True, description="Only answers that occur once in their passage.")


class Recipe(Strict):
    """Everything that decides a training run but the data folder."""

    name: str
    task: str
    kind: Kind
    summary: str
    inputs: list[str]
    answer: str = "label"
    labels: list[str] = []
    languages: list[str] = ["en"]
    licence: str
    licence_notes: str = ""
    limits: str
    max_length: int = 256
    seed: int = 0
    dev: list[RecipeSource] = Field(default=[], description="Development set; empty: a part of the training rows.")
    held_out: float = Field(0.04, description="Share of the training groups kept back where `dev` is empty.")
    split_seed: int = Field(0, description="Of the sources' `part`; apart from `seed`, so that test rows stay.")
    group: str = Field("", description="Input field whose rows stay together when splitting.")
    train: list[RecipeSource]
    test: list[RecipeSource]
    floor: dict[str, Floor] = Field(default={}, description="What a test set must reach; a bare number is accuracy.")
    calibrate: Aim | None = Field(
        None, description="Shift the bias so that the mean or the least macro F1 of the development sets is best."
    )
    adapter: Adapter = Adapter()
    ngram: Ngram = Ngram()
    extractor: ExtractorRecipe = ExtractorRecipe()

    @field_validator("floor", mode="before")
    @classmethod
    def _bare_floor(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: {"accuracy": floor} if isinstance(floor, int | float) else floor for name, floor in value.items()}


def load(name: str) -> Recipe:
    """A recipe by its name or its file's path."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in FOLDER.glob("*.yaml")))
        raise NotFound(f"There is no recipe {name!r}; there are {names}.")
    return Recipe.model_validate(yaml.safe_load(path.read_text()))


def recipes_of_task(task: str) -> list[Recipe]:
    """All committed recipes of a task, by name."""
    all_recipes = [load(file.stem) for file in sorted(FOLDER.glob("*.yaml"))]
    return [recipe for recipe in all_recipes if recipe.task == task]
