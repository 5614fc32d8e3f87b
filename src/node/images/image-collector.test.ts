import { expect, it } from 'vitest'
import { Logger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { ImageCollector } from './image-collector.ts'

it('ImageCollector removes other images if one cannot be removed', async () => {
  const images = ['stuck', 'old', 'older', 'kept'].map((id) => ({ id, tags: [`${id}:1`], sizeBytes: 60, isPinned: false }))
  const runtime = {
    listImages: async () => images,
    imagesInUse: async () => new Set(['kept']),
    removeImage: async (id: string) => {
      if (id === 'stuck') throw new Error('the image is used by a snapshot')
    },
  } as unknown as Runtime
  const clock = new VirtualClock()
  const said: string[] = []
  const collector = new ImageCollector({
    runtime, clock, logger: new Logger((line) => void said.push(line)),
    event: (_type, _reason, message) => void said.push(message),
    disk: async () => ({ capacity: 1000, available: 100 }),
  })
  await collector.look()
  clock.advance(120_000)
  expect(await collector.look()).toEqual(['old:1', 'older:1'])
  expect(said.filter((line) => line.includes('could not be removed'))).toEqual([expect.stringContaining('stuck:1')])
  expect(said.filter((line) => line.includes('Failed to garbage collect')).length).toBe(1)
})
