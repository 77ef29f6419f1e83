"""What the grader's Python prints of a learner's file that is not an exercise, as compilers print it."""


def complain(request, line, column, words):
    """The place, the words, the line with a caret; without a line, the file and the words."""
    place = f"{request['shown']}:{line}:{max(column, 1)}" if line else request["shown"]
    print(f"{place}: error: {words}")
    try:
        with open(request["source"], encoding="utf-8") as file:
            text = file.read().splitlines()
    except (OSError, UnicodeError):
        return
    if 0 < line <= len(text):
        print(f"{line:5} | {text[line - 1]}\n      | {' ' * (max(column, 1) - 1)}^")
