import type { ListedImage } from '../runtime/runtime.ts'

/** Kubelet's defaults: above the first part of the disk images are removed, until the second is reached. */
const highThreshold = 0.85
const lowThreshold = 0.8
/** An image that appeared just now may be that of a container which is about to be made. */
const leastAgeMs = 120_000

/** An image that is not in use, and since when. */
interface IdleImage extends ListedImage {
  lastUsedMs: number
  detectedMs: number
}

/** Bytes that have to become free; 0 where there is enough. */
export function bytesToFree(disk: { capacity: number; available: number }): number {
  const used = disk.capacity - disk.available
  return disk.capacity > 0 && used / disk.capacity >= highThreshold
    ? Math.max(0, used - lowThreshold * disk.capacity)
    : 0
}

/** The images to remove to free so much: those that were not used for the longest time first. Pure. */
export function imagesToRemove(images: readonly IdleImage[], wantedBytes: number, nowMs: number): IdleImage[] {
  const candidates = images
    .filter(({ isPinned, detectedMs }) => !isPinned && nowMs - detectedMs >= leastAgeMs)
    .sort((a, b) => a.lastUsedMs - b.lastUsedMs || a.detectedMs - b.detectedMs)
  const chosen: IdleImage[] = []
  let freed = 0
  for (const image of candidates) {
    if (freed >= wantedBytes) break
    chosen.push(image)
    freed += image.sizeBytes
  }
  return chosen
}
