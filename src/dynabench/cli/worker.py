"""`dynabench worker`: the process that runs durable jobs."""

import os
import signal
import sys
import threading

import typer

from dynabench.kit.settings import get_settings

app = typer.Typer(help="Run durable jobs: imports, sweeps.")


@app.callback(invoke_without_command=True)
def worker() -> None:
    """Run durable jobs until told to stop; a job that was running when a worker died is resumed."""
    from dynabench.kit import heartbeat, logs, malloc
    from dynabench.kit.jobs import work
    from dynabench.operations.key_check import check_keys

    heartbeat.start()
    malloc.one_arena()
    logs.configure(get_settings().log_format)
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    check_keys(get_settings())
    _outdated()
    work(get_settings(), stop)
    sys.stderr.flush()
    os._exit(0)  # jobs under way are resumed by the next worker; waiting for their threads could take hours


def _outdated() -> None:
    """Have scores made anew whose metric has changed since the worker ran last."""
    from dynabench.benchmark.evaluations import queueing
    from dynabench.kit.db import Database

    database = Database(get_settings().url)
    database.write(queueing.queue_outdated_metrics)
    database.close()
