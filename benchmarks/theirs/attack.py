"""TextAttack's DeepWordBug against one of our targets: `python attack.py ROWS.json ATTEMPTS.json`.

Runs in an environment that has TextAttack and this package. TextAttack imports flair for a tagger that this recipe does
not use and that needs older transformers, so an empty module stands in its place.
"""

import importlib.machinery
import json
import sys
import time
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

for _name in ("flair", "flair.data", "flair.models"):
    sys.modules[_name] = types.ModuleType(_name)
    sys.modules[_name].__spec__ = importlib.machinery.ModuleSpec(_name, None)
_flair: Any = sys.modules["flair"]
_flair.device, _flair.data, _flair.models = None, sys.modules["flair.data"], sys.modules["flair.models"]
_flair.data.Sentence = _flair.data.Tokenizer = _flair.models.SequenceTagger = object

import numpy as np  # noqa: E402
from textattack import Attack  # noqa: E402
from textattack.attack_recipes import DeepWordBugGao2018  # noqa: E402
from textattack.attack_results import SuccessfulAttackResult  # noqa: E402
from textattack.constraints.pre_transformation import InputColumnModification  # noqa: E402
from textattack.models.wrappers import ModelWrapper  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402

from dynabench.models import catalog  # noqa: E402


class Wrapper(ModelWrapper):
    """Our target as TextAttack asks it: texts, or tuples of them, in; probabilities out."""

    def __init__(self, name: str) -> None:
        self.model = catalog.open_model(catalog.entry(name).folder)

    def __call__(self, texts: list[Any], **_: Any) -> np.ndarray:
        """Shape (texts, labels)."""
        card = self.model.card
        batch = [dict(zip(card.inputs, (text,) if isinstance(text, str) else text, strict=True)) for text in texts]
        return np.array([[out.probabilities[label] for label in card.labels] for out in self.model.predict(batch)])


def main() -> None:
    """Attack row after row until `n` of them were answered correctly."""
    request = json.loads(Path(sys.argv[1]).read_text())
    wrapper = Wrapper(request["model"])
    card = wrapper.model.card
    attack: Attack = DeepWordBugGao2018.build(wrapper)
    if request["kept"]:
        attack.pre_transformation_constraints.append(InputColumnModification(list(card.inputs), set(request["kept"])))
    attack.goal_function.query_budget = request["queries"]
    match: list[dict[str, Any]] = []
    for number, row in enumerate(request["rows"]):
        if len(match) == request["n"]:
            break
        label, texts = card.labels.index(row["label"]), {name: row["inputs"][name] for name in card.inputs}
        if int(wrapper([tuple(texts.values()) if len(texts) > 1 else next(iter(texts.values()))])[0].argmax()) != label:
            continue
        begun = time.monotonic()
        result = attack.attack(AttackedText(OrderedDict(texts)), label)
        end = result.perturbed_result
        changed = dict(end.attacked_text._text_input)
        match.append(
            {
                "row": number,
                "inputs": changed,
                "fooled": isinstance(result, SuccessfulAttackResult),
                "queries": result.num_queries,
                "predicted": card.labels[int(end.output)],
                "seconds": time.monotonic() - begun,
            }
        )
    Path(sys.argv[2]).write_text(json.dumps(match))


if __name__ == "__main__":
    main()
