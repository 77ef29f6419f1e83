"""lockstep_operators.py: operators of PyTorch that are not the CPU's own, for lockstep_torch.py.

The CPU rounds halves more often than a GPU does, and has no kernel for some operators that CUDA has, such as
fused cells of recurrent networks (attention and packed weights are in files of their own). `INSTEAD` has such
operators, on CPU tensors (or meta tensors, while a CUDA graph is captured), with CUDA's signature, types and
layouts.
"""

import torch

import lockstep_attention
import lockstep_norms
import lockstep_packed
import lockstep_scaled
from lockstep_attention import HALVES, widened


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


def product(operator):
    """Products of halves with sums and results of another type; out= may be among the options."""

    def run(*words, **options):
        matrices, dtype = words[:-1], words[-1]
        return operator(*(each.to(dtype) for each in matrices), **options)

    return run


def product_of_halves(name):
    """The CPU's products of float16 take up to three hundred times as long as in single precision, and round
    as often as they please; a GPU sums in single precision and rounds once."""
    base, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, base), overload or "default")
    plain = getattr(torch.ops.aten, base.rstrip("_")).default

    def run(*words, out=None, **options):
        if words[-1].dtype != torch.float16:
            return operator(*words, **options, **({} if out is None else {"out": out}))
        result = plain(*map(widened, words), **options).half()
        if out is None and not base.endswith("_"):
            return result
        into = words[0] if out is None else out
        if into.shape != result.shape:
            into.resize_(result.shape)
        return into.copy_(result)

    return run


INSTEAD = {
    **lockstep_norms.INSTEAD,
    **lockstep_scaled.INSTEAD,
    **lockstep_attention.INSTEAD,
    **lockstep_packed.INSTEAD,
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
}
for _name in "_fft_r2c", "_fft_c2c", "_fft_c2r":
    INSTEAD[_name] = transform(getattr(torch.ops.aten, _name).default)
for _name in ("mm", "mm.out", "bmm", "bmm.out", "addmm", "addmm.out", "addmm_", "baddbmm", "baddbmm.out",
              "baddbmm_", "_addmm_activation", "_addmm_activation.out"):
    INSTEAD[_name] = product_of_halves(_name)
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
