"""try_tinygrad.py: does tinygrad run here, with CUDA C and with its own PTX? prints "works"."""

import os
import subprocess
import sys

if "DEV" not in os.environ:
    for device in "CUDA", "CUDA:PTX":
        subprocess.run([sys.executable, __file__], env={**os.environ, "DEV": device, "CACHELEVEL": "0"}, check=True)
    print("works")
    sys.exit()

from tinygrad import Tensor

x = Tensor.arange(64).reshape(8, 8).float()
assert (x @ x).sum().item() == sum(sum(row[k] * sum(x.tolist()[k]) for k in range(8)) for row in x.tolist())
