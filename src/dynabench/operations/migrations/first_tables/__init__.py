"""The tables that the first migration creates, by subject."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers rows itself for INTEGER alone
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
MOMENT = sa.DateTime(timezone=True)


def only(condition: str) -> dict[str, Any]:
    """Restrict an index to the rows that meet a condition."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
