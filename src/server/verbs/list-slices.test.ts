import { beforeAll, describe, expect, it } from 'vitest'
import { parseLabelRequirements, parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import type { Turns } from '../../base/turns.ts'
import type { KubeObject } from '../../api/object.ts'
import { callInProcess } from '../requests/in-process.ts'
import { watchInProcess } from '../requests/in-process-watch.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { ServerTrial } from '../server-trial.ts'
import { headOf, StoredObject } from '../objects/stored-object.ts'
import { create } from './create.ts'
import { deleteObject } from './delete.ts'
import { list } from './list.ts'
import { neededTexts } from './selection.ts'

const count = 1200
const url = '/api/v1/namespaces/default/configmaps'
let trial: ServerTrial

beforeAll(async () => {
  trial = await ServerTrial.open()
  for (let i = 0; i < count; i++) await create(trial.request(url, { metadata: { name: `c-${String(i).padStart(4, '0')}`, labels: { half: String(i % 2) } } }))
})

/** A turn is spent each time that somebody asks, which is after sixteen steps; `between` runs while somebody waits for the next. */
function countedTurns(between = async () => {}): Turns & { taken: number; asked: number } {
  return {
    taken: 0,
    asked: 0,
    get isSpent() {
      this.asked++
      return true
    },
    async next() {
      this.taken++
      await between()
    },
  }
}

function request(query: string, turns: Turns): ResourceRequest {
  const { clock } = trial.parts
  return trial.request(`${url}?${query}`, undefined, { server: { ...trial.parts, clock: { now: () => clock.now(), after: (ms, fn) => clock.after(ms, fn), turns } } })
}

const listed = async (query: string, turns: Turns) => (await list(request(query, turns))) as Extract<Result, { kind: 'list' }>

describe('a list of very many', () => {
  it.each([
    ['by labels', 'labelSelector=half%3D1', count / 2, 75],
    ['by labels that nothing has', 'labelSelector=half%3D2', 0, 75],
    ['by labels, a page', 'labelSelector=half%3D1&limit=100', 100, 12],
    ['of all', '', count, 0],
    ['of a page', 'limit=10', 10, 0],
    ['by labels, of few', 'labelSelector=half%3D1&limit=5', 5, 0],
  ])('%s takes slices as it has steps', async (_, query, items, slices) => {
    const turns = countedTurns()
    expect((await listed(query, turns)).items).toHaveLength(items)
    expect(turns.taken).toBe(slices)
  })

  it('shows what was there when it began, whatever happens between its slices', async () => {
    let gone = 0
    const turns = countedTurns(async () => {
      const name = `c-${String(count - 1 - gone++).padStart(4, '0')}`
      await deleteObject(trial.request(`${url}/${name}`), {})
      await create(trial.request(url, { metadata: { name: `b-${gone}`, labels: { half: '1' } } }))
    })
    const before = String(trial.parts.objects.revision)
    const { items, meta } = await listed('labelSelector=half%3D1', turns)
    expect([items.length, meta.resourceVersion]).toEqual([count / 2, before])
    expect(items.at(-1)!.key).toMatch(/c-1199$/)
    expect(gone).toBe(75)
  })

  /** The same server on a machine with these turns. */
  function busy(turns: Turns): typeof trial.server {
    const { clock } = trial.parts
    const machine = { now: () => clock.now(), after: () => () => {}, turns }
    return Object.create(trial.server, { parts: { value: { ...trial.parts, clock: machine } }, whenEnded: { value: () => () => {} } }) as typeof trial.server
  }

  it('in the process is read in slices', async () => {
    const turns = countedTurns()
    const { items } = (await callInProcess(busy(turns), { method: 'GET', path: url, user: { name: 'tester', groups: [] } })) as { items: unknown[] }
    expect(items).toHaveLength(count)
    expect(turns.taken).toBe(75)
  })

  it('as the beginning of a watch in the process is handed on in slices, and what comes meanwhile behind it', async () => {
    const seen: string[] = []
    let made = 0
    const turns = countedTurns(async () => {
      if (made < 3) await create(trial.request(url, { metadata: { name: `new-${made++}` } }))
    })
    const before = (await listed('', countedTurns())).items.length
    const watcher = { opened: () => {}, event: (_: string, object: KubeObject) => seen.push(object.metadata.name!), closed: () => {} }
    const end = watchInProcess(busy(turns), { method: 'GET', path: url, user: { name: 'tester', groups: [] } }, watcher)
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve))
    end()
    expect(turns.taken).toBeGreaterThanOrEqual(40)
    expect(seen).toHaveLength(before + 3)
    expect(seen.slice(-3)).toEqual(['new-0', 'new-1', 'new-2'])
  })
})

describe('neededTexts()', () => {
  const head = headOf('v1', 'ConfigMap')
  const stored = (labels: object) => StoredObject.unread('/k', 5, Buffer.from(`${head.text}"name":"a","labels":${JSON.stringify(labels)}}}`), head, undefined)

  it.each([
    ['app=web', { app: 'web' }, true],
    ['app=web', { app: 'webs' }, false],
    ['app==web,tier', { app: 'web', tier: '' }, true],
    ['app=web,tier', { app: 'web' }, false],
    ['app in (web)', { app: 'web' }, true],
    ['app in (web,api)', { app: 'api' }, true],
    ['app in (web,api)', { other: 'api' }, false],
    ['app=', { app: '' }, true],
    ['app=', { app: 'web' }, false],
    ['app>1', { app: '2' }, true],
    ['app<1', {}, false],
    ['app!=web', { other: 'x' }, true],
    ['app notin (web)', {}, true],
    ['!app', {}, true],
  ])('of %s does not miss what is meant', (selector, labels, isHeld) => {
    const texts = neededTexts(parseLabelRequirements(selector), [])
    const mayHold = texts.every((text) => stored(labels).mayHold(text))
    expect(mayHold).toBe(isHeld)
    if (parseLabelSelector(selector)(labels as Record<string, string>)) expect(mayHold).toBe(true)
  })

  it.each([
    ['spec.nodeName', '=', 'node-1', ['"node-1"']],
    ['spec.nodeName', '=', '', []],
    ['spec.nodeName', '!=', 'node-1', []],
    ['spec.unschedulable', '=', 'true', []],
    ['metadata.name', '=', 'a"b', []],
  ] as const)('of a field: %s %s %j', (field, operator, value, expected) => {
    expect(neededTexts([], [{ field, operator, value }]).map(String)).toEqual(expected)
  })
})
