"""The hooks of plug-ins, one for each sort of thing they may bring; `dynabench.kit.plugins` finds them.

A plug-in is a module (or an object) that an entry point of the group `dynabench` names. It marks with
`hookimpl` the functions that it has of those below; each takes no arguments and returns what it brings.
The platform's own things come in by the same hooks (`dynabench.builtin`), before all others; no plug-in
can use a name that is taken.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pluggy

GROUP = "dynabench"
"""The entry points' group, and the name of the project in pluggy."""
hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


@hookspec
def dynabench_fields() -> Iterable[type[Any]]:
    """Field types: subclasses of `dynabench.tasks.fields.Field`, each named by its `type`."""
    return ()


@hookspec
def dynabench_fooling_rules() -> Iterable[type[Any]]:
    """Fooling rules: subclasses of `dynabench.tasks.rules.Rule`, each named by its `rule`."""
    return ()


@hookspec
def dynabench_samplers() -> Mapping[str, Any]:
    """Ways to draw a context, `dynabench.rounds.samplers.Sampler`s by the name that the plan of a round gives."""
    return {}


@hookspec
def dynabench_model_kinds() -> Iterable[Any]:
    """Kinds of model: `dynabench.models.kinds.Kind`s, each of which names its backend without importing it."""
    return ()


@hookspec
def dynabench_clusters() -> Mapping[str, str]:
    """Clusters that models run on: by the name of the setting, the `module:Class` of a
    `dynabench.models.clusters.Cluster`, which is imported when it is asked for."""
    return {}


@hookspec
def dynabench_endpoint_protocols() -> Iterable[Any]:
    """Protocols of servers that models lie behind: `dynabench.models.endpoint_protocols.EndpointProtocol`s, each named
    by the kind of model that speaks it."""
    return ()


@hookspec
def dynabench_evaluation_modules() -> Mapping[str, Mapping[str, str]]:
    """Modules of the evaluation library: for `metric`, `measurement` and `comparison` the Python module, by name, that
    has the class; it is imported when it is asked for. `package.module:Class` where it has several."""
    return {}


@hookspec
def dynabench_module_sources() -> Mapping[str, str]:
    """Sources of evaluation modules called `owner/name`: by name, the `module:function` that loads one of them, as
    `dynabench.evaluate.load` does; the last one is asked."""
    return {}


@hookspec
def dynabench_perturbations() -> Iterable[Any]:
    """Ways to change texts: `dynabench.adversaries.perturbations.Transformation`s, each with its `name`."""
    return ()


@hookspec
def dynabench_adversaries() -> Mapping[str, str]:
    """Programs that propose examples: by name, the `module:Class` of a `dynabench.adversaries.protocol.Adversary`,
    which is imported when it is asked for."""
    return {}


@hookspec
def dynabench_config_dialects() -> Mapping[str, str]:
    """Readers of task configs in other dialects: by name, the `module:function` of a
    `dynabench.tasks.reading.DialectReader`, which is imported when it is asked for."""
    return {}


@hookspec
def dynabench_report_readers() -> Mapping[str, str]:
    """Readers of what other programs found: by the program's name, the `module:function` of a
    `dynabench.adversaries.reports.ReportReader`, which is imported when it is asked for."""
    return {}


@hookspec
def dynabench_text_detectors() -> Mapping[str, str]:
    """Detectors of text that language models write: by name, the `module:function` that returns a
    `dynabench.quality.signals.detector.TextDetector`; the last one takes the place of the platform's own."""
    return {}


@hookspec
def dynabench_crowd_providers() -> Iterable[Any]:
    """Crowd platforms: `dynabench.crowd.provider.CrowdProvider`s, each with its `name`."""
    return ()
