"""Boards of tasks as JSON."""

from fastapi import APIRouter

from dynabench.leaderboards import board_api, kept_api

router = APIRouter(prefix="/api/v1", tags=["leaderboards"])
router.include_router(board_api.router)
router.include_router(kept_api.router)
