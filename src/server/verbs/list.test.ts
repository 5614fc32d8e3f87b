import { beforeAll, describe, expect, it } from 'vitest'
import type { Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from './create.ts'
import { get } from './get.ts'
import { checkListOptions, checkTimeout, wantsBookmarks } from './list-options.ts'
import { list } from './list.ts'
import { selectionOf } from './selection.ts'
import { watch } from './watch.ts'

let trial: ServerTrial
const configMaps = '/api/v1/namespaces/default/configmaps'

beforeAll(async () => {
  trial = await ServerTrial.open()
  for (const [name, namespace, labels] of [['a', 'default', { k: '1' }], ['ab', 'default', { k: '2' }], ['b', 'default', {}], ['a', 'kube-system', { k: '1' }]] as const) {
    await create(trial.request(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, labels } }))
  }
})

const page = async (url: string) => {
  const { items, meta } = (await list(trial.request(url))) as Extract<Result, { kind: 'list' }>
  return { names: items.map((i) => `${i.object.metadata.namespace}/${i.object.metadata.name}`), meta }
}
const codeOf = async (run: () => unknown) => {
  try {
    await run()
    return 200
  } catch (e) {
    return (e as { code: number }).code
  }
}

describe('list()', () => {
  it.each([
    ['all of a namespace', configMaps, ['default/a', 'default/ab', 'default/b']],
    ['all there are', '/api/v1/configmaps', ['default/a', 'default/ab', 'default/b', 'kube-system/a']],
    ['by label', '/api/v1/configmaps?labelSelector=k%3D1', ['default/a', 'kube-system/a']],
    ['by name', `${configMaps}?fieldSelector=metadata.name%3Da`, ['default/a']],
    ['by name, everywhere', '/api/v1/configmaps?fieldSelector=metadata.name%3Da', ['default/a', 'kube-system/a']],
    ['by not being a name', `${configMaps}?fieldSelector=metadata.name!%3Da`, ['default/ab', 'default/b']],
    ['by namespace', '/api/v1/configmaps?fieldSelector=metadata.namespace%3Dkube-system', ['kube-system/a']],
    ['a page', `${configMaps}?limit=2`, ['default/a', 'default/ab']],
    ['with a limit below nothing', `${configMaps}?limit=-1`, ['default/a', 'default/ab', 'default/b']],
  ])('%s', async (_what, url, expected) => {
    expect((await page(url)).names).toEqual(expected)
  })

  it('goes on behind the last of a page', async () => {
    const first = await page('/api/v1/configmaps?limit=3')
    expect(first.meta.remainingItemCount).toBe(1)
    expect((await page(`/api/v1/configmaps?limit=3&continue=${first.meta.continue}`)).names).toEqual(['kube-system/a'])
  })

  it.each([
    ['a limit that is no number', 'limit=x', 400],
    ['a version that is none', 'resourceVersion=x', 400],
    ['a version of the future', 'resourceVersion=999999', 504],
    ['a token that is none', 'continue=x', 400],
    ['a field that is none', 'fieldSelector=spec.x%3D1', 400],
    ['a selector that is none', 'labelSelector=%3D', 400],
    ['how a version matches, without one', 'resourceVersionMatch=Exact', 422],
  ])('refuses %s', async (_what, query, code) => {
    expect(await codeOf(() => page(`${configMaps}?${query}`))).toBe(code)
  })
})

describe('get()', () => {
  it.each([
    ['what is there', `${configMaps}/a`, 200],
    ['what is not', `${configMaps}/nobody`, 404],
    ['not older than now', `${configMaps}/a?resourceVersion=1`, 200],
    ['not older than tomorrow', `${configMaps}/a?resourceVersion=999999`, 504],
    ['a version that is none, which Kubernetes takes for its own fault', `${configMaps}/a?resourceVersion=x`, 500],
  ])('%s', async (_what, url, code) => {
    expect(await codeOf(() => get(trial.request(url)))).toBe(code)
  })
})

describe('watch()', () => {
  const specOf = (query: string) => (watch(trial.request(`${configMaps}?${query}`)) as Extract<Result, { kind: 'watch' }>).watch

  it.each([
    ['what is there first', '', { initial: 'events', bookmarks: false }],
    ['from any version', 'resourceVersion=0', { initial: 'events' }],
    ['from a version', 'resourceVersion=3', { initial: 'none', from: 3 }],
    ['with bookmarks', 'allowWatchBookmarks=true', { bookmarks: true }],
    ['as a list', 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1', { initial: 'events and bookmark' }],
    ['as a list without bookmarks', 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan', { initial: 'events' }],
    ['from now', 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan', { initial: 'none' }],
    ['for a while', 'timeoutSeconds=7', { timeoutMs: 7000 }],
  ])('%s', (_what, query, expected) => {
    expect(specOf(query)).toMatchObject(expected)
  })

  it('ends by itself between half an hour and an hour later', () => {
    const { timeoutMs } = specOf('')
    expect(timeoutMs).toBeGreaterThanOrEqual(1_800_000)
    expect(timeoutMs).toBeLessThanOrEqual(3_600_000)
  })
})

describe('checkListOptions()', () => {
  it.each([
    ['', false, 200],
    ['resourceVersionMatch=Exact&resourceVersion=5', false, 200],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=0', false, 200],
    ['resourceVersionMatch=Exact&resourceVersion=0', false, 422],
    ['resourceVersionMatch=bogus&resourceVersion=5', false, 422],
    ['resourceVersionMatch=Exact&resourceVersion=5&continue=x', false, 422],
    ['sendInitialEvents=true', false, 422],
    ['resourceVersionMatch=NotOlderThan', true, 422],
    ['sendInitialEvents=true', true, 422],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', true, 422],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', true, 200],
  ])('%j of a watch (%s) is %d', async (query, isWatch, code) => {
    expect(await codeOf(() => checkListOptions(new URLSearchParams(query), isWatch))).toBe(code)
  })
})

describe('checkTimeout()', () => {
  it.each([['', 200], ['timeout=', 200], ['timeout=0', 200], ['timeout=1h5m', 200], ['timeout=1.5s', 200], ['timeout=-2ms', 200], ['timeout=5', 400], ['timeout=x', 400], ['timeout=1s%20', 400]])('%j is %d', async (query, code) => {
    expect(await codeOf(() => checkTimeout(new URLSearchParams(query)))).toBe(code)
  })
})

it('wantsBookmarks() takes anything but false and 0 for yes', () => {
  expect(['', 'allowWatchBookmarks', 'allowWatchBookmarks=true', 'allowWatchBookmarks=0', 'allowWatchBookmarks=false'].map((q) => wantsBookmarks(new URLSearchParams(q)))).toEqual([false, true, true, false, false])
})

describe('selectionOf()', () => {
  it('looks at one key where a name is given', () => {
    expect(selectionOf(trial.request(`${configMaps}?fieldSelector=metadata.name%3Da`))).toMatchObject({ base: '/registry/configmaps/default/', prefix: '/registry/configmaps/default/a' })
  })

  it('judges nothing where nothing is asked', () => {
    expect(selectionOf(trial.request(configMaps)).matches).toBeUndefined()
  })

  it.each(['constructor', '__proto__', 'toString', 'metadata.uid', 'spec.nodeName'])('knows no field %s of a ConfigMap', (field) => {
    expect(() => selectionOf(trial.request(`${configMaps}?fieldSelector=${field}%3Dx`))).toThrow(expect.objectContaining({ code: 400 }) as Error)
  })
})
