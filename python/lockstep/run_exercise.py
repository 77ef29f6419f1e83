"""run_exercise.py: an exercise with NumPy or CuPy, for the grader: `python run_exercise.py REQUEST.json`.

Without "sizes" in the request it looks at the file and at what is installed; with them it calls the
learner's function for each size. Inputs lie in files as raw numbers; what the function returns is written
beside them, and the grader compares it. docs/learn.md says what a request has.

Unlike a Triton kernel, such a file runs here, as Python. So it may import its package and math and nothing
else, and names that open files or start programs are refused. That stops accidents, not an attacker.
"""

import ast
import importlib.util
import inspect
import json
import os
import sys
import traceback

from complaints import complain

GET = {"numpy": ("numpy", "20 MB"), "cupy": ("'cupy-cuda13x[ctk]'", "700 MB")}
TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i32": "int32", "u32": "uint32",
         "i64": "int64", "u8": "uint8", "s8": "int8"}
# Of Python and of NumPy: what leaves the process, or gets at what does.
REFUSED = {"open", "exec", "eval", "compile", "input", "breakpoint", "globals", "locals", "vars", "getattr",
           "setattr", "delattr", "load", "save", "savez", "savez_compressed", "savetxt", "loadtxt",
           "genfromtxt", "fromfile", "tofile", "fromregex", "memmap", "dump", "dumps", "ctypeslib", "f2py",
           "lib", "testing", "distutils", "ctypes", "cffi", "gi_frame", "gi_code", "cr_frame", "cr_code",
           "ag_frame", "ag_code", "tb_frame", "tb_next", "f_back", "f_locals", "f_globals", "f_builtins",
           "f_code", "copy_from", "copy_from_async", "copy_from_host", "copy_from_host_async"}
SUBMODULES = {"linalg", "random", "fft"}
CUDA = {"Stream", "Event", "Device", "get_elapsed_time", "get_current_stream"}  # of cupy.cuda
MAY_BE_SET = {"shape", "dtype", "real", "imag", "flat"}  # of arrays


class Refused(Exception):
    def __init__(self, node, words):
        super().__init__(words)
        self.line, self.column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1


class NotInstalled(Exception):
    pass


class OnTheCPU(Exception):
    """What the GPU is to compute comes to it computed."""


# What may stand in the file ----------------------------------------------------------------------

def check_import(node, package):
    allowed = {package, "numpy", "math"}
    names = ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    for name in names:
        if name.split(".")[0] not in allowed:
            raise Refused(node, f"this exercise imports {', '.join(sorted(allowed))} and nothing else, not "
                                f"{name or 'a file beside it'}")


def check(tree, request):
    """Imports, constants and functions; the one that is asked for among them."""
    for node in tree.body:
        if not (isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign, ast.AnnAssign)) or
                (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))):
            raise Refused(node, "only imports, constants and functions: the grader calls "
                                f"{request['kernel']} itself")
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            check_import(node, request["package"])
        for name in names_in(node):
            if name in REFUSED or name.startswith("__"):
                raise Refused(node, f"'{name}' is not for exercises: no files, no programs")
        if (isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and
                node.attr not in MAY_BE_SET):
            raise Refused(node, f"'.{node.attr} =' changes what is not the exercise's own")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == request["kernel"]:
            return check_parameters(node, request)
    raise Refused(None, f"there is no function 'def {request['kernel']}(..)' in the file")


def names_in(node):
    """What a node names, other than what it contains."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.MatchClass):
        return node.kwd_attrs
    if isinstance(node, ast.ImportFrom):
        return [each.name for each in node.names]
    return []


class Modules:
    """Where dotted names lead, now that the packages are loaded: to functions and classes of theirs, not to
    modules that they happen to have, os and sys among them."""

    def __init__(self, tree):
        self.known = {}  # name in the file: module
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    module = self.follow(node, sys.modules.get(each.name.split(".")[0]), each.name.split(".")[1:])
                    first = each.name.split(".")[0]
                    self.known[each.asname or first] = module if each.asname else sys.modules.get(first)
            elif isinstance(node, ast.ImportFrom):
                parts = (node.module or "").split(".")
                module = self.follow(node, sys.modules.get(parts[0]), parts[1:])
                for each in node.names:
                    value = self.follow(node, module, [each.name])
                    if inspect.ismodule(value):
                        self.known[each.asname or each.name] = value
        inner = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                inner.add(id(node.value))
                names = dotted(node)
                if names and names[0] in self.known:
                    value = self.follow(node, self.known[names[0]], names[1:])
                    if inspect.ismodule(value) and id(node) not in inner:
                        raise Refused(node, "a module is not a value")
        for node in ast.walk(tree):
            if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.known and
                    id(node) not in inner):
                raise Refused(node, "a module is not a value")

    def follow(self, node, at, names):
        for name in names:
            is_cuda = getattr(at, "__name__", "") == "cupy.cuda"
            if inspect.ismodule(at) and (name.startswith("_") or name == "*" or is_cuda and name not in CUDA):
                raise Refused(node, f"'{name}' is not for exercises: no files, no programs")
            at = getattr(at, name, None)
            if inspect.ismodule(at) and name not in SUBMODULES and at.__name__ != "cupy.cuda":
                raise Refused(node, f"'{name}' is not for exercises: no files, no programs")
        return at


def dotted(node):
    """["np", "linalg", "norm"] of np.linalg.norm; None if it does not begin with a name."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def check_parameters(node, request):
    wanted = [each["text"].split()[-1] for each in request["arguments"]]
    if len(node.args.args) != len(wanted) or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
        raise Refused(node, f"the function {request['kernel']} is called with ({', '.join(wanted)}); do not "
                            "change its parameters")


def need_package(name):
    what, size = GET[name]
    where = (f"{sys.executable} -m pip" if sys.prefix != sys.base_prefix else
             "python3 -m venv ~/gpu && . ~/gpu/bin/activate && pip")
    if importlib.util.find_spec(name) is None:
        raise NotInstalled(f"{name} is not installed for {sys.executable}: '{where} install {what}' gets it "
                           f"({size}; no GPU is needed). LOCKSTEP_PYTHON names another Python")


# Running -----------------------------------------------------------------------------------------

class Lines:
    """Counts the lines of the learner's file that run, each time that they do."""

    def __init__(self, path):
        self.path, self.counts = path, {}

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename != self.path:
            return None
        if event == "line":
            self.counts[frame.f_lineno] = self.counts.get(frame.f_lineno, 0) + 1
        return self

    def result(self):
        hottest = max(self.counts, key=self.counts.get, default=0)
        return {"value": sum(self.counts.values()), "line": hottest}


class Gate:
    """CuPy's ways from the host to the GPU: inputs pass, in any form, constants, and what has come from the
    GPU. Results of the CPU do not."""

    MOST_CONSTANTS = 32

    def __init__(self, numpy, cupy):
        self.numpy, self.cupy, self.inputs, self.given = numpy, cupy, [], 0
        self.bytes_up, self.downloads = 0, []
        for name in ("asarray", "array", "ascontiguousarray", "asfortranarray"):
            setattr(cupy, name, self.guarded(getattr(cupy, name)))
        cupy.ndarray.get = self.remembered(cupy.ndarray.get)  # asnumpy calls it too
        cupy.ndarray.set = self.guarded_set(cupy.ndarray.set)

    def guarded(self, function):
        def pass_on(value, *rest, **named):
            try:
                array = None if isinstance(value, self.cupy.ndarray) else self.numpy.asarray(value)
            except TypeError:  # a list of what is on the GPU already
                array = None
            if array is not None:
                self.look_at(array)
            return function(value, *rest, **named)
        return pass_on

    def guarded_set(self, function):
        def pass_on(array, value, *rest, **named):
            self.look_at(self.numpy.asarray(value))
            return function(array, value, *rest, **named)
        return pass_on

    def remembered(self, function):
        def pass_on(*values, **named):
            array = function(*values, **named)
            self.downloads.append(array.copy())
            self.inputs = self.inputs[:self.given] + [(array, array.copy())]  # the last one is enough
            return array
        return pass_on

    def take(self, values):
        self.inputs = [(each, each.copy()) for each in values if isinstance(each, self.numpy.ndarray)]
        self.given = len(self.inputs)
        self.bytes_up, self.downloads = 0, []

    def came_from_gpu(self, array):
        """Is a result what the GPU has sent at once, or piece by piece?"""
        sent = [each.ravel().astype(array.dtype) for each in self.downloads]
        ways = [*sent, self.numpy.concatenate(sent)] if sent else []
        return array.size <= self.MOST_CONSTANTS or any(
            self.is_same(array.ravel(), each) for each in ways)

    def was_given(self, array):
        """Is it an input as it was: a result of no steps at all?"""
        return any(array.size == original.size and self.is_same(array.ravel(), original.ravel())
                   for _, original in self.inputs[:self.given])

    def look_at(self, array):
        self.bytes_up += array.nbytes
        if array.size <= self.MOST_CONSTANTS or any(self.is_from(array, *each) for each in self.inputs):
            return
        raise OnTheCPU("this copies something to the GPU that is not an input: let the GPU compute it")

    def is_from(self, array, given, original):
        if self.numpy.shares_memory(array, given):  # turned round, it is a result
            return all(step >= 0 for step in array.strides) and self.is_same(given, original)
        return array.size == original.size and self.is_same(array.ravel(), original.ravel())

    def is_same(self, a, b):
        """Inputs have NaN among their numbers, which is not equal to itself."""
        return self.numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f")


def read_inputs(size, numpy):
    values = []
    for each in size["arguments"]:
        if "file" in each:
            array = numpy.fromfile(each["file"], TYPES[each["type"]])
            values.append(array.reshape(each["shape"]))
        else:
            values.append(each["value"])
    return values


def store(result, size, numpy, gate):
    """What the function returned, into the outputs' files; or a sentence that says what is wrong with it."""
    outputs = size["outputs"]
    if result is None:
        return "the function returns nothing: is there a 'return'?"
    results = result if len(outputs) > 1 else (result,)
    if not isinstance(results, tuple) or len(results) != len(outputs):
        return f"the function must return {len(outputs)} arrays: {', '.join(o['name'] for o in outputs)}"
    for value, output in zip(results, outputs):
        if type(value).__module__.split(".")[0] == "cupy":
            return f"{output['name']} is still on the GPU: cp.asnumpy(..) copies it back"
        try:
            array = numpy.asarray(value, TYPES[output["type"]])
        except (TypeError, ValueError) as error:
            return f"{output['name']} must be an array of numbers: {error}"
        if array.size == 1 and set(output["shape"]) == {1}:
            array = array.reshape(output["shape"])  # a number will do
        if list(array.shape) != output["shape"]:
            return (f"{output['name']} must have the shape {tuple(output['shape'])}, but it has "
                    f"{tuple(array.shape)}")
        if gate and not gate.came_from_gpu(array) and not gate.was_given(array):
            if not gate.downloads:
                return f"{output['name']} was computed on the CPU: nothing came back from the GPU"
            return f"{output['name']} is not what came back from the GPU: let the GPU compute all of it"
        numpy.ascontiguousarray(array).tofile(output["file"])
    return None


def learners_line(error, path):
    """The last line of the learner's file on the way to the error."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == path]
    return lines[-1] if lines else 0


def run_size(function, names, size, path, numpy, lines, gate):
    row = {"size": size["size"], "fault": None, "line": 0}
    values = read_inputs(size, numpy)
    returned = {each["name"] for each in size["outputs"]}  # an input that is also returned may change
    kept = [(name, value, value.copy()) for name, value in zip(names, values)
            if isinstance(value, numpy.ndarray) and name not in returned]
    if gate:
        gate.take(values)
    try:
        sys.settrace(lines)
        try:
            result = function(*values)
        finally:
            sys.settrace(None)
        changed = [name for name, value, before in kept
                   if not numpy.array_equal(value, before, equal_nan=value.dtype.kind == "f")]
        row["fault"] = (f"{changed[0]} is an input, and the function has changed it" if changed else
                        store(result, size, numpy, gate))
    except Exception as error:  # whatever the learner's code raises
        words = str(error) if isinstance(error, OnTheCPU) else f"{type(error).__name__}: {error}"
        row["fault"], row["line"] = words, learners_line(error, path)
    return row


def run(request, tree):
    import numpy
    space, gate = {"__name__": "exercise"}, None
    if request["package"] == "cupy":
        import cupy
        gate = Gate(numpy, cupy)
    answer = {"sizes": [], "counters": {}}
    sizes = request["sizes"]
    try:
        Modules(tree)
        exec(compile(tree, request["source"], "exec"), space)
    except Exception as error:  # an import that fails, a constant that cannot be computed
        refused = isinstance(error, Refused)
        answer["sizes"].append({"size": sizes[0]["size"],
                                "fault": str(error) if refused else f"{type(error).__name__}: {error}",
                                "line": error.line if refused else learners_line(error, request["source"])})
        sizes = []
    function = space.get(request["kernel"])
    names = [each["text"].split()[-1] for each in request["arguments"]]
    for index, size in enumerate(sizes):
        lines = Lines(request["source"]) if index == request["measured"] and request["counts_lines"] else None
        answer["sizes"].append(run_size(function, names, size, request["source"], numpy, lines, gate))
        if lines:
            answer["counters"]["python_lines"] = lines.result()
        if gate:
            answer["counters"]["bytes_let_through"] = {"value": gate.bytes_up, "line": 0}
        if answer["sizes"][-1]["fault"]:
            break
    sys.stdout.flush()
    with open(request["answer"], "w", encoding="utf-8") as out:
        json.dump(answer, out)
    if any(row["fault"] for row in answer["sizes"]):
        os._exit(0)  # what CuPy says while it takes down a broken GPU helps nobody


def main():
    sys.path.pop(0)  # this folder, whose modules have common names
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    try:
        with open(request["source"], encoding="utf-8") as file:
            tree = ast.parse(file.read(), request["source"])
        check(tree, request)
        if "sizes" in request:
            run(request, tree)
        else:
            need_package(request["package"])
            need_package("numpy")
        return 0
    except NotInstalled as error:
        print(error)
        return 3
    except SyntaxError as error:
        complain(request, error.lineno or 0, error.offset or 0, error.msg)
    except Refused as error:
        complain(request, error.line, error.column, str(error))
    except (OSError, UnicodeError) as error:
        complain(request, 0, 0, str(error))
    return 1


if __name__ == "__main__":
    sys.exit(main())
