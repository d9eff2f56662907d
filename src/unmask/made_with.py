"""What a result was made with: versions of libraries, and the code that linear algebra takes on this processor."""

import platform
from importlib.metadata import version

PACKAGES = ("narwhals", "numba", "numpy", "polars", "scikit-learn", "scipy", "unmask")
KERNELS = "kernels of linear algebra"


def made_with(*others: str) -> dict[str, str]:
    """Versions by name; ``others`` are further packages.

    OpenBLAS adds in another order on another kind of processor (SkylakeX, Haswell ...). What is learnt then differs in
    the last digits, and a figure that hangs on them, as a choice between two equally good recipes, by more.
    """
    versions = {name: version(name) for name in (*PACKAGES, *others)}
    return {"python": platform.python_version(), **versions, KERNELS: _kernels()}


def _kernels() -> str:
    import numpy as np  # noqa: F401, PLC0415 - brings the library
    from threadpoolctl import threadpool_info  # noqa: PLC0415 - comes with scikit-learn

    found = {
        f"{library['internal_api']} {library.get('architecture', '')}".strip()
        for library in threadpool_info() if library["user_api"] == "blas"
    }  # fmt: skip
    return ", ".join(sorted(found)) or "unknown"
