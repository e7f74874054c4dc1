"""The choice how releases name you, as JSON."""

from fastapi import APIRouter, Depends
from pydantic import Field

from dynabench.communities.credits import service
from dynabench.communities.credits.tables import CreditMode
from dynabench.kit.api import Db
from dynabench.kit.schemas import RowModel, StrictModel
from dynabench.people.accounts.auth import Member, scope

router = APIRouter(prefix="/api/v1", tags=["accounts"], dependencies=[Depends(scope("account"))])


class CreditIn(StrictModel):
    """Your choice of a name in the thanks of releases."""

    mode: CreditMode
    name: str = Field("", max_length=300, description="The name to print where `mode` is `name`.")


class CreditOut(RowModel):
    """Your choice."""

    mode: CreditMode
    name: str


@router.get("/me/credit")
async def read_credit(db: Db, person: Member) -> CreditOut:
    """Return how releases name you."""
    return CreditOut.model_validate(await db.aread(service.read_credit, person.id))


@router.put("/me/credit")
async def choose_credit(db: Db, body: CreditIn, person: Member) -> CreditOut:
    """Choose how releases from now on name you in their thanks."""
    return CreditOut.model_validate(await db.awrite(service.choose_credit, person, body.mode, body.name))
