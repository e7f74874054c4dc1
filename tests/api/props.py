"""Things that the authorization matrix is played with, made when a route first asks for it."""

from tests.api.benchmark_props import BenchmarkProps
from tests.api.collection_props import CollectionProps
from tests.api.people_props import PeopleProps


class Props(PeopleProps, CollectionProps, BenchmarkProps):
    """Things of the scene, each with the number or the name by which routes know it."""
