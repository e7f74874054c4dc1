"""Names of the tasks in modules' cards for pages. Cards hold the model hubs' ids, such as `fill-mask`."""

from dynabench.kit.language import _

TITLES = {
    "annotation": _("annotation"),
    "audio-classification": _("audio classification"),
    "automatic-speech-recognition": _("automatic speech recognition"),
    "coreference-resolution": _("coreference resolution"),
    "document-question-answering": _("document question answering"),
    "fact-checking": _("fact checking"),
    "fill-mask": _("filling in masked words"),
    "image-captioning": _("image captioning"),
    "image-classification": _("image classification"),
    "image-segmentation": _("image segmentation"),
    "image-to-text": _("image to text"),
    "language-modeling": _("language modelling"),
    "natural-language-inference": _("natural language inference"),
    "question-answering": _("question answering"),
    "reinforcement-learning": _("reinforcement learning"),
    "sentence-similarity": _("sentence similarity"),
    "summarization": _("summarization"),
    "tabular-classification": _("tabular classification"),
    "tabular-regression": _("tabular regression"),
    "text-classification": _("text classification"),
    "text-generation": _("text generation"),
    "text-regression": _("text regression"),
    "text-retrieval": _("text retrieval"),
    "text2text-generation": _("text to text generation"),
    "time-series-forecasting": _("time series forecasting"),
    "token-classification": _("token classification"),
    "translation": _("translation"),
    "visual-question-answering": _("visual question answering"),
    "zero-shot-classification": _("zero-shot classification"),
}


def task_title(task: str) -> str:
    """Return the name of a task; for a task that only a plug-in knows, its id in words."""
    return TITLES.get(task, task.replace("-", " "))
