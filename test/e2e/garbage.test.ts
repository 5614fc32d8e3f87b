import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let controllers: RunningPart

beforeAll(async () => {
  controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false'])
})
afterAll(async () => {
  await controllers.stop()
})

const waiting = { timeout: 40_000 }

/** The number of objects with a label. */
const count = async (kind: string, app: string) => (await cluster.kubectl.ok(`get ${kind} -l app=${app} -o name`)).split('\n').filter((l) => l !== '').length

async function deploy(app: string): Promise<void> {
  await cluster.kubectl.ok(`create deployment ${app} --image=nginx:1.27 --replicas=3`)
  await expect.poll(() => count('pods', app), waiting).toBe(3)
}

describe('kubectl delete deployment', () => {
  it('--cascade=background takes replica sets and pods along, afterwards', async () => {
    await deploy('background')
    await cluster.kubectl.ok('delete deployment background --cascade=background')
    await expect.poll(async () => (await count('replicasets', 'background')) + (await count('pods', 'background')), waiting).toBe(0)
  })

  it('--cascade=foreground returns when all of them are gone', async () => {
    await deploy('foreground')
    await cluster.kubectl.ok('delete deployment foreground --cascade=foreground --timeout=60s')
    expect([await count('deployments', 'foreground'), await count('replicasets', 'foreground'), await count('pods', 'foreground')]).toEqual([0, 0, 0])
  })

  it('--cascade=orphan leaves the replica set, without an owner, and its pods', async () => {
    await deploy('orphan')
    await cluster.kubectl.ok('delete deployment orphan --cascade=orphan --timeout=60s')
    expect([await count('replicasets', 'orphan'), await count('pods', 'orphan')]).toEqual([1, 3])
    expect(await cluster.kubectl.ok('get replicasets -l app=orphan -o jsonpath={.items[*].metadata.ownerReferences}')).toBe('')
    await cluster.kubectl.ok('delete replicasets -l app=orphan --cascade=foreground --timeout=60s')
    expect(await count('pods', 'orphan')).toBe(0)
  })
})

describe('kubectl delete namespace', () => {
  it('returns when it is gone with all that was in it', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace rowers')
    await kubectl.ok('create deployment web --image=nginx:1.27 --replicas=2 -n rowers')
    await kubectl.ok('create configmap map -n rowers')
    await expect.poll(async () => (await kubectl.ok('get pods -n rowers -o name')).trim().split('\n').length, waiting).toBe(2)
    await kubectl.ok('delete namespace rowers --timeout=60s')
    expect(await kubectl.ok('get all,configmaps,serviceaccounts -n rowers -o name')).toBe('')
    expect(await kubectl.ok('get namespace rowers --ignore-not-found')).toBe('')
  })

  it('says what keeps it', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace kept')
    await kubectl.ok('create configmap held -n kept')
    await kubectl.ok(`patch configmap held -n kept -p '{"metadata":{"finalizers":["example.com/hold"]}}'`)
    await kubectl.ok('delete namespace kept --wait=false')
    await kubectl.ok('wait namespace kept --for=condition=NamespaceFinalizersRemaining --timeout=60s')
    expect(await kubectl.ok(`get namespace kept -o jsonpath='{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].message}'`)).toBe(
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    )
    await kubectl.ok(`patch configmap held -n kept -p '{"metadata":{"finalizers":null}}'`)
    await kubectl.ok('wait namespace kept --for=delete --timeout=60s')
  })
})

describe('a job with ttlSecondsAfterFinished', () => {
  it('is gone after its time', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create job brief --image=nginx:1.27')
    await kubectl.ok(`patch job brief -p '{"spec":{"ttlSecondsAfterFinished":1,"activeDeadlineSeconds":1}}'`)
    await kubectl.ok('wait job brief --for=delete --timeout=60s')
  })
})
