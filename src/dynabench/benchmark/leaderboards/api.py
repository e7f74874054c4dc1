"""Boards of tasks as JSON, and the views around them."""

from fastapi import APIRouter, Depends

from dynabench.benchmark.leaderboards import board_api, view_api
from dynabench.people.accounts.auth import scope

router = APIRouter(prefix="/api/v1", tags=["leaderboards"])
router.include_router(board_api.router)
router.include_router(board_api.reports_router)
router.include_router(view_api.router, dependencies=[Depends(scope("manage"))])
