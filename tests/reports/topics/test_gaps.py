"""What was not measured: each thing with the command that would; topics that the run has nothing on, by themselves."""

from types import ModuleType

from reports import topics

# ---- topics ---------------------------------------------------------------------------------------------------------


def test_every_topic_has_what_the_protocol_asks() -> None:
    def is_whole(module: ModuleType) -> bool:
        return isinstance(module.PLACE, int) and hasattr(module, "WANTED") == hasattr(module, "COMMAND")

    assert [module.__name__ for module in topics.topics() if not is_whole(module)] == []
