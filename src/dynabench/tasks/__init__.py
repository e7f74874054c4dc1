"""What a task is: its config, the types of its fields, when a model counts as fooled, and the tasks that we ship."""

from dynabench.tasks.config import TaskConfig
from dynabench.tasks.ensembles import ensemble_fooled
from dynabench.tasks.shipped import Shipped, builtin

__all__ = ["Shipped", "TaskConfig", "builtin", "ensemble_fooled"]
