"""lockstep_norms.py: the parts of SyncBatchNorm, which the CPU has no kernels for, for lockstep_operators.py.

Each takes CPU tensors over the GPU's bytes, with CUDA's signature. Channels are dimension 1; sums are in
single precision for halves, as on a GPU.
"""

import torch

HALVES = (torch.float16, torch.bfloat16)


def _wide(x):
    return x.float() if x.dtype in HALVES else x


def _others(x):
    """All dimensions but the channels'."""
    return [0, *range(2, x.dim())]


def _channels(value, x):
    """One number a channel, to be used beside x."""
    return value.reshape(1, -1, *[1] * (x.dim() - 2))


def stats(x, eps):
    wide = _wide(x)
    variance, mean = torch.var_mean(wide, _others(x), correction=0)
    return mean, (variance + eps).rsqrt()


def gather_stats(x, means, inverses, running_mean, running_var, momentum, eps, counts):
    """From the statistics of several processes to those of all, and the running ones."""
    counts = counts.to(means.dtype).reshape(-1, 1)
    total = counts.sum()
    mean = (means * counts).sum(0) / total
    squares = ((inverses.reciprocal().square() - eps + (means - mean).square()) * counts).sum(0)
    for running, new in (running_mean, mean), (running_var, squares / (total - 1)):
        if running is not None:
            running.copy_((1 - momentum) * running + momentum * new.to(running.dtype))
    return mean, (squares / total + eps).rsqrt()


def gather_stats_of_one_count(x, means, inverses, running_mean, running_var, momentum, eps, count):
    counts = torch.full((means.size(0),), count, dtype=means.dtype)
    return gather_stats(x, means, inverses, running_mean, running_var, momentum, eps, counts)


def apply(x, weight, bias, mean, inverse, eps):
    y = (_wide(x) - _channels(mean, x)) * _channels(inverse, x)
    y = y if weight is None else y * _channels(_wide(weight), x)
    y = y if bias is None else y + _channels(_wide(bias), x)
    return y.to(x.dtype)


def backward_sums(grad, x, mean, inverse, weight, to_input, to_weight, to_bias):
    wide = _wide(grad)
    sums = wide.sum(_others(x))
    products = (wide * (_wide(x) - _channels(mean, x))).sum(_others(x))
    dtype = mean.dtype if weight is None else weight.dtype
    return (sums, products, (products * inverse).to(dtype) if to_weight else None,
            sums.to(dtype) if to_bias else None)


def backward(grad, x, mean, inverse, weight, sums, products, counts):
    total = counts.sum()
    normed = (_wide(x) - _channels(mean, x)) * _channels(inverse.square() * products / total, x)
    scale = inverse if weight is None else inverse * _wide(weight)
    return ((_wide(grad) - _channels(sums / total, x) - normed) * _channels(scale, x)).to(x.dtype)


INSTEAD = {
    "batch_norm_stats": stats,
    "batch_norm_gather_stats_with_counts": gather_stats,
    "batch_norm_gather_stats": gather_stats_of_one_count,
    "batch_norm_elemt": apply,
    "batch_norm_backward_reduce": backward_sums,
    "batch_norm_backward_elemt": backward,
}
