"""lockstep_collectives.py: torch.distributed's NCCL on a simulated GPU.

NCCL is machine code. Gloo, which every wheel has, does the same operations on the bytes of the GPU, so a
group that asks for NCCL gets Gloo under NCCL's name: `torchrun` with one process per simulated GPU works.
In releases of PyTorch that do not make it by these functions, NCCL's calls fail.
"""

import torch

from lockstep_torch import on_cpu, wait, wrote

CREATORS = ("_create_nccl_process_group", "_create_nccl2_process_group", "_create_nccl_lazy_process_group")


def _creator(module):
    gloo = module._create_gloo_process_group

    def create(options, backend_options):
        if options.process_group is not None:  # Gloo's groups are not split from one another
            options.process_group.bound_device_id = None
        return gloo(options, None)

    return create


def _on_bytes(module, name, writes):
    """Gloo passes tensors of the CPU to the network, but takes a GPU's addresses for its own."""

    def run(tensors, group, *words):
        wait(name, {tensor.device for tensor in tensors})
        backend = module.ProcessGroup.unbox(group)._get_backend(tensors[0].device)
        for tensor in tensors if writes else ():
            wrote(tensor)  # now: what Gloo receives can be waited for once, which the caller does
        return getattr(backend, name)([on_cpu(tensor) for tensor in tensors], *words).boxed()

    return run


def install(module):
    """torch.distributed.distributed_c10d"""
    create = _creator(module) if hasattr(module, "_create_gloo_process_group") else None
    for name in CREATORS if create else ():
        if hasattr(module, name):
            setattr(module, name, create)
    library = torch.library.Library("c10d", "IMPL")
    for name, method, writes in (("send", "send", False), ("recv_", "recv", True),
                                 ("recv_any_source_", "recv_anysource", True)):
        library.impl(name, _on_bytes(module, method, writes), "CUDA", allow_override=True)
    module._lockstep_library = library
