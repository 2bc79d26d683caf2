"""Hide secret values of a user's service: mask them in files and messages, and fill in
{env:NAME}.

The parsers of service_options.py and request_options.py call hidden(), and an Option has one of the
functions as its *mask*. A mask returns what may be printed and saved: `...` (HIDDEN) stands for the
rest. A Secret (core/secret.py) has both texts. A mask that shows too much writes a secret to
result.json, so an unclear text must be hidden.
"""

import os
import re
from collections.abc import Callable

from config.options import Given
from core.messages import BadInput
from core.secret import HIDDEN, USERINFO, Secret, Text

# Headers that describe a message and never contain a secret. Source: the fields of RFC 9110.
HARMLESS = frozenset(
    (
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "content-encoding",
        "content-language",
        "content-length",
        "content-type",
        "cache-control",
        "connection",
        "date",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    )
)
# {env:NAME}; it is a group, so that split() keeps it
VARIABLE = re.compile(r"(\{env:[A-Za-z_][A-Za-z0-9_]*\})")
OF_VARIANT = re.compile("([^:=]+):([a-z]+)[=:](.+)", re.DOTALL)  # a value of --variant
ENV = "env"  # the key of a variable in it
# What mask() keeps: variables (the pattern without its last parenthesis, so that one group remains)
_SHOWN = re.compile(
    rf"{VARIABLE.pattern[:-1]}|\{{\{{[^{{}}]*\}}\}})"
)  # and places of values that are known only later
# the first word of an Authorization header
_SCHEME = re.compile(r"(?:Basic|Bearer|Digest|Token) +")
# `...` where a mask writes it: at the start, or after a space, =, ?, & or //
_STANDS_FOR_A_SECRET = re.compile(r"(?:^|[\s=?&]|//)\.\.\.(?=$|[&@])")

Mask = Callable[[str], str]


def mask(text: str) -> str:
    """Replace *text* by `...`, but keep {env:NAME}, {{placeholders}} and an authorization scheme
    such as Bearer.
    """
    parts = _SHOWN.split(text)  # what is between the shown parts, and these, in turn
    parts[::2] = map(_masked, parts[::2])
    return "".join(parts)


def mask_header(text: str) -> str:
    """Mask a header: return 'Authorization: Bearer ...' for 'Authorization: Bearer abc'."""
    name, colon, value = text.partition(":")
    if not colon:
        return mask(text)
    return text if name.lower() in HARMLESS else f"{name}: {mask(value.strip())}"


def mask_pair(text: str) -> str:
    """Mask a variable: return 'DB_PASSWORD=...' for 'DB_PASSWORD=abc'."""
    name, equals, value = text.partition("=")
    return f"{name}={mask(value)}" if equals else mask(text)


def mask_variant(text: str) -> str:
    """Mask the value of a variable in 'NAME:env=VARIABLE=VALUE', and passwords in other values."""
    match = OF_VARIANT.fullmatch(text)
    if not match:
        name = re.split("[:=]", text)[0]
        # a text of another form: hide everything after its first word
        return name + HIDDEN * (name != text)
    shown = mask_pair(match[3]) if match[2] == ENV else mask_userinfo(match[3])
    return text[: match.start(3)] + shown


def mask_url(text: str) -> str:
    """Mask passwords, user names and query values in a URL, a line with URLs, or a
    method and path.
    """
    before, mark, query = mask_userinfo(text).partition("?")
    return before + mark + "&".join(map(mask_pair, query.split("&")))


def mask_userinfo(text: str) -> str:
    """Mask the user names and passwords in the URLs of a line."""
    return USERINFO.sub(lambda match: mask(match[0]), text)


def _masked(literal: str) -> str:
    scheme = _SCHEME.match(literal)
    kept = scheme[0] if scheme else ""
    return kept + HIDDEN * (literal != kept)


def hidden(given: Given, mask_of: Mask, name: str = "") -> Text:
    """Return the given text with {env:NAME} filled in, as a Secret if there is anything to hide.

    mask_of: the mask that makes the shown text
    name: the flag that gives the text again (default: the name of *given*). It is part of
        Secret.key, by which --resume finds the secret in a saved plan
    Raises BadInput if a variable is not set, or the text has `...` because it was copied from a
    saved command.
    """
    template = given.text()
    shown = mask_of(template)
    if shown == template and _STANDS_FOR_A_SECRET.search(template):
        raise BadInput(
            '{name} contains "..." in place of a secret value, which was not saved. Give the '
            "value, or use {example} to read it from an environment variable.",
            name=given.name,
            example="{env:NAME}",
        )
    value = VARIABLE.sub(lambda match: _variable(match[0], given.name), template)
    return (
        value if shown == template == value else Secret(shown, name=name or given.name, value=value)
    )


def _variable(reference: str, name: str) -> str:
    variable = reference[len("{env:") : -1]
    if variable not in os.environ:
        raise BadInput(
            "{name} reads the environment variable {variable}, which is not set. Set it and run "
            "again.",
            name=name,
            variable=variable,
        )
    return os.environ[variable]
