"""Models in files: what can be read without running what is in the file, and what only its owner should open."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

import numpy as np

from unmask.errors import EngineError, ParameterError, TableError

PICKLES = (".joblib", ".pickle", ".pkl")
TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_, "tensor(string)": np.object_,
}  # fmt: skip
DANGER = "it can run any command on this computer when it is opened"


def load_model(path: str | Path, *, trust: bool = False) -> Any:  # noqa: ANN401 - whatever was saved
    """Read a model from a .joblib, .pkl, .skops or .onnx file.

    A pickle (joblib's too) is a program: it is opened only where ``trust`` says that it is the owner's own.
    """
    file = Path(path)
    if not file.is_file():
        raise TableError(f"no model at {file}")
    kind = file.suffix.lower()
    if kind in PICKLES:
        if not trust:
            raise ParameterError(
                f"{file} is a pickle, and is not opened: {DANGER}",
                hint="say --trust if you made it yourself; or save it as .skops or .onnx",
            )
        return _opened(lambda: _module("joblib", kind).load(file), file)
    if kind == ".skops":
        return _skops(file, trust=trust)
    if kind == ".onnx":
        return _opened(lambda: OnnxModel(_module("onnxruntime", kind).InferenceSession(str(file))), file)
    raise ParameterError(f"cannot tell what {file} is", allowed=", ".join((*PICKLES, ".skops", ".onnx")))


def source_of(path: str | Path) -> dict[str, Any]:
    """Where a model is, and its digest, for the manifest."""
    return {"path": str(path), "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest(), "rows": 0, "columns": 0}


class OnnxModel:
    """A model of onnxruntime with the ways of scikit-learn: labels first, probabilities second, as converters write."""

    def __init__(self, session: Any) -> None:  # noqa: ANN401 - onnxruntime's
        self._session = session
        self._inputs = {one.name: TYPES.get(one.type, np.float32) for one in session.get_inputs()}
        if len(session.get_outputs()) > 1:
            self.predict_proba = self._probabilities
        shape = session.get_inputs()[0].shape
        if len(self._inputs) > 1:  # one for each column: it is asked by their names
            self.feature_names_in_ = np.array(list(self._inputs))
        elif len(shape) == 2 and isinstance(shape[1], int):
            self.n_features_in_ = shape[1]

    def predict(self, rows: Any) -> Any:  # noqa: ANN401 - a matrix, or a frame
        """Labels, or numbers."""
        return np.asarray(self._asked(rows)[0]).ravel()

    def _probabilities(self, rows: Any) -> Any:  # noqa: ANN401
        found = self._asked(rows)[1]
        if isinstance(found, list):  # a dictionary for each row
            self.classes_ = np.array(sorted(found[0]))
            return np.array([[row[name] for name in self.classes_.tolist()] for row in found])
        return np.asarray(found)

    def _asked(self, rows: Any) -> Any:  # noqa: ANN401
        given: dict[str, Any]
        if len(self._inputs) == 1:
            given = {name: np.asarray(rows).astype(kind) for name, kind in self._inputs.items()}
        else:
            given = {name: np.asarray(rows[name]).astype(kind)[:, None] for name, kind in self._inputs.items()}
        return self._session.run(None, given)


def _skops(file: Path, *, trust: bool) -> Any:  # noqa: ANN401
    io = _module("skops.io", ".skops")
    unknown = _opened(lambda: io.get_untrusted_types(file=file), file)
    if unknown and not trust:
        raise ParameterError(
            f"{file} holds types that skops does not know to be harmless", got=", ".join(map(str, unknown[:5])),
            hint="say --trust if you made it yourself",
        )  # fmt: skip
    return _opened(lambda: io.load(file, trusted=unknown), file)


def _module(name: str, kind: str) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".", maxsplit=1)[0]
        raise EngineError(f"{package} is needed to read a {kind} file", hint="pip install 'unmask[models]'") from error


def _opened(opening: Any, file: Path) -> Any:  # noqa: ANN401 - calls what was given
    try:
        return opening()
    except (EngineError, ParameterError):
        raise
    except Exception as error:  # whatever a foreign file brings about
        raise TableError(f"cannot read the model in {file}", got=type(error).__name__) from error
