"""`python -m benchmarks.synthetic`: does training on questions that no person wrote help?

The articles of SQuAD 2.0 dev are parted: of every other one passages are asked about and trained on, the rest are
tested on. `qa-minilm`, which saw none of them, is trained on with as many synthetic and as many human questions.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dynabench.models.runtime  # noqa: F401  before torch
from benchmarks.__main__ import machine
from dynabench.adversaries import protocol
from dynabench.adversaries.attacks import LocalTarget
from dynabench.adversaries.protocol import AttackContext, Budget
from dynabench.intake.reader import read_objects
from dynabench.models import catalog
from dynabench.models.training.mixing import Mix, MixPart
from dynabench.models.training.rows import TrainingQuestion
from dynabench.models.training.run import retrain
from dynabench.stats.clusters import difference
from dynabench.tasks.words import answer_words, word_f1

ROOT = Path(__file__).parent.parent
TARGET, JUDGE = "qa-minilm", "qa-extended-reader"
LONGEST = 1000
"""Characters of a passage that is trained on, as of those that the target learnt from."""
Article = Sequence[TrainingQuestion]


def main() -> None:
    """Make questions, train, score, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.synthetic")
    parser.add_argument("--n", type=int, default=400, help="questions to train on, of each kind")
    parser.add_argument("--tested", type=int, default=600, help="human questions of the other articles")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    request = parser.parse_args()
    articles = _articles(request.data / "squad" / "squad20_dev.jsonl.gz")
    values = [item for article in articles[::2] for item in article if len(item.passage) < LONGEST]
    created = synthetic(sorted({item.passage for item in values}), request.n, request.seed)
    drawn = random.Random(request.seed)
    human = drawn.sample(values, min(len(created), len(values)))
    tested = _tested(articles[1::2], request.tested, drawn)
    scores = {"no further training": _scores(catalog.entry(TARGET).folder, tested)}
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("synthetic", created), ("human", human)):
            out = Path(folder) / name
            mix = Mix("qa", ("question", "passage"), "answer", (), [MixPart(name, rows)], max_length=288)
            retrain(
                mix, out, name=name, base=str(catalog.entry(TARGET).folder), epochs=request.epochs, seed=request.seed
            )
            scores[name] = _scores(out, tested)
    print(
        f"{machine()}; {len(created)} questions of each kind, {sum(map(len, tested))} tested of {len(tested)} articles"
    )
    for line in table(scores, [len(article) for article in tested]):
        print(line)


def synthetic(passages: Sequence[str], n: int, seed: int) -> list[TrainingQuestion]:
    """The first n questions that `dynabench adversary synthesize` keeps, of passages in an order that is drawn."""
    maker: Any = protocol.create_adversary("synthetic-qa", judges=[JUDGE], agree=2, seed=seed, most=12)
    target = LocalTarget(catalog.open_model(catalog.entry(TARGET).folder))
    result: list[TrainingQuestion] = []
    for passage in random.Random(seed).sample(passages, len(passages)):
        for item in maker.propose(AttackContext(passage[:40], {"passage": passage}), target, Budget()):
            [span] = item.answer["answer"]
            result.append(
                TrainingQuestion(
                    {"question": item.inputs["question"], "passage": passage}, (span["text"],), span["start"]
                )
            )
        if len(result) >= n:
            break
    print(json.dumps({"passages": maker.tally.passages, "asked": maker.tally.questions, "kept": maker.tally.kept}))
    return result[:n]


def table(scores: Mapping[str, Any], sizes: Sequence[int]) -> list[str]:
    """A row for each model: exact match, F1, and what they differ by from no training, paired and by article."""
    first = next(iter(scores.values()))
    lines = ["| trained further on | exact match | F1 | exact match minus none | F1 minus none |",
             "| --- | ---: | ---: | ---: | ---: |"]  # fmt: skip
    for name, sums in [*scores.items(), ("synthetic minus human", None)]:
        if sums is None:
            cells, other, sums = ["", ""], scores["human"], scores["synthetic"]
        else:
            cells, other = [f"{100 * item.sum() / sum(sizes):.1f} %" for item in sums], first
        apart = [difference(mine, sizes, theirs, sizes) for mine, theirs in zip(sums, other, strict=True)]
        answer = [_points(item) if name != "no further training" else "" for item in apart]
        lines.append(f"| {' | '.join([name, *cells, *answer])} |")
    return lines


def _points(result: Any) -> str:
    return (
        f"{100 * result.value:+.1f} [{100 * result.low:+.1f}, {100 * result.high:+.1f}]"
        if result.low is not None
        else "0"
    )


def _articles(path: Path) -> list[Article]:
    """Questions that have an answer, by article in the order of their titles."""
    return [
        [
            TrainingQuestion(
                {"question": qa["question"], "passage": paragraph["context"]},
                tuple(answer["text"] for answer in qa["answers"]),
                int(qa["answers"][0]["answer_start"]),
            )
            for paragraph in article["paragraphs"]
            for qa in paragraph["qas"]
            if qa["answers"]
        ]
        for article in sorted((row for _, row in read_objects(path)), key=lambda article: str(article["title"]))
    ]


def _tested(articles: Sequence[Article], n: int, drawn: random.Random) -> list[Article]:
    """n questions drawn of all, by article."""
    every = [(place, item) for place, article in enumerate(articles) for item in article]
    result = defaultdict[int, list[TrainingQuestion]](list)
    for place, item in drawn.sample(every, min(n, len(every))):
        result[place].append(item)
    return list(result.values())


def _scores(folder: Path, articles: Sequence[Article]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Exact matches and F1, summed by article: shape (2, articles). SQuAD's: the nearest right answer counts."""
    model = catalog.open_model(folder)
    result = np.zeros((2, len(articles)))
    for place, article in enumerate(articles):
        outputs = model.predict([item.inputs for item in article])
        for item, output in zip(article, outputs, strict=True):
            text = " ".join(span["text"] for span in output.answer[model.card.answer])
            result[0, place] += any(answer_words(text) == answer_words(right) for right in item.answers)
            result[1, place] += max(word_f1(text, right) for right in item.answers)
    return result


if __name__ == "__main__":
    main()
