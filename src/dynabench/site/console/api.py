"""The JSON routes for owners to manage their tasks."""

from fastapi import APIRouter, Depends

from dynabench.people.accounts.auth import scope
from dynabench.people.notices import api
from dynabench.rounds.manage.webhooks import hold_task

router = APIRouter(prefix="/api/v1", tags=["notices"], dependencies=[Depends(scope("manage"))])
router.include_router(api.HookRoutes("/tasks/{task}/webhooks", hold_task, "manage").router)
