"""try_jax.py: does JAX run here? A function and its gradient give NumPy's numbers; prints "works"."""

import jax
import jax.numpy as jnp
import numpy as np

assert jax.devices()[0].platform == "gpu", jax.devices()
x = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)
y = np.tanh(x @ x)
found = jax.jit(lambda x: jnp.tanh(jnp.matmul(x, x, precision="highest")))(x)  # the default is TF32
assert np.abs(np.asarray(found) - y).max() < 1e-5
grad = jax.jit(jax.grad(lambda x: (jnp.tanh(x) ** 2).sum()))(x)
assert np.abs(np.asarray(grad) - 2 * np.tanh(x) * (1 - np.tanh(x) ** 2)).max() < 1e-5
print("works")
