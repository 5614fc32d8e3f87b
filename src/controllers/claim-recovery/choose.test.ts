import { describe, expect, it } from 'vitest'
import type { CoreV1Event, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { volumeTroubles } from './cause.ts'
import { type Due, choose } from './choose.ts'
import { troubleOf } from './due.ts'
import { usedAnnotation, whyKept } from './keeping.ts'
import { boundClaim, complaint, member, nowMs, samplePod } from './sample.ts'

const mount = 'MountVolume.SetUp failed for volume'
const failed = complaint('FailedMount', `${mount} "data" : rpc error`)

describe('volumeTroubles() blames the claim', () => {
  it.each<[string, CoreV1Event[], PersistentVolumeClaim, string]>([
    ['whose volume cannot be mounted', [failed], boundClaim(0), `FailedMount: ${failed.message}`],
    ['by the name of what it is bound to', [complaint('FailedAttachVolume', 'AttachVolume.Attach failed for volume "pv-0" : timed out')], boundClaim(0), 'FailedAttachVolume: AttachVolume.Attach failed for volume "pv-0" : timed out'],
    ['where the node lists what is missing', [complaint('FailedMount', 'Unable to attach or mount volumes: unmounted volumes=[config data], unattached volumes=[]: timed out')], boundClaim(0), 'FailedMount: Unable to attach or mount volumes: unmounted volumes=[config data], unattached volumes=[]: timed out'],
    ['that is not bound', [], boundClaim(0, {}, 'Pending'), 'claim data-web-0 is not bound'],
    ['that is lost', [], boundClaim(0, {}, 'Lost'), 'claim data-web-0 has lost its volume'],
    ['in the words of the newest complaint', [complaint('FailedMount', `${mount} "data" : old`, 100), failed], boundClaim(0), `FailedMount: ${failed.message}`],
  ])('%s', (_, events, claim, cause) => {
    expect(volumeTroubles([{ claim, volume: 'data' }], events, nowMs).map((one) => one.cause)).toEqual([cause])
  })
})

describe('volumeTroubles() blames no claim', () => {
  it.each<[string, CoreV1Event[]]>([
    ['if nobody complains', []],
    ['if a config map is missing', [complaint('FailedMount', `${mount} "config" : configmap "x" not found`)]],
    ['if a config map is missing, and its volume was late before that', [complaint('FailedMount', `${mount} "config" : configmap "x" not found`, 20), failed]],
    ['if the node lists other volumes', [complaint('FailedMount', 'Unable to attach or mount volumes: unmounted volumes=[config], unattached volumes=[]: timed out')]],
    ['if the last complaint was long ago', [complaint('FailedMount', `${mount} "data" : rpc error`, 181)]],
    ['if volumes are there, and the sandbox fails', [complaint('FailedCreatePodSandBox', 'no addresses left', 20), failed]],
    ['if another node has the volume', [complaint('FailedAttachVolume', 'Multi-Attach error for volume "pv-0" Volume is already used by pod(s) a')]],
    ['if it is told about something else', [complaint('BackOff', `${mount} "data"`)]],
  ])('%s', (_, events) => {
    expect(volumeTroubles([{ claim: boundClaim(0), volume: 'data' }], events, nowMs)).toEqual([])
  })
})

describe('whyKept()', () => {
  const ownedBy = (kind: string, apiVersion: string) => ({ ownerReferences: [{ apiVersion, kind, name: 'x', uid: 'x', controller: true }] })
  it.each<[string, Pod, PersistentVolumeClaim, Pod[], string | undefined]>([
    ['may go: made with its pod, which never had a sandbox', samplePod(0), boundClaim(0), [], undefined],
    ['may go: the set owns it', samplePod(0), boundClaim(0, ownedBy('StatefulSet', 'apps/v1')), [], undefined],
    ['is marked', samplePod(0), boundClaim(0, { annotations: { [usedAnnotation]: '2026' } }), [], 'it was used since 2026'],
    ['another owner', samplePod(0), boundClaim(0, ownedBy('Backup', 'example.com/v1')), [], 'it belongs to Backup x'],
    ['its pod is not the first', samplePod(0, { metadata: { annotations: {} } }), boundClaim(0), [], 'it was not made together with pod web-0, and an earlier one may have used it'],
    ['another claim has its name', samplePod(0), boundClaim(0, { uid: 'other' }), [], 'it was not made together with pod web-0, and an earlier one may have used it'],
    ['its pod had a sandbox', samplePod(0, { sandbox: { status: 'False', since: 60 } }), boundClaim(0), [], 'pod web-0 has had a ready sandbox with it'],
    ['nothing is known', samplePod(0, { status: { startTime: undefined } }), boundClaim(0), [], 'it is not known whether pod web-0 ever had a ready sandbox'],
    ['somebody else names it', samplePod(0), boundClaim(0), [samplePod(5)], 'it is used by pod web-5, too'],
  ])('%s', (_, pod, claim, others, wanted) => {
    expect(whyKept(pod, claim, others)).toBe(wanted)
  })
})

describe('choose()', () => {
  const due = (pod: Pod, claim?: PersistentVolumeClaim): Due => ({ member: member(pod, claim), trouble: troubleOf(pod)! })
  const unready = samplePod(1, { sandbox: { status: 'True', since: 500 } })
  const mark = { annotations: { [usedAnnotation]: '2026' } }
  it.each<[string, Due[], CoreV1Event[], string]>([
    ['a pod with its claim', [due(samplePod(0))], [failed], 'recreate web-0 data-web-0'],
    ['a pod alone', [due(unready)], [], 'recreate web-1'],
    ['nothing, if it is not the volume', [due(samplePod(0))], [], 'nothing'],
    ['nothing, if another pod complains', [due(samplePod(2))], [failed], 'nothing'],
    ['the next, if nothing is known of the first', [due(samplePod(2)), due(unready)], [], 'recreate web-1'],
    ['the next, if the claim of the first has to stay', [due(samplePod(0), boundClaim(0, mark)), due(unready)], [failed], 'recreate web-1'],
    ['nothing, if the claim has to stay, and says so', [due(samplePod(0), boundClaim(0, mark))], [failed], 'keep web-0 data-web-0'],
  ])('%s', (_, all, events, wanted) => {
    const choice = choose(all, events, nowMs)
    if (!choice) expect('nothing').toBe(wanted)
    else if (choice.kind === 'keep') expect(`keep ${choice.pod} ${choice.claim}`).toBe(wanted)
    else expect(['recreate', choice.recovery.pod, ...Object.keys(choice.recovery.claims)].join(' ')).toBe(wanted)
  })

  it('leaves all claims alone where one that is in the way has to stay', () => {
    const pod = samplePod(0, { spec: { volumes: [] } })
    const other = { claim: boundClaim(0, { name: 'log-web-0', uid: 'uid-log', ...mark }), volume: 'log', isUsed: true, users: [pod] }
    const both: Due = { member: { ...member(pod), claims: [...member(pod).claims, other] }, trouble: troubleOf(pod)! }
    expect(choose([both], [failed, complaint('FailedMount', `${mount} "log" : rpc error`)], nowMs)).toMatchObject({ kind: 'keep', claim: 'log-web-0' })
  })
})
