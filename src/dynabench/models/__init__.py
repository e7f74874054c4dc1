"""Models: their backends, the host that serves them, attributions and training.

Importing any module of this package first sets the process up for torch, before torch is imported;
see `runtime`.
"""

from dynabench.models import runtime as runtime
