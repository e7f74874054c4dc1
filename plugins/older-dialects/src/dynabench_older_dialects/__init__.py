"""Configs in the two older dialects of Dynabench, as a plug-in of the platform."""

from collections.abc import Mapping

from dynabench.kit.hooks import hookimpl


@hookimpl
def dynabench_config_dialects() -> Mapping[str, str]:
    """Return the reader of the original annotation config, of the config of Dynatask, and of texts that hold both."""
    return {"older": "dynabench_older_dialects.reader:read"}
