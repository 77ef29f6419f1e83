"""lockstep_operators.py: operators of PyTorch that are not the CPU's own, for lockstep_torch.py.

The CPU rounds halves more often than a GPU does, and has no kernel for some operators that CUDA has: fused
cells of recurrent networks, flash and memory-efficient attention. `INSTEAD` has such operators, on CPU
tensors (or meta tensors, while a CUDA graph is captured), with CUDA's signature, types and layouts.
"""

import math

import torch

import lockstep_graphs
import lockstep_norms
import lockstep_scaled

HALVES = (torch.float16, torch.bfloat16)


def rms_norm_backward(grad, x, shape, rstd, weight, mask):
    """y = x * rstd * weight, where rstd is 1 / sqrt(mean(x * x) + eps) over the last dimensions."""
    dims = list(range(x.dim() - len(shape), x.dim()))
    scaled = (grad if weight is None else grad * weight).to(rstd.dtype)
    norm = x.to(rstd.dtype) * rstd
    to_x = rstd * (scaled - norm * (scaled * norm).mean(dims, keepdim=True)) if mask[0] else None
    outer = list(range(x.dim() - len(shape)))
    to_weight = grad.to(rstd.dtype) * norm if mask[1] and weight is not None else None
    if to_weight is not None and outer:
        to_weight = to_weight.sum(outer)
    return (None if to_x is None else to_x.to(x.dtype),
            None if to_weight is None else to_weight.to(weight.dtype))


def widened(value):
    if isinstance(value, torch.Tensor) and value.dtype in HALVES:
        return value.float()
    return value


def in_float32(operator):
    """The CPU computes halves in halves here, and a GPU in single precision, rounded once."""

    def run(*words, **options):
        dtype = options.get("dtype") or words[0].dtype
        if words[0].dtype not in HALVES or dtype not in HALVES:
            return operator(*words, **options)
        options = {key: value for key, value in options.items() if key != "dtype"}
        result = operator(*map(widened, words), **options)
        if isinstance(result, torch.Tensor):
            return result.to(dtype)
        return tuple(part if part is None else part.to(dtype) for part in result)

    return run


def softmax(operator):
    """CUDA's also returns floats for halves, without a copy of them in between."""

    def run(x, dim, half_to_float):
        y = operator(widened(x), dim, False)
        return y if half_to_float else y.to(x.dtype)

    return run


def softmax_backward(operator):
    def run(grad, y, dim, dtype):
        grad, y = widened(grad), widened(y)
        return operator(grad, y, dim, y.dtype).to(dtype)

    return run


def index_put(x, indices, values, accumulate=False, unsafe=False):
    put = torch.ops.aten._index_put_impl_.default
    if not accumulate or x.dtype not in HALVES:
        return put(x, indices, values, accumulate, unsafe)
    return x.copy_(put(x.float(), indices, values.float(), True, unsafe))


def layer_norm(x, shape, weight, bias, eps):
    """As CUDA's: mean and deviation of halves are kept in single precision for the backward pass."""
    forward = torch.ops.aten.native_layer_norm.default
    if x.dtype not in HALVES:
        return forward(x, shape, weight, bias, eps)
    weight, bias = (None if each is None else each.float() for each in (weight, bias))
    y, mean, rstd = forward(x.float(), shape, weight, bias, eps)
    return y.to(x.dtype), mean, rstd


def transform(operator):
    """The CPU's transforms take no halves, which a GPU's do."""

    def run(x, *words, **options):
        result = operator(x.to(torch.complex64 if x.is_complex() else torch.float32), *words, **options)
        return result.to(torch.complex32 if result.is_complex() else torch.float16)

    return lambda x, *words, **options: (run if x.dtype in (torch.float16, torch.complex32) else operator)(
        x, *words, **options)


# Cells of recurrent networks; a workspace is what CUDA's backward kernel reads.


def lstm_cell(from_input, from_hidden, cx, input_bias=None, hidden_bias=None):
    gates = sum(each.float() if each.dtype in HALVES else each
                for each in (from_input, from_hidden, input_bias, hidden_bias) if each is not None)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * widened(cx) + i * g
    hy = o * cy.tanh()
    return hy.to(cx.dtype), cy.to(cx.dtype), torch.cat((i, f, g, o), 1).to(cx.dtype)


def lstm_cell_backward(to_hy, to_cy, cx, cy, workspace, has_bias):
    if to_hy is None and to_cy is None:
        return None, None, None
    i, f, g, o = widened(workspace).chunk(4, 1)
    t = widened(cy).tanh()
    hidden = 0 if to_hy is None else widened(to_hy)
    cell = (0 if to_cy is None else widened(to_cy)) + hidden * o * (1 - t * t)
    gates = torch.cat((cell * g * i * (1 - i), cell * widened(cx) * f * (1 - f), cell * i * (1 - g * g),
                       hidden * t * o * (1 - o)), 1)
    return (gates.to(workspace.dtype), (cell * f).to(cx.dtype),
            gates.sum(0).to(workspace.dtype) if has_bias else None)


def gru_cell(from_input, from_hidden, hx, input_bias=None, hidden_bias=None):
    a, b = widened(from_input), widened(from_hidden)
    if input_bias is not None:
        a, b = a + widened(input_bias), b + widened(hidden_bias)
    ar, az, an = a.chunk(3, 1)
    br, bz, bn = b.chunk(3, 1)
    r, z = (ar + br).sigmoid(), (az + bz).sigmoid()
    n, h = (an + r * bn).tanh(), widened(hx)
    return (n + z * (h - n)).to(hx.dtype), torch.cat((r, z, n, h, bn), 1).to(hx.dtype)


def gru_cell_backward(grad, workspace, has_bias):
    r, z, n, h, bn = widened(workspace).chunk(5, 1)
    grad, dtype = widened(grad), workspace.dtype
    to_n = grad * (1 - z) * (1 - n * n)
    to_z = grad * (h - n) * z * (1 - z)
    to_r = to_n * bn * r * (1 - r)
    from_input, from_hidden = torch.cat((to_r, to_z, to_n), 1), torch.cat((to_r, to_z, to_n * r), 1)
    sums = [each.sum(0).to(dtype) if has_bias else None for each in (from_input, from_hidden)]
    return (from_input.to(dtype), from_hidden.to(dtype), (grad * z).to(dtype), *sums)


# Attention: [batch][heads][queries or keys][elements]; sums in single precision, as the fused kernels have.


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


def product(operator):
    """Products of halves with sums and results of another type; out= may be among the options."""

    def run(*words, **options):
        matrices, dtype = words[:-1], words[-1]
        return operator(*(each.to(dtype) for each in matrices), **options)

    return run


INSTEAD = {
    **lockstep_norms.INSTEAD,
    **lockstep_scaled.INSTEAD,
    "_fused_rms_norm_backward": rms_norm_backward,
    "native_layer_norm": layer_norm,
    "_softmax": softmax(torch.ops.aten._softmax.default),
    "_log_softmax": softmax(torch.ops.aten._log_softmax.default),
    "_softmax_backward_data": softmax_backward(torch.ops.aten._softmax_backward_data.default),
    "_log_softmax_backward_data": softmax_backward(torch.ops.aten._log_softmax_backward_data.default),
    "_index_put_impl_": index_put,
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
    "_scaled_dot_product_flash_attention": flash,
    "_scaled_dot_product_flash_attention_backward": flash_backward,
    "_scaled_dot_product_efficient_attention": efficient,
    "_scaled_dot_product_efficient_attention_backward": efficient_backward,
    "_scaled_dot_product_cudnn_attention": cudnn,
    "_scaled_dot_product_cudnn_attention_backward": cudnn_backward,
}
for _name in "_fft_r2c", "_fft_c2c", "_fft_c2r":
    INSTEAD[_name] = transform(getattr(torch.ops.aten, _name).default)
for _name in "mm", "bmm", "addmm", "baddbmm":
    INSTEAD[_name + ".dtype"] = INSTEAD[_name + ".dtype_out"] = product(getattr(torch, _name))
for _name in "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss":
    INSTEAD[_name] = INSTEAD[_name + ".Tensor"] = lambda *words: False
# What the CPU rounds more than once, or sums in halves (tests/clients/halves.py looks for such).
for _name in ("native_layer_norm_backward", "native_group_norm_backward", "nll_loss_forward",
              "nll_loss2d_forward", "embedding_dense_backward", "prod", "prod.dim_int", "cumprod",
              "glu_backward", "sigmoid_backward", "col2im", "unfold_backward", "segment_reduce",
              "avg_pool3d", "avg_pool3d_backward", "upsample_bicubic2d", "xlogy.Tensor", "renorm",
              "logcumsumexp", "_logcumsumexp"):
    _base, _, _overload = _name.partition(".")
    if hasattr(torch.ops.aten, _base):
        INSTEAD[_name] = in_float32(getattr(getattr(torch.ops.aten, _base), _overload or "default"))
