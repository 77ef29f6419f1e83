"""lockstep_graphs.py: PyTorch's eager operators inside a CUDA graph, on a simulated GPU.

An operator that is called while its stream is captured does not run: it becomes a node of the graph, which
calls the host and takes the time that a GPU would take (lockstep_times.py), beside the kernels, which are
captured as they are. Its results get memory now, of the sizes that PyTorch's meta kernels give; at each replay
the node calls the CPU's operator on the same bytes. See docs/clients.md.
"""

import ctypes
import itertools

import torch

import lockstep_times

_driver = ctypes.CDLL("libcuda.so.1")
_HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_driver.cuStreamGetCaptureInfo_v2.argtypes = [ctypes.c_void_p] * 6
_driver.cuUserObjectCreate.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint] * 2
_driver.lk_library_ended.restype = ctypes.c_void_p
_driver.cuGraphRetainUserObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]

META = torch.device("meta")
_numbers = itertools.count(1)
_nodes = {}  # number: Node
_captures = {}  # id of a capture: the numbers of its nodes
_failures = []  # what nodes raised since the last replay


class NotCapturable(RuntimeError):
    pass


class Random:
    """Stands for a CUDA generator among a node's arguments; each replay draws other numbers."""

    def __init__(self, generator):
        self.generator = generator


def cpu_generator(given):
    """A CPU generator for one call; the CUDA one keeps seed and place, as it would."""
    offset = given.get_offset()
    mine = torch.Generator().manual_seed((given.initial_seed() * 1000003 + offset) % (1 << 63))
    given.set_offset(offset + 4)
    return mine


def each(value):
    """The leaves of nested lists and tuples, in order."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from each(part)
    else:
        yield value


def mapped(value, function):
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(part, function) for part in value)
    return function(value)


class Node:
    """One operator of a graph; everything here is a CPU tensor, most of them over the GPU's bytes."""

    def __init__(self, name, operator, words, options):
        self.name, self.operator = name, operator
        self.words, self.options = words, options
        self.targets = []  # for each result: where it goes, or None where the operator writes it itself

    def run(self):
        def drawn(value):
            return cpu_generator(value.generator) if isinstance(value, Random) else value

        with torch.no_grad():
            results = self.operator(*mapped(self.words, drawn),
                                    **{key: mapped(value, drawn) for key, value in self.options.items()})
            for target, value in zip(self.targets, each(results)):
                if target is None:
                    continue
                if target.size() != value.size():
                    raise NotCapturable(f"lockstep: aten::{self.name} gave a result of size "
                                        f"{tuple(value.size())} in a replay, and of {tuple(target.size())} "
                                        "in the capture")
                target.copy_(value)


@_HOST
def _run(number):
    try:
        if not _failures:
            _nodes[ctypes.c_uint64.from_address(number).value].run()
    except BaseException as error:  # the replay raises it
        _failures.append(error)


def _drop_ended():
    """Nodes of graphs that are gone. A graph may be destroyed while Python shuts down, when nothing of this module
    can run: so the driver keeps a list."""
    while capture := _driver.lk_library_ended():
        for number in _captures.pop(capture, ()):
            _nodes.pop(number, None)


def _check(status, name):
    if status:
        raise RuntimeError(f"lockstep: aten::{name} cannot become a node of the CUDA graph: CUDA error "
                           f"{status}")


def _add(node, stream, cost):
    """The node goes into the graph that the stream is captured into, and lives as long."""
    _drop_ended()
    state, identity, graph = ctypes.c_int(), ctypes.c_uint64(), ctypes.c_void_p()
    _check(_driver.cuStreamGetCaptureInfo_v2(stream, ctypes.byref(state), ctypes.byref(identity),
                                             ctypes.byref(graph), None, None), node.name)
    if identity.value not in _captures:
        user = ctypes.c_void_p()
        _check(_driver.cuUserObjectCreate(ctypes.byref(user), identity.value,
                                          ctypes.cast(_driver.lk_library_end, ctypes.c_void_p), 1, 1), node.name)
        _captures[identity.value] = []
        _check(_driver.cuGraphRetainUserObject(graph, user, 1, 1), node.name)  # 1: the graph owns it
    number = next(_numbers)
    _nodes[number] = node
    _captures[identity.value].append(number)
    _check(cost.call(stream, _run, number), node.name)


def _written_only(operator):
    """Are all results arguments that the operator writes? Then there is nothing to be found out; out=
    arguments may get another size."""
    schema = operator._schema
    return not any(argument.is_out for argument in schema.arguments) and all(
        result.alias_info is not None and result.alias_info.is_write for result in schema.returns)


def _shapes(operator, run, words, options):
    """What a call gives, without its values, and which of the arguments stand for which."""
    stands = {}

    def bare(value):
        if isinstance(value, torch.Tensor):
            stand = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=META)
            stands[id(stand)] = (stand, value)
            return stand
        if isinstance(value, torch.device):
            return META
        return torch.Generator() if isinstance(value, Random) else value

    def copied(value):
        if isinstance(value, torch.Tensor):
            stand = value.clone(memory_format=torch.preserve_format)
            stands[id(stand)] = (stand, value)
            return stand
        return torch.Generator() if isinstance(value, Random) else value

    for change in bare, copied:  # not every operator has a meta kernel
        stands.clear()
        try:
            return run(*mapped(words, change),
                       **{key: mapped(value, change) for key, value in options.items()}), stands
        except Exception:
            if change is copied:
                raise


def capture(operator, name, run, call, words, options, times):
    """The operator as a node of the graph; returns its results, whose values come with each replay. times: of
    the operator."""
    if {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape} & set(operator.tags):
        raise NotCapturable(f"lockstep: aten::{name} needs values that a CUDA graph has only when it runs; a "
                            "GPU refuses it in a capture, too (cudaErrorStreamCaptureUnsupported)")

    def kept(value):  # numbers are part of the graph, as a GPU's kernel arguments are
        is_number = isinstance(value, torch.Tensor) and value.dim() == 0 and id(value) not in call.aliases
        return value.clone() if is_number and name != "copy_" else value

    words = mapped(words, kept)
    options = {key: mapped(value, kept) for key, value in options.items()}
    node = Node(name, run, words, options)
    if _written_only(operator):
        results = _given(operator, call, words, options)
    else:
        results, stands = _shapes(operator, run, words, options)
        results = mapped(results, lambda value: _place(value, stands, node, call))
    cost = times.cost(words, options, results, call.devices)
    _add(node, torch.cuda.current_stream(call.device).cuda_stream, cost)
    call.wrote_later(_written(operator, call, words, options, results))
    return results


def _place(value, stands, node, call):
    """The CUDA tensor for one result."""
    if not isinstance(value, torch.Tensor):
        node.targets.append(None)
        return value
    if id(value) in stands:
        given = call.aliases.get(id(stands[id(value)][1]))
        if given is None:  # a CPU tensor, as out=
            node.targets.append(None)
            return stands[id(value)][1]
        if given.size() == value.size():
            node.targets.append(None)
            return given
        given.resize_(value.size())
    else:
        given = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=call.device)
    node.targets.append(call.alias(given))
    return given


def _outputs(operator, call, words, options):
    """Arguments that the operator writes, as they were given, each with its alias set."""
    for at, argument in enumerate(operator._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = options.get(argument.name, words[at] if at < len(words) else None)
            yield argument.alias_info.before_set, mapped(value, lambda part: call.aliases.get(id(part), part))


def _given(operator, call, words, options):
    """The results of an operator that returns arguments that it wrote."""
    outputs = list(_outputs(operator, call, words, options))
    results = [value for result in operator._schema.returns for names, value in outputs
               if names == result.alias_info.before_set]
    return results[0] if len(results) == 1 else tuple(results) or None


def _written(operator, call, words, options, results):
    """The CUDA tensors that have new values after the call."""
    outputs = [value for _, value in _outputs(operator, call, words, options)]
    return {id(value): value for value in each([outputs, results])
            if isinstance(value, torch.Tensor) and value.device.type == "cuda"}.values()


def install(graphs, uncached):
    """torch.cuda.graphs: a replay that has nodes here waits for them, and raises what they raised."""
    graph = graphs.CUDAGraph
    begin, end, replay = graph.capture_begin, graph.capture_end, graph.replay

    def capture_begin(self, *words, **options):
        if uncached:
            raise NotCapturable("lockstep: `check` gives each tensor an allocation of its own, which a CUDA "
                                "graph cannot; LOCKSTEP_CHECK_CACHED=1 leaves memory to PyTorch's allocator")
        self._lockstep_first = next(_numbers)
        return begin(self, *words, **options)

    def capture_end(self, *words, **options):
        end(self, *words, **options)
        self._lockstep_waits = next(_numbers) > self._lockstep_first + 1

    def replay_and_wait(self):
        replay(self)
        _drop_ended()
        if getattr(self, "_lockstep_waits", True):
            _driver.cuCtxSynchronize()
        if _failures:
            error = _failures[0]
            _failures.clear()
            raise error

    graph.capture_begin, graph.capture_end, graph.replay = capture_begin, capture_end, replay_and_wait
