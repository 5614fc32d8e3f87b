import type { KubeObject } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { assert, isAsserting } from '../../base/assert.ts'
import type {
  Absence,
  Failure,
  Memory,
  RestartReason,
  WatcherEffect,
  WatcherInput,
  WatcherRules,
  WatcherState,
} from './state.ts'

/** The current time, and a random number in [0, 1). */
export interface Circumstances {
  nowMs: number
  chance: number
  rules: WatcherRules
}

export interface Transition<T extends KubeObject = KubeObject> {
  state: WatcherState
  effects: readonly WatcherEffect<T>[]
}

type Of<K extends WatcherState['kind']> = Extract<WatcherState, { kind: K }>

const nothing: readonly never[] = []

/** Returns the next state of a watcher and its effects. Pure; every input is allowed in every state. */
export function transition<T extends KubeObject>(
  state: WatcherState,
  input: WatcherInput<T>,
  now: Circumstances,
): Transition<T> {
  const next = decide(state, input, now)
  if (isAsserting)
    assert(
      () => next.state.seen === state.seen || !isOlder(next.state.seen, state.seen),
      'what was seen never decreases',
    )
  return next
}

function decide<T extends KubeObject>(state: WatcherState, input: WatcherInput<T>, now: Circumstances): Transition<T> {
  if (state.kind === 'Stopped') return { state, effects: nothing }
  if (input.kind === 'stop') {
    return {
      state: { ...memoryOf(state), kind: 'Stopped' },
      effects: [{ kind: 'abandon' }, { kind: 'discardGathered' }, { kind: 'wake', afterMs: undefined }],
    }
  }
  switch (state.kind) {
    case 'Empty':
      return input.kind === 'start' ? beginAnew(state, now) : { state, effects: nothing }
    case 'Listing':
      return listing(state, input, now)
    case 'Streaming':
      return streaming(state, input, now)
    case 'Opening':
      return opening(state, input, now)
    case 'Watching':
      return watching(state, input, now)
    case 'BackingOff':
      if (input.kind !== 'woke') return { state, effects: nothing }
      return state.next === 'list' ? beginAnew(state, now) : resume(state, now)
  }
}

function listing<T extends KubeObject>(
  state: Of<'Listing'>,
  input: WatcherInput<T>,
  now: Circumstances,
): Transition<T> {
  switch (input.kind) {
    case 'page': {
      const { objects, resourceVersion, token } = input
      if (isOlder(resourceVersion, state.seen))
        return retry(state, 'list', 'stale', staleMessage(resourceVersion, state.seen), now)
      if (token !== '') {
        const next = { ...state, page: state.page + 1, token, askedAtMs: now.nowMs }
        return { state: next, effects: [{ kind: 'gather', objects }, ...askFor<T>(next, now)] }
      }
      const told: WatcherEffect<T>[] = [
        { kind: 'gather', objects },
        { kind: 'replace', resourceVersion },
        ...tellPresence(state),
      ]
      return after(told, resume({ ...state, seen: resourceVersion, absence: undefined }, now))
    }
    case 'listFailed':
      // The remaining pages have expired; list everything at once.
      if (input.failure.kind === 'expired' && state.token !== '') {
        const next: WatcherState = { ...state, page: 1, token: '', isPaged: false, askedAtMs: now.nowMs }
        return {
          state: next,
          effects: [
            report('expired-page', input.failure.message),
            { kind: 'discardGathered' },
            ...askFor<T>(next, now),
          ],
        }
      }
      return retryAfter(state, 'list', input.failure, now)
    case 'woke': {
      const leftMs = leftOf(now.rules.answerMs, state.askedAtMs, now.nowMs)
      if (leftMs > 0) return { state, effects: [{ kind: 'wake', afterMs: leftMs }] }
      return retry(state, 'list', 'no-answer', `a list was not answered within ${now.rules.answerMs / 1000} s`, now)
    }
    default:
      return { state, effects: nothing }
  }
}

function streaming<T extends KubeObject>(
  state: Of<'Streaming'>,
  input: WatcherInput<T>,
  now: Circumstances,
): Transition<T> {
  const { nowMs, rules } = now
  switch (input.kind) {
    case 'opened':
      return { state: { ...state, heardAtMs: nowMs }, effects: nothing }
    case 'change':
      return {
        state: { ...state, heardAtMs: nowMs },
        effects: [{ kind: 'gatherChange', type: input.type, object: input.object }],
      }
    case 'bookmark': {
      const { resourceVersion } = input
      if (!input.isInitialEnd) return listInstead(state, 'the server does not mark the end of the initial events', now)
      if (isOlder(resourceVersion, state.seen))
        return retry(state, 'list', 'stale', staleMessage(resourceVersion, state.seen), now)
      const next: WatcherState = { ...opened(state, nowMs), seen: resourceVersion }
      return {
        state: next,
        effects: [
          { kind: 'replace', resourceVersion },
          ...tellPresence(state),
          { kind: 'wake', afterMs: rules.silenceMs },
        ],
      }
    }
    case 'closed':
      if (input.failure?.kind === 'refused') return listInstead(state, input.failure.message, now)
      if (!input.failure)
        return retry(state, 'list', 'short', 'a watch ended before the end of the initial events', now)
      return retryAfter(state, 'list', input.failure, now)
    case 'woke': {
      const leftMs = leftOf(rules.silenceMs, state.heardAtMs, nowMs)
      if (leftMs > 0) return { state, effects: [{ kind: 'wake', afterMs: leftMs }] }
      // The server may have ignored the options of a streaming list. All servers support lists.
      return retry({ ...state, canStream: false }, 'list', 'frozen', frozenMessage(rules), now)
    }
    default:
      return { state, effects: nothing }
  }
}

function opening<T extends KubeObject>(
  state: Of<'Opening'>,
  input: WatcherInput<T>,
  now: Circumstances,
): Transition<T> {
  const { nowMs, rules } = now
  switch (input.kind) {
    case 'opened':
      return {
        state: opened(state, nowMs),
        effects: [{ kind: 'tellOpened' }, ...tellPresence(state), { kind: 'wake', afterMs: rules.silenceMs }],
      }
    case 'change':
    case 'bookmark':
      // The server should first accept the watch; if it did not, an event implies it.
      return after(
        [...tellPresence(state), { kind: 'wake', afterMs: rules.silenceMs }],
        watching(opened(state, nowMs), input, now),
      )
    case 'closed':
      if (input.failure?.kind === 'expired') return listAgain(state, input.failure, now)
      return input.failure
        ? retryAfter(state, 'watch', input.failure, now)
        : retry(state, 'watch', 'short', 'a watch ended before it began', now)
    case 'woke': {
      const leftMs = leftOf(rules.answerMs, state.askedAtMs, nowMs)
      if (leftMs > 0) return { state, effects: [{ kind: 'wake', afterMs: leftMs }] }
      return retry(state, 'watch', 'no-answer', `a watch was not answered within ${rules.answerMs / 1000} s`, now)
    }
    default:
      return { state, effects: nothing }
  }
}

const opened = (state: WatcherState, nowMs: number): Of<'Watching'> => ({
  ...memoryOf(state),
  kind: 'Watching',
  absence: undefined,
  openedAtMs: nowMs,
  heardAtMs: nowMs,
})

const tellPresence = ({ absence }: Memory): WatcherEffect<never>[] =>
  absence ? [{ kind: 'tellAbsence', absence: undefined }] : []

function watching<T extends KubeObject>(
  state: Of<'Watching'>,
  input: WatcherInput<T>,
  now: Circumstances,
): Transition<T> {
  const { nowMs, rules } = now
  switch (input.kind) {
    case 'change': {
      const { type, object } = input
      const seen = newer(object.metadata.resourceVersion ?? '', state.seen)
      return { state: heard(state, seen, nowMs), effects: [{ kind: 'notify', type, object, seen }] }
    }
    case 'bookmark': {
      const seen = newer(input.resourceVersion, state.seen)
      return { state: heard(state, seen, nowMs), effects: [{ kind: 'notifyBookmark', resourceVersion: seen }] }
    }
    case 'closed': {
      const { failure } = input
      if (failure?.kind === 'expired') return listAgain(state, failure, now)
      if (failure && isAbsence(failure)) return waitForApi(state, 'watch', failure, now)
      const isShort = nowMs - state.openedAtMs < rules.minWatchMs && state.heardAtMs === state.openedAtMs
      if (isShort)
        return retry(
          state,
          'watch',
          failure ? 'error' : 'short',
          failure?.message ?? 'a watch ended at once',
          now,
          failure?.retryAfterMs,
        )
      if (!failure) return after([report('ended', 'a watch came to its end')], resume(state, now))
      return retryAtOnce(state, 'watch', 'error', failure, now)
    }
    case 'woke': {
      const leftMs = leftOf(rules.silenceMs, state.heardAtMs, nowMs)
      if (leftMs > 0) return { state, effects: [{ kind: 'wake', afterMs: leftMs }] }
      return after([{ kind: 'abandon' }, report('frozen', frozenMessage(rules))], resume(state, now))
    }
    default:
      return { state, effects: nothing }
  }
}

/** Returns the remaining part of a duration; 0 if the clock was set back, because then only the timer is reliable. */
const leftOf = (whileMs: number, sinceMs: number, nowMs: number): number =>
  nowMs < sinceMs ? 0 : sinceMs + whileMs - nowMs

/** Spelled out for speed, as it runs for every event. An event also shows that the API is not absent. */
const heard = (s: Of<'Watching'>, seen: string, nowMs: number): Of<'Watching'> => ({
  kind: 'Watching',
  seen,
  failures: s.failures,
  failedAtMs: s.failedAtMs,
  canStream: s.canStream,
  openedAtMs: s.openedAtMs,
  heardAtMs: nowMs,
})

const memoryOf = ({ seen, failures, failedAtMs, canStream, absence }: Memory): Memory => ({
  seen,
  failures,
  failedAtMs,
  canStream,
  absence,
})

/** Gets the whole state, by a streaming list or a list. */
function beginAnew<T extends KubeObject>(memory: Memory, now: Circumstances): Transition<T> {
  const { nowMs, rules } = now
  const state: WatcherState = memory.canStream
    ? { ...memoryOf(memory), kind: 'Streaming', heardAtMs: nowMs }
    : { ...memoryOf(memory), kind: 'Listing', page: 1, token: '', isPaged: rules.pageSize > 0, askedAtMs: nowMs }
  return { state, effects: [{ kind: 'discardGathered' }, ...askFor<T>(state, now)] }
}

/** Continues from the last seen version. */
function resume<T extends KubeObject>(memory: Memory, now: Circumstances): Transition<T> {
  const state: WatcherState = { ...memoryOf(memory), kind: 'Opening', askedAtMs: now.nowMs }
  return { state, effects: askFor(state, now) }
}

function askFor<T extends KubeObject>(state: WatcherState, { chance, rules }: Circumstances): WatcherEffect<T>[] {
  const timeoutSeconds = Math.round(rules.minTimeoutSeconds * (1 + chance))
  switch (state.kind) {
    case 'Listing':
      return [
        { kind: 'list', token: state.token, limit: state.isPaged ? rules.pageSize : 0 },
        { kind: 'wake', afterMs: rules.answerMs },
      ]
    case 'Streaming':
      return [
        { kind: 'watch', resourceVersion: state.seen, sendsInitial: true, timeoutSeconds },
        { kind: 'wake', afterMs: rules.silenceMs },
      ]
    default:
      return [
        { kind: 'watch', resourceVersion: state.seen, sendsInitial: false, timeoutSeconds },
        { kind: 'wake', afterMs: rules.answerMs },
      ]
  }
}

function listInstead<T extends KubeObject>(state: Memory, message: string, now: Circumstances): Transition<T> {
  return after(
    [{ kind: 'abandon' }, report('streaming-refused', message)],
    beginAnew({ ...state, canStream: false }, now),
  )
}

/** Lists again, because missed changes are no longer available. */
const listAgain = <T extends KubeObject>(state: Memory, failure: Failure, now: Circumstances): Transition<T> =>
  retryAtOnce(state, 'list', 'expired', failure, now)

/** Returns the number of consecutive failures; old ones do not count. */
const recentFailures = (memory: Memory, { nowMs, rules }: Circumstances) =>
  nowMs - memory.failedAtMs < rules.resetMs ? memory.failures : 0

/** Retries immediately after the first failure in a long time. */
function retryAtOnce<T extends KubeObject>(
  state: Memory,
  next: 'list' | 'watch',
  reason: RestartReason,
  failure: Failure,
  now: Circumstances,
): Transition<T> {
  if (recentFailures(state, now) > 0 || failure.retryAfterMs)
    return retry(state, next, reason, failure.message, now, failure.retryAfterMs)
  const memory = { ...memoryOf(state), failures: 1, failedAtMs: now.nowMs }
  return after(
    [{ kind: 'abandon' }, report(reason, failure.message)],
    next === 'list' ? beginAnew(memory, now) : resume(memory, now),
  )
}

type AbsenceFailure = Failure & { readonly kind: Absence['kind'] }

const isAbsence = (failure: Failure): failure is AbsenceFailure =>
  failure.kind === 'missing' || failure.kind === 'forbidden'

function retryAfter<T extends KubeObject>(
  state: Memory,
  next: 'list' | 'watch',
  failure: Failure,
  now: Circumstances,
): Transition<T> {
  if (isAbsence(failure)) return waitForApi(state, next, failure, now)
  return retry(
    state,
    next,
    failure.kind === 'expired' ? 'expired' : 'error',
    failure.message,
    now,
    failure.retryAfterMs,
  )
}

/** Polls for an absent API, which may be installed or allowed at any time. Its state is listed again afterwards. */
function waitForApi<T extends KubeObject>(
  state: Memory,
  next: 'list' | 'watch',
  failure: AbsenceFailure,
  now: Circumstances,
): Transition<T> {
  const { kind, message, retryAfterMs = 0 } = failure
  const absence: Absence = { kind, message }
  const told: WatcherEffect<T>[] = state.absence?.kind === kind ? [] : [{ kind: 'tellAbsence', absence }]
  return {
    state: { ...memoryOf(state), kind: 'BackingOff', next: kind === 'missing' ? 'list' : next, absence },
    effects: [
      { kind: 'abandon' },
      { kind: 'discardGathered' },
      ...told,
      { kind: 'wake', afterMs: Math.max(now.rules.absentMs * (1 + now.chance), retryAfterMs) },
    ],
  }
}

/** Retries with exponential back-off and jitter. */
function retry<T extends KubeObject>(
  state: Memory,
  next: 'list' | 'watch',
  reason: RestartReason,
  message: string,
  now: Circumstances,
  retryAfterMs = 0,
): Transition<T> {
  const { nowMs, chance, rules } = now
  const before = recentFailures(state, now)
  const delayMs = Math.min(rules.backOffMs * 2 ** before, rules.maxBackOffMs) * (1 + chance)
  return {
    state: { ...memoryOf(state), kind: 'BackingOff', next, failures: before + 1, failedAtMs: nowMs },
    effects: [
      { kind: 'abandon' },
      { kind: 'discardGathered' },
      report(reason, message),
      { kind: 'wake', afterMs: Math.max(delayMs, retryAfterMs) },
    ],
  }
}

const after = <T extends KubeObject>(
  effects: readonly WatcherEffect<T>[],
  { state, effects: more }: Transition<T>,
): Transition<T> => ({
  state,
  effects: [...effects, ...more],
})

const report = (reason: RestartReason, message: string) => ({ kind: 'report' as const, reason, message })

const isVersion = (text: string) => /^[0-9]+$/.test(text)

/** Returns true if the version is older than `seen`; an invalid version counts as older. */
const isOlder = (resourceVersion: string, seen: string): boolean =>
  !isVersion(resourceVersion) || (seen !== '' && compareResourceVersions(resourceVersion, seen) < 0)

const newer = (resourceVersion: string, seen: string): string =>
  isOlder(resourceVersion, seen) ? seen : resourceVersion

const staleMessage = (got: string, seen: string) =>
  isVersion(got)
    ? `rejected a list at resource version ${got}: ${seen} was seen before`
    : `rejected a list whose resource version is ${JSON.stringify(got)}`

const frozenMessage = ({ silenceMs }: WatcherRules) =>
  `a watch was silent for ${silenceMs / 1000} s, bookmarks included`
