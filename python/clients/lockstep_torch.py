"""lockstep_torch.py: PyTorch's CUDA operators on a simulated GPU.

Eager operators of the CUDA wheel are machine code, which no PTX machine can run. The memory of a
simulated GPU is host memory, so here they are registered anew, for the dispatch key CUDA: each waits
for the device, sees its tensors as CPU tensors over the same bytes, and calls the CPU's operator.
Autograd, autocast, views and hooks lie above that key and stay PyTorch's own; kernels that a program
brings itself (Triton's, NVRTC's) run on the machine. See docs/clients.md.
"""

import ctypes
import os

import torch

import lockstep_devices
import lockstep_graphs
import lockstep_incomplete
import lockstep_times
from lockstep_operators import INSTEAD

CPU = torch.device("cpu")

# These need no kernel: PyTorch's own go through the CUDA runtime.
KEPT = {
    "empty.memory_format", "empty_strided", "as_strided", "view", "view_as_real", "view_as_complex",
    "_reshape_alias", "unfold", "_efficientzerotensor", "set_", "set_.source_Storage", "set_.source_Tensor",
    "set_.source_Storage_storage_offset", "resize_", "record_stream",
    "is_pinned", "_pin_memory", "is_set_to", "_debug_has_internal_overlap", "_has_same_storage_numel",
    "_cudnn_init_dropout_state", "alias", "detach", "squeeze", "squeeze.dim", "squeeze.dims",
    "unsqueeze", "expand", "permute", "transpose.int", "select.int", "slice.Tensor", "split.Tensor",
    "split_with_sizes", "unbind.int", "t", "diagonal", "lift", "lift_fresh", "_nested_view_from_buffer",
}
# The same for sparse tensors: their parts, and what is made of operators on the parts.
KEPT_SPARSE = {
    "_indices", "_values", "indices", "values", "_nnz", "sparse_dim", "dense_dim", "_dimI", "_dimV",
    "is_coalesced", "_coalesced_", "crow_indices", "col_indices", "ccol_indices", "row_indices",
    "_sparse_coo_tensor_with_dims_and_tensors", "_sparse_coo_tensor_with_dims", "empty.memory_format",
    "sparse_resize_", "sparse_resize_and_clear_", "resize_", "resize_as_sparse_", "copy_",
    "copy_sparse_to_sparse_", "clone", "empty_like",
}
KEPT_NESTED = {
    "_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets", "values", "alias",
    "detach", "unbind.int", "view", "transpose.int", "squeeze", "squeeze.dim", "squeeze.dims", "unsqueeze",
    "select.int", "narrow", "chunk", "split_with_sizes", "is_same_size", "copy_", "_fused_sdp_choice",
}
KEPT_QUANTIZED = {
    "empty.memory_format", "empty_strided", "empty_like", "empty_quantized", "_empty_affine_quantized",
    "_empty_per_channel_affine_quantized", "as_strided", "view", "_reshape_alias", "unfold", "squeeze",
    "squeeze.dim", "squeeze.dims", "unsqueeze", "set_.source_Storage_storage_offset", "q_scale", "q_zero_point",
    "qscheme", "q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis",
}
# Without a kernel for CUDA of their own, they would choose machine code by the device.
ADDED = ["copy_", "convolution", "convolution_overrideable", "convolution_backward",
         "convolution_backward_overrideable", "native_batch_norm", "native_batch_norm_backward",
         "_native_batch_norm_legit", "_native_batch_norm_legit.no_stats"]

# What these are given is written without being read.
OVERWRITES = {"fill_.Scalar", "zero_", "normal_", "uniform_", "random_", "random_.from", "random_.to"}

LARGE, SPARE = 64 << 20, 2 << 30  # bytes

_driver = ctypes.CDLL("libcuda.so.1")
_driver.lk_driver_bytes.restype = ctypes.c_void_p
_driver.lk_driver_bytes.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
_driver.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
_driver.cuMemcpyHtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
_checked = bool(os.environ.get("LOCKSTEP_CHECK"))
_storage = torch._C._construct_storage_from_data_pointer


class Unsupported(NotImplementedError):
    pass


def wait(name, devices):
    """For what other streams, and other devices of the operator's, still do."""
    status = 0
    for device in devices:
        with on(device):
            status = status or _driver.lk_library_settle()
    if status:
        raise RuntimeError(f"lockstep: the device failed before aten::{name}: CUDA error {status}")


class on:
    """The device's context is the current one."""

    def __init__(self, device):
        self.index = -1 if device.index is None or device.type != "cuda" else device.index

    def __enter__(self):
        self.before = torch._C._cuda_maybeExchangeDevice(self.index) if self.index >= 0 else -1

    def __exit__(self, *_):
        if self.before >= 0:
            torch._C._cuda_maybeExchangeDevice(self.before)


def bytes_of(address, size):
    """Where the host may touch device memory."""
    place = _driver.lk_driver_bytes(address, size)
    if not place:
        raise RuntimeError(f"lockstep: {size} bytes at {address:#x} are not device memory")
    return place


def wrote(tensor):
    """The checker learns what was written here from a copy of the bytes onto themselves."""
    if not is_plain(tensor):
        return
    storage = tensor.untyped_storage()
    if _checked and storage.nbytes():
        _driver.cuMemcpyHtoD_v2(storage.data_ptr(), bytes_of(storage.data_ptr(), storage.nbytes()),
                                storage.nbytes())


def wrote_later(tensor, stream):
    """The same as a node of the graph that the stream is captured into."""
    storage = tensor.untyped_storage()
    if _checked and storage.nbytes():
        _driver.cuMemcpyHtoDAsync_v2(storage.data_ptr(), bytes_of(storage.data_ptr(), storage.nbytes()),
                                     storage.nbytes(), stream)


def is_plain(tensor):
    return tensor.layout == torch.strided and not tensor.is_nested


def empty_quantized(tensor, device):
    """As the tensor, with its scales and another memory."""
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        return torch._empty_affine_quantized(tensor.size(), scale=tensor.q_scale(), dtype=tensor.dtype,
                                             zero_point=tensor.q_zero_point(), device=device)
    return torch._empty_per_channel_affine_quantized(
        tensor.size(), scales=tensor.q_per_channel_scales().to(device), dtype=tensor.dtype, device=device,
        zero_points=tensor.q_per_channel_zero_points().to(device), axis=tensor.q_per_channel_axis())


def of_parts(tensor, part):
    """A sparse or nested tensor of the same kind, made of what `part` gives for each of its parts."""
    if tensor.is_nested:
        return torch._nested_view_from_buffer(part(tensor.values()), tensor._nested_tensor_size(),
                                              tensor._nested_tensor_strides(),
                                              tensor._nested_tensor_storage_offsets())
    if tensor.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(part(tensor._indices()), part(tensor._values()), tensor.size(),
                                       check_invariants=False, is_coalesced=tensor.is_coalesced())
    by_rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
    ends, places = ((tensor.crow_indices(), tensor.col_indices()) if by_rows else
                    (tensor.ccol_indices(), tensor.row_indices()))
    return torch.sparse_compressed_tensor(part(ends), part(places), part(tensor.values()), tensor.size(),
                                          layout=tensor.layout, check_invariants=False)


def on_cpu(tensor):
    """The same bytes, as a CPU tensor."""
    if not is_plain(tensor):
        return of_parts(tensor, on_cpu)
    if tensor._is_zerotensor():
        return torch._efficientzerotensor(tensor.size(), dtype=tensor.dtype)
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size >= LARGE and host_memory() < size + SPARE:
        torch.cuda.empty_cache()
    if tensor.numel() == 0 or size == 0:
        return empty_quantized(tensor, CPU) if tensor.is_quantized else torch.empty_strided(
            tensor.size(), tensor.stride(), dtype=tensor.dtype)
    alias = empty_quantized(tensor, CPU) if tensor.is_quantized else torch.empty(0, dtype=tensor.dtype)
    alias.set_(_storage(bytes_of(storage.data_ptr(), size), CPU, size), tensor.storage_offset(),
               tensor.size(), tensor.stride())
    # Operators that PyTorch lets see such views, as products and copies, read the bits.
    alias = torch._conj(alias) if tensor.is_conj() else alias
    return torch._neg_view(alias) if tensor.is_neg() else alias


def fill(tensor, source, size):
    """size bytes from a CPU tensor into a CUDA tensor; both begin at their first element."""
    if size:
        ctypes.memmove(bytes_of(tensor.data_ptr(), size), source.data_ptr(), size)
        wrote(tensor)


def on_device(tensor, device):
    """A copy of a CPU tensor in device memory."""
    if not is_plain(tensor):
        return of_parts(tensor, lambda part: on_device(part, device))
    if tensor._is_zerotensor():
        return torch._efficientzerotensor(tensor.size(), dtype=tensor.dtype, device=device)
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_quantized:
        tensor = tensor.contiguous()
        copy = empty_quantized(tensor, device)
    else:
        copy = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)
    span = 1 + sum((n - 1) * step for n, step in zip(tensor.size(), tensor.stride()))
    fill(copy, tensor, span * tensor.element_size() if tensor.numel() else 0)
    return copy


class Call:
    """One call: what stands for what, on the way in and on the way out."""

    def __init__(self, name):
        self.name = name
        self.captured = torch.cuda.is_current_stream_capturing()
        self.reads = name not in OVERWRITES
        self.incomplete = False  # it reads what a sampled launch wrote
        self.device = None
        self.devices = []  # of the tensors, each once, in order
        self.aliases = {}  # id of the CPU tensor: the CUDA tensor
        self.keep = []
        self.generators = []

    def enter(self, value):
        if isinstance(value, torch.Tensor):
            if value.device not in self.devices:
                self.devices.append(value.device)
            if value.device.type != "cuda":
                return value
            self.device = self.device or value.device
            if lockstep_incomplete.marked and is_plain(value):
                self.incomplete |= lockstep_incomplete.check(value, self.name, self.reads)
            return self.alias(value)
        if isinstance(value, torch.device):
            if value.type != "cuda":
                return value
            self.device = self.device or value
            return CPU
        if isinstance(value, (list, tuple)):
            return type(value)(self.enter(each) for each in value)
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            return self.generator(value)
        return value

    def alias(self, tensor):
        alias = on_cpu(tensor)
        self.aliases[id(alias)] = tensor
        self.keep.append(alias)
        return alias

    def wrote_later(self, tensors):
        stream = torch.cuda.current_stream(self.device).cuda_stream
        for tensor in tensors:
            wrote_later(tensor, stream)

    def generator(self, given):
        return lockstep_graphs.Random(given) if self.captured else lockstep_graphs.cpu_generator(given)

    def leave(self, value):
        if isinstance(value, torch.Tensor):
            if value.device.type != "cpu":
                return value
            given = self.aliases.get(id(value))
            if given is None:
                return on_device(value, self.device)
            if not is_plain(given):
                given.data = on_device(value, self.device)
                return given
            if given.size() != value.size():  # out= of another size
                given.resize_(value.size())
                fill(given, value.contiguous(), value.numel() * value.element_size())
            else:
                wrote(given)
            return given
        if isinstance(value, (list, tuple)):
            return type(value)(self.leave(each) for each in value)
        return value


def numbers_to_tensors(words, places):
    """PyTorch hands a number that stands where a tensor may be (x % 127) on as it is; here it becomes
    a tensor of the type that the two give together."""
    beside = next((word for word in words if isinstance(word, torch.Tensor)), None)
    for at in places:
        if at < len(words) and isinstance(words[at], (bool, int, float, complex)):
            dtype = None if beside is None else torch.result_type(beside, words[at])
            words[at] = torch.scalar_tensor(words[at], dtype=dtype)


def kernel_for(operator, name, on_tensors, is_strict):
    tensors = [at for at, argument in enumerate(operator._schema.arguments)
               if not argument.kwarg_only and str(argument.type) == "Tensor"]
    writes = any(argument.alias_info is not None and argument.alias_info.is_write
                 for argument in operator._schema.arguments) and _checked
    product = lockstep_devices.product_of(operator) if is_strict else None
    draws = any(argument.name == "generator" for argument in operator._schema.arguments)
    times = lockstep_times.Times(operator, name)

    def run(*words, **options):
        lockstep_incomplete.collect()
        call = Call(name)
        given, more = words, options
        words = [call.enter(word) for word in words]
        options = {key: call.enter(value) for key, value in options.items()}
        if is_strict and len(call.devices) > 1:
            lockstep_devices.refuse_mixture(operator, name, given, more)
        if product:
            lockstep_devices.refuse_integers(product, words)
        numbers_to_tensors(words, tensors)
        if call.device is None:
            call.device = torch.device("cuda", torch.cuda.current_device())
        if draws and options.get("generator") is None:
            index = call.device.index if call.device.index is not None else torch.cuda.current_device()
            if not torch.cuda.default_generators:
                torch.cuda.init()
            options["generator"] = call.generator(torch.cuda.default_generators[index])
        if options.get("pin_memory"):
            options["pin_memory"] = False
        if call.captured:
            return lockstep_graphs.capture(operator, name, on_tensors, call, words, options, times)
        wait(name, [each for each in call.devices if each.type == "cuda"] or [call.device])
        asked = given
        given = on_tensors(*words, **options)
        result = call.leave(given)
        if call.incomplete:
            lockstep_incomplete.follow(operator, name, asked, more, result)
        for alias in call.keep if writes else ():
            wrote(call.aliases[id(alias)])
        with on(call.device):
            stream = torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice())
            times.add(stream, words, options, given, call.devices)
        return result

    return run


def no_kernel(name):
    def run(*words, **options):
        raise Unsupported(f"lockstep: aten::{name} is machine code that a simulated GPU cannot run, and "
                          "the CPU has no kernel for it; docs/clients.md says what there is instead")

    return run


# The keys to register for, the CPU's for each, and what keeps its kernel.
KEYS = {
    "CUDA": ("CPU", KEPT),
    "SparseCUDA": ("SparseCPU", KEPT_SPARSE),
    "SparseCsrCUDA": ("SparseCsrCPU", KEPT_SPARSE),
    "NestedTensorCUDA": ("NestedTensorCPU", KEPT_NESTED),
    "QuantizedCUDA": ("QuantizedCPU", KEPT_QUANTIZED),
}


def has_kernel(name, key):
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return any(has(name, each) for each in
               (key, "CompositeExplicitAutograd", "CompositeImplicitAutograd",
                "CompositeExplicitAutogradNonFunctional"))


def register(space="aten"):
    """All of a namespace's operators that have a kernel for CUDA and one for the CPU."""
    library = torch.library.Library(space, "IMPL")
    added = ADDED if space == "aten" else []
    for key, (cpu, kept) in KEYS.items():
        names = [name.partition("::")[2] for name in
                 torch._C._dispatch_get_registrations_for_dispatch_key(key) if name.startswith(space + "::")]
        for name in names + (added if key == "CUDA" else added[:1] if key == "QuantizedCUDA" else []):
            base, _, overload = name.partition(".")
            operator = getattr(getattr(getattr(torch.ops, space), base, None), overload or "default", None)
            if name in kept or operator is None:
                continue
            instead = INSTEAD.get(name) if key == "CUDA" and space == "aten" else None
            if instead or has_kernel(f"{space}::{name}", cpu):
                kernel = kernel_for(operator, name, instead or operator, space == "aten" and key == "CUDA")
            else:
                kernel = no_kernel(name)
            library.impl(name, kernel, key, allow_override=True)
    return library


def host_memory():
    """Bytes that the host can still give."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as used:
            free = min(free, int(most.read()) - int(used.read()))
    except (OSError, ValueError):  # no control group, or one without a limit
        pass
    return free


def limit_memory():
    """PyTorch keeps what is freed until the GPU's memory is full, and the host's is full earlier: it is told
    of a limit, at which it gives cached memory back."""
    total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
    share = 0.7 * host_memory() / total
    if share < 1:
        torch.cuda.set_per_process_memory_fraction(max(share, 1e-3))


def without_cudnn(module):
    """cuDNN is machine code, and stays off where a script turns it on, as many do that need not."""
    torch.backends.cudnn.enabled = False
    off = module._C._set_cudnn_enabled
    module._C._set_cudnn_enabled = lambda enabled: off(False)
    cudnn = type(torch.backends.cudnn)
    if hasattr(cudnn, "enabled"):
        cudnn.enabled = torch.backends.ContextProp(module._C._get_cudnn_enabled, module._C._set_cudnn_enabled)


def extension_lines():
    """Extensions that are built under `profile` or `check` (load_inline) have line numbers, in a folder of their
    own: PyTorch does not build again what it finds there."""
    folder = os.environ.get("TORCH_EXTENSIONS_DIR")
    if folder and (_checked or os.environ.get("LOCKSTEP_PROFILE")):
        os.environ["TORCH_EXTENSIONS_DIR"] = os.path.join(folder, "lines")
        os.environ["NVCC_APPEND_FLAGS"] = os.environ.get("NVCC_APPEND_FLAGS", "") + " -lineinfo"


def install(module):
    extension_lines()
    # Virtual machines announce AMX and then refuse it: oneDNN would end the program there.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    without_cudnn(module)
    # Attention by plain products: the fused ones are machine code.
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    # The checker knows the exact size of an allocation, but not of a tensor in PyTorch's cached blocks.
    uncached = _checked and not os.environ.get("LOCKSTEP_CHECK_CACHED")
    if uncached:
        os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    lockstep_graphs.install(module.cuda.graphs, "PYTORCH_NO_CUDA_MEMORY_CACHING" in os.environ)
    module.cuda._lazy_call(limit_memory)
    module._lockstep_library = register()
    if module.distributed.is_available():
        import lockstep_collectives

        lockstep_collectives.install(module.distributed.distributed_c10d)


def install_vision(module):
    """torchvision's wheel has machine code only, and the CPU's kernels."""
    module._lockstep_library = register("torchvision")
