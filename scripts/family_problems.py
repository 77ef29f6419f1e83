"""What scripts/family-tables profiles of each family."""

# Instead of the family's own profile problem: problems with enough tiles for every SM, and at least
# one for each variant.
PROBLEMS = {
    "transpose": ["rows=2K cols=2K place=out,in"],
    "reduction": ["n=1M", "n=1M op=max type=i32"],
    "scan": ["n=1M", "n=64K", "n=1M type=i32"],
    "compaction": ["n=1M", "n=64K"],
    "histogram": ["n=1M", "n=1M type=u8"],
    "axis_reduction": ["outer=1K middle=1K inner=1", "outer=1 middle=1K inner=1K"],
    "softmax": ["rows=1K cols=4K", "rows=64 cols=80K", "rows=1K cols=4K step=backward",
                "rows=64 cols=80K step=backward"],
    "rmsnorm": ["rows=256 cols=4K", "rows=32 cols=64K", "rows=256 cols=4K step=backward",
                "rows=32 cols=64K step=backward"],
    "layernorm": ["rows=256 cols=4K", "rows=32 cols=64K", "rows=256 cols=4K step=backward",
                  "rows=32 cols=64K step=backward"],
    "cross_entropy": ["rows=32 cols=32K", "rows=16 cols=128K"],
    "gemm": ["m=2K n=1K k=64 type=f32,f16,bf16,tf32"],
    "gemm_fused": ["m=2K n=1K k=64 type=bf16 order=rr,rc,cr,cc",
                   "m=16 n=4K k=512 type=f16 order=rr,rc,cr,cc",
                   "m=2K n=1K k=64 type=tf32 order=rr,rc"],
    "mlp": ["tokens=256 dim=256 hidden=512 bias=yes", "tokens=256 dim=256 hidden=512 function=silu gate=pairs",
            "tokens=256 dim=256 hidden=512 bias=yes direction=backward"],
    "gemm_scaled": ["m=2K n=1K k=64 sums=promoted,fast", "m=2K n=1K k=64 scales=blocks",
                    "m=2K n=1K k=64 type=e4m3_e5m2,e5m2_e4m3,s8",
                    "m=16 n=4K k=1K"],
    "fused": ["rows=256 cols=2K op=gelu type=bf16 direction=forward,backward",
              "rows=256 cols=2K op=gelu,residual type=f32"],
    "embedding": ["tokens=1K vocab=1K dim=512 direction=forward,backward",
                  "tokens=1K vocab=1K dim=512 type=f32 direction=backward"],
    "attention": ["heads=8 queries=256 keys=256 mask=full,causal"],
    "gemm_w4a16": ["m=1 n=1K k=2K", "m=1 n=1K k=2K layout=q4_0", "m=16 n=1K k=2K layout=tiles32"],
    "kv_cache": ["batch=4 heads=2 group=4 keys=512", "batch=4 heads=8 keys=256 step=append tokens=256"],
    "quantise": ["rows=256 cols=4K", "rows=256 cols=4K format=nvfp4",
                 "rows=256 cols=4K format=mxfp4 direction=dequantise"],
    "attention_decode": ["batch=2 heads=2 group=4 keys=1K"],
    "attention_backward": ["heads=2 queries=256 keys=256 mask=full,causal"],
    "pairwise_l2": ["n=2K m=1K d=32"],
    "spmv": ["rows=64K matrix=banded,uniform,powerlaw"],
    "warp_matmul": ["batch=4K size=32"],
    "graph": ["vertices=8K edges_per_vertex=128 kind=degree graph=powerlaw",
              "vertices=128K kind=bfs_step graph=powerlaw", "vertices=64K kind=bfs"],
}

# What --quick profiles in any case: a change of the machine's counters or model shows in these.
PROBES = ["elementwise", "transpose", "reduction", "histogram", "spmv", "softmax", "attention_decode"]
