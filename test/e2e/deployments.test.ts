import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pod } from '../../src/api/generated/types.ts'
import { Client, HttpTransport, loadAccess, pods } from '../../src/client/index.ts'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let controllers: RunningPart
let client: Client
/** Apps whose pods the node does not make ready. */
const held = new Set<string>()
const isHeld = ({ metadata, spec }: Pod) => held.has(metadata.labels?.['app'] ?? '') || spec.containers[0]!.image!.includes('broken')

/** Says of a pod what a node would. */
const report = (pod: Pod): Promise<unknown> => {
  const status = isHeld(pod)
    ? { phase: 'Pending', containerStatuses: [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason: 'ErrImagePull' } } }] }
    : { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  return client.patch(pods, 'default', pod.metadata.name!, { status }, { type: 'strategic', subresource: 'status' }).catch(() => undefined)
}

/** Reports what was held back until now. */
async function release(app: string): Promise<void> {
  held.delete(app)
  for (const pod of (await client.list(pods, 'default', { labelSelector: `app=${app}` })).items) await report(pod)
}

beforeAll(async () => {
  const names = ['deployment-controller', 'replicaset-controller', 'resourcequota-controller', 'garbage-collector-controller']
  controllers = await startControllers(cluster.server.kubeconfig, ['--controllers', names.join()])
  client = new Client(new HttpTransport(await loadAccess({ file: cluster.server.kubeconfig })))
  client.watch(pods, 'default', {}, {
    opened: () => {},
    event: ({ type, object }) => void (type === 'ADDED' && report(object)),
    closed: () => {},
  })
})
afterAll(async () => {
  await client?.close()
  await controllers?.stop()
})

const ok = (line: string, input = '') => cluster.kubectl.ok(line, input)
const read = (reference: string, path: string) => ok(`get ${reference} -o jsonpath='${path}'`)
const progress = (name: string) => read(`deployment/${name}`, '{.status.conditions[?(@.type=="Progressing")].reason}')

const manifest = (name: string, spec: object = {}, annotations: Record<string, string> = {}) => {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } }
  return JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, annotations }, spec: { replicas: 3, selector: { matchLabels: labels }, template, ...spec } })
}

describe('kubectl and a Deployment that works', () => {
  it('waits for it, and rollout status agrees with Progressing', async () => {
    held.add('web')
    await ok('create -f -', manifest('web', {}, { 'kubernetes.io/change-cause': 'the first' }))
    await ok('wait --for=condition=Available=False deployment/web --timeout=60s')
    const status = cluster.kubectl.start('rollout status deployment/web --timeout=60s')
    expect(await status.nextLine()).toMatch(/^Waiting for deployment "web" rollout to finish: 0 of 3 updated replicas are available\.\.\./)
    await release('web')
    const { code, out } = await status.ended
    expect(code).toBe(0)
    expect(out).toContain('deployment "web" successfully rolled out\n')
    expect(await ok('wait --for=condition=Available deployment/web --timeout=60s')).toContain('condition met')
    expect(await ok('wait --for=condition=Progressing deployment/web --timeout=60s')).toContain('condition met')
    expect(await progress('web')).toBe('NewReplicaSetAvailable')
    expect(await ok('get deployment web --no-headers')).toMatch(/^web\s+3\/3\s+3\s+3\s/)
  })

  it('sets an image, lists the history and goes back', async () => {
    await ok('set image deployment/web main=registry.example/app:2')
    await ok('annotate deployment/web kubernetes.io/change-cause=the-second')
    await ok('rollout status deployment/web --timeout=60s')
    await expect.poll(() => ok('rollout history deployment/web'), { timeout: 5000 }).toMatch(/1\s+the first\n2\s+the-second\n/)
    await ok('rollout undo deployment/web')
    await ok('rollout status deployment/web --timeout=60s')
    expect(await ok('rollout history deployment/web')).toMatch(/2\s+the-second\n3\s+/)
    expect(await read('deployment/web', '{.spec.template.spec.containers[0].image}')).toBe('registry.example/app:1')
    expect(await read('replicasets', '{.items[*].metadata.annotations.deployment\\.kubernetes\\.io/revision-history}')).toBe('1')
  })

  it('restarts it', async () => {
    await ok('rollout restart deployment/web')
    await ok('rollout status deployment/web --timeout=60s')
    expect(await read('deployment/web', '{.metadata.annotations.deployment\\.kubernetes\\.io/revision}')).toBe('4')
  })

  it('pauses and resumes it', async () => {
    await ok('rollout pause deployment/web')
    await ok('set image deployment/web main=registry.example/app:3')
    await ok('wait --for=condition=Progressing=Unknown deployment/web --timeout=60s')
    expect(await progress('web')).toBe('DeploymentPaused')
    await ok('rollout resume deployment/web')
    await ok('rollout status deployment/web --timeout=60s')
    expect(await read('deployment/web', '{.metadata.annotations.deployment\\.kubernetes\\.io/revision}')).toBe('5')
  })

  it('scales it, and tells in describe what was done', async () => {
    await ok('scale deployment web --replicas=5')
    await ok('rollout status deployment/web --timeout=60s')
    const text = await ok('describe deployment web')
    expect(text).toMatch(/Replicas:\s+5 desired \| 5 updated \| 5 total \| 5 available \| 0 unavailable/)
    expect(text).toMatch(/Available\s+True\s+MinimumReplicasAvailable\n\s+Progressing\s+True\s+NewReplicaSetAvailable/)
    expect(text).toMatch(/Normal\s+ScalingReplicaSet\s+.*deployment-controller\s+Scaled up replica set web-[a-z0-9]+ from 0 to 3/)
  })

  it('deletes it with all it has made', async () => {
    await ok('delete deployment web')
    await expect.poll(() => ok('get replicasets,pods -l app=web -o name'), { timeout: 40_000 }).toBe('')
  })
})

describe('kubectl and a Deployment that does not work', () => {
  it('says that the deadline is exceeded, and why', async () => {
    await ok('create -f -', manifest('bad', { replicas: 1, progressDeadlineSeconds: 1 }))
    await ok('set image deployment/bad main=registry.example/broken:1')
    const { code, err } = await cluster.kubectl.run('rollout status deployment/bad --timeout=60s')
    expect(code).toBe(1)
    expect(err).toContain('error: deployment "bad" exceeded its progress deadline\n')
    await ok('wait --for=condition=Progressing=False deployment/bad --timeout=60s')
    expect(await progress('bad')).toBe('ProgressDeadlineExceeded')
    expect(await read('deployment/bad', '{.status.conditions[?(@.type=="Progressing")].message}')).toMatch(
      /^ReplicaSet "bad-[a-z0-9]+" has timed out progressing\. Pod bad-[a-z0-9]+-[a-z0-9]+ cannot pull image "registry.example\/broken:1" for /,
    )
    // A second is not enough for everything on a busy machine.
    await ok(`patch deployment bad -p '{"spec":{"progressDeadlineSeconds":60}}'`)
    await ok('rollout undo deployment/bad')
    // Until the broken pod is gone, what was said of the deadline stays, as in Kubernetes.
    await expect.poll(() => progress('bad'), { timeout: 40_000 }).toBe('NewReplicaSetAvailable')
    await ok('rollout status deployment/bad --timeout=60s')
  })

  it('names the quota that is too small, and goes on when it is raised', async () => {
    await ok('create quota small --hard=pods=10')
    await ok('wait --for=jsonpath={.status.hard.pods}=10 quota/small --timeout=60s')
    await ok('create -f -', manifest('large', { replicas: 20 }))
    await ok('wait --for=condition=ReplicaFailure deployment/large --timeout=60s')
    const failure = '{.status.conditions[?(@.type=="ReplicaFailure")]'
    for (const reference of ['deployment/large', 'replicasets -l app=large']) {
      const path = reference.startsWith('replicasets') ? failure.replace('{.', '{.items[0].') : failure
      expect(await read(reference, `${path}.reason}`)).toBe('FailedCreate')
      expect(await read(reference, `${path}.message}`)).toMatch(/pods "large-\S+" is forbidden: exceeded quota: small, requested: pods=1, used: pods=10, limited: pods=10/)
    }
    await ok(`patch quota small -p '{"spec":{"hard":{"pods":"40"}}}'`)
    await ok('rollout status deployment/large --timeout=60s')
    await expect.poll(() => read('deployment/large', `${failure}.status}`), { timeout: 40_000 }).toBe('')
    await ok('delete quota small')
  })
})
