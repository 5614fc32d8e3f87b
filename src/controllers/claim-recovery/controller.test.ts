import { expect, it } from 'vitest'
import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimRecovery } from '../../api/kinds/workloads/claim-recovery.ts'
import { isForsaken } from './controller.ts'
import { podFinalizer } from './plan.ts'
import { ago, samplePod, sampleSet } from './sample.ts'

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set', controller: true }
const kept = samplePod(0, { metadata: { finalizers: [podFinalizer], ownerReferences: [owner] } })
const set = sampleSet()

it.each<[string, Pod, StatefulSet | undefined, boolean]>([
  ['its set looks after it', kept, set, false],
  ['it is kept by nobody', samplePod(0), undefined, false],
  ['its set is gone', kept, undefined, true],
  ['another set has the name', kept, { ...set, metadata: { ...set.metadata, uid: 'other' } }, true],
  ['its set is going', kept, { ...set, metadata: { ...set.metadata, deletionTimestamp: ago(1) } }, true],
  ['its set asks for nothing any more', kept, sampleSet({ annotations: { [claimRecovery]: undefined } }), true],
  ['its set has let go of it', { ...kept, metadata: { ...kept.metadata, ownerReferences: [] } }, set, true],
])('isForsaken(): %s', (_, pod, known, wanted) => {
  expect(isForsaken(pod, () => known)).toBe(wanted)
})
