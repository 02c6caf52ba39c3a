"""The memory of a program in words: every array, how large it is, how long it lives, and why it is there."""

from __future__ import annotations

from collections.abc import Iterator

from pliant.core.ir import Param
from pliant.kernel.ir import Buffer, Program, Run, writes
from pliant.kernel.plan import Life, Plan, plan_of


def memory_report(program: Program) -> str:
    """The memory section of an explanation; programs inside loops and branches follow, indented."""
    plan = plan_of(program)
    lines = [
        f"memory: {plan.results:,} bytes allocated by each call; {plan.workspace:,} bytes of workspace kept between "
        f"calls, {plan.peak:,} of them in use at the peak"
    ]
    if program.fault:
        lines.append(f"  nothing shares memory, since the verifier refused the plan: {program.fault.splitlines()[0]}")
    return "\n".join([*lines, *_lines(program, plan, "  ")])


def _lines(program: Program, plan: Plan, indent: str) -> Iterator[str]:
    readers = readers_of(program)
    for life in plan.lives:
        yield indent + line_of(life, readers.get(life.buffer, []))
    for copy in plan.copies:
        where = f" ({copy.origin.short})" if copy.origin else ""
        yield f"{indent}step {copy.step} copies {copy.bytes:,} bytes{where}, since {copy.reason}"
    for number, step in enumerate(program.steps):
        for part in step.parts if isinstance(step, Run) else ():
            inside = plan_of(part)
            yield f"{indent}inside step {number}, {part.name}: {inside.workspace:,} bytes of its scratch memory"
            given = [line.replace("the caller's, given", "given") for line in _lines(part, inside, indent + "  ")]
            yield from given


def readers_of(program: Program) -> dict[Buffer, list[int]]:
    """The steps that read each buffer, in order."""
    found: dict[Buffer, list[int]] = {}
    for number, step in enumerate(program.steps):
        made = writes(step)
        for buffer in step.reads:
            if buffer not in made:
                found.setdefault(buffer, []).append(number)
    return found


def line_of(life: Life, readers: list[int]) -> str:
    """One array: its name and line, size, place, life, and the reason."""
    start = "given" if life.birth < 0 else f"from step {life.birth}"
    end = f" to step {life.death}" if life.death > life.birth and life.place != "result" else ""
    return f"{title_of(life)}: {life.bytes:,} bytes, {place_of(life)}, {start}{end}{_why(life, readers)}"


def title_of(life: Life) -> str:
    """What an array is, and the user's line that makes it."""
    value, origin = life.buffer.value, life.origin
    if value is None:
        return "scratch memory of a loop, a branch or a block of rows"
    if isinstance(value.op, Param):
        return f"{value.op.hint or 'argument'} {life.buffer.type}"
    return f"{value.op.name} {life.buffer.type}" + (f" ({origin.short})" if origin else "")


def place_of(life: Life) -> str:
    """Where it lies."""
    if life.place == "workspace":
        at = f"workspace at {life.buffer.offset:,}"
        return f"{at}, in the memory of another array" if life.inside else at
    if life.inside and life.inside.value is not None and life.place == "argument":
        hint = getattr(life.inside.value.op, "hint", "")
        return f"in the memory of argument {hint}" if hint else "in the memory of an argument"
    if life.inside:
        return f"in the memory of a {life.place}"
    return {"argument": "the caller's", "result": "a new array"}[life.place]


def _why(life: Life, readers: list[int]) -> str:
    """Why it has memory of its own, as far as there is something to say."""
    if life.reason:
        return f"; {life.reason}"
    if life.place == "workspace" and not life.inside and readers:
        return f"; read by step{'s' if len(readers) > 1 else ''} {', '.join(map(str, readers))}"
    return ""
