"""lockstep_attention.py: PyTorch's fused attention on CPU tensors, for lockstep_operators.py.

[batch][heads][queries or keys][elements]; sums in single precision, as the fused kernels have them. On meta tensors,
while a CUDA graph is captured, only the shapes matter.
"""

import math

import torch

import lockstep_graphs

HALVES = (torch.float16, torch.bfloat16)


def widened(value):
    if isinstance(value, torch.Tensor) and value.dtype in HALVES:
        return value.float()
    return value


def heads_of(query, key):
    """Each key head serves several query heads."""
    group = query.size(1) // key.size(1)
    return key if group == 1 else key.repeat_interleave(group, 1)


def scores(query, key, bias, is_causal, scale):
    """The scale, and the scaled and masked products."""
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    s = widened(query) @ heads_of(query, widened(key)).transpose(-1, -2) * scale
    if bias is not None:
        s = s + widened(bias)
    if is_causal:
        later = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(1)
        s = s.masked_fill(later, -math.inf)
    return scale, s


def kept(s, dropout, seed):
    """What dropout multiplies probabilities with."""
    draw = torch.rand(s.shape, generator=torch.Generator().manual_seed(int(seed)))
    return (draw >= dropout).to(s.dtype) / (1 - dropout)


def draw_seed(query, dropout):
    """Two numbers, as the fused kernels keep them for the backward pass."""
    seed = 0
    if dropout and query.device.type != "meta":
        cuda = torch.cuda.default_generators[torch.cuda.current_device()]
        seed = lockstep_graphs.cpu_generator(cuda).initial_seed()
    make = torch.empty if query.device.type == "meta" else torch.full
    fill = () if query.device.type == "meta" else (seed,)
    return make((), *fill, dtype=torch.int64, device=query.device), torch.zeros(
        (), dtype=torch.int64, device=query.device)


def attention(query, key, value, bias, dropout, is_causal, scale):
    """Output, as fused kernels lay it out, sums of exponentials and seed."""
    _, s = scores(query, key, bias, is_causal, scale)
    sums = s.logsumexp(-1)
    p = torch.where(sums.isinf().unsqueeze(-1), 0, (s - sums.unsqueeze(-1)).exp())
    seed, offset = draw_seed(query, dropout)
    if dropout and query.device.type != "meta":
        p = p * kept(s, dropout, seed)
    out = (p @ heads_of(query, widened(value))).to(query.dtype)
    return out.transpose(1, 2).contiguous().transpose(1, 2), sums, seed, offset


def attention_backward(grad, query, key, value, bias, sums, dropout, is_causal, seed, scale):
    scale, s = scores(query, key, bias, is_causal, scale)
    sums = sums[..., :s.size(-2)].reshape(s.shape[:-1]).unsqueeze(-1).to(s.dtype)
    p = torch.where(sums.isinf(), 0, (s - sums).exp())
    grad = widened(grad)
    keep = kept(s, dropout, seed) if dropout and query.device.type != "meta" else 1
    to_p = grad @ heads_of(query, widened(value)).transpose(-1, -2) * keep
    to_s = p * (to_p - (to_p * p).sum(-1, keepdim=True))
    to_query = to_s @ heads_of(query, widened(key)) * scale
    to_key, to_value = to_s.transpose(-1, -2) @ widened(query) * scale, (p * keep).transpose(-1, -2) @ grad
    shape = (key.size(0), key.size(1), query.size(1) // key.size(1), *key.shape[2:-1], -1)
    to_key, to_value = (each.reshape(shape).sum(2).to(key.dtype) for each in (to_key, to_value))
    to_bias = None if bias is None else to_s.sum_to_size(bias.shape).to(bias.dtype)
    return to_query.to(query.dtype), to_key, to_value, to_bias


def flash(query, key, value, dropout=0.0, is_causal=False, debug=False, *, scale=None):
    out, sums, seed, offset = attention(query, key, value, None, dropout, is_causal, scale)
    return out, sums, None, None, query.size(2), key.size(2), seed, offset, out.new_empty(0)


def flash_backward(grad, query, key, value, out, sums, cum_q, cum_k, max_q, max_k, dropout, is_causal,
                   seed, offset, *, scale=None):
    return attention_backward(grad, query, key, value, None, sums, dropout, is_causal, seed, scale)[:3]


def efficient(query, key, value, bias, with_sums, dropout=0.0, is_causal=False, *, scale=None):
    out, sums, seed, offset = attention(query, key, value, bias, dropout, is_causal, scale)
    pad = -sums.size(-1) % 32 if with_sums else 0
    sums = torch.nn.functional.pad(sums, (0, pad), value=math.inf) if with_sums else sums[..., :0]
    return out, sums, seed, offset


def efficient_backward(grad, query, key, value, bias, out, sums, seed, offset, dropout, mask,
                       is_causal=False, *, scale=None):
    to = attention_backward(grad, query, key, value, bias, sums, dropout, is_causal, seed, scale)
    return tuple(each if wanted else None for each, wanted in zip(to, mask))


def cudnn(query, key, value, bias, with_sums, dropout=0.0, is_causal=False, debug=False, *, scale=None):
    out, sums, seed, offset = attention(query, key, value, bias, dropout, is_causal, scale)
    return out, sums.unsqueeze(-1), None, None, query.size(2), key.size(2), seed, offset, None


def cudnn_backward(grad, query, key, value, out, sums, seed, offset, bias, cum_q, cum_k, max_q, max_k,
                   dropout, is_causal, *, scale=None):
    sums = sums.squeeze(-1)
    return attention_backward(grad, query, key, value, bias, sums, dropout, is_causal, seed, scale)[:3]


INSTEAD = {
    "_scaled_dot_product_flash_attention": flash,
    "_scaled_dot_product_flash_attention_backward": flash_backward,
    "_scaled_dot_product_efficient_attention": efficient,
    "_scaled_dot_product_efficient_attention_backward": efficient_backward,
    "_scaled_dot_product_cudnn_attention": cudnn,
    "_scaled_dot_product_cudnn_attention_backward": cudnn_backward,
}
