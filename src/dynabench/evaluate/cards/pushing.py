"""Results pushed to a hub as a pull request, through `huggingface_hub`, which is imported when something is pushed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from dynabench.evaluate.cards.card_text import MAX_BYTES, CardText, decode_card, split_card
from dynabench.evaluate.cards.result_files import FOLDER, ResultEntry, merge_entries
from dynabench.evaluate.cards.yaml_text import CardError

CARD = "README.md"
TIMEOUT, SLOWEST = 30.0, 120.0
"""Seconds without a byte, and in all, after which a hub is given up."""


@dataclass(frozen=True)
class PushTarget:
    """A repository of a hub. `token` None takes the one that `huggingface_hub` finds."""

    repository: str
    kind: str = "model"
    endpoint: str | None = None
    token: str | None = None


@dataclass(frozen=True)
class PushOutcome:
    """The address of the commit, and of the pull request where there is one; both empty where nothing changed."""

    commit: str = ""
    pull_request: str = ""


def push_card(
    target: PushTarget, change: Callable[[CardText], CardText], message: str, create_pr: bool = True
) -> PushOutcome:
    """Change the card of a repository by one commit on the revision that was read. Raises `CardError`.

    A repository without a card gets one. Where the repository changed meanwhile, the hub refuses a direct commit.
    """
    return _push_file(target, CARD, lambda text: str(change(split_card(text))), message, create_pr)


def push_entries(
    target: PushTarget, name: str, entries: list[ResultEntry], message: str, overwrite: bool = False,
    create_pr: bool = True,
) -> PushOutcome:  # fmt: skip
    """Add results to `.eval_results/NAME.yaml` of a model's repository. Raises `CardError`."""
    if PurePosixPath(name).name != name or not name or name.startswith("."):
        raise CardError(f"{name!r} is not the name of a file.")
    path = f"{FOLDER}/{name.removesuffix('.yaml')}.yaml"
    return _push_file(target, path, lambda text: merge_entries(text, entries, overwrite), message, create_pr)


def _push_file(
    target: PushTarget, path: str, change: Callable[[str], str], message: str, create_pr: bool
) -> PushOutcome:
    try:
        import huggingface_hub
        from huggingface_hub.errors import EntryNotFoundError
    except ImportError:
        raise CardError("Pushing needs a library: pip install huggingface_hub.") from None
    api = huggingface_hub.HfApi(endpoint=target.endpoint, token=target.token)
    try:
        revision = api.repo_info(target.repository, repo_type=target.kind, timeout=TIMEOUT).sha
        try:
            before = _download(api, target, path, revision)
        except EntryNotFoundError:
            before = ""
        after = change(before)
        if after == before:
            return PushOutcome()
        commit = api.create_commit(
            target.repository,
            [huggingface_hub.CommitOperationAdd(path, after.encode())],
            commit_message=message,
            repo_type=target.kind,
            parent_commit=revision,
            create_pr=create_pr,
        )
    except CardError:
        raise
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        raise CardError(f"The hub refused: {' '.join(str(error).split())[:300]}") from None
    except Exception as error:  # the hub's client lets its transport's own errors through
        if type(error).__module__.partition(".")[0] not in ("httpx", "httpx2", "httpcore", "httpcore2", "requests"):
            raise
        raise CardError(f"The hub cannot be reached: {error}.") from None
    return PushOutcome(str(commit.commit_url or ""), str(commit.pr_url or ""))


def _download(api: Any, target: PushTarget, path: str, revision: str | None) -> str:
    """Return a text of a repository; a hub that sends too much, or too slowly, is given up. Raises `CardError`."""
    from huggingface_hub import get_session, hf_hub_url, utils

    tools: Any = utils  # it names these functions without exporting them for type checkers
    kind = {"repo_type": target.kind, "revision": revision, "endpoint": api.endpoint}
    address, headers = hf_hub_url(target.repository, path, **kind), tools.build_hf_headers(token=target.token)
    content, end = bytearray(), time.monotonic() + SLOWEST
    request: dict[str, Any] = {"headers": headers, "follow_redirects": True, "timeout": TIMEOUT}
    with get_session().stream("GET", address, **request) as response:
        if response.is_error:
            response.read()
        tools.hf_raise_for_status(response)
        for part in response.iter_bytes(65_536):
            content += part
            if len(content) > MAX_BYTES:
                raise CardError(f"The hub sends more than {MAX_BYTES // 1024**2} MB as {path}: this is no card.")
            if time.monotonic() > end:
                raise CardError(f"The hub did not send {path} within {SLOWEST:.0f} seconds. Try again later.")
    return decode_card(bytes(content))
