"""lockstep_devices.py: what a GPU refuses and the CPU's operators would accept, for lockstep_torch.py.

Operators on a simulated GPU are the CPU's (see there), which do not mind a tensor of the CPU beside one of
the GPU, or products of integers. A script that mixes them would work here and fail on a GPU: so it fails here,
with PyTorch's message. Which operators look at devices is in PyTorch's own list of operators, which its wheel
has; it is read at the first call that mixes them.
"""

import functools
import os
import re

import torch

INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# The products of floats that cuBLAS does: PyTorch's name in its message.
PRODUCTS = {"mm": "addmm_cuda", "addmm": "addmm_cuda", "bmm": "baddbmm_cuda", "baddbmm": "baddbmm_cuda",
            "addmv": "addmv_impl_cuda", "mv": "addmv_impl_cuda", "dot": "dot", "vdot": "vdot",
            "convolution": "slow_conv2d_cuda"}


@functools.lru_cache(1)
def rules():
    """Operators whose arguments may be on several devices: those that go element by element, which still take
    no more than numbers from the CPU, and all the others."""
    try:
        import torchgen

        path = os.path.join(os.path.dirname(torchgen.__file__), "packaged/ATen/native/native_functions.yaml")
        with open(path, encoding="utf-8") as file:
            entries = file.read().split("\n- func: ")[1:]
    except (ImportError, OSError):
        return None
    lists = {True: set(), False: set()}
    for entry in entries:
        said = re.search(r"\n  device_check: NoCheck(.*)", entry)
        name = re.match(r"[\w.]+", entry)[0]
        if said:
            lists["TensorIterator" in said[1] and "index" not in name].add(name)
    return lists[True], lists[False]


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_of(each)


def refuse_mixture(operator, name, words, options):
    """Tensors of several devices, where a GPU's operator refuses them. A number of the CPU is a tensor
    without a dimension."""
    elementwise, free = rules() or ((), {name})
    if name in free:
        return
    first = None
    arguments = {argument.name: value for argument, value in zip(operator._schema.arguments, words)}
    for argument, value in {**arguments, **options}.items():
        for tensor in tensors_of(value):
            if name in elementwise and tensor.dim() == 0 and tensor.device.type == "cpu":
                continue
            if first is not None and tensor.device != first:
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found at least two devices, "
                    f"{first} and {tensor.device}! (when checking argument {argument} of aten::{name})")
            first = first or tensor.device


def product_of(operator):
    """What PyTorch calls this product in its messages; None: it is none."""
    return PRODUCTS.get(operator._schema.name.partition("::")[2].rstrip("_"))


def refuse_integers(product, words):
    dtype = next((word.dtype for word in words if isinstance(word, torch.Tensor)), None)
    if dtype in INTEGERS:
        kind = torch.empty(0, dtype=dtype).type().split(".")[-1].removesuffix("Tensor")
        raise NotImplementedError(f"\"{product}\" not implemented for '{kind}'")
