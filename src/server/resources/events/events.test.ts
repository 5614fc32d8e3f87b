import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { EventsV1Event } from '../../../api/generated/types.ts'
import { events, fromCoreEvent, toCoreEvent } from './events.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const time = '2020-01-01T00:00:00.000000Z'

const made = (fields: Partial<EventsV1Event> = {}): EventsV1Event =>
  ({
    metadata: { name: 'x', namespace: 'n' },
    regarding: { kind: 'Pod', name: 'p', namespace: 'n' },
    reason: 'R',
    note: 'n',
    type: 'Normal',
    eventTime: time,
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'A',
    ...fields,
  }) as EventsV1Event

test('an event is stored under the core group’s names and comes back the same', () => {
  const event = made({ deprecatedCount: 2, deprecatedSource: { component: 'c' }, related: { kind: 'Node' }, series: { count: 2, lastObservedTime: time } })
  const stored = toCoreEvent(event)
  expect(stored).toMatchObject({ apiVersion: 'v1', involvedObject: { name: 'p' }, message: 'n', reportingComponent: 'example.com/c', count: 2, source: { component: 'c' } })
  expect(stored).not.toHaveProperty('note')
  expect(fromCoreEvent(stored)).toEqual({ ...event, apiVersion: 'events.k8s.io/v1', kind: 'Event' })
})

describe('validate()', () => {
  const unset = 'Invalid value: "": needs to be unset'
  test.each<[string, Partial<EventsV1Event>, string[]]>([
    ['all there', {}, []],
    ['no time', { eventTime: undefined }, ['eventTime: Required value']],
    ['a strange type', { type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
    ['a series of one', { series: { count: 1 } as EventsV1Event['series'] }, ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value']],
    [
      'fields of old',
      { deprecatedCount: 1, deprecatedFirstTimestamp: '2020-01-01T00:00:00Z', deprecatedLastTimestamp: '2020-01-01T00:00:00Z', deprecatedSource: { host: 'h' } },
      [`firstTimestamp: ${unset}`, `lastTimestamp: ${unset}`, `count: ${unset}`, `source: ${unset}`],
    ],
  ])('%s', (_, fields, errors) => expect(said(events.validate(made(fields), ctx))).toEqual(errors))
})

test('validateUpdate() lets only the series change', () => {
  const judge = (fields: Partial<EventsV1Event>) => said(events.validateUpdate(made(fields), made(), ctx))
  expect(judge({ series: { count: 5, lastObservedTime: time } })).toEqual([])
  expect(judge({ note: 'other' })).toEqual(['message: Invalid value: "other": field is immutable'])
  expect(judge({ reportingInstance: 'j', series: { count: 1, lastObservedTime: time } })).toEqual([
    'series.count: Invalid value: "": should be at least 2',
    'reportingInstance: Invalid value: "j": field is immutable',
  ])
})

test('cells and selectors are those of the core event', () => {
  expect(events.columns!.map((c) => c.cell(made(), Date.parse('2020-01-01T00:00:10Z')))).toEqual(['10s', 'Normal', 'R', 'pod/p', '', 'example.com/c, i', 'n', '10s', 1, 'x'])
  expect(events.selectableFields!['regarding.name']!(made())).toBe('p')
  expect(events.selectableFields!['reportingController']!(made())).toBe('example.com/c')
})
