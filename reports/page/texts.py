"""The page's own texts by language. One key, one text; every language has all keys."""

from collections.abc import Mapping

from reports.page import chinese, english

TEXTS: Mapping[str, Mapping[str, str]] = {"en": english.TEXTS, "zh": chinese.TEXTS}

# What parameters mean, by name, where said() has no phrase for their line of help.
MEANINGS: Mapping[str, Mapping[str, str]] = {"zh": chinese.MEANINGS}

# Titles of systems, by number, where a language has its own.
TITLES: Mapping[str, Mapping[str, str]] = {"zh": chinese.TITLES}
