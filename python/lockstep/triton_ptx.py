"""triton_ptx.py: an exercise in Python to PTX, for the grader: `python triton_ptx.py REQUEST.json`.

The learner's file is checked before Triton sees it: imports of triton, constants and functions under
@triton.jit, nothing else. Such a file is compiled and never run, so a stranger's kernel can do no more
here than one in CUDA C. docs/learn.md says what REQUEST.json and launch.json have.

Nothing is imported from this package: the interpreter is the learner's, which may not know it.
"""

import ast
import builtins
import difflib
import inspect
import json
import os
import sys

from complaints import complain

BUILTINS = {"range", "min", "max", "len", "abs", "int", "float", "bool", "tuple", "print", "list"}
MODULES = {"math", "extra", "cuda", "libdevice"}
STATEMENTS = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.ClassDef, ast.AsyncFunctionDef,
              ast.Lambda, ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete)
ONLY = ("only imports of triton, constants such as BLOCK = 1024, and functions under @triton.jit: the "
        "file is compiled, not run")
AMBIGUOUS = "Boolean value of Tensor with more than one value is ambiguous"


class Refused(Exception):
    def __init__(self, node, words):
        super().__init__(words)
        self.line, self.column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1


def dotted(node):
    """["tl", "math", "exp"] of tl.math.exp; None if it does not begin with a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


class File:
    """The learner's file: its constants, and its functions as Triton has them."""

    def __init__(self, path, triton):
        self.triton, self.language = triton, triton.language
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.tree = ast.parse(self.text, path)
        self.path = path
        self.modules = {}    # name in the file: module
        self.constants = {}  # name: number
        for node in self.tree.body:
            self.check_top(node)

    # What may stand in it ---------------------------------------------------------------------------

    def check_top(self, node):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.check_import(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self.check_constant(node, node.targets[0])
        elif isinstance(node, ast.AnnAssign) and node.value:
            self.check_constant(node, node.target)
        elif isinstance(node, ast.FunctionDef):
            if [dotted(each) for each in node.decorator_list] != [["triton", "jit"]]:
                raise Refused(node, "a function here is a kernel, or called by one: write @triton.jit "
                                    "above it, and no other decorator")
            self.check_function(node)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            raise Refused(node, ONLY)

    def check_import(self, node):
        known = {"triton": self.triton, "triton.language": self.language}
        if isinstance(node, ast.ImportFrom):
            if node.module == "triton" and [each.name for each in node.names] == ["language"]:
                self.modules[node.names[0].asname or "language"] = self.language
                return
            raise Refused(node, "write 'import triton' and 'import triton.language as tl'; nothing else "
                                "is there in a kernel")
        for each in node.names:
            if each.name not in known:
                raise Refused(node, f"there is no {each.name} in a kernel. The file has {ONLY}")
            if each.asname:
                self.modules[each.asname] = known[each.name]
            else:
                self.modules["triton"] = self.triton

    def check_constant(self, node, target):
        value = node.value
        if isinstance(value, ast.Call) and self.resolve(value.func) is self.language.constexpr:
            value = value.args[0] if len(value.args) == 1 else value
        for each in ast.walk(value):
            if not isinstance(each, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
                                     ast.Name, ast.expr_context)) or (
                    isinstance(each, ast.Name) and each.id not in self.constants):
                raise Refused(node, ONLY)
        if not isinstance(target, ast.Name):
            raise Refused(node, ONLY)
        code = compile(ast.Expression(value), self.path, "eval")
        self.constants[target.id] = eval(code, {"__builtins__": {}}, dict(self.constants))

    def resolve(self, node):
        """What a dotted name that begins with a module is; None for any other."""
        names = dotted(node)
        if not names or names[0] not in self.modules:
            return None
        at = self.modules[names[0]]
        for name in names[1:]:
            known = inspect.ismodule(at) or isinstance(at, self.language.dtype)
            if name.startswith("_") or not known or not hasattr(at, name):
                near = difflib.get_close_matches(name, [each for each in dir(at) if known and each[0] != "_"], 1)
                raise Refused(node, f"{'.'.join(names)}: there is no '{name}'" +
                              (f"; did you mean '{near[0]}'?" if near else ""))
            at = getattr(at, name)
            if inspect.ismodule(at) and name not in MODULES | {"language"}:
                raise Refused(node, f"{'.'.join(names)}: '{name}' is not for kernels")
        return at

    def check_function(self, function):
        own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
        own |= {each.id for each in ast.walk(function)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        inner = {id(each.value) for each in ast.walk(function) if isinstance(each, ast.Attribute)}
        for part in (*function.args.defaults, *function.args.kw_defaults, function.returns,
                     *(each.annotation for each in ast.walk(function) if isinstance(each, ast.arg))):
            for each in ast.walk(part) if part else []:  # Python runs these
                if isinstance(each, (ast.Call, ast.comprehension)):
                    raise Refused(each, "a default is a number, and a type is a name: the file is not run")
        for each in ast.walk(function):
            if isinstance(each, STATEMENTS) or (each is not function and
                                                isinstance(each, ast.FunctionDef)):
                raise Refused(each, "this cannot stand in a kernel")
            if isinstance(each, ast.Attribute):
                if each.attr.startswith("_"):
                    raise Refused(each, f"'{each.attr}' is not for kernels")
                if id(each) not in inner and inspect.ismodule(self.resolve(each)):
                    raise Refused(each, "a module is not a value")
            if isinstance(each, ast.Name) and each.id in self.modules and id(each) not in inner:
                raise Refused(each, "a module is not a value")
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and (
                    each.id.startswith("__") or
                    (hasattr(builtins, each.id) and each.id not in BUILTINS | own)):
                raise Refused(each, f"there is no '{each.id}' in a kernel")

    # Compiling --------------------------------------------------------------------------------------

    def functions(self):
        """Binds imports, constants and functions, and nothing else of the file."""
        keep = ast.Module([each for each in self.tree.body
                           if isinstance(each, (ast.Import, ast.ImportFrom, ast.FunctionDef))], [])
        space = {name: self.language.constexpr(value) for name, value in self.constants.items()}
        space["__name__"] = "exercise"
        exec(compile(keep, self.path, "exec"), space)
        return space


def parameters(request, kernel, file):
    """What each parameter of the kernel is: (signature, constants, numbers of the arguments)."""
    arguments, given = request["arguments"], []
    signature, values = {}, {}
    for parameter in kernel.params:
        if parameter.is_constexpr:
            default = file.constants.get(parameter.name, parameter.default)
            if default is inspect.Parameter.empty:
                raise Refused(kernel_node(file, request), f"'{parameter.name}' has no value: write "
                              f"{parameter.name} = 128, or what you like, at the top of the file")
            signature[parameter.name], values[(parameter.num,)] = "constexpr", default
        else:
            given.append(parameter.num)
            if len(given) <= len(arguments):
                signature[parameter.name] = arguments[len(given) - 1]["type"]
    if len(given) != len(arguments):
        names = ", ".join(each["text"] for each in arguments)
        raise Refused(kernel_node(file, request), f"the kernel {request['kernel']} is called with "
                      f"({names}); do not change its parameters")
    return signature, values, given


def check_pointers(node, request):
    """a[i] of a pointer: Triton's own words for it speak of something else."""
    plain = [each.arg for each in node.args.args if each.annotation is None]
    pointers = {name for name, argument in zip(plain, request["arguments"]) if argument["type"][0] == "*"}
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name) and each.value.id in pointers:
            name = each.value.id
            raise Refused(each, f"'{name}' is an address, not an array: tl.load({name} + ..) reads there, "
                                f"tl.store({name} + .., value) writes")


def kernel_node(file, request):
    for node in file.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == request["kernel"]:
            return node
    raise Refused(None, f"there is no kernel '{request['kernel']}' in the file: write @triton.jit above "
                        f"'def {request['kernel']}(..)'")


def compile_stages(kernel, signature, values, attributes, request, options):
    """PTX, and what Triton notes about it."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", int(request["arch"]), 32)
    backend = make_backend(target)
    options = backend.parse_options(options)
    source = ASTSource(kernel, signature, values, attributes)
    context, stages = ir.context(), {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    backend.add_stages(stages, options, source.language)
    words = [options, backend.get_codegen_implementation(options), backend.get_module_map(), context]
    takes_target = "target" in inspect.signature(source.make_ir).parameters
    module = source.make_ir(*([target] if takes_target else []), *words)
    notes = {"target": target, **options.__dict__}
    for name, stage in stages.items():
        module = stage(module, notes)
        if name == "ptx":
            break
    return module, notes


def plain_lines(ptx):
    """Inline assembly of several lines would count as several lines of the learner's: only its first
    .loc is true."""
    kept, inside, seen = [], False, False
    for line in ptx.splitlines():
        word = line.strip()
        if word.startswith("// begin inline asm"):
            inside, seen = True, False
        elif word.startswith("// end inline asm"):
            inside = False
        elif inside and word.startswith(".loc"):
            if seen:
                continue
            seen = True
        kept.append(line)
    return "\n".join(kept) + "\n"


def compile_file(request, triton):
    file = File(request["source"], triton)
    check_pointers(kernel_node(file, request), request)
    kernel = file.functions()[request["kernel"]]
    signature, values, given = parameters(request, kernel, file)
    options = {name: file.constants[name] for name in ("num_warps", "num_stages")
               if name in file.constants}
    for name in request["constants"]:
        if not isinstance(file.constants.get(name), int):
            raise Refused(None, f"the grid needs the constant {name}: write {name} = 128, or what you "
                                "like, at the top of the file")
    divisible = [each.get("divisible", False) for each in request["arguments"]]
    launch = {"constants": {name: file.constants[name] for name in request["constants"]},
              "divisible": divisible, "shared": [], "scratch": []}
    # As Triton's own launcher: pointers are aligned, and so are numbers where their values are.
    for index, aligned in enumerate([True, False] if any(divisible) else [True]):
        attributes = {(given[i],): [["tt.divisibility", 16]]
                      for i, each in enumerate(request["arguments"])
                      if each["type"].startswith("*") or (aligned and divisible[i])}
        ptx, notes = compile_stages(kernel, signature, values, attributes, request, options)
        launch["scratch"].append(notes.get("global_scratch_size", 0))
        launch["shared"].append(notes["shared"])
        launch["num_warps"] = notes["num_warps"]
        name = "ragged.ptx" if index else "kernel.ptx"
        with open(os.path.join(request["output"], name), "w", encoding="utf-8") as out:
            out.write(plain_lines(ptx))
    with open(os.path.join(request["output"], "launch.json"), "w", encoding="utf-8") as out:
        json.dump(launch, out)


def compilation_error(request, error, kernel_file):
    """Triton counts lines from the function's first; the innermost error says most."""
    while error.__cause__ is not None and hasattr(error.__cause__, "node"):
        error = error.__cause__
    words = str(error.error_message or error.__cause__ or error).strip()
    if words.startswith("NameError('") and words.endswith("')"):
        words = words[len("NameError('"):-2]
    if words == AMBIGUOUS:
        words = ("this asks many elements at once, and an 'if' takes one answer: use mask=.. of tl.load and "
                 "tl.store, or tl.where")
    node, line, column = error.node, 0, 0
    source = getattr(error, "src", None)
    if node is not None and hasattr(node, "lineno"):
        first = 1
        for each in kernel_file.tree.body:
            if isinstance(each, ast.FunctionDef) and source and f"def {each.name}(" in source:
                first = each.lineno
                break
        else:
            node = None  # in a function of Triton's own
    if node is not None and hasattr(node, "lineno"):
        # the source begins with "def"
        line, column = first + node.lineno - 1, node.col_offset + 1
    complain(request, line, column, words)


def main():
    sys.path.pop(0)  # this folder, whose modules have common names
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    try:
        import triton
        import triton.language
        from triton.compiler.errors import CompilationError
    except ImportError as error:
        if error.name and error.name.split(".")[0] != "triton":
            print(f"{sys.executable} cannot import Triton: {error}")
        else:
            where = (f"{sys.executable} -m pip" if sys.prefix != sys.base_prefix else
                     "python3 -m venv ~/gpu && . ~/gpu/bin/activate && pip")
            print(f"Triton is not installed for {sys.executable}: '{where} install triton' gets it (280 MB; "
                  "no GPU is needed). LOCKSTEP_PYTHON names another Python")
        return 3
    try:
        compile_file(request, triton)
        return 0
    except SyntaxError as error:
        complain(request, error.lineno or 0, error.offset or 0, error.msg)
    except Refused as error:
        complain(request, error.line, error.column, str(error))
    except CompilationError as error:
        compilation_error(request, error, File(request["source"], triton))
    except (OSError, UnicodeError) as error:
        complain(request, 0, 0, str(error))
    except Exception as error:  # Triton's own passes, on code that it cannot lower
        complain(request, 0, 0, f"Triton cannot compile it: {type(error).__name__}: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
