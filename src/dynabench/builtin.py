"""Our own plug-in: what the platform has by itself, brought in by the hooks that every plug-in has."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dynabench.kit.hooks import hookimpl

if TYPE_CHECKING:
    from dynabench.adversaries.perturbations import Transformation
    from dynabench.crowd.provider import CrowdProvider
    from dynabench.models.endpoint_protocols import EndpointProtocol
    from dynabench.models.kinds import Kind
    from dynabench.rounds.samplers import Sampler
    from dynabench.tasks.fields import Field
    from dynabench.tasks.rules import Rule


@hookimpl
def dynabench_fields() -> "Iterable[type[Field]]":
    """The field types of `tasks/fields`."""
    from dynabench.tasks import fields

    return fields.SHIPPED


@hookimpl
def dynabench_fooling_rules() -> "Iterable[type[Rule]]":
    """The rules of `tasks/rules`."""
    from dynabench.tasks import rules

    return rules.SHIPPED


@hookimpl
def dynabench_samplers() -> "Mapping[str, Sampler]":
    """The samplers of `rounds/samplers`."""
    from dynabench.rounds import samplers

    return samplers.SHIPPED


@hookimpl
def dynabench_model_kinds() -> "Iterable[Kind]":
    """The kinds whose backends lie in `models/backends`."""
    from dynabench.models import kinds

    return kinds.SHIPPED


@hookimpl
def dynabench_endpoint_protocols() -> "Iterable[EndpointProtocol]":
    """The protocols whose backends lie in `models/backends/served`."""
    from dynabench.models import endpoint_protocols

    return endpoint_protocols.SHIPPED


@hookimpl
def dynabench_evaluation_modules() -> Mapping[str, Mapping[str, str]]:
    """The files of `evaluate/metrics`, `evaluate/measurements` and `evaluate/comparisons`."""
    from dynabench.evaluate import loading

    return loading.shipped_modules()


@hookimpl
def dynabench_module_sources() -> Mapping[str, str]:
    """The modules in repositories of a hub, from `published_modules`."""
    return {"hub": "dynabench.published_modules.loading:load_published"}


@hookimpl
def dynabench_perturbations() -> "Iterable[Transformation]":
    """The transformations of `adversaries/perturbations`."""
    from dynabench.adversaries import perturbations

    return perturbations.shipped_transformations()


@hookimpl
def dynabench_adversaries() -> Mapping[str, str]:
    """The adversaries of `adversaries/protocol.py`."""
    from dynabench.adversaries.protocol import SHIPPED_ADVERSARIES

    return SHIPPED_ADVERSARIES


@hookimpl
def dynabench_text_detectors() -> Mapping[str, str]:
    """The detector of `quality/signals/detector.py`."""
    return {"shipped": "dynabench.quality.signals.detector:load_shipped"}


@hookimpl
def dynabench_crowd_providers() -> "Iterable[CrowdProvider]":
    """The platforms of `crowd/providers`."""
    from dynabench.crowd.providers.generic import GenericPanel
    from dynabench.crowd.providers.mturk import MechanicalTurk, MechanicalTurkSandbox
    from dynabench.crowd.providers.prolific import Prolific

    return [GenericPanel(), Prolific(), MechanicalTurk(), MechanicalTurkSandbox()]
