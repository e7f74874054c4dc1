"""The world of the validation tests, whose history is packed up, and another deployment."""

from tests.datasets import conftest as around

world, elsewhere, other_settings = around.world, around.elsewhere, around.other_settings
