"""The lines of the conventions that a machine can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "pliant"
MODULES = sorted(SRC.rglob("*.py"))
OURS = sorted(path for part in ("src", "tests", "examples", "benchmarks") for path in (ROOT / part).rglob("*.py"))

LINES_OF_A_FILE = 600
LINES_OF_A_FUNCTION = 60

# Modules whose tests live elsewhere, with the reason.
TESTED_ELSEWHERE = {
    "__init__.py": "public names only",
    "__main__.py": "tests/tools runs the commands",
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    """A file as Python reads it."""
    return ast.parse(path.read_text())


def definitions(path: Path) -> list[Definition]:
    """Functions and classes of a file, at any depth."""
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, Definition)]


def public_definitions(path: Path) -> list[Definition]:
    """Functions and classes at the top of a module that have no leading underscore; overloads once."""
    public = [node for node in tree_of(path).body if isinstance(node, Definition) and not node.name.startswith("_")]
    return [node for node in public if not any("overload" in ast.unparse(d) for d in node.decorator_list)]


def faults(paths: Iterable[Path], faults_of: Callable[[Path], object]) -> dict[str, object]:
    """What is wrong, by file, where anything is."""
    return {name_of(path): wrong for path in paths if (wrong := faults_of(path))}


def test_files_are_short_enough_to_read() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in OURS}
    assert {name: n for name, n in lengths.items() if n > LINES_OF_A_FILE} == {}


def test_functions_are_short_enough_to_read() -> None:
    def too_long(path: Path) -> dict[str, int]:
        functions = [node for node in definitions(path) if not isinstance(node, ast.ClassDef)]
        lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
        return {name: n for name, n in lengths.items() if n > LINES_OF_A_FUNCTION}

    assert faults(OURS, too_long) == {}


def test_modules_say_their_idea() -> None:
    assert faults(MODULES, lambda path: not ast.get_docstring(tree_of(path))) == {}


def test_public_names_have_docstrings() -> None:
    def silent(path: Path) -> list[str]:
        return [node.name for node in public_definitions(path) if not ast.get_docstring(node)]

    assert faults(MODULES, silent) == {}


def test_every_todo_names_its_issue() -> None:
    def todos(path: Path) -> list[str]:
        found = re.findall(r"#\s*(?:TODO|FIXME|XXX)\b.*", path.read_text())
        return [line for line in found if not re.search(r"#\d+", line[1:])]

    assert faults(OURS, todos) == {}


def test_every_ignored_type_error_is_named() -> None:
    bare = re.compile(r"#\s*(?:type|pyright):\s*ignore(?!\[)")
    assert faults(MODULES, lambda path: bare.findall(path.read_text())) == {}


def test_no_name_with_an_underscore_is_imported() -> None:
    def private(path: Path) -> list[str]:
        imports = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
        ours = [alias.name for node in imports if (node.module or "").startswith("pliant") for alias in node.names]
        return [name for name in ours if name.startswith("_")]

    assert faults(MODULES, private) == {}


def test_tests_mirror_the_package() -> None:
    wanted = [path.relative_to(SRC) for path in MODULES if path.name not in TESTED_ELSEWHERE]
    packages = {path.parts[0] for path in wanted if len(path.parts) > 1}
    assert {name for name in packages if not list((ROOT / "tests" / name).rglob("test_*.py"))} == set()


def named_on_the_map() -> list[str]:
    """What the table of `docs/architecture.md` names: a path, after which bare names are of the same folder."""
    table = (ROOT / "docs" / "architecture.md").read_text().partition("| what | where |")[2].partition("\n\n")[0]
    found = list[str]()
    for row in table.splitlines():
        folder = ""
        for name in re.findall(r"`([\w/*]+)`", row.split("|")[2] if row.count("|") > 2 else ""):
            folder = name.rpartition("/")[0] if "/" in name else folder
            found.append(name if "/" in name or not folder else f"{folder}/{name}")
    return found


def test_the_map_of_the_code_names_what_is_there() -> None:
    def is_there(name: str) -> bool:
        return any(SRC.glob(f"{name}.py")) or (SRC / name).is_dir() or (ROOT / name).is_dir()

    assert [name for name in named_on_the_map() if not is_there(name)] == []
