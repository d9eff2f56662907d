"""Machine code that looks at boxes and points in some attributes only, and what native.py has in common with it.

Where ranks tie by the thousand they are counted: a box is asked in which attributes it goes beyond a limit, and its
points are then looked at in these alone, which are a third of them. Where a draw decides among those that tie, the
numbers of 48 points are scrambled at a time.
"""

# ruff: noqa: ANN401, ARG001  # what numba passes to an intrinsic has no types

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unmask.kernels.base import LANES, LEAF

FLOATS = ir.VectorType(ir.FloatType(), LANES)
WORDS = ir.VectorType(ir.IntType(32), LANES)
I64 = ir.IntType(64)
LONG = ir.VectorType(I64, LANES)
SCRAMBLE = 0x45D9F3B  # that of kernels/draws.py

emitted: Any = intrinsic  # as in native.py
_alloca: Any = cgutils.alloca_once_value
_types: Any = types


class Rows:
    """Emits what all looks at points and boxes have in common."""

    def __init__(self, context: Any, builder: Any, probe: tuple[Any, Any]) -> None:
        self.context, self.builder = context, builder
        self.probe = context.make_array(probe[0])(context, builder, probe[1])
        self.width = builder.extract_value(self.probe.shape, 0)

    def rows(self, array: Any, value: Any, index: Any, size: int) -> Any:
        """Pointer to the first number of array[index], whose rows are `size` long."""
        data = self.context.make_array(array)(self.context, self.builder, value).data
        offset = self.builder.mul(self.builder.mul(index, self.width), I64(size))
        return self.builder.gep(data, [offset])

    def vector(self, pointer: Any, offset: Any) -> Any:
        """Sixteen numbers from a place on."""
        at = self.builder.bitcast(self.builder.gep(pointer, [offset]), FLOATS.as_pointer())
        return self.builder.load(at, align=4)

    def splat(self, scalar: Any) -> Any:
        """Sixteen times the same number."""
        nothing = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
        one = self.builder.insert_element(nothing, scalar, ir.IntType(32)(0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))

    def scalar(self, pointer: Any, k: Any) -> Any:
        """Number k from a place on."""
        return self.builder.load(self.builder.gep(pointer, [k]))

    def larger(self, a: Any, b: Any) -> Any:
        """Whichever is larger; the second where there is no telling."""
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        """Whichever is smaller; the second where there is no telling."""
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def smallest(self, numbers: Any) -> Any:
        """Sixteen times the smallest of sixteen numbers."""
        for half in (8, 4, 2, 1):
            turned = ir.Constant(WORDS, [(j + half) % LANES for j in range(LANES)])
            numbers = self.smaller(numbers, self.builder.shuffle_vector(numbers, numbers, turned))
        return numbers

    def size(self, gap: Any) -> Any:
        """Numbers without their sign."""
        unsigned = self.builder.and_(self.builder.bitcast(gap, WORDS), ir.Constant(WORDS, [0x7FFFFFFF] * LANES))
        return self.builder.bitcast(unsigned, FLOATS)

    def bits(self, total: Any, within: Any) -> Any:
        """Which numbers are within limits."""
        close = self.builder.fcmp_ordered("<=", total, within)
        return self.builder.zext(self.builder.bitcast(close, ir.IntType(LANES)), I64)


@emitted
def box_sides(typing: Any, box: Any, group: Any, probe: Any, limits: Any, sides: Any) -> Any:
    """Emit search.masks.box_sides."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, zero, none = signature.args, ir.Constant(FLOATS, None), ir.Constant(WORDS, None)
        tool = Rows(context, builder, (kind[2], args[2]))
        low, high = (tool.rows(kind[0][i], builder.extract_value(args[0], i), args[1], LANES) for i in range(2))
        within, tied = (tool.splat(builder.extract_value(args[3], i)) for i in range(2))
        total, beyond = _alloca(builder, zero), _alloca(builder, none)
        builder.store(zero, total)
        builder.store(none, beyond)
        with cgutils.for_range(builder, tool.width) as loop:
            q, start = tool.splat(tool.scalar(tool.probe.data, loop.index)), builder.mul(loop.index, I64(LANES))
            below, above = (builder.fsub(q, tool.vector(low, start)), builder.fsub(tool.vector(high, start), q))
            gap = builder.fsub(zero, tool.smaller(below, above))
            builder.store(tool.larger(gap, builder.load(total)), total)
            bit = tool.splat(builder.shl(ir.IntType(32)(1), builder.trunc(loop.index, ir.IntType(32))))
            side = builder.fcmp_ordered(">", tool.larger(below, above), tied)
            side = builder.select(side, bit, none)
            builder.store(builder.or_(builder.load(beyond), side), beyond)
        out = context.make_array(kind[4])(context, builder, args[4]).data
        builder.store(builder.load(beyond), builder.bitcast(out, WORDS.as_pointer()), align=4)
        return tool.bits(builder.load(total), within)

    return types.int64(box, types.int64, probe, _types.UniTuple(types.float32, 2), sides), emit


@emitted
def side_mask(typing: Any, lanes: Any, leaf: Any, probe: Any, sides: Any, within: Any, far: Any) -> Any:
    """Emit search.masks.side_mask."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args
        tool = Rows(context, builder, (kind[2], args[2]))
        row, left = tool.rows(kind[0], args[0], args[1], LEAF), _alloca(builder, args[3])
        builder.store(args[3], left)
        totals = [_alloca(builder, ir.Constant(FLOATS, None)) for _ in range(LEAF // LANES)]
        for total in totals:
            builder.store(ir.Constant(FLOATS, None), total)
        with cgutils.for_range(builder, builder.ctpop(args[3])):
            word = builder.load(left)
            k = builder.cttz(word, ir.IntType(1)(1))
            builder.store(builder.and_(word, builder.sub(word, I64(1))), left)
            q, start = tool.splat(tool.scalar(tool.probe.data, k)), builder.mul(k, I64(LEAF))
            for i, total in enumerate(totals):
                gap = builder.fsub(q, tool.vector(row, builder.add(start, I64(i * LANES))))
                builder.store(tool.larger(tool.size(gap), builder.load(total)), total)
        mask, most, out = I64(0), tool.splat(args[4]), context.make_array(kind[5])(context, builder, args[5]).data
        for i, total in enumerate(totals):
            distances = builder.load(total)
            at = builder.bitcast(builder.gep(out, [I64(i * LANES)]), FLOATS.as_pointer())
            builder.store(distances, at, align=4)
            mask = builder.or_(mask, builder.shl(tool.bits(distances, most), I64(i * LANES)))
        return mask

    return types.int64(lanes, types.int64, probe, types.int64, types.float32, far), emit


@emitted
def split(typing: Any, far: Any, most: Any) -> Any:
    """Emit search.masks.split."""
    answer = _types.Tuple((types.int64, types.float32))

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        tool = Rows(context, builder, (signature.args[0], args[0]))
        most, mask, next_ = tool.splat(args[1]), I64(0), ir.Constant(FLOATS, [float("inf")] * LANES)
        for i in range(LEAF // LANES):
            distances = tool.vector(tool.probe.data, I64(i * LANES))
            mask = builder.or_(mask, builder.shl(tool.bits(distances, most), I64(i * LANES)))
            beyond = builder.select(builder.fcmp_ordered(">", distances, most), distances, next_)
            next_ = tool.smaller(beyond, next_)
        least = builder.extract_element(tool.smallest(next_), ir.IntType(32)(0))
        return context.make_tuple(builder, signature.return_type, [mask, least])

    return answer(far, types.float32), emit


@emitted
def nearest_of(typing: Any, gaps: Any, mask: Any) -> Any:
    """Emit search.masks.nearest_of."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        tool, far = Rows(context, builder, (signature.args[0], args[0])), ir.Constant(FLOATS, [float("inf")] * LANES)
        chosen = builder.bitcast(builder.trunc(args[1], ir.IntType(LANES)), ir.VectorType(ir.IntType(1), LANES))
        numbers = builder.select(chosen, tool.vector(tool.probe.data, I64(0)), far)
        nearest = builder.and_(tool.bits(numbers, tool.smallest(numbers)), args[1])
        nothing = builder.icmp_signed("==", nearest, I64(0))
        return builder.select(nothing, I64(0), builder.cttz(nearest, ir.IntType(1)(0)))

    return types.int64(gaps, types.int64), emit


def _same(kind: Any, number: int) -> Any:
    return ir.Constant(kind, [number] * LANES)


def _mix(builder: Any, h: Any) -> Any:
    """Emit draws.mix, whose products are cut to 32 bits."""
    half, factor = _same(WORDS, 16), _same(WORDS, SCRAMBLE)
    for _ in range(2):
        h = builder.mul(builder.xor(h, builder.lshr(h, half)), factor)
    return builder.xor(h, builder.lshr(h, half))


@emitted
def high_branches(typing: Any, rows: Any, first: Any, mask: Any, h: Any, least: Any) -> Any:
    """Emit draws.high_branches."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        tool, found = Rows(context, builder, (signature.args[0], args[0])), I64(0)
        stem, least = (tool.splat(builder.trunc(number, ir.IntType(32))) for number in args[3:])
        for start in range(0, LEAF, LANES):
            place = builder.gep(tool.probe.data, [builder.add(args[1], I64(start))])
            row = builder.load(builder.bitcast(place, LONG.as_pointer()), align=8)
            upper = builder.trunc(builder.lshr(row, _same(LONG, 32)), WORDS)
            lower = _mix(builder, builder.xor(stem, builder.trunc(row, WORDS)))
            high = builder.icmp_unsigned(">=", _mix(builder, builder.xor(lower, upper)), least)
            bits = builder.zext(builder.bitcast(high, ir.IntType(LANES)), I64)
            found = builder.or_(found, builder.shl(bits, I64(start)))
        return builder.and_(found, args[2])

    return types.int64(rows, types.int64, types.int64, types.int64, types.int64), emit
