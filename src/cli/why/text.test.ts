import { expect, it } from 'vitest'
import { textOf } from '../terminal/line.ts'
import { ago, sampleNow } from '../../insight/workload/sample.ts'
import type { ToldCause } from '../../insight/workload/explanation.ts'
import { causeLines, explanationLines } from './text.ts'

const cause: ToldCause = {
  what: 'ReadinessProbe',
  weight: 'trouble',
  object: { kind: 'Pod', name: 'web-1' },
  text: 'waits for the readiness probe',
  help: 'See the events.',
  others: [],
}

it.each([
  ['what a probe said', 'Readiness probe failed: no route', 1, 'Readiness probe failed: no route (5s ago).'],
  ['a probe that said nothing', 'Readiness probe failed: ', 14, 'Readiness probe failed (14 times, the last 5s ago).'],
  ['words that are repeated', 'Failed to mount: failed to mount: no.', 1, 'Failed to mount: no (5s ago).'],
])('causeLines() tells %s', (_, message, count, expected) => {
  const told = { ...cause, warning: { reason: 'Unhealthy', message, count, at: ago(5) } }
  expect(causeLines(told, sampleNow).map(textOf)).toContain(`  Last warning: Unhealthy: ${expected}`)
})

it.each([
  ['job/x', 'Suspended', '0 of 2 completions', 'job/x is suspended: 0 of 2 completions.'],
  ['cronjob/x', 'Suspended', '', 'cronjob/x is suspended.'],
])('explanationLines() begins with %s %s once', (name, state, message, expected) => {
  const about = { name, kind: 'Job', namespace: 'default', since: undefined, deadlineAtMs: undefined }
  const [first] = explanationLines({ ...about, state, message, causes: [], unread: [], exitCode: 2 }, sampleNow)
  expect(textOf(first!)).toBe(expected)
})
