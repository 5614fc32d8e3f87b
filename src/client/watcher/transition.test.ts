import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { type Failure, type WatcherEffect, type WatcherInput, type WatcherState, defaultRules } from './state.ts'
import { transition } from './transition.ts'

const memory = { seen: '10', failures: 0, failedAtMs: Number.NEGATIVE_INFINITY, canStream: false }
const nowMs = 1_000_000

const states: Record<string, WatcherState> = {
  Empty: { ...memory, kind: 'Empty' },
  'Empty, streaming': { ...memory, kind: 'Empty', canStream: true },
  Listing: { ...memory, kind: 'Listing', page: 1, token: '', isPaged: true, askedAtMs: nowMs },
  'Listing page 2': { ...memory, kind: 'Listing', page: 2, token: 'more', isPaged: true, askedAtMs: nowMs },
  Streaming: { ...memory, kind: 'Streaming', canStream: true, heardAtMs: nowMs },
  Opening: { ...memory, kind: 'Opening', askedAtMs: nowMs },
  Watching: { ...memory, kind: 'Watching', openedAtMs: nowMs - 5000, heardAtMs: nowMs },
  'Watching, just opened': { ...memory, kind: 'Watching', openedAtMs: nowMs, heardAtMs: nowMs },
  'Watching after a failure': { ...memory, kind: 'Watching', failures: 1, failedAtMs: nowMs - 6000, openedAtMs: nowMs - 5000, heardAtMs: nowMs },
  'BackingOff before a list': { ...memory, kind: 'BackingOff', next: 'list' },
  'BackingOff before a watch': { ...memory, kind: 'BackingOff', next: 'watch' },
  'Listing, absent': { ...memory, kind: 'Listing', page: 1, token: '', isPaged: true, askedAtMs: nowMs, absence: { kind: 'missing', message: 'gone' } },
  'Streaming, absent': { ...memory, kind: 'Streaming', canStream: true, heardAtMs: nowMs, absence: { kind: 'missing', message: 'gone' } },
  'Opening, absent': { ...memory, kind: 'Opening', askedAtMs: nowMs, absence: { kind: 'forbidden', message: 'no' } },
  Stopped: { ...memory, kind: 'Stopped' },
}

const object = (resourceVersion: string): KubeObject => ({ metadata: { name: 'a', namespace: 'n', resourceVersion } })
const expired: Failure = { kind: 'expired', message: 'too old' }
const refused: Failure = { kind: 'refused', message: 'no such option' }
const missing: Failure = { kind: 'missing', message: 'no such resource' }
const forbidden: Failure = { kind: 'forbidden', message: 'not allowed' }
const other: Failure = { kind: 'other', message: 'connection reset' }

const inputs: Record<string, WatcherInput> = {
  start: { kind: 'start' },
  stop: { kind: 'stop' },
  'the last page': { kind: 'page', objects: [object('9')], resourceVersion: '12', token: '' },
  'a page': { kind: 'page', objects: [object('9')], resourceVersion: '12', token: 'next' },
  'an old page': { kind: 'page', objects: [object('9')], resourceVersion: '9', token: '' },
  'a page without a version': { kind: 'page', objects: [], resourceVersion: '', token: '' },
  'list failed': { kind: 'listFailed', failure: other },
  'list expired': { kind: 'listFailed', failure: expired },
  'list throttled': { kind: 'listFailed', failure: { ...other, retryAfterMs: 7000 } },
  'list missing': { kind: 'listFailed', failure: missing },
  'list forbidden': { kind: 'listFailed', failure: forbidden },
  opened: { kind: 'opened' },
  'a new change': { kind: 'change', type: 'MODIFIED', object: object('13') },
  'an old change': { kind: 'change', type: 'MODIFIED', object: object('8') },
  bookmark: { kind: 'bookmark', resourceVersion: '14', isInitialEnd: false },
  'an old bookmark': { kind: 'bookmark', resourceVersion: '9', isInitialEnd: false },
  'initial end': { kind: 'bookmark', resourceVersion: '14', isInitialEnd: true },
  'an old initial end': { kind: 'bookmark', resourceVersion: '9', isInitialEnd: true },
  ended: { kind: 'closed', failure: undefined },
  failed: { kind: 'closed', failure: other },
  'closed as expired': { kind: 'closed', failure: expired },
  'closed as refused': { kind: 'closed', failure: refused },
  'closed as missing': { kind: 'closed', failure: missing },
  'closed as forbidden': { kind: 'closed', failure: forbidden },
  woke: { kind: 'woke' },
}

/** An effect in a few words. */
function told(effect: WatcherEffect): string {
  switch (effect.kind) {
    case 'list':
      return `list${effect.limit ? ` ${effect.limit}` : ' all'}${effect.token && ` from ${effect.token}`}`
    case 'watch':
      return `watch from ${effect.resourceVersion}${effect.sendsInitial ? ' with what is there' : ''} for ${effect.timeoutSeconds} s`
    case 'wake':
      return `wake ${effect.afterMs === undefined ? 'never' : effect.afterMs}`
    case 'gather':
      return `gather ${effect.objects.length}`
    case 'gatherChange':
      return `gather ${effect.type}`
    case 'replace':
      return `replace at ${effect.resourceVersion}`
    case 'notify':
      return `tell ${effect.type} ${effect.object.metadata.resourceVersion}, seen ${effect.seen}`
    case 'notifyBookmark':
      return `bookmark ${effect.resourceVersion}`
    case 'tellAbsence':
      return effect.absence ? `absent ${effect.absence.kind}` : 'present'
    case 'report':
      return `report ${effect.reason}`
    default:
      return effect.kind
  }
}

/** The result: the state's name, the revision if it has increased, and the effects. */
function outcome(state: WatcherState, input: WatcherInput, atMs = nowMs): string {
  const next = transition(state, input, { nowMs: atMs, chance: 0.5, rules: defaultRules })
  const seen = next.state.seen === state.seen ? '' : ` seen ${next.state.seen}`
  return [`${next.state.kind}${seen}`, ...next.effects.map(told)].join('; ')
}

const stopped = 'Stopped; abandon; discardGathered; wake never'
const listAsked = 'discardGathered; list 500; wake 60000'
const watchAsked = (from: string) => `watch from ${from} for 450 s; wake 60000`
const backsOff = (reason: string, delayMs = 1200) => `BackingOff; abandon; discardGathered; report ${reason}; wake ${delayMs}`

const waits = (absence?: 'missing' | 'forbidden') => `BackingOff; abandon; discardGathered;${absence ? ` absent ${absence};` : ''} wake 3000`
const absentList = { 'list missing': waits('missing'), 'list forbidden': waits('forbidden') }
const absentWatch = { 'closed as missing': waits('missing'), 'closed as forbidden': waits('forbidden') }

/** Every state with every input; an input that is not named does nothing. */
const table: Record<string, Record<string, string>> = {
  Empty: { start: `Listing; ${listAsked}`, stop: stopped },
  'Empty, streaming': { start: 'Streaming; discardGathered; watch from 10 with what is there for 450 s; wake 120000', stop: stopped },
  Listing: {
    ...absentList,
    stop: stopped,
    'the last page': `Opening seen 12; gather 1; replace at 12; ${watchAsked('12')}`,
    'a page': 'Listing; gather 1; list 500 from next; wake 60000',
    'an old page': backsOff('stale'),
    'a page without a version': backsOff('stale'),
    'list failed': backsOff('error'),
    'list expired': backsOff('expired'),
    'list throttled': backsOff('error', 7000),
    woke: 'Listing; wake 60000',
  },
  'Listing page 2': {
    ...absentList,
    stop: stopped,
    'the last page': `Opening seen 12; gather 1; replace at 12; ${watchAsked('12')}`,
    'a page': 'Listing; gather 1; list 500 from next; wake 60000',
    'an old page': backsOff('stale'),
    'a page without a version': backsOff('stale'),
    'list failed': backsOff('error'),
    'list expired': 'Listing; report expired-page; discardGathered; list all; wake 60000',
    'list throttled': backsOff('error', 7000),
    woke: 'Listing; wake 60000',
  },
  Streaming: {
    ...absentWatch,
    stop: stopped,
    'a new change': 'Streaming; gather MODIFIED',
    'an old change': 'Streaming; gather MODIFIED',
    bookmark: `Listing; abandon; report streaming-refused; ${listAsked}`,
    'an old bookmark': `Listing; abandon; report streaming-refused; ${listAsked}`,
    'initial end': 'Watching seen 14; replace at 14; wake 120000',
    'an old initial end': backsOff('stale'),
    ended: backsOff('short'),
    failed: backsOff('error'),
    'closed as expired': backsOff('expired'),
    'closed as refused': `Listing; abandon; report streaming-refused; ${listAsked}`,
    woke: 'Streaming; wake 120000',
  },
  Opening: {
    ...absentWatch,
    stop: stopped,
    opened: 'Watching; tellOpened; wake 120000',
    'a new change': 'Watching seen 13; wake 120000; tell MODIFIED 13, seen 13',
    'an old change': 'Watching; wake 120000; tell MODIFIED 8, seen 10',
    bookmark: 'Watching seen 14; wake 120000; bookmark 14',
    'an old bookmark': 'Watching; wake 120000; bookmark 10',
    'initial end': 'Watching seen 14; wake 120000; bookmark 14',
    'an old initial end': 'Watching; wake 120000; bookmark 10',
    ended: backsOff('short'),
    failed: backsOff('error'),
    'closed as expired': `Listing; abandon; report expired; ${listAsked}`,
    'closed as refused': backsOff('error'),
    woke: 'Opening; wake 60000',
  },
  Watching: {
    ...absentWatch,
    stop: stopped,
    'a new change': 'Watching seen 13; tell MODIFIED 13, seen 13',
    'an old change': 'Watching; tell MODIFIED 8, seen 10',
    bookmark: 'Watching seen 14; bookmark 14',
    'an old bookmark': 'Watching; bookmark 10',
    'initial end': 'Watching seen 14; bookmark 14',
    'an old initial end': 'Watching; bookmark 10',
    ended: `Opening; report ended; ${watchAsked('10')}`,
    failed: `Opening; abandon; report error; ${watchAsked('10')}`,
    'closed as expired': `Listing; abandon; report expired; ${listAsked}`,
    'closed as refused': `Opening; abandon; report error; ${watchAsked('10')}`,
    woke: 'Watching; wake 120000',
  },
  'Watching, just opened': {
    ...absentWatch,
    stop: stopped,
    'a new change': 'Watching seen 13; tell MODIFIED 13, seen 13',
    'an old change': 'Watching; tell MODIFIED 8, seen 10',
    bookmark: 'Watching seen 14; bookmark 14',
    'an old bookmark': 'Watching; bookmark 10',
    'initial end': 'Watching seen 14; bookmark 14',
    'an old initial end': 'Watching; bookmark 10',
    ended: backsOff('short'),
    failed: backsOff('error'),
    'closed as expired': `Listing; abandon; report expired; ${listAsked}`,
    'closed as refused': backsOff('error'),
    woke: 'Watching; wake 120000',
  },
  'Watching after a failure': {
    ...absentWatch,
    stop: stopped,
    'a new change': 'Watching seen 13; tell MODIFIED 13, seen 13',
    'an old change': 'Watching; tell MODIFIED 8, seen 10',
    bookmark: 'Watching seen 14; bookmark 14',
    'an old bookmark': 'Watching; bookmark 10',
    'initial end': 'Watching seen 14; bookmark 14',
    'an old initial end': 'Watching; bookmark 10',
    ended: `Opening; report ended; ${watchAsked('10')}`,
    failed: backsOff('error', 2400),
    'closed as expired': backsOff('expired', 2400),
    'closed as refused': backsOff('error', 2400),
    woke: 'Watching; wake 120000',
  },
  'BackingOff before a list': { stop: stopped, woke: `Listing; ${listAsked}` },
  'BackingOff before a watch': { stop: stopped, woke: `Opening; ${watchAsked('10')}` },
  'Listing, absent': {
    stop: stopped,
    'the last page': `Opening seen 12; gather 1; replace at 12; present; ${watchAsked('12')}`,
    'a page': 'Listing; gather 1; list 500 from next; wake 60000',
    'an old page': backsOff('stale'),
    'a page without a version': backsOff('stale'),
    'list failed': backsOff('error'),
    'list expired': backsOff('expired'),
    'list throttled': backsOff('error', 7000),
    'list missing': waits(),
    'list forbidden': waits('forbidden'),
    woke: 'Listing; wake 60000',
  },
  'Streaming, absent': {
    stop: stopped,
    'a new change': 'Streaming; gather MODIFIED',
    'an old change': 'Streaming; gather MODIFIED',
    bookmark: `Listing; abandon; report streaming-refused; ${listAsked}`,
    'an old bookmark': `Listing; abandon; report streaming-refused; ${listAsked}`,
    'initial end': 'Watching seen 14; replace at 14; present; wake 120000',
    'an old initial end': backsOff('stale'),
    ended: backsOff('short'),
    failed: backsOff('error'),
    'closed as expired': backsOff('expired'),
    'closed as refused': `Listing; abandon; report streaming-refused; ${listAsked}`,
    'closed as missing': waits(),
    'closed as forbidden': waits('forbidden'),
    woke: 'Streaming; wake 120000',
  },
  'Opening, absent': {
    stop: stopped,
    opened: 'Watching; tellOpened; present; wake 120000',
    'a new change': 'Watching seen 13; present; wake 120000; tell MODIFIED 13, seen 13',
    'an old change': 'Watching; present; wake 120000; tell MODIFIED 8, seen 10',
    bookmark: 'Watching seen 14; present; wake 120000; bookmark 14',
    'an old bookmark': 'Watching; present; wake 120000; bookmark 10',
    'initial end': 'Watching seen 14; present; wake 120000; bookmark 14',
    'an old initial end': 'Watching; present; wake 120000; bookmark 10',
    ended: backsOff('short'),
    failed: backsOff('error'),
    'closed as expired': `Listing; abandon; report expired; ${listAsked}`,
    'closed as refused': backsOff('error'),
    'closed as missing': waits('missing'),
    'closed as forbidden': waits(),
    woke: 'Opening; wake 60000',
  },
  Stopped: {},
}

describe('transition()', () => {
  for (const [name, state] of Object.entries(states)) {
    test.each(Object.keys(inputs))(`${name}, %s`, (input) => {
      expect(outcome(state, inputs[input]!)).toBe(table[name]![input] ?? state.kind)
    })
  }

  test('every row of the table names an input there is', () => {
    expect(Object.values(table).flatMap((row) => Object.keys(row)).filter((name) => !(name in inputs))).toEqual([])
  })
})

describe('transition() while an API is absent', () => {
  const after = (state: string, input: string) => transition(states[state]!, inputs[input]!, { nowMs, chance: 0, rules: defaultRules }).state

  test('lists anew once it is served again, and goes on watching once it is allowed again', () => {
    expect(after('Watching', 'closed as missing')).toMatchObject({ kind: 'BackingOff', next: 'list' })
    expect(after('Watching', 'closed as forbidden')).toMatchObject({ kind: 'BackingOff', next: 'watch' })
    expect(after('Listing', 'list forbidden')).toMatchObject({ kind: 'BackingOff', next: 'list' })
  })

  test('keeps the absence through other failures, and forgets it when the API is there', () => {
    expect(after('Opening, absent', 'failed').absence).toEqual({ kind: 'forbidden', message: 'no' })
    expect(after('Opening, absent', 'opened').absence).toBeUndefined()
    expect(after('Listing, absent', 'the last page').absence).toBeUndefined()
    expect(after('Streaming, absent', 'initial end').absence).toBeUndefined()
  })

  test('asks at the same pace however long it lasts', () => {
    let state = states.Listing!
    for (let i = 0; i < 20; i++) {
      const next = transition({ ...state, kind: 'Listing', page: 1, token: '', isPaged: true, askedAtMs: nowMs }, inputs['list missing']!, { nowMs, chance: 0, rules: defaultRules })
      expect(next.effects.find((e) => e.kind === 'wake')).toEqual({ kind: 'wake', afterMs: 2000 })
      state = next.state
    }
  })
})

describe('transition() after a silence', () => {
  const rows: [what: string, state: string, laterMs: number, comes: string][] = [
    ['a watch that has been silent for less than twice the bookmark interval is left alone', 'Watching', 119_999, 'Watching; wake 1'],
    ['a watch that has been silent for longer is frozen', 'Watching', 120_000, `Opening; abandon; report frozen; ${watchAsked('10')}`],
    ['a watch whose timer went off is frozen, though the clock was set back', 'Watching', -3_600_000, `Opening; abandon; report frozen; ${watchAsked('10')}`],
    ['a list that is not answered is asked for again', 'Listing', 60_000, backsOff('no-answer')],
    ['a watch that is not answered is asked for again', 'Opening', 60_000, backsOff('no-answer')],
    ['a stream that stops before its end is not asked for again', 'Streaming', 120_000, backsOff('frozen')],
  ]
  test.each(rows)('%s', (_, state, laterMs, comes) => {
    expect(outcome(states[state]!, { kind: 'woke' }, nowMs + laterMs)).toBe(comes)
  })

  test('a list follows a stream that stopped', () => {
    const { state } = transition(states.Streaming!, { kind: 'woke' }, { nowMs: nowMs + 120_000, chance: 0, rules: defaultRules })
    expect(outcome(state, { kind: 'woke' })).toBe(`Listing; ${listAsked}`)
  })
})

describe('transition() waits between failures', () => {
  const fail = (state: WatcherState, atMs: number, chance: number) => {
    const next = transition({ ...state, kind: 'Opening', askedAtMs: atMs }, { kind: 'closed', failure: other }, { nowMs: atMs, chance, rules: defaultRules })
    const wake = next.effects.find((e) => e.kind === 'wake')!
    return { state: next.state, delayMs: wake.afterMs! }
  }
  const delays = (times: number, chance: number) => {
    let state = states.Opening!
    let atMs = nowMs
    return Array.from({ length: times }, () => {
      const failed = fail(state, atMs, chance)
      state = failed.state
      atMs += failed.delayMs
      return failed.delayMs
    })
  }

  test('twice as long each time, up to 30 s', () => {
    expect(delays(8, 0)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000])
  })

  test('by chance up to twice that', () => {
    expect(delays(3, 0.25)).toEqual([1000, 2000, 4000])
  })

  test('and starts again after two minutes without one', () => {
    const first = fail(states.Opening!, nowMs, 0).state
    expect(fail(first, nowMs + 119_999, 0).delayMs).toBe(1600)
    expect(fail(first, nowMs + 120_000, 0).delayMs).toBe(800)
  })
})
