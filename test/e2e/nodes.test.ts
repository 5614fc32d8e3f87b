import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block, masked } from '../kubectl/masks.ts'

const cluster = useCluster()

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-1', labels: { 'node-role.kubernetes.io/worker': '' } },
  status: {
    addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }],
    nodeInfo: {
      machineID: 'm', systemUUID: 's', bootID: 'b', kernelVersion: '6.8.0', osImage: 'Linux', containerRuntimeVersion: 'containerd://2.1.0',
      kubeletVersion: 'v1.36.0', kubeProxyVersion: '', operatingSystem: 'linux', architecture: 'amd64',
    },
  },
}

const pod = (name: string, owner?: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(owner ? { ownerReferences: [owner] } : {}) },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1.27' }] },
})

beforeAll(async () => {
  const items = [node, pod('alone'), pod('owned', { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: '11111111-2222-3333-4444-555555555555', controller: true })]
  await cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
})

describe('a node', () => {
  it('is listed with its role and addresses', async () => {
    expect(masked(await cluster.kubectl.ok('get nodes -o wide'))).toBe(block`
      NAME     STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE   KERNEL-VERSION   CONTAINER-RUNTIME
      node-1   Ready    worker   AGE   v1.36.0   192.0.2.1     <none>        Linux      6.8.0            containerd://2.1.0
    `)
  })

  it('is cordoned and uncordoned', async () => {
    const { kubectl } = cluster
    expect(await kubectl.ok('cordon node-1')).toBe('node/node-1 cordoned\n')
    expect(await kubectl.ok('cordon node-1')).toBe('node/node-1 already cordoned\n')
    expect(await kubectl.ok('get node node-1 --no-headers')).toMatch(/^node-1 +Ready,SchedulingDisabled +worker +/)
    expect(await kubectl.ok('uncordon node-1')).toBe('node/node-1 uncordoned\n')
    expect(await kubectl.ok('get node node-1 -o jsonpath={.spec.unschedulable}')).toBe('')
  })

  it('is tainted', async () => {
    const { kubectl } = cluster
    expect(await kubectl.ok('taint node node-1 dedicated=db:NoSchedule')).toBe('node/node-1 tainted\n')
    expect(await kubectl.refused('taint node node-1 dedicated=web:NoSchedule')).toBe('error: node node-1 already has dedicated taint(s) with same effect(s) and --overwrite is false\n')
    expect(await kubectl.ok('taint node node-1 dedicated=web:NoSchedule --overwrite')).toBe('node/node-1 modified\n')
    expect(await kubectl.ok("get node node-1 -o jsonpath='{.spec.taints[?(@.key==\"dedicated\")]}'")).toBe('{"effect":"NoSchedule","key":"dedicated","value":"web"}')
    expect(await kubectl.ok('taint node node-1 dedicated-')).toBe('node/node-1 untainted\n')
    expect(await kubectl.refused('taint node node-1 dedicated-')).toBe('error: taint "dedicated" not found\n')
  })
})

describe('kubectl drain', () => {
  it('refuses pods that nobody would make again', async () => {
    const { code, out, err } = await cluster.kubectl.run('drain node-1 --dry-run=server')
    expect({ code, out }).toEqual({ code: 1, out: 'node/node-1 cordoned (server dry run)\n' })
    expect(err).toContain('cannot delete Pods that declare no controller (use --force to override): default/alone')
  })

  it('lists what it would evict, with --dry-run', async () => {
    const { code, out, err } = await cluster.kubectl.run('drain node-1 --dry-run=server --force')
    expect(code).toBe(0)
    expect(err).toContain('Warning: deleting Pods that declare no controller: default/alone')
    expect(out.split('\n').sort().slice(1)).toEqual([
      'evicting pod default/alone (server dry run)',
      'evicting pod default/owned (server dry run)',
      'node/node-1 cordoned (server dry run)',
      'node/node-1 drained (server dry run)',
    ])
    expect(await cluster.kubectl.ok('get pods -o name')).toBe('pod/alone\npod/owned\n')
  })
})
