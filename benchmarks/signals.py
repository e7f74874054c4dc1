"""Error rates of the signals about examples: `python -m benchmarks.signals DATA TEXTS [--train]`.

DATA is a folder of public data sets, TEXTS the folder that `python -m benchmarks.model_texts` wrote. Writes the file
that the console's page reads and the table of `docs/explanation/signals.md`. With `--train` the detector of
model-written text is trained first, on contexts that are not measured.
"""

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.model_texts import read_lines
from dynabench.models.backends.ngram import extract
from dynabench.quality.signals import detector, measuring
from dynabench.quality.signals.error_rates import DATA, FILE
from dynabench.quality.signals.tables import SignalKind
from dynabench.stats.minhash import band_keys, shingle_hashes
from dynabench.stats.rates import Rate, wilson

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "signals.md"
TEXTS, SEED = 1_000, 20
ALARMS = 0.02
"""Share of innocent texts that the detector's threshold may mark among those that it is chosen on."""
TYPED_WORDS = (52.0, 20.0)
"""Mean and deviation of words a minute of 168,000 people (Dhakal and others 2018)."""
Row = dict[str, object]


def _row(data: str, alarms: Iterable[bool], missed: Iterable[bool]) -> Row:
    marked, lost = list(alarms), list(missed)
    return {"data": data, "false_alarms": [sum(marked), len(marked)], "missed": [sum(lost), len(lost)]}


def read_hypotheses(folder: Path) -> list[str]:
    """Return hypotheses of SNLI, each about another premise; some are the same by chance."""
    rows = read_lines(folder / "snli_dev_test" / "dev.jsonl.gz")
    by_premise = {row["premise"]: row["hypothesis"] for row in rows if len(row["hypothesis"].split()) > 3}
    return random.Random(SEED).sample(list(by_premise.values()), TEXTS)


def _kinds_found(texts: Sequence[str], queries: Sequence[str], *, same: bool) -> list[SignalKind | None]:
    """Return the signal that each query gets among the texts, found as the platform does: by bands, then exactly."""
    hashes = [shingle_hashes(text) for text in texts]
    index = defaultdict(list)
    for place, mine in enumerate(hashes):
        for key in band_keys(mine).tolist():
            index[key].append(place)
    kinds_found = []
    for number, query in enumerate(queries):
        mine = shingle_hashes(query)
        places = {place for key in band_keys(mine).tolist() for place in index[key] if not same or place != number}
        measured = [measuring.measure_copy(query, mine, texts[place], hashes[place]) for place in places]
        kinds = [kind for kind, _value in filter(None, measured)]
        kinds_found.append(SignalKind.COPY if SignalKind.COPY in kinds else kinds[0] if kinds else None)
    return kinds_found


def measure_copies(texts: Sequence[str]) -> dict[str, list[Row]]:
    """Return the error rates of copies, and of near-duplicates with one word changed."""
    rng = random.Random(SEED)
    alone = _kinds_found(texts, texts, same=True)
    plain = _kinds_found(texts, [text.upper().rstrip(".") + " !" for text in texts], same=False)
    changed = _kinds_found(texts, [_change(rng, text) for text in texts], same=False)
    copy = SignalKind.COPY
    return {
        copy: [_row("copies", (kind == copy for kind in alone), (kind != copy for kind in plain))],
        SignalKind.NEAR_DUPLICATE: [
            _row("changed_copies", (kind is not None for kind in alone), (kind is None for kind in changed))
        ],
    }


def _change(rng: random.Random, text: str) -> str:
    words = text.split()
    place = rng.randrange(len(words))
    if rng.random() < 0.5:
        del words[place]
    else:
        words[place] = rng.choice(("person", "quickly", "green", "house"))
    return " ".join(words)


def measure_typing(texts: Sequence[str]) -> dict[str, list[Row]]:
    """Return the error rates of speed and paste in simulated writing of these texts."""
    rng = random.Random(SEED)
    lengths = [len(text) for text in texts if len(text) >= measuring.LEAST_SPEED]
    speeds = [max(10.0, rng.gauss(*TYPED_WORDS)) * 5 / 60 for _ in lengths]
    typed = [measuring.measure_speed(n, n / speed) for n, speed in zip(lengths, speeds, strict=True)]
    pasted = [measuring.measure_speed(n, rng.uniform(2, 10)) for n in lengths]
    honest, whole = [], []
    for n in map(len, texts):
        quoted = int(n * rng.uniform(0.05, 0.45)) if rng.random() < 0.2 else 0
        honest.append(measuring.measure_paste(n, int((n - quoted) * rng.uniform(1, 1.5)), quoted))
        whole.append(measuring.measure_paste(n, int(n * rng.uniform(0, 0.3)), n))
    return {
        SignalKind.SPEED: [_row("typing", map(bool, typed), (signal is None for signal in pasted))],
        SignalKind.PASTE: [_row("counts", map(bool, honest), (signal is None for signal in whole))],
    }


def read_pairs(folder: Path, kind: str) -> list[tuple[str, str]]:
    """Return the texts of a person and of the model on the same contexts, where the detector judges both."""
    rows = map(json.loads, (folder / "pairs.jsonl").read_text().splitlines())
    pairs = [(row["person"], row["model"]) for row in rows if row["kind"] == kind]
    return [pair for pair in pairs if all(len(text.split()) >= detector.LEAST_WORDS for text in pair)]


def train_detector(pairs: Sequence[tuple[str, str]]) -> detector.LinearDetector:
    """Fit the detector on four fifths of the pairs; the threshold is chosen on the rest."""
    from sklearn.linear_model import LogisticRegression

    cut = len(pairs) * 4 // 5
    columns = np.zeros((2 * cut, 1 << detector.FEATURES.bits), np.float32)
    for place, text in enumerate(text for pair in pairs[:cut] for text in pair):
        features = extract([detector.plain_text(text)], detector.FEATURES)
        np.add.at(columns[place], features.index, features.value)
    model = LogisticRegression(C=20.0, max_iter=2000).fit(columns, [0, 1] * cut)
    weights, bias = model.coef_[0].astype(np.float16), float(model.intercept_[0])
    fitted = detector.LinearDetector(weights.astype(np.float32), bias, 0.5)
    innocent = sorted(fitted.score(person) or 0.0 for person, _model in pairs[cut:])
    threshold = max(0.5, innocent[min(len(innocent) - 1, int(len(innocent) * (1 - ALARMS)))])
    np.savez_compressed(detector.WEIGHTS, weights=weights, bias=bias, threshold=threshold)
    return detector.load_shipped()


def measure_detector(folder: Path, judge: Callable[[str], float | None], threshold: float) -> dict[str, list[Row]]:
    """Return the error rates of the detector on contexts that it was not trained on."""
    rows = []
    for kind in ("like", "unlike"):
        pairs = read_pairs(folder, kind)
        alarms = [(judge(person) or 0.0) >= threshold for person, _model in pairs]
        missed = [(judge(model) or 0.0) < threshold for _person, model in pairs]
        rows.append(_row(kind, alarms, missed))
    return {SignalKind.MODEL_TEXT: rows}


def _percent(rate: Rate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return "–"
    return f"{rate.value:.1%} ({rate.low:.1%}–{rate.high:.1%}, n = {rate.n:,})"


def write_table(document: dict[str, list[Row]]) -> None:
    """Replace the table of the page."""
    lines = ["| signal | measured on | false alarms | missed |", "|---|---|---|---|"]
    for kind, rows in document.items():
        for row in rows:
            cells = [kind.replace("_", "-"), DATA[str(row["data"])]]
            cells += [_percent(wilson(*row[name])) for name in ("false_alarms", "missed")]  # type: ignore[misc]
            lines.append(f"| {' | '.join(cells)} |")
    table = "<!-- measured -->\n" + "\n".join(lines) + "\n<!-- /measured -->"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(r"<!-- measured -->.*<!-- /measured -->", lambda _match: table, text, flags=re.S))


def main(data: Path, texts: Path, *, train: bool) -> None:
    """Measure all signals and write both files."""
    hypotheses = read_hypotheses(data)
    judge = train_detector(read_pairs(texts, "train")) if train else detector.load_shipped()
    document = {str(kind): rows for kind, rows in measure_typing(hypotheses).items()}
    document |= {str(kind): rows for kind, rows in measure_copies(hypotheses).items()}
    document |= {str(kind): rows for kind, rows in measure_detector(texts, judge.score, judge.threshold).items()}
    FILE.write_text(json.dumps(document, indent=1) + "\n")
    write_table(document)
    print(json.dumps(document), judge.threshold)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), train="--train" in sys.argv)
