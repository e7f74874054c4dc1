"""Normalisation of answers to questions about images, before they are compared.

Source: Antol et al., VQA: Visual Question Answering, ICCV 2015, and the normalisation that its evaluation
describes: lower case, digits for number words, no articles, apostrophes in contractions, no punctuation.
"""

import re
from itertools import product

MARKS = ';/[]"{}()=+\\_-><@`,?!'
FULL_STOP = re.compile(r"\.(?!\d)")
THOUSANDS = re.compile(r"\d,\d")
ARTICLES = frozenset(("a", "an", "the"))
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
