"""Boards of tasks as JSON, and the views around them."""

from fastapi import APIRouter, Depends

from dynabench.accounts.auth import scope
from dynabench.leaderboards import view_api

router = APIRouter(prefix="/api/v1", tags=["leaderboards"], dependencies=[Depends(scope("manage"))])
router.include_router(view_api.router)
