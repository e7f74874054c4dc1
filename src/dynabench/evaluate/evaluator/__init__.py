"""Evaluators: `evaluator(task)` scores a model on a data set by a metric."""

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dynabench.evaluate.evaluator.splits import choose_split

if TYPE_CHECKING:
    from dynabench.evaluate.evaluator.base import Evaluator

__all__ = ["choose_split", "evaluator", "get_supported_tasks"]

TASKS = {
    "text-classification": ("classifying", "TextClassificationEvaluator"),
    "natural-language-inference": ("classifying", "NaturalLanguageInferenceEvaluator"),
    "zero-shot-classification": ("zero_shot", "ZeroShotClassificationEvaluator"),
    "image-classification": ("classifying", "ImageClassificationEvaluator"),
    "audio-classification": ("classifying", "AudioClassificationEvaluator"),
    "token-classification": ("token_classification", "TokenClassificationEvaluator"),
    "question-answering": ("question_answering", "QuestionAnsweringEvaluator"),
    "text-generation": ("generating", "TextGenerationEvaluator"),
    "text2text-generation": ("generating", "Text2TextGenerationEvaluator"),
    "summarization": ("generating", "SummarizationEvaluator"),
    "translation": ("generating", "TranslationEvaluator"),
    "automatic-speech-recognition": ("generating", "AutomaticSpeechRecognitionEvaluator"),
}
ALIASES = {"sentiment-analysis": "text-classification", "ner": "token-classification"}


def get_supported_tasks() -> list[str]:
    """Return the names of all tasks; `translation_xx_to_yy` is one of translation."""
    return [*TASKS, *ALIASES]


def evaluator(task: str) -> "Evaluator":
    """Return the evaluator of a task, such as "text-classification".

    Raises KeyError, listing all names, for an unknown task.
    """
    name = "translation" if re.fullmatch(r"translation_\w+_to_\w+", task) else ALIASES.get(task, task)
    if name not in TASKS:
        raise KeyError(f"no task {task!r}; there are {', '.join(get_supported_tasks())}")
    file, kind = TASKS[name]
    instance: Evaluator = getattr(import_module(f"{__name__}.{file}"), kind)(task if name == "translation" else name)
    return instance


class _Callable(ModuleType):
    """`dynabench.evaluate.evaluator` is this package and the function in it: importing one must not hide the other."""

    def __call__(self, task: str) -> Any:
        return evaluator(task)


sys.modules[__name__].__class__ = _Callable
