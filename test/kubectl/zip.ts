import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(fd, bytes, 0, length, position)
  return bytes
}

/** The bytes of one file in a zip archive; throws where there is none of that name. */
export function readZipEntry(archive: string, name: string): Buffer {
  const fd = openSync(archive, 'r')
  try {
    const { size } = fstatSync(fd)
    // The directory's end is the last thing in the file but for a comment of at most 64 KiB.
    const tail = readAt(fd, Math.max(0, size - 65_557), Math.min(size, 65_557))
    let end = tail.length - 22
    while (end >= 0 && tail.readUInt32LE(end) !== endOfDirectory) end--
    if (end < 0) throw new Error(`${archive}: not a zip archive`)
    const directory = readAt(fd, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12))
    for (let at = 0; at < directory.length && directory.readUInt32LE(at) === directoryEntry; ) {
      const nameLength = directory.readUInt16LE(at + 28)
      const entry = directory.toString('utf8', at + 46, at + 46 + nameLength)
      if (entry === name) return readEntry(fd, directory.readUInt32LE(at + 42), directory.readUInt16LE(at + 10), directory.readUInt32LE(at + 20))
      at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    }
    throw new Error(`${archive}: has no ${name}`)
  } finally {
    closeSync(fd)
  }
}

function readEntry(fd: number, position: number, method: number, packedSize: number): Buffer {
  const header = readAt(fd, position, 30)
  const packed = readAt(fd, position + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), packedSize)
  if (method === 0) return packed
  if (method === 8) return inflateRawSync(packed)
  throw new Error(`compression method ${method} is not supported`)
}
