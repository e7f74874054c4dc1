"""Statistics as pure functions over counts and arrays; no database, no task, no clock."""

from dynabench.stats.dynascore import dynascore as dynascore
from dynabench.stats.dynascore import guarded_dynascore as guarded_dynascore
