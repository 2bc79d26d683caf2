"""What each topic must have, so that a report can say how to measure it."""

from types import ModuleType

from reports import topics


def test_every_topic_has_what_the_protocol_asks() -> None:
    def is_whole(module: ModuleType) -> bool:
        return isinstance(module.PLACE, int) and hasattr(module, "WANTED") == hasattr(module, "COMMAND")

    assert [module.__name__ for module in topics.topics() if not is_whole(module)] == []
