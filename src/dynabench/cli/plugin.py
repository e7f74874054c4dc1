"""`dynabench plugin`: what installed packages bring, and what of it cannot be used."""

from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dynabench.cli.operator import AsJson, say

app = typer.Typer(help="List plug-ins and what they add.", no_args_is_help=True)


@app.callback()
def plugin() -> None:
    """List plug-ins and what they add."""


@app.command("list")
def list_plugins(as_json: AsJson = False) -> None:
    """List the plug-ins of installed packages with what they add, then their errors."""
    from dynabench.kit import plugins

    brought = _brought()
    rows: list[dict[str, Any]] = [
        {"name": item.name, "package": item.package, "version": item.version, "brings": brought.get(item.name, {})}
        for item in plugins.installed().loaded()
    ]
    failures = [failure._asdict() for failure in plugins.installed().failures]
    if as_json:
        say(True, {"plugins": rows, "failures": failures}, "")
        return
    table = Table("plug-in", "package", "brings")
    for row in rows:
        parts = [f"{hook.removeprefix('dynabench_')}: {', '.join(names)}" for hook, names in row["brings"].items()]
        table.add_row(row["name"], f"{row['package']} {row['version']}", "; ".join(parts))
    console = Console(soft_wrap=True)
    console.print(table if rows else "No plug-ins are installed.")
    for item in failures:
        console.print(f"[red]{escape(item['plugin'])}: {escape(item['reason'])}[/red]")


def _brought() -> dict[str, dict[str, list[str]]]:
    """By plug-in and hook the names of what it brings; asks all that read hooks."""
    from dynabench.adversaries import perturbations, reports
    from dynabench.adversaries import protocol as adversary_registry
    from dynabench.crowd import provider as crowd_providers
    from dynabench.evaluate import loading
    from dynabench.kit import plugins
    from dynabench.models import clusters, endpoint_protocols, kinds
    from dynabench.tasks import fields, reading, rules

    for ask in (
        fields.types,
        rules.fooling_rules,
        kinds.kinds,
        clusters.clusters,
        endpoint_protocols.protocols,
        perturbations.transformations,
        loading.plugin_modules,
        adversary_registry.adversary_classes,
        reading.dialect_readers,
        reports.readers,
        crowd_providers.all_providers,
    ):
        ask()
    names_by_plugin: dict[str, dict[str, list[str]]] = {}
    for hook in plugins.HOOKS:
        for name, (by, _) in plugins.installed().brings(hook, _as_they_are).items():
            names_by_plugin.setdefault(by, {}).setdefault(hook, []).append(name)
    return names_by_plugin


def _as_they_are(things_by_name: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the names and things unchecked, for hooks that nothing has read yet, such as samplers."""
    return list(things_by_name.items())
