"""Messages: declared as literals with the arguments that they name, collected, and translated in every catalog."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

from lab.places import REPOSITORY
from tests.test_import_table import sources

CATALOGS = sorted((REPOSITORY / "core" / "locale").glob("*.po"))
MAKEFILE = (REPOSITORY / "Makefile").read_text("utf-8").replace("\\\n", " ")
OF_A_COMMAND = {"python", "port", "workers", "threads"}  # a user's command has these in braces, and they are shown


def of_makefile(name: str) -> list[str]:
    """The words of a variable of `make messages`; $(addprefix -k ,A B) as -kA -kB."""
    (value,) = re.findall(rf"^{name} := (.*)", MAKEFILE, re.MULTILINE)
    prefixed = re.compile(r"\$\(addprefix -k ,([^)]*)\)")
    return shlex.split(prefixed.sub(lambda match: " ".join(f"-k{word}" for word in match[1].split()), value))


PACKAGES = [name for name in of_makefile("speaking") if not name.endswith(".py")]
# Each function or class whose text is a message, with the place of that text. Those in TEXTS give it no arguments.
PLACES: dict[str, int] = {}
for word in of_makefile("keywords"):
    keyword, _, numbers = word.removeprefix("-k").partition(":")
    PLACES |= {keyword: int(numbers[:1] or 1) - 1} if keyword else {}
TEXTS = {"col", "Option", "_whole", "_claim", "_choice", "add_group", "add_names", "matching", "Cost"}
TEMPLATES = {"message", "plural"}
ERRORS = {name for name in PLACES if name[0].isupper()} - TEXTS


def is_literal(words: str, literals: list[ast.expr]) -> bool:
    """Whether a call declares literals; all but message and plural also take a message, but no text put together."""
    if all(isinstance(literal, ast.Constant) for literal in literals):
        return True
    cause = literals[0]
    built = isinstance(cause, ast.JoinedStr | ast.BinOp) or ast.unparse(cause).partition("(")[0].endswith(".format")
    return words not in TEMPLATES and not built


def is_complete(words: str, literals: list[ast.expr], given: set[str | None], inside: bool) -> bool:
    """Whether what a call names is given. A template, filled in elsewhere, is a constant of its module.

    words:    a name of PLACES
    literals: the message, and the plural of one
    given:    the names of its arguments
    inside:   whether the call is in a function
    """
    given = set() if words in TEXTS else given - {"code"}
    if None in given or not isinstance(literals[0], ast.Constant):
        return True
    texts = [str(literal.value) for literal in literals if isinstance(literal, ast.Constant)]
    named = {name for name, *_ in placeholders("".join(texts))}
    if not given - {"count"} and not inside:
        return True
    if not given:
        return named <= OF_A_COMMAND
    return named == given or (words == "plural" and named | {"count"} == given)


def placeholders(text: str) -> set[tuple[str | None, ...]]:
    """Those of a template: name, format and conversion of each."""
    return {tuple(field) for _, *field in Formatter().parse(text) if field[0] is not None}


def calls(path: str, source: str) -> Iterator[tuple[str, bool]]:
    """Every call in *source* that declares a message: its file, line and source, and whether it is right."""
    tree = ast.parse(source)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute)
            name = getattr(node.func, "attr" if is_method else "id", "")
            if name not in PLACES or (name in TEMPLATES and (is_method or name not in imported)):
                continue
            first = PLACES[name]
            literals = node.args[first : first + (2 if name == "plural" else 1)]
            if literals:
                given = {keyword.arg for keyword in node.keywords}
                is_right = is_literal(name, literals) and is_complete(name, literals, given, id(node) in inside)
                yield f"{path}:{node.lineno} {ast.unparse(node)[:100]}", is_right


def test_messages_are_literals_that_are_given_what_they_name() -> None:
    declared = [call for path, source in sources(*PACKAGES, "runner").items() for call in calls(path, source)]
    assert len(declared) > 1000
    assert [place for place, is_right in declared if not is_right] == []


def test_every_error_that_takes_words_is_collected() -> None:
    trees = [ast.parse(source) for source in sources(*PACKAGES).values()]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {node.name: {ast.unparse(base) for base in node.bases} for node in classes}
    known = {"GilscopeError"}
    while more := {name for name, own in bases.items() if own & known} - known:
        known |= more
    own = {node.name for node in classes for part in node.body if getattr(part, "name", "") == "__init__"}
    assert known - (own - {"GilscopeError"}) == ERRORS


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """What `make messages` collects."""
    path = tmp_path_factory.mktemp("messages") / "messages.pot"
    settings = ["-F", str(REPOSITORY / "pyproject.toml"), *of_makefile("keywords"), "-o", str(path)]
    speaking = [str(REPOSITORY / name) for name in of_makefile("speaking")]
    CommandLineInterface().run(["pybabel", "-q", "extract", *settings, *speaking])  # type: ignore[no-untyped-call]
    return read(path)


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.stem)
def test_every_message_has_a_translation_with_the_same_placeholders(path: Path, collected: Catalog) -> None:
    catalog = read(path)
    wrong = []
    for words in filter(lambda words: words.id, collected):
        several, translation = forms(words), catalog.get(forms(words)[0])
        texts = forms(translation, "string") if translation else [""]
        if any(not text or placeholders(text) != placeholders(several[-1]) for text in texts):
            wrong.append(f"{several[0][:110]!r}: {' | '.join(texts)[:110]!r}")
    assert not wrong, f"{len(wrong)} of {len(collected)} messages:\n" + "\n".join(wrong)


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def forms(words: Message, name: str = "id") -> list[str]:
    """The singular and the plural of a message or, by name, of its translation."""
    value = getattr(words, name)
    return [str(form) for form in value] if isinstance(value, tuple) else [str(value)]
