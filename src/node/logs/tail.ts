import type { FileHandle } from 'node:fs/promises'

const blockBytes = 64 * 1024
const newline = 0x0a

/**
 * How many lines are found in a file from its end, and where the earliest of them begins: as many as are asked for, or
 * all there are.
 */
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
      // The end of the last line begins none.
      if (start + at + 1 === size) continue
      if (++found === lines) return { lines, position: start + at + 1 }
    }
    end = start
  }
  return { lines: size > 0 ? found + 1 : 0, position: 0 }
}
