"""Words and tokens of texts: tokenisers by name (of mteval, NIST, sacrebleu), and texts that nearly repeat others."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from math import ceil
from typing import Any
from xml.sax.saxutils import unescape

from dynabench.evaluate.values import MissingLibrary
from dynabench.kit.distributions import LIBRARY, install_command
from dynabench.stats.minhash import UnionFind

Tokenizer = Callable[[str], Sequence[str]]

WORD = re.compile(
    r"""
    n['’]t\b                                        # the second half of don't
  | ['’](?:s|m|d|ll|re|ve)\b                        # the second half of it's
  | (?:https?://|www\.)[^\s<>"]*[^\s<>"'’.,;:!?)\]] # an address
  | [^\W\d_]\.(?:[^\W\d_]\.)+                       # U.S.
  | \d+(?:[.,:/]\d+)*(?:(?:st|nd|rd|th|s)\b)?       # 1,000.50, 10:30, 2nd, 1990s
  | (?:(?!n['’]t\b)\w)+(?:[-./](?:(?!n['’]t\b)\w)+)* # words, with what joins them
  | \.{2,} | -{2,}                                  # dots and dashes
  | [^\w\s]                                         # any other sign by itself
    """,
    re.VERBOSE | re.IGNORECASE,
)


def word_tokens(text: str) -> list[str]:
    """Return words, numbers and signs of a text, in the manner of the Penn Treebank: "don't" is "do" and "n't".

    Needs no data and no language; writing without spaces between words (Chinese, Thai) stays in one piece.
    """
    return WORD.findall(text)


def is_word(token: str) -> bool:
    """Return whether a token contains a letter or a digit."""
    return any(map(str.isalnum, token))


Shingles = list[int]
SIZE = 5
"""Characters of a shingle."""


def letter_shingles(text: str) -> set[str]:
    """Return the text's sets of `SIZE` characters in a row, in lower case and with single spaces."""
    plain = " ".join(text.lower().split())
    return {plain[at : at + SIZE] for at in range(max(len(plain) - SIZE + 1, 1))}


def near_duplicate_groups(
    texts: Sequence[str], least: float, shingles: Callable[[str], Collection[Any]] = letter_shingles
) -> list[list[int]]:
    """Rows of texts that are linked by a chain of pairs with a Jaccard similarity of `least` or more, in order.

    Texts are compared as sets of `shingles`. Exact, without signatures: two sets with similarity t share one of the
    rarest |A| - ceil(t |A|) + 1 shingles of either, so only such pairs are compared (Bayardo, Ma and Srikant, Scaling
    up all pairs similarity search, WWW 2007). Groups have two rows or more. Raises ValueError for a similarity
    outside (0, 1].
    """
    if not 0 < least <= 1:
        raise ValueError(f"near={least}: a similarity lies above 0 and at most at 1; 0.8 finds small changes")
    same: dict[frozenset[Any], list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        same[frozenset(shingles(text))].append(row)
    rows, linked = list(same.values()), UnionFind()
    for pair in _similar(_numbered(same), least):
        linked.join(pair)
    members_of_root: dict[object, list[int]] = defaultdict(list)
    for place, members in enumerate(rows):
        members_of_root[linked.root(place)] += members
    return sorted(sorted(members) for members in members_of_root.values() if len(members) > 1)


def _numbered(sets: Collection[frozenset[Any]]) -> list[Shingles]:
    """The shingles of each text as numbers, the rarest first: smaller numbers are rarer."""
    counts = Counter(shingle for shingles in sets for shingle in shingles)
    order = sorted(counts, key=lambda shingle: (counts[shingle], shingle))
    number = {shingle: place for place, shingle in enumerate(order)}
    return [sorted(number[shingle] for shingle in shingles) for shingles in sets]


def _similar(sets: list[Shingles], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of rows whose sets have at least this Jaccard similarity."""
    holders: dict[int, list[int]] = defaultdict(list)
    whole = [set(shingles) for shingles in sets]
    for row in sorted(range(len(sets)), key=lambda row: len(sets[row])):
        length = len(sets[row])
        near: set[int] = set()
        for shingle in sets[row][: length - ceil(least * length - 1e-9) + 1]:
            near.update(holders[shingle])
            holders[shingle].append(row)
        for other in near:
            if len(sets[other]) >= least * length - 1e-9:
                shared = len(whole[row] & whole[other])
                if shared >= least * (length + len(sets[other]) - shared) - 1e-9:
                    yield other, row


MARKS = re.compile(r'([!"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])')  # all of ASCII's but apostrophe, comma, dash and period
STOP_NOT_AFTER_DIGIT = re.compile(r"([^0-9])([.,])")
STOP_NOT_BEFORE_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")
ENTITIES = {"&apos;": "'", "&quot;": '"', "&#124;": "|", "&#91;": "[", "&#93;": "]"}
SACREBLEU_TOKENIZERS = ("zh", "intl", "ja-mecab", "ko-mecab")  # sacrebleu has them
NEED_DOWNLOAD = ("spm", "flores101", "flores200", "spBLEU-1K")


def western_tokens(text: str) -> list[str]:
    """Return words and marks: marks stand alone, but periods and commas within numbers do not."""
    text = MARKS.sub(r" \1 ", f" {text} ")
    text = STOP_NOT_AFTER_DIGIT.sub(r"\1 \2 ", text)
    text = STOP_NOT_BEFORE_DIGIT.sub(r" \1 \2", text)
    return DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split()


def mteval_tokens(text: str) -> list[str]:
    """The tokeniser "13a" of mteval-v13a.pl, which WMT uses."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, mark in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            text = text.replace(entity, mark)
    return western_tokens(text)


def nist_tokens(text: str, lowercase: bool = False, western_lang: bool = True) -> list[str]:
    """The tokeniser of mteval-v14.pl as NLTK's NISTTokenizer has it; only Western texts are split and lowercased."""
    text = unescape(text.replace("<skipped>", ""), ENTITIES).replace("\u2028", " ")
    if not western_lang:
        return text.split()
    return western_tokens(text.lower() if lowercase else text)


def character_tokens(text: str) -> list[str]:
    """All characters but white space."""
    return list("".join(text.split()))


OWN_TOKENIZERS: dict[str, Tokenizer] = {"13a": mteval_tokens, "none": str.split, "char": character_tokens}


def find_tokenizer(choice: str | Tokenizer) -> Tokenizer:
    """Return the tokenizer of this name; a function from a text to a list of tokens is returned unchanged.

    Raises ValueError for unknown names, MissingLibrary for those whose library or model is not here.
    """
    if callable(choice):
        return choice
    if choice in OWN_TOKENIZERS:
        return OWN_TOKENIZERS[choice]
    if choice in NEED_DOWNLOAD:
        raise ValueError(f"{choice!r} needs a model that would have to be downloaded; use spbleu with model=its path")
    if choice not in SACREBLEU_TOKENIZERS:
        raise ValueError(
            f"no tokeniser {choice!r}; "
            f"there are {', '.join((*OWN_TOKENIZERS, *SACREBLEU_TOKENIZERS))}, or give a function"
        )
    try:
        from sacrebleu.metrics.bleu import _get_tokenizer

        borrowed = _get_tokenizer(choice)()
    except (ImportError, RuntimeError) as error:
        hint = (
            install_command(LIBRARY, "metrics")
            if choice in ("zh", "intl")
            else f"pip install 'sacrebleu[{choice[:2]}]'"
        )
        raise MissingLibrary(f"the tokeniser {choice!r} is not installed here: {hint}") from error
    return lambda text: borrowed(text).split()


def tokenize_all(texts: Iterable[str], choice: str | Tokenizer) -> list[Sequence[str]]:
    """Return the tokens of each text; equal texts are tokenised once."""
    split = find_tokenizer(choice)
    cache: dict[str, Sequence[str]] = {}
    token_lists = []
    for text in texts:
        tokens = cache.get(text)
        if tokens is None:
            tokens = cache[text] = _checked_tokens(split(text)) if callable(choice) else split(text)
        token_lists.append(tokens)
    return token_lists


def _checked_tokens(returned: object) -> Sequence[str]:
    """Tokens as a list; a text is split at white space, as sacrebleu's tokenizers need it."""
    if isinstance(returned, str):
        return returned.split()
    tokens: list[str] = list(returned) if isinstance(returned, Iterable) else []
    if not isinstance(returned, Iterable) or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"the tokeniser must return a list of texts, not {returned!r}")
    return tokens


def tercom_tokenizer(normalized: bool, no_punct: bool, asian: bool, case_sensitive: bool) -> Tokenizer:
    """Return the tokenizer of Tercom, which sacrebleu contains.

    Without its options words are separated by white space.
    """
    if not normalized and not no_punct:
        return str.split if case_sensitive else lambda text: text.lower().split()
    try:
        from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer
    except ImportError:
        raise MissingLibrary(
            f"normalized and ignore_punct need sacrebleu: {install_command(LIBRARY, 'metrics')}"
        ) from None
    split = TercomTokenizer(normalized, no_punct, asian, case_sensitive)
    return lambda text: split(text.rstrip()).split()
