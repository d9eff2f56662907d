"""Machine code for planting a tree, as native.py: keys are sorted apart eight at a time, rows turned 32 at a time.

`divide` needs an instruction that moves the chosen numbers of a vector together (AVX-512); other machines take one
number after the other, without a branch.
"""

# ruff: noqa: ANN401, ARG001  # what numba passes to an intrinsic has no types

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

I64 = ir.IntType(64)
EIGHT = 8
KEYS, FLAGS = ir.VectorType(I64, EIGHT), ir.VectorType(ir.IntType(1), EIGHT)
SIDE = 32  # rows that are turned at a time: as many vectors of eight as leave room for others
ROWS = ir.VectorType(ir.DoubleType(), SIDE)

emitted: Any = intrinsic  # as in native.py
_alloca: Any = cgutils.alloca_once_value
_copy: Any = cgutils.raw_memcpy


@emitted
def divide(typing: Any, keys: Any, first: Any, last: Any, pivot: Any, room: Any) -> Any:
    """Emit search.splitting.divide."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data, other = (context.make_array(signature.args[i])(context, builder, args[i]).data for i in (0, 4))
        begin, last, pivot = args[1:4]
        middle, others = _alloca(builder, begin), _alloca(builder, I64(0))
        done = begin
        if has_compress(context):
            done = _by_eights(builder, (data, other), (begin, last, pivot), (middle, others))
        with cgutils.for_range_slice(builder, done, last, I64(1), I64) as (i, _):
            key = builder.load(builder.gep(data, [i]))
            smaller = builder.zext(builder.icmp_signed("<", key, pivot), I64)
            left, right = builder.load(middle), builder.load(others)
            builder.store(key, builder.gep(data, [left]))
            builder.store(key, builder.gep(other, [right]))
            builder.store(builder.add(left, smaller), middle)
            builder.store(builder.add(right, builder.sub(I64(1), smaller)), others)
        left, size = builder.load(middle), builder.mul(builder.load(others), I64(EIGHT))
        _copy(builder, builder.gep(data, [left]), other, size, 1)
        return left

    return types.int64(keys, types.int64, types.int64, types.int64, room), emit


def has_compress(context: Any) -> bool:
    """Whether the machine that is compiled for has the instruction."""
    return "+avx512f" in str(context.codegen().magic_tuple())


def _by_eights(builder: Any, arrays: Any, bounds: Any, counts: Any) -> Any:
    """All but the last few keys; returns where those begin. What is written beyond the count was read before."""
    kind = ir.FunctionType(KEYS, [KEYS, KEYS, FLAGS])
    together = builder.module.declare_intrinsic("llvm.x86.avx512.mask.compress.v8i64", (), kind)
    (data, other), (begin, last, pivot), nothing = arrays, bounds, ir.Constant(KEYS, None)
    whole = builder.and_(builder.sub(last, begin), I64(-EIGHT))
    end = builder.add(begin, whole)
    lanes = builder.insert_element(ir.Constant(KEYS, ir.Undefined), pivot, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), None)
    pivots = builder.shuffle_vector(lanes, ir.Constant(KEYS, ir.Undefined), zeros)
    with cgutils.for_range_slice(builder, begin, end, I64(EIGHT), I64) as (i, _):
        keys = builder.load(_vector(builder, data, i), align=8)
        smaller = builder.icmp_signed("<", keys, pivots)
        number = builder.ctpop(builder.zext(builder.bitcast(smaller, ir.IntType(EIGHT)), I64))
        added = (number, builder.sub(I64(EIGHT), number))
        for flags, array, count, more in zip(
            (smaller, builder.not_(smaller)), (data, other), counts, added, strict=True
        ):
            place = builder.load(count)
            builder.store(builder.call(together, [keys, nothing, flags]), _vector(builder, array, place), align=8)
            builder.store(builder.add(place, more), count)
    return end


def _vector(builder: Any, data: Any, i: Any) -> Any:
    return builder.bitcast(builder.gep(data, [i]), KEYS.as_pointer())


@emitted
def turn(typing: Any, rotation: Any, room: Any, turned: Any) -> Any:
    """Emit search.frame.turn."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, arg) for kind, arg in zip(signature.args, args, strict=True)
        ]
        matrix, rows, out = (array.data for array in arrays)
        size, length = (builder.extract_value(arrays[1].shape, i) for i in range(2))
        nothing, zeros = ir.Constant(ROWS, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), SIDE), None)
        with (
            cgutils.for_range_slice(builder, I64(0), length, I64(SIDE), I64) as (i, _),
            cgutils.for_range(builder, size) as outer,
        ):
            total = _alloca(builder, ir.Constant(ROWS, None))
            builder.store(ir.Constant(ROWS, None), total)
            with cgutils.for_range(builder, size) as loop:
                factor = builder.load(builder.gep(matrix, [builder.add(builder.mul(loop.index, size), outer.index)]))
                one = builder.insert_element(nothing, factor, ir.IntType(32)(0))
                factors = builder.shuffle_vector(one, nothing, zeros)
                part = builder.fmul(factors, builder.load(_rows(builder, rows, loop.index, length, i), align=8))
                builder.store(builder.fadd(builder.load(total), part), total)
            builder.store(builder.load(total), _rows(builder, out, outer.index, length, i), align=8)
        return context.get_dummy_value()

    return types.void(rotation, room, turned), emit


def _rows(builder: Any, data: Any, k: Any, length: Any, i: Any) -> Any:
    place = builder.add(builder.mul(k, length), i)
    return builder.bitcast(builder.gep(data, [place]), ROWS.as_pointer())
