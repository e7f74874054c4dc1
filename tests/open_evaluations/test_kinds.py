"""Every kind of problem from an uploaded file to a board, predictions and record, with real models."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dynabench.open_evaluations import board, predictions, records
from dynabench.open_evaluations.kinds import OPEN_TASKS
from tests.open_evaluations import small_data
from tests.open_evaluations.chat_server import ChatServer
from tests.open_evaluations.conftest import Desk
from tests.open_evaluations.small_data import json_lines, table

pytestmark = [pytest.mark.release, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]


@dataclass(frozen=True)
class KindCase:
    """A file, the models that answer it, what has to be guessed, and the least value of the first metric.

    Models that begin with # are those of the server of a test.
    """

    task: str
    name: str
    content: Callable[[], bytes]
    models: Sequence[str]
    columns: dict[str, str]
    metric: str
    least: float
    choices: dict[str, Any] = field(default_factory=dict)
    pairs: int = 0


def first_sentence(fields: dict[str, str]) -> str:
    return fields["document"].partition(".")[0] + "."


def choose(fields: dict[str, str]) -> str:
    """The letter of the animal that the last word of the question belongs to."""
    animal = next(animal for word, animal in small_data.RIGHT.items() if word in fields["question"])
    return next(choice[0] for choice in fields["choices"].split("\n") if choice.endswith(animal))


SERVED = {
    "first": first_sentence,
    "town": lambda fields: fields["prompt"].rpartition(": ")[2],
    "wordy": lambda fields: "The town is " + fields["prompt"].rpartition(": ")[2],
    "passage": lambda fields: fields["context"].partition(" opened in ")[2][:4],
    "letter": choose,
    "sentence": lambda fields: f"The answer is {choose(fields)}, I think.",
    "guess": lambda fields: "A",
    "length": lambda fields: str(0.4 * float(fields["text"].partition(" is ")[2].split()[0])),
    "stars": lambda fields: f"{float(fields['text'].partition(' is ')[2].split()[0])} out of 12",
}

QA_COLUMNS = {"question": "question", "context": "context", "answers": "answers"}
CASES = (
    KindCase("natural-language-inference", "pairs.csv", lambda: table(small_data.inferences()),
             ["nli-ngram", "nli-minilm"],
             {"premise": "premise", "hypothesis": "hypothesis", "label": "gold_label"}, "accuracy", 0.5, pairs=1),
    KindCase("question-answering", "squad.jsonl", lambda: json_lines(small_data.questions()),
             ["qa-minilm", "qa-extended-reader", "#passage"], QA_COLUMNS, "squad exact_match", 80, pairs=3),
    KindCase("summarization", "news.csv", lambda: table(small_data.documents()), ["summarization-textrank", "#first"],
             {"document": "article", "summary": "highlights"}, "rouge rouge1", 0.4, pairs=1),
    KindCase("translation", "parallel.jsonl", lambda: json_lines(small_data.translations()), ["translation-lexicon"],
             {"source": "translation.en", "translation": "translation.de"}, "sacrebleu score", 20),
    KindCase("token-classification", "names.jsonl", lambda: json_lines(small_data.tagged()), ["ner-tagger"],
             {"tokens": "tokens", "tags": "ner_tags"}, "labelled_spans_f1 f1", 0.5),
    KindCase("token-classification", "names.csv", lambda: table(small_data.tagged()), ["ner-tagger"],
             {"tokens": "tokens", "tags": "ner_tags"}, "labelled_spans_f1 f1", 0.5),
    KindCase("token-classification", "numbers.jsonl", lambda: json_lines(small_data.tagged(numbers=True)),
             ["ner-tagger"], {"tokens": "tokens", "tags": "ner_tags"}, "labelled_spans_f1 f1", 0.5,
             {"classes": list(small_data.NAMES)}),
    KindCase("token-classification", "numbers.parquet", lambda: numbered_parquet(), ["ner-tagger"],
             {"tokens": "tokens", "tags": "ner_tags"}, "labelled_spans_f1 f1", 0.5),
    KindCase("token-classification", "names.conll", small_data.conll, ["ner-tagger"],
             {"tokens": "tokens", "tags": "tags"}, "labelled_spans_f1 f1", 0.5),
    KindCase("image-classification", "digits.zip", small_data.digit_folders, ["digits-resnet"],
             {"image": "image", "label": "label"}, "accuracy", 0.8),
    KindCase("visual-question-answering", "shapes.zip", small_data.shapes_zip, ["vqa-vilt"],
             {"image": "file_name", "question": "question", "answers": "answer"}, "exact_match", 0.5),
    KindCase("text-generation", "prompts.jsonl", lambda: json_lines(small_data.prompts()), ["#town", "#wordy"],
             {"prompt": "prompt", "completion": "completion"}, "exact_match", 1.0, pairs=1),
    KindCase("multiple-choice", "list.jsonl", lambda: json_lines(small_data.quiz("list")),
             ["#letter", "#sentence", "#guess"],
             {"question": "question", "choices": "choices", "answer": "answer"}, "accuracy", 1.0, pairs=3),
    KindCase("multiple-choice", "letters.csv", lambda: table(small_data.quiz("letters")), ["#letter"],
             {"question": "question", "choices": "A,B,C,D", "answer": "answer"}, "accuracy", 1.0),
    KindCase("multiple-choice", "texts.csv", lambda: table(small_data.quiz("texts")), ["#letter"],
             {"question": "question", "choices": "option_a,option_b,option_c,option_d", "answer": "correct"},
             "accuracy", 1.0),
    KindCase("multiple-choice", "nested.jsonl", lambda: json_lines(small_data.quiz("nested")), ["#letter"],
             {"question": "question", "choices": "choices", "answer": "answerKey"}, "accuracy", 1.0),
    KindCase("regression", "roads.csv", lambda: table(small_data.similarities()), ["#length", "#stars"],
             {"text": "text", "score": "score"}, "pearsonr", 0.99, pairs=1),
)  # fmt: skip


def numbered_parquet() -> bytes:
    """Numbers of tags whose names stand beside the schema, as the package datasets writes them."""
    rows = small_data.tagged(numbers=True)
    features = {"ner_tags": {"feature": {"names": list(small_data.NAMES), "_type": "ClassLabel"}, "_type": "Sequence"}}
    rows_table = pa.Table.from_pylist(rows)
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    out = pa.BufferOutputStream()
    pq.write_table(rows_table.replace_schema_metadata(metadata), out)
    return bytes(out.getvalue().to_pybytes())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """A server on this machine, which may be called."""
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    chat = ChatServer(**SERVED)
    yield chat
    chat.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.task} {case.name}")
def test_every_kind_comes_to_a_board(desk: Desk, server: ChatServer, case: KindCase):
    models = [server.address(name[1:]) if name.startswith("#") else name for name in case.models]
    dataset = desk.upload(case.name, case.content())
    plan = desk.plan(dataset, models=models, **case.choices)
    assert not plan.problems
    assert not plan.refused
    assert (plan.task.name, plan.choices.columns) == (case.task, case.columns)
    assert len(plan.sample) == 5
    assert plan.estimate is not None

    id = desk.start(dataset, models, **case.choices)
    seen = desk.run(id)
    assert [(model.state, model.reason) for model in seen.models] == [("done", "")] * len(models)
    assert (seen.evaluation.state, seen.evaluation.refused) == ("done", 0)
    assert seen.evaluation.rows == plan.rows

    open_board = desk.database.read(board.read_board, seen)
    assert open_board.columns[0].title == case.metric
    best = open_board.lines[0].scores[0]
    assert best is not None
    assert best.unvaried or best.low - 1e-9 <= best.value <= best.high + 1e-9
    assert best.value >= case.least
    assert all(score is not None for line in open_board.lines for score in line.scores)
    assert len(open_board.pairs) == case.pairs
    assert all(pair.low <= pair.high for pair in open_board.pairs)

    prediction_table = desk.database.read(lambda s: predictions.prediction_table(s, desk.settings, desk.someone(s), id))
    lines = list(predictions.read_lines(desk.settings, prediction_table))
    assert len(lines) == seen.evaluation.rows
    roles = [role.name for role in OPEN_TASKS[case.task].inputs]
    assert prediction_table.header[1 : 1 + len(roles)] == roles
    rows = pq.read_table(pa.BufferReader(predictions.as_parquet(desk.settings, prediction_table)))
    assert rows.num_rows == len(lines)
    record = desk.database.read(lambda s: records.read_record(s, id))
    assert record.document["task"] == case.task
