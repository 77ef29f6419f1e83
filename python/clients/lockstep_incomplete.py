"""lockstep_incomplete.py: memory that is incomplete, because launches were run to be timed and most of their
blocks left out (lockstep_bench.py).

The driver says where such launches, and those after them in the same section (a call of do_bench, a benchmark
function of perf_report), may have written (src/driver/sample.h). Within the section, operators that read it run,
and their results are incomplete, too. Whatever would let it out raises an error: a value for the host, a tensor
of the CPU, and outside of the section any operator or launch that reads it. A launch that writes all of it again
makes it complete.
"""

import ctypes
import gc
import sys
import weakref

_driver = ctypes.CDLL("libcuda.so.1")
_driver.lk_driver_sample.restype = ctypes.c_uint64
_driver.lk_driver_sample.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint]
_driver.lk_driver_incomplete.restype = ctypes.c_size_t
_driver.lk_driver_incomplete.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
_KEEPS, _FOLLOWS, _ALSO_READ = 1, 2, 1 << 63

_driver.lk_driver_guard.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

marked = {}  # address: Mark
_sections = []  # (instructions, rest, keeps), the innermost last
_follows = False  # a launch of the outermost section was cut, or given what is incomplete
_cut = 0  # launches, when the driver was last asked
_given = {}  # address of a storage: (weak reference, the launches of this section that it was given to)
_scratch = set()  # addresses of memory that Triton's kernels asked for


class Mark:
    def __init__(self, storage, also_read, launches):
        self.storage, self.also_read, self.launches = weakref.ref(storage, self.freed), also_read, launches
        self.address, self.size = storage.data_ptr(), storage.nbytes()

    def freed(self, _):
        if marked.get(self.address) is self:
            _forget(self.address)


def _is_tensor(value):
    torch = sys.modules.get("torch")  # Triton works without it, too
    return torch is not None and issubclass(type(value), torch.Tensor)


def _guard():
    """The driver looks after launches and copies that do not come by here: of CUDA graphs, of other packages."""
    pairs = [word for each in marked.values() for word in (each.address, each.address + max(each.size, 1) - 1)]
    _driver.lk_driver_guard((ctypes.c_uint64 * (len(pairs) + 1))(*pairs), len(pairs) // 2)


def _forget(address):
    if marked.pop(address, None) is not None:
        _guard()


def _refuse(name):
    raise RuntimeError(f"lockstep: {name} is given what a launch wrote inside do_bench or perf_report, which ran a "
                       "part of its blocks to be timed: LOCKSTEP_BENCH=whole runs all of them")


def _tell():
    instructions, rest, keeps = _sections[-1] if _sections else (0, 0, False)
    return _driver.lk_driver_sample(instructions, rest, (_KEEPS | (_FOLLOWS if _follows else 0)) if keeps else 0)


def enter(instructions, rest, keeps):
    """Launches are sampled from now on; keeps: what they wrote may be read later."""
    global _cut
    collect()
    _sections.append((instructions, rest, keeps))
    _cut = _tell()


def leave():
    """Returns whether memory was left incomplete."""
    global _follows
    collect()
    left = _follows
    _sections.pop()
    if not any(keeps for _, _, keeps in _sections):
        _follows = False
        _given.clear()
        _scratch.clear()
    _tell()
    return left


def _keeps():
    return bool(_sections) and bool(_sections[-1][0]) and _sections[-1][2]


def _is_plain(tensor):
    return tensor.is_cuda and str(tensor.layout) == "torch.strided" and not tensor.is_nested


def _holds(storage, address):
    return 0 <= address - storage.data_ptr() < max(storage.nbytes(), 1)


def _storage_at(address):
    """And the launches that it was given to. None: of no tensor that Python knows, such as a freed one."""
    for reference, launches in _given.values():
        storage = reference()
        if storage is not None and _holds(storage, address):
            return storage, launches
    for each in gc.get_objects():
        if _is_tensor(each) and _is_plain(each) and _holds(each.untyped_storage(), address):
            return each.untyped_storage(), set()
    return None, set()


def collect():
    """Waits for the section's launches, and marks what they left incomplete."""
    global _cut, _follows
    if not _keeps():
        return
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_current_stream_capturing():
        return
    _driver.cuCtxSynchronize()
    cut, _cut = _cut, _tell()
    _follows = _follows or _cut != cut
    addresses = (ctypes.c_uint64 * 64)()
    while count := _driver.lk_driver_incomplete(addresses, len(addresses)):
        _follows = True
        for word in addresses[:count]:
            address, also_read = word & ~_ALSO_READ, bool(word & _ALSO_READ)
            if not address:
                _refuse("a kernel that writes where its parameters do not tell")
            if address in _scratch:
                continue
            storage, launches = _storage_at(address)
            if storage is not None:
                mark(storage, also_read, launches)
    _tell()


def mark(storage, also_read=True, launches=()):
    before = marked.get(storage.data_ptr())
    if before is not None and before.storage() is storage:
        also_read = also_read or before.also_read
    marked[storage.data_ptr()] = Mark(storage, also_read, set(launches))
    _guard()


def _find(storage):
    found = marked.get(storage.data_ptr())
    if found is not None and found.storage() is not storage:  # freed, and the memory used again
        _forget(storage.data_ptr())
        found = None
    return found


def check(tensor, name, reads):
    """An operator is about to read or to overwrite the tensor. Returns whether it reads what is incomplete."""
    storage = tensor.untyped_storage()
    if _find(storage) is None:
        return False
    if not reads and tensor.is_contiguous() and tensor.numel() * tensor.element_size() == storage.nbytes():
        _forget(storage.data_ptr())
        return False
    if reads and not _sections:
        _refuse("aten::" + name)
    return reads


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def follow(operator, name, words, options, results):
    """The operator has read what is incomplete."""
    if any(str(tag) in ("Tag.dynamic_output_shape", "Tag.data_dependent_output") for tag in operator.tags):
        _refuse("aten::" + name)
    written = [words[at] if at < len(words) else options.get(argument.name)
               for at, argument in enumerate(operator._schema.arguments)
               if argument.alias_info is not None and argument.alias_info.is_write]
    for each in _leaves([written, results]):
        if each is not None and not (_is_tensor(each) and _is_plain(each)):
            _refuse("aten::" + name)
        if each is not None:
            mark(each.untyped_storage())


def _pieces(words):
    """What a launch is given: storages, and what tells it from others."""
    storages, rest = [], []
    for word in words:
        word = getattr(word, "base", word)  # of a tensor descriptor
        if _is_tensor(word):
            storages.append(word.untyped_storage())
            rest.append((word.data_ptr(), tuple(word.stride())))
        elif isinstance(word, (tuple, list)):
            more, others = _pieces(word)
            storages += more
            rest.append(others)
        elif word is None or isinstance(word, (bool, int, float, str)):
            rest.append(word)
    return storages, tuple(rest)


def note_launch(kernel, words):
    """A kernel of Triton's is about to be launched."""
    global _follows
    storages, rest = _pieces(words)
    launch = id(kernel), rest
    found = [(each, _find(each)) for each in storages]
    if _keeps():
        for storage in storages:
            reference, launches = _given.get(storage.data_ptr(), (None, None))
            if reference is None or reference() is not storage:
                launches = set()
                _given[storage.data_ptr()] = weakref.ref(storage), launches
            launches.add(launch)
        if not _follows and any(each for _, each in found):
            collect()
            _follows = True
            _tell()
    elif not _sections:
        for storage, each in found:
            if each is None:
                continue
            again = not each.also_read and launch in each.launches and storages.count(storage) == 1
            if not again:
                _refuse(getattr(kernel, "__name__", "a kernel"))
        for storage, each in found:  # a whole launch writes it again
            _forget(storage.data_ptr())


def allocators(module):
    """triton.runtime._allocation: memory for a kernel's own use is nobody's result."""
    set_allocator = module.set_allocator

    def set_noting(allocator):
        def allocate(*words, **options):
            buffer = allocator(*words, **options)
            if _sections:
                _scratch.add(buffer.data_ptr())
            return buffer

        set_allocator(allocate)

    module.set_allocator = set_noting
