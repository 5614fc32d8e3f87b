import { describe, expect, it } from 'vitest'
import { useCluster, useControllers } from '../kubectl/cluster.ts'
import { block } from '../kubectl/masks.ts'

const cluster = useCluster()
useControllers(cluster)

const waiting = { timeout: 40_000 }

/** A namespace with a quota that is in force. */
async function quota(namespace: string, hard: string): Promise<void> {
  await cluster.kubectl.ok(`create namespace ${namespace}`)
  await cluster.kubectl.ok(`-n ${namespace} create quota limit --hard=${hard}`)
  await cluster.kubectl.ok(`-n ${namespace} wait --for=jsonpath={.status.used} quota/limit --timeout=60s`)
}

const used = (namespace: string) => cluster.kubectl.ok(`-n ${namespace} get quota limit -o jsonpath={.status.used}`)

describe('a quota', () => {
  it('refuses what is too much, says what is used, and gives back what is gone', async () => {
    await quota('number', 'pods=2')
    for (const name of ['a', 'b']) await cluster.kubectl.ok(`-n number run ${name} --image=i`)
    expect(await cluster.kubectl.refused('-n number run c --image=i')).toBe(
      'Error from server (Forbidden): pods "c" is forbidden: exceeded quota: limit, requested: pods=1, used: pods=2, limited: pods=2\n',
    )
    expect(await cluster.kubectl.ok('-n number describe quota limit')).toBe(block`
      Name:       limit
      Namespace:  number
      Resource    Used  Hard
      --------    ----  ----
      pods        2     2
    `)
    await cluster.kubectl.ok('-n number delete pod a --now')
    await expect.poll(() => used('number'), waiting).toBe('{"pods":"1"}')
    await cluster.kubectl.ok('-n number run c --image=i')
  })

  it('wants to be told what it counts', async () => {
    await quota('compute', 'limits.memory=1Gi')
    expect(await cluster.kubectl.refused('-n compute run a --image=i')).toContain('failed quota: limit: must specify limits.memory for: a')
  })

  it('holds a deployment back, which goes on when there is more', async () => {
    await quota('rollout', 'pods=1')
    await cluster.kubectl.ok('-n rollout create deployment web --image=i --replicas=3')
    await cluster.kubectl.ok('-n rollout wait --for=condition=ReplicaFailure deployment/web --timeout=60s')
    await cluster.kubectl.ok(`-n rollout patch quota limit --type=merge -p '{"spec":{"hard":{"pods":"5"}}}'`)
    await cluster.kubectl.ok('-n rollout wait --for=jsonpath={.status.replicas}=3 deployment/web --timeout=60s')
    await expect.poll(() => used('rollout'), waiting).toBe('{"pods":"3"}')
  })
})

describe('a limit range', () => {
  it('fills in what containers do not say', async () => {
    const limits = [{ type: 'Container', default: { cpu: '500m' }, max: { cpu: '1' } }]
    await cluster.kubectl.ok('create namespace ranged')
    await cluster.kubectl.ok('-n ranged create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'range' }, spec: { limits } }))
    await cluster.kubectl.ok('-n ranged run a --image=i')
    expect(await cluster.kubectl.ok('-n ranged get pod a -o jsonpath={.spec.containers[0].resources}')).toBe('{"limits":{"cpu":"500m"},"requests":{"cpu":"500m"}}')
  })
})

describe('a new namespace', () => {
  it('has a service account and the certificates of the cluster', async () => {
    await cluster.kubectl.ok('create namespace fresh')
    await cluster.kubectl.ok('-n fresh wait --for=create serviceaccount/default configmap/kube-root-ca.crt --timeout=60s')
    expect(await cluster.kubectl.ok('-n fresh get configmap kube-root-ca.crt -o jsonpath={.data.ca\\.crt}')).toContain('BEGIN CERTIFICATE')
  })
})
