"""lockstep_bench.py: triton.testing.do_bench and the autotuners of Triton and torch.compile on a simulated GPU.

Modelled time is the same in each run, so that one run is as good as thousands. Counting is slow, so that a
launch is counted for SAMPLE warp instructions (src/simt/sample.h), and the blocks that ran stand for the
rest. While an autotuner tries configurations, the others do not run, because the launch that follows writes
everything again. After a do_bench of the program's own they run uncounted, unless that takes more than REST
instructions, which would be minutes. What such a launch wrote is incomplete, and whatever lets it out raises
an error (lockstep_incomplete.py). The same goes for all launches of perf_report's benchmark functions, whose
results serve only to be timed. LOCKSTEP_BENCH=whole counts and runs all blocks, LOCKSTEP_BENCH=N changes SAMPLE,
LOCKSTEP_BENCH=N:M also REST.
"""

import os
import sys
import time

import lockstep_incomplete

_wanted = os.environ.get("LOCKSTEP_BENCH") or "5000000"
_sample, _, _rest = _wanted.partition(":")
SAMPLE, REST = 0 if _sample == "whole" else int(_sample), int(_rest or 50000000)

_depth = 0  # of do_bench inside do_bench: the autotuner's inside a program's
_tuning = 0
_reporting = 0  # benchmark functions of perf_report
_said = False


def _section(keeps):
    """Launches are sampled until lockstep_incomplete.leave()."""
    lockstep_incomplete.enter(SAMPLE, REST if keeps else 0, keeps)


def _end_section():
    global _said
    if lockstep_incomplete.leave() and not _said:
        _said = True
        print("lockstep: very large launches inside do_bench or perf_report were timed by a part of their blocks; "
              "what they wrote is incomplete (LOCKSTEP_BENCH=whole runs all blocks)", file=sys.stderr)


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
    global _depth
    _section(not _tuning)
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
        _measure.nested = True
        _end_section()
    return modelled or (spent if or_spent else 0)


def _report(fn):
    def sampled(*words, **options):
        global _reporting
        import torch

        if not torch.cuda.is_initialized():
            torch.cuda.init()
        timed = torch.cuda.Event(enable_timing=True)  # launches are timed, and may be cut, while there is one
        timed.record()
        _section(True)
        _reporting += 1
        try:
            return fn(*words, **options)
        finally:
            _reporting -= 1
            _end_section()

    return sampled if SAMPLE else fn


def testing(module):
    """triton.testing"""

    def once(fn, grad_to_none, quantiles, return_mode):
        interface = module.runtime.driver.active.get_device_interface()
        return module._summarize_statistics([_measure(interface, fn, grad_to_none)], quantiles, return_mode)

    def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return once(fn, grad_to_none, quantiles, return_mode)

    def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **_):
        return once(fn, grad_to_none, quantiles, return_mode)

    run = module.Mark._run

    def run_sampled(self, *words, **options):
        """What a benchmark function launches before and beside do_bench is there for the sake of its times."""
        fn, self.fn = self.fn, _report(self.fn)
        try:
            return run(self, *words, **options)
        finally:
            self.fn = fn

    module.Mark._run = run_sampled
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
        if SAMPLE and (_depth or _reporting or lockstep_incomplete.marked):
            lockstep_incomplete.note_launch(self, [*words, *options.values()])
        return launch(self, *words, **options)

    return run


def launches(module):
    """triton.runtime.jit"""
    module.JITFunction.run = _noting(module.JITFunction.run)


def compiled_launches(module):
    """torch._inductor.runtime.triton_heuristics"""
    module.CachingAutotuner.run = _noting(module.CachingAutotuner.run)
