import { describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { claimRecovery, claimRecoveryLimit, claimUsed } from '../../api/kinds/workloads/claim-recovery.ts'
import { mountFailure } from '../../api/kinds/pods/sandbox-condition.ts'
import type { Outcome } from '../kit/index.ts'
import { findCondition } from '../kit/workload/index.ts'
import { type Action, choose, outlookOf, plan, podFinalizer } from './plan.ts'
import { ago, around, boundClaim, claimSays, failing, member, samplePod, sampleSeen, sampleSet } from './sample.ts'
import { type Recovery, stateAnnotation, stateText, triesAnnotation } from './settings.ts'
import { type Decision, annotations, status } from './status.ts'
import { type Due, troubleOf, volumeTroubles } from './trouble.ts'

describe('choose', () => {
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
})

describe('plan', () => {
  const recovery: Recovery = { pod: 'web-0', uid: 'uid-web-0', since: ago(600), claims: { 'data-web-0': 'uid-data-web-0' } }
  const underWay = (over: Partial<Recovery> = {}, more: Parameters<typeof sampleSet>[0] = {}): StatefulSet =>
    sampleSet({ ...more, annotations: { [stateAnnotation]: stateText({ ...recovery, ...over }), ...more.annotations } })
  const podAlone = underWay({ claims: {} })

  const broken = { reason: 'VolumeMountFailed', message: mountFailure('data', 'no') } as const
  const failed = failing(0, broken.reason, broken.message)
  const ready = (ordinal: number, metadata: object = {}): Pod => samplePod(ordinal, { sandbox: { status: 'True', since: 500 }, ready: { status: 'True', since: 400 }, metadata })
  const unready = (ordinal: number, since = 600): Pod => samplePod(ordinal, { sandbox: { status: 'True', since }, startedAt: since })
  const marked = (ordinal: number) => boundClaim(ordinal, claimSays({ [claimUsed]: '2026' }))
  const guard = { finalizers: [podFinalizer] }
  const going = { ...guard, deletionTimestamp: ago(5), deletionGracePeriodSeconds: 30, generation: 2 }
  const ended = { ...going, deletionGracePeriodSeconds: 0 }
  const leaving = samplePod(1, { metadata: { deletionTimestamp: ago(1) } })
  const young = (ordinal: number): Pod => samplePod(ordinal, { startedAt: 100, sandbox: { status: 'False', since: 100 }, metadata: { uid: 'next', creationTimestamp: ago(100) } })

  const inWords = (action: Action): string => {
    switch (action.kind) {
      case 'MarkClaim':
        return `mark ${action.claim.metadata.name}`
      case 'DeletePod':
        return `delete ${action.pod.metadata.name}${action.staysForDecision ? ' and keep it' : ''}`
      case 'Decide':
        return `decide about ${action.claims.map(({ metadata }) => metadata.name).join() || 'nothing'}`
      case 'Release':
        return `release ${action.pod.metadata.name}`
    }
  }

  describe('plan()', () => {
    it.each<[string, Pod[], StatefulSet, string]>([
      ['a pod that has had its time is looked at again after a minute', [samplePod(0)], sampleSet(), 'again in 60 s'],
      ['so is one that does not become ready', [unready(1)], sampleSet(), 'mark data-web-1, again in 60 s'],
      ['one that has time left is waited for', [young(0)], sampleSet(), 'again in 200 s'],
      ['one that is too many is left to the set', [samplePod(3)], sampleSet(), ''],
      ['nobody has a turn while one goes', [samplePod(0), leaving], sampleSet(), 'waits: pod web-1 is going'],
      ['nothing but marks is done for who only observes', [ready(0), samplePod(1)], sampleSet({ annotations: { [claimRecovery]: 'observe' } }), 'mark data-web-0, again in 60 s'],
      ['not even what was under way', [samplePod(0)], underWay({}, { annotations: { [claimRecovery]: 'observe' } }), 'again in 60 s'],
      ['nothing is done for who does not ask', [samplePod(0)], sampleSet({ annotations: { [claimRecovery]: 'yes' } }), ''],
      ['a claim that a pod has come up with is marked', [ready(0)], sampleSet(), 'mark data-web-0'],
      ['a chosen pod goes, and stays until it is decided about its claims', [samplePod(0), samplePod(1)], underWay(), 'delete web-0 and keep it'],
      ['a pod that is chosen alone goes', [unready(0)], podAlone, 'mark data-web-0, delete web-0'],
      ['a chosen pod that has come up stays', [ready(0, guard)], underWay(), 'mark data-web-0, release web-0'],
      ['one whose sandbox came and went stays', [samplePod(0, { sandbox: { status: 'False', since: 30 } })], underWay(), 'mark data-web-0'],
      ['one that is going is waited for', [samplePod(0, { metadata: going })], underWay(), 'waits: pod web-0 is to end'],
      ['when it has ended its claims are decided about', [samplePod(0, { metadata: ended, status: { observedGeneration: 2 } })], underWay(), 'decide about data-web-0'],
      ['which are not others of the same name', [samplePod(0, { metadata: ended, status: { observedGeneration: 2 } })], underWay({ claims: { 'data-web-0': 'other' } }), 'decide about nothing'],
      ['nobody else has a turn before the next pod is there', [samplePod(1)], underWay(), 'waits: pod web-0 is to be made anew and to become ready'],
      ['nor before it has had its time', [young(0), samplePod(1)], underWay(), 'again in 200 s, waits: pod web-0 is to be made anew and to become ready'],
      ['a pod that is kept, and nobody knows why, is released', [samplePod(0, { metadata: guard })], sampleSet(), 'release web-0'],
    ])('%s', (_, pods, set, words) => {
      const { actions, wait, requeueAfterMs } = plan(sampleSeen(pods.map((pod) => member(pod)), set))
      const rest = [...(requeueAfterMs === undefined ? [] : [`again in ${requeueAfterMs / 1000} s`]), ...(wait === undefined ? [] : [`waits: ${wait}`])]
      expect([...actions.map(inWords), ...rest].join(', ')).toBe(words)
    })

    const tried = (count: number, seconds = 1110, pod = 'web-0') => ({ [triesAnnotation]: JSON.stringify({ [pod]: { count, at: ago(seconds) } }) })
    const since = (ordinal: number, seconds: number): Pod =>
      samplePod(ordinal, { startedAt: seconds, sandbox: { status: 'False', since: seconds, failure: broken } })
    it.each<[string, Pod[], StatefulSet, string]>([
      ['who has waited longest', [since(0, 400), since(1, 600)], sampleSet(), 'web-1'],
      ['nobody who has time left', [since(0, 200)], sampleSet(), 'nobody'],
      ['nobody while one goes', [since(0, 600), leaving], sampleSet(), 'nobody'],
      ['nobody while one is kept', [since(0, 600), samplePod(1, { metadata: guard })], sampleSet(), 'nobody'],
      ['nobody for whom it is too early after so many times', [since(0, 1100)], sampleSet({ annotations: tried(2) }), 'nobody'],
      ['who has waited longer each time', [since(0, 1300)], sampleSet({ annotations: tried(2, 1310) }), 'web-0'],
      ['who was well for long since the last time', [since(0, 400)], sampleSet({ annotations: tried(2, 400 + 12_000) }), 'web-0'],
      ['nobody once the set has had its fill', [since(0, 600)], sampleSet({ annotations: { [claimRecoveryLimit]: '10', ...tried(10, 600, 'web-1') } }), 'nobody'],
      ['nobody of a set that goes', [since(0, 600)], sampleSet({ metadata: { deletionTimestamp: ago(1) } }), 'nobody'],
    ])('outlookOf() chooses %s', (_, pods, set, wanted) => {
      const others = set.metadata.annotations?.[triesAnnotation]?.includes('web-1') ? [member(ready(1))] : []
      const choice = outlookOf(sampleSeen([...pods.map((pod) => member(pod)), ...others], set), { afterMs: 300_000, limit: 10, allowsRetained: false })
      expect(choice?.kind === 'recreate' ? choice.recovery.pod : 'nobody').toBe(wanted)
    })

    it('marks a claim that is marked no more', () => {
      expect(plan(sampleSeen([member(ready(0), marked(0))])).actions).toEqual([])
    })

    it('marks a claim that somebody else uses', () => {
      expect(plan(sampleSeen([member(young(0), boundClaim(0), [ready(7)])])).actions.map(inWords)).toEqual(['mark data-web-0'])
    })
  })

  describe('status() and annotations()', () => {
    const outcome = (action?: Action, answer?: unknown): Outcome<Action> => ({ done: [], failed: [], skipped: [], wait: undefined, ...(action ? { answers: new Map([[action, answer]]) } : {}) })
    const decided = (...decisions: Decision[]) => outcome({ kind: 'Decide', pod: samplePod(0), claims: [] }, decisions)
    const told = (reason: string, message: string) => ({ status: { conditions: [{ type: 'ClaimRecovery', status: 'True', reason, message }] } })
    const cause = `${broken.reason}: ${broken.message}`
    const later: Pod = { ...failed, metadata: { ...failed.metadata, annotations: {} } }
    const reason = 'it was not made together with pod web-0, and an earlier one may have used it.'
    const kept = `Claim data-web-0 of pod web-0 is kept: ${reason}`
    const why = `It is why the pod does not start: ${cause}`
    const withClaim = `Pod web-0 is made anew with data-web-0: it has had no sandbox since ${ago(600)}: ${cause}`
    const unhealthy = `it has a sandbox since ${ago(600)} and has not become ready`
    const alone = `Pod web-0 is made anew, its claims are kept: ${unhealthy}`
    const other = `${kept} Other words`
    const said = told('ClaimKept', other)
    const itIsUsed = 'Claim data-web-0 is kept: it is used.'
    const keptAfterAll = told('ClaimKept', `Pod web-0 is made anew. ${itIsUsed}`)
    const unwanted = 'Pod web-0 was deleted and not made anew: the set did not want it any more.'
    const goingOn = 'goes on'
    const gone = { 'data-web-0': 'gone' }
    const tried = (count: number, seconds: number) => ({ [triesAnnotation]: JSON.stringify({ 'web-0': { count, at: ago(seconds) } }) })
    const longFailed = samplePod(0, { startedAt: 1500, sandbox: { status: 'False', since: 1500, failure: broken } })

    it.each<[string, Pod[], StatefulSet, Outcome<Action>, string, string]>([
      ['nothing', [samplePod(0)], sampleSet(), outcome(), 'nothing', ''],
      ['a choice, before it is done', [failed], sampleSet(), outcome(), `True RecreatingClaim: ${withClaim}`, goingOn],
      ['a pod alone', [unready(0)], sampleSet(), outcome(), `True RecreatingPod: ${alone}`, goingOn],
      ['that a claim stays', [later], sampleSet(), outcome(), `False ClaimKept: ${kept} ${why}`, ''],
      ['and no more of it in other words', [later], sampleSet(said), outcome(), `True ClaimKept: ${other}`, ''],
      ['that it goes on', [samplePod(0)], underWay(), outcome(), 'nothing', goingOn],
      ['that a claim stays after all', [samplePod(0, { metadata: ended })], underWay(), decided({ claim: 'data-web-0', whyKept: 'it is used' }), 'True ClaimKept: Pod web-0 is made anew. Claim data-web-0 is kept: it is used.', goingOn],
      ['that it is not needed', [ready(0)], underWay(), outcome(), 'False NotNeeded: Pod web-0 has come up by itself.', ''],
      ['that it is done, when the next pod is ready', [ready(0, { uid: 'next' })], underWay({ claims: gone }), outcome(), 'False ClaimRecreated: Pod web-0 was made anew with data-web-0.', ''],
      ['or has had its time', [samplePod(0, { metadata: { uid: 'next' } })], underWay({ claims: gone }), outcome(), 'False ClaimRecreated: Pod web-0 was made anew with data-web-0.', ''],
      ['that it is over, when the pod is not wanted any more', [], underWay({}, { spec: { replicas: 0 } }), outcome(), `False PodDeleted: ${unwanted}`, ''],
      ['also when its claim was kept', [], underWay({}, { spec: { replicas: 0 }, ...keptAfterAll }), outcome(), `False PodDeleted: ${unwanted} ${itIsUsed}`, ''],
      ['or when it waits for one before it', [samplePod(0)], underWay({ pod: 'web-1', uid: 'uid-web-1', claims: { 'data-web-1': 'gone' } }, { spec: { podManagementPolicy: 'OrderedReady' } }), outcome(), 'False PodDeleted: Pod web-1 was deleted, to be made anew after the pods before it.', ''],
      ['that only the pod is another one, if somebody else was faster', [ready(0, { uid: 'next' })], underWay(), outcome(), 'False PodRecreated: Pod web-0 was made anew, its claims were kept.', ''],
      ['that a pod was made anew alone', [ready(0, { uid: 'next' })], podAlone, outcome(), 'False PodRecreated: Pod web-0 was made anew, its claims were kept.', ''],
      ['what was kept, to the end', [ready(0, { uid: 'next' })], underWay({}, keptAfterAll), outcome(), `False ClaimKept: Pod web-0 was made anew. ${itIsUsed}`, ''],
      ['a choice for the third time', [longFailed], sampleSet({ annotations: tried(2, 1510) }), outcome(), `True RecreatingClaim: Pod web-0 is made anew with data-web-0: it has had no sandbox since ${ago(1500)}: ${cause}. This is attempt 3 for this pod; the limit of the set is 10.`, goingOn],
      ['that a pod has to wait longer', [failed], sampleSet({ annotations: tried(2, 610) }), outcome(), `False BackingOff: Pod web-0 was made anew 2 times and is in trouble again. It is left alone until ${ago(-600)}.`, ''],
      ['that the limit is reached', [longFailed], sampleSet({ annotations: { [claimRecoveryLimit]: '2', ...tried(2, 1510) } }), outcome(), `False LimitReached: Pods of the set were made anew 2 times without success; the limit is 2. Pod web-0 is left as it is: it has had no sandbox since ${ago(1500)}: ${cause}`, ''],
      ['no more of it when the pod is well', [ready(0)], sampleSet(told('LimitReached', 'no')), outcome(), 'False NotNeeded: No pod of the set is in its way any more.', ''],
      ['what would be done', [failed], sampleSet({ annotations: { [claimRecovery]: 'observe' } }), outcome(), `False WouldRecreateClaim: Pod web-0 would be made anew with data-web-0: it has had no sandbox since ${ago(600)}: ${cause}`, ''],
      ['what would be done to a pod alone', [unready(0)], sampleSet({ annotations: { [claimRecovery]: 'observe' } }), outcome(), `False WouldRecreatePod: Pod web-0 would be made anew, its claims would be kept: ${unhealthy}`, ''],
      ['that it is only to be observed from now on', [failed], underWay({}, { annotations: { [claimRecovery]: 'observe' } }), outcome(), 'False NotAskedFor: The set does not ask for it any more.', ''],
      ['what is wrong with an annotation', [], sampleSet({ annotations: { [claimRecovery]: 'yes' } }), outcome(), 'False InvalidAnnotation: metadata.annotations[coxswain.dev/claim-recovery]: Invalid value: "yes": must be "recreate" or "observe"', ''],
      ['nothing of it when it is put right', [], sampleSet(told('InvalidAnnotation', 'no')), outcome(), 'nothing', ''],
      ['that nobody asks any more', [], underWay({}, { annotations: { [claimRecovery]: undefined } }), outcome(), 'False NotAskedFor: The set does not ask for it any more.', ''],
    ])('tell %s', (_, pods, set, done, words, state) => {
      const seen = sampleSeen(pods.map((pod) => member(pod)), set)
      const condition = findCondition(status(seen, done).conditions, 'ClaimRecovery')
      expect(condition ? `${condition.status} ${condition.reason}: ${condition.message}` : 'nothing').toBe(words)
      expect(annotations(seen, done)[stateAnnotation] ? goingOn : '').toBe(state)
    })

    it('leave the set as it is where there is nothing to say', () => {
      const set = sampleSet({ status: { conditions: [{ type: 'Available', status: 'True' }] } })
      expect(status(sampleSeen([], set), outcome())).toBe(set.status)
      expect(annotations(sampleSeen([], set), outcome())).toEqual({})
    })

    it('leave other conditions alone', () => {
      const set = sampleSet({ status: { conditions: [{ type: 'Available', status: 'True' }] } })
      const { conditions = [] } = status(sampleSeen([member(failed)], set), outcome())
      expect(conditions.map(({ type }) => type)).toEqual(['Available', 'ClaimRecovery'])
    })
  })

  describe('records that cannot be read', () => {
    const outcome: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
    const problem = 'must be as the controller wrote it. Nothing is deleted until it is removed'
    it.each<[string, Record<string, string>]>([
      ['tries that are no JSON', { [triesAnnotation]: '{' }],
      ['tries without a time', { [triesAnnotation]: '{"web-0":{"count":1}}' }],
      ['tries below zero', { [triesAnnotation]: '{"web-0":{"count":-5,"at":"2026-01-01T00:00:00Z"}}' }],
      ['tries of a pod that has none', { [triesAnnotation]: '{"web-0":{"count":9,"at":"soon"}}' }],
      ['a state that is no JSON', { [stateAnnotation]: 'nonsense' }],
      ['a state without a pod', { [stateAnnotation]: '{"uid":"uid-web-0"}' }],
      ['a state whose claims have no uids', { [stateAnnotation]: stateText({ ...recovery, claims: { 'data-web-0': 7 as never } }) }],
      ['tries that are nonsense while a recovery is under way', { [stateAnnotation]: stateText(recovery), [triesAnnotation]: '7' }],
    ])('keep everything, and are told: %s', (_, said) => {
      const set = sampleSet({ annotations: said })
      const seen = sampleSeen([member(failed)], set)
      const [name, value] = Object.entries(said).at(-1)!
      expect(plan(seen)).toEqual({ actions: [] })
      expect(findCondition(status(seen, outcome).conditions, 'ClaimRecovery')).toMatchObject({
        status: 'False', reason: 'InvalidAnnotation', message: `metadata.annotations[${name}]: Invalid value: ${JSON.stringify(value)}: ${problem}`,
      })
      // The record is left for people to look at.
      expect(annotations(seen, outcome)).not.toHaveProperty([name])
    })
  })

  it('annotations() count how often a pod was made anew, and forget it for who does not ask any more', () => {
    const outcome: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
    const old = { [triesAnnotation]: JSON.stringify({ 'web-1': { count: 3, at: ago(60) }, 'web-7': { count: 1, at: ago(60) } }) }
    const seen = sampleSeen([member(failed), member(ready(1))], sampleSet({ annotations: old }))
    expect(JSON.parse(annotations(seen, outcome)[triesAnnotation]!)).toEqual({ 'web-1': { count: 3, at: ago(60) }, 'web-0': { count: 1, at: ago(0) } })
    const off = sampleSet({ annotations: { ...old, [claimRecovery]: undefined } })
    expect(annotations(sampleSeen([], off), outcome)).toEqual({ [triesAnnotation]: '' })
  })
})
