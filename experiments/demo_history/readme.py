"""The README of an archive: what is in it, and how its people were simulated."""

from typing import Any

from experiments.demo_history.people import EXPLAINS, FLAGS, PEOPLE, SKIPS, WITHDRAWALS


def archive_readme(manifest: dict[str, Any]) -> str:
    """Return the text."""
    lines = "\n".join(
        f"| {person.username} | {person.writes:g} | {person.checks:g} | {person.slips:.0%} | {person.accuracy:.0%} |"
        for person in PEOPLE
    )
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in manifest["rows"].items() if count)
    return f"""# Demo data: {manifest["task"]}

The history of a shipped task for demonstrations. **The people in it do not exist**, and no figure in it says anything
about real annotators. Remove it with `dynabench demo remove`.

- **Texts** were written for this project; none comes from a data set.
- **Models' answers** come from the shipped models and from models that were trained on the rounds by the shipped tools,
  asked through the platform's own services.
- **Scores and costs** were measured by the platform's own evaluations.
- **Votes and blind answers** are simulated. Each text has a right answer, chosen by its author here. A simulated person
  votes or answers by it with the accuracy below, and otherwise at random among the wrong ones. {FLAGS:.1%} of votes
  flag, {SKIPS:.0%} of items are passed on, {WITHDRAWALS:.1%} of examples are withdrawn, and {EXPLAINS:.0%} of those
  that fooled a model are explained.
- **Authors** claim a wrong answer in the share of slips below.
- **Dates** are simulated: some months in which people wrote more on weekdays. Loading moves them by whole days, so that
  the last ones are recent.

| person | weight as author | weight as validator | slips | accuracy of votes |
|---|---|---|---|---|
{lines}

Rows: {counts}.

Made by `python -m experiments.demo_history build`.
"""
