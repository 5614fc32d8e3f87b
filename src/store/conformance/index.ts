import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreClosedError } from '../store.ts'
import { describeCompaction } from './compaction.ts'
import { describeRanges } from './ranges.ts'
import { describeOneProcess } from './one-process.ts'
import { Scene } from './scene.ts'
import type { StoreUnderTest } from './scene.ts'
import { describeWatches } from './watches.ts'
import { describeWrites } from './writes.ts'

/** Tests the whole contract of Store against a driver. Set `isShared` for a driver that other processes write to. */
export function describeStore(name: string, make: () => Promise<StoreUnderTest>, { isShared = false } = {}): void {
  describe(`${name} store`, () => {
    let scene: Scene

    beforeEach(async () => {
      scene = await Scene.open(make)
    })

    afterEach(() => scene.close())

    describeWrites(() => scene)
    describeRanges(() => scene)
    describeWatches(() => scene)
    describeCompaction(() => scene)
    if (!isShared) describeOneProcess(() => scene)

    describe('close()', () => {
      it('completes the writes under way and refuses new ones', async () => {
        const writing = scene.put('/a', 'x')
        const closing = scene.store.close()
        await expect(scene.put('/b', 'x')).rejects.toThrow(StoreClosedError)
        expect(await writing).toBeGreaterThan(scene.start)
        await closing
        await expect(scene.store.get('/a')).rejects.toThrow(StoreClosedError)
        await expect(scene.store.range('/')).rejects.toThrow(StoreClosedError)
        await expect(scene.store.watch('/', scene.start, () => undefined)).rejects.toThrow(StoreClosedError)
        await expect(scene.store.compact(1)).rejects.toThrow(StoreClosedError)
        await scene.store.close()
      })
    })
  })
}
