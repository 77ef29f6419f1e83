"""lockstep_bench.py: triton.testing.do_bench and the autotuners of Triton and torch.compile on a simulated GPU.

Modelled time is the same in each run, so that one run is as good as thousands. Counting is slow, so that a
launch is counted for SAMPLE warp instructions (src/simt/sample.h), and the blocks that ran stand for the
rest. While an autotuner tries configurations, the others do not run, because the launch that follows writes
everything again. After a do_bench of the program's own they run uncounted, unless that takes more than REST
instructions, which would be minutes. What such a launch wrote is incomplete, and operators that read it raise
an error (`incomplete`). LOCKSTEP_BENCH=whole counts and runs all blocks, LOCKSTEP_BENCH=N changes SAMPLE,
LOCKSTEP_BENCH=N:M also REST.
"""

import ctypes
import os
import sys
import time
import weakref

_wanted = os.environ.get("LOCKSTEP_BENCH") or "5000000"
_sample, _, _rest = _wanted.partition(":")
SAMPLE, REST = 0 if _sample == "whole" else int(_sample), int(_rest or 50000000)

_driver = ctypes.CDLL("libcuda.so.1")
_driver.lk_driver_sample.restype = ctypes.c_uint64
_driver.lk_driver_sample.argtypes = [ctypes.c_uint64, ctypes.c_uint64]

incomplete = {}  # address of a storage: a weak reference to it, and the kernels that were to write it
_depth = 0  # of do_bench inside do_bench: the autotuner's inside a program's
_limits = 0, 0  # what the driver was given
_tuning = 0
_given = {}  # what launches inside do_bench were given: address: (weak reference, sum of its bytes, kernels)
_said = False


def _sum(storage):
    """Tells whether a launch changed the bytes."""
    import torch

    if not storage.nbytes():
        return 0
    alias = torch.empty(0, dtype=torch.uint8)
    from lockstep_torch import CPU, bytes_of

    alias.set_(torch._C._construct_storage_from_data_pointer(
        bytes_of(storage.data_ptr(), storage.nbytes()), CPU, storage.nbytes()))
    whole = alias[:alias.numel() // 8 * 8].view(torch.int64)
    return int(whole.sum()), int((whole[1::2] ^ whole[:-1:2]).sum()), int(alias[-8:].sum())


def note_arguments(kernel, words):
    """Before a launch: the tensors among its arguments."""
    for word in words:
        storage = word.untyped_storage() if hasattr(word, "untyped_storage") else None
        if storage is None:
            continue
        address = storage.data_ptr()
        if not _depth or not SAMPLE:
            reference, kernels = incomplete.pop(address, (None, ()))
            if reference is not None and reference() is storage and kernel not in kernels:
                incomplete[address] = reference, kernels
                _refuse(getattr(kernel, "__name__", "a kernel"))
            continue  # a whole launch writes it again
        if address not in _given or _given[address][0]() is None:
            _driver.cuCtxSynchronize()
            _given[address] = weakref.ref(storage), _sum(storage), set()
        _given[address][2].add(kernel)


def _settle(cut):
    """After the outermost do_bench: which memory that is still in use has been left incomplete?"""
    global _said
    _driver.cuCtxSynchronize()
    for address, (reference, before, kernels) in _given.items() if cut else ():
        storage = reference()
        if storage is not None and storage.data_ptr() == address and _sum(storage) != before:
            incomplete[address] = reference, kernels
    _given.clear()
    if cut and not _said:
        _said = True
        print("lockstep: do_bench timed very large launches by a part of their blocks; what they wrote is "
              "incomplete (LOCKSTEP_BENCH=whole runs all blocks)", file=sys.stderr)


def check(tensor, name, reads):
    """An operator is about to read or to overwrite the tensor."""
    storage = tensor.untyped_storage()
    reference, _ = incomplete.get(storage.data_ptr(), (None, ()))
    if reference is None:
        return
    all_written = not reads and tensor.is_contiguous() and (
        tensor.numel() * tensor.element_size() == storage.nbytes())
    if all_written or reference() is not storage:  # freed, and the memory used again
        del incomplete[storage.data_ptr()]
    elif reads:
        _refuse("aten::" + name)


def _refuse(name):
    raise RuntimeError(f"lockstep: {name} is given what a launch wrote inside do_bench, which ran a part of "
                       "its blocks to be timed: LOCKSTEP_BENCH=whole runs all of them")


def _timed(interface, fn):
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    interface.synchronize()
    start.record()
    began = time.perf_counter()
    fn()
    end.record()
    interface.synchronize()
    return start.elapsed_time(end), 1e3 * (time.perf_counter() - began)


def _measure(interface, fn, grad_to_none=None, or_spent=True):
    """Milliseconds. Caches are empty before each run of do_bench, so that the first is as good as any, unless
    it measures other things itself. What takes no modelled time has the CPU's."""
    global _depth, _limits
    outer, _limits = _limits, (SAMPLE, 0 if _tuning else REST)
    before = _driver.lk_driver_sample(*_limits)
    _depth += 1
    _measure.nested = False
    try:
        modelled, spent = _timed(interface, fn)
        if _measure.nested:
            for tensor in grad_to_none or []:
                tensor.grad = None
            modelled, spent = _timed(interface, fn)
        interface.synchronize()
    finally:
        _depth -= 1
        _measure.nested, _limits = True, outer
        cut = _driver.lk_driver_sample(*outer) - before
        if not _depth:
            _settle(0 if _tuning else cut)
    return modelled or (spent if or_spent else 0)


def testing(module):
    """triton.testing"""

    def once(fn, grad_to_none, quantiles, return_mode):
        interface = module.runtime.driver.active.get_device_interface()
        return module._summarize_statistics([_measure(interface, fn, grad_to_none)], quantiles, return_mode)

    def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return once(fn, grad_to_none, quantiles, return_mode)

    def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return once(fn, grad_to_none, quantiles, return_mode)

    module.do_bench = do_bench
    if hasattr(module, "do_bench_cudagraph"):
        module.do_bench_cudagraph = do_bench_cudagraph


def tuner(module):
    """triton.runtime.autotuner: what is written while configurations are tried, is written again."""
    bench = module.Autotuner._bench

    def run(self, *words, **options):
        global _tuning
        _tuning += 1
        try:
            return bench(self, *words, **options)
        finally:
            _tuning -= 1

    module.Autotuner._bench = run


def inductor(module):
    """torch._inductor.runtime.benchmarking: how torch.compile chooses among kernels, by a hundred runs of each
    with the L2 cleared by an operator in between. What they write is written again."""
    import torch

    def benchmark_gpu(self, function, *_, grad_to_none=None, return_mode="min", **__):
        global _tuning
        _tuning += 1
        try:
            milliseconds = _measure(torch.cuda, function, grad_to_none)
        finally:
            _tuning -= 1
        return [milliseconds] if return_mode == "all" else milliseconds

    for name in "TritonBenchmarker", "InductorBenchmarker", "TorchProfilerBenchmarker":
        for method in "benchmark_gpu", "benchmark_gpu_with_cuda_graph":
            if hasattr(getattr(module, name, None), method):
                setattr(getattr(module, name), method, benchmark_gpu)


def timer(module):
    """torch.utils.benchmark.utils.timer: statements that use the GPU take modelled time, which one run tells; a
    thousand runs of a statement would not end on the machine."""
    import torch
    from torch.utils.benchmark.utils import common

    def wrap(method):
        def run(self, *words, **options):
            if not torch.cuda.is_initialized():
                return method(self, *words, **options)
            modelled = _measure(torch.cuda, lambda: self._timeit(1), or_spent=False)
            if modelled:  # with what the setup takes, which is run each time
                modelled = _measure(torch.cuda, lambda: self._timeit(2), or_spent=False) - modelled
            if modelled <= 0:
                return method(self, *words, **options)
            return common.Measurement(number_per_run=1, raw_times=[modelled / 1e3], task_spec=self._task_spec)

        return run

    for name in "timeit", "blocked_autorange", "adaptive_autorange", "autorange":
        if hasattr(module.Timer, name):
            setattr(module.Timer, name, wrap(getattr(module.Timer, name)))


def _noting(launch):
    def run(self, *words, **options):
        if _depth or incomplete:
            note_arguments(self, [*words, *options.values()])
        return launch(self, *words, **options)

    return run


def launches(module):
    """triton.runtime.jit"""
    module.JITFunction.run = _noting(module.JITFunction.run)


def compiled_launches(module):
    """torch._inductor.runtime.triton_heuristics"""
    module.CachingAutotuner.run = _noting(module.CachingAutotuner.run)
