"""Coreference scores.

Source: Moosavi, Born, Poesio and Strube, Using automatically extracted minimum spans to disentangle coreference
evaluation from boundary detection, ACL 2019 (the algorithm MINA).

Sources: MUC (Vilain and others, 1995), B-cubed (Bagga and Baldwin, 1998), CEAF-e (Luo, 2005), LEA (Moosavi and Strube,
2016).
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Tokens
from dynabench.evaluate.module import Metric
from dynabench.evaluate.parse_trees import Node, find_phrase, minimum_span, parse_tree
from dynabench.evaluate.states import SummedState, Sums
from dynabench.evaluate.values import best_pairing, ratio

MARK = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
NOTHING = {"", "-", "_", "*"}
WORD, POS, PARSE = 3, 4, 5  # places of columns in the CoNLL-2012 format

Cluster = set[Hashable]


@dataclass(frozen=True)
class Mention:
    """Words start..stop-1 of a sentence in a chain; `core` are the words that identify it."""

    chain: int
    start: int
    stop: int
    core: frozenset[int] | None = None
    verbal: bool = False


@dataclass(frozen=True)
class Sentence:
    """A sentence's document, and its mentions in the key and in the response."""

    document: str
    key: tuple[Mention, ...]
    response: tuple[Mention, ...]


@dataclass(frozen=True)
class CoreferenceCorpus(SummedState):
    """Sentences in order; sentences of one document belong together wherever they stand.

    Its rows are the documents.
    """

    sentences: tuple[Sentence, ...]
    keep_singletons: bool = True
    remove_nested: bool = False
    nominal: bool = False

    def __len__(self) -> int:
        return len(self.documents)

    def __add__(self, other: "CoreferenceCorpus") -> "CoreferenceCorpus":
        return CoreferenceCorpus(
            self.sentences + other.sentences, self.keep_singletons, self.remove_nested, self.nominal
        )

    @cached_property
    def documents(self) -> dict[str, list[Sentence]]:
        """The sentences of each document, by its name."""
        sentences_of: dict[str, list[Sentence]] = defaultdict(list)
        for sentence in self.sentences:
            sentences_of[sentence.document].append(sentence)
        return dict(sentences_of)

    @cached_property
    def sums(self) -> Sums:
        """Numerators and denominators of `agreement` for each document."""
        return Sums(
            np.array(
                [
                    agreement(
                        self._clusters([item.key for item in document_sentences]),
                        self._clusters([item.response for item in document_sentences]),
                    )
                    for document_sentences in self.documents.values()
                ]
            )
        )

    def _clusters(self, sentences: Sequence[tuple[Mention, ...]]) -> list[Cluster]:
        """The chains of a document as sets; a mention that two chains claim belongs to the first."""
        chains: dict[int, dict[Hashable, Mention]] = defaultdict(dict)
        claimed: set[Hashable] = set()
        for number, mentions in enumerate(sentences):
            for mention in mentions:
                name = (number, mention.core or (mention.start, mention.stop))
                if name not in claimed:
                    claimed.add(name)
                    chains[mention.chain][name] = mention
        return [cluster for chain in chains.values() if (cluster := self._cluster_of(chain))]

    def _cluster_of(self, chain: dict[Any, Mention]) -> Cluster:
        if len(chain) == 1 and not self.keep_singletons:
            return set()
        if self.nominal and any(mention.verbal for mention in chain.values()):
            chain = {name: mention for name, mention in chain.items() if not mention.verbal}
            chain = chain if len(chain) > 1 else {}
        if self.remove_nested:
            chain = {name: mention for name, mention in chain.items() if not _nested(name, mention, chain)}
        return set() if len(chain) == 1 and not self.keep_singletons else set(chain)


def agreement(key: list[Cluster], response: list[Cluster]) -> list[float]:
    """Return the numerators and denominators of recall and precision of mentions, MUC, B-cubed, CEAF-e and LEA."""
    response_cluster = {mention: place for place, cluster in enumerate(response) for mention in cluster}
    shared = np.zeros((len(key), len(response)))
    for place, cluster in enumerate(key):
        for mention in cluster:
            if mention in response_cluster:
                shared[place, response_cluster[mention]] += 1
    true, predicted = np.array([*map(len, key)], float), np.array([*map(len, response)], float)
    common = shared.sum()
    aligned = best_pairing(2 * shared / np.add.outer(true, predicted)) if key and response else 0.0
    row = [common, true.sum(), common, predicted.sum()]
    row += [*_muc(shared, true), *_muc(shared.T, predicted)]
    row += [*_b_cubed(shared, true), *_b_cubed(shared.T, predicted)]
    row += [aligned, len(key), aligned, len(response)]
    row += [*_lea(shared, true, predicted), *_lea(shared.T, predicted, true)]
    return [float(value) for value in row]


def read_sentence(
    key: list[str], response: list[str], row: int, one_document: bool, parse: bool, shortest: bool
) -> Sentence | None:
    """Return the sentence of a row from the lines of key and response; None where it has no words.

    `one_document` says that all rows are of one document, `parse` that phrases are needed, `shortest` that minimum
    spans are. Raises ValueError for lines that cannot be read.
    """
    true, predicted = (
        [line.split() for line in lines if line.strip() and not line.startswith("#")] for lines in (key, response)
    )
    if len(true) != len(predicted):
        raise ValueError(
            f"row {row}: references have {len(true)} words, predictions {len(predicted)}; give the same words"
        )
    if not true:
        return None
    document = "" if one_document or len(true[0]) < PARSE else " ".join(true[0][:2])
    tree = _tree(true, row) if parse else None
    mentions = (
        tuple(_mentions(lines, name, row, true, tree, shortest))
        for lines, name in ((true, "references"), (predicted, "predictions"))
    )
    return Sentence(document, *mentions)


def _mentions(
    lines: list[list[str]], name: str, row: int, key: list[list[str]], tree: Node | None, shortest: bool
) -> Iterator[Mention]:
    for chain, start, stop in _spans(lines, f"{name}: row {row}"):
        node = find_phrase(tree, start, stop) if tree else None
        core = None
        if node and shortest:
            core = minimum_span(node, [line[WORD] for line in key], [line[POS] for line in key])
        yield Mention(chain, start, stop, core, bool(node) and node.tag == "VP")  # type: ignore[union-attr]


def _spans(lines: list[list[str]], where: str) -> Iterator[tuple[int, int, int]]:
    """Chain, first word and word after the last of each mention, in the order of their ends."""
    started: dict[int, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        if MARK.sub("", line[-1]).replace("|", "") not in NOTHING:
            raise ValueError(
                f"{where}: word {place} has {line[-1]!r} for its chains; write (1), (1, 1) or -, joined by |"
            )
        for alone, begin, end in MARK.findall(line[-1]):
            if alone:
                yield int(alone), place, place + 1
            elif begin:
                started[int(begin)].append(place)
            elif not started[int(end)]:
                raise ValueError(f"{where}: word {place} ends a mention of chain {end} that does not start before it")
            else:
                yield int(end), started[int(end)].pop(), place + 1
    for chain, places in started.items():
        if places:
            raise ValueError(f"{where}: the mention of chain {chain} that starts at word {places[0]} does not end")


def _tree(lines: list[list[str]], row: int) -> Node:
    short = any(len(line) <= PARSE + 1 for line in lines)
    if short or all(line[PARSE] == "-" for line in lines):
        raise ValueError(f"references: row {row} has no parse in column 6, which NP_only and min_span need")
    try:
        return parse_tree([line[PARSE] for line in lines])
    except ValueError as problem:
        raise ValueError(f"references: row {row}: {problem}") from None


def _nested(name: Any, mention: Mention, chain: dict[Any, Mention]) -> bool:
    return any(
        other[0] == name[0] and outer.start <= mention.start and mention.stop <= outer.stop
        for other, outer in chain.items()
        if other != name
    )


def _muc(shared: Floats, sizes: Floats) -> tuple[float, float]:
    """Links kept: sizes less the parts that the other side cuts clusters into (what it lacks is a part by itself)."""
    parts = (shared > 0).sum(1) + sizes - shared.sum(1)
    return (sizes - parts).sum(), (sizes - 1).sum()


def _b_cubed(shared: Floats, sizes: Floats) -> tuple[float, float]:
    """The share of its cluster that each mention finds on the other side, summed over mentions."""
    return (shared**2 / sizes[:, None]).sum(), sizes.sum()


def _lea(shared: Floats, sizes: Floats, others: Floats) -> tuple[float, float]:
    """The share of a cluster's links that are on the other side, by size; a singleton has one link, to itself."""
    single = sizes == 1
    links = np.where(single, 1, sizes * (sizes - 1) / 2)
    shared_links = (shared * (shared - 1) / 2).sum(1)
    alone = (shared * (others == 1)).sum(1)
    return (sizes * np.where(single, alone, shared_links) / links).sum(), sizes.sum()


MEASURES = ("mentions", "muc", "bcub", "ceafe", "lea")


class Coval(Metric):
    """Agreement of a system's coreference chains with those of a key."""

    columns = {"predictions": Tokens(), "references": Tokens()}

    def update(
        self,
        predictions: list[list[str]],
        references: list[list[str]],
        *,
        keep_singletons: bool = True,
        NP_only: bool = False,
        min_span: bool = False,
        remove_nested: bool = False,
    ) -> CoreferenceCorpus:
        """The mentions of each sentence."""
        sentences = (
            read_sentence(key, response, row, self.compat, NP_only or min_span, min_span)
            for row, (response, key) in enumerate(zip(predictions, references, strict=True))
        )
        return CoreferenceCorpus(
            tuple(parsed_sentence for parsed_sentence in sentences if parsed_sentence),
            keep_singletons,
            remove_nested,
            NP_only,
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Recall, precision and F1 of each measure from its summed numerators and denominators."""
        scores: dict[str, Floats] = {}
        for place, name in enumerate(MEASURES):
            part = total[..., 4 * place : 4 * place + 4]
            recall, precision = ratio(part[..., 0], part[..., 1]), ratio(part[..., 2], part[..., 3])
            f1 = ratio(2 * recall * precision, recall + precision)
            scores |= {f"{name}/recall": recall, f"{name}/precision": precision, f"{name}/f1": f1}
        score = (scores["muc/f1"] + scores["bcub/f1"] + scores["ceafe/f1"]) / 3 * 100
        return {**scores, "conll_score": score}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError where no sentence has a word."""
        if not len(state):
            raise ValueError("nothing to compute: no sentence has a line with a word")
        return super().result(state, **options)

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """All measures of each document, and its name under "document"."""
        return {"document": list(state.documents), **self.formula(state.sums.alone())}
