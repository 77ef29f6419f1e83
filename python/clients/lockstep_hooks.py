"""lockstep_hooks.py: small changes to packages, made right after one of their modules was imported.

`hooks` maps a module's name to the function that gets it.
"""

import atexit
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import shutil
import sys
import tempfile


def numba_lines(module):
    """@cuda.jit with line numbers, which leave the code as it is, for `profile` and `check`."""
    if not (os.environ.get("LOCKSTEP_PROFILE") or os.environ.get("LOCKSTEP_CHECK")):
        return
    if os.environ.get("NUMBA_CUDA_DEBUGINFO", "0") != "0":
        return  # Numba has both, or one of them
    jit = module.jit

    @functools.wraps(jit)
    def with_lines(*words, **options):
        if not options.get("debug"):
            options.setdefault("lineinfo", True)
        return jit(*words, **options)

    module.jit = with_lines


def _ours(name):
    """A module beside this one."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def torch_operators(module):
    if module.version.cuda is None:
        return
    _ours("lockstep_torch").install(module)


def torchvision_operators(module):
    import torch

    if torch.version.cuda is not None:
        _ours("lockstep_torch").install_vision(module)


def packed_attention(module):
    """Of attention over packed sequences there is one kind, FlashAttention's (lockstep_packed.py), whatever is
    enabled for scaled_dot_product_attention."""
    module._select_backend = lambda *_, **__: module._FLASH_ATTENTION_BACKEND


def pycuda_ptx(module):
    """nvcc is asked for PTX, which the machine runs, where PyCUDA asks for machine code."""
    compile_plain = module.compile_plain
    watched = os.environ.get("LOCKSTEP_PROFILE") or os.environ.get("LOCKSTEP_CHECK")

    @functools.wraps(compile_plain)
    def to_ptx(source, options, keep, nvcc, cache_dir, target="cubin"):
        if target != "cubin":
            return compile_plain(source, options, keep, nvcc, cache_dir, target)
        options = list(options)
        if "-code" in options:  # a kind of machine code
            at = options.index("-code")
            del options[at : at + 2]
        if watched and "-lineinfo" not in options:
            options.append("-lineinfo")
        return compile_plain(source, options, keep, nvcc, cache_dir, "ptx")

    module.compile_plain = to_ptx


def cupy_lines(module):
    if os.environ.get("LOCKSTEP_PROFILE") or os.environ.get("LOCKSTEP_CHECK"):
        _ours("lockstep_cupy").compiler(module)


def cupy_arrays(module):
    if os.environ.get("LOCKSTEP_CHECK") and not os.environ.get("LOCKSTEP_CHECK_CACHED"):
        _ours("lockstep_cupy").exact_arrays(module)


def jax_gpu(module):
    """JAX looks for /dev/nvidia0 before it asks the driver, and for a ptxas on PATH. It
    checks versions of libraries that are not used here, such as cuDNN. The host has less memory than the GPU."""
    module.has_visible_nvidia_gpu = lambda: True
    os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_disable_hlo_passes" not in flags:  # it calls cuDNN, which is machine code, for convolutions
        os.environ["XLA_FLAGS"] = flags + " --xla_disable_hlo_passes=conv-rewriter"
    ptxas = os.environ.get("TRITON_PTXAS_PATH")
    if ptxas:
        os.environ["PATH"] = os.path.dirname(ptxas) + os.pathsep + os.environ.get("PATH", "")


def jax_toolkit(module):
    """XLA calls the ptxas of NVIDIA's package, where it is installed, by its path: it gets a folder that has
    ours, and links to the rest of the package."""
    ptxas = os.environ.get("TRITON_PTXAS_PATH")
    if not ptxas or not getattr(module, "cuda_path", None):
        return
    theirs, ours = module.cuda_path, tempfile.mkdtemp(prefix="lockstep_cuda")
    atexit.register(shutil.rmtree, ours, ignore_errors=True)
    os.mkdir(os.path.join(ours, "bin"))
    os.symlink(ptxas, os.path.join(ours, "bin", "ptxas"))
    for folder, except_for in ("", "bin"), ("bin", "ptxas"):
        for name in os.listdir(os.path.join(theirs, folder)) if os.path.isdir(os.path.join(theirs, folder)) else ():
            if name != except_for:
                os.symlink(os.path.join(theirs, folder, name), os.path.join(ours, folder, name))
    module.cuda_path = ours


def bindings_runtime(module):
    """cuda.bindings has NVIDIA's runtime linked into this module, without symbols, and passes its functions on to
    other modules as capsules: ours take their place in them. The C signatures are the runtime's own."""
    import ctypes

    api, by_thread = ctypes.pythonapi, module.__name__.endswith("_ptds")
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_void_p, [ctypes.py_object]
    api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    try:
        major = importlib.import_module("cuda.bindings").__version__.split(".")[0]
        library = ctypes.CDLL(f"libcudart.so.{major}")
    except (AttributeError, OSError):
        return
    names = module.__pyx_capi__
    module._lockstep_kept = dict(names)  # the new capsules use their names
    for name, capsule in module._lockstep_kept.items():
        plain = name.lstrip("_")
        for symbol in (plain + "_ptsz", plain + "_ptds", plain) if by_thread else (plain,):
            if plain.startswith("cuda") and hasattr(library, symbol):
                address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p)
                names[name] = api.PyCapsule_New(address, api.PyCapsule_GetName(capsule), None)
                break


hooks = {
    "torch": torch_operators,
    "torch.nn.attention.varlen": packed_attention,
    "torchvision": torchvision_operators,
    "triton.testing": lambda module: _ours("lockstep_bench").testing(module),
    "triton.runtime.autotuner": lambda module: _ours("lockstep_bench").tuner(module),
    "triton.runtime._allocation": lambda module: _ours("lockstep_incomplete").allocators(module),
    "triton.runtime.jit": lambda module: _ours("lockstep_bench").launches(module),
    "torch._inductor.runtime.triton_heuristics": lambda module: _ours("lockstep_bench").compiled_launches(module),
    "torch._inductor.runtime.benchmarking": lambda module: _ours("lockstep_bench").inductor(module),
    "torch.utils.benchmark.utils.timer": lambda module: _ours("lockstep_bench").timer(module),
    "numba.cuda.decorators": numba_lines,
    "cupy": cupy_arrays,
    "cupy.cuda.compiler": cupy_lines,
    "pycuda.compiler": pycuda_ptx,
    "jax._src.hardware_utils": jax_gpu,
    "jax._src.lib": jax_toolkit,
    "cuda.bindings._internal.runtime": bindings_runtime,
    "cuda.bindings._internal.runtime_ptds": bindings_runtime,
}


class _Loader(importlib.abc.Loader):
    """The module's own loader, and then our function."""

    def __init__(self, loader, hook):
        self.loader, self.hook = loader, hook

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.hook(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        hook = hooks.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, hook)
                return spec
        return None


def install():
    if os.environ.get("LOCKSTEP_CHECK"):  # src/check/check.c: what a script holds to its end is no leak
        os.environ["LOCKSTEP_CHECK_PYTHON"] = str(os.getpid())
    sys.meta_path.insert(0, _Finder())
