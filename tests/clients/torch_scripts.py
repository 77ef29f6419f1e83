"""torch_scripts.py: what training scripts use of PyTorch, beyond try_torch.py: steps inside CUDA graphs,
attention forced to a fused kernel, recurrent networks, sparse and nested tensors, side streams. Each result
is compared with the CPU's, or with the same steps outside a graph; prints "works"."""

import gc
import sys

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import dropout, mse_loss, scaled_dot_product_attention

BATCHES = [(torch.randn(16, 32), torch.randn(16, 8)) for _ in range(4)]


def close(a, b, bound):
    worst = (a.detach().cpu().double() - b.detach().cpu().double()).abs().max().item()
    assert worst <= bound, f"off by {worst}, more than {bound}"


def model_and_steps():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2, capturable=True)


def step(model, steps, x, y):
    steps.zero_grad(set_to_none=True)
    loss = mse_loss(model(x), y)
    loss.backward()
    steps.step()
    return loss


def graph_of_a_step():
    """As PyTorch's notes on CUDA graphs have it."""
    model, steps = model_and_steps()
    eager = [step(model, steps, x.cuda(), y.cuda()).item() for x, y in BATCHES[:1] * 3 + BATCHES]
    model, steps = model_and_steps()
    x, y = BATCHES[0][0].cuda(), BATCHES[0][1].cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        found = [step(model, steps, x, y).item() for _ in range(3)]
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    steps.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = step(model, steps, x, y)
    for batch in BATCHES:
        x.copy_(batch[0])
        y.copy_(batch[1])
        graph.replay()
        found.append(loss.item())
    assert found == eager, (found, eager)


def graphed_callables():
    (a, _), (b, _) = model_and_steps(), model_and_steps()
    graphed = torch.cuda.make_graphed_callables(a, (torch.randn(16, 32, device="cuda"),))
    for x, _ in BATCHES:
        for model in graphed, b:
            model.zero_grad()
            model(x.cuda()).sum().backward()
        assert all(torch.equal(p.grad, q.grad) for p, q in zip(a.parameters(), b.parameters()))


def graph_of_two_streams():
    x, graph, side = torch.zeros(1000, device="cuda"), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph):
        doubled = x * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            total = doubled.sum()
        one_more = doubled + 1
        torch.cuda.current_stream().wait_stream(side)
        result = dropout(one_more + total, 0.5)
    assert not x.any()
    x.fill_(1)
    graph.replay()
    first = result.clone()
    graph.replay()
    assert set(first.tolist()) == {0, 4006}, set(first.tolist())
    assert not torch.equal(first, result), "each replay draws numbers of its own"
    del graph
    gc.collect()
    graphs = sys.modules["lockstep_graphs"]
    graphs._drop_ended()  # as the next capture does
    assert not graphs._nodes, "nodes outlive their graphs"


def refused_in_a_capture():
    x = torch.ones(3, device="cuda")
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            x.sum().item()
    except RuntimeError as error:
        assert "needs values that a CUDA graph has only when it runs" in str(error), error
    else:
        raise AssertionError("the value of a tensor that does not exist yet")


def fused_attention():
    torch.manual_seed(2)
    query = torch.randn(2, 4, 9, 8, dtype=torch.float64)
    key, value = torch.randn(2, 2, 2, 9, 8, dtype=torch.float64)
    for kind in SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION:
        found = []
        for device, dtype in ("cpu", torch.float64), ("cuda", torch.float16):
            parts = [each.half().to(device, dtype).requires_grad_() for each in (query, key, value)]
            groups = kind == SDPBackend.FLASH_ATTENTION  # the others want as many heads everywhere
            heads = parts if groups else [parts[0], *(each.repeat_interleave(2, 1) for each in parts[1:])]
            with sdpa_kernel(SDPBackend.MATH if device == "cpu" else kind):
                out = scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=groups)
            out.square().sum().backward()
            found.append([out, *(each.grad for each in parts)])
        for exact, half in zip(*found):
            close(exact, half, 2e-3 * exact.abs().max().item())
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        ones = torch.ones(1, 1, 64, 64, device="cuda", dtype=torch.float16)
        mean = scaled_dot_product_attention(ones, ones, ones, dropout_p=0.25).float().mean().item()
    assert mean != 1 and abs(mean - 1) < 0.1, mean


def products_of_halves():
    a, b = torch.randn(4, 6).half(), torch.randn(6, 3).half()
    out = torch.zeros(4, 3, device="cuda")
    torch.addmm(out, a.cuda(), b.cuda(), out_dtype=torch.float32, alpha=2, out=out)
    close(out, 2 * (a.float() @ b.float()), 1e-5)
    close(torch.mm(a.cuda(), b.cuda(), out_dtype=torch.float32), a.float() @ b.float(), 1e-5)


def recurrent_networks():
    for kind in nn.LSTM, nn.GRU, nn.RNN:
        torch.manual_seed(3)
        model, x = kind(8, 16, 2, batch_first=True, bidirectional=True), torch.randn(3, 5, 8)
        found = []
        for device in "cpu", "cuda":
            model = model.to(device)
            model.zero_grad(set_to_none=True)
            out = model(x.to(device))[0]
            out.square().sum().backward()
            found.append([out, *(each.grad.clone() for each in model.parameters())])
        for cpu, cuda in zip(*found):
            close(cpu, cuda, 3e-6 * max(1, cpu.abs().max().item()))


def sparse_tensors():
    dense = torch.randn(4, 5).relu()
    right = torch.randn(5, 3)
    for layout in torch.sparse_coo, torch.sparse_csr:
        left = dense.cuda().to_sparse(layout=layout)
        close(left @ right.cuda(), dense @ right, 1e-6)
        assert torch.equal(left.to_dense().cpu(), dense)
    twice = torch.sparse_coo_tensor([[1, 1], [2, 2]], [3.0, 4.0], (2, 3), device="cuda")
    assert twice.coalesce().values().tolist() == [7]
    twice.add_(twice)
    assert twice.to_dense()[1, 2].item() == 14
    table = nn.Embedding(10, 4, sparse=True).cuda()
    table(torch.tensor([1, 1, 2], device="cuda")).sum().backward()
    assert table.weight.grad.coalesce().values()[0].tolist() == [2] * 4
    torch.optim.SparseAdam(table.parameters()).step()


def padded_encoder():
    torch.manual_seed(4)
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2).eval()
    x, mask = torch.randn(2, 5, 16), torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
    with torch.no_grad():
        close(layers(x, src_key_padding_mask=mask), layers.cuda()(x.cuda(), src_key_padding_mask=mask.cuda()), 2e-6)


def out_of_memory():
    """PyTorch asks NVML who uses the memory before it raises the error."""
    try:
        torch.empty(1 << 40, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        return
    raise AssertionError("a terabyte fits")


if __name__ == "__main__":
    torch.sparse.check_sparse_tensor_invariants.disable()
    graph_of_two_streams()
    graph_of_a_step()
    graphed_callables()
    refused_in_a_capture()
    fused_attention()
    products_of_halves()
    recurrent_networks()
    sparse_tensors()
    padded_encoder()
    out_of_memory()
    print("works")
