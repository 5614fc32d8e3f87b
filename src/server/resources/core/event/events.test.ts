import { expect, test } from 'vitest'
import { FeatureGates } from '../../../../api/feature-gates.ts'
import type { CoreV1Event } from '../../../../api/generated/types.ts'
import { events } from './events.ts'

const now = Date.parse('2020-01-01T01:00:00Z')
const ctx = { gates: FeatureGates.of(), now }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)

const made = (fields: Partial<CoreV1Event> = {}): CoreV1Event =>
  ({
    metadata: { name: 'x', namespace: 'n' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'n' },
    reason: 'R',
    message: ' m\n',
    type: 'Normal',
    ...fields,
  }) as CoreV1Event
const fresh = { eventTime: '2020-01-01T00:00:00.000000Z', reportingComponent: 'example.com/c', reportingInstance: 'i', action: 'A' }
const elsewhere = (namespace: string) => [`involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`]

test.each<[string, Partial<CoreV1Event>, string[]]>([
  ['of the same namespace', {}, []],
  ['of a strange type', { type: 'Odd' }, []],
  ['about another namespace', { involvedObject: { namespace: 'other' } }, elsewhere('other')],
  ['about no namespace', { involvedObject: {} }, elsewhere('')],
  ['about no namespace, in default', { metadata: { name: 'x', namespace: 'default' }, involvedObject: {} }, []],
  ['of the new form', fresh, []],
  ['of the new form about another namespace', { ...fresh, involvedObject: { namespace: 'other' } }, []],
  ['of the new form about no namespace', { ...fresh, involvedObject: {} }, elsewhere('')],
  ['of the new form with nothing more', { eventTime: fresh.eventTime, reportingComponent: 'c', reason: '' }, ['reportingInstance: Required value', 'action: Required value', 'reason: Required value']],
  ['of the new form and too long', { ...fresh, message: 'm'.repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
])('validate() of an event %s', (_, fields, errors) => expect(said(events.validate(made(fields), ctx))).toEqual(errors))

test.each<[string, Partial<CoreV1Event>, unknown[]]>([
  ['bare', {}, ['<unknown>', 'Normal', 'R', 'pod/p', '', '', 'm', '<unknown>', 1, 'x']],
  [
    'counted',
    { count: 3, source: { component: 'c', host: 'h' }, firstTimestamp: '2020-01-01T00:00:00Z', lastTimestamp: '2020-01-01T00:59:50Z' },
    ['10s', 'Normal', 'R', 'pod/p', '', 'c, h', 'm', '60m', 3, 'x'],
  ],
  [
    'in a series',
    { ...fresh, series: { count: 5, lastObservedTime: '2020-01-01T00:59:59.000000Z' }, involvedObject: { kind: 'Node' } },
    ['1s', 'Normal', 'R', 'node', '', 'example.com/c, i', 'm', '60m', 5, 'x'],
  ],
])('the cells of an event that is %s', (_, fields, cells) => expect(events.columns!.map((c) => c.cell(made(fields), now))).toEqual(cells))

test('source can be selected under either name', () => {
  const { source } = events.selectableFields!
  expect([source!(made({ source: { component: 'c' } })), source!(made({ reportingComponent: 'r' })), source!(made())]).toEqual(['c', 'r', ''])
  expect(events.selectableFields!['involvedObject.name']!(made())).toBe('p')
})
