"""`load("owner/name")`: the commit, whether it is trusted, its files, and the module in the sandbox."""

import sys
from pathlib import Path
from typing import Any

from dynabench.evaluate.loading import module_in_file
from dynabench.evaluate.module import Module
from dynabench.published_modules.manifest import ModuleManifest
from dynabench.published_modules.repositories import ModuleFiles, fetch_files, parse_reference, resolve_commit
from dynabench.published_modules.sandboxed import sandbox_module
from dynabench.published_modules.trust import check_digest, check_trust


def load_published(
    path: str,
    config_name: str | None = None,
    *,
    revision: str | None = None,
    endpoint: str | None = None,
    token: str | None = None,
    trust: bool | str | None = None,
    in_process: bool = False,
    cache_dir: str | None = None,
    compat: bool = False,
    **options: Any,
) -> Module:
    """Return the module of a repository, which runs in the sandbox, or in this process where `in_process` says so.

    Raises ValueError where the hub has no such module or no module that can be loaded, and `UntrustedModule`.
    """
    reference = parse_reference(path, revision, endpoint, token)
    commit = resolve_commit(reference)
    digest = check_trust(reference.repository, commit, trust, reference.pinned)
    files = fetch_files(reference, commit, Path(cache_dir) if cache_dir else None)
    check_digest(files, digest)
    manifest, _contents = declared_files(files)
    if in_process:
        return _load_here(files, manifest)(config_name, compat=compat, **options)
    return sandbox_module(manifest, files.files, config_name, revision=commit, **options)


def declared_files(files: ModuleFiles) -> tuple[ModuleManifest, dict[str, bytes]]:
    """Return the module that files declare, and the files by path. Raises ValueError where its own is not there."""
    manifest = files.manifest()
    if manifest.file not in files.files:
        raise ValueError(f"{files.repository} has no file {manifest.file}, which its README.md names")
    return manifest, files.files


def _load_here(files: ModuleFiles, manifest: ModuleManifest) -> type[Module]:
    """Import the module's code into this process. A file beside it is found unless a package has its name."""
    if str(files.folder) not in sys.path:
        sys.path.append(str(files.folder))
    module = module_in_file(files.folder / manifest.file)
    module.own_name = module.own_name or manifest.name
    return module
