"""lockstep_times.py: what PyTorch's eager operators would take on the GPU, for lockstep_torch.py.

They run on the CPU (see there). By roofline, a GPU takes as long as the slower of its memory, which reads the
operands and writes the results once, and its arithmetic, for products and convolutions by PyTorch's own
table of formulas (torch.utils.flop_counter). The driver adds what any kernel costs and puts the time into the
stream, so that events and do_bench see it and `lockstep profile` lists the operator.
"""

import ctypes
import typing

import torch

(F32, F64, TENSOR_F64, TENSOR_TF32, TENSOR_F16, TENSOR_F8, TENSOR_INT8, TO_DEVICE,
 FROM_DEVICE) = range(9)  # src/driver/library_call.h

_driver = ctypes.CDLL("libcuda.so.1")
_driver.lk_library_time.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.c_double,
                                    ctypes.c_int]
_driver.lk_library_call.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_driver.cuStreamSynchronize.argtypes = [ctypes.c_void_p]

# They read no more of a table than they give.
GATHERS = {"index", "_unsafe_index", "index_select", "embedding", "gather", "take", "_embedding_bag",
           "_embedding_bag_forward_only", "nll_loss_forward", "nll_loss2d_forward"}
# They write no more of a tensor than the rest of the arguments has.
SCATTERS = {"index_put_", "_index_put_impl_", "index_add_", "index_copy_", "scatter_", "scatter_add_",
            "scatter_reduce_", "index_fill_", "put_"}
# They do not read what they write.
FILLS = {"fill_", "zero_", "copy_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_"}
FACTORISATIONS = ("linalg_", "_linalg_", "cholesky", "_cholesky", "lu_", "ormqr", "geqrf", "triangular_solve")
WAITS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors(each)


def size_of(tensor):
    """Bytes that it has in memory: an expanded tensor has fewer elements than its sizes say."""
    if tensor.layout != torch.strided or tensor.is_nested:
        return size_of(tensor._values() if tensor.layout == torch.sparse_coo else tensor.values())
    if 0 not in tensor.stride():
        return tensor.nbytes
    count = tensor.numel()
    for size, step in zip(tensor.size(), tensor.stride()):
        if step == 0 and size > 1:
            count //= size
    return count * tensor.element_size()


def product_unit(name, dtype):
    """The peak that products of this type count against."""
    if dtype in (torch.float64, torch.complex128):
        return TENSOR_F64
    if dtype in (torch.float16, torch.bfloat16):
        return TENSOR_F16
    if not dtype.is_floating_point and not dtype.is_complex:
        return TENSOR_INT8
    if dtype.itemsize == 1:
        return TENSOR_F8
    backend = torch.backends.cudnn if "convolution" in name else torch.backends.cuda.matmul
    return TENSOR_TF32 if backend.allow_tf32 else F32


class Library(ctypes.Structure):
    """struct lk_library_call"""

    _fields_ = [("name", ctypes.c_void_p), ("function", ctypes.c_void_p), ("data", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("operations", ctypes.c_double), ("bytes", ctypes.c_double),
                ("unit", ctypes.c_int)]


class Cost(typing.NamedTuple):
    name: ctypes.Array
    operations: float
    bytes: float
    unit: int

    def call(self, stream, function, number):
        """The work itself goes into the stream, too: function, which is given the number's address."""
        data = ctypes.c_uint64(number)
        call = Library(ctypes.addressof(self.name), ctypes.cast(function, ctypes.c_void_p),
                       ctypes.addressof(data), ctypes.sizeof(data), self.operations, self.bytes, self.unit)
        return _driver.lk_library_call(stream, ctypes.byref(call))


class Times:
    """Of one operator."""

    def __init__(self, operator, name):
        self.operator, self.base = operator, name.partition(".")[0]
        self.formula = False  # not looked for yet
        self.name, self.to_device, self.from_device = (
            ctypes.create_string_buffer(f"aten::{self.base}{way}".encode())
            for way in ("", " to the device", " from the device"))
        for each in self.name, self.to_device, self.from_device:  # the driver's timeline keeps the names
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
        arguments = operator._schema.arguments
        self.is_written = [argument.alias_info is not None and argument.alias_info.is_write
                           for argument in arguments]
        self.outs = [argument.name for argument in arguments if argument.is_out]
        self.host_waits = self.base == "_local_scalar_dense" or bool(WAITS & set(operator.tags))

    def operations(self, words, options, result):
        """How many, and whether tensor cores could do them."""
        if self.formula is False:
            from torch.utils.flop_counter import flop_registry

            self.formula = flop_registry.get(self.operator.overloadpacket)
        if self.formula is not None:
            try:
                return float(self.formula(*words, **options, out_val=result)), True
            except Exception:  # not a form that the table has: what memory takes is left
                return 0.0, False
        if self.base.startswith(FACTORISATIONS):
            largest = max(tensors((words, result)), key=torch.Tensor.numel, default=None)
            if largest is not None and largest.dim() >= 2:
                return 2.0 * largest.numel() * min(largest.shape[-2:]), False
        return 0.0, False

    def bytes(self, words, options, result):
        given = [word for at, word in enumerate(words) if not (at == 0 and self.base in FILLS)]
        given += [value for key, value in options.items() if key not in self.outs]
        reads = list({(each.data_ptr(), each.numel()) if each.layout == torch.strided and not each.is_nested
                      else id(each): size_of(each) for each in tensors(given)}.values())
        made = {id(each): size_of(each) for each in tensors(result)} or {
            id(each): size_of(each) for word, writes in zip(words, self.is_written) if writes
            for each in tensors(word)}
        writes = sum(made.values())
        if made and not writes:
            return 0
        if self.base in GATHERS:
            return sum(min(size, writes) for size in reads) + writes
        if self.base in SCATTERS:
            return 2 * sum(reads[1:])
        return sum(reads) + writes

    def cost(self, words, options, result, devices):
        """Of this call; of the tensors, only types and sizes are looked at."""
        if self.base == "copy_" and any(each.type == "cpu" for each in devices):
            to_device = devices[0].type == "cuda"
            return Cost(*((self.to_device, 0, size_of(words[0]), TO_DEVICE) if to_device else
                          (self.from_device, 0, size_of(words[0]), FROM_DEVICE)))
        if self.base == "_local_scalar_dense":
            return Cost(self.from_device, 0, size_of(words[0]), FROM_DEVICE)
        size = self.bytes(words, options, result)
        operations, is_product = self.operations(words, options, result) if size else (0.0, False)
        dtype = next((each.dtype for each in tensors(words)), torch.float32)
        unit = product_unit(self.base, dtype) if is_product else F64 if dtype == torch.float64 else F32
        return Cost(self.name, operations, size, unit)

    def add(self, stream, words, options, result, devices):
        """The call has been made: its time goes into the stream."""
        cost = self.cost(words, options, result, devices)
        if cost.bytes:  # a GPU has no kernel for nothing
            _driver.lk_library_time(stream, cost.name, cost.operations, cost.bytes, cost.unit)
        is_blocking = cost.unit == FROM_DEVICE and not (words[2:] and words[2])  # copy_'s non_blocking
        if is_blocking or self.host_waits:
            _driver.cuStreamSynchronize(stream)
