"""Boards of tasks as pages, and the views around them."""

from fastapi import APIRouter, Depends

from dynabench.benchmark.leaderboards import board_pages, board_views, view_pages
from dynabench.insight.data_measurements import pages as measurement_pages
from dynabench.rounds import people

router = APIRouter(include_in_schema=False)
router.include_router(board_pages.router, dependencies=[Depends(people.load_actions)])
router.include_router(view_pages.router)
router.include_router(view_pages.files_router)

measurement_pages.model_tables.append(board_views.models_on_round)
