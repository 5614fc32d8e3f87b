import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { subdomainName } from '../../api/validation/names.ts'
import { openMemoryStore } from '../../store/index.ts'
import { encodeForStore } from './encode-object.ts'
import { ObjectStore } from './object-store.ts'
import { Registry } from '../registry/registry.ts'
import { defineResource } from '../registry/resource.ts'
import { StoredObject, headOf, parseObject } from './stored-object.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const head = headOf('v1', 'Pod')
const pod = () => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { app: 'web' } }, spec: { nodeName: 'n' }, status: { phase: 'Running' } })

/** Weakly held objects are kept until the turn is over. */
async function garbageGone(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
}

const ways: [string, () => StoredObject][] = [
  ['that was written', () => {
    const encoded = encodeForStore(pod())
    return StoredObject.fromEncoded('/k', 7, head, encoded)
  }],
  ['that was loaded', () => StoredObject.unread('/k', 7, encodeForStore(pod()).value, head, undefined)],
  ['that another program has stored', () => StoredObject.unread('/k', 7, encodeForStore(pod()).value, head, parseObject)],
]

describe.each(ways)('an object %s', (_, make) => {
  const wanted = { ...pod(), metadata: { ...pod().metadata, resourceVersion: '7' } }

  it('is not kept decoded when nobody has it, and is decoded again when somebody asks', async () => {
    const stored = make()
    const decoded = new WeakRef(stored.object)
    await garbageGone()
    expect(decoded.deref()).toBeUndefined()
    expect(stored.object).toEqual(wanted)
    expect(JSON.parse(stored.bytes.toString())).toEqual(wanted)
    await garbageGone()
    expect(stored.frozen).toEqual(wanted)
    expect(Object.isFrozen(stored.frozen.metadata)).toBe(true)
  })

  it('is one object for all while somebody has it', async () => {
    const stored = make()
    const held = stored.object
    await garbageGone()
    expect(stored.object).toBe(held)
    expect(stored.at(8).object).toMatchObject({ metadata: { name: 'a', resourceVersion: '8' } })
  })
})

it('versions in a store in memory, current and past, are not kept decoded', async () => {
  const rules = { nameRule: subdomainName, validate: () => [], validateUpdate: () => [] }
  const thing = defineResource({ ...rules, group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false })
  const registry = new Registry([thing], [])
  const objects = await ObjectStore.open(openMemoryStore(), registry, () => {})
  const things = registry.find('v1', 'things')!
  const made = (x: number) => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, spec: { x }, status: {} })
  const write = async (): Promise<WeakRef<object>[]> => {
    const first = await objects.create(things, made(1))
    const second = await objects.update(things, first, made(2))
    return [new WeakRef(first.object), new WeakRef(second.object)]
  }
  const decoded = await write()
  await garbageGone()
  expect(decoded.map((ref) => ref.deref())).toEqual([undefined, undefined])
  expect(objects.get(things, '', 'a')!.object).toMatchObject({ spec: { x: 2 } })
})
