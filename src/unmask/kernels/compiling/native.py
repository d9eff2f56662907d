"""Machine code that numba's own compiler does not make, and options that it does not promise: this file alone has them.

Each function here is named like one that is decorated with `machine` (bits.py; search/masks.py says what is computed)
and takes its place. numba's loop vectoriser leaves such short loops at a tenth of the machine's speed, because sums go
through memory; here they are written as LLVM vectors and stay in registers. Where this file cannot be loaded, the
functions run as written: the same results, later.

All distances are float32 and are used to exclude only, so their order of summation is free (see search/tree.py).
"""

# ruff: noqa: ANN401, ARG001  # what numba passes to an intrinsic has no types

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, sigutils
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions
from numba.extending import intrinsic

from unmask.kernels.base import CHEBYSHEV, EUCLIDEAN, LANES, LEAF, MANHATTAN
from unmask.kernels.compiling.blocks import block_masks, fetch  # noqa: F401 - functions of this file
from unmask.kernels.compiling.planting import divide, turn  # noqa: F401 - the same
from unmask.kernels.compiling.sides import (  # noqa: F401 - the same
    FLOATS,
    I64,
    Rows,
    box_sides,
    high_branches,
    nearest_of,
    side_mask,
    split,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "wrapped": {"no_cfunc_wrapper": True},
    "unwrapped": {"no_cfunc_wrapper": True, "no_cpython_wrapper": True},
    "uncounted": {"_nrt": False},
    "forced": {"forceinline": True},
}
for _names in OPTIONS.values():
    for _name in _names:
        getattr(DefaultOptions, _name)  # an option that numba no longer has: AttributeError, and all runs as written

FUSE = ("contract",)  # lets a product and a sum become one instruction
CHECK = 4  # attributes between two looks at whether any point is still within the limit

emitted: Any = intrinsic  # typed as taking the arguments of its emitter, which is not how it is called
_alloca: Any = cgutils.alloca_once_value
_kept: Any = FunctionCache
_library: Any = JITCodeLibrary
_compiler: Any = Compiler
_widened: Any = types.unliteral
_types_of: Any = sigutils.normalize_signature


@emitted
def popcount(typing: Any, word: Any) -> Any:
    """Count the ones of a word."""

    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), emit


@emitted
def lowest(typing: Any, word: Any) -> Any:
    """Return the position of the lowest one of a word that has one."""

    def emit(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.uint64), emit


class _Emitter(Rows):
    """Emits what point_mask and box_mask have in common."""

    def __init__(self, context: Any, builder: Any, probe: tuple[Any, Any], kinds: tuple[Any, Any]) -> None:
        super().__init__(context, builder, probe)
        kind_type, kind = kinds
        missing, step, numeric, norm, plain = (builder.extract_value(kind, i) for i in range(5))
        self.missing = context.make_array(kind_type[0])(context, builder, missing).data
        self.step = context.make_array(kind_type[1])(context, builder, step).data
        self.numeric, self.norm = numeric, norm
        self.plain = builder.trunc(plain, ir.IntType(1)) if plain.type != ir.IntType(1) else plain

    def add(self, total: Any, gap: Any, norm: int) -> Any:
        """Add the contribution of numeric gaps to a total."""
        if norm == EUCLIDEAN:
            return self.builder.fadd(total, self.builder.fmul(gap, gap, flags=FUSE), flags=FUSE)
        return self.gather(total, self.size(gap), norm)

    def gather(self, total: Any, part: Any, norm: int) -> Any:
        return self.larger(part, total) if norm == CHEBYSHEV else self.builder.fadd(total, part)

    def part(self, gap: Any, k: Any, norm: int) -> Any:
        """Contribution of gaps in attribute k, numeric or nominal."""
        builder, zero = self.builder, ir.Constant(FLOATS, None)
        number = builder.fmul(gap, gap) if norm == EUCLIDEAN else self.size(gap)
        unequal = builder.fcmp_unordered("!=", gap, zero)
        code = builder.select(unequal, self.splat(self.scalar(self.step, k)), zero)
        return builder.select(builder.icmp_signed("<", k, self.numeric), number, code)

    def collect(self, total: Any, gap: Any, k: Any, case: tuple[int, bool], lost: Any, most: Any = None) -> None:
        """Add gaps in attribute k to a total; unless plain, at most so much, and a constant where a value is lost."""
        builder, (norm, plain) = self.builder, case
        if plain:
            builder.store(self.add(builder.load(total), gap, norm), total)
            return
        part = self.part(gap, k, norm) if most is None else self.smaller(self.part(gap, k, norm), most)
        part = builder.select(lost, self.splat(self.scalar(self.missing, k)), part)
        builder.store(self.gather(builder.load(total), part, norm), total)

    def cases(self, body: Any) -> None:
        """Emit body((norm, plain)) for each of the six cases, with a branch to the one that is wanted."""
        for plain in (True, False):
            for norm in (EUCLIDEAN, MANHATTAN, CHEBYSHEV):
                is_norm = self.builder.icmp_signed("==", self.norm, self.norm.type(norm))
                is_plain = self.plain if plain else self.builder.not_(self.plain)
                with self.builder.if_then(self.builder.and_(is_norm, is_plain)):
                    body((norm, plain))


@emitted
def point_mask(typing: Any, lanes: Any, leaf: Any, probe: Any, kinds: Any, within: Any, far: Any) -> Any:
    """Emit search.masks.point_mask."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args
        tool = _Emitter(context, builder, (kind[2], args[2]), (kind[3], args[3]))
        row = tool.rows(kind[0], args[0], args[1], LEAF)
        within = tool.splat(args[4])
        totals = [_alloca(builder, ir.Constant(FLOATS, None)) for _ in range(LEAF // LANES)]
        for total in totals:
            builder.store(ir.Constant(FLOATS, None), total)

        def body(case: tuple[int, bool]) -> None:
            with cgutils.for_range(builder, tool.width) as loop:
                q = tool.splat(tool.scalar(tool.probe.data, loop.index))
                start = builder.mul(loop.index, I64(LEAF))
                for i, total in enumerate(totals):
                    gap = builder.fsub(q, tool.vector(row, builder.add(start, I64(i * LANES))))
                    tool.collect(total, gap, loop.index, case, builder.fcmp_unordered("uno", gap, gap))
                look = builder.icmp_signed("==", builder.and_(loop.index, I64(CHECK - 1)), I64(CHECK - 1))
                with builder.if_then(look):
                    least = builder.load(totals[0])
                    for total in totals[1:]:
                        least = tool.smaller(least, builder.load(total))
                    with builder.if_then(builder.icmp_signed("==", tool.bits(least, within), I64(0))):
                        loop.do_break()

        tool.cases(body)
        mask = I64(0)
        for i, total in enumerate(totals):
            mask = builder.or_(mask, builder.shl(tool.bits(builder.load(total), within), I64(i * LANES)))
        with builder.if_then(builder.icmp_signed("!=", mask, I64(0))):
            out = context.make_array(kind[5])(context, builder, args[5]).data
            for i, total in enumerate(totals):
                at = builder.bitcast(builder.gep(out, [I64(i * LANES)]), FLOATS.as_pointer())
                builder.store(builder.load(total), at, align=4)
        return mask

    return types.int64(lanes, types.int64, probe, kinds, types.float32, far), emit


@emitted
def box_mask(typing: Any, box: Any, group: Any, probe: Any, kinds: Any, within: Any, gaps: Any) -> Any:
    """Emit search.masks.box_mask."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args
        tool = _Emitter(context, builder, (kind[2], args[2]), (kind[3], args[3]))
        low, high, relief = (tool.rows(kind[0][i], builder.extract_value(args[0], i), args[1], LANES) for i in range(3))
        zero = ir.Constant(FLOATS, None)
        total = _alloca(builder, zero)
        builder.store(zero, total)

        def body(case: tuple[int, bool]) -> None:
            with cgutils.for_range(builder, tool.width) as loop:
                scalar = tool.scalar(tool.probe.data, loop.index)
                q, start = tool.splat(scalar), builder.mul(loop.index, I64(LANES))
                below = builder.fsub(tool.vector(low, start), q)
                gap = tool.larger(tool.larger(below, builder.fsub(q, tool.vector(high, start))), zero)
                lost = builder.fcmp_unordered("uno", scalar, scalar)
                tool.collect(total, gap, loop.index, case, lost, tool.vector(relief, start))

        tool.cases(body)
        out = context.make_array(kind[5])(context, builder, args[5]).data
        builder.store(builder.load(total), builder.bitcast(out, FLOATS.as_pointer()), align=4)
        return tool.bits(builder.load(total), tool.splat(args[4]))

    return types.int64(box, types.int64, probe, kinds, types.float32, gaps), emit


class _PartLibrary(_library):  # type: ignore[misc]  # numba's classes have no types
    """The code of a function that only kernels call: it becomes a part of theirs, and is optimised and emitted there.

    numba would optimise it and make machine code of it by itself first, which nobody runs: for its own functions too.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, _name: str) -> int:
        """Tell that there is nothing to be called from outside."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk: there is no machine code."""
        return self.serialize_using_bitcode()

    @property
    def codegen(self) -> Any:
        """Where numba asks for the code generator to set what a function needs from Python: these need nothing."""
        return self

    def set_env(self, _name: str, _env: Any) -> None:
        """Do nothing."""


@contextmanager
def _made_of(library: Any, codegen: Any) -> Iterator[None]:
    """Let libraries be of this class while the block runs, which has the compiler's lock."""
    before = codegen._library_class  # noqa: SLF001 - see the docstring of this file
    codegen._library_class = library  # noqa: SLF001
    try:
        yield
    finally:
        codegen._library_class = before  # noqa: SLF001


class PartCompiler(_compiler):  # type: ignore[misc]
    """Compiles functions that only kernels call, and what they need of numba's own."""

    library: Any = _PartLibrary

    def compile_extra(self, func: Any) -> Any:
        """Compile into a library of this kind; what is compiled on the way for it is a part."""
        codegen = self.state.targetctx.codegen()
        self.state.library = self.library(codegen, func.__qualname__)
        self.state.library.enable_object_caching()
        with _made_of(_PartLibrary, codegen):
            return super().compile_extra(func)


class KernelCompiler(PartCompiler):
    """Compiles functions that Python calls: machine code is made of them alone."""

    library = _library

    def compile_extra(self, func: Any) -> Any:
        """Compile, and set what the parts need from Python, which they have no code of their own to keep in."""
        compiled = super().compile_extra(func)
        for environment in compiled._find_referenced_environments():  # noqa: SLF001
            compiled.codegen.set_env(environment.env_name, environment)
        return compiled


def compile_little(compiled: Any) -> None:
    """Let a function be compiled once for all numbers of a type, and without a search for garbage in between.

    numba compiles a function that is called with a constant for this very constant, and then again for its type.
    """
    template_of, compile_ = compiled.get_call_template, compiled.compile

    def for_types(args: Any, kws: Any) -> Any:
        return template_of(tuple(map(_widened, args)), {name: _widened(one) for name, one in kws.items()})

    def undisturbed(sig: Any) -> Any:
        with _without_garbage_collection():
            return compile_(sig)

    compiled.get_call_template, compiled.compile = for_types, undisturbed


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """A compiler makes many objects that stay: looking through them again and again takes a tenth of its time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


UNREADABLE = (OSError, EOFError, pickle.UnpicklingError, ImportError, AttributeError)  # the last: types of before


class _Careful(_kept):  # type: ignore[misc]  # numba's classes have no types
    """Compiled functions on disk, where a fault of the disk or a second run at the same time does no harm.

    What cannot be written is compiled again by the next run. Two runs that save two signatures of one function at the
    same time may leave one under the name of the other: what is read back must be what was asked for.
    """

    library: Any = _library

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write what was compiled, if that is possible."""
        with suppress(*UNREADABLE):
            super().save_overload(sig, data)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read what was compiled for these types; nothing where it cannot be read or is for others."""
        try:
            with global_compiler_lock, _made_of(self.library, target_context.codegen()):
                found = super().load_overload(sig, target_context)
        except UNREADABLE:
            with suppress(OSError):
                self.flush()  # what cannot be read is begun anew
            return None
        wanted, _ = _types_of(sig)
        return found if found is not None and tuple(found.signature.args) == tuple(wanted) else None


def keep_carefully(compiled: Any) -> None:
    """Let a function that is kept on disk be kept so."""
    compiled._cache = _Careful(compiled.py_func)  # noqa: SLF001 - see the docstring of this file
    compiled._cache.library = compiled._compiler.pipeline_class.library  # noqa: SLF001
