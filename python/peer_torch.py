"""PyTorch as a peer of 'lockstep bench', which starts this and talks to it in lines of JSON.

It opens our device memory by its CUDA IPC handle, so that it computes on the very same bytes,
evaluates the family's expression on them, and times it with events when it is its turn.
Each request is an object with "do"; each answer has "ok", and "error" if that is false.
"""

import ctypes
import json
import sys

try:
    import torch
except ImportError:
    print(json.dumps({"ok": False, "error": "PyTorch is not installed"}), flush=True)
    sys.exit(0)

TYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i8": "int8",
         "u8": "uint8", "i16": "int16", "i32": "int32", "u32": "uint32", "i64": "int64",
         "u64": "uint64", "s8": "int8", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 64)]


class Memory:
    """Device memory of another process, for torch.as_tensor."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1",
                                         "data": (address, False), "version": 2}


COMPILED = {}


def compiled(function):
    """torch.compile of a lambda in an expression, once for each place where it stands."""
    place = function.__code__
    if place not in COMPILED:
        COMPILED[place] = torch.compile(function, dynamic=False)
    return COMPILED[place]


def mlp(x, w1, w2, b1, b2, function, gate):
    """A transformer's MLP as programs write it; weights are in x out, b1 and b2 may be None."""
    hidden = x @ w1 if b1 is None else torch.addmm(b1, x, w1)
    factor = 1
    if gate != "none":
        hidden, factor = hidden.chunk(2, 1) if gate == "halves" else (hidden[:, ::2], hidden[:, 1::2])
    if function == "silu":
        hidden = torch.nn.functional.silu(hidden)
    else:
        hidden = torch.nn.functional.gelu(hidden, approximate="tanh" if function == "gelu_tanh" else "none")
    if gate != "none":
        hidden = hidden * factor
    return hidden @ w2 if b2 is None else torch.addmm(b2, hidden, w2)


def mlp_inputs(x, tokens, dim, hidden, gate, bias, order):
    """The family mlp's buffers x, w1, w2, b1 and b2 in their shapes"""
    wide = hidden if gate == "none" else 2 * hidden
    weights = [x[1].view(dim, wide), x[2].view(hidden, dim)] if order == "rows" else [
        x[1].view(wide, dim).t(), x[2].view(dim, hidden).t()]
    return [x[0].view(tokens, dim)] + weights + (x[3:5] if bias == "yes" else [None, None])


def hadamard(x, size):
    """The fast Walsh-Hadamard transform of each `size` neighbours"""
    y, step = x.float(), 1
    while step < size:
        pair = y.view(-1, 2, step)
        y = torch.stack((pair[:, 0] + pair[:, 1], pair[:, 0] - pair[:, 1]), 1)
        step *= 2
    return (y.reshape(-1) * size ** -0.5).to(x.dtype)


def absmax_scales(x, groups, format):
    """The largest size of each group over the format's largest number"""
    largest = x.view(groups, -1).abs().amax(1).float()
    return largest / torch.full_like(largest, {"e4m3": 448, "e5m2": 57344, "int8": 127, "int4": 7}[format])


def bytes_at(address, size):
    """A tensor of bytes that lies there."""
    try:
        return torch.as_tensor(Memory(address, size), device="cuda")
    except (RuntimeError, TypeError, ValueError):  # a PyTorch without NumPy
        device = torch.device("cuda", torch.cuda.current_device())
        storage = torch._C._construct_storage_from_data_pointer(address, device, size)
        return torch.empty(0, dtype=torch.uint8, device="cuda").set_(storage)


class Bridge:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.open_handle = self.cuda.cuIpcOpenMemHandle_v2
        self.open_handle.argtypes = [ctypes.POINTER(ctypes.c_uint64), Handle, ctypes.c_uint]
        self.address = None
        self.forget()

    def forget(self):
        self.copies, self.outputs, self.code, self.scopes = [], [], None, []
        self.graph, self.launches, self.flush, self.next = None, 1, None, 0

    def hello(self, request):
        torch.cuda.set_device(request["device"])
        torch.zeros(1, device="cuda")
        return {"version": "PyTorch " + torch.__version__}

    def enter(self, request):
        self.leave(request)
        handle, address = Handle(), ctypes.c_uint64()
        ctypes.memmove(handle.bytes, bytes.fromhex(request["handle"]), 64)
        status = self.open_handle(ctypes.byref(address), handle, 1)
        if status:
            raise RuntimeError(f"the memory cannot be shared (cuIpcOpenMemHandle: {status})")
        self.address = address.value
        memory = bytes_at(self.address, request["bytes"])
        for copy in range(request["copies"]):
            self.copies.append([self.tensor(memory, copy * request["stride"], each)
                                for each in request["buffers"]])
        self.outputs = [i for i, each in enumerate(request["buffers"]) if each["output"]]
        self.code = compile(request["expression"], "<peer>", "eval")
        self.scopes = [dict(request["parameters"], torch=torch, compiled=compiled, mlp=mlp,
                            mlp_inputs=mlp_inputs, hadamard=hadamard, absmax_scales=absmax_scales, x=x) for x in self.copies]
        return {}

    @staticmethod
    def tensor(memory, base, each):
        kind = getattr(torch, TYPES[each["type"]], None) or torch.int32  # u32 of an old PyTorch
        begin = base + each["offset"]
        size = torch.empty(0, dtype=kind).element_size()
        part = memory[begin:begin + each["count"] * size]
        return part.view(kind)

    def leave(self, request):
        torch.cuda.synchronize()
        if COMPILED:
            COMPILED.clear()
            torch._dynamo.reset()
        self.forget()
        torch.cuda.empty_cache()
        if self.address is not None:
            self.cuda.cuIpcCloseMemHandle(ctypes.c_uint64(self.address))
        self.address = None
        return {}

    def evaluate(self):
        scope = self.scopes[self.next % len(self.scopes)]
        self.next += 1
        return eval(self.code, scope)

    def check(self, request):
        self.next = 0
        result = self.evaluate()
        results = result if isinstance(result, (tuple, list)) else [result]
        for place, value in zip(self.outputs, results):
            target = self.copies[0][place]
            if value is None or value.data_ptr() == target.data_ptr():
                continue
            value = value.reshape(-1).to(target.dtype)
            target[:value.numel()].copy_(value)
        torch.cuda.synchronize()
        return {}

    def sample(self):
        """Events around a sample. The GPU has something to do first, so that it does not wait for
        the launches within."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if self.graph is None and self.launches > 1:
            torch.cuda._sleep(self.launches * 40000)
        if self.flush is not None:
            self.flush.sum()  # by reading: what is written would be written back in the sample
        begin.record()
        if self.graph is not None:
            self.graph.replay()
        else:
            for _ in range(self.launches):
                self.evaluate()
        end.record()
        return begin, end

    def times(self, samples):
        torch.cuda._sleep(2000000)  # cycles: about a millisecond
        pairs = [self.sample() for _ in range(samples)]
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e-3 / self.launches for begin, end in pairs]

    def estimate(self, request):
        self.graph, self.launches, self.flush = None, 1, None
        self.times(3)
        return {"seconds": min(self.times(5))}

    def prepare(self, request):
        method = request["method"]
        self.graph, self.launches = None, request["launches"]
        short = method != "single" and request["flush"] > 0
        self.flush = torch.zeros(request["flush"] // 4, device="cuda") if short else None
        if method == "graph":
            try:
                self.capture()
            except (RuntimeError, ValueError):
                self.graph, method = None, "queue"
                torch.cuda.synchronize()
        self.next = 0
        self.times(3)
        return {"method": method}

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.evaluate()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.next = 0
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(self.launches):
                self.evaluate()
        self.graph = graph

    def time(self, request):
        return {"seconds": self.times(request["samples"])}


def main():
    bridge = None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            if bridge is None:
                if not torch.cuda.is_available():
                    raise RuntimeError("this PyTorch sees no GPU")
                bridge = Bridge()
            answer = getattr(bridge, request["do"])(request)
            answer["ok"] = True
        except Exception as error:  # whatever it is, the other side must be told
            text = str(error).strip().split("\n")[0] or type(error).__name__
            answer = {"ok": False, "error": text}
        print(json.dumps(answer), flush=True)


main()
