"""The demo's people and how they are simulated: who writes how much, how carefully, and how well they check.

Accuracies are shares of votes that agree with the answer that is right. Nobody real stands behind these names.
"""

from dataclasses import dataclass

PREFIX = "demo-"
"""Usernames of the demo's people begin with it, in pages and in exports."""


@dataclass(frozen=True)
class DemoPerson:
    """One simulated person.

    `writes` and `checks` weigh how often somebody takes part. `slips` is the share of own texts with a wrong answer,
    `accuracy` the share of right votes, `speed` the median of seconds for a text.
    """

    name: str
    writes: float
    checks: float
    slips: float
    accuracy: float
    speed: float

    @property
    def username(self) -> str:
        """The name on the pages."""
        return PREFIX + self.name


PEOPLE = (
    DemoPerson("amara", 3.0, 1.0, 0.03, 0.96, 95),
    DemoPerson("bela", 2.4, 2.0, 0.04, 0.94, 80),
    DemoPerson("cyprian", 2.0, 0.5, 0.07, 0.90, 60),
    DemoPerson("dalia", 1.6, 2.6, 0.02, 0.97, 130),
    DemoPerson("eskil", 1.5, 1.5, 0.05, 0.93, 75),
    DemoPerson("farida", 1.4, 1.2, 0.05, 0.95, 110),
    DemoPerson("goran", 1.2, 0.8, 0.10, 0.88, 45),
    DemoPerson("hiroko", 1.0, 3.0, 0.02, 0.98, 140),
    DemoPerson("ilse", 0.9, 1.8, 0.04, 0.95, 100),
    DemoPerson("jamal", 0.8, 0.9, 0.06, 0.92, 70),
    DemoPerson("kirsi", 0.7, 1.4, 0.03, 0.96, 120),
    DemoPerson("leandro", 0.6, 0.6, 0.09, 0.89, 55),
    DemoPerson("mirembe", 0.5, 2.2, 0.03, 0.95, 105),
    DemoPerson("nadav", 0.4, 0.7, 0.06, 0.91, 85),
    DemoPerson("oyuna", 0.3, 1.6, 0.04, 0.94, 115),
    DemoPerson("pilar", 0.3, 1.0, 0.05, 0.93, 90),
)
OWNER = DemoPerson("curator", 0.0, 0.0, 0.0, 1.0, 60)
"""Opens, closes and releases rounds, and enters the trained models."""
FLAGS, SKIPS, WITHDRAWALS = 0.006, 0.02, 0.015
"""Shares of votes that flag, of items that are passed on, and of examples that their author withdraws."""
EXPLAINS = 0.45
"""Share of examples that fooled which their author explains."""
