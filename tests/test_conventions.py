"""The lines of the conventions that a machine can check."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

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


def definitions(path: Path) -> list[Definition]:
    """Functions and classes of a file, at any depth."""
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, Definition)]


def public_definitions(path: Path) -> list[Definition]:
    """Functions and classes at the top of a module that have no leading underscore; overloads once."""
    body = ast.parse(path.read_text()).body
    public = [node for node in body if isinstance(node, Definition) and not node.name.startswith("_")]
    return [node for node in public if not any("overload" in ast.unparse(d) for d in node.decorator_list)]


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_file_is_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LINES_OF_A_FILE


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_functions_are_short_enough_to_read(path: Path) -> None:
    functions = [node for node in definitions(path) if not isinstance(node, ast.ClassDef)]
    lengths = {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in functions}
    assert {name: n for name, n in lengths.items() if n > LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_says_its_idea(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_public_names_have_docstrings(path: Path) -> None:
    assert [node.name for node in public_definitions(path) if not ast.get_docstring(node)] == []


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_every_todo_names_its_issue(path: Path) -> None:
    todos = re.findall(r"#\s*(?:TODO|FIXME|XXX)\b.*", path.read_text())
    assert [line for line in todos if not re.search(r"#\d+", line[1:])] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_ignored_type_error_is_named(path: Path) -> None:
    assert not re.search(r"#\s*(?:type|pyright):\s*ignore(?!\[)", path.read_text())


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_name_with_an_underscore_is_imported(path: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [alias.name for node in imports if (node.module or "").startswith("pliant") for alias in node.names]
    assert [name for name in ours if name.startswith("_")] == []


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


@pytest.mark.parametrize("name", named_on_the_map())
def test_the_map_of_the_code_names_what_is_there(name: str) -> None:
    assert [*SRC.glob(f"{name}.py"), *(path for path in (SRC / name, ROOT / name) if path.is_dir())]
