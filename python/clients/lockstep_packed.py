"""lockstep_packed.py: attention over packed sequences, and products of packed weights, for lockstep_operators.py.

A batch of sequences of several lengths is packed into one tensor: [tokens][heads][elements], where sequence i has the
tokens from cum[i] to cum[i + 1]. Its keys may be pages of a cache, which a table lists for each sequence. A query sees
the keys of its own sequence; the last query and the last key are at the same place. Weights of 4 bits are in the
order in which tensor cores want them, those of 2:4 sparsity in CUTLASS's.
"""

import math

import torch

import lockstep_attention

FROM_FIRST, FROM_LAST = 1, 2  # custom_mask_type: where causal masks have their corner


def mask_of(queries, keys, left, right, from_last=True):
    """0 where a query sees a key, else -inf; left and right: how far it sees, or -1."""
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None] - (keys - queries if from_last else 0)
    hidden = torch.zeros(queries, keys, dtype=torch.bool)
    if left >= 0:
        hidden |= distance < -left
    if right >= 0:
        hidden |= distance > right
    return torch.zeros(1, 1, queries, keys).masked_fill(hidden, -math.inf)


def parts(size, cum):
    """Slices of the tokens."""
    ends = list(range(size + 1)) if cum is None else cum.tolist()
    return [slice(begin, end) for begin, end in zip(ends, ends[1:])]


def keys_of(key, parts_of_keys, at, used, pages):
    """The rows of a sequence's keys or values: an index into the first dimension after pages are put in order."""
    if pages is not None:
        rows = (pages[at].long()[:, None] * key.size(1) + torch.arange(key.size(1))).flatten()
        return rows[:int(used[at])]
    part = parts_of_keys[at]
    count = part.stop - part.start if used is None else int(used[at])
    return torch.arange(part.start, part.start + count)


def each_sequence(query, key, cum_q, cum_k, used, pages):
    """Where the tokens of each sequence are: slices of the queries, and indices of the keys."""
    of_keys = None if pages is not None else parts(key.size(0), cum_k)
    for at, part in enumerate(parts(query.size(0), cum_q)):
        yield part, keys_of(key, of_keys, at, used, pages)


def heads_first(tokens):
    return tokens.transpose(0, 1).unsqueeze(0)


def tokens_first(heads):
    return heads.squeeze(0).transpose(0, 1)


def forward(query, key, value, sequences, mask, scale):
    """The result, and the logarithms of the sums: [heads][tokens]."""
    out = query.new_zeros(*query.shape[:-1], value.size(-1))
    sums = torch.full((query.size(1), query.size(0)), math.inf)
    for part, rows in sequences:
        if part.stop == part.start or not len(rows):
            continue
        q, k, v = heads_first(query[part]), heads_first(key[rows]), heads_first(value[rows])
        y, s, _, _ = lockstep_attention.attention(q, k, v, mask(q.size(2), k.size(2)), 0.0, False, scale)
        out[part] = tokens_first(y)
        sums[:, part] = torch.where(s.isinf(), math.inf, s)[0]
    return out, sums


def backward(grad, query, key, value, sequences, mask, scale):
    to = [torch.zeros_like(each, memory_format=torch.contiguous_format) for each in (query, key, value)]
    for part, rows in sequences:
        if part.stop == part.start or not len(rows):
            continue
        q, k, v = heads_first(query[part]), heads_first(key[rows]), heads_first(value[rows])
        bias = mask(q.size(2), k.size(2))
        _, s, _, _ = lockstep_attention.attention(q, k, v, bias, 0.0, False, scale)
        each = lockstep_attention.attention_backward(heads_first(grad[part]), q, k, v, bias, s, 0.0, False, 0, scale)
        to[0][part] = tokens_first(each[0])
        to[1].index_add_(0, rows, tokens_first(each[1]))
        to[2].index_add_(0, rows, tokens_first(each[2]))
    return to


def flat(tensor, cum, pages=None):
    """[batch][tokens][heads][elements], or pages, as one list of tokens."""
    return tensor if tensor.dim() == 3 else tensor.flatten(0, 1)


def ends_of(tensor, cum):
    """cum of a tensor that has a batch dimension instead."""
    if cum is not None or tensor.dim() == 3:
        return cum
    return torch.arange(tensor.size(0) + 1) * tensor.size(1)


def refuse(dropout, *others):
    if dropout or any(each is not None for each in others):
        raise RuntimeError("lockstep: attention over packed sequences has no dropout, no slopes of ALiBi and no "
                           "scales of 8-bit floats here")


def window(is_causal, left, right):
    """How far a query sees, left and right."""
    left, right = (-1 if each is None else int(each) for each in (left, right))
    return left, 0 if is_causal else right


def flash(query, key, value, cum_q, cum_k, max_q, max_k, dropout, is_causal, debug, *, scale=None,
          window_size_left=None, window_size_right=None, seqused_k=None, alibi_slopes=None, block_table=None,
          num_splits=None):
    refuse(dropout, alibi_slopes)
    rng = torch.zeros(2, dtype=torch.uint64, device=query.device)
    nothing = query.new_empty(0)
    packed = query.dim() == 3
    shape = (query.size(1), query.size(0)) if packed else (query.size(0), query.size(2), query.size(1))
    if query.device.type == "meta":
        return (query.new_empty(*query.shape[:-1], value.size(-1)), query.new_empty(shape, dtype=torch.float),
                rng, nothing, nothing)
    left, right = window(is_causal, window_size_left, window_size_right)
    q, k, v = flat(query, cum_q), flat(key, cum_k), flat(value, cum_k)
    sequences = each_sequence(q, key if block_table is not None else k, ends_of(query, cum_q),
                              None if block_table is not None else ends_of(key, cum_k), seqused_k, block_table)
    out, sums = forward(q, k, v, sequences, lambda n, m: mask_of(n, m, left, right), scale)
    if not packed:
        out = out.unflatten(0, query.shape[:2])
        sums = sums.unflatten(1, query.shape[:2]).transpose(0, 1).contiguous()
    return out, sums, rng, nothing, nothing


def flash_into(out, query, key, value, cum_q, cum_k, max_q, max_k, dropout, is_causal, debug, **options):
    result, sums = flash(query, key, value, cum_q, cum_k, max_q, max_k, dropout, is_causal, debug, **options)[:2]
    out.copy_(result)
    return sums


def flash_backward(grad, query, key, value, out, sums, cum_q, cum_k, max_q, max_k, dropout, is_causal, rng, unused,
                   *, scale=None, window_size_left=None, window_size_right=None):
    refuse(dropout)
    if query.device.type == "meta":
        return tuple(torch.empty_like(each, memory_format=torch.contiguous_format) for each in (query, key, value))
    left, right = window(is_causal, window_size_left, window_size_right)
    q, k, v = flat(query, cum_q), flat(key, cum_k), flat(value, cum_k)
    sequences = each_sequence(q, k, ends_of(query, cum_q), ends_of(key, cum_k), None, None)
    to = backward(flat(grad, cum_q), q, k, v, sequences, lambda n, m: mask_of(n, m, left, right), scale)
    return tuple(each.view(given.shape) for each, given in zip(to, (query, key, value)))


# 4-bit weights --------------------------------------------------------------------------------------------------


def packed_places(inner):
    """For each of the 32 lanes of a warp and each byte of its word pairs: the row and the byte of the row, within 8
    rows and `inner` tiles of 16 columns, two columns in a byte."""
    lane, pair = torch.arange(32)[:, None, None], torch.arange(inner // 2)[None, :, None]
    byte = torch.arange(4)[None, None, :]
    return (lane // 4).expand(32, inner // 2, 4), pair * 16 + (byte // 2) * 8 + (byte % 2) * 4 + lane % 4


def pack_int4(weight, inner):
    """[n][k / 2] bytes with the even column in the high half, to [n / 8][k / (16 inner)][32][inner / 2] words: the low
    halves of the word have the even columns of four bytes, the high halves the odd ones."""
    n, half = weight.shape
    if weight.dtype != torch.uint8 or inner not in (2, 4, 8) or half % (inner * 8):
        raise RuntimeError("lockstep: _convert_weight_to_int4pack takes bytes and 2, 4 or 8 inner tiles that divide k")
    if weight.device.type == "meta":
        return weight.new_empty(-(-n // 8), half // (8 * inner), 32, inner // 2, dtype=torch.int32)
    padded = torch.zeros(-(-n // 8) * 8, half, dtype=torch.uint8)
    padded[:n] = weight
    tiles = padded.view(-1, 8, half // (8 * inner), 8 * inner).transpose(1, 2).to(torch.int64)
    row, byte = packed_places(inner)
    chosen = tiles[:, :, row, byte]
    shift = torch.arange(4) * 4
    word = ((chosen >> 4) << shift).sum(-1) | ((chosen & 15) << (16 + shift)).sum(-1)
    return (word - ((word >> 31) << 32)).to(torch.int32)


def unpack_int4(packed):
    """[n][k] of 0 to 15."""
    inner = packed.size(3) * 2
    row, byte = packed_places(inner)
    shift = torch.arange(4) * 4
    words = packed.to(torch.int64).unsqueeze(-1)
    tiles = torch.empty(*packed.shape[:2], 8, 8 * inner, 2, dtype=torch.uint8)
    tiles[:, :, row, byte, 0] = ((words >> shift) & 15).to(torch.uint8)
    tiles[:, :, row, byte, 1] = ((words >> (16 + shift)) & 15).to(torch.uint8)
    return tiles.transpose(1, 2).reshape(packed.size(0) * 8, -1)


def product_int4(x, packed, group, scales_and_zeros):
    """x times the weights (q - 8) * scale + zero, which are rounded to bfloat16 once; sums in single precision."""
    if x.dtype != torch.bfloat16 or group not in (32, 64, 128, 256):
        raise RuntimeError("lockstep: _weight_int4pack_mm takes bfloat16 and groups of 32, 64, 128 or 256")
    if x.device.type == "meta":
        return x.new_empty(x.size(0), packed.size(0) * 8)
    scale, zero = scales_and_zeros.float().repeat_interleave(group, 0).permute(2, 1, 0)
    weight = ((unpack_int4(packed).float() - 8) * scale + zero).to(x.dtype)
    return (x.float() @ weight.float().t()).to(x.dtype)


# 2:4 sparsity in CUTLASS's layout -------------------------------------------------------------------------------


def dense_of(values, meta):
    from torch.sparse import _semi_structured_conversions as conversions

    return conversions.sparse_semi_structured_to_dense_cutlass(values, meta)


def sums_of(a, b):
    """Products of integers are exact, of others in single precision."""
    return a.to(torch.int32) @ b.to(torch.int32) if a.dtype == torch.int8 else a.float() @ b.float()


def sparse_mm(values, meta, dense, *, out_dtype=None):
    shape = values.size(0), dense.size(1)
    dtype = out_dtype or (torch.int32 if values.dtype == torch.int8 else values.dtype)
    if values.device.type == "meta":
        return values.new_empty(shape, dtype=dtype)
    return sums_of(dense_of(values, meta), dense).to(dtype)


def sparse_addmm(given, values, meta, dense, *, alpha=1, beta=1, out_dtype=None):
    dtype = out_dtype or (torch.int32 if values.dtype == torch.int8 else values.dtype)
    if values.device.type == "meta":
        return values.new_empty(values.size(0), dense.size(1), dtype=dtype)
    added = given.unsqueeze(-1) if given.dim() == 1 else given
    return (alpha * sums_of(dense_of(values, meta), dense) + beta * added).to(dtype)


def sparse_linear(x, values, meta, *, bias=None, activation=None, out_dtype=None):
    if x.device.type == "meta":
        return x.new_empty(*x.shape[:-1], values.size(0), dtype=out_dtype or x.dtype)
    y = sums_of(x.flatten(0, -2), dense_of(values, meta).t()).view(*x.shape[:-1], -1)
    y = y if bias is None else y + bias
    if activation not in (None, "none"):
        y = {"relu": torch.relu, "silu": torch.nn.functional.silu}[activation](y)
    return y.to(out_dtype or (torch.int32 if x.dtype == torch.int8 else x.dtype))


INSTEAD = {
    "_flash_attention_forward": flash,
    "_flash_attention_forward_no_dropout_inplace": flash_into,
    "_flash_attention_backward": flash_backward,
    "_convert_weight_to_int4pack": pack_int4,
    "_weight_int4pack_mm": product_int4,
    "_sparse_semi_structured_mm": sparse_mm,
    "_sparse_semi_structured_addmm": sparse_addmm,
    "_sparse_semi_structured_linear": sparse_linear,
}
