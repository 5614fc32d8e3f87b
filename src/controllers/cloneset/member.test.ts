import { expect, it } from 'vitest'
import { graceAnnotation, inPlaceUpdateReady } from '../../api/kinds/pods/in-place-update.ts'
import type { LifecycleState } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { refreshPod } from './in-place.ts'
import { type SamplePod, nowMs, samplePod, set } from './in-place-sample.ts'
import { kruisePodReady } from './lifecycle.ts'
import { memberOf } from './member.ts'

const states: LifecycleState[] = ['', 'PreparingNormal', 'Normal', 'PreparingUpdate', 'Updating', 'Updated', 'PreparingDelete']
const gates = [[], [inPlaceUpdateReady], [kruisePodReady], [inPlaceUpdateReady, kruisePodReady, 'example.com/other']]
const shutters = JSON.stringify([{ userAgent: 'somebody', key: 'else' }])
const conditions = [undefined, { status: 'True' }, { status: 'False' }, { status: 'False', message: shutters }, { status: 'True', message: 'left over' }]
const annotations: Record<string, string>[] = [{}, { [graceAnnotation]: '{}' }]
const hook = { labelsHandler: { block: 'yes' }, markPodNotReady: true }

const samples = function* (): Generator<SamplePod> {
  for (const state of states)
    for (const ours of gates)
      for (const update of conditions)
        for (const hooks of conditions)
          for (const notes of annotations) yield { state, gates: ours, conditions: { [inPlaceUpdateReady]: update, [kruisePodReady]: hooks }, annotations: notes }
}

it('memberOf() calls no pod settled for which something is due, whatever the set says', () => {
  let settled = 0
  for (const sample of samples()) {
    const member = memberOf(set(), samplePod(sample), nowMs)
    if (!member.isSettled) continue
    settled++
    for (const lifecycle of [{}, { preNormal: hook, inPlaceUpdate: hook, preDelete: hook }])
      for (const updateHash of ['r1', 'r2']) expect(refreshPod(set(lifecycle), member, updateHash, nowMs), JSON.stringify(sample)).toEqual({})
  }
  expect(settled).toBeGreaterThan(0)
})

it.each<[string, SamplePod, boolean]>([
  ['serves', {}, true],
  ['has no gates', { gates: [] }, true],
  ['has a gate of others that is shut', { gates: ['example.com/other'], conditions: { 'example.com/other': { status: 'False' } } }, true],
  ['is new', { conditions: { [inPlaceUpdateReady]: undefined } }, false],
  ['is being updated', { conditions: { [inPlaceUpdateReady]: { status: 'False' } } }, false],
  ['is in its grace period', { annotations: { [graceAnnotation]: '{}' } }, false],
  ['waits for a hook', { state: 'PreparingNormal' }, false],
])('memberOf() of a pod that %s', (_, sample, isSettled) => {
  expect(memberOf(set(), samplePod(sample), nowMs).isSettled).toBe(isSettled)
})
