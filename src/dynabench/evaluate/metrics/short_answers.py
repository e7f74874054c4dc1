"""Short answers: exact texts, mathematical ones (MATH), numbers and lists (DROP), about pictures (VQA).

Source: Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset, NeurIPS Datasets and Benchmarks
2021: the rules by which it compares answers.

Source: Dua et al., DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs, NAACL
2019, section 5, with its evaluation script.

Source: Antol et al., VQA: Visual Question Answering, ICCV 2015, and the normalisation that its evaluation
describes: lower case, digits for number words, no articles, apostrophes in contractions, no punctuation.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats, References, RowColumn, Texts
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import best_pairing, ratio

SEPARATOR = ";"
PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = frozenset(("a", "an", "the"))
TOKEN = re.compile(r" |-")
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SPELT = {word: str(number) for number, word in enumerate(WORDS.split())}


class AnswerPart(NamedTuple):
    """One part of an answer: its words without repetition, and the numbers among them."""

    text: str
    words: frozenset[str]
    numbers: frozenset[str]


Parts = tuple[str, ...]


class MultiPartAnswers(RowColumn):
    """For each question an answer: a text with parts separated by semicolons, or the list of its parts."""

    dtype = "string or list of strings"
    text = "answer to each question: a text, its parts separated by semicolons, or a list of its parts"

    def _row(self, item: Any, where: str) -> Parts:
        return _parts(item, where)


class RightMultiPartAnswers(RowColumn):
    """For each question the right answers, of which the nearest counts: a list of them, or one text."""

    dtype = "string, or list of strings or of lists of strings"
    text = "right answers to each question, each a text or a list of its parts; or one text"

    def _row(self, item: Any, where: str) -> tuple[Parts, ...]:
        answers = [item] if isinstance(item, str) else item
        if not isinstance(answers, Sequence | np.ndarray) or not len(answers):
            raise ValueError(f"{where} is {item!r}; give a text or a list of right answers, one at least")
        return tuple(_parts(answer, where) for answer in answers)


def _parts(item: Any, where: str) -> Parts:
    if isinstance(item, str):
        parts = tuple(part.strip() for part in item.split(SEPARATOR) if part.strip())
        return parts or (item.strip(),)
    if not isinstance(item, Sequence) or not all(isinstance(part, str) for part in item):
        raise ValueError(f"{where} has the answer {item!r}; give a text or a list of texts")
    return tuple(item) or ("",)


@lru_cache(1 << 16)  # reference answers repeat
def parse_part(text: str, spelt: bool) -> AnswerPart:
    """Return a part of an answer as it is compared: lower case, no punctuation, no articles, numbers as numbers.

    With `spelt`, English words from zero to twenty are numbers, too.
    """
    words = [word for token in TOKEN.split(text) if (word := _word(token, spelt))]
    joined = " ".join(words)
    word_set = frozenset(joined.split())
    return AnswerPart(joined, word_set, frozenset(filter(_is_number, word_set)))


def _word(token: str, spelt: bool) -> str:
    low = token.lower()
    bare = low if _is_number(low) else low.translate(PUNCTUATION)
    if spelt:
        bare = SPELT.get(bare.strip(), bare)
    if _is_number(bare):
        bare = str(float(bare))
    return " ".join(word for word in bare.split() if word not in ARTICLES)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def compare_answers(predicted: Parts, right: Parts, spelt: bool) -> tuple[float, float]:
    """Return whether two answers are equal, and the mean F1 of their parts, paired so that it is highest."""
    ours, theirs = [parse_part(part, spelt) for part in predicted], [parse_part(part, spelt) for part in right]
    same = {part.text for part in ours} == {part.text for part in theirs} and len(ours) == len(theirs)
    table = np.array([[_f1(our_part, other) for other in theirs] for our_part in ours])
    return float(same), best_pairing(table) / max(len(ours), len(theirs))


def _f1(predicted: AnswerPart, right: AnswerPart) -> float:
    """F1 of the words of two parts; 0 where the right one has numbers of which none was said."""
    if right.numbers and not right.numbers & predicted.numbers:
        return 0.0
    common = len(predicted.words & right.words)
    precision = common / len(predicted.words) if predicted.words else 1.0
    recall = common / len(right.words) if right.words else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class Drop(Metric, name="drop"):
    """F1 and exact match of answers of one or several parts, with numbers."""

    columns = {"predictions": MultiPartAnswers(), "references": RightMultiPartAnswers()}

    def update(
        self, predictions: list[Parts], references: list[tuple[Parts, ...]], *, number_words: bool = False
    ) -> Sums:
        """F1 and exact match of each question, from 0 to 1: of the right answer with the best F1."""
        rows = []
        for predicted, answers in zip(predictions, references, strict=True):
            exact, f1 = max(
                (compare_answers(predicted, right, number_words) for right in answers), key=lambda pair: pair[::-1]
            )
            rows.append((f1, exact))
        return Sums(np.array(rows, float).reshape(-1, 2))

    def formula(self, total: Floats) -> dict[str, Any]:
        """Means."""
        return {"f1": ratio(total[..., 0], total[..., -1]), "exact_match": ratio(total[..., 1], total[..., -1])}


MARKS = ';/[]"{}()=+\\_-><@`,?!'
FULL_STOP = re.compile(r"\.(?!\d)")
THOUSANDS = re.compile(r"\d,\d")
NUMBERS = {"none": "0"} | {
    word: str(number) for number, word in enumerate("zero one two three four five six seven eight nine ten".split())
}
CONTRACTION_LIST = (
    "ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't "
    "he'd he'd've he's how'd how'll how's i'd've i'm i've isn't it'd it'd've it'll let's ma'am mightn't mightn't've "
    "might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've she's should've shouldn't "
    "shouldn't've somebody'd've somebody'll somebody's someone'd someone'd've someone'll someone's something'd "
    "something'd've something'll that's there'd there'd've there're there's they'd they'd've they'll they're they've "
    "'twas wasn't we'd've we've weren't what'll what're what's what've when's where'd where's where've who'd "
    "who'd've who'll who's who've why'll why're why's won't would've wouldn't wouldn't've y'all y'all'll "
    "y'all'd've you'd you'd've you'll you're you've"
).split()


def contraction_spellings(short: str) -> list[str]:
    """Return the contraction with each choice of its apostrophes left out, and at least one."""
    parts = short.split("'")
    return [
        parts[0] + "".join(mark + part for mark, part in zip(marks, parts[1:], strict=True))
        for marks in product(("", "'"), repeat=len(parts) - 1)
        if "" in marks
    ]


CONTRACTIONS = {spelling: short for short in CONTRACTION_LIST for spelling in contraction_spellings(short)}


def normalize_vqa_answer(answer: str) -> str:
    """Return the answer in the form in which it is compared."""
    text = remove_punctuation(" ".join(answer.split()))
    words = (NUMBERS.get(word, word) for word in text.lower().split())
    return " ".join(CONTRACTIONS.get(word, word) for word in words if word not in ARTICLES)


def remove_punctuation(text: str) -> str:
    """Remove marks at a space, and all where digits stand around a comma; other marks become a space.

    Full stops are removed unless a digit follows.
    """
    tight = THOUSANDS.search(text) is not None
    cleaned = text
    for mark in MARKS:
        if mark in text:
            cleaned = cleaned.replace(mark, "" if tight or f"{mark} " in text or f" {mark}" in text else " ")
    return FULL_STOP.sub("", cleaned)


FULL_AGREEMENT = 3  # people who gave an answer, for it to be wholly right


class VqaAccuracy(Metric, name="vqa_accuracy"):
    """Agreement of answers to questions about images with those of several people."""

    columns = {"predictions": Texts(), "references": References()}

    def update(self, predictions: list[str], references: list[list[str]], *, normalize: bool = True) -> Sums:
        """The accuracy of each answer."""
        normalize_answer = lru_cache(1 << 20)(normalize_vqa_answer) if normalize else str
        rows = []
        for answer, people in zip(predictions, references, strict=True):
            human_answers = Counter(map(normalize_answer, people))
            rows.append((human_answers[normalize_answer(answer)], len(people)))
        same, people_ = np.array(rows, float).reshape(-1, 2).T
        return Sums(vqa_agreement(same, people_))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """The mean over questions."""
        return {"vqa_accuracy": ratio(total[..., 0], total[..., 1])}


def vqa_agreement(same: Floats, people: Floats) -> Floats:
    """Return the accuracy of answers that `same` of `people` gave too, shape (n,).

    It is averaged over leaving out each person.
    """
    needed = np.clip(people - 1, 1, FULL_AGREEMENT)
    without_one_of_them = np.minimum(1, (same - 1) / needed)
    without_another = np.minimum(1, same / needed)
    result: Floats = np.where(
        people == 1, same, (same * without_one_of_them + (people - same) * without_another) / people
    )
    return result


class ExactMatch(Metric, name="exact_match"):
    """The share of texts that equal their reference."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(
        self,
        predictions: list[str],
        references: list[str],
        *,
        regexes_to_ignore: Sequence[str] | None = None,
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
    ) -> Sums:
        """Return for each row whether prediction and reference match."""
        equal = same(predictions, references)
        ignored = string.punctuation * ignore_punctuation + string.digits * ignore_numbers
        if not (regexes_to_ignore or ignore_case or ignored):
            return Sums(equal)
        strip_ignored = _stripper(regexes_to_ignore or (), ignore_case, ignored)
        for row in np.flatnonzero(~equal):
            stripped = strip_ignored(predictions[row])
            equal[row] = stripped != "" and stripped == strip_ignored(references[row])
        return Sums(equal)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Matches / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}


def _stripper(expressions: Sequence[str], ignore_case: bool, ignored: str) -> Callable[[str], str]:
    if isinstance(expressions, str):
        raise ValueError("regexes_to_ignore: give a list of regular expressions, not one text")
    patterns = [_compile(expression) for expression in expressions]
    table = str.maketrans("", "", ignored)

    def strip_ignored(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        return (text.lower() if ignore_case else text).translate(table)

    return strip_ignored


def _compile(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except (re.error, TypeError) as problem:
        raise ValueError(f"regexes_to_ignore: {expression!r} is no regular expression ({problem})") from None


GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
BARE = r"\\[a-zA-Z]+|[^{\\\s]"  # an argument without braces: one command or one character

# In this order: what is taken away or written in its long form.
RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\n|\\!", ""),
        (r"\\\\", r"\\"),
        (r"\\[td]frac", r"\\frac"),
        (r"\\(left|right)(?![a-zA-Z])", ""),
        (r"\^(\{\\circ\}|\\circ)", ""),  # degrees
        (r"\\?\$", ""),
        (r"\\text\{ .*", ""),  # units on the right
        (r"\\?%", ""),
        (r"(?<!\d)\.(?=\d)", "0."),
        (r"^\s*[A-Za-z]{1,2}\s*=(?=[^=]*$)", ""),  # "k = 5"
        (rf"\\sqrt(?!\[)\s*({BARE})", r"\\sqrt{\g<1>}"),
        (rf"\\frac\s*({BARE})", r"\\frac{\g<1>}"),
        (rf"(\\frac{GROUP})\s*({BARE})", r"\g<1>{\g<2>}"),
        (r"\s", ""),
        (r"^0\.5$", r"\\frac{1}{2}"),
        (r"^(-?\d+)/(-?\d+)$", r"\\frac{\g<1>}{\g<2>}"),
    )
)


def canonical_answer(answer: str) -> str:
    """Return the answer without what does not change its value; equal texts are equal answers, others may still be."""
    for pattern, replacement in RULES:
        answer = pattern.sub(replacement, answer)
    return answer


class CompetitionMath(Metric, name="competition_math"):
    """The share of mathematical answers that equal the right one after normalising their LaTeX."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Return for each row whether its answer is right."""
        canonical_form = lru_cache(1 << 20)(canonical_answer)
        pairs = zip(predictions, references, strict=True)
        return Sums(
            np.array(
                [predicted == true or canonical_form(predicted) == canonical_form(true) for predicted, true in pairs],
                bool,
            )
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Right answers / rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1])}
