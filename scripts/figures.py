"""figures.py: numbers as text, and the plot of times over the floor; for family-tables."""
import html, math

# Numbers -----------------------------------------------------------------------------------------

def digits(value):
    """Three of them, without an exponent"""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = "%.*f" % (places, value)
    if places == 0:
        text = str(int(round(value, 2 - math.floor(math.log10(abs(value))))))
    return text


def scaled(value, units):
    for factor, unit in units:
        if value >= factor or factor == units[-1][0]:
            return digits(value / factor) + unit


def count(value):
    if value < 1e4:
        return "%d" % value
    return scaled(value, [(1e9, " G"), (1e6, " M"), (1e3, " K")])


def size(value):
    return scaled(value, [(1e9, " GB"), (1e6, " MB"), (1e3, " KB"), (1, " B")])


def duration(us):
    return scaled(us, [(1e6, " s"), (1e3, " ms"), (1, " us"), (1e-3, " ns")])


def times(ratio):
    return digits(ratio) + "x" if ratio < 1e4 else count(ratio) + "x"


# The plot --------------------------------------------------------------------------------------

LEFT, WIDTH, RIGHT, STEP, HEAD, FOOT = 170, 400, 150, 20, 34, 40
STYLE = """text { font: 12px system-ui, sans-serif; fill: #222 } .title { font-weight: 600 }
.name { text-anchor: end } .tick { text-anchor: middle; font-size: 11px; fill: #666 }
.grid { stroke: #ddd } .modelled { fill: #7fa8d9 } .measured { fill: #0b6bcb } .peer { fill: #999 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .tick { fill: #aaa }
.grid { stroke: #444 } .modelled { fill: #4a76ab } .measured { fill: #58a6ff } }"""


def ticks_up_to(largest):
    """1, 2, 5, 10 .. up to the first that is not smaller"""
    ticks = [1]
    while ticks[-1] < largest:
        ticks.append(ticks[-1] * (2.5 if str(ticks[-1])[0] == "2" else 2))
        ticks[-1] = int(ticks[-1])
    if len(ticks) > 9:
        ticks = [t for t in ticks if str(t)[0] == "1" or t == ticks[-1]]
    return ticks


def panel(title, bars, top):
    ticks = ticks_up_to(max([2] + [bar[3] for bar in bars]))
    def x(ratio):
        return LEFT + WIDTH * math.log(max(ratio, 1)) / math.log(ticks[-1])
    bottom = top + HEAD + STEP * len(bars)
    out = ['<text class="title" x="8" y="%d">%s</text>' % (top + 20, html.escape(title))]
    for tick in ticks:
        out.append('<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>' % (
            x(tick), top + HEAD - 4, x(tick), bottom))
        out.append('<text class="tick" x="%.1f" y="%d">%s</text>' % (
            x(tick), bottom + 14, "the floor" if tick == 1 else "%dx" % tick))
    for i, (name, kind, us, ratio) in enumerate(bars):
        y = top + HEAD + STEP * i
        out.append('<text class="name" x="%d" y="%d">%s</text>' % (LEFT - 8, y + 13,
                                                                   html.escape(name)))
        out.append('<rect class="%s" x="%d" y="%d" width="%.1f" height="%d"/>' % (
            kind, LEFT, y + 2, max(x(ratio) - LEFT, 1), STEP - 5))
        out.append('<text x="%.1f" y="%d">%s, %s</text>' % (
            max(x(ratio), LEFT) + 6, y + 13, duration(us), times(ratio)))
    return out, bottom + FOOT


def plot(name, panels):
    """panels: [(title, [(name, kind, us, ratio)])], a bar each"""
    body, y = [], 0
    for title, bars in panels:
        lines, y = panel(title, bars, y)
        body += lines
    wide = LEFT + WIDTH + RIGHT
    return "\n".join(
        ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">' % (
            wide, y, wide, y), "<title>%s: times over the floor, logarithmic</title>" % name,
         "<style>%s</style>" % STYLE] + body + ["</svg>"]) + "\n"
