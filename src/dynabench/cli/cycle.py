"""`dynabench cycle`: the turn of the cycle, and many of them in one experiment."""

import typer

from dynabench.cli.cycle_simulate import simulate

app = typer.Typer(help="Simulate many rounds without people.")
app.callback()(lambda: None)
app.command()(simulate)
