"""The limits of a handler: those that its `model.yaml` asks for, within what the operator's settings allow."""

from pydantic import BaseModel, ConfigDict, Field

from dynabench.kit.errors import Invalid
from dynabench.kit.settings import Settings

MIB = 2**20
REQUEST = 64 * MIB
"""Bytes of a batch as JSON."""
ANSWER = 16 * MIB
"""Bytes of what is answered to it."""


class Options(BaseModel):
    """The settings that `model.yaml` may have under `options` of a handler."""

    model_config = ConfigDict(extra="forbid")

    memory_mb: int = Field(2048, ge=64, description="MiB of memory, all its processes together.")
    disk_mb: int = Field(64, ge=1, description="MiB that it may write, all under /tmp and in memory.")
    processors: int = Field(1, ge=1, description="Processor cores.")
    processes: int = Field(64, ge=1, description="Processes and threads at the same time.")
    open_files: int = Field(256, ge=16, le=4096, description="Files that one process may have open.")
    predict_seconds: float = Field(10.0, gt=0, description="How long one call of `predict` may take.")
    load_seconds: float = Field(60.0, gt=0, description="How long importing the handler and loading may take.")


CEILINGS = ("memory_mb", "disk_mb", "processors", "processes", "predict_seconds", "load_seconds")


def allowed(options: Options, settings: Settings) -> Options:
    """The options, if the operator's ceilings `DYNABENCH_HANDLER_*` allow them; raises `Invalid` by option."""
    wrong = {}
    for name in CEILINGS:
        most = getattr(settings, f"handler_{name}")
        if getattr(options, name) > most:
            wrong[f"options.{name}"] = f"This platform allows up to {most:g}; ask its operator or need less."
    if wrong:
        raise Invalid(wrong)
    return options
