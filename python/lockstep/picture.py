"""What the first warp touched, drawn: lanes above, and below them the sectors of global memory that
they want, or the banks of shared memory with how many words each has to give.

Works on the trace of one launch, whose format docs/trace.md has.
"""

from html import escape

MOST = 8                          # accesses that are drawn
LANE, WIDTH = 18, 32 * 18
GOOD, BAD = "#1a7f37", "#cf222e"


def accesses(records):
    """The distinct ones, in order: an unrolled loop repeats the same pattern at the same line."""
    seen = []
    for record in records:
        if record.get("space") not in ("global", "shared") or not record["mask"]:
            continue
        lanes = {lane: address for lane, address in enumerate(record["addresses"])
                 if record["mask"] >> lane & 1}
        first = next(iter(lanes.values()))
        pattern = (record["line"], record["space"], record["kind"], record["bytes"],
                   tuple((lane, address - first) for lane, address in lanes.items()))
        if pattern not in [each for each, _, _ in seen] and len(seen) < MOST:
            seen.append((pattern, record, lanes))
    return [(record, lanes) for _, record, lanes in seen]


def plural(count, one, many):
    return f"{count} {one if count == 1 else many}"


def box(x, y, width, height, colour, title):
    return (f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}" '
            f'stroke="currentColor" stroke-width="0.5"><title>{escape(title)}</title></rect>')


def lane_row(lanes):
    parts = []
    for lane in range(32):
        used = lane in lanes
        parts.append(box(lane * LANE, 2, LANE - 2, 14, "#8884" if used else "none",
                         f"lane {lane}" if used else f"lane {lane} takes no part"))
        parts.append(f'<text x="{lane * LANE + 8}" y="13" font-size="9" text-anchor="middle" '
                     f'fill="currentColor" opacity="{1 if used else 0.3}">{lane}</text>')
    return "".join(parts)


def sectors_of(lanes, size):
    """{sector: its lanes}; a sector has 32 bytes."""
    sectors = {}
    for lane, address in lanes.items():
        for sector in range(address >> 5, ((address + size - 1) >> 5) + 1):
            sectors.setdefault(sector, []).append(lane)
    return dict(sorted(sectors.items()))


def fewest(lanes, size):
    """Sectors that would do, if the same bytes lay side by side."""
    bytes_wanted = {address + i for address in lanes.values() for i in range(size)}
    return -(-len(bytes_wanted) // 32)


def draw_sectors(lanes, size):
    sectors = sectors_of(lanes, size)
    count, enough = len(sectors), fewest(lanes, size)
    # a request that begins inside a sector needs one more, whatever the kernel does
    colour = GOOD if count <= enough + 1 else BAD
    step = WIDTH / max(count, 4)
    parts, first = [lane_row(lanes)], next(iter(sectors))
    for i, (sector, users) in enumerate(sectors.items()):
        for lane in users:
            parts.append(f'<line x1="{lane * LANE + 8}" y1="16" x2="{(i + 0.5) * step:.1f}" '
                         f'y2="52" stroke="{colour}" stroke-width="0.8"/>')
        title = f"sector at {(sector - first) * 32:+d} B: lanes {', '.join(map(str, users))}"
        parts.append(box(i * step + 1, 52, step - 2, 14, colour + "55", title))
    said = plural(count, "sector", "sectors") + " of 32 bytes"
    return said + (f"; {enough} would do" if colour == BAD else ""), "".join(parts), 70


def draw_banks(lanes, size):
    """Lanes that want the same word get it in one pass; different words of a bank take turns."""
    words = {}
    for lane, address in lanes.items():
        for word in range(address >> 2, ((address + size - 1) >> 2) + 1):
            words.setdefault(word, []).append(lane)
    banks = [[word for word in sorted(words) if word & 31 == bank] for bank in range(32)]
    most, enough = max(len(bank) for bank in banks), -(-len(words) // 32)
    colour = GOOD if most == enough else BAD
    high = 12 if most <= 8 else 3
    parts = []
    for bank, stack in enumerate(banks):
        for level, word in enumerate(stack):
            y = 2 + (most - 1 - level) * high
            title = f"bank {bank}: lanes {', '.join(map(str, words[word]))}"
            parts.append(box(bank * LANE, y, LANE - 2, high, colour + "55", title))
        parts.append(f'<text x="{bank * LANE + 8}" y="{most * high + 12}" font-size="9" '
                     f'text-anchor="middle" fill="currentColor">{bank}</text>')
    said = plural(most, "pass", "passes") + " over the 32 banks"
    said += f"; {enough} would do" if colour == BAD else ""
    return said, "".join(parts), most * high + 16


def html(trace, source):
    """Drawings of the accesses in a trace, "" if there is nothing to draw. source: the lines."""
    parts = []
    for launch in trace["launches"][:1]:
        for record, lanes in accesses(launch["records"]):
            line = record["line"]
            text = source[line - 1].strip() if 0 < line <= len(source) else ""
            draw = draw_sectors if record["space"] == "global" else draw_banks
            said, shapes, height = draw(lanes, record["bytes"])
            parts.append(
                f'<div style="margin-top:0.5em">line {line}: <code>{escape(text)}</code><br>'
                f'{record["kind"]} of {record["space"]} memory: {said}</div>'
                f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" style="max-width:100%" '
                f'role="img" aria-label="{escape(said)}">{shapes}</svg>')
    return "".join(parts)
