import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { encodeForStore } from './encode-object.ts'
import { StoredObject, headOf } from './stored-object.ts'

const head = headOf('v1', 'Pod')

const pod = (spec: object, status: object, name = 'ä'): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, resourceVersion: '3' }, spec, status }) as KubeObject

const text = (object: object, before?: StoredObject) => encodeForStore(object as KubeObject, undefined, before).value.toString()

function stored(object: KubeObject, revision: number, before?: StoredObject): StoredObject {
  const encoded = encodeForStore(object, undefined, before)
  return StoredObject.fromEncoded('/k', revision, head, encoded)
}

describe('encodeForStore()', () => {
  it('leaves out the resource version, which the store knows', () => {
    expect(text(pod({ a: '日' }, {}))).toBe('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"ä"},"spec":{"a":"日"},"status":{}}')
  })

  const metadata = { name: 'a' }
  it.each([
    ['another order', { spec: { a: 1 }, status: {}, metadata, kind: 'Pod', apiVersion: 'v1' }, '"spec":{"a":1},"status":{}}'],
    ['no status', { apiVersion: 'v1', kind: 'Pod', metadata, spec: { a: 1 } }, '"spec":{"a":1}}'],
    ['no spec', { apiVersion: 'v1', kind: 'Pod', metadata, data: { a: '1' } }, '"data":{"a":"1"}}'],
    ['more than that', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {}, status: {}, x: 1 }, '"spec":{},"status":{},"x":1}'],
    ['a status that is undefined', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {}, status: undefined }, '"spec":{}}'],
    ['a spec that is undefined', { apiVersion: 'v1', kind: 'Pod', metadata, spec: undefined, status: {} }, '"status":{}}'],
    ['a status that is null', { apiVersion: 'v1', kind: 'Pod', metadata, spec: {}, status: null }, '"spec":{},"status":null}'],
  ])('puts version, kind and metadata first, and takes all else as it is: %s', (_, object, rest) => {
    expect(text(object)).toBe(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},${rest}`)
  })

  it('takes the bytes of a spec that has not changed from what was stored before, and writes the same', () => {
    const any = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue())
    fc.assert(
      fc.property(any, fc.array(any, { minLength: 1, maxLength: 3 }), fc.nat(), (spec, statuses, revision) => {
        let before = stored(pod(spec, {}), revision + 1)
        for (const status of statuses) {
          const next = () => pod(spec, status, JSON.stringify(status))
          expect(before.specBytes(spec)!.toString()).toBe(JSON.stringify(spec))
          expect(text(next(), before)).toBe(text(next()))
          before = stored(next(), before.revision * 11, before)
        }
        expect(JSON.parse(before.bytes.toString())).toEqual(JSON.parse(JSON.stringify(before.object)))
      }),
    )
  })

  it('takes all bytes before the status from there while metadata and spec are the very same, and writes the same', () => {
    const any = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue())
    const labels = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
    fc.assert(
      fc.property(labels, any, fc.array(any, { minLength: 1, maxLength: 3 }), fc.nat(), (labels, spec, statuses, revision) => {
        const next = (status: object) => ({ ...pod(spec, status), metadata: { name: 'ä', labels } }) as KubeObject
        let before = stored(next({}), revision + 1)
        for (const status of statuses) {
          expect(before.bytesBeforeStatus(next(status))).toBeDefined()
          expect(text(next(status), before)).toBe(text(next(status)))
          before = stored(next(status), before.revision * 11, before)
          expect(before.metadataBytes!.toString()).toBe(JSON.stringify({ resourceVersion: String(before.revision), name: 'ä', labels }))
        }
      }),
    )
  })

  it('takes all bytes from the spec on from there while spec and status are the very same, and writes the same', () => {
    const any = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue())
    fc.assert(
      fc.property(any, any, fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 }), fc.nat(), (spec, status, names, revision) => {
        let before = stored(pod(spec, status), revision + 1)
        for (const name of names) {
          const next = () => pod(spec, status, name)
          expect(before.bytesFromSpec(next())!.bytes.toString()).toBe(`${JSON.stringify(spec)},"status":${JSON.stringify(status)}}`)
          expect(text(next(), before)).toBe(text(next()))
          before = stored(next(), before.revision * 11, before)
          expect(before.specBytes(spec)!.toString()).toBe(JSON.stringify(spec))
        }
        expect(before.bytesFromSpec(pod({ ...spec }, status))).toBeUndefined()
        expect(before.bytesFromSpec(pod(spec, { ...status }))).toBeUndefined()
      }),
    )
  })

  const same = { labels: {}, name: 'a', generation: 1 }
  it.each<[string, object, object, boolean]>([
    ['the same in another order', { generation: 1, name: 'a', labels: same.labels }, {}, true],
    ['another version', { ...same, resourceVersion: '9' }, {}, true],
    ['one member less', { labels: same.labels, name: 'a' }, {}, false],
    ['one member more', { ...same, annotations: {} }, {}, false],
    ['another generation', { ...same, generation: 2 }, {}, false],
    ['labels that say the same', { ...same, labels: {} }, {}, false],
    ['another apiVersion', same, { apiVersion: 'v2' }, false],
    ['another spec', same, { spec: {} }, false],
  ])('knows what is the same by what it is: %s', (_, metadata, rest, isKnown) => {
    const spec = { a: 1 }
    const object = (of: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: of, spec, status: {} }) as KubeObject
    const before = stored(object({ ...same }), 7)
    const after = { ...object(metadata), ...rest }
    expect(before.bytesBeforeStatus(after) !== undefined).toBe(isKnown)
    expect(JSON.parse(text(after, before))).toEqual(JSON.parse(text(after)))
  })

  it('does so whatever the order of the members is', () => {
    const spec = { a: 1 }
    const unordered = (status: object) => ({ status, spec, metadata: { name: 'a' }, kind: 'Pod', apiVersion: 'v1' }) as KubeObject
    const before = stored(unordered({}), 7)
    expect(before.specBytes(spec)!.toString()).toBe('{"a":1}')
    expect(text(unordered({ b: 1 }), before)).toBe('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"a":1},"status":{"b":1}}')
  })

  it('writes a spec that says the same, but is another, anew', () => {
    const before = stored(pod({ a: 1 }, {}), 4)
    expect(before.specBytes({ a: 1 })).toBeUndefined()
    expect(text(pod({ a: 2 }, {}), before)).toContain('"spec":{"a":2}')
  })

  it('knows of no bytes where objects came from elsewhere', () => {
    const { value } = encodeForStore(pod({ a: 1 }, {}))
    const loaded = StoredObject.unread('/k', 4, value, head, undefined)
    expect(loaded.specBytes((loaded.object as KubeObject & { spec: object }).spec)).toBeUndefined()
    expect(text({ ...loaded.object, status: { b: 1 } }, loaded)).toContain('"spec":{"a":1},"status":{"b":1}}')
  })
})
