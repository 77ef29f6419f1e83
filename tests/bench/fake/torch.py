"""As much of PyTorch as python/peer_torch.py uses, without a GPU: tensors are shapes only, and
events report 1 ms for each evaluation between them. For tests/bench/run.sh."""

import contextlib

__version__ = "0.fake"
evaluations = 0  # so far
capturing = False


class dtype:
    def __init__(self, size):
        self.size = size


float32, float64, bfloat16 = dtype(4), dtype(8), dtype(2)
int32, int64, uint8 = dtype(4), dtype(8), dtype(1)


class Tensor:
    def __init__(self, address, count, kind):
        self.address, self.count, self.dtype = address, count, kind

    def __getitem__(self, part):
        begin, end, _ = part.indices(self.count)
        return Tensor(self.address + begin * self.dtype.size, end - begin, self.dtype)

    def view(self, kind):
        assert self.count * self.dtype.size % kind.size == 0 and self.address % kind.size == 0
        return Tensor(self.address, self.count * self.dtype.size // kind.size, kind)

    def element_size(self):
        return self.dtype.size

    def numel(self):
        return self.count

    def data_ptr(self):
        return self.address

    def reshape(self, _):
        return self

    def to(self, kind):
        return Tensor(self.address, self.count, kind)

    def copy_(self, other):
        assert self.count == other.count and self.dtype is other.dtype

    def sum(self):
        return self


def zeros(count, device=None):
    return Tensor(1 << 20, count, float32)


def empty(count, dtype=float32, device=None):
    return Tensor(1 << 20, count, dtype)


def as_tensor(memory, device):
    face = memory.__cuda_array_interface__
    assert face["typestr"] == "|u1" and device == "cuda"
    return Tensor(face["data"][0], face["shape"][0], uint8)


def count_one(x, waits=False):
    """The expression that tests use."""
    global evaluations
    if waits and capturing:
        raise RuntimeError("operation not permitted when stream is capturing")
    evaluations += 1
    return Tensor(2 << 20, 1, float32)


class cuda:
    class Event:
        def __init__(self, enable_timing):
            self.at = None

        def record(self):
            self.at = evaluations

        def elapsed_time(self, end):
            return float(end.at - self.at)

    class Stream:
        def wait_stream(self, other):
            pass

    class CUDAGraph:
        def replay(self):
            global evaluations
            evaluations += self.size

    @staticmethod
    @contextlib.contextmanager
    def graph(graph):
        global capturing, evaluations
        before, capturing = evaluations, True
        try:
            yield
            graph.size = evaluations - before
        finally:
            capturing = False

    @staticmethod
    def stream(stream):
        return contextlib.nullcontext()

    current_stream = staticmethod(Stream)
    is_available = staticmethod(lambda: True)
    set_device = synchronize = empty_cache = _sleep = staticmethod(lambda *_: None)
