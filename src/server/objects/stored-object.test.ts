import { describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { encodeForStore } from './encode-object.ts'
import { StoredObject, headOf, parseObject, watchLine } from './stored-object.ts'

const head = headOf('v1', 'ConfigMap')
const object = (): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ä', resourceVersion: '3' }, data: { '日': '本' } }) as KubeObject

function tailOf(stored: StoredObject): Buffer {
  const tail = Buffer.alloc(stored.itemTailLength)
  expect(stored.copyItemTail(tail, 0)).toBe(tail.length)
  return tail
}

describe('StoredObject', () => {
  const stored = () => StoredObject.unread('/k', 42, encodeForStore(object()).value, head, undefined)
  const shown = (o: StoredObject) => JSON.parse(o.bytes.toString()) as KubeObject & { data: unknown }

  it('shows the version at which it was stored', () => {
    expect(shown(stored())).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '42', name: 'ä' }, data: { '日': '本' } })
    expect(stored().object).toEqual(shown(stored()))
  })

  it('shows no version where nothing was stored', () => {
    expect(shown(StoredObject.unread('', 0, encodeForStore(object()).value, head, undefined)).metadata).toEqual({ name: 'ä' })
  })

  it('uses the object that is at hand, under its new version', () => {
    const own = object()
    const encoded = encodeForStore(own)
    const kept = StoredObject.fromEncoded('/k', 7, head, encoded)
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
    expect(JSON.parse(`{${tailOf(stored()).toString()}`)).toEqual({ metadata: { resourceVersion: '42', name: 'ä' }, data: { '日': '本' } })
  })

  it('has the line of the event that made it, and makes those of others', () => {
    for (const type of ['ADDED', 'MODIFIED'] as const) {
      const one = StoredObject.unread('/k', 42, encodeForStore(object()).value, head, undefined, type)
      expect(one.watchLine(type)).toBe(one.watchLine(type))
      for (const shownAs of ['ADDED', 'MODIFIED', 'DELETED'] as const) {
        expect(one.watchLine(shownAs).toString()).toBe(`{"type":"${shownAs}","object":${one.bytes.toString()}}\n`)
      }
      expect(one.size).toBe(one.bytes.length)
      expect(one.bytes).toEqual(stored().bytes)
    }
  })
})

describe('StoredObject.textBehind()', () => {
  const opening = Buffer.from('"nodeName":"')
  const found = (members: object, read?: typeof parseObject) =>
    StoredObject.unread('/k', 42, encodeForStore({ ...object(), ...members } as KubeObject).value, head, read).textBehind(opening)

  it.each<[string, object, string | undefined]>([
    ['no such member', { spec: { node: 'n' } }, ''],
    ['one', { spec: { nodeName: 'n-1.a' } }, 'n-1.a'],
    ['one that is empty', { spec: { nodeName: '' } }, ''],
    ['one of another depth', { data: { nodeName: 'n' } }, 'n'],
    ['one that is no text', { spec: { nodeName: { a: 'b' } } }, ''],
    ['a name that ends like it', { status: { nominatednodeName: 'n' } }, ''],
    ['a text that looks like it', { data: { a: '"nodeName":"x"' } }, ''],
    ['two', { data: { nodeName: 'a' }, spec: { nodeName: 'b' } }, undefined],
    ['a text with an escape', { spec: { nodeName: 'a"b' } }, undefined],
    ['a text with a backslash', { spec: { nodeName: 'a\\' } }, undefined],
    ['a text beyond ASCII', { spec: { nodeName: 'ä' } }, undefined],
  ])('%s', (_, members, expected) => expect(found(members)).toBe(expected))

  it('does not read what another program has stored', () => {
    expect(found({ spec: { nodeName: 'n' } }, parseObject)).toBeUndefined()
  })
})

describe('StoredObject.unread()', () => {
  const withoutType = Buffer.from('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ä"}}')
  const counted = () => {
    const read = vi.fn((value: Buffer) => ({ ...parseObject(value), data: { new: 'ü' } }) as KubeObject)
    return { read, stored: StoredObject.unread('/k', 42, withoutType, head, read, 'MODIFIED') }
  }
  const shownAt42 = { resourceVersion: '42', name: 'ä' }
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: shownAt42, data: { new: 'ü' } })

  it.each<[string, (stored: StoredObject) => unknown]>([
    ['object', (stored) => stored.object],
    ['frozen object', (stored) => stored.frozen],
    ['bytes', (stored) => stored.bytes],
    ['size', (stored) => stored.size],
    ['watch line', (stored) => stored.watchLine('MODIFIED')],
    ['another watch line', (stored) => stored.watchLine('ADDED')],
    ['item of a list', tailOf],
    ['state at another revision', (stored) => stored.at(43)],
  ])('is read once, when its %s is first asked for', (_what, look) => {
    const { read, stored } = counted()
    expect(read).not.toHaveBeenCalled()
    look(stored)
    expect([stored.bytes.toString(), stored.size]).toEqual([text, Buffer.byteLength(text)])
    expect(stored.object).toEqual(JSON.parse(text))
    expect(stored.watchLine('MODIFIED').toString()).toBe(`{"type":"MODIFIED","object":${text}}\n`)
    expect(stored.at(7).bytes.toString()).toBe(text.replace('42', '7'))
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('without a reader is served as it is stored, however it is first looked at', () => {
    for (const look of [(stored: StoredObject) => stored.bytes, (stored: StoredObject) => stored.object]) {
      const stored = StoredObject.unread('/k', 42, withoutType, head, undefined)
      look(stored)
      expect(stored.bytes).toEqual(StoredObject.unread('/k', 42, withoutType, head, undefined).bytes)
      expect(stored.object).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: shownAt42 })
    }
  })

  it('lets the next version take over the bytes of its spec', () => {
    const set = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, spec: { x: 1 }, status: {} }
    const stored = StoredObject.unread('/k', 42, encodeForStore(set).value, head, parseObject)
    expect(stored.specBytes((stored.object as typeof set).spec)).toBeUndefined()
    expect(stored.bytes.length).toBeGreaterThan(0)
    expect(stored.specBytes((stored.object as typeof set).spec)!.toString()).toBe('{"x":1}')
  })

  it('that cannot be read fails each time, and not for ever', () => {
    let isBroken = true
    const stored = StoredObject.unread('/k', 42, withoutType, head, (value) => {
      if (isBroken) throw new Error('broken')
      return parseObject(value)
    })
    for (const look of [() => stored.bytes, () => stored.object, () => stored.bytes]) expect(look).toThrow('broken')
    isBroken = false
    expect(stored.object.metadata).toEqual({ resourceVersion: '42', name: 'ä' })
  })
})

describe('watchLine()', () => {
  it('wraps bytes of any length', () => {
    expect(watchLine('ERROR', Buffer.from('{"ü":1}')).toString()).toBe('{"type":"ERROR","object":{"ü":1}}\n')
  })
})
