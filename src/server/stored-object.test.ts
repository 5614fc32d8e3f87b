import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { encodeForStore } from './encode-object.ts'
import { StoredObject, headOf, watchLine } from './stored-object.ts'

const head = headOf('v1', 'ConfigMap')
const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ä', resourceVersion: '3' }, data: { '日': '本' } }) as KubeObject

describe('StoredObject', () => {
  const stored = () => StoredObject.fromStore('/k', 42, encodeForStore(object()).value, head)
  const shown = (o: StoredObject) => JSON.parse(o.bytes.toString()) as KubeObject & { data: unknown }

  it('shows the version at which it was stored', () => {
    expect(shown(stored())).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '42', name: 'ä' }, data: { '日': '本' } })
    expect(stored().object).toEqual(shown(stored()))
  })

  it('shows no version where nothing was stored', () => {
    expect(shown(StoredObject.fromStore('', 0, encodeForStore(object()).value, head)).metadata).toEqual({ name: 'ä' })
  })

  it('uses the object that is at hand, under its new version', () => {
    const own = object()
    const encoded = encodeForStore(own)
    const kept = StoredObject.fromStore('/k', 7, encoded.value, head, encoded)
    expect(kept.object).toBe(own)
    expect(own.metadata.resourceVersion).toBe('7')
  })

  it('is the same content at another revision, with more or fewer digits', () => {
    for (const revision of [1, 99_999]) {
      const other = stored().at(revision)
      expect(other.revision).toBe(revision)
      expect(shown(other)).toEqual({ ...shown(stored()), metadata: { resourceVersion: String(revision), name: 'ä' } })
    }
    expect(stored().at(5).at(123_456).bytes).toEqual(stored().at(123_456).bytes)
  })

  it('as an item of a list goes on without version and kind', () => {
    expect(JSON.parse(`{${stored().itemTail.toString()}`)).toEqual({ metadata: { resourceVersion: '42', name: 'ä' }, data: { '日': '本' } })
  })

  it('has the line of the event that made it, and makes those of others', () => {
    for (const type of ['ADDED', 'MODIFIED'] as const) {
      const one = StoredObject.fromStore('/k', 42, encodeForStore(object()).value, head, undefined, type)
      expect(one.watchLine(type)).toBe(one.watchLine(type))
      for (const shownAs of ['ADDED', 'MODIFIED', 'DELETED'] as const) {
        expect(one.watchLine(shownAs).toString()).toBe(`{"type":"${shownAs}","object":${one.bytes.toString()}}\n`)
      }
      expect(one.size).toBe(one.bytes.length)
      expect(one.bytes).toEqual(stored().bytes)
    }
  })
})

describe('watchLine()', () => {
  it('wraps bytes of any length', () => {
    expect(watchLine('ERROR', Buffer.from('{"ü":1}')).toString()).toBe('{"type":"ERROR","object":{"ü":1}}\n')
  })
})
