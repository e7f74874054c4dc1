"""What owners manage, as JSON."""

from fastapi import APIRouter, Depends

from dynabench.accounts.auth import scope
from dynabench.console.webhooks import holding
from dynabench.notices import hook_api

router = APIRouter(prefix="/api/v1", tags=["notices"], dependencies=[Depends(scope("manage"))])
router.include_router(hook_api.HookRoutes("/tasks/{task}/webhooks", holding, "manage").router)
