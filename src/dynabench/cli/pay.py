"""`dynabench pay`: the payment scheme of a round, its costs, and the ledger as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, write_table

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="Show and set what a round pays, book earnings, export payments.", no_args_is_help=True)
Number = Annotated[int, typer.Argument(min=1, metavar="ROUND", help="The number of the round.")]


@app.command("show")
def show(task: str, number: Number, as_json: AsJson = False) -> None:
    """Print the scheme of a round, its costs, and its people with their hourly pay."""
    from dynabench.pay import costs, reading
    from dynabench.pay.schemas import PersonPayOut, RoundPayOut

    def read(session: "Session") -> dict[str, Any]:
        round_, scheme = reading.owned_round(session, None, task, number)
        if scheme is None:
            return {"scheme": None, "costs": None, "people": []}
        people = [PersonPayOut.of(row, scheme.currency) for row in reading.list_people(session, round_, scheme)]
        return {
            "scheme": scheme.document(),
            "costs": RoundPayOut.of(costs.read_costs(session, round_)).model_dump(mode="json"),
            "people": [person.model_dump(mode="json") for person in people],
        }

    with database() as db:
        facts = db.read(read)
    say(as_json, facts, _text(facts, number))


def _text(facts: dict[str, Any], number: int) -> str:
    if facts["scheme"] is None:
        return f"Round {number} pays nothing. Set a scheme with `dynabench pay set`."
    from dynabench.pay.scheme import write_scheme

    currency, spending = facts["scheme"]["currency"], facts["costs"]
    lines = [write_scheme(facts["scheme"]).rstrip(), "", f"Booked: {spending['total']} {currency}"]
    if spending["budget"]:
        lines.append(f"Budget: {spending['budget']} {currency}, committed {spending['committed']}")
    for person in facts["people"]:
        hourly = f", {person['hourly']} an hour" if person["hourly"] else ""
        lines.append(f"{person['name']}: {person['total']} {currency}{hourly}")
    return "\n".join(lines)


@app.command("set")
def set_scheme(
    task: str,
    number: Number,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The scheme in YAML or JSON.")],
    as_json: AsJson = False,
) -> None:
    """Set the payment scheme of a round; it counts for the work from now on."""
    from dynabench.pay import service
    from dynabench.pay.scheme import read_scheme

    scheme = read_scheme(file.read_text(encoding="utf-8"))
    with database() as db:
        row = db.write(service.save_scheme, None, task, number, scheme)
    facts = {"version": row.number, "scheme": row.document}
    say(as_json, facts, f"Version {row.number} of the scheme of round {number} counts from now on.")


@app.command("book")
def book(task: str, number: Number) -> None:
    """Ask the worker to book the earnings of a round now."""
    from dynabench.pay import service

    with database() as db:
        db.write(service.update_now, None, task, number)
    say(False, {}, "The worker books the earnings of the round.")


@app.command("export")
def export(
    task: str,
    number: Number,
    out: OutFile = None,
) -> None:
    """Write the ledger of payments of a round as CSV, with exact decimals."""
    from dynabench.pay import exports, reading

    def read(session: "Session") -> list[Any]:
        round_, _scheme = reading.owned_round(session, None, task, number)
        return list(exports.payment_rows(session, round_.id))

    with database() as db:
        write_table(out, exports.PAYMENT_COLUMNS, db.read(read))
