"""cupy_libraries.py: what CuPy asks of cuSOLVER's drop-in: eigenvalues of general matrices, sparse systems."""

import cupy
import numpy
from cupyx.cusolver import csrlsvqr

random = numpy.random.default_rng(0)
for letter, bound in ("f", 1e-3), ("d", 1e-9), ("F", 1e-3), ("D", 1e-9):
    matrix = random.standard_normal((7, 7)) + (1j * random.standard_normal((7, 7)) if letter in "FD" else 0)
    given = cupy.asarray(matrix.astype(letter))
    values, vectors = cupy.linalg.eig(given)
    assert cupy.allclose(given @ vectors, vectors * values, rtol=bound, atol=bound)
    found, wanted = (numpy.sort_complex(each) for each in (cupy.linalg.eigvals(given).get(),
                                                           numpy.linalg.eigvals(matrix.astype(letter))))
    assert numpy.allclose(found, wanted, rtol=bound, atol=bound), (found, wanted)
try:
    from cupyx.scipy import sparse  # imports SciPy
except ImportError:
    sparse = None
if sparse:
    chain = sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (40, 40)).tocsr()
    right = cupy.asarray(random.random(40))
    assert cupy.allclose(chain @ csrlsvqr(chain, right), right)
print("works")
