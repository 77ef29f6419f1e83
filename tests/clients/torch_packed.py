"""torch_packed.py: attention over packed sequences, 4-bit, 2:4-sparse and quantised weights, and scaled products of
groups along k, on a simulated GPU; each compared with plain operators on the CPU."""

import torch
from torch.nn.attention.varlen import varlen_attn
from torch.sparse import SparseSemiStructuredTensor, to_sparse_semi_structured

GPU = "cuda"
torch.manual_seed(1)


def close(found, wanted, bound=1e-2):
    torch.testing.assert_close(found.detach().cpu().float(), wanted.detach().cpu().float(), rtol=bound, atol=bound)


def plain(q, k, v, left=-1, right=-1):
    """One sequence: [tokens][heads][elements]; the last query and the last key are at the same place."""
    group = q.size(1) // k.size(1)
    q, k, v = (each.float().transpose(0, 1) for each in (q, k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)))
    distance = torch.arange(k.size(1))[None] - torch.arange(q.size(1))[:, None] - (k.size(1) - q.size(1))
    seen = ((distance >= -left) | (left < 0)) & ((distance <= right) | (right < 0))
    s = (q @ k.transpose(1, 2) / q.size(-1) ** 0.5).masked_fill(~seen, -1e30)
    return (s.softmax(-1) @ v).masked_fill(~seen.any(1)[None, :, None], 0).transpose(0, 1)


def packed_attention():
    lengths_q, lengths_k = [5, 1, 17, 0, 9], [5, 12, 17, 3, 20]
    cum_q, cum_k = (torch.tensor([0, *torch.tensor(n).cumsum(0)], dtype=torch.int32) for n in (lengths_q, lengths_k))
    q = torch.randn(sum(lengths_q), 4, 16)
    k, v = torch.randn(2, sum(lengths_k), 2, 16)
    q, k, v = (each.to(torch.bfloat16) for each in (q, k, v))
    grad = torch.randn_like(q)
    for window in (-1, -1), (-1, 0), (3, 0), (2, 1):
        here = [each.to(GPU).requires_grad_() for each in (q, k, v)]
        there = [each.float().requires_grad_() for each in (q, k, v)]
        found = varlen_attn(*here, cum_q.to(GPU), cum_k.to(GPU), 17, 20, window_size=window, enable_gqa=True)
        found.backward(grad.to(GPU))
        wanted = torch.cat([plain(there[0][a:b], there[1][c:d], there[2][c:d], *window)
                            for a, b, c, d in zip(cum_q, cum_q[1:], cum_k, cum_k[1:])])
        wanted.backward(grad.float())
        close(found, wanted)
        for mine, theirs in zip(here, there):
            close(mine.grad, theirs.grad, 3e-2)
    # A batch without cum, and pages of a cache.
    x = torch.randn(2, 6, 4, 16, dtype=torch.float16)
    out, sums, *_ = torch.ops.aten._flash_attention_forward(*[x.to(GPU)] * 3, None, None, 6, 6, 0.0, True, False)
    close(out, torch.stack([plain(*[each] * 3, -1, 0) for each in x]))
    assert sums.shape == (2, 4, 6)
    pages, used = torch.tensor([[2, 0], [3, 1]], dtype=torch.int32), torch.tensor([6, 3], dtype=torch.int32)
    cache = torch.randn(2, 4, 4, 4, 16, dtype=torch.float16)
    query = torch.randn(2, 4, 16, dtype=torch.float16)
    out, *_ = torch.ops.aten._flash_attention_forward(
        query.to(GPU), cache[0].to(GPU), cache[1].to(GPU), torch.tensor([0, 1, 2], dtype=torch.int32).to(GPU), None,
        1, 8, 0.0, True, False, seqused_k=used.to(GPU), block_table=pages.to(GPU))
    for at in range(2):
        k, v = (each[pages[at].long()].flatten(0, 1)[: used[at]] for each in cache)
        close(out[at : at + 1], plain(query[at : at + 1], k, v))


def four_bits():
    n, k, group = 24, 256, 64
    q = torch.randint(0, 16, (n, k))
    scales = (torch.rand(k // group, n, 2) - 0.5).to(torch.bfloat16)
    weight = ((q - 8).float() * scales[..., 0].repeat_interleave(group, 0).t().float()
              + scales[..., 1].repeat_interleave(group, 0).t().float()).to(torch.bfloat16)
    x = torch.randn(3, k).to(torch.bfloat16)
    two = (q[:, ::2] << 4 | q[:, 1::2]).to(torch.uint8)
    for inner in 2, 4, 8:
        packed = torch.ops.aten._convert_weight_to_int4pack(two.to(GPU), inner)
        assert packed.shape == (n // 8, k // (16 * inner), 32, inner // 2) and packed.dtype == torch.int32
        # As a lane of mma.m16n8k16 has them: row lane / 4, columns 2 (lane % 4) and the next, then 8 and 16 on.
        word, row, column = int(packed[1, 0, 6, 0]) & 0xFFFFFFFF, q[8 + 6 // 4], 2 * (6 % 4)
        at = [column + step for step in (0, 8, 16, 24, 1, 9, 17, 25)]
        assert [word >> 4 * i & 15 for i in range(8)] == row[at].tolist()
        found = torch.ops.aten._weight_int4pack_mm(x.to(GPU), packed, group, scales.to(GPU))
        close(found, x.float() @ weight.float().t())


def two_of_four():
    SparseSemiStructuredTensor._FORCE_CUTLASS = True
    mask = torch.tensor([1, 0, 0, 1] * 32, dtype=torch.bool)
    for dtype in torch.float16, torch.bfloat16:
        dense = (torch.randn(64, 128) * mask).to(dtype)
        x, bias = torch.randn(128, 128).to(dtype), torch.randn(64).to(dtype)
        sparse = to_sparse_semi_structured(dense.to(GPU))
        close(sparse.to_dense(), dense)
        close(sparse @ x.to(GPU), dense.float() @ x.float(), 5e-2)
        close(torch.nn.functional.linear(x.to(GPU), sparse, bias.to(GPU)), x.float() @ dense.float().t() + bias, 5e-2)


def groups_along_k():
    a, b = torch.randn(32, 96).to(torch.float8_e4m3fn), torch.randn(48, 96).to(torch.float8_e4m3fn)
    ends, scale_a, scale_b = torch.tensor([32, 32, 96], dtype=torch.int32), torch.rand(3 * 32), torch.rand(3 * 48)
    found = torch._scaled_grouped_mm(a.to(GPU), b.to(GPU).t(), scale_a.to(GPU), scale_b.to(GPU), offs=ends.to(GPU),
                                     out_dtype=torch.bfloat16)
    for group, (begin, end) in enumerate(((0, 32), (32, 32), (32, 96))):
        wanted = (a[:, begin:end].float() * scale_a.view(3, 32, 1)[group]) @ (
            b[:, begin:end].float().t() * scale_b.view(3, 1, 48)[group])
        close(found[group], wanted, 2e-2)


def quantised():
    x = torch.randn(4, 6, 5)
    per_tensor = [torch.quantize_per_tensor(each, 0.1, 3, torch.qint8) for each in (x, x.to(GPU))]
    per_channel = [torch.quantize_per_channel(each, torch.rand(6, generator=torch.manual_seed(1)).add(0.05).to(each.device),
                                              torch.zeros(6, dtype=torch.long, device=each.device), 1, torch.quint8)
                   for each in (x, x.to(GPU))]
    for host, here in per_tensor, per_channel:
        assert here.is_cuda and here.is_quantized and here.dtype == host.dtype
        for run in (
            torch.dequantize, torch.int_repr, lambda q: q.clone().dequantize(), lambda q: q.cpu().dequantize(),
            lambda q: q.view(4, 6, 5)[1:].dequantize(),
        ):
            close(run(here), run(host), 1e-6)
    host, here = per_tensor
    for run in torch.relu, lambda q: q.flip(0), lambda q: q.max(1)[0], lambda q: q.index_select(0, torch.tensor([2, 0]).to(q.device)):
        close(run(here).dequantize(), run(host).dequantize(), 1e-6)
    close(host.to(GPU).dequantize(), host.dequantize(), 1e-6)
    assert here.q_scale() == 0.1 and here.q_zero_point() == 3 and "quantization_scheme" in repr(here)


if __name__ == "__main__":
    packed_attention()
    four_bits()
    two_of_four()
    groups_along_k()
    quantised()
    print("works")
