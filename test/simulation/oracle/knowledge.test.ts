import { describe, expect, it } from 'vitest'
import { alreadyExists } from '../../../src/api/errors.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import type { Call, Outcome } from '../call.ts'
import type { World } from '../world.ts'
import { KnowledgeKeeper } from './knowledge.ts'
import { pod, startMs } from './story.ts'

const process = {}
const there = pod('web-0', { ready: 1 })

function callOf(method: Call['method'], name: string, outcome: Outcome, told: Call['told'] = 'the truth'): Call {
  const body = method === 'DELETE' ? { preconditions: { uid: name } } : undefined
  const target = { plural: 'pods', namespace: 'default', name, subresource: '' }
  return { ...target, number: 1, process, method, outcome, told, body, sentAtMs: startMs } as unknown as Call
}

/** A world in which the cache has `web-0`, and the server what a call made of it. */
const worldOf = (now: Pod | undefined): World =>
  ({
    lives: new Map([[process, {}]]),
    truth: {
      change: () => undefined,
      get: () => now,
      listAt: (plural: string) => (plural === 'pods' ? [there] : []),
    },
  }) as unknown as World

/** The knowledge of a manager after a call, if it observed its owner after `callsBefore` calls. */
function knownAfter(call: Call, now: Pod | undefined, callsBefore = 0) {
  const [keeper, world] = [new KnowledgeKeeper(), worldOf(now)]
  keeper.happened(call, world)
  keeper.answered(call, world)
  const observation = { owner: there, atMs: startMs, trueMs: startMs, callsBefore, seen: new Map([['pods', 1]]) }
  const { views, hasFailed, blur } = keeper.of({ ...call, number: 9 }, there, observation, world)
  const describePods = (pods: readonly Pod[]) =>
    pods.map(({ metadata }) => `${metadata.name}${metadata.deletionTimestamp ? ' going' : ''}`).join(' ') || 'none'
  return { views: [...new Set(views.map(({ pods }) => describePods(pods)))].toSorted(), hasFailed, blur }
}

const made = pod('web-1', { phase: 'Pending' })
const making = callOf('POST', 'web-1', { object: made })
const going = pod('web-0', { ready: 1, isGoing: true })
const deleting = callOf('DELETE', 'web-0', { object: going })
const error = alreadyExists({ group: '', resource: 'pods' }, 'web-1')
const only = { views: ['web-0'], hasFailed: false, blur: 0 }

describe('a manager knows of its own writes', () => {
  it.each<[string, Call, Pod | undefined, number, ReturnType<typeof knownAfter>]>([
    ['a pod that it made, whether or not it counts it yet', making, made, 0,
      { ...only, views: ['web-0', 'web-0 web-1'] }],
    ['a pod that it deleted, as it was, as going, and as gone', deleting, going, 0,
      { ...only, views: ['none', 'web-0', 'web-0 going'] }],
    ['nothing of what it was not told', { ...making, told: 'an error' }, made, 0, { ...only, hasFailed: true }],
    ['nothing of what was not answered', { ...making, told: 'nothing' }, made, 0, { ...only, hasFailed: true }],
    ['nothing more of what it did for the look before', making, made, 1, only],
    ['a name that was taken, which may pass for a pod that it made', callOf('POST', 'web-1', { error }), made, 0,
      { ...only, hasFailed: true, blur: 1 }],
  ])('%s', (_, call, now, callsBefore, expected) => {
    expect(knownAfter(call, now, callsBefore)).toEqual(expected)
  })
})
