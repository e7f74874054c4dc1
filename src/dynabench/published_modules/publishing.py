"""A new folder for a module, the README.md that declares it, and its way to a hub by `huggingface_hub`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.evaluate.cards.card_text import decode_card, split_card
from dynabench.evaluate.cards.yaml_text import plain_values
from dynabench.published_modules.manifest import BASES, KEY
from dynabench.published_modules.repositories import README, SPACE, ModuleReference, call_hub

README_TEXT = """---
license: apache-2.0
---

# {title}

Say here in a few sentences what the {kind} is for, and for whom.

## Limits

Say here when its number misleads.
"""


@dataclass(frozen=True)
class PublishedCommit:
    """A commit of a module: `reference` is `owner/name@commit`, `address` its page."""

    repository: str
    revision: str
    address: str

    @property
    def reference(self) -> str:
        """The name under which this commit is loaded."""
        return f"{self.repository}@{self.revision}"


def readme_text(name: str, kind: str) -> str:
    """Return the README.md of a new module, for its author to change."""
    return README_TEXT.format(title=name.replace("_", " ").capitalize(), kind=kind)


def declare_module(readme: bytes, document: Mapping[str, Any]) -> bytes:
    """Return a README.md with the declaration of a module; other values and the text stay as they are.

    Raises `CardError` for a README.md whose metadata cannot be read.
    """
    card = split_card(decode_card(readme))
    metadata = plain_values(card.metadata())
    tags = metadata.get("tags")
    kind = str(document["kind"])
    other = {"evaluate", *BASES} - {kind}
    other_tags = [tag for tag in tags if tag not in {kind, *other}] if isinstance(tags, list) else []
    return str(card.with_value("tags", ["evaluate", kind, *other_tags]).with_value(KEY, dict(document))).encode()


def publish_files(
    reference: ModuleReference, files: Mapping[str, bytes], message: str, *, private: bool = False
) -> PublishedCommit:
    """Make the repository where there is none, and commit the files to its branch main.

    Files of an earlier commit that are not among them are deleted. Raises ValueError where the hub refuses.
    """
    import huggingface_hub as hub

    repository_url = call_hub(
        reference,
        lambda api: api.create_repo(
            reference.repository, repo_type=SPACE, space_sdk="static", private=private, exist_ok=True
        ),
    )
    repository = str(repository_url.repo_id)
    earlier_paths = call_hub(reference, lambda api: api.list_repo_files(repository, repo_type=SPACE))
    operations: list[Any] = [hub.CommitOperationAdd(path, data) for path, data in sorted(files.items())]
    operations += [
        hub.CommitOperationDelete(path) for path in earlier_paths if path not in files and not path.startswith(".")
    ]
    commit = call_hub(
        reference,
        lambda api: api.create_commit(repository, operations, commit_message=message, repo_type=SPACE),
    )
    return PublishedCommit(repository, str(commit.oid), _page(reference.address, str(repository_url)))


def _page(endpoint: str, repository: str) -> str:
    """Return the address of a repository's page: a platform has its pages beside its endpoint, `/api/hub`."""
    site = endpoint.removesuffix("/api/hub")
    return repository if site == endpoint else repository.replace(endpoint, f"{site}/hub", 1)


def write_folder(name: str, kind: str, folder: Path, write_module: Any) -> list[Path]:
    """Write a working module, its test and its README.md into a new folder. Raises ValueError where it is there."""
    readme = folder / README
    if readme.exists():
        raise ValueError(f"{readme} is there already; nothing was written")
    written = list(write_module(name, kind, folder))
    readme.write_text(readme_text(name, kind), encoding="utf-8")
    return [*written, readme]
