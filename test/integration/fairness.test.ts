import { afterEach, describe, expect, it } from 'vitest'
import { MemoryExchange, type Sent } from './exchange.ts'
import { type Options, TestServer, configMap, configMaps, settle } from './server.ts'

const user = (commonName: string, ...organizations: string[]) => ({ commonName, organizations })
const jane = user('jane')
const flowschemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
const levels = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations'

/** A create whose body comes when a test says so. */
class SlowExchange extends MemoryExchange {
  #send: () => void = () => {}
  readonly #sent = new Promise<void>((resolve) => (this.#send = resolve))

  override async readBody(): Promise<Buffer> {
    await this.#sent
    return super.readBody()
  }

  sendBody(): void {
    this.#send()
  }
}

let server: TestServer
afterEach(async () => {
  await server.close()
})

const start = async (options: Options) => {
  server = await TestServer.start(options)
}

function begin(name: string, sender: Sent['user'] = jane): SlowExchange {
  const body = Buffer.from(JSON.stringify(configMap(name)))
  const exchange = new SlowExchange({ method: 'POST', url: configMaps, headers: { 'content-type': 'application/json' }, body, user: sender })
  void server.api.handle(exchange)
  return exchange
}

/** Enough that everybody is waiting who will: one seat and 50 places in each of six queues of a flow. */
const flood = (count = 400) => Array.from({ length: count }, (_, i) => begin(`flood-${i}`))
const end = async (exchanges: readonly SlowExchange[]) => {
  for (const exchange of exchanges) exchange.sendBody()
  await Promise.all(exchanges.map(({ answered }) => answered))
}
const one = { isEnabled: true, maxReadOnly: 1, maxMutating: 1 }

describe('priority and fairness', () => {
  it('says with each answer what a request was taken for', async () => {
    await start({})
    const uid = async (url: string) => (await server.get(url)).body.metadata.uid
    const { headers } = await server.send({ method: 'GET', url: configMaps, user: jane })
    expect(headers).toMatchObject({
      'x-kubernetes-pf-flowschema-uid': await uid(`${flowschemas}/global-default`),
      'x-kubernetes-pf-prioritylevel-uid': await uid(`${levels}/global-default`),
    })
  })

  it('refuses what is too much with 429, and lets everybody else in', async () => {
    await start({ fairness: one })
    const sent = flood()
    await settle()
    const { answered } = begin('one-more')
    const { code, headers, text } = await answered
    expect(code).toBe(429)
    expect(headers).toMatchObject({ 'retry-after': '1', 'x-kubernetes-pf-flowschema-uid': expect.stringMatching(/-/) })
    expect(JSON.parse(text)).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } })
    const others: Sent['user'][] = [
      user('admin', 'system:masters'), user('system:node:a', 'system:nodes'), user('system:kube-scheduler'), null,
    ]
    const codes = await Promise.all(others.map(async (sender) => (await server.send({ method: 'GET', url: sender ? configMaps : '/livez', user: sender })).code))
    expect(codes).toEqual([200, 200, 200, 200])
    await end(sent)
    expect((await server.send({ method: 'GET', url: configMaps, user: jane })).code).toBe(200)
  })

  it('lets in whoever must get through although a flood of others shares the level', async () => {
    await start({ fairness: one })
    const node = user('system:node:a', 'system:nodes')
    const [lease, status] = ['/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', '/api/v1/nodes/a/status']
    const nodes = Array.from({ length: 400 }, (_, i) => begin(`flood-${i}`, user('system:node:b', 'system:nodes')))
    const services = Array.from({ length: 400 }, (_, i) => begin(`more-${i}`, user('system:serviceaccount:default:a', 'system:serviceaccounts', 'system:serviceaccounts:default')))
    await settle()
    const level = async (sender: Sent['user'], method: string, url: string) => {
      const { code, headers } = await server.send({ method, url, user: sender, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') })
      return [code, headers['x-kubernetes-pf-prioritylevel-uid']]
    }
    const uid = async (name: string) => (await server.get(`${levels}/${name}`)).body.metadata.uid
    const beats = await Promise.all([
      level(node, 'GET', `${lease}/a`), level(node, 'PATCH', status), level(user('system:kube-controller-manager'), 'GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x'),
    ])
    expect(beats.map(([, found]) => found)).toEqual([await uid('node-high'), await uid('node-high'), await uid('leader-election')])
    expect(beats.map(([code]) => code)).not.toContain(429)
    // Another node's first request in the level of the flood does not wait for it.
    const own = begin('own', node)
    own.sendBody()
    expect((await own.answered).code).not.toBe(429)
    await end([...nodes, ...services])
  })

  it('serves another flow of the same level in its turn', async () => {
    await start({ fairness: one })
    const sent = flood(100)
    await settle()
    const order: SlowExchange[] = []
    const all = [...sent, begin('joes', user('joe'))]
    for (const exchange of all) void exchange.answered.then(() => order.push(exchange))
    await end(all.toReversed())
    expect(order.indexOf(all.at(-1)!)).toBeLessThan(10)
  })

  it('refuses who has waited for a quarter of a minute', async () => {
    await start({ fairness: one })
    const sent = flood(2)
    await settle()
    server.clock.advance(15_000)
    expect((await sent[1]!.answered).code).toBe(429)
    await end(sent)
  })

  it('counts under the names of Kubernetes, and only what there is', async () => {
    await start({ fairness: one })
    const sent = flood()
    await settle()
    const labels = { flow_schema: 'global-default', priority_level: 'global-default' }
    const value = (name: string, more = {}) => server.metric(`apiserver_flowcontrol_${name}`, { ...labels, ...more })
    expect(await value('current_executing_requests')).toBe(1)
    const waiting = (await value('current_inqueue_requests'))!
    expect(waiting).toBeGreaterThanOrEqual(250)
    expect(await value('rejected_requests_total', { reason: 'queue-full' })).toBe(399 - waiting)
    await end(sent)
    expect(await value('dispatched_requests_total')).toBe(1 + waiting)
    expect(await value('request_wait_duration_seconds_count', { execute: 'true' })).toBe(1 + waiting)
    expect([await value('current_inqueue_requests'), await value('current_executing_requests')]).toEqual([0, 0])
  })

  it('goes by schemas and levels as soon as they are written', async () => {
    await start({})
    const spec = { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' }, borrowingLimitPercent: 0 } }
    await server.create(levels, { metadata: { name: 'narrow' }, spec })
    const rules = [{
      subjects: [{ kind: 'User', user: { name: 'jane' } }],
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
    }]
    const schema = { metadata: { name: 'janes' }, spec: { priorityLevelConfiguration: { name: 'narrow' }, matchingPrecedence: 50, rules } }
    await server.create(flowschemas, schema)
    const first = begin('a')
    await settle()
    expect((await begin('b').answered).code).toBe(429)
    await server.delete(`${levels}/narrow`)
    const second = begin('c')
    await end([first, second])
    expect((await second.answered).code).toBe(201)
    server.clock.advance(1000)
    await settle()
    const { status } = (await server.get(`${flowschemas}/janes`)).body
    expect(status.conditions).toMatchObject([{ type: 'Dangling', status: 'True', reason: 'NotFound' }])
  })

  it('says of every schema of its own that its level is there', async () => {
    await start({})
    server.clock.advance(1000)
    await settle()
    const { items } = (await server.get(flowschemas)).body
    const told = items.map(({ status }: any) => status.conditions?.map(({ type, status: is, reason }: any) => [type, is, reason]))
    expect(told).toEqual(items.map(() => [['Dangling', 'False', 'Found']]))
  })

  it('lends seats that others do not need', async () => {
    await start({ fairness: { isEnabled: true, maxReadOnly: 60, maxMutating: 30 } })
    const sent = flood(60)
    await settle()
    const executing = () => server.metric('apiserver_flowcontrol_current_executing_requests', { flow_schema: 'global-default' })
    expect(await executing()).toBe(8)
    server.clock.advance(10_000)
    await settle()
    expect(await executing()).toBeGreaterThan(30)
    await end(sent)
  })

  it('counts requests alone where it is switched off', async () => {
    await start({ fairness: { isEnabled: false, maxReadOnly: 2, maxMutating: 1 } })
    const first = begin('a')
    await settle()
    expect((await begin('b').answered).code).toBe(429)
    const { code, headers } = await server.send({ method: 'GET', url: configMaps, user: jane })
    expect([code, Object.keys(headers).filter((name) => name.startsWith('x-kubernetes'))]).toEqual([200, []])
    expect((await server.create(configMaps, configMap('c'))).code).toBe(201)
    await end([first])
  })

  it('has a watch hold a seat only while it begins', async () => {
    await start({ fairness: one })
    const watch = new MemoryExchange({ method: 'GET', url: `${configMaps}?watch=true`, user: jane })
    await server.api.handle(watch)
    expect(await server.metric('apiserver_flowcontrol_current_executing_requests', { flow_schema: 'global-default' })).toBe(0)
    expect((await server.send({ method: 'GET', url: configMaps, user: jane })).code).toBe(200)
  })

  it('lets in whoever is in the same process, whatever goes on outside', async () => {
    await start({ fairness: one })
    const sent = flood()
    await settle()
    const { callInProcess } = await import('../../src/server/index.ts')
    const list = await callInProcess(server.api, { method: 'GET', path: configMaps, user: { name: 'jane', groups: [] } })
    expect(list).toMatchObject({ kind: 'ConfigMapList' })
    await end(sent)
  })
})
