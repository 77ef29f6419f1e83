"""gather.py: many small programs in one source file, as one run of nvcc takes hardly longer than two.
    gather.py FILE.cu NAME...
Each NAME.cu is in there twice, as it is and with FIXED defined, in a namespace of its own and with its
own file name and line numbers. The program's argument says which one is to run: NAME or NAME.fixed.
"""
import os
import re
import sys

INCLUDE = re.compile(r"^\s*#\s*include\s*(.*)", re.M)
DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
MAIN = re.compile(r"^int main\(\)", re.M)


def body(name, text, space):
    """The program in a namespace; its main returns 0 at its end, as only main does unasked."""
    if len(MAIN.findall(text)) != 1 or not text.endswith("\n}\n"):
        raise SystemExit(f"gather.py: {name}.cu: wanted one 'int main()', the last in the file")
    text = MAIN.sub("int program()", INCLUDE.sub("", text))[:-2] + "return 0; }\n"
    undefine = "".join(f"#undef {word}\n" for word in dict.fromkeys(DEFINE.findall(text)))
    return f'namespace {space} {{\n#line 1 "{os.path.abspath(name)}.cu"\n{text}{undefine}}}\n'


def main():
    path, *names = sys.argv[1:]
    texts = {name: open(name + ".cu").read() for name in names}
    includes = dict.fromkeys(file for text in texts.values() for file in INCLUDE.findall(text))
    parts = ["#include <cstring>\n"] + [f"#include {file}\n" for file in includes]
    calls = []
    for name, text in texts.items():
        own = name.replace("-", "_")
        parts += [body(name, text, own), "#define FIXED\n",
                  body(name, text, own + "_fixed"), "#undef FIXED\n"]
        calls += [f'    if (std::strcmp(name, "{name}{ending}") == 0)\n'
                  f"        return {own}{space}::program();\n"
                  for ending, space in (("", ""), (".fixed", "_fixed"))]
    parts += ["int main(int count, char **words)\n{\n"
              '    const char *name = count > 1 ? words[1] : "";\n', *calls, "    return 42;\n}\n"]
    with open(path, "w") as file:
        file.write("".join(parts))


if __name__ == "__main__":
    main()
