"""profilers.py: torch.profiler and Triton's Proton, which learn from the drop-in libcupti what ran and for how long.
Prints a line that run.sh expects."""

import json
import os
import tempfile

import torch
import triton
import triton.language as tl
from torch.profiler import ProfilerActivity, profile, record_function


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


n = 1 << 20
x, y = torch.ones(n, device="cuda"), torch.ones(n, device="cuda")
out = torch.empty_like(x)
grid = (n // 1024,)
add[grid](x, y, out, n, 1024)
folder = tempfile.mkdtemp()
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
add[grid](x, y, out, n, 1024)
end.record()
torch.cuda.synchronize()
microseconds = 1e3 * start.elapsed_time(end)

def by_torch():
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        with record_function("part"):
            add[grid](x, y, out, n, 1024)
            product = x.view(1024, -1) @ y.view(1024, -1)
            product.cpu()
        torch.cuda.synchronize()
    rows = {row.key: row for row in profiler.key_averages() if row.device_type == torch.autograd.DeviceType.CPU}
    assert 0.8 * microseconds < rows["part"].device_time_total - rows["aten::mm"].device_time_total < 500
    assert 20 < rows["aten::mm"].device_time_total < 100
    profiler.export_chrome_trace(os.path.join(folder, "trace.json"))
    with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
        events = [each for each in json.load(file)["traceEvents"] if each.get("cat") in ("kernel", "gpu_memcpy")]
    assert {"add", "aten::mm", "Memcpy DtoH (Device -> Pageable)"} <= {each["name"] for each in events}, events


by_torch()
import triton.profiler as proton  # noqa: E402

proton.start(os.path.join(folder, "proton"), hook="triton")
with proton.scope("kernels"):
    for _ in range(3):
        add[grid](x, y, out, n, 1024)
with proton.scope("operators"):
    x.view(1024, -1) @ y.view(1024, -1)
torch.cuda.synchronize()
proton.finalize()
with open(os.path.join(folder, "proton.hatchet"), encoding="utf-8") as file:
    scopes = {each["frame"]["name"]: each["children"] for each in json.load(file)[0]["children"]}
(kernel,), (operator,) = scopes["kernels"], scopes["operators"]
assert kernel["frame"]["name"] == "add" and kernel["metrics"]["count"] == 3
assert 0.5 * microseconds < kernel["metrics"]["time (ns)"] / 3e3 < 1.2 * microseconds
assert operator["frame"]["name"] == "aten::mm" and 20e3 < operator["metrics"]["time (ns)"] < 100e3
by_torch()  # their clocks differ
print("profilers work")
