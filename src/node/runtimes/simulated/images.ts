import { createHash } from 'node:crypto'

const known = new Map<string, { id: string; sizeBytes: number }>()

/** Simulates a pulled image. The id and the size (1 to 200 MB) are derived from the name. */
export function simulatedImage(image: string): { id: string; sizeBytes: number } {
  let found = known.get(image)
  if (!found) {
    const digest = createHash('sha256').update(image).digest()
    found = { id: `sha256:${digest.toString('hex')}`, sizeBytes: 1_000_000 + (digest.readUInt32BE(0) % 199_000_000) }
    known.set(image, found)
  }
  return found
}
