"""Boards of tasks as pages, and the views around them."""

from fastapi import APIRouter

from dynabench.leaderboards import view_files, view_pages

router = APIRouter(include_in_schema=False)
router.include_router(view_pages.router)
router.include_router(view_files.router)
