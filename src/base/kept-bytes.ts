import { getHeapStatistics } from 'node:v8'

/**
 * V8 starts a full garbage collection after every 64 MB of ArrayBuffers, regardless of the heap size, and spends 5 ms
 * on each further one. With 100,000 pods this collects gigabytes every few seconds. SharedArrayBuffers are collected in
 * the same way but not counted. Therefore only a part of the bytes uses ArrayBuffers: all in a heap of up to 128 MB,
 * half in one of 256 MB, and so on.
 */
const heapOfOne = 128 * 1024 * 1024
/** The heap size is read once per this many allocations. */
const lookEvery = 1024

let made = 0
let countedOneIn = 1

/** A buffer outside of Node's pool, for bytes that live as long as a version of an object. */
export function keptBytes(length: number): Buffer {
  made++
  if (made % lookEvery === 0) countedOneIn = Math.max(1, Math.round(getHeapStatistics().used_heap_size / heapOfOne))
  return made % countedOneIn === 0 ? Buffer.allocUnsafeSlow(length) : Buffer.from(new SharedArrayBuffer(length))
}

/**
 * A buffer for bytes that a process reads when it starts and keeps for long. It never causes a collection: none could
 * free it.
 */
export const loadedBuffer = (length: number): Buffer => Buffer.from(new SharedArrayBuffer(length))

/** Copies such bytes. */
export function loadedBytes(bytes: Buffer): Buffer {
  const copy = loadedBuffer(bytes.length)
  bytes.copy(copy)
  return copy
}

/** The size of the slabs that short-lived buffers share. */
const slabBytes = 1 << 16
let slab: Buffer = Buffer.alloc(0)
let used = 0

/** A buffer for short-lived bytes. Keeping it keeps its whole slab. */
export function passingBytes(length: number): Buffer {
  if (length > slabBytes / 4) return Buffer.allocUnsafeSlow(length)
  if (used + length > slab.length) {
    slab = Buffer.from(new SharedArrayBuffer(slabBytes))
    used = 0
  }
  used += length
  return slab.subarray(used - length, used)
}

/** Copies bytes into a long-lived buffer. */
export function keptCopy(bytes: Buffer): Buffer {
  const copy = keptBytes(bytes.length)
  bytes.copy(copy)
  return copy
}

/** Concatenates texts and bytes into a long-lived buffer. */
export function keptPieces(...pieces: readonly (Buffer | string)[]): Buffer {
  let length = 0
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length
  const bytes = keptBytes(length)
  let at = 0
  for (const piece of pieces) at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)
  return bytes
}
