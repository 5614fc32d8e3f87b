import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'
import { block, masked } from '../kubectl/masks.ts'

const cluster = useCluster()
let controllers: RunningPart
beforeAll(async () => {
  const storage = ['persistentvolume-binder', 'persistentvolume-expander', 'persistentvolumeclaim-protection', 'persistentvolume-protection', 'local-path-provisioner']
  const names = [...storage, 'statefulset', 'garbage-collector'].map((name) => `${name}-controller`)
  controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false', '--volumes-dir', '/volumes', '--controllers', names.join()])
})
afterAll(() => controllers?.stop())

const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
const create = (...items: object[]) => ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const claim = (name: string, spec: object = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { ...claimSpec, ...spec } })
const pod = (name: string, claimName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }], volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
})

describe('kubectl', () => {
  it('shows the class that claims get', async () => {
    await ok('wait --for=create storageclass/standard --timeout=60s')
    expect(masked(await ok('get storageclass'))).toBe(block`
      NAME                 PROVISIONER               RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE
      standard (default)   coxswain.dev/local-path   Delete          WaitForFirstConsumer   true                   AGE
    `)
  })

  it('waits for a claim to be bound, and shows its volume', async () => {
    await create(claim('data'))
    await expect.poll(() => ok('describe pvc data'), { timeout: 40_000 }).toMatch(/Normal\s+WaitForFirstConsumer\s+\S+\s+persistentvolume-controller\s+waiting for first consumer/)
    await create(pod('user', 'data'))
    await ok('wait --for=jsonpath={.status.phase}=Bound pvc/data --timeout=60s')
    const volume = await ok('get pvc data -o jsonpath={.spec.volumeName}')
    expect(await ok('get pvc data --no-headers')).toMatch(new RegExp(`^data\\s+Bound\\s+${volume}\\s+1Gi\\s+RWO\\s+standard\\s+<unset>\\s`))
    expect(await ok(`get pv ${volume} --no-headers`)).toMatch(new RegExp(`^${volume}\\s+1Gi\\s+RWO\\s+Delete\\s+Bound\\s+default/data\\s+standard\\s`))
    expect(await ok(`describe pv ${volume}`)).toContain(`Path:          /volumes/${volume}_default_data`)
  })

  it('makes a claim larger, and no smaller', async () => {
    const asking = (storage: string) => `patch pvc data -p '${JSON.stringify({ spec: { resources: { requests: { storage } } } })}'`
    await ok(asking('2Gi'))
    await ok('wait --for=jsonpath={.status.capacity.storage}=2Gi pvc/data --timeout=60s')
    expect(await ok('get pv -o jsonpath={.items[0].spec.capacity.storage}')).toBe('2Gi')
    expect(await cluster.kubectl.refused(asking('1Gi'))).toContain('field can not be less than status.capacity')
  })

  it('deletes a claim when its last pod is gone', async () => {
    await ok('delete pvc data --wait=false')
    expect(await ok('get pvc data --no-headers')).toMatch(/^data\s+Terminating\s/)
    expect(await ok('describe pvc data')).toMatch(/Used By:\s+user/)
    await ok('delete pod user --grace-period=0 --force')
    await ok('wait --for=delete pvc/data --timeout=60s')
    await expect.poll(() => ok('get pv -o name'), { timeout: 40_000 }).toBe('')
  })

  it('finds a volume for every pod of a StatefulSet', async () => {
    const labels = { app: 'db' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:1' }] } }
    const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec }]
    const spec = { replicas: 2, podManagementPolicy: 'Parallel', serviceName: 'db', selector: { matchLabels: labels }, template, volumeClaimTemplates }
    await create({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' }, spec })
    await ok('wait --for=create pod/db-0 pod/db-1 --timeout=60s')
    for (const name of ['db-0', 'db-1']) {
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: 'n1' } }
      await ok(`create --raw /api/v1/namespaces/default/pods/${name}/binding -f -`, JSON.stringify(binding))
    }
    expect(await ok('wait --for=jsonpath={.status.phase}=Bound pvc/data-db-0 pvc/data-db-1 --timeout=60s')).toContain('data-db-1 condition met')
  })
})
