"""Translate messages. Msgids are English; each catalog in core/locale adds a language.

Catalogs have gettext's format. `make messages` updates core/locale/*.po from the code, and polib reads them.
"""

import gettext
from functools import cache
from io import BytesIO
from pathlib import Path

import polib  # type: ignore[import-untyped]

from core.errors import BadInput
from core.messages import Arg, Message, formatted

CATALOGS = Path(__file__).parent / "locale"
LANGUAGES = ("en", *sorted(path.stem for path in CATALOGS.glob("*.po")))


class Language:
    """A language into which messages are translated.

    name: `en` or `zh`
    """

    def __init__(self, name: str, catalog: gettext.NullTranslations) -> None:
        self.name = name
        self.catalog = catalog

    def text(self, value: Arg) -> str:
        """Return a message or a plain value as text.

        The text is English if the catalog lacks the msgid, or if the translation needs an argument that is missing.
        """
        if not isinstance(value, Message):
            return str(value)
        template = self._template(value)
        if template is None:
            return value.text or formatted(value.template, value.args, self.text)
        try:
            return formatted(template, value.args, self.text)
        except (KeyError, ValueError, TypeError, IndexError):
            return str(value)

    def _template(self, value: Message) -> str | None:
        """Return the translated template, or None if there is no translation."""
        if value.plural:
            count = value.args.get("count")
            found = self.catalog.ngettext(value.msgid, value.plural, count if isinstance(count, int) else 0)
        else:
            found = self.catalog.gettext(value.msgid) if value.msgid else ""
        return None if found in (value.msgid, value.plural) else found


ENGLISH = Language("en", gettext.NullTranslations())


@cache
def language(name: str) -> Language:
    """Return the language called *name*. Raises BadInput if its catalog is missing or cannot be read."""
    if name == ENGLISH.name:
        return ENGLISH
    if name not in LANGUAGES:
        raise BadInput(
            "{name!r} is not a supported language. Use one of: {names}.", name=name, names=", ".join(LANGUAGES)
        )
    path = CATALOGS / f"{name}.po"
    try:
        compiled = polib.pofile(path.read_text("utf-8")).to_binary()
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}. Reinstall gilscope.", path=str(path), error=str(error)
        ) from error
    return Language(name, gettext.GNUTranslations(BytesIO(compiled)))
