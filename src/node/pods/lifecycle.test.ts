import { describe, expect, test } from 'vitest'
import { type End, type Lifecycle, type LifecycleEffect, type LifecycleInput, endOf, hasEnded, isEnding, isInApi, stepOf, transition } from './lifecycle.ts'

const verdict = { phase: 'Failed', reason: 'Evicted', message: 'too little memory' } as const
const ends: Record<End['why'], End> = {
  deleted: { why: 'deleted', graceSeconds: 30 },
  removed: { why: 'removed', graceSeconds: 30 },
  finished: { why: 'finished', graceSeconds: 30 },
  judged: { why: 'judged', graceSeconds: 30, verdict },
}

const states: Record<string, Lifecycle> = {
  Syncing: { kind: 'Syncing' },
  'Terminating, deleted': { kind: 'Terminating', end: ends.deleted },
  'Terminating, removed': { kind: 'Terminating', end: ends.removed },
  'Terminating, finished': { kind: 'Terminating', end: ends.finished },
  'Terminating, judged': { kind: 'Terminating', end: ends.judged },
  'Terminated, deleted': { kind: 'Terminated', end: ends.deleted },
  'Terminated, finished': { kind: 'Terminated', end: ends.finished },
  'Terminated, judged': { kind: 'Terminated', end: ends.judged },
  Removing: { kind: 'Removing' },
  Gone: { kind: 'Gone' },
}

const inputs: Record<string, LifecycleInput> = {
  delete: { kind: 'end', end: ends.deleted },
  'delete at once': { kind: 'end', end: { why: 'deleted', graceSeconds: 0 } },
  'delete slowly': { kind: 'end', end: { why: 'deleted', graceSeconds: 60 } },
  remove: { kind: 'end', end: ends.removed },
  'remove at once': { kind: 'end', end: { why: 'removed', graceSeconds: 0 } },
  finish: { kind: 'end', end: ends.finished },
  judge: { kind: 'end', end: { why: 'judged', graceSeconds: 5, verdict: { ...verdict, reason: 'Terminated' } } },
  terminated: { kind: 'terminated' },
  deleted: { kind: 'deleted' },
  removed: { kind: 'removed' },
  abandon: { kind: 'abandon' },
}

function told(effect: LifecycleEffect): string {
  if (effect.kind === 'interrupt') return `interrupt as ${effect.why}`
  return effect.kind === 'shorten grace' ? `shorten grace to ${effect.graceSeconds}` : effect.kind
}

function outcome(state: Lifecycle, input: LifecycleInput): string {
  const next = transition(state, input)
  const end = endOf(next.state)
  const name = end ? `${next.state.kind}, ${end.why} in ${end.graceSeconds}${end.verdict ? ` as ${end.verdict.reason}` : ''}` : next.state.kind
  return [name, ...next.effects.map(told)].join('; ')
}

const begun = (end: string) => `Terminating, ${end}; interrupt as pod ends; wake`
const abandoned = { abandon: 'Gone; release; interrupt as agent stops' }

/** Every state with every input. An input that is not named changes nothing. */
const table: Record<string, Record<string, string>> = {
  Syncing: {
    ...abandoned,
    delete: begun('deleted in 30'),
    'delete at once': begun('deleted in 0'),
    'delete slowly': begun('deleted in 60'),
    remove: begun('removed in 30'),
    'remove at once': begun('removed in 0'),
    finish: begun('finished in 30'),
    judge: begun('judged in 5 as Terminated'),
  },
  'Terminating, deleted': {
    ...abandoned,
    delete: 'Terminating, deleted in 30; wake',
    'delete at once': 'Terminating, deleted in 0; shorten grace to 0; wake',
    'delete slowly': 'Terminating, deleted in 30; wake',
    remove: 'Terminating, removed in 30; wake',
    'remove at once': 'Terminating, removed in 0; shorten grace to 0; wake',
    terminated: 'Terminated, deleted in 30; wake',
  },
  'Terminating, removed': {
    ...abandoned,
    delete: 'Terminating, deleted in 30; wake',
    'delete at once': 'Terminating, deleted in 0; shorten grace to 0; wake',
    'delete slowly': 'Terminating, deleted in 30; wake',
    remove: 'Terminating, removed in 30; wake',
    'remove at once': 'Terminating, removed in 0; shorten grace to 0; wake',
    terminated: 'Removing; wake',
  },
  'Terminating, finished': {
    ...abandoned,
    delete: 'Terminating, deleted in 30; wake',
    'delete at once': 'Terminating, deleted in 0; shorten grace to 0; wake',
    'delete slowly': 'Terminating, deleted in 30; wake',
    remove: 'Terminating, removed in 30; wake',
    'remove at once': 'Terminating, removed in 0; shorten grace to 0; wake',
    terminated: 'Terminated, finished in 30; wake',
  },
  'Terminating, judged': {
    ...abandoned,
    delete: 'Terminating, deleted in 30 as Evicted; wake',
    'delete at once': 'Terminating, deleted in 0 as Evicted; shorten grace to 0; wake',
    'delete slowly': 'Terminating, deleted in 30 as Evicted; wake',
    remove: 'Terminating, removed in 30 as Evicted; wake',
    'remove at once': 'Terminating, removed in 0 as Evicted; shorten grace to 0; wake',
    terminated: 'Terminated, judged in 30 as Evicted; wake',
  },
  'Terminated, deleted': {
    ...abandoned,
    delete: 'Terminated, deleted in 30; wake',
    'delete at once': 'Terminated, deleted in 0; wake',
    'delete slowly': 'Terminated, deleted in 30; wake',
    remove: 'Removing; wake',
    'remove at once': 'Removing; wake',
    deleted: 'Removing; wake',
  },
  'Terminated, finished': {
    ...abandoned,
    delete: 'Terminated, deleted in 30; wake',
    'delete at once': 'Terminated, deleted in 0; wake',
    'delete slowly': 'Terminated, deleted in 30; wake',
    remove: 'Removing; wake',
    'remove at once': 'Removing; wake',
    deleted: 'Removing; wake',
  },
  'Terminated, judged': {
    ...abandoned,
    delete: 'Terminated, deleted in 30 as Evicted; wake',
    'delete at once': 'Terminated, deleted in 0 as Evicted; wake',
    'delete slowly': 'Terminated, deleted in 30 as Evicted; wake',
    remove: 'Removing; wake',
    'remove at once': 'Removing; wake',
    deleted: 'Removing; wake',
  },
  Removing: { ...abandoned, removed: 'Gone; release; tell gone' },
  Gone: {},
}

describe('transition()', () => {
  for (const [from, state] of Object.entries(states)) {
    test.each(Object.entries(inputs))(`${from}: %s`, (name, input) => {
      const expected = table[from]![name]
      if (expected === undefined) expect(transition(state, input)).toEqual({ state, effects: [] })
      else expect(outcome(state, input)).toBe(expected)
    })
  }
})

describe('a state', () => {
  test.each([
    ['Syncing', 'sync', 'in the API'],
    ['Terminating, deleted', 'terminate', 'in the API, ending'],
    ['Terminating, removed', 'terminate', 'ending'],
    ['Terminating, finished', 'terminate', 'in the API, ending'],
    ['Terminating, judged', 'terminate', 'in the API, ending'],
    ['Terminated, deleted', 'delete', 'in the API, ending, ended'],
    ['Terminated, finished', 'none', 'in the API, ending, ended'],
    ['Terminated, judged', 'none', 'in the API, ending, ended'],
    ['Removing', 'remove', 'ending, ended'],
    ['Gone', 'none', 'ending, ended'],
  ])('%s runs the step %s and is %s', (name, step, is) => {
    const state = states[name]!
    expect(stepOf(state)).toBe(step)
    expect([isInApi(state) && 'in the API', isEnding(state) && 'ending', hasEnded(state) && 'ended'].filter(Boolean).join(', ')).toBe(is)
  })
})
