"""lockstep_scaled.py: products of 8-bit floats with scales, for lockstep_operators.py.

PyTorch's CPU kernels leave them to oneDNN, which has them on few machines. Here both sides are scaled in single
precision, multiplied and rounded once. Scales are single floats, one for the tensor, for each line or for each
block; the 32-element blocks with 8-bit scales are of GPUs newer than Hopper.
"""

import torch

TENSOR, LINES, BLOCKS_OF_ROWS, BLOCKS = 0, 1, 4, 5  # torch.nn.functional.ScalingType


def _spread(scale, shape):
    """A scale for each element: each entry stands for as many as the shape has to one."""
    if scale.numel() == 1:
        return scale.reshape(1, 1)
    if scale.dtype != torch.float32 or scale.dim() != 2:
        raise RuntimeError(f"lockstep: scales of type {scale.dtype} and size {tuple(scale.size())} are not "
                           f"for a matrix of {tuple(shape)} on this GPU")
    for dim in 0, 1:
        each = 1 if scale.size(dim) in (1, shape[dim]) else 128
        if each > 1:
            scale = scale.repeat_interleave(each, dim).narrow(dim, 0, shape[dim])
    return scale


def _scaled(matrix, scale):
    return matrix.float() * _spread(scale, matrix.shape)


def _finish(product, bias, scale, dtype, given):
    product = product if bias is None else product + bias.float()
    dtype = dtype or given
    return (product if scale is None else product * scale).to(dtype)


def product(a, b, scale_a, scale_b, bias=None, scale_result=None, dtype=None, fast=False):
    return _finish(_scaled(a, scale_a) @ _scaled(b, scale_b), bias, scale_result, dtype, a.dtype)


def product_out(a, b, scale_a, scale_b, bias=None, scale_result=None, dtype=None, fast=False, *, out):
    return out.copy_(product(a, b, scale_a, scale_b, bias, scale_result, dtype or out.dtype))


def _of_recipe(scales, recipes, matrix, across):
    """The scales as `product` has them; `across`: of the right matrix, whose lines are columns."""
    if len(scales) != 1 or recipes[0] not in (TENSOR, LINES, BLOCKS_OF_ROWS, BLOCKS):
        raise RuntimeError("lockstep: these scales are for GPUs newer than Hopper")
    scale = scales[0]
    if recipes[0] == LINES:
        return scale.reshape(1, -1) if across else scale.reshape(-1, 1)
    if recipes[0] == TENSOR:
        return scale
    one = recipes[0] == BLOCKS_OF_ROWS
    blocks = [-(-size // 128) for size in matrix.shape]
    wanted = [blocks[0], matrix.size(1) if one else blocks[1]] if across else [
        matrix.size(0) if one else blocks[0], blocks[1]]
    return scale if list(scale.shape) == wanted else scale.t()


def product_of_recipes(a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, dtype,
                       dims=(), fast=False):
    return product(a, b, _of_recipe(scale_a, recipe_a, a, False), _of_recipe(scale_b, recipe_b, b, True),
                   bias, None, dtype)


def products_of_groups(a, b, scale_a, scale_b, ends=None, bias=None, scale_result=None, dtype=None, fast=False):
    """One product a group: of lines of a, or of matrices. The scales are one for each line."""
    dtype = dtype or torch.bfloat16
    if b.dim() != 3:
        return products_along_k(a, b, scale_a, scale_b, ends, dtype)
    scale_b = scale_b.reshape(b.size(0), 1, -1)
    if a.dim() == 3:
        return ((a.float() * scale_a.reshape(*a.shape[:2], 1)) @ (b.float() * scale_b)).to(dtype)
    result = torch.zeros(a.size(0), b.size(2), dtype=dtype)
    left, begin = a.float() * scale_a.reshape(-1, 1), 0
    for group, end in enumerate(ends.tolist()):
        result[begin:end] = left[begin:end] @ (b[group].float() * scale_b[group])
        begin = end
    return result


def products_along_k(a, b, scale_a, scale_b, ends, dtype):
    """Each group has a part of k; the scales are one for each of its lines."""
    groups = ends.numel()
    if a.device.type == "meta":
        return a.new_empty(groups, a.size(0), b.size(1), dtype=dtype)
    scale_a, scale_b = scale_a.view(groups, -1, 1), scale_b.view(groups, 1, -1)
    result, begin = torch.zeros(groups, a.size(0), b.size(1), dtype=dtype), 0
    for group, end in enumerate(ends.tolist()):
        left, right = a[:, begin:end].float() * scale_a[group], b[begin:end].float() * scale_b[group]
        result[group] = left @ right
        begin = end
    return result


INSTEAD = {
    "_scaled_mm": product,
    "_scaled_mm.out": product_out,
    "_scaled_mm_v2": product_of_recipes,
    "_scaled_grouped_mm": products_of_groups,
}
