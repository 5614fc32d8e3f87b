import type { ListedImage } from '../runtime/runtime.ts'

/** Kubelet's defaults: above the first share of the disk images are removed, until the second is reached. */
const highThreshold = 0.85
const lowThreshold = 0.8
/** An image that was pulled just now may be needed by a container that is being created. */
const leastAgeMs = 120_000

/** An unused image and the time of its last use. */
interface IdleImage extends ListedImage {
  lastUsedMs: number
  detectedMs: number
}

/** The number of bytes to free. 0 if the usage is below the threshold. */
export function bytesToFree(disk: { capacity: number; available: number }): number {
  const used = disk.capacity - disk.available
  return disk.capacity > 0 && used / disk.capacity >= highThreshold
    ? Math.max(0, used - lowThreshold * disk.capacity)
    : 0
}

/** The images that may be removed, the least recently used first. Pure. */
export const removableImages = (images: readonly IdleImage[], nowMs: number): IdleImage[] =>
  images
    .filter(({ isPinned, detectedMs }) => !isPinned && nowMs - detectedMs >= leastAgeMs)
    .sort((a, b) => a.lastUsedMs - b.lastUsedMs || a.detectedMs - b.detectedMs)
