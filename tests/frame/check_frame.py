"""Checks the repository's own rules; prints "ok RULE" or "not ok RULE: what breaks it" lines."""

import os
import re
import subprocess
from pathlib import Path

# Which folders of src/ a folder may include, besides itself: these and what they may include.
LOOKS_AT = {
    "base": [],
    "host": ["base"],
    "gpu": ["base"],
    "toolchain": ["host"],
    "ptx": ["base"],
    "simt": ["ptx", "gpu", "host"],
    "watch": ["simt"],
    "check": ["simt"],
    "cuda": ["base"],
    "driver": ["watch", "check", "cuda"],
    "cudart": ["driver"],
    "zoo": ["cuda", "gpu"],
    "bench": ["zoo", "report"],
    "tune": ["zoo"],
    "export": ["zoo", "tune", "ptx"],
    "report": ["base", "gpu"],
    "learn": ["zoo", "bench", "simt", "report", "toolchain"],
    "engine": ["zoo"],
    "studio": ["learn", "bench", "report"],
}
LOOKS_AT["cli"] = list(LOOKS_AT)

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/[^"]*"', re.MULTILINE)


def files():
    """Tracked and new files, without what git ignores; all but a few folders where git is not."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                                capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [str(path) for path in Path(".").rglob("*")
                 if not {"build", ".git", "__pycache__"} & set(path.parts)]
    return [Path(name) for name in names if Path(name).is_file()]


def reachable(folder):
    seen, waiting = set(), [folder]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += LOOKS_AT[each]
    return seen


def sources(all_files, endings=(".c", ".h", ".def")):
    return [path for path in all_files if path.parts[0] == "src" and path.suffix in endings]


def include_direction(all_files):
    for path in sources(all_files):
        folder = path.parts[1]
        if folder not in LOOKS_AT:
            yield f"src/{folder} is not in the list of folders"
            continue
        for included in INCLUDE.findall(path.read_text(errors="replace")):
            if included in LOOKS_AT and included not in reachable(folder):
                yield f"{path} includes {included}/"


def opening_comment(all_files):
    for path in sources(all_files):
        if not path.read_text(errors="replace").startswith(("/*", "//")):
            yield f"{path} does not begin with what it is for"


def no_machine_paths(all_files):
    here = {os.getcwd(), os.path.expanduser("~")} - {"/", ""}
    words = [word.rstrip("/") + "/" for word in here]
    for path in all_files:
        text = path.read_bytes().decode(errors="replace")
        for word in words:
            if word in text:
                yield f"{path} has {word}"


def runnable_scripts(all_files):
    for path in all_files:
        if path.read_bytes()[:2] == b"#!" and not os.access(path, os.X_OK):
            yield f"{path} is not executable"


def main():
    all_files = files()
    for rule in (include_direction, opening_comment, no_machine_paths, runnable_scripts):
        broken = list(rule(all_files))
        name = rule.__name__
        print(f"not ok {name}: {'; '.join(broken)}" if broken else f"ok {name}")


if __name__ == "__main__":
    main()
