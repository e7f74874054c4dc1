"""Datasets as pages."""

from fastapi import APIRouter

from dynabench.datasets import twin_pages

router = APIRouter(include_in_schema=False)
router.include_router(twin_pages.router)
