"""How an interpreter was built, in words. Pure."""

from collections.abc import Mapping
from typing import Any

from core.messages import NOTHING, Message, listed, message

FLAGS = {
    "pgo": (message("PGO"), message("no PGO")),
    "lto": (message("LTO"), message("no LTO")),
    "shared": (message("shared library"), message("static")),
}
MORE_FLAGS = {"debug": message("debug"), "tail_call": message("tail calls"), "jit": message("JIT")}


def build_flags(flags: Mapping[str, Any]) -> Message:
    """'PGO, no LTO, static'; nothing where they are not known, as of native programs."""
    if not all(name in flags for name in FLAGS):
        return NOTHING
    known = [has if flags[name] else lacks for name, (has, lacks) in FLAGS.items()]
    return listed([*known, *(words for name, words in MORE_FLAGS.items() if flags.get(name))])
