"""The drawing of accesses: what it says and how much it draws, for patterns with known answers."""

import re

from common import expect
from lockstep import picture


def record(addresses, space="global", line=1, size=4, mask=0xffffffff):
    return {"line": line, "mask": mask, "space": space, "kind": "load", "bytes": size,
            "addresses": addresses}


def draw(*records):
    return picture.html({"launches": [{"records": list(records)}]}, ["  x = a[i] < b;"])


def check(name, says, drawing, lines):
    expect(f"picture {name}", says in drawing, drawing)
    expect(f"picture {name} lines", drawing.count("<line ") == lines, drawing.count("<line "))


base = 1 << 45
check("side by side", "load of global memory: 4 sectors of 32 bytes<",
      draw(record([base + 4 * i for i in range(32)])), 32)
check("one word", "1 sector of 32 bytes<", draw(record([base] * 32)), 32)
check("shifted", "5 sectors of 32 bytes<", draw(record([base + 16 + 4 * i for i in range(32)])), 32)
check("strided", "32 sectors of 32 bytes; 4 would do",
      draw(record([base + 256 * i for i in range(32)])), 32)
check("vectors", "16 sectors of 32 bytes<",
      draw(record([base + 16 * i for i in range(32)], size=16)), 32)
check("half a warp", "2 sectors of 32 bytes<",
      draw(record([base + 4 * i for i in range(32)], mask=0xffff)), 16)
check("banks", "load of shared memory: 1 pass over the 32 banks",
      draw(record([4 * i for i in range(32)], "shared")), 0)
check("conflicts", "32 passes over the 32 banks; 1 would do",
      draw(record([128 * i for i in range(32)], "shared")), 0)
check("broadcast", "1 pass over", draw(record([64] * 32, "shared")), 0)
check("vectors of four", "4 passes over the 32 banks<",
      draw(record([16 * i for i in range(32)], "shared", size=16)), 0)
check("two ways", "2 passes over", draw(record([8 * i for i in range(32)], "shared")), 0)

same = [record([base + 4 * i + 128 * turn for i in range(32)]) for turn in range(5)]
expect("picture repeats", draw(*same).count("<svg") == 1, draw(*same).count("<svg"))
many = [record([base + 4 * i * j for i in range(32)], line=j) for j in range(1, 20)]
expect("picture many", draw(*many).count("<svg") == picture.MOST)
expect("picture line", "line 1: <code>x = a[i] &lt; b;</code>" in draw(*same), draw(*same))
expect("picture none", draw({"line": 1, "mask": 1, "kind": "branch"}) == "")
expect("picture well formed", not re.search(r"nan|None", draw(*many)), draw(*many))
