"""Machine code for a block of four queries and the 48 points of a leaf, as native.py, in whole numbers of 8 bits.

One instruction of many machines (VNNI) multiplies 64 pairs of such numbers and adds them up by fours; others take the
even and the odd ones in 16 bits. A block keeps all its sums in registers, and nothing is rounded.

Here is also the instruction that asks for a line of memory before it is needed (`fetch`).
"""

# ruff: noqa: ANN401, ARG001  # what numba passes to an intrinsic has no types

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unmask.kernels.base import LANES, LEAF, PART, ROWS

WORDS = ir.VectorType(ir.IntType(32), LANES)
HALVES = ir.VectorType(ir.IntType(16), 2 * LANES)
I64 = ir.IntType(64)

emitted: Any = intrinsic  # as in native.py
_alloca: Any = cgutils.alloca_once_value


class _Block:
    """Four queries, the points of a leaf, and the sums of products so far."""

    def __init__(self, context: Any, builder: Any, arrays: dict[int, Any], args: Any) -> None:
        self.builder, self.within = builder, arrays[4].data
        self.length = builder.extract_value(arrays[2].shape, 1)
        self.tile = builder.gep(arrays[0].data, [builder.mul(builder.mul(args[1], self.length), I64(LEAF))])
        starts = [builder.mul(builder.add(args[3], I64(i)), self.length) for i in range(ROWS)]
        self.rows = [builder.gep(arrays[2].data, [start]) for start in starts]
        none = ir.Constant(WORDS, None)
        self.totals = [[_alloca(builder, none) for _ in range(LEAF // LANES)] for _ in range(ROWS)]
        for total in (total for row in self.totals for total in row):
            builder.store(none, total)
        self.add = _multiplier(context, builder)

    def points(self, k: Any) -> list[Any]:
        start = self.builder.mul(k, I64(LEAF))
        return [_words(self.builder, self.tile, self.builder.add(start, I64(v * LANES))) for v in range(LEAF // LANES)]

    def scalar(self, pointer: Any, k: Any) -> Any:
        return self.builder.load(self.builder.gep(pointer, [k]))

    def meet(self, k: Any) -> None:
        """Add the products of a word of four attributes."""
        points = self.points(k)
        for row, totals in zip(self.rows, self.totals, strict=True):
            query = _splat(self.builder, self.scalar(row, k))
            for point, total in zip(points, totals, strict=True):
                self.builder.store(self.add(self.builder.load(total), query, point), total)

    def distances(self, i: int, sums: list[Any]) -> list[Any]:
        """Those of a query so far, less its own sum."""
        return [
            self.builder.sub(one, self.builder.load(total)) for one, total in zip(sums, self.totals[i], strict=True)
        ]

    def nobody(self, at: Any) -> Any:
        """Whether no point is within any limit, by the sums at a word."""
        builder, sums, near = self.builder, self.points(at), []
        for i, row in enumerate(self.rows):
            least = reduce(partial(_smaller, builder), self.distances(i, sums))
            room = builder.sub(self.scalar(self.within, I64(i)), self.scalar(row, at))
            near.append(builder.icmp_signed("<=", least, _splat(builder, room)))
        return builder.icmp_signed("==", _bits(builder, reduce(builder.or_, near)), I64(0))


@emitted
def block_masks(typing: Any, tiles: Any, leaf: Any, probes: Any, first: Any, within: Any, masks: Any, far: Any) -> Any:
    """Emit search.masks.block_masks."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = {i: context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 2, 4, 5, 6)}
        block, end = _Block(context, builder, arrays, args), _alloca(builder, I64(0))
        parts = builder.udiv(builder.add(block.length, I64(PART)), I64(PART + 1))
        with cgutils.for_range(builder, parts) as loop:
            begin, last = builder.mul(loop.index, I64(PART + 1)), builder.sub(block.length, I64(1))
            stop = builder.add(begin, I64(PART))
            stop = builder.select(builder.icmp_signed("<", stop, last), stop, last)
            builder.store(stop, end)
            with cgutils.for_range(builder, stop, start=begin) as inside:
                block.meet(inside.index)
            with builder.if_then(block.nobody(stop)):
                loop.do_break()
        stop, found, every = builder.load(end), I64(0), []
        sums = block.points(stop)
        for i, row in enumerate(block.rows):
            own, mask = _splat(builder, block.scalar(row, stop)), I64(0)
            most = _splat(builder, block.scalar(block.within, I64(i)))
            every.append([builder.add(one, own) for one in block.distances(i, sums)])
            for v, one in enumerate(every[i]):
                close = builder.icmp_signed("<=", one, most)
                mask = builder.or_(mask, builder.shl(_bits(builder, close), I64(v * LANES)))
            builder.store(mask, builder.gep(arrays[5].data, [I64(i)]))
            found = builder.or_(found, mask)
        with builder.if_then(builder.icmp_signed("!=", found, I64(0))):
            for k, one in enumerate(one for row in every for one in row):
                at = builder.gep(arrays[6].data, [I64(k * LANES)])
                builder.store(one, builder.bitcast(at, WORDS.as_pointer()), align=4)
        return found

    return types.int64(tiles, types.int64, probes, types.int64, within, masks, far), emit


def has_vnni(context: Any) -> bool:
    """Whether the machine that is compiled for has the instruction."""
    return "+avx512vnni" in str(context.codegen().magic_tuple())


def _multiplier(context: Any, builder: Any) -> Callable[[Any, Any, Any], Any]:
    """What adds the products of bytes, four to a word, to a total: those of a query from 0, those of points signed."""
    if has_vnni(context):
        kind = ir.FunctionType(WORDS, [WORDS, WORDS, WORDS])
        code = builder.module.declare_intrinsic("llvm.x86.avx512.vpdpbusd.512", (), kind)
        return lambda total, query, point: builder.call(code, [total, query, point])
    eight, low = ir.Constant(HALVES, [8] * 2 * LANES), ir.Constant(HALVES, [255] * 2 * LANES)

    def add(total: Any, query: Any, point: Any) -> Any:
        query, point = builder.bitcast(query, HALVES), builder.bitcast(point, HALVES)
        even = _products(builder, builder.and_(query, low), builder.ashr(builder.shl(point, eight), eight))
        odd = _products(builder, builder.lshr(query, eight), builder.ashr(point, eight))
        return builder.add(builder.add(total, even), odd)

    return add


def _words(builder: Any, pointer: Any, offset: Any) -> Any:
    return builder.load(builder.bitcast(builder.gep(pointer, [offset]), WORDS.as_pointer()), align=4)


def _splat(builder: Any, scalar: Any) -> Any:
    nothing = ir.Constant(WORDS, ir.Undefined)
    one = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(WORDS, None))


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _products(builder: Any, one: Any, other: Any) -> Any:
    """The products of numbers of 16 bits, two neighbours added: one instruction of most machines."""
    wide = ir.VectorType(ir.IntType(32), 2 * LANES)
    product = builder.mul(builder.sext(one, wide), builder.sext(other, wide))
    even, odd = (
        builder.shuffle_vector(product, product, ir.Constant(WORDS, [2 * j + part for j in range(LANES)]))
        for part in (0, 1)
    )
    return builder.add(even, odd)


def _bits(builder: Any, close: Any) -> Any:
    return builder.zext(builder.bitcast(close, ir.IntType(LANES)), I64)


@emitted
def fetch(typing: Any, table: Any, row: Any) -> Any:
    """Emit bits.fetch: for reading, soon, and no code."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        start = builder.mul(args[1], builder.extract_value(array.shape, 1))
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        where = builder.bitcast(builder.gep(array.data, [start]), byte)
        builder.call(ask, [where, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(table, types.int64), emit
