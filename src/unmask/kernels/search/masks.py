"""Which of the 48 points of a leaf are wanted, told at once: by a limit, by cost and price, or by lot.

As in vector.py, each function has a plain twin in NumPy that says what is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import overload

from unmask.kernels.search.vector import FLOATS, I64, INLINE, LEAF, VECTOR, emitted, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.kernels.search.tree import Singles

DOUBLES = ir.VectorType(ir.DoubleType(), VECTOR)
SCRAMBLE = 0x45D9F3B  # of draws


def near_mask(far: Singles, within: float) -> int:
    """Bits of the distances of a leaf's points within a limit."""
    return sum(1 << int(j) for j in np.flatnonzero(far <= np.float32(within)))


def level_mask(
    far: Singles, price: NDArray[np.float64], first: int, cut: float, frame: tuple[float, float, float, bool]
) -> int:
    """Bits of a leaf's points whose cost + price may be below `cut`. The prices are those from place `first` on.

    `frame` is (unit, error, slack, root): a pair that costs r has a stored distance of at most (r unit + error) (1 +
    slack), the first factor squared if a cost is a root.
    """
    unit, error, slack, root = frame
    room = cut - price[first : first + LEAF]
    reach = room * unit + error
    within = (reach * reach if root else reach) * (1.0 + slack) + 1e-36
    return sum(1 << int(j) for j in np.flatnonzero((room >= 0.0) & (far <= within)))


def lot_mask(rows: NDArray[np.int64], first: int, stem: int, least: int) -> int:
    """Bits of a leaf's points whose draw, lottery.branch(stem, row), is at least `least`. Rows are below 2**32."""
    draws: NDArray[np.uint32] = (rows[first : first + LEAF] ^ stem).astype(np.uint32)
    for _ in range(2):
        for _ in range(2):
            draws = np.multiply(draws ^ (draws >> np.uint32(16)), np.uint32(SCRAMBLE))
        draws = draws ^ (draws >> np.uint32(16))
    return sum(1 << int(j) for j in np.flatnonzero(draws >= least))


def _add(builder: Any, mask: Any, chosen: Any, part: int) -> Any:  # noqa: ANN401
    """Emit the bits of one vector of a leaf, added to a mask."""
    bits = builder.zext(builder.bitcast(chosen, ir.IntType(VECTOR)), I64)
    return builder.or_(mask, builder.shl(bits, I64(part * VECTOR)))


@emitted
def _near_mask(typing: Any, far: Any, within: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        limits, mask = spread(builder, args[1]), I64(0)
        for i in range(LEAF // VECTOR):
            at = builder.bitcast(builder.gep(data, [I64(i * VECTOR)]), FLOATS.as_pointer())
            close = builder.fcmp_ordered("<=", builder.load(at, align=4), limits)
            mask = _add(builder, mask, close, i)
        return mask

    return types.int64(far, types.float32), emit


@emitted
def _level_mask(typing: Any, far: Any, price: Any, first: Any, cut: Any, frame: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        stored = context.make_array(signature.args[0])(context, builder, args[0]).data
        prices = builder.gep(context.make_array(signature.args[1])(context, builder, args[1]).data, [args[2]])
        unit, error, slack, root = (builder.extract_value(args[4], i) for i in range(4))
        root = builder.trunc(root, ir.IntType(1)) if root.type != ir.IntType(1) else root
        slack = builder.fadd(slack, ir.DoubleType()(1.0))
        one = (args[3], unit, error, slack, ir.DoubleType()(1e-36))
        cut, unit, error, slack, tiny = (spread(builder, number) for number in one)
        mask = I64(0)
        for i in range(LEAF // VECTOR):
            at = [builder.gep(side, [I64(i * VECTOR)]) for side in (prices, stored)]
            room = builder.fsub(cut, builder.load(builder.bitcast(at[0], DOUBLES.as_pointer()), align=8))
            distance = builder.fpext(builder.load(builder.bitcast(at[1], FLOATS.as_pointer()), align=4), DOUBLES)
            reach = builder.fadd(builder.fmul(room, unit), error)
            within = builder.fmul(builder.select(root, builder.fmul(reach, reach), reach), slack)
            near = builder.fcmp_ordered("<=", distance, builder.fadd(within, tiny))
            near = builder.and_(near, builder.fcmp_ordered(">=", room, ir.Constant(DOUBLES, None)))
            mask = _add(builder, mask, near, i)
        return mask

    return types.int64(far, price, types.int64, types.float64, frame), emit


@emitted
def _lot_mask(typing: Any, rows: Any, first: Any, stem: Any, least: Any) -> Any:  # noqa: ANN401, ARG001
    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
        data = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        words, longs = ir.VectorType(ir.IntType(32), VECTOR), ir.VectorType(I64, VECTOR)
        half, factor = (ir.Constant(words, [number] * VECTOR) for number in (16, SCRAMBLE))
        stem, least = (spread(builder, builder.trunc(number, ir.IntType(32))) for number in args[2:])
        mask = I64(0)
        for i in range(LEAF // VECTOR):
            at = builder.bitcast(builder.gep(data, [I64(i * VECTOR)]), longs.as_pointer())
            draws = builder.xor(builder.trunc(builder.load(at, align=8), words), stem)
            for _ in range(2):
                for _ in range(2):
                    draws = builder.mul(builder.xor(draws, builder.lshr(draws, half)), factor)
                draws = builder.xor(draws, builder.lshr(draws, half))
            mask = _add(builder, mask, builder.icmp_unsigned(">=", draws, least), i)
        return mask

    return types.int64(rows, types.int64, types.int64, types.int64), emit


@overload(near_mask, strict=False, jit_options=INLINE)
def _near_mask_compiled(far: Any, within: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(far: Any, within: Any) -> Any:  # noqa: ANN401
        return _near_mask(far, within)

    return compiled


@overload(level_mask, strict=False, jit_options=INLINE)
def _level_mask_compiled(far: Any, price: Any, first: Any, cut: Any, frame: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(far: Any, price: Any, first: Any, cut: Any, frame: Any) -> Any:  # noqa: ANN401
        return _level_mask(far, price, first, cut, frame)

    return compiled


@overload(lot_mask, strict=False, jit_options=INLINE)
def _lot_mask_compiled(rows: Any, first: Any, stem: Any, least: Any) -> Any:  # noqa: ANN401, ARG001
    def compiled(rows: Any, first: Any, stem: Any, least: Any) -> Any:  # noqa: ANN401
        return _lot_mask(rows, first, stem, least)

    return compiled
