import type { FileHandle } from 'node:fs/promises'

const blockBytes = 64 * 1024
const newline = 0x0a

/** Counts lines from the end of a file, up to a number, and returns the count and the offset of the first of them. */
export async function findTail(file: FileHandle, lines: number): Promise<{ lines: number; position: number }> {
  const { size } = await file.stat()
  if (lines === 0) return { lines: 0, position: size }
  const block = Buffer.alloc(Math.min(blockBytes, size))
  let found = 0
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - blockBytes)
    await file.read(block, 0, end - start, start)
    const bytes = block.subarray(0, end - start)
    for (let at = bytes.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1)) {
      // The end of the last line starts no new line.
      if (start + at + 1 === size) continue
      if (++found === lines) return { lines, position: start + at + 1 }
    }
    end = start
  }
  return { lines: size > 0 ? found + 1 : 0, position: 0 }
}
