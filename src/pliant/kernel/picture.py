"""The memory of a program as a picture: steps from left to right, bytes from bottom to top."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from pliant.kernel.plan import Life, Plan
from pliant.kernel.report import line_of, title_of

WIDTH, HEIGHT, LEFT, TOP, GAP = 900, 420, 110, 40, 14
COLOURS: Final = {"argument": "#b8c4d0", "result": "#6f9e6f", "workspace": "#d08a4e"}
TEXTS: Final = {"argument": "arguments", "result": "results", "workspace": "workspace"}


def picture_of(plan: Plan, steps: int) -> str:
    """An SVG: a rectangle for each array, as wide as its life and as high as its bytes, at its address.

    Results and arguments are stacked above the workspace. The text of a rectangle appears under the pointer.
    """
    rows = list(_rows(plan))
    total = max(sum([size for size, _ in rows]), 1)
    bottom = HEIGHT + 2 * GAP * max(len(rows) - 10, 0) - TOP
    scale = (bottom - TOP - GAP * len(rows)) / total
    body, low = list[str](), float(bottom)
    for size, lives in rows:
        body += [_rectangle(life, at, low, scale, steps) for life, at in lives]
        place = lives[0][0].place if lives else "workspace"
        name = TEXTS[place] if place == "workspace" else title_of(lives[0][0]).split(" ")[0]
        body.append(_text(LEFT - 8, low - size * scale / 2 + 4, name[:14], "end"))
        low -= size * scale + GAP
    ticks = range(0, steps + 1, max(steps // 10, 1))
    body += [_text(_x(n, steps), bottom + 18, str(n), "middle") for n in ticks]
    head = f"{plan.results:,} bytes of results, {plan.workspace:,} bytes of workspace, {plan.peak:,} in use at the peak"
    body += [_text(LEFT, TOP - 20, head, "start"), _text(LEFT - 8, bottom + 18, "step", "end")]
    body += _legend([place for place in TEXTS if any([life.place == place for life in plan.lives])])
    style = "font-family:sans-serif;font-size:12px"
    inside = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + TOP}" style="{style}">\n'
        f'<rect width="{WIDTH}" height="{bottom + TOP}" fill="white"/>\n{inside}\n</svg>\n'
    )


def _rows(plan: Plan) -> Iterator[tuple[int, Sequence[tuple[Life, int]]]]:
    """(height in bytes, arrays with their address in it): the workspace, then each result, argument and so on."""
    inside = [(life, life.buffer.offset) for life in plan.lives if life.place == "workspace"]
    if inside:
        yield plan.workspace, inside
    for place in ("result", "argument"):
        for life in plan.lives:
            if life.place == place and life.inside is None:
                here = [(other, 0) for other in plan.lives if other.inside is life.buffer]
                yield life.bytes, [(life, 0), *here]


def _x(step: float, steps: int) -> float:
    """Where a step begins."""
    return LEFT + (WIDTH - LEFT - 50) * step / max(steps, 1)


def _legend(places: Sequence[str]) -> Iterator[str]:
    """What the colours mean."""
    for n, place in enumerate(places):
        left = LEFT + 120 * n
        yield f'<rect x="{left}" y="{TOP - 12}" width="12" height="12" fill="{COLOURS[place]}"/>'
        yield _text(left + 16, TOP - 2, TEXTS[place], "start")


def _rectangle(life: Life, at: int, low: float, scale: float, steps: int) -> str:
    """One array, with its name if there is room for it."""
    left, right = _x(max(life.birth, 0), steps), _x(min(life.death + 1, steps), steps)
    height = max(life.bytes * scale, 1.0)
    top = low - at * scale - height
    opacity = 0.55 if life.inside else 0.9
    name = title_of(life).split(" (")[0]
    has_room = life.place == "workspace" and height > 14 and right - left > 7 * len(name)
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 2):.1f}" height="{height:.1f}" '
        f'fill="{COLOURS[life.place]}" fill-opacity="{opacity}" stroke="#333" stroke-width="0.6">'
        f"<title>{escape(line_of(life, []))}</title></rect>"
        + (_text((left + right) / 2, top + height / 2 + 4, name, "middle") if has_room else "")
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
