"""From texts to tokens: the tokenisers of mteval (13a, NIST) and those that sacrebleu brings, by name.

Sources: the rules of NIST's scripts mteval-v13a.pl and mteval-v14.pl, and the character rule of sacrebleu.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from xml.sax.saxutils import unescape

from dynabench.distributions import LIBRARY, install_command
from dynabench.evaluate.lacking import Lacking

Tokenizer = Callable[[str], Sequence[str]]

MARKS = re.compile(r'([!"#$%&()*+/:;<=>?@\[\\\]^_`{|}~])')  # all of ASCII's but apostrophe, comma, dash and period
STOP_NOT_AFTER_DIGIT = re.compile(r"([^0-9])([.,])")
STOP_NOT_BEFORE_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")
ENTITIES = {"&apos;": "'", "&quot;": '"', "&#124;": "|", "&#91;": "[", "&#93;": "]"}
BORROWED = ("zh", "intl", "ja-mecab", "ko-mecab")  # sacrebleu has them
DOWNLOADED = ("spm", "flores101", "flores200", "spBLEU-1K")


def western(text: str) -> list[str]:
    """Words and marks: marks stand alone, but periods and commas within numbers do not."""
    text = MARKS.sub(r" \1 ", f" {text} ")
    text = STOP_NOT_AFTER_DIGIT.sub(r"\1 \2 ", text)
    text = STOP_NOT_BEFORE_DIGIT.sub(r" \1 \2", text)
    return DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split()


def mteval(text: str) -> list[str]:
    """The tokeniser "13a" of mteval-v13a.pl, which WMT uses."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, mark in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            text = text.replace(entity, mark)
    return western(text)


def nist(text: str, lowercase: bool = False, western_lang: bool = True) -> list[str]:
    """The tokeniser of mteval-v14.pl as NLTK's NISTTokenizer has it; only Western texts are split and lowercased."""
    text = unescape(text.replace("<skipped>", ""), ENTITIES).replace("\u2028", " ")
    if not western_lang:
        return text.split()
    return western(text.lower() if lowercase else text)


def characters(text: str) -> list[str]:
    """All characters but white space."""
    return list("".join(text.split()))


OWN: dict[str, Tokenizer] = {"13a": mteval, "none": str.split, "char": characters}


def tokenizer(of: str | Tokenizer) -> Tokenizer:
    """The tokeniser of this name; or `of` itself, if it is a function from a text to a list of tokens.

    Raises ValueError for unknown names and for those whose library or model is not here.
    """
    if callable(of):
        return of
    if of in OWN:
        return OWN[of]
    if of in DOWNLOADED:
        raise ValueError(f"{of!r} needs a model that would have to be downloaded; use spbleu with model=its path")
    if of not in BORROWED:
        raise ValueError(f"no tokeniser {of!r}; there are {', '.join((*OWN, *BORROWED))}, or give a function")
    try:
        from sacrebleu.metrics.bleu import _get_tokenizer

        borrowed = _get_tokenizer(of)()
    except (ImportError, RuntimeError) as error:
        hint = install_command(LIBRARY, "metrics") if of in ("zh", "intl") else f"pip install 'sacrebleu[{of[:2]}]'"
        raise Lacking(f"the tokeniser {of!r} is not installed here: {hint}") from error
    return lambda text: borrowed(text).split()


def tokenized(texts: Iterable[str], of: str | Tokenizer) -> list[Sequence[str]]:
    """The tokens of each text; equal texts are tokenised once."""
    split = tokenizer(of)
    known: dict[str, Sequence[str]] = {}
    found = []
    for text in texts:
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = _tokens(split(text)) if callable(of) else split(text)
        found.append(tokens)
    return found


def _tokens(found: object) -> Sequence[str]:
    """What a given tokeniser returned; a text is split at white space, as those of sacrebleu want."""
    if isinstance(found, str):
        return found.split()
    tokens: list[str] = list(found) if isinstance(found, Iterable) else []
    if not isinstance(found, Iterable) or not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"the tokeniser must return a list of texts, not {found!r}")
    return tokens


def tercom(normalized: bool, no_punct: bool, asian: bool, case_sensitive: bool) -> Tokenizer:
    """The tokeniser of Tercom, whose options sacrebleu brings; without them words are what white space separates."""
    if not normalized and not no_punct:
        return str.split if case_sensitive else lambda text: text.lower().split()
    try:
        from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer
    except ImportError:
        raise Lacking(f"normalized and ignore_punct need sacrebleu: {install_command(LIBRARY, 'metrics')}") from None
    split = TercomTokenizer(normalized, no_punct, asian, case_sensitive)
    return lambda text: split(text.rstrip()).split()
