"""Handlers: Python that a builder wrote, run in a sandbox.

The folder holds `handler.py` with a class `Model`. `Model(folder)` loads, `predict(batch)` takes a list of dictionaries
by input field and returns a list of dictionaries: the answer field, `probabilities` by label if there are any, and
whatever else is to be shown, which becomes extras.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from dynabench.kit.errors import Invalid
from dynabench.kit.settings import get_settings
from dynabench.models import spec, validity
from dynabench.models.backends.base import Alone
from dynabench.models.protocol import Inputs, ModelCard, ModelOutput
from dynabench.models.sandbox.available import sandbox
from dynabench.models.sandbox.box import HandlerOptions, allowed, started_by_root
from dynabench.models.sandbox.process import HANDLER, Keeper

__all__ = ["HandlerModel", "HandlerOptions"]
PROBABILITIES = "probabilities"


class HandlerModel(Alone):
    """A handler in its sandbox."""

    def __init__(self, card: ModelCard, keeper: Keeper) -> None:
        super().__init__(card)
        self._keeper = keeper

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a handler; raises `Invalid` when it is broken and `Unavailable` where nothing can confine it."""
        card = spec.card(folder)
        options = allowed(HandlerOptions.model_validate(spec.read(folder).options), get_settings())
        if not (folder / HANDLER).is_file():
            raise Invalid({HANDLER: f"The folder needs a file {HANDLER} with a class Model."})
        if started_by_root() and (closed := _closed(folder)):
            message = f"The sandbox runs as another user, who cannot read {closed}: chmod -R go+rX {folder}"
            raise Invalid({HANDLER: message})
        keeper = Keeper(card.name, sandbox(), folder, options)
        try:
            keeper.load()
        except BaseException:
            keeper.close()
            raise
        return cls(card, keeper)

    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input; raises `Broken` for what is no answer, `Unavailable` when the handler ended twice."""
        rows = self._keeper.predict([self.prepare(inputs).inputs for inputs in batch])
        if not isinstance(rows, list):
            raise validity.Broken(f"{self.card.name} returned a {type(rows).__name__}; predict returns a list.")
        return validity.check_outputs(self.card, batch, [self._output(row) for row in rows])

    def log(self) -> list[str]:
        """The last 200 lines that the handler printed."""
        return self._keeper.log()

    def close(self) -> None:
        """End the handler's processes."""
        self._keeper.close()

    def _output(self, row: Any) -> ModelOutput:
        if not isinstance(row, dict):
            message = (
                f"{self.card.name} returned a list of {type(row).__name__}; predict returns a list of dictionaries."
            )
            raise validity.Broken(message)
        answer = {name: row[name] for name in (self.card.answer,) if name in row}
        extras = {name: value for name, value in row.items() if name not in (self.card.answer, PROBABILITIES)}
        return ModelOutput(answer, row.get(PROBABILITIES), extras)


def _closed(folder: Path) -> str:
    """The first file or folder that only its owner may read; empty without one."""
    for path in (folder, *sorted(folder.rglob("*"))):
        needed = 0o005 if path.is_dir() else 0o004
        if path.stat().st_mode & needed != needed:
            return path.name
    return ""
