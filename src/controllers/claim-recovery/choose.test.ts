import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimUsed } from '../../api/kinds/claim-recovery.ts'
import { mountFailure } from '../../api/kinds/sandbox-condition.ts'
import { volumeTroubles } from './cause.ts'
import { choose } from './choose.ts'
import { type Due, troubleOf } from './due.ts'
import { around, boundClaim, claimSays, failing, member, samplePod } from './sample.ts'

const rpcError = mountFailure('data', 'rpc error')
const failed = (ordinal = 0): Pod => failing(ordinal, 'VolumeMountFailed', rpcError)

describe('volumeTroubles() blames the claim', () => {
  const lost = 'claim data-web-0 has lost its volume'
  it.each<[string, Pod, PersistentVolumeClaim, string]>([
    ['whose volume cannot be mounted', failed(), boundClaim(0), `VolumeMountFailed: ${rpcError}`],
    ['that its node does not find', failing(0, 'ClaimNotFound', rpcError), boundClaim(0), `ClaimNotFound: ${rpcError}`],
    ['that is not bound', samplePod(0), boundClaim(0, {}, 'Pending'), 'claim data-web-0 is not bound'],
    ['that is lost', samplePod(0), boundClaim(0, {}, 'Lost'), lost],
    ['that is lost, whatever else is wrong', failing(0, 'NetworkNotReady', 'no'), boundClaim(0, {}, 'Lost'), lost],
  ])('%s', (_, pod, claim, cause) => {
    expect(volumeTroubles(member(pod, claim)).map((one) => one.cause)).toEqual([cause])
  })
})

describe('volumeTroubles() blames no claim', () => {
  it.each<[string, Pod]>([
    ['if its node does not say why, as a kubelet does not', samplePod(0)],
    ['if a config map is missing', failing(0, 'ConfigMapNotFound', mountFailure('config', 'configmap "x" not found'))],
    ['if another volume cannot be mounted', failing(0, 'VolumeMountFailed', mountFailure('log', 'rpc error'))],
    ['if no volume is named', failing(0, 'VolumeMountFailed', 'rpc error for volume "data"')],
    ['if volumes are there, and the sandbox fails', failing(0, 'SandboxCreateFailed', 'no handler')],
    ['if there is no network', failing(0, 'NetworkNotReady', 'no addresses left')],
  ])('%s', (_, pod) => {
    expect(volumeTroubles(member(pod))).toEqual([])
  })

  it('if its node is lost, and what it said may be over', () => {
    expect(volumeTroubles({ ...member(failed()), isNodeLost: true })).toEqual([])
  })
})

describe('choose()', () => {
  const due = (pod: Pod, claim?: PersistentVolumeClaim): Due => ({ member: member(pod, claim), trouble: troubleOf(pod)!, tries: 0 })
  const unready = samplePod(1, { sandbox: { status: 'True', since: 500 } })
  const mark = claimSays({ [claimUsed]: '2026' })
  const used = boundClaim(0, mark)
  it.each<[string, Due[], string]>([
    ['a pod with its claim', [due(failed())], 'recreate web-0 data-web-0'],
    ['a pod alone', [due(unready)], 'recreate web-1'],
    ['nothing, if it is not the volume', [due(samplePod(0))], 'nothing'],
    ['the next, if nothing is known of the first', [due(samplePod(2)), due(unready)], 'recreate web-1'],
    ['the next, if the claim of the first has to stay', [due(failed(), used), due(unready)], 'recreate web-1'],
    ['nothing, if the claim has to stay, and says so', [due(failed(), used)], 'keep web-0 data-web-0'],
  ])('%s', (_, all, wanted) => {
    const choice = choose(all, around)
    if (!choice) expect('nothing').toBe(wanted)
    else if (choice.kind === 'keep') expect(`keep ${choice.pod} ${choice.claim}`).toBe(wanted)
    else expect(['recreate', choice.recovery.pod, ...Object.keys(choice.recovery.claims)].join(' ')).toBe(wanted)
  })

  it('leaves all claims alone where one that is in the way has to stay', () => {
    const pod = failed()
    const claim = boundClaim(0, { name: 'log-web-0', uid: 'uid-log', ...mark }, 'Lost')
    const other = { claim, volume: 'log', isUsed: true, users: [pod] }
    const both: Due = { member: { ...member(pod), claims: [...member(pod).claims, other] }, trouble: troubleOf(pod)!, tries: 0 }
    expect(choose([both], around)).toMatchObject({ kind: 'keep', claim: 'log-web-0' })
  })
})
