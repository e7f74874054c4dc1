"""Keeps the catalogues of the pages' languages: `make languages`, and what a translator needs.

update                  take new texts from the sources into each catalogue, and leave out those that are gone
missing LANGUAGE        the texts without a translation, as JSON: a list of texts, or of [one, many] pairs
fill LANGUAGE FILE      take in translations: JSON of text (for plurals: the first form) to text or list of forms
check                   say what is missing or does not fit; exit status 1 where anything is
"""

import json
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, Any

import yaml
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from dynabench.evaluate.loading import FOLDERS
from dynabench.kit.language import FOLDER, LANGUAGES


def extract_description(
    file: IO[bytes], keywords: Collection[str], comment_tags: Collection[str], options: dict[str, Any]
) -> Iterator[tuple[int, None, str, list[str]]]:
    """Yield the description in a card file, as the extraction methods of Babel yield texts."""
    for key, value in yaml.compose(file, yaml.SafeLoader).value:
        if key.value == "description":
            yield value.start_mark.line + 1, None, value.value, []


SOURCES = FOLDER.parent
PLUGINS = SOURCES.parents[1] / "plugins"
METHODS = [
    ("**.py", "python"),
    *((f"evaluate/{folder}/*.yaml", extract_description) for folder in FOLDERS),
    ("web/static/js/**.js", "javascript"),
    ("**/templates/**.html", "jinja2"),
    ("**/templates/**.txt", "jinja2"),
]
OPTIONS = {f"**/templates/**.{kind}": {"extensions": "jinja2.ext.do", "silent": "false"} for kind in ("html", "txt")}
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]|%%")
TRANSLATED = [language for language in LANGUAGES if language != "en"]


def extracted() -> Catalog:
    """All texts of templates, Python and scripts."""
    catalogue = Catalog()
    for _, _, message, _, _ in extract_messages():
        catalogue.add(message)
    return catalogue


def extract_messages() -> Iterator[tuple[str, int, Any, list[str], str | None]]:
    """Each text with its file and line, in the order of files; those of plug-ins come last."""
    keywords: dict[str, Any] = {"_": None, "N_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
    for folder in (SOURCES, PLUGINS):
        yield from extract_from_dir(folder, METHODS, OPTIONS, keywords)  # type: ignore[misc]


def path(language: str) -> Path:
    """The catalogue's file."""
    return FOLDER / language / "dynabench.po"


def read(language: str) -> Catalog:
    """The catalogue as it is; an empty one where there is none yet."""
    if not path(language).exists():
        return Catalog(locale=language)
    with path(language).open("rb") as file:
        return read_po(file, locale=language)


def write(language: str, catalogue: Catalog) -> None:
    """The catalogue, its texts in their order and each on one line, so that branches merge."""
    path(language).parent.mkdir(parents=True, exist_ok=True)
    with path(language).open("wb") as file:
        write_po(file, catalogue, width=0, no_location=True, omit_header=False, sort_output=True, ignore_obsolete=True)


def fresh(language: str, sources: Catalog) -> Catalog:
    """The catalogue with the sources' texts and what is known of their translations."""
    entries, created = read(language), Catalog(locale=language, project="Dynabench", fuzzy=False)
    created.revision_date = created.creation_date = created.creation_date.replace(
        year=2026, month=11, day=22, hour=0, minute=0, second=0, microsecond=0
    )
    for message in sources:
        if message.id:
            old = entries.get(message.id)
            same = old is not None and isinstance(old.id, tuple) == isinstance(message.id, tuple)
            created.add(message.id, old.string if old is not None and same else "")
    return created


def update() -> None:
    """Take new texts into each catalogue, and the scripts' texts into their list."""
    sources = extracted()
    for language in TRANSLATED:
        write(language, fresh(language, sources))
    scripts = sorted({message for file, _, message, _, _ in extract_messages() if file.endswith(".js")})
    (FOLDER / "scripts.json").write_text(json.dumps(scripts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def missing(language: str) -> list[Any]:
    """Texts of the sources that have no translation."""
    return [message.id for message in fresh(language, extracted()) if message.id and not _whole(message.string)]


def _whole(string: Any) -> bool:
    return all(string) if isinstance(string, tuple | list) and string else bool(string)


def fill(language: str, translations: dict[str, Any]) -> int:
    """Take in translations; how many texts they fit."""
    catalogue = fresh(language, extracted())
    used = 0
    for message in catalogue:
        first = message.id[0] if isinstance(message.id, tuple) else message.id
        if first and (answer := translations.get(first)):
            message.string = tuple(answer) if isinstance(message.id, tuple) and isinstance(answer, list) else answer
            used += 1
    write(language, catalogue)
    return used


def wrong(language: str, sources: Catalog) -> Iterator[str]:
    """Yield a line for each text that a catalogue lacks or has wrong."""
    entries = read(language)
    for message in sources:
        if not message.id:
            continue
        first = message.id[0] if isinstance(message.id, tuple) else message.id
        entry = entries.get(message.id)
        if entry is None or not _whole(entry.string) or entry.fuzzy:
            yield f"{language}: no translation of {first!r}"
            continue
        forms = entry.string if isinstance(entry.string, tuple) else (entry.string,)
        if isinstance(message.id, tuple) and len(forms) != entries.num_plurals:
            yield f"{language}: {len(forms)} forms in place of {entries.num_plurals} for {first!r}"
        request = [_placeholders(item) for item in _forms(message.id)]
        for at, form in enumerate(forms):
            lacking = request[-1] - _placeholders(form) - {"num"}
            answer = isinstance(message.id, tuple) and at < len(forms) - 1  # forms for 0, 1 and 2 may say it in words
            if _placeholders(form) - request[0] - request[-1] or (lacking and not answer):
                yield f"{language}: other placeholders than {first!r}: {form!r}"


def _forms(id: Any) -> tuple[str, ...]:
    return id if isinstance(id, tuple) else (id,)


def _placeholders(text: str) -> set[str]:
    return {match[1] or "%" for match in PLACEHOLDER.finditer(text)}


def main(arguments: list[str]) -> int:
    """Run the command that the arguments name."""
    match arguments:
        case ["update"]:
            update()
        case ["missing", language]:
            print(json.dumps(missing(language), indent=0, ensure_ascii=False))
        case ["fill", language, file]:
            print(fill(language, json.loads(Path(file).read_text(encoding="utf-8"))), "texts taken in")
        case ["check"]:
            sources = extracted()
            problems = [line for language in TRANSLATED for line in wrong(language, sources)]
            print("\n".join(problems) or "All catalogues are complete.")
            return bool(problems)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
