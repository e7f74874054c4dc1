"""Translation by Apertium, a free engine of rules and dictionaries (Forcada et al. 2011), as installed on this machine.

Debian and its like have a package for each pair of languages, such as `apertium-eng-spa`.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import spec, validity
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput

PROGRAM = "apertium"
PATIENCE = 20
"""Seconds that one text may take: it is read by eleven small programs, in a tenth of a second on an idle core."""


class ApertiumOptions(BaseModel):
    """Options of a translator: the section `options` of `model.yaml`."""

    model_config = ConfigDict(extra="forbid")

    directions: dict[str, str] = Field(
        min_length=1, description="Apertium's name of a direction by the pair that the task asks for: en-es: eng-spa."
    )


class ApertiumModel(Alone):
    """Reads a pair of languages such as `en-es`, then the source, and translates it."""

    at_once = 2  # it waits for other programs

    def __init__(self, card: ModelCard, directions: dict[str, str]) -> None:
        super().__init__(card)
        self._directions = directions

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Check that the program and its directions are installed; raises `Invalid` with what to install."""
        card, options = spec.card(folder), ApertiumOptions.model_validate(spec.read(folder).options)
        if len(card.inputs) != 2 or card.returns != "text":
            raise Invalid({"inputs": "It reads two, the pair of languages and the source, and returns a text."})
        packages = " ".join(f"apertium-{direction}" for direction in sorted(set(options.directions.values())))
        if shutil.which(PROGRAM) is None:
            raise Invalid({"kind": f"Apertium is not installed: apt install {packages}"})
        installed = set(_output(["-l"]).split())
        if missing := sorted(set(options.directions.values()) - installed):
            raise Invalid(
                {
                    "options.directions": f"Apertium has no {', '.join(missing)} here, only "
                    f"{', '.join(sorted(installed)) or 'none'}; packages are named like apertium-eng-spa."
                }
            )
        return cls(card, options.directions)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One translation per input; raises `Invalid` for a pair without a direction."""
        return [ModelOutput({self.card.answer: self._translate(inputs)}) for inputs in batch]

    def _translate(self, inputs: Inputs) -> str:
        pair, source = (inputs[name] for name in self.card.inputs)
        if pair not in self._directions:
            raise Invalid({self.card.inputs[0]: f"{self.card.name} translates {', '.join(self._directions)} only."})
        # Without a mark (-u) a word that it does not know stays as it is, instead of standing behind a star.
        return _output(["-u", self._directions[pair]], source.replace("\0", "")).strip()[: validity.LONGEST]


def _output(arguments: list[str], text: str = "") -> str:
    """Return what the program prints; raises `Unavailable` when it fails or takes too long."""
    try:
        result = subprocess.run(
            [PROGRAM, *arguments], input=text.encode(), capture_output=True, timeout=PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"Apertium gave no translation: {error}") from error
    return result.stdout.decode("utf-8", "replace")
