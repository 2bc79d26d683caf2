"""Languages that messages can be put into: English, which msgids are, and every catalog in core/locale.

Catalogs are gettext's: `make messages` updates core/locale/*.po from the code, and polib reads them.
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
    """Makes text of messages. name: en, zh"""

    def __init__(self, name: str, catalog: gettext.NullTranslations) -> None:
        self.name = name
        self.catalog = catalog

    def __repr__(self) -> str:
        return f"Language({self.name!r})"

    def text(self, value: Arg) -> str:
        """A message or a plain value as text.

        A msgid that the catalog does not have, or whose translation wants an argument that is not there, is English.
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
        """The translation; None where there is none."""
        if value.plural:
            count = value.args.get("count")
            found = self.catalog.ngettext(value.msgid, value.plural, count if isinstance(count, int) else 0)
        else:
            found = self.catalog.gettext(value.msgid) if value.msgid else ""
        return None if found in (value.msgid, value.plural) else found


ENGLISH = Language("en", gettext.NullTranslations())


@cache
def language(name: str) -> Language:
    """Return the language called *name*. Raises BadInput if there is no such catalog, or it cannot be read."""
    if name == ENGLISH.name:
        return ENGLISH
    if name not in LANGUAGES:
        raise BadInput("{name!r} is not a language; accepted are {names}.", name=name, names=", ".join(LANGUAGES))
    path = CATALOGS / f"{name}.po"
    try:
        compiled = polib.pofile(path.read_text("utf-8")).to_binary()
    except OSError as error:
        raise BadInput(
            "{path} cannot be read: {error}. Install gilscope again.", path=str(path), error=str(error)
        ) from error
    return Language(name, gettext.GNUTranslations(BytesIO(compiled)))
