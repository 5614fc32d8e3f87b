import { crc32 } from 'node:zlib'
import type { LogRecord } from './record-log.ts'

// CRC32 of the rest (4) · flags (1) · mark or 0 (3) · key length (4) · revision (8) · create revision (8) · previous
// revision (8) · time (8) · key in UTF-8 · value. Little-endian; numbers with 8 bytes are doubles.
const headerSize = 44
const isDelete = 1
const isLastOfCommit = 2

/** The size of an encoded record. */
export function encodedSize({ key, value }: LogRecord): number {
  return headerSize + Buffer.byteLength(key) + (value?.length ?? 0)
}

/** Encodes the record at `start`, where enough space is required, and returns the end offset. */
export function encodeRecord(record: LogRecord, target: Buffer, start: number): number {
  const keyLength = target.write(record.key, start + headerSize)
  const valueStart = start + headerSize + keyLength
  const end = valueStart + (record.value?.length ?? 0)
  const flags = (record.value ? 0 : isDelete) | (record.endsCommit ? isLastOfCommit : 0)
  target[start + 4] = flags
  target.writeUIntLE(record.mark ?? 0, start + 5, 3)
  target.writeUInt32LE(keyLength, start + 8)
  target.writeDoubleLE(record.revision, start + 12)
  target.writeDoubleLE(record.createRevision, start + 20)
  target.writeDoubleLE(record.previousRevision, start + 28)
  target.writeDoubleLE(record.timeMs, start + 36)
  if (record.value) target.set(record.value, valueStart)
  target.writeUInt32LE(crc32(target.subarray(start + 4, end)), start)
  return end
}

/** Decodes a record without its value. */
export function decodeHead(bytes: Buffer): Omit<LogRecord, 'value'> {
  return {
    revision: bytes.readDoubleLE(12),
    key: bytes.toString('utf8', headerSize, valueStart(bytes)),
    createRevision: bytes.readDoubleLE(20),
    previousRevision: bytes.readDoubleLE(28),
    timeMs: bytes.readDoubleLE(36),
    endsCommit: (bytes[4]! & isLastOfCommit) !== 0,
    mark: bytes.readUIntLE(5, 3) || undefined,
  }
}

/** The value, which shares memory with `bytes`. */
export function decodeValue(bytes: Buffer): Buffer | undefined {
  return (bytes[4]! & isDelete) === 0 ? bytes.subarray(valueStart(bytes)) : undefined
}

/** True if the record has the revision and a valid checksum. */
export function isIntact(bytes: Buffer, revision: number): boolean {
  return (
    bytes.length >= headerSize &&
    bytes.readUInt32LE(0) === crc32(bytes.subarray(4)) &&
    bytes.readDoubleLE(12) === revision &&
    valueStart(bytes) <= bytes.length
  )
}

function valueStart(bytes: Buffer): number {
  return headerSize + bytes.readUInt32LE(8)
}
