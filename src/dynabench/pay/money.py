"""Amounts of money: whole minor units (cents) of one currency inside, exact decimals at the edges."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache

from dynabench.kit.language import _

DIGITS: dict[str, int] = (
    dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0)
    | dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3)
    | dict.fromkeys("CLF UYW".split(), 4)
)
"""Decimal places of currencies by ISO 4217, where they are not two. (The tables of CLDR, which Babel has, say how
people write prices and leave out minor units that banks and platforms count, such as those of IQD.)"""
LARGEST = 10**12
"""The largest amount in minor units, so that sums of millions fit into 64 bits."""
_AMOUNT = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")


@cache
def currencies() -> frozenset[str]:
    """Return the codes of the currencies that are known, such as USD."""
    from babel.numbers import list_currencies

    return frozenset(list_currencies("en")) - {"XXX", "XTS"}


def digits_of(currency: str) -> int:
    """Return the decimal places of a currency."""
    return DIGITS.get(currency, 2)


def check_currency(code: str) -> str:
    """Return a currency's code; raise ValueError with a message for people unless it is known."""
    if code not in currencies():
        raise ValueError(_("Give the code of a currency, such as USD or EUR."))
    return code


def parse_amount(text: str, currency: str) -> int:
    """Return an amount such as `12.50` in minor units; raise ValueError where it has too many decimal places."""
    if not _AMOUNT.fullmatch(text.strip()):
        raise ValueError(_("Give an amount such as %(example)s.", example=decimal_text(1250, currency)))
    if len(text.strip().partition(".")[2]) > digits_of(currency):  # also 1.000, which some write for a thousand
        raise ValueError(
            _("%(currency)s has %(digits)s decimal places.", currency=currency, digits=digits_of(currency))
        )
    minor = int(Decimal(text.strip()).scaleb(digits_of(currency)))
    if abs(minor) > LARGEST:
        raise ValueError(_("This amount is too large."))
    return minor


def decimal_of(minor: int, currency: str) -> Decimal:
    """Return an amount in minor units as an exact decimal."""
    return Decimal(minor).scaleb(-digits_of(currency))


def decimal_text(minor: int, currency: str) -> str:
    """Return an amount as a plain decimal such as `12.50`, for files and programs."""
    return f"{decimal_of(minor, currency):.{digits_of(currency)}f}"


def round_minor(value: Decimal) -> int:
    """Return a computed amount in whole minor units, halves to the even one."""
    return int(value.quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


@dataclass(frozen=True, order=True)
class Money:
    """An amount in whole minor units of a currency; `str` writes it as `12.50 USD`."""

    minor: int
    currency: str

    @property
    def decimal(self) -> Decimal:
        """The amount as an exact decimal."""
        return decimal_of(self.minor, self.currency)

    @property
    def plain(self) -> str:
        """The amount as a plain decimal, without its currency."""
        return decimal_text(self.minor, self.currency)

    def __str__(self) -> str:
        return f"{self.decimal:,.{digits_of(self.currency)}f} {self.currency}"
