import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { masked } from '../kubectl/masks.ts'

const cluster = useCluster()

describe('kubectl get --watch', () => {
  it('shows what is there, then every change', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create deployment watched --image=nginx:1.27')
    const watch = kubectl.start('get deployments --watch')
    expect(await watch.nextLine()).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE$/)
    expect(masked(await watch.nextLine())).toMatch(/^watched +0\/1 +0 +0 +AGE$/)
    await kubectl.ok('scale deployment watched --replicas=3')
    expect(masked(await watch.nextLine())).toMatch(/^watched +0\/3 +0 +0 +AGE$/)
    await kubectl.ok(`patch deployment watched --subresource=status -p '{"status":{"replicas":3,"readyReplicas":2,"availableReplicas":1}}'`)
    expect(masked(await watch.nextLine())).toMatch(/^watched +2\/3 +0 +1 +AGE$/)
    await kubectl.ok('delete deployment watched')
    expect(masked(await watch.nextLine())).toMatch(/^watched +2\/3 +0 +1 +AGE$/)
    await watch.stop()
  })

  it('names the kind of change, of one object', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap plum')
    const watch = kubectl.start('get configmap plum --watch --output-watch-events')
    expect(await watch.nextLine()).toMatch(/^EVENT +NAME +DATA +AGE$/)
    expect(masked(await watch.nextLine())).toMatch(/^ADDED +plum +0 +AGE$/)
    await kubectl.ok('create configmap peach')
    await kubectl.ok(`patch configmap plum -p '{"data":{"a":"b"}}'`)
    expect(masked(await watch.nextLine())).toMatch(/^MODIFIED +plum +1 +AGE$/)
    await kubectl.ok('delete configmap plum')
    expect(masked(await watch.nextLine())).toMatch(/^DELETED +plum +1 +AGE$/)
    await watch.stop()
  })

  it('follows a selector: an object that no longer fits is gone', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap fits')
    await kubectl.ok('label configmap fits ripe=yes')
    const watch = kubectl.start('get configmaps -l ripe=yes --watch --output-watch-events --no-headers')
    expect(masked(await watch.nextLine())).toMatch(/^ADDED +fits +0 +AGE$/)
    await kubectl.ok('label configmap fits ripe=no --overwrite')
    expect(masked(await watch.nextLine())).toMatch(/^DELETED +fits +0 +AGE$/)
    await kubectl.ok('label configmap fits ripe=yes --overwrite')
    expect(masked(await watch.nextLine())).toMatch(/^ADDED +fits +0 +AGE$/)
    await watch.stop()
  })

  it('prints whole objects', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace quiet')
    const watch = kubectl.start(`get configmaps -n quiet --watch -o go-template='{{.metadata.name}}={{.data.n}}{{"\\n"}}'`)
    await kubectl.ok('create configmap first -n quiet --from-literal=n=1')
    expect(await watch.nextLine()).toBe('first=1')
    await watch.stop()
  })
})

describe('kubectl get --watch-only', () => {
  it('shows changes only', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace changes')
    await kubectl.ok('create secret generic before -n changes')
    const watch = kubectl.start('get secrets -n changes --watch-only -o name')
    await watch.watching()
    await kubectl.ok('create secret generic after -n changes')
    expect(await watch.nextLine()).toBe('secret/after')
    await watch.stop()
  })
})

describe('kubectl wait', () => {
  const conditions = (type: string, status: string) => JSON.stringify({ status: { conditions: [{ type, status }] } })

  it('ends when a condition holds', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create deployment ready --image=nginx:1.27')
    const wait = kubectl.start('wait deployment/ready --for=condition=Available --timeout=60s')
    await wait.watching()
    await kubectl.ok(`patch deployment ready --subresource=status -p '${conditions('Available', 'False')}'`)
    await kubectl.ok(`patch deployment ready --subresource=status -p '${conditions('Available', 'True')}'`)
    expect(await wait.ended).toMatchObject({ code: 0, out: 'deployment.apps/ready condition met\n' })
  })

  it('ends when a field has a value', async () => {
    const { kubectl } = cluster
    await kubectl.ok('run phased --image=nginx:1.27')
    const wait = kubectl.start("wait pod/phased --for=jsonpath='{.status.phase}'=Running --timeout=60s")
    await wait.watching()
    await kubectl.ok(`patch pod phased --subresource=status -p '{"status":{"phase":"Running"}}'`)
    expect(await wait.ended).toMatchObject({ code: 0, out: 'pod/phased condition met\n' })
  })

  it('ends when an object is gone', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap leaving')
    await kubectl.ok(`patch configmap leaving -p '{"metadata":{"finalizers":["example.com/hold"]}}'`)
    await kubectl.ok('delete configmap leaving --wait=false')
    const wait = kubectl.start('wait configmap/leaving --for=delete --timeout=60s')
    await wait.watching()
    await kubectl.ok(`patch configmap leaving -p '{"metadata":{"finalizers":null}}'`)
    expect(await wait.ended).toMatchObject({ code: 0, out: 'configmap/leaving condition met\n' })
  })

  it('ends when an object is created', async () => {
    const { kubectl } = cluster
    const wait = kubectl.start('wait configmap/coming --for=create --timeout=60s')
    await kubectl.ok('create configmap coming')
    expect(await wait.ended).toMatchObject({ code: 0, out: 'configmap/coming condition met\n' })
  })

  it('gives up after its time', async () => {
    await cluster.kubectl.ok('create configmap never')
    expect(await cluster.kubectl.refused("wait configmap/never --for=jsonpath='{.data.a}'=b --timeout=1ms")).toBe('error: timed out waiting for the condition on configmaps/never\n')
  })
})

describe('kubectl events', () => {
  const event = (name: string, target: string, type: string, reason: string, message: string, minute: number) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'eventful' },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: target, namespace: 'eventful' },
    type,
    reason,
    message,
    count: 1,
    source: { component: 'test' },
    firstTimestamp: `2026-01-01T00:0${minute}:00Z`,
    lastTimestamp: `2026-01-01T00:0${minute}:00Z`,
  })
  const items = [
    event('b', 'two', 'Warning', 'FailedScheduling', 'no nodes available', 2),
    event('a', 'one', 'Normal', 'Scheduled', 'assigned to a node', 1),
    event('c', 'one', 'Warning', 'BackOff', 'restarting', 3),
  ]
  const since = (text: string) => text.replace(/\b\d+[dy](\d+[hd])?\b/g, 'AGO').replace(/ +/g, ' ')

  it('lists events by time, of a namespace, an object or a type', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace eventful')
    await kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    const rows = (line: string) => kubectl.ok(line).then((text) => since(text).split('\n').slice(1, -1))
    expect(await rows('events -n eventful')).toEqual([
      'AGO Normal Scheduled Pod/one assigned to a node',
      'AGO Warning FailedScheduling Pod/two no nodes available',
      'AGO Warning BackOff Pod/one restarting',
    ])
    expect(await rows('events -n eventful --for pod/one')).toEqual(['AGO Normal Scheduled Pod/one assigned to a node', 'AGO Warning BackOff Pod/one restarting'])
    expect(await rows('events -n eventful --types=Normal')).toEqual(['AGO Normal Scheduled Pod/one assigned to a node'])
    expect(await rows('get events -n eventful --field-selector involvedObject.name=two')).toEqual(['AGO Warning FailedScheduling pod/two no nodes available'])
    expect(await rows('get events.events.k8s.io -n eventful --field-selector reason=BackOff')).toEqual(['AGO Warning BackOff pod/one restarting'])
  })
})
