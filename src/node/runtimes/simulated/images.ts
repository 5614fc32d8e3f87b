import { createHash } from 'node:crypto'

const known = new Map<string, { id: string; sizeBytes: number }>()

/** An image as if it had been pulled: the same name always has the same id and size, between 1 and 200 MB. */
export function simulatedImage(image: string): { id: string; sizeBytes: number } {
  let found = known.get(image)
  if (!found) {
    const digest = createHash('sha256').update(image).digest()
    found = { id: `sha256:${digest.toString('hex')}`, sizeBytes: 1_000_000 + (digest.readUInt32BE(0) % 199_000_000) }
    known.set(image, found)
  }
  return found
}
