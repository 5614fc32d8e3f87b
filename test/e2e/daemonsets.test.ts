import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster, useControllers } from '../kubectl/cluster.ts'
import { usePodRunner } from '../kubectl/pod-runner.ts'

const cluster = useCluster()
useControllers(cluster, ['--leader-elect=false', '--controllers', 'daemonset-controller,garbage-collector-controller'])
usePodRunner(cluster, ({ spec }) => {
  const [term] = spec.affinity!.nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!.nodeSelectorTerms
  return term!.matchFields![0]!.values![0]!
})

beforeAll(async () => {
  const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
  await ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: ['n1', 'n2', 'n3'].map(node) }))
  await ok('patch node n1 n2 n3 --type=merge -p \'{"spec":{"taints":null}}\'')
})

const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
const read = (path: string) => ok(`get ds/agent -o jsonpath='${path}'`)
const progress = () => read('{.status.conditions[?(@.type=="Progressing")].reason}')

function manifest(image: string, spec: object = {}): string {
  const labels = { app: 'agent' }
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image }] } }
  const metadata = { name: 'agent', annotations: { 'kubernetes.io/change-cause': `take ${image}` } }
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector: { matchLabels: labels }, template, ...spec } })
}

describe('kubectl and a DaemonSet', () => {
  it('waits for it, and sees it on every node', async () => {
    await ok('create -f -', manifest('app:1'))
    expect(await ok('rollout status ds/agent --timeout=60s')).toContain('daemon set "agent" successfully rolled out')
    expect(await ok('wait --for=condition=Available ds/agent --timeout=60s')).toBe('daemonset.apps/agent condition met\n')
    expect(await ok('wait --for=condition=Progressing ds/agent --timeout=60s')).toBe('daemonset.apps/agent condition met\n')
    expect(await progress()).toBe('NewRevisionAvailable')
    expect((await ok('get ds')).split('\n').map((line) => line.split(/\s+/).slice(0, -1).join(' ')).slice(0, 2)).toEqual([
      'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR',
      'agent 3 3 3 3 3 <none>',
    ])
    expect((await ok("get pods -l app=agent -o jsonpath='{.items[*].spec.nodeName}'")).split(' ').sort()).toEqual(['n1', 'n2', 'n3'])
  })

  it('rolls out another image, lists the history, and goes back', async () => {
    await ok('apply -f -', manifest('app:2'))
    expect(await ok('rollout status ds/agent --timeout=60s')).toContain('successfully rolled out')
    expect(await ok('rollout history ds/agent')).toBe('daemonset.apps/agent \nREVISION  CHANGE-CAUSE\n1         take app:1\n2         take app:2\n\n')
    expect(await ok('rollout history ds/agent --revision=1')).toContain('Image:\tapp:1')
    expect(await ok('rollout undo ds/agent')).toBe('daemonset.apps/agent rolled back\n')
    expect(await ok('rollout status ds/agent --timeout=60s')).toContain('successfully rolled out')
    expect(await read('{.spec.template.spec.containers[0].image}')).toBe('app:1')
    expect(await ok('rollout history ds/agent')).toContain('REVISION  CHANGE-CAUSE\n2         take app:2\n3         ')
  })

  it('restarts it', async () => {
    const uids = () => ok("get pods -l app=agent -o jsonpath='{.items[*].metadata.uid}'")
    const before = (await uids()).split(' ')
    expect(await ok('rollout restart ds/agent')).toBe('daemonset.apps/agent restarted\n')
    expect(await ok('rollout status ds/agent --timeout=60s')).toContain('successfully rolled out')
    const after = (await uids()).split(' ')
    expect(after.filter((uid) => before.includes(uid))).toEqual([])
  })

  it('hears why it does not get on, and that it does again', async () => {
    await ok('apply -f -', manifest('broken', { progressDeadlineSeconds: 1 }))
    expect(await ok('wait --for=condition=Progressing=False ds/agent --timeout=60s')).toBe('daemonset.apps/agent condition met\n')
    expect(await progress()).toBe('ProgressDeadlineExceeded')
    expect(await ok('describe ds agent')).toContain('Desired Number of Nodes Scheduled: 3')
    expect(await read('{.status.conditions[?(@.type=="Progressing")].message}')).toMatch(
      /^No progress with revision agent-\w+ for 1 second\. Pod agent-\w+ cannot pull image "broken" for container "main": no such image, since /,
    )
    await ok('wait --for=condition=Available=False ds/agent --timeout=60s')
    await ok('rollout undo ds/agent')
    expect(await ok('wait --for=condition=Available ds/agent --timeout=60s')).toBe('daemonset.apps/agent condition met\n')
    expect(await ok('rollout status ds/agent --timeout=60s')).toContain('successfully rolled out')
    expect(await progress()).toBe('NewRevisionAvailable')
  })
})
