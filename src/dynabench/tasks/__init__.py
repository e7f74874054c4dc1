"""Tasks: configs, field types, fooling rules, and the tasks that are shipped."""

from dynabench.tasks.config import TaskConfig
from dynabench.tasks.rules.base import ensemble_fooled
from dynabench.tasks.shipped import ShippedTask, shipped_tasks

__all__ = ["ShippedTask", "TaskConfig", "ensemble_fooled", "shipped_tasks"]
