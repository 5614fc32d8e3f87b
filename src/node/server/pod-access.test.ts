import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Machine } from '../machine/machine.ts'
import { podNameLabel } from '../runtime/labels.ts'
import { type Runtime, RuntimeError } from '../runtime/runtime.ts'
import { sampleContainer } from '../sample-pod.ts'
import { PodAccess } from './pod-access.ts'

/** A node with the containers `lives` and `ends`; the figures of the latter fail. */
function accessWith(failure: RuntimeError): PodAccess {
  const containers = ['lives', 'ends'].map((id) => ({ ...sampleContainer(id), id, state: 'running' as const, labels: { [podNameLabel]: id } }))
  const runtime = {
    containerUsage: async (id: string) => {
      if (id === 'ends') throw failure
      return { atMs: 0, cpuNanos: 5, memoryBytes: 7 }
    },
  } as unknown as Runtime
  const machine = { look: async () => ({ atMs: 1, cpuNanos: 2, memory: { capacity: 9, available: 4 } }) } as unknown as Machine
  return new PodAccess({ runtime, machine, clock: new VirtualClock(), pod: () => undefined, uids: () => ['uid'], state: () => ({ sandboxes: [], containers }) })
}

describe('PodAccess', () => {
  it.each(['NotFound', 'Unknown'] as const)('has the figures of all other containers when one ends (%s)', async (code) => {
    const access = accessWith(new RuntimeError(code, 'unexpected metrics response'))
    const { node, containers } = await access.figures()
    expect([node.memoryBytes, containers.map(({ pod, cpuNanos }) => `${pod} ${cpuNanos}`)]).toEqual([5, ['lives 5']])
    expect(await access.memoryOf('uid')).toEqual([{ name: 'lives', memoryBytes: 7 }])
  })

  it('has no figures if the runtime does not answer', async () => {
    await expect(accessWith(new RuntimeError('Unavailable', 'connection refused')).figures()).rejects.toThrow('connection refused')
  })
})
