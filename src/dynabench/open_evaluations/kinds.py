"""The kinds of problem that open evaluations know: the roles of columns, the form of answers, the usual metrics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dynabench.kit.language import _
from dynabench.models.protocol import Returns
from dynabench.tasks.fields import Choice, Field, LabelledSpans, Number, Spans, Text

ANSWER = "answer"
"""Name of the answer in prepared rows."""
PAIR = "pair"
"""Name of the role of a translation's languages."""


class RoleKind(StrEnum):
    """The form of the values of a column in one role."""

    TEXT = "text"
    IMAGE = "image"
    LABEL = "label"
    ANSWERS = "answers"
    WORDS = "words"
    TAGS = "tags"
    CHOICES = "choices"
    CHOICE = "choice"
    NUMBER = "number"


INPUT_KINDS = (RoleKind.TEXT, RoleKind.IMAGE, RoleKind.WORDS, RoleKind.CHOICES)


@dataclass(frozen=True)
class ColumnRole:
    """The part that a column plays: its `names` in other people's data come after its own, the likeliest first."""

    name: str
    title: str
    kind: RoleKind
    names: tuple[str, ...] = ()
    required: bool = True

    @property
    def is_input(self) -> bool:
        """True where models read it."""
        return self.kind in INPUT_KINDS

    @property
    def known_names(self) -> tuple[str, ...]:
        """The names of columns and inputs that play this part."""
        return (self.name, *self.names)


@dataclass(frozen=True)
class OpenTask:
    """One kind of problem. `returns` are the forms of answers that can be scored, `metrics` the usual ones.

    `hub` are its names in the cards of datasets: task categories and ids. `instruction` is what a language model is
    asked to do.
    """

    name: str
    title: str
    roles: tuple[ColumnRole, ...]
    returns: tuple[Returns, ...]
    metrics: tuple[str, ...]
    hub: tuple[str, ...] = ()
    instruction: str = ""

    @property
    def inputs(self) -> tuple[ColumnRole, ...]:
        """The roles that models read."""
        return tuple(role for role in self.roles if role.is_input)

    @property
    def reference(self) -> ColumnRole:
        """The role of the right answer."""
        return next(role for role in self.roles if not role.is_input)

    @property
    def labelled(self) -> bool:
        """True where answers are labels, or have labels."""
        return self.reference.kind in (RoleKind.LABEL, RoleKind.TAGS, RoleKind.CHOICE)

    @property
    def named_by_number(self) -> bool:
        """True where a column may hold numbers of classes, whose names a person can give."""
        return self.reference.kind in (RoleKind.LABEL, RoleKind.TAGS)

    def field(self, labels: Sequence[str]) -> Field:
        """The field of the answers, by which metrics compare them."""
        if self.reference.kind in (RoleKind.LABEL, RoleKind.CHOICE):
            return Choice.model_construct(name=ANSWER, label=ANSWER, options=[], goal="chosen")
        if self.reference.kind is RoleKind.TAGS:
            return LabelledSpans.model_construct(name=ANSWER, label=ANSWER, of=self.inputs[0].name, labels=[])
        if self.reference.kind is RoleKind.NUMBER:
            return Number(name=ANSWER, label=ANSWER)
        if self.name == "question-answering":
            return Spans(name=ANSWER, label=ANSWER, of="context")
        return Text(name=ANSWER, label=ANSWER)


_TEXTS = ("sentence", "statement", "content", "tweet", "review", "comment", "input", "document", "message", "title")
_LABELS = ("labels", "target", "class", "category", "gold_label", "sentiment", "coarse_label", "answer", "verdict")
_LABEL = ColumnRole("label", _("Label"), RoleKind.LABEL, _LABELS)
_PICTURES = ("img", "picture", "file", "file_name", "filename", "path", "image_path")
_CLASS_METRICS = ("accuracy", "f1:average=macro", "precision:average=macro", "recall:average=macro")
_ROUGE = ("rouge",)

OPEN_TASKS: Mapping[str, OpenTask] = {
    task.name: task
    for task in (
        OpenTask(
            "text-classification",
            _("Text classification"),
            (ColumnRole("text", _("Text"), RoleKind.TEXT, _TEXTS), _LABEL),
            ("label",),
            _CLASS_METRICS,
            ("text-classification", "sentiment-classification", "multi_class_classification", "binary_classification"),
            instruction="Say which label fits the text.",
        ),
        OpenTask(
            "natural-language-inference",
            _("Natural language inference"),
            (
                ColumnRole("premise", _("Premise"), RoleKind.TEXT, ("sentence1", "text1", "question1", "context")),
                ColumnRole("hypothesis", _("Hypothesis"), RoleKind.TEXT, ("sentence2", "text2", "question2", "claim")),
                _LABEL,
            ),
            ("label",),
            _CLASS_METRICS,
            ("natural-language-inference", "natural_language_inference"),
            instruction="Say how the hypothesis follows from the premise.",
        ),
        OpenTask(
            "question-answering",
            _("Extractive question answering"),
            (
                ColumnRole("question", _("Question"), RoleKind.TEXT, ("query",)),
                ColumnRole("context", _("Passage"), RoleKind.TEXT, ("passage", "paragraph", "article")),
                ColumnRole("answers", _("Answers"), RoleKind.ANSWERS, ("answer", "answer_text")),
            ),
            ("spans", "text"),
            ("squad",),
            ("question-answering", "extractive-qa", "extractive_question_answering"),
            instruction="Answer the question with as few words of the passage as possible.",
        ),
        OpenTask(
            "summarization",
            _("Summarisation"),
            (
                ColumnRole("document", _("Document"), RoleKind.TEXT, ("article", "text", "dialogue", "source")),
                ColumnRole("summary", _("Summary"), RoleKind.ANSWERS, ("highlights", "abstract", "target")),
            ),
            ("text",),
            _ROUGE,
            ("summarization",),
            instruction="Summarise the document.",
        ),
        OpenTask(
            "translation",
            _("Translation"),
            (
                ColumnRole(PAIR, _("Languages"), RoleKind.TEXT, ("languages", "direction"), required=False),
                ColumnRole("source", _("Source"), RoleKind.TEXT, ("sentence", "src", "text")),
                ColumnRole("translation", _("Translation"), RoleKind.ANSWERS, ("target", "tgt", "reference")),
            ),
            ("text",),
            ("sacrebleu", "chrf"),
            ("translation",),
            instruction="Translate the source.",
        ),
        OpenTask(
            "token-classification",
            _("Token classification"),
            (
                ColumnRole("tokens", _("Words"), RoleKind.WORDS, ("words", "sentence", "text", "example")),
                ColumnRole("tags", _("Tags"), RoleKind.TAGS, ("ner_tags", "labels", "entities", "names", "pos_tags")),
            ),
            ("tags",),
            ("labelled_spans_f1",),
            ("token-classification", "named-entity-recognition", "entity_extraction"),
        ),
        OpenTask(
            "image-classification",
            _("Image classification"),
            (ColumnRole("image", _("Picture"), RoleKind.IMAGE, _PICTURES),
             ColumnRole("label", _("Label"), RoleKind.LABEL, (*_LABELS, "thing", "digit", "fine_label"))),
            ("label",),
            _CLASS_METRICS,
            ("image-classification", "image_multi_class_classification", "image_binary_classification"),
            instruction="Say which label fits the picture.",
        ),
        OpenTask(
            "visual-question-answering",
            _("Visual question answering"),
            (
                ColumnRole("image", _("Picture"), RoleKind.IMAGE, _PICTURES),
                ColumnRole("question", _("Question"), RoleKind.TEXT),
                ColumnRole("answers", _("Answers"), RoleKind.ANSWERS, ("answer", "label")),
            ),
            ("label", "text"),
            ("exact_match",),
            ("visual-question-answering",),
            instruction="Answer the question about the picture in one or two words.",
        ),
        OpenTask(
            "text-generation",
            _("Text generation"),
            (
                ColumnRole("prompt", _("Prompt"), RoleKind.TEXT, ("instruction", "input", "question", "text")),
                ColumnRole("completion", _("Reference"), RoleKind.ANSWERS, ("target", "output", "reference", "answer")),
            ),
            ("text",),
            ("exact_match", "rouge"),
            ("text-generation", "text2text-generation"),
        ),
        OpenTask(
            "multiple-choice",
            _("Multiple choice"),
            (
                ColumnRole("context", _("Passage"), RoleKind.TEXT, ("passage", "article", "support"), required=False),
                ColumnRole("question", _("Question"), RoleKind.TEXT, ("query", "goal", "ctx", "sentence", "premise")),
                ColumnRole("choices", _("Choices"), RoleKind.CHOICES, ("options", "endings", "candidates", "choice")),
                ColumnRole("answer", _("Right choice"), RoleKind.CHOICE,
                           ("answerKey", "correct", "correct_answer", "label", "target", "gold", "cop", "answer_idx")),
            ),
            ("label", "text"),
            ("accuracy",),
            ("multiple-choice", "multiple_choice_qa", "multiple-choice-qa", "multiple-choice-coreference-resolution"),
            instruction="Choose the right answer. Write its letter and nothing else.",
        ),
        OpenTask(
            "regression",
            _("Regression"),
            (
                ColumnRole("text", _("Text"), RoleKind.TEXT, (*_TEXTS, "sentence1", "text1")),
                ColumnRole("text_pair", _("Second text"), RoleKind.TEXT, ("sentence2", "text2"), required=False),
                ColumnRole("score", _("Number"), RoleKind.NUMBER, ("rating", "similarity", "value", *_LABELS)),
            ),
            ("label", "text"),
            ("pearsonr", "spearmanr", "mae", "mse"),
            ("regression", "text-scoring", "semantic-similarity-scoring", "sentiment-scoring", "sentence-similarity"),
            instruction="Give the number that fits the text. Write the number and nothing else.",
        ),
    )
}  # fmt: skip


def find_hub_task(names: Iterator[str] | Sequence[str]) -> str:
    """Return the task that the first fitting of these names in a dataset's card means; empty where none fits."""
    for name in names:
        for task in OPEN_TASKS.values():
            if name in task.hub or name == task.name:
                return task.name
    return ""
