"""Logs: one event per line, readable for people or as JSON, from our code and from libraries alike."""

import logging
import logging.config
from typing import Any

import structlog

PLAIN = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(log_format: str, level: str = "INFO") -> None:
    """Send structlog's and the standard library's records to standard error; `log_format` is `text` or `json`."""
    # Tracebacks without the values of local variables: they hold what people wrote, and secrets; and to print the whole
    # application for each frame keeps the process from answering for so long that its supervisor ends it.
    renderer: list[Any] = (
        [structlog.processors.ExceptionRenderer(PLAIN), structlog.processors.JSONRenderer()]
        if log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
    )
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*SHARED, structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    )
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(level)
    for noisy in ("httpx2", "httpcore2", "alembic"):
        logging.getLogger(noisy).setLevel("WARNING")
