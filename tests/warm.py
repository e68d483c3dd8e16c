"""What kernels are forks of: a process with what the labs need of other libraries, none of bnlab.

Bokeh is `lean` in it, and numba knows what it looks up before it uses any machine code.
"""

import bokeh.plotting  # noqa: F401
import ipykernel.kernelapp  # noqa: F401
import ipywidgets  # noqa: F401
import networkx  # noqa: F401
import pandas  # noqa: F401
from lean import make_lean
from numba.core.registry import cpu_target
from once import share

make_lean(setattr)
share()
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
