"""Links and signs in the notebook of tests/python/course, which has one of every kind."""

import json
import os
from pathlib import Path

from common import expect, learn

os.environ["LOCKSTEP_COURSE"] = str(Path(__file__).parent / "course")
learn("notebooks", "links")
cells = json.loads(Path("links/week1/day1_small.ipynb").read_text())["cells"]
text = {cell["id"]: "".join(cell["source"]) for cell in cells}
every = "\n".join(text.values())
ids = [cell["id"] for cell in cells]

expect("links fence", "# this is no heading\n[no](link.md)\n```" in every, every)
expect("links code", "`[nor](is.this)`" in every, every)
expect("links interactive",
       "but **this picture** (in a cell below) is one" in every, every)
pictures = [value for value in text.values() if value.startswith("%lockstep interactive ")]
expect("links interactive cell", len(pictures) == 1 and "?" not in pictures[0], pictures)
expect("links address", "[a page](https://example.org/page_(1))" in every, every)
expect("links day", "See [another day](day2_none.ipynb)" in every, every)
expect("links week", "[another week](../week2/day1_far.ipynb)" in every, every)
expect("links exercise", "**a file** (its cell is below)" in every, every)
expect("links elsewhere", "exploring: the README." in every, every)
headings = [text[cell["id"]].splitlines()[0] for cell in cells
            if cell["cell_type"] == "markdown" and text[cell["id"]].startswith("#")]
expect("links headings", headings == [
    "# A small lesson", "## Challenge", "## Explore", "### Deeper", "## Concept", "## Code",
    "### Below code", "### double\\_it", "## Verify", "## Quiz"], headings)
expect("links plain quiz", "What is \\_\\_twice\\_\\_ \\*one\\*?" in every, every)
expect("links plain choice", "3. \\<b\\>three\\</b\\>" in every, every)
code = next(key for key, value in text.items() if value.startswith("### Below code"))
verify = next(key for key, value in text.items() if value.startswith("## Verify"))
expect("links place", ids.index(code) < ids.index("exercise-double_it") < ids.index(verify), ids)
expect("links hint", text["hint-double_it"].endswith(
    "# %lockstep hint week1/day1_small/double_it"), text)
