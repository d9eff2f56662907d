"""Distances from one probe to 48 points or 16 boxes at a time, in vector registers.

numba's loop vectoriser leaves such short loops at a tenth of the machine's speed, because sums go through memory. Here
the sums are written as LLVM vectors and stay in registers. Each function has a plain twin in NumPy with the same name:
it says what is computed, and it is what runs when numba is switched off (NUMBA_DISABLE_JIT=1).

All numbers are float32 and are used to exclude only, so their order of summation is free (see tree.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from unmask.kernels.base.space import CHEBYSHEV, EUCLIDEAN, MANHATTAN

if TYPE_CHECKING:
    from unmask.kernels.search.tree import Singles

VECTOR = 16
LEAF = 48  # points of a leaf: a multiple of VECTOR, at most 63 as their bits go into one integer
FLOATS = ir.VectorType(ir.FloatType(), VECTOR)
I64 = ir.IntType(64)
FUSE = ("contract",)  # lets a product and a sum become one instruction
CHECK = 4  # attributes between two looks at whether any point is still within the limit


def point_mask(
    lanes: Singles,
    leaf: int,
    probe: Singles,
    kinds: tuple[Singles, Singles, int, int, bool],
    within: float,
    far: Singles,
) -> int:
    """Bits of the points of a leaf within a limit; their distances are in `far` if there is any such point.

    `kinds` is (contribution of missing values, of unequal codes, number of numeric attributes, norm, plain).
    """
    missing, step, numeric, norm, _ = kinds
    gaps = np.abs(probe[:, None] - lanes[leaf])
    parts = np.where(np.isnan(gaps), missing[:, None], _parts(gaps, step, numeric, norm))
    far[:] = _total(parts, norm)
    return sum(1 << int(j) for j in np.flatnonzero(far <= within))


def box_mask(
    box: tuple[Singles, Singles, Singles],
    group: int,
    probe: Singles,
    kinds: tuple[Singles, Singles, int, int, bool],
    within: float,
    gaps: Singles,
) -> int:
    """Bits of the boxes (low, high, relief) of a group within a limit; `gaps` are bounds of their distances."""
    missing, step, numeric, norm, _ = kinds
    low, high, relief = (side[group] for side in box)
    with np.errstate(invalid="ignore"):
        outside = np.maximum(np.maximum(low - probe[:, None], probe[:, None] - high), np.float32(0.0))
        parts = np.minimum(_parts(outside, step, numeric, norm), relief)
    parts = np.where(np.isnan(probe)[:, None], missing[:, None], parts)
    gaps[:] = _total(parts, norm)
    return sum(1 << int(j) for j in np.flatnonzero(gaps <= within))


def lowest_bit(mask: int) -> int:
    """Index of the lowest bit that is set."""
    return (int(mask) & -int(mask)).bit_length() - 1


def _parts(gaps: Singles, step: Singles, numeric: int, norm: int) -> Singles:
    parts = gaps * gaps if norm == EUCLIDEAN else gaps.copy()
    parts[numeric:] = np.where(gaps[numeric:] > 0, step[numeric:, None], np.float32(0.0))
    return parts


def _total(parts: Singles, norm: int) -> Singles:
    total: Singles = parts.max(axis=0, initial=0.0) if norm == CHEBYSHEV else parts.sum(axis=0, dtype=np.float32)
    return total


emitted: Any = intrinsic  # typed as taking the arguments of its emitter, which is not how it is called
_alloca: Any = cgutils.alloca_once_value


def spread(builder: Any, scalar: Any) -> Any:  # noqa: ANN401
    """Emit a vector of one number."""
    nothing = ir.Constant(ir.VectorType(scalar.type, VECTOR), ir.Undefined)
    one = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), None))


class _Emitter:
    """Emits what point_mask and box_mask have in common."""

    def __init__(self, context: Any, builder: Any, probe: tuple[Any, Any], kinds: tuple[Any, Any]) -> None:  # noqa: ANN401
        self.context, self.builder = context, builder
        self.probe = context.make_array(probe[0])(context, builder, probe[1])
        self.width = builder.extract_value(self.probe.shape, 0)
        kind_type, kind = kinds
        missing, step, numeric, norm, plain = (builder.extract_value(kind, i) for i in range(5))
        self.missing = context.make_array(kind_type[0])(context, builder, missing).data
        self.step = context.make_array(kind_type[1])(context, builder, step).data
        self.numeric, self.norm = numeric, norm
        self.plain = builder.trunc(plain, ir.IntType(1)) if plain.type != ir.IntType(1) else plain

    def rows(self, array: Any, value: Any, index: Any, size: int) -> Any:  # noqa: ANN401
        """Pointer to the first number of array[index], whose rows are `size` long."""
        data = self.context.make_array(array)(self.context, self.builder, value).data
        offset = self.builder.mul(self.builder.mul(index, self.width), I64(size))
        return self.builder.gep(data, [offset])

    def vector(self, pointer: Any, offset: Any) -> Any:  # noqa: ANN401
        at = self.builder.bitcast(self.builder.gep(pointer, [offset]), FLOATS.as_pointer())
        return self.builder.load(at, align=4)

    def splat(self, scalar: Any) -> Any:  # noqa: ANN401
        return spread(self.builder, scalar)

    def scalar(self, pointer: Any, k: Any) -> Any:  # noqa: ANN401
        return self.builder.load(self.builder.gep(pointer, [k]))

    def larger(self, a: Any, b: Any) -> Any:  # noqa: ANN401
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:  # noqa: ANN401
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def size(self, gap: Any) -> Any:  # noqa: ANN401
        words = ir.VectorType(ir.IntType(32), VECTOR)
        unsigned = self.builder.and_(self.builder.bitcast(gap, words), ir.Constant(words, [0x7FFFFFFF] * VECTOR))
        return self.builder.bitcast(unsigned, FLOATS)

    def add(self, total: Any, gap: Any, norm: int) -> Any:  # noqa: ANN401
        """Add the contribution of numeric gaps to a total."""
        if norm == EUCLIDEAN:
            return self.builder.fadd(total, self.builder.fmul(gap, gap, flags=FUSE), flags=FUSE)
        return self.gather(total, self.size(gap), norm)

    def gather(self, total: Any, part: Any, norm: int) -> Any:  # noqa: ANN401
        return self.larger(part, total) if norm == CHEBYSHEV else self.builder.fadd(total, part)

    def part(self, gap: Any, k: Any, norm: int) -> Any:  # noqa: ANN401
        """Contribution of gaps in attribute k, numeric or nominal."""
        builder, zero = self.builder, ir.Constant(FLOATS, None)
        number = builder.fmul(gap, gap) if norm == EUCLIDEAN else self.size(gap)
        unequal = builder.fcmp_unordered("!=", gap, zero)
        code = builder.select(unequal, self.splat(self.scalar(self.step, k)), zero)
        return builder.select(builder.icmp_signed("<", k, self.numeric), number, code)

    def cases(self, body: Any) -> None:  # noqa: ANN401
        """Emit body(norm, plain) for each of the six cases, with a branch to the one that is wanted."""
        for plain in (True, False):
            for norm in (EUCLIDEAN, MANHATTAN, CHEBYSHEV):
                is_norm = self.builder.icmp_signed("==", self.norm, self.norm.type(norm))
                is_plain = self.plain if plain else self.builder.not_(self.plain)
                with self.builder.if_then(self.builder.and_(is_norm, is_plain)):
                    body(norm, plain)

    def bits(self, total: Any, within: Any) -> Any:  # noqa: ANN401
        close = self.builder.fcmp_ordered("<=", total, within)
        return self.builder.zext(self.builder.bitcast(close, ir.IntType(VECTOR)), I64)


@emitted
def _point_mask(typing: Any, lanes: Any, leaf: Any, probe: Any, kinds: Any, within: Any, far: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        kind = signature.args
        tool = _Emitter(context, builder, (kind[2], args[2]), (kind[3], args[3]))
        row = tool.rows(kind[0], args[0], args[1], LEAF)
        within = tool.splat(args[4])
        totals = [_alloca(builder, ir.Constant(FLOATS, None)) for _ in range(LEAF // VECTOR)]
        for total in totals:
            builder.store(ir.Constant(FLOATS, None), total)

        def body(norm: int, plain: bool) -> None:  # noqa: FBT001
            with cgutils.for_range(builder, tool.width) as loop:
                q = tool.splat(tool.scalar(tool.probe.data, loop.index))
                start = builder.mul(loop.index, I64(LEAF))
                for i, total in enumerate(totals):
                    gap = builder.fsub(q, tool.vector(row, builder.add(start, I64(i * VECTOR))))
                    if plain:
                        builder.store(tool.add(builder.load(total), gap, norm), total)
                    else:
                        lost = builder.fcmp_unordered("uno", gap, gap)
                        constant = tool.splat(tool.scalar(tool.missing, loop.index))
                        part = builder.select(lost, constant, tool.part(gap, loop.index, norm))
                        builder.store(tool.gather(builder.load(total), part, norm), total)
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
            mask = builder.or_(mask, builder.shl(tool.bits(builder.load(total), within), I64(i * VECTOR)))
        with builder.if_then(builder.icmp_signed("!=", mask, I64(0))):
            out = context.make_array(kind[5])(context, builder, args[5]).data
            for i, total in enumerate(totals):
                at = builder.bitcast(builder.gep(out, [I64(i * VECTOR)]), FLOATS.as_pointer())
                builder.store(builder.load(total), at, align=4)
        return mask

    return types.int64(lanes, types.int64, probe, kinds, types.float32, far), emit


@emitted
def _box_mask(typing: Any, box: Any, group: Any, probe: Any, kinds: Any, within: Any, gaps: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        kind = signature.args
        tool = _Emitter(context, builder, (kind[2], args[2]), (kind[3], args[3]))
        low, high, relief = (
            tool.rows(kind[0][i], builder.extract_value(args[0], i), args[1], VECTOR) for i in range(3)
        )
        zero = ir.Constant(FLOATS, None)
        total = _alloca(builder, zero)
        builder.store(zero, total)

        def body(norm: int, plain: bool) -> None:  # noqa: FBT001
            with cgutils.for_range(builder, tool.width) as loop:
                scalar = tool.scalar(tool.probe.data, loop.index)
                q, start = tool.splat(scalar), builder.mul(loop.index, I64(VECTOR))
                below = builder.fsub(tool.vector(low, start), q)
                gap = tool.larger(tool.larger(below, builder.fsub(q, tool.vector(high, start))), zero)
                if plain:
                    builder.store(tool.add(builder.load(total), gap, norm), total)
                else:
                    part = tool.smaller(tool.part(gap, loop.index, norm), tool.vector(relief, start))
                    constant = tool.splat(tool.scalar(tool.missing, loop.index))
                    part = builder.select(builder.fcmp_unordered("uno", scalar, scalar), constant, part)
                    builder.store(tool.gather(builder.load(total), part, norm), total)

        tool.cases(body)
        out = context.make_array(kind[5])(context, builder, args[5]).data
        builder.store(builder.load(total), builder.bitcast(out, FLOATS.as_pointer()), align=4)
        return tool.bits(builder.load(total), tool.splat(args[4]))

    return types.int64(box, types.int64, probe, kinds, types.float32, gaps), emit


@emitted
def _lowest_bit(typing: Any, mask: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401, ARG001
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), emit


INLINE: Any = {"forceinline": True, "_nrt": False}  # as compiling.inlined does


@overload(point_mask, strict=False, jit_options=INLINE)
def _point_mask_compiled(lanes: Any, leaf: Any, probe: Any, kinds: Any, within: Any, far: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(lanes: Any, leaf: Any, probe: Any, kinds: Any, within: Any, far: Any) -> Any:  # noqa: ANN401
        return _point_mask(lanes, leaf, probe, kinds, within, far)

    return compiled


@overload(box_mask, strict=False, jit_options=INLINE)
def _box_mask_compiled(box: Any, group: Any, probe: Any, kinds: Any, within: Any, gaps: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(box: Any, group: Any, probe: Any, kinds: Any, within: Any, gaps: Any) -> Any:  # noqa: ANN401
        return _box_mask(box, group, probe, kinds, within, gaps)

    return compiled


@overload(lowest_bit, strict=False, jit_options=INLINE)
def _lowest_bit_compiled(mask: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(mask: Any) -> Any:  # noqa: ANN401
        return _lowest_bit(mask)

    return compiled
