"""What answers: models, their backends, the host that serves them, attributions, training.

Importing anything of this package sets the process up for torch before torch is imported; see `runtime`.
"""

from dynabench.models import runtime as runtime
