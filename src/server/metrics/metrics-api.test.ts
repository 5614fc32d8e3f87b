import { beforeEach, describe, expect, it } from 'vitest'
import type { Node } from '../../api/generated/types.ts'
import { parsePath, type ResourcePath } from '../requests/path.ts'
import { ServerTrial } from '../server-trial.ts'
import { create } from '../verbs/create.ts'
import { parseResourceMetrics } from './exposition.ts'
import { nodeMetrics, podMetrics } from './kinds.ts'
import { MetricsApi } from './metrics-api.ts'
import { NodeScraper } from './node-scraper.ts'

let trial: ServerTrial
let api: MetricsApi
/** The nodes that were called, in order. */
let asked: string[]

/** Each node has used a quarter of a core since the epoch; one named `gone` does not answer. */
const ask = async ({ metadata: { name } }: Node) => {
  asked.push(name!)
  const atMs = trial.clock.now()
  const figures = (what: string, of: string) => `${what}_cpu_usage_seconds_total${of} ${atMs / 4000} ${atMs}\n${what}_memory_working_set_bytes${of} 1048576 ${atMs}\n`
  return name === 'gone' ? undefined : parseResourceMetrics(`${figures('node', '')}${figures('container', `{container="c",namespace="default",pod="on-${name}"}`)}`, atMs)
}

beforeEach(async () => {
  trial = await ServerTrial.open()
  asked = []
  api = new MetricsApi({ objects: () => trial.parts.access, clock: trial.clock, scraper: new NodeScraper(trial.clock, ask) })
  for (const name of ['n1', 'n2', 'gone']) {
    await create(trial.request('/api/v1/nodes', { metadata: { name, labels: { called: name } } }))
    const pod = { metadata: { name: `on-${name}`, labels: { called: name } }, spec: { nodeName: name, containers: [{ name: 'c', image: 'i' }] } }
    await create(trial.request('/api/v1/namespaces/default/pods', pod))
    await trial.parts.access.update<any>(trial.parts.registry.find('v1', 'pods')!.resource, 'default', `on-${name}`, (copy) => ({ ...copy, status: { phase: 'Running' } }))
  }
})

async function run(url: string): Promise<any> {
  const [path = '', query = ''] = url.split('?')
  const { plural, namespace, name } = parsePath(`/apis/metrics.k8s.io/v1beta1/${path}`) as ResourcePath
  const kind = plural === 'nodes' ? nodeMetrics : podMetrics
  const answer = api.answer(kind, { namespace, name, query: new URLSearchParams(query) })
  const done: true[] = []
  answer.catch(() => {}).finally(() => void done.push(true))
  // A figure takes two readings.
  for (let i = 0; i < 20 && done.length === 0; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    trial.clock.advance(100)
  }
  return ((await answer) as { object: object }).object
}
const names = async (url: string) => (await run(url)).items.map((item: any) => item.metadata.name)

describe('MetricsApi', () => {
  it('tells what a node uses, over which time', async () => {
    expect(await run('nodes/n1')).toMatchObject({ kind: 'NodeMetrics', metadata: { name: 'n1', labels: { called: 'n1' } }, window: '1s', usage: { cpu: '250m', memory: '1Mi' } })
  })

  it('tells what a pod uses', async () => {
    expect(await run('namespaces/default/pods/on-n1')).toMatchObject({ kind: 'PodMetrics', containers: [{ name: 'c', usage: { cpu: '250m', memory: '1Mi' } }] })
    expect(new Set(asked)).toEqual(new Set(['n1']))
  })

  it.each([
    ['nodes', ['n1', 'n2']],
    ['nodes?labelSelector=called=n2', ['n2']],
    ['nodes?fieldSelector=metadata.name=n1', ['n1']],
    ['pods', ['on-n1', 'on-n2']],
    ['namespaces/default/pods?labelSelector=called!=n2', ['on-n1']],
    ['namespaces/other/pods', []],
  ])('%s: those whose nodes answer', async (url, expected) => {
    expect(await names(url)).toEqual(expected)
  })

  it('answers from what it knows while that is fresh, and needs one reading more when it is not', async () => {
    await run('nodes/n1')
    expect(asked).toHaveLength(2)
    await run('nodes/n1')
    trial.clock.advance(30_000)
    expect((await run('nodes/n1')).window).not.toBe('1s')
    expect(asked.length).toBeLessThanOrEqual(4)
    trial.clock.advance(120_000)
    expect((await run('nodes/n1')).window).toBe('1s')
  })

  it.each([
    ['a pod that is not there', 'namespaces/default/pods/none', { code: 404, message: 'podmetrics.metrics.k8s.io "default/none" not found' }],
    ['a node that does not answer', 'nodes/gone', { code: 404, message: 'nodemetrics.metrics.k8s.io "gone" not found' }],
    ['a field that there is not', 'nodes?fieldSelector=spec.x=1', { code: 400 }],
  ])('refuses %s', async (_what, url, expected) => {
    await expect(run(url)).rejects.toMatchObject(expected)
  })

  it.each([
    ['a write', 'DELETE', 'nodes/n1', 405],
    ['a watch', 'GET', 'nodes?watch=true', 405],
    ['nodes in a namespace', 'GET', 'namespaces/default/nodes', 404],
    ['a pod by its name alone', 'GET', 'pods/on-n1', 404],
    ['another kind', 'GET', 'things', 404],
  ])('is not asked for %s', async (_what, method, url, code) => {
    await expect(trial.run(method, `/apis/metrics.k8s.io/v1beta1/${url}`)).rejects.toMatchObject({ code })
  })
})
