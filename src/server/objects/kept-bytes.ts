import { getHeapStatistics } from 'node:v8'

/**
 * V8 starts a full garbage collection after every 64 MB of ArrayBuffers, however large the heap is, and spends 5 ms on
 * it with each further one. With 100,000 pods that is a collection of gigabytes every few seconds. SharedArrayBuffers
 * are collected in the same way but are not counted. So only a part of the bytes is counted: all in a heap of up to
 * 128 MB, half of them in one of 256 MB, and so on.
 */
const heapOfOne = 128 * 1024 * 1024
/** The size of the heap is read once in so many allocations. */
const lookEvery = 1024

let made = 0
let countedOneIn = 1

/** Bytes of their own, of no shared pool, for what is kept as long as a version of an object. */
export function keptBytes(length: number): Buffer {
  made++
  if (made % lookEvery === 0) countedOneIn = Math.max(1, Math.round(getHeapStatistics().used_heap_size / heapOfOne))
  return made % countedOneIn === 0 ? Buffer.allocUnsafeSlow(length) : Buffer.from(new SharedArrayBuffer(length))
}

/** Buffers of which bytes that pass soon are parts: each costs as much as a small one. */
const slabBytes = 1 << 16
let slab: Buffer = Buffer.alloc(0)
let used = 0

/** Bytes for what is sent or stored, and then dropped. Whoever keeps them keeps all of a slab. */
export function passingBytes(length: number): Buffer {
  if (length > slabBytes / 4) return Buffer.allocUnsafeSlow(length)
  if (used + length > slab.length) {
    slab = Buffer.from(new SharedArrayBuffer(slabBytes))
    used = 0
  }
  used += length
  return slab.subarray(used - length, used)
}

/** Texts and bytes one after the other, as bytes to be kept. */
export function keptPieces(...pieces: readonly (Buffer | string)[]): Buffer {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const bytes = keptBytes(length)
  let at = 0
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)
  return bytes
}
