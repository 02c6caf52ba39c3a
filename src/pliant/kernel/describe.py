"""What a program does, in words: its steps, their loops, what lies in memory and why."""

from __future__ import annotations

from collections.abc import Sequence

from pliant.kernel.ir import Blocks, Buffer, Copy, Fill, Host, Nest, Product, Program, Root, Routine, Rows, Run, Step


def describe(program: Program, notes: Sequence[str] = ()) -> str:
    """One line per step and per value that it makes, with a note on each step; then the memory that it takes."""
    lines = list[str]()
    for number, (step, note) in enumerate(zip(program.steps, notes or [""] * len(program.steps), strict=True)):
        first, *rest = lines_of(step, f"{number}:")
        lines += [f"{first}; {note}" if note else first, *rest]
    lines.append(f"workspace: {program.arena} bytes, kept between calls; {calls_in(program)} calls into Python")
    return "\n".join(lines)


def calls_in(program: Program) -> int:
    """How many steps call Python, those of loops and branches included."""
    inner = [part for step in program.steps if isinstance(step, Run) for part in step.parts]
    return sum([isinstance(step, Host) for step in program.steps]) + sum(map(calls_in, inner))


def lines_of(step: Step, label: str) -> list[str]:
    """The lines of one step."""
    match step:
        case Nest() if step.is_idle:
            return [f"{label} what lies there already", *[root_line(root, step) for root in step.roots]]
        case Nest():
            loops = " × ".join("≤ " * (v in step.limits) + str(v.extent) for v in step.vars) or "no loop"
            return [f"{label} nest over {loops}{parts_of(step)}", *[root_line(root, step) for root in step.roots]]
        case Rows():
            first = f"{label} rows, {step.nests[0].space[0]} of them, through {len(step.nests)} nests{parts_of(step)}"
            return [first, *[f"  {line}" for nest in step.nests for line in lines_of(nest, "-")]]
        case Blocks():
            count = step.rows.extent
            first = f"{label} in blocks of {step.size} rows of {count}, {len(step.steps)} steps{parts_of(step)}"
            return [first, *[f"  {line}" for inner in step.steps for line in lines_of(inner, "-")]]
        case Fill():
            kept = " in the memory of its operand" if step.out.shared else ""
            kept += ", as far as anybody looks," if any(step.lengths) else ""
            return [f"{label} {step.node.op.name}: fills {step.out.type}{kept} {place_of(step.out)}"]
        case Product():
            m, n, k = step.sizes
            added = " added" if step.start else ""
            right = "its transpose" if step.is_with_own_transpose else f"{k}×{n}"
            return [f"{label} product: {m}×{k} times {right}{added} → {step.out.type} {place_of(step.out)}"]
        case Routine():
            return [f"{label} {step.by}: {step.node.op.name} → {', '.join(str(b.type) for b in step.outs)}"]
        case Run():
            made = ", ".join(str(b.type) for b in step.outs)
            inner = [line for part in step.parts for s in part.steps for line in lines_of(s, "-")]
            return [f"{label} {step.node.op.name} → {made}", *[f"  {line}" for line in inner]]
        case Copy():
            return [f"{label} copy {step.out.type} {place_of(step.out)}, since {step.reason}"]
        case Host():
            made = ", ".join(str(v.type) for v in step.node.values)
            return [f"{label} Python: {step.node.op.name} → {made}, since it has no native code for these operands"]


def parts_of(step: Nest | Rows | Blocks) -> str:
    """In how many parts threads run a step."""
    return f", in {step.split.count} parts for threads" if step.split else ""


def root_line(root: Root, nest: Nest) -> str:
    """What a nest computes, and where it goes."""
    kind = f", {root.fold.kind} over {len(root.folded)} axes" if root.fold else ""
    is_filled = root.rest is not None and not nest.limits.keys() <= {*root.folded}
    where = place_of(root.buffer) + ", all of it filled" * is_filled if root.buffer else ""
    return f"    {root.value.op.name}: {root.value.type}{kind} {where} ({root.value.origin.short})"


def place_of(buffer: Buffer) -> str:
    """Where a buffer lies."""
    where = f"workspace at {buffer.offset}" if buffer.slot == 0 else "result"
    return f"→ {where}" + (f", {buffer.type} of it" if buffer.value and buffer.type != buffer.value.type else "")
