import { statfs } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { bytesToFree, removableImages } from './garbage.ts'

const lookMs = 300_000

interface ImageCollectorOptions {
  runtime: Runtime
  clock: Clock
  logger: Logger
  event(type: 'Normal' | 'Warning', reason: string, message: string): void
  /** The usage of the image disk. Default: the file system of the runtime's images. */
  disk?(): Promise<{ capacity: number; available: number } | undefined>
}

/** Removes unused images when their disk is nearly full. */
export class ImageCollector {
  readonly #o: ImageCollectorOptions
  /** The times at which each image was first seen, and last seen in use. */
  readonly #seen = new Map<string, { detectedMs: number; lastUsedMs: number }>()
  #cancel = () => {}
  #isStopped = false

  constructor(options: ImageCollectorOptions) {
    this.#o = options
  }

  start(): void {
    if (!this.#o.runtime.imageDirectory) return
    void this.look().then(() => {
      if (!this.#isStopped) this.#cancel = this.#o.clock.after(lookMs, () => this.start())
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  /** Checks the disk once. Resolves with the names of the removed images. */
  async look(): Promise<string[]> {
    const { logger } = this.#o
    try {
      return await this.#collect()
    } catch (error) {
      logger.warn('failed to remove unused images', { error })
      return []
    }
  }

  async #collect(): Promise<string[]> {
    const { runtime, clock, logger, event } = this.#o
    const nowMs = clock.now()
    const [images, used] = await Promise.all([runtime.listImages(), runtime.imagesInUse?.() ?? new Set<string>()])
    const isUsed = ({ id, tags }: { id: string; tags: readonly string[] }) =>
      used.has(id) || tags.some((tag) => used.has(tag))
    const ids = new Set(images.map(({ id }) => id))
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id)
    for (const image of images) {
      const seen = this.#seen.get(image.id) ?? { detectedMs: nowMs, lastUsedMs: 0 }
      this.#seen.set(image.id, isUsed(image) ? { ...seen, lastUsedMs: nowMs } : seen)
    }
    const disk = await (this.#o.disk ?? (() => this.#imageDisk()))()
    const wanted = disk ? bytesToFree(disk) : 0
    if (wanted === 0) return []
    const removed: string[] = []
    let freed = 0
    const idle = images.filter((image) => !isUsed(image)).map((image) => ({ ...image, ...this.#seen.get(image.id)! }))
    for (const { id, tags, sizeBytes } of removableImages(idle, nowMs)) {
      if (freed >= wanted) break
      try {
        await runtime.removeImage(id)
      } catch (error) {
        logger.warn('an image could not be removed', { image: tags.at(-1) ?? id, error })
        continue
      }
      removed.push(tags.at(-1) ?? id)
      freed += sizeBytes
    }
    if (freed < wanted)
      event(
        'Warning',
        'FreeDiskSpaceFailed',
        `Failed to garbage collect required amount of images. Attempted to free ${Math.round(wanted)} bytes, but only found ${freed} bytes eligible to free.`,
      )
    return removed
  }

  async #imageDisk(): Promise<{ capacity: number; available: number } | undefined> {
    const directory = await this.#o.runtime.imageDirectory?.()
    if (directory === undefined) return undefined
    const { blocks, bavail, bsize } = await statfs(directory)
    return { capacity: blocks * bsize, available: bavail * bsize }
  }
}
