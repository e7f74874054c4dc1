"""The protocol of a hub elsewhere, as far as datasets need it: commits, lists of files, and their content.

The hub is the one of `DYNABENCH_HUB_URL`. No token is sent. Nothing that it says is believed: every file has to have
the size and the hash of the list, and a redirect may lead to public addresses only.
"""

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urljoin

from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.outgoing import AllowedHosts, OutgoingClient, check_address
from dynabench.kit.outgoing.client import MAX_REPLY_BYTES, HttpReply
from dynabench.kit.settings import Settings

SECONDS = 30.0
"""Seconds of a request for facts."""
SLOWEST = 20 * 1024
"""Bytes a second that a download needs, beyond a minute."""
MOST_LISTED = 100_000
MOST_PAGES = 200
ATTEMPTS = 5
"""Requests for one file, which may each be interrupted."""
SETTING = "DYNABENCH_HUB_HOSTS"
HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')
ReportBytes = Callable[[int], object]
"""Called with the number of bytes that are there of a file."""


class UnusableHub(errors.Unavailable):
    """The hub does not answer, or not as its protocol says; `detail` names the hub and the reason."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a commit: `large` says that `digest` is the SHA-256 of its content, else it is the hash of git."""

    path: str
    size: int
    digest: str
    large: bool

    @property
    def stored_name(self) -> str:
        """The name of its content among downloads."""
        return f"{'sha256' if self.large else 'git'}-{self.digest}"

    def hasher(self) -> Any:
        """Return what computes the digest of its content."""
        if self.large:
            return hashlib.sha256()
        blob = hashlib.sha1(usedforsecurity=False) if len(self.digest) == 40 else hashlib.sha256()
        blob.update(f"blob {self.size}\0".encode())
        return blob


class RemoteHub:
    """The hub of the setting; close it. Raises `Unavailable` where the operator has set none."""

    def __init__(self, settings: Settings) -> None:
        if not settings.hub_url:
            raise errors.Unavailable(_("This platform calls no hub. Download the dataset and upload its files."))
        self.address = settings.hub_url.rstrip("/")
        host, port = check_address(self.address, name="hub_url")
        listed = AllowedHosts.read(settings.hub_hosts, SETTING)
        own = frozenset({f"{host}:{port}", f"[{host}]:{port}"})
        self._client = OutgoingClient(AllowedHosts(listed.names | own, listed.networks, SETTING), connections=2)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def find_commit(self, dataset: str, revision: str) -> str:
        """Return the commit that a branch, tag or commit names; the main branch where it is empty.

        Raises `NotFound`, `Forbidden` for a dataset that is not for everybody, `Unavailable`.
        """
        path = f"/api/datasets/{dataset}" + (f"/revision/{quote(revision, safe='')}" if revision else "")
        facts, _headers = self._facts(dataset, f"{self.address}{path}")
        facts = facts if isinstance(facts, dict) else {}
        if facts.get("private") or facts.get("gated") or facts.get("disabled"):
            raise errors.Forbidden(_closed(dataset))
        commit = facts.get("sha")
        if not isinstance(commit, str) or not HEX.fullmatch(commit):
            raise self._wrong(_("it does not say which commit of %(dataset)s this is", dataset=dataset))
        return commit

    def list_files(self, dataset: str, commit: str) -> dict[str, RemoteFile]:
        """Return the files of a commit by their paths. Raises as `find_commit` does, and `TooLarge`."""
        url = f"{self.address}/api/datasets/{dataset}/tree/{commit}?recursive=True&expand=False"
        files: dict[str, RemoteFile] = {}
        for _page in range(MOST_PAGES):
            entries, headers = self._facts(dataset, url)
            if not isinstance(entries, list):
                raise self._wrong(_("its list of files is none"))
            for entry in entries:
                if isinstance(entry, dict) and entry.get("type") == "file":
                    file = self._listed_file(entry)
                    files[file.path] = file
            link = NEXT.search(headers.get("link", ""))
            if len(files) > MOST_LISTED or not link:
                break
            url = urljoin(url, link[1])
        else:
            raise self._wrong(_("its list of files does not end"))
        if len(files) > MOST_LISTED:
            raise errors.TooLarge(_("This dataset has more than %(most)s files.", most=f"{MOST_LISTED:,}"))
        return files

    def _listed_file(self, entry: dict[str, Any]) -> RemoteFile:
        large = entry.get("lfs") if isinstance(entry.get("lfs"), dict) else None
        path, size, digest = entry.get("path"), (large or entry).get("size"), (large or entry).get("oid")
        digest = str(digest).removeprefix("sha256:")
        if not isinstance(path, str) or type(size) is not int or size < 0 or not HEX.fullmatch(digest):
            raise self._wrong(_("its list has a file without a path, a size or a hash"))
        if large and len(digest) != 64:
            raise self._wrong(_("its list has a file without a path, a size or a hash"))
        return RemoteFile(path, size, digest, bool(large))

    def _facts(self, dataset: str, url: str) -> tuple[Any, dict[str, str]]:
        with self._problems(), self._client.fetch(url, {"Accept": "application/json"}, SECONDS) as (reply, parts):
            body = b"".join(parts)
            self._require_success(dataset, reply)
            complete = HttpReply(reply.host, reply.status, reply.headers, body)
            return complete.json(), dict(reply.headers)

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Name the hub in the problems of the client."""
        try:
            yield
        except UnusableHub:
            raise
        except errors.Invalid as problem:
            raise self._wrong("; ".join(problem.fields.values())) from None
        except errors.Unavailable as problem:
            raise self._wrong(problem.detail) from None

    def _wrong(self, reason: str) -> UnusableHub:
        reason = reason.rstrip(".")
        message = _(
            "%(hub)s gives no dataset now: %(reason)s. Try again later, or download it elsewhere and upload it.",
            hub=self.address,
            reason=reason,
        )
        return UnusableHub(message, retry_after=60)

    def _require_success(self, dataset: str, reply: HttpReply) -> None:
        if reply.status in (200, 206):
            return
        code = reply.headers.get("x-error-code", "")
        if code == "GatedRepo" or reply.status == 403:
            raise errors.Forbidden(_closed(dataset))
        if reply.status in (401, 404):
            raise errors.NotFound(
                _(
                    "%(hub)s has no dataset %(dataset)s in this revision that everybody may read. Check its name.",
                    hub=self.address,
                    dataset=dataset,
                )
            )
        raise self._wrong(_("it answers with status %(status)s", status=reply.status))

    def read_small(self, dataset: str, commit: str, file: RemoteFile) -> bytes:
        """Return the content of a small file. Raises as `find_commit` does."""
        content = bytearray()
        with self._problems(), self._client.fetch(self._file_address(dataset, commit, file), {}, SECONDS) as answer:
            self._require_success(dataset, answer[0])
            for part in answer[1]:
                content += part
                if len(content) > min(file.size, MAX_REPLY_BYTES):
                    break
        hasher = file.hasher()
        hasher.update(bytes(content))
        if hasher.hexdigest() != file.digest:
            raise self._wrong(_differs(file))
        return bytes(content)

    def _file_address(self, dataset: str, commit: str, file: RemoteFile) -> str:
        return f"{self.address}/datasets/{dataset}/resolve/{commit}/{quote(file.path)}"

    def download(self, dataset: str, commit: str, file: RemoteFile, target: Path, report: ReportBytes) -> None:
        """Download a file to `target`, unless it is there; go on where an earlier attempt ended.

        Raises as `find_commit` does. What does not have the hash of the list is erased.
        """
        part = target.with_name(f"{target.name}.part")
        with part.open("a+b") as out:
            fcntl.flock(out, fcntl.LOCK_EX)  # another evaluation may download the same file
            if target.is_file():
                part.unlink(missing_ok=True)
                return
            self._complete(dataset, commit, file, out, report)
            out.seek(0)
            hasher = file.hasher()
            while piece := out.read(1024**2):
                hasher.update(piece)
            if hasher.hexdigest() != file.digest:
                out.truncate(0)
                raise self._wrong(_differs(file))
            out.flush()
            os.fsync(out.fileno())
            part.rename(target)

    def _complete(self, dataset: str, commit: str, file: RemoteFile, out: BinaryIO, report: ReportBytes) -> None:
        """Append the missing bytes of a file; what came before an interruption stays."""
        problem = self._wrong(_("it gives only a part of %(path)s", path=file.path[-100:]))
        until = time.monotonic() + 60 + file.size / SLOWEST
        for _attempt in range(ATTEMPTS):
            if out.seek(0, os.SEEK_END) >= file.size:
                return
            try:
                self._append(dataset, commit, file, out, until, report)
            except UnusableHub as interrupted:
                problem = interrupted
        if out.seek(0, os.SEEK_END) < file.size:
            raise problem

    def _append(
        self, dataset: str, commit: str, file: RemoteFile, out: BinaryIO, until: float, report: ReportBytes
    ) -> None:
        start = out.seek(0, os.SEEK_END)
        headers = {"Range": f"bytes={start}-"} if start else {}
        seconds = until - time.monotonic()
        url = self._file_address(dataset, commit, file)
        with self._problems(), self._client.fetch(url, headers, seconds, most=2**50) as (reply, parts):
            self._require_success(dataset, reply)
            if start and reply.status == 200:  # a server that knows no ranges begins anew
                start = 0
                out.truncate(0)
            for piece in parts:
                start += len(piece)
                if start > file.size:
                    out.truncate(0)
                    raise self._wrong(_("%(path)s is longer than its list says", path=file.path[-100:]))
                out.write(piece)
                report(start)
            out.flush()


def _closed(dataset: str) -> str:
    return _(
        "%(dataset)s is private or asks for an agreement. Download it yourself and upload its files.", dataset=dataset
    )


def _differs(file: RemoteFile) -> str:
    return _("%(path)s is not the file that its list names", path=file.path[-100:])
