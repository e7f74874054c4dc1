"""From texts to tokens: the tokenisers of mteval (13a, NIST) and those that sacrebleu brings, by name.

Sources: the rules of NIST's scripts mteval-v13a.pl and mteval-v14.pl, and the character rule of sacrebleu.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from xml.sax.saxutils import unescape

from dynabench.evaluate.errors import MissingLibrary
from dynabench.kit.distributions import LIBRARY, install_command

Tokenizer = Callable[[str], Sequence[str]]

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
