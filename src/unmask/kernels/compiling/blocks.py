"""Machine code for a block of four queries and the 48 points of a leaf, as native.py, in whole numbers of 16 bits.

The squares of two neighbouring numbers are added by one instruction of most machines, and a block keeps all its sums in
registers: four times as many numbers a second as a product of matrices in float32, and nothing is rounded.
"""

# ruff: noqa: ANN401, ARG001  # what numba passes to an intrinsic has no types

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unmask.kernels.base import LANES, LEAF, ROWS

WORDS = ir.VectorType(ir.IntType(32), LANES)
I64 = ir.IntType(64)
LOOK = 8  # pairs of attributes between two looks at whether any point is still within a limit: a power of two

emitted: Any = intrinsic  # as in native.py
_alloca: Any = cgutils.alloca_once_value


@emitted
def block_masks(typing: Any, tiles: Any, leaf: Any, probes: Any, first: Any, within: Any, masks: Any, far: Any) -> Any:
    """Emit search.masks.block_masks."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = {i: context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2, 4, 5, 6)}
        pairs = builder.extract_value(arrays[2].shape, 1)
        tile = builder.gep(arrays[0].data, [builder.mul(builder.mul(args[1], pairs), I64(LEAF))])
        rows = [builder.gep(arrays[2].data, [builder.mul(builder.add(args[3], I64(i)), pairs)]) for i in range(ROWS)]
        most = [_splat(builder, builder.load(builder.gep(arrays[4].data, [I64(i)]))) for i in range(ROWS)]
        totals = [[_alloca(builder, ir.Constant(WORDS, None)) for _ in range(LEAF // LANES)] for _ in range(ROWS)]
        for total in (total for row in totals for total in row):
            builder.store(ir.Constant(WORDS, None), total)

        def close(i: int) -> list[Any]:
            return [builder.icmp_signed("<=", builder.load(total), most[i]) for total in totals[i]]

        with cgutils.for_range(builder, pairs) as loop:
            start = builder.mul(loop.index, I64(LEAF))
            points = [_halves(builder, _words(builder, tile, builder.add(start, I64(v * LANES)))) for v in range(3)]
            for row, into in zip(rows, totals, strict=True):
                query = _halves(builder, _splat(builder, builder.load(builder.gep(row, [loop.index]))))
                for point, total in zip(points, into, strict=True):
                    gap = builder.sub(query, point)
                    builder.store(builder.add(builder.load(total), _squares(builder, gap)), total)
            look = builder.icmp_signed("==", builder.and_(loop.index, I64(LOOK - 1)), I64(LOOK - 1))
            with builder.if_then(look):
                some = [one for i in range(ROWS) for one in close(i)]
                with builder.if_then(builder.icmp_signed("==", _bits(builder, reduce(builder.or_, some)), I64(0))):
                    loop.do_break()
        found = I64(0)
        for i in range(ROWS):
            mask = I64(0)
            for v, one in enumerate(close(i)):
                mask = builder.or_(mask, builder.shl(_bits(builder, one), I64(v * LANES)))
            builder.store(mask, builder.gep(arrays[5].data, [I64(i)]))
            found = builder.or_(found, mask)
        with builder.if_then(builder.icmp_signed("!=", found, I64(0))):
            for i in range(ROWS):
                for v, total in enumerate(totals[i]):
                    at = builder.gep(arrays[6].data, [I64(i * LEAF + v * LANES)])
                    builder.store(builder.load(total), builder.bitcast(at, WORDS.as_pointer()), align=4)
        return found

    return types.int64(tiles, types.int64, probes, types.int64, within, masks, far), emit


def _words(builder: Any, pointer: Any, offset: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(pointer, [offset]), WORDS.as_pointer()), align=4)


def _splat(builder: Any, scalar: Any) -> Any:
    nothing = ir.Constant(WORDS, ir.Undefined)
    one = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(WORDS, None))


def _halves(builder: Any, words: Any) -> Any:
    return builder.bitcast(words, ir.VectorType(ir.IntType(16), 2 * LANES))


def _squares(builder: Any, gap: Any) -> Any:
    """The squares of two neighbouring numbers of 16 bits, added: one instruction of most machines."""
    wide = builder.sext(gap, ir.VectorType(ir.IntType(32), 2 * LANES))
    square = builder.mul(wide, wide)
    even, odd = (
        builder.shuffle_vector(square, square, ir.Constant(WORDS, [2 * j + part for j in range(LANES)]))
        for part in (0, 1)
    )
    return builder.add(even, odd)


def _bits(builder: Any, close: Any) -> Any:
    return builder.zext(builder.bitcast(close, ir.IntType(LANES)), I64)
