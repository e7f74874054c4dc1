"""Evaluators: `evaluator(task)` scores a model on a data set by a metric."""

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dynabench.evaluate.evaluator.data import choose_split

if TYPE_CHECKING:
    from dynabench.evaluate.evaluator.base import Evaluator

__all__ = ["choose_split", "evaluator", "get_supported_tasks"]

TASKS = {
    "text-classification": ("label_tasks", "TextClassificationEvaluator"),
    "natural-language-inference": ("label_tasks", "NaturalLanguageInferenceEvaluator"),
    "zero-shot-classification": ("label_tasks", "ZeroShotClassificationEvaluator"),
    "image-classification": ("label_tasks", "ImageClassificationEvaluator"),
    "audio-classification": ("label_tasks", "AudioClassificationEvaluator"),
    "token-classification": ("label_tasks", "TokenClassificationEvaluator"),
    "question-answering": ("text_tasks", "QuestionAnsweringEvaluator"),
    "text-generation": ("text_tasks", "TextGenerationEvaluator"),
    "text2text-generation": ("text_tasks", "Text2TextGenerationEvaluator"),
    "summarization": ("text_tasks", "SummarizationEvaluator"),
    "translation": ("text_tasks", "TranslationEvaluator"),
    "automatic-speech-recognition": ("text_tasks", "AutomaticSpeechRecognitionEvaluator"),
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
