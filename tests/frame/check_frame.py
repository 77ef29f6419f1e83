"""Checks the repository's own rules; prints "ok RULE" or "not ok RULE: what breaks it" lines."""

import os
import re
import subprocess
from pathlib import Path

ROOMS = Path("src/rooms.txt")


def read_rooms():
    """{room: [rooms that it may include]}, {room: purpose}, in the order of src/rooms.txt."""
    looks_at, purposes = {}, {}
    for line in ROOMS.read_text().splitlines():
        if line.startswith("#"):
            continue
        head, purpose = line.split("|")
        name, others = head.split(":")
        looks_at[name] = others.split()
        purposes[name] = purpose.strip()
    return looks_at, purposes


LOOKS_AT, PURPOSES = read_rooms()

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


def rooms_are_listed_from_the_bottom_up(_):
    seen = set()
    for room, others in LOOKS_AT.items():
        for other in others:
            if other not in seen:
                yield f"src/rooms.txt: {room} includes {other}, which is not above it in the list"
        seen.add(room)


def readme_has_every_room(_):
    """The README's table has the rooms of src/rooms.txt, in its order and in its words."""
    wanted = [f"| `src/{room}/` | {purpose} |" for room, purpose in PURPOSES.items()]
    found = [line for line in Path("README.md").read_text().splitlines()
             if line.startswith("| `src/")]
    for line in wanted:
        if line not in found:
            yield f"README.md lacks {line}"
    for line in found:
        if line not in wanted:
            yield f"README.md has {line}, which src/rooms.txt does not"


def picture_of_rooms_is_current(_):
    drawn = subprocess.run(["scripts/draw-rooms"], capture_output=True, text=True, check=True)
    if drawn.stdout != Path("docs/images/rooms.svg").read_text():
        yield "docs/images/rooms.svg is not what scripts/draw-rooms draws: 'make docs'"


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


def code(all_files):
    """Files that people read: not programs that tests compile, which are data."""
    for path in all_files:
        if path.suffix in (".c", ".h", ".def", ".inc", ".js", ".py", ".sh") or (
                path.suffix == ".cu" and path.parts[0] == "kernels") or path.parts[0] == "scripts":
            yield path, path.read_text(errors="replace").splitlines()


def files_have_600_lines_at_most(all_files):
    for path, lines in code(all_files):
        if len(lines) > 600 and str(path) != "src/cuda/api.def":  # docs/decisions.md says why
            yield f"{path} has {len(lines)}"


def functions_have_80_lines_at_most(all_files):
    for path, lines in code(all_files):
        start = None
        for number, line in enumerate(lines if path.suffix in (".c", ".h", ".inc", ".cu") else []):
            if line == "{":
                start = number
            elif line.startswith("}") and start is not None:
                if number - start + 1 > 80:
                    yield f"{path}:{start + 1} begins one of {number - start + 1}"
                start = None


def program_options_are_listed(_):
    """client.c finds a script behind the options that the commands parse."""
    listed = set(re.findall(r'OPTION\("(--[a-z-]+)"', Path("src/cli/program_options.def").read_text()))
    parsed = set()
    for name in ("request", "run", "profile", "check"):
        text = Path(f"src/cli/{name}.c").read_text()
        parsed.update(re.findall(r'"(--[a-z-]+)"', text))
    for option in sorted(listed ^ parsed):
        yield f"{option} is in {'the list' if option in listed else 'a command'} only"


def course_has_lessons_only(all_files):
    """A learner's folder that was made inside course/ by mistake is not a part of it."""
    for path in all_files:
        if path.parts[0] == "course" and len(path.parts) > 3 and not re.match(r"day\d_", path.parts[2]):
            yield f"{path} is in no lesson's folder"


def main():
    all_files = files()
    if not sources(all_files):
        print("not ok files: none of src/ are found")
    for rule in (include_direction, rooms_are_listed_from_the_bottom_up, readme_has_every_room,
                 picture_of_rooms_is_current, program_options_are_listed, course_has_lessons_only,
                 opening_comment, no_machine_paths, runnable_scripts,
                 files_have_600_lines_at_most, functions_have_80_lines_at_most):
        broken = list(rule(all_files))
        name = rule.__name__
        print(f"not ok {name}: {'; '.join(broken)}" if broken else f"ok {name}")


if __name__ == "__main__":
    main()
