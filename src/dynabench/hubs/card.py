"""The card of a repository: the metadata at the top of its README.md, its tags, and the words that a search finds."""

import math
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

import yaml

from dynabench.hubs.tables import RepositoryKind
from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.kit.storable import UNSTORABLE, unstorable
from dynabench.web.filters import summary

README = "README.md"
MOST_METADATA, MOST_WORDS = 64 * 1024, 4000
MOST_TAGS, LONGEST_TAG = 100, 100
PREFIXED = {
    "license": "license:",
    "datasets": "dataset:",
    "base_model": "base_model:",
    "task_categories": "task_categories:",
    "task_ids": "task_ids:",
    "size_categories": "size_categories:",
    "multilinguality": "multilinguality:",
    "language_creators": "language_creators:",
    "annotations_creators": "annotations_creators:",
}
"""Members of the metadata that become tags, and the beginnings of these."""
PLAIN = ("tags", "pipeline_tag", "library_name")


class RepositoryCard(NamedTuple):
    """A README.md in its parts; `metadata` is empty where there is none or it cannot be read."""

    metadata: dict[str, Any]
    body: str


def parse_metadata(text: str) -> dict[str, Any]:
    """Return the metadata of a card, given as YAML. Raises `Invalid`."""
    if len(text) > MOST_METADATA:
        raise Invalid({"README.md": _("The metadata of a card has at most %(n)s KiB.", n=MOST_METADATA // 1024)})
    try:
        if any(isinstance(event, yaml.events.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise Invalid({"README.md": _("The metadata of a card has no references (`*name`).")})
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = " ".join(str(error).split())[:300]
        raise Invalid({"README.md": _("The metadata is no valid YAML: %(line)s", line=line)}) from None
    if document is None:
        return {}
    if not isinstance(document, dict) or next(unstorable(document), None):
        raise Invalid({"README.md": _("The metadata of a card is a mapping of names to values.")})
    return {str(name): _plain(value) for name, value in document.items()}


def _plain(value: object) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part) for part in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def split_card(text: str) -> tuple[str, str]:
    """Return the metadata and the body of a README.md as texts."""
    lines = text.lstrip("\ufeff\n\r").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :]).lstrip("\n")
    return "", text


def read_card(content: bytes) -> RepositoryCard:
    """Return the card of a README.md as it was committed, without complaints."""
    text = UNSTORABLE.sub("", content.decode("utf-8", "replace"))
    metadata, body = split_card(text)
    try:
        return RepositoryCard(parse_metadata(metadata), body)
    except Invalid:
        return RepositoryCard({}, body)


def card_tags(metadata: Mapping[str, Any], kind: str) -> list[str]:
    """Return the tags of a repository by its metadata, each once."""
    tags = dict.fromkeys(tag[:LONGEST_TAG] for tag in _tags(metadata, kind) if tag.isprintable())
    return list(tags)[:MOST_TAGS]


def _tags(metadata: Mapping[str, Any], kind: str) -> Iterator[str]:
    for name in PLAIN:
        yield from _texts(metadata.get(name))
    for text in _texts(metadata.get("language")):
        yield text if kind == RepositoryKind.MODEL else f"language:{text}"
    for name, prefix in PREFIXED.items():
        for text in _texts(metadata.get(name)):
            yield f"{prefix}{text}"


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [str(item).strip() for item in items if isinstance(item, str | int) and str(item).strip()]


def card_summary(card: RepositoryCard) -> str:
    """Return the first sentence of a card that is no heading."""
    paragraphs = [part for part in card.body.split("\n") if part.strip() and part.lstrip()[0] not in "#|<!-`>="]
    return summary(paragraphs[0])[:300] if paragraphs else ""


def card_words(full_name: str, card: RepositoryCard, tags: list[str]) -> str:
    """Return the text in which the search looks, in small letters."""
    return " ".join([full_name, *tags, card.body[:MOST_WORDS]]).lower()
