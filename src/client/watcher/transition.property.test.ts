import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type Failure, type WatcherInput, type WatcherState, defaultRules, initialState } from './state.ts'
import { transition } from './transition.ts'

const version = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) }, { weight: 1, arbitrary: fc.constantFrom('', 'abc', '-1') })
const failure: fc.Arbitrary<Failure> = fc.record({ kind: fc.constantFrom('expired' as const, 'refused' as const, 'missing' as const, 'forbidden' as const, 'other' as const), message: fc.constant('no') })

const input: fc.Arbitrary<WatcherInput> = fc.oneof(
  fc.constantFrom<WatcherInput>({ kind: 'start' }, { kind: 'opened' }, { kind: 'woke' }, { kind: 'closed', failure: undefined }),
  fc.record({ kind: fc.constant('page' as const), objects: fc.constant([]), resourceVersion: version, token: fc.constantFrom('', 't') }),
  fc.record({ kind: fc.constant('listFailed' as const), failure }),
  fc.record({ kind: fc.constant('change' as const), type: fc.constantFrom('ADDED' as const, 'DELETED' as const), object: version.map((resourceVersion) => ({ metadata: { name: 'a', resourceVersion } })) }),
  fc.record({ kind: fc.constant('bookmark' as const), resourceVersion: version, isInitialEnd: fc.boolean() }),
  fc.record({ kind: fc.constant('closed' as const), failure }),
) as fc.Arbitrary<WatcherInput>

const step = fc.record({ input, passesMs: fc.constantFrom(0, 1, 900, 70_000, 130_000), chance: fc.constantFrom(0, 0.5, 0.999) })
const run = fc.record({ steps: fc.array(step, { maxLength: 60 }), stream: fc.boolean(), notOlderThan: fc.constantFrom('', '20', 'x') })

const kinds = ['Empty', 'Listing', 'Streaming', 'Opening', 'Watching', 'BackingOff', 'Stopped']
const isBefore = (a: string, b: string) => b !== '' && (a === '' || compareResourceVersions(a, b) < 0)

describe('transition() whatever happens', () => {
  test('stays in a state there is, never goes back in time, and always has a time at which it will look again', () => {
    let replaced = 0
    fc.assert(
      fc.property(run, ({ steps, ...options }) => {
        let state: WatcherState = initialState(options)
        let nowMs = 0
        let isAwake = false
        for (const { input, passesMs, chance } of [{ input: { kind: 'start' } as WatcherInput, passesMs: 0, chance: 0 }, ...steps]) {
          nowMs += passesMs
          if (input.kind === 'woke') isAwake = false
          const before = state
          const next = transition(state, input, { nowMs, chance, rules: defaultRules })
          state = next.state
          expect(kinds).toContain(state.kind)
          expect(isBefore(state.seen, before.seen)).toBe(false)
          for (const effect of next.effects) {
            if (effect.kind === 'wake') isAwake = effect.afterMs !== undefined && effect.afterMs > 0
            const told = effect.kind === 'notify' ? effect.seen : effect.kind === 'notifyBookmark' || effect.kind === 'replace' ? effect.resourceVersion : undefined
            if (told !== undefined) expect(isBefore(told, before.seen)).toBe(false)
            if (effect.kind === 'watch') expect(effect.timeoutSeconds).toBeGreaterThanOrEqual(300)
            if (effect.kind === 'replace') replaced++
          }
          expect(isAwake).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
    expect(replaced).toBeGreaterThan(100)
  })

  test('watches again as soon as the server behaves', () => {
    fc.assert(
      fc.property(run, ({ steps, ...options }) => {
        let state: WatcherState = transition(initialState(options), { kind: 'start' }, { nowMs: 0, chance: 0, rules: defaultRules }).state
        let nowMs = 0
        const take = (input: WatcherInput) => {
          state = transition(state, input, { nowMs, chance: 0.5, rules: defaultRules }).state
        }
        for (const { input, passesMs } of steps) {
          nowMs += passesMs
          take(input)
        }
        nowMs += 60_000
        if (state.kind === 'BackingOff') take({ kind: 'woke' })
        if (state.kind === 'Listing') take({ kind: 'page', objects: [], resourceVersion: '100', token: '' })
        if (state.kind === 'Opening' || state.kind === 'Streaming') take({ kind: 'opened' })
        if (state.kind === 'Streaming') take({ kind: 'bookmark', resourceVersion: '100', isInitialEnd: true })
        expect(state.kind).toBe('Watching')
      }),
      { numRuns: 1000 },
    )
  })
})
