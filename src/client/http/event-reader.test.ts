import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { EventReader } from './event-reader.ts'

type Whole = KubeObject & { spec: object; status: object }

const pod = (uid: string, spec: object, status: object, version = '1') => ({ kind: 'Pod', metadata: { name: 'a', uid, resourceVersion: version }, spec, status })
const line = (object: object, type = 'MODIFIED') => JSON.stringify({ type, object })

describe('EventReader', () => {
  it('reads what JSON.parse reads, whatever came before', () => {
    // Names and texts that look like what it goes by.
    const name = fc.constantFrom('spec', 'status', 'metadata', 'object', 'type', 'a', ',"spec":{', '__proto__x')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constantFrom<unknown>(null, true, 1, '', ',"status":{', '}}'), fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(name, tie('value'), { maxKeys: 3 })),
    }))
    const object = fc.record({ metadata: fc.record({ uid: fc.constantFrom('1', '2'), labels: value }), spec: value, status: value, x: value }, { requiredKeys: ['metadata'] })
    const ordered = fc.tuple(object, fc.shuffledSubarray(['metadata', 'spec', 'status', 'x'], { minLength: 4 })).map(([whole, names]) => Object.fromEntries(names.flatMap((n) => (n in whole ? [[n, whole[n as 'x']]] : []))))
    const event = fc.tuple(fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'), fc.oneof(object, ordered))
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), (events) => {
        const reader = new EventReader(2)
        for (const [type, whole] of events) {
          const text = line(whole, type)
          const read = reader.read(text)
          expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)))
        }
      }),
      { numRuns: 2000 },
    )
  })

  const [spec, status] = [{ nodeName: 'n' }, { phase: 'Running' }]
  test.each<[string, object, { spec: boolean; status: boolean }]>([
    ['nothing but the version is new', pod('1', spec, status, '2'), { spec: true, status: true }],
    ['another status', pod('1', spec, { phase: 'Failed' }, '2'), { spec: true, status: false }],
    ['another spec', pod('1', { nodeName: 'm' }, status, '2'), { spec: false, status: true }],
    ['the same of another object', pod('2', spec, status, '2'), { spec: false, status: false }],
  ])('shares what is in the same letters: %s', (_, next, shared) => {
    const reader = new EventReader<Whole>()
    const before = reader.read(line(pod('1', spec, status), 'ADDED')).object
    const after = reader.read(line(next)).object
    expect({ spec: after.spec === before.spec, status: after.status === before.status }).toEqual(shared)
    expect(after).toEqual(next)
  })

  it('forgets objects of which it has not heard for long', () => {
    const reader = new EventReader<Whole>(2)
    const first = (uid: string) => reader.read(line(pod(uid, spec, status), 'ADDED')).object
    const isKnown = (before: Whole, uid: string) => reader.read(line(pod(uid, spec, status, '2'))).object.spec === before.spec
    const [one, two] = [first('1'), first('2')]
    expect(isKnown(one, '1')).toBe(true)
    first('3')
    first('4')
    first('5')
    expect(isKnown(two, '2')).toBe(false)
  })

  it('throws what is not JSON', () => {
    expect(() => new EventReader().read('{"type":"ADDED","object":{"metadata":{},"spec":{,"status":{}}}')).toThrow(SyntaxError)
  })
})
