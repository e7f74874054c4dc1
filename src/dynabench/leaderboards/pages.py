"""Boards of tasks as pages."""

from fastapi import APIRouter, Depends

from dynabench.leaderboards import board_pages, kept_pages
from dynabench.rounds import seats

router = APIRouter(include_in_schema=False, dependencies=[Depends(seats.know)])
router.include_router(board_pages.router)
router.include_router(kept_pages.router)
