import { describe, expect, it } from 'vitest'
import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { timestamp } from '../../api/object.ts'
import { slowestAmong } from './cluster.ts'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => timestamp(startMs + seconds * 1000)
const pod = (name: string, readyAt: number | undefined, containerStatuses: object[] = []): Pod => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'n1', containers: [] },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: at(0) },
      ...(readyAt === undefined ? [] : [{ type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: at(readyAt) }]),
    ],
    containerStatuses: containerStatuses as ContainerStatus[],
  },
})
const ranFrom = (seconds: number) => ({ terminated: { startedAt: at(seconds), exitCode: 1 } })

describe('slowestAmong()', () => {
  it('has the first twenty, longest first', () => {
    const all = Array.from({ length: 50 }, (_, i) => pod(`p${i}`, (i * 17) % 50))
    expect(slowestAmong(all).map(({ seconds }) => seconds)).toEqual(Array.from({ length: 20 }, (_, i) => 49 - i))
  })

  it.each<[string, Pod, number[]]>([
    ['a pod without a sandbox', pod('a', undefined), []],
    ['a pod whose containers have started after its sandbox', pod('a', 5, [{ state: { running: { startedAt: at(6) } } }]), [5]],
    ['a container that was started again in the same sandbox', pod('a', 5, [{ state: { running: { startedAt: at(99) } }, lastState: ranFrom(6) }]), [5]],
    ['a sandbox that was made anew after three days', pod('a', 259_200, [{ state: { running: { startedAt: at(259_201) } }, lastState: ranFrom(6) }]), []],
  ])('judges %s', (_, one, seconds) => {
    expect(slowestAmong([one]).map((found) => found.seconds)).toEqual(seconds)
  })
})
