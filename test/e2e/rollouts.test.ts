import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block } from '../kubectl/masks.ts'

const cluster = useCluster()

const create = (...items: object[]) => cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
const read = (reference: string, path: string) => cluster.kubectl.ok(`get ${reference} -o jsonpath='${path}'`)

const template = (app: string, image: string, more: Record<string, string> = {}) => ({
  metadata: { labels: { app, ...more } },
  spec: { containers: [{ name: 'main', image }] },
})

const workload = (kind: string, name: string, image: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, image), ...more },
})

const ownedBy = async (kind: string, name: string) => [
  { apiVersion: 'apps/v1', kind, name, uid: await read(`${kind.toLowerCase()}/${name}`, '{.metadata.uid}'), controller: true, blockOwnerDeletion: true },
]

/** Makes a deployment with the replica sets that its controller would have made: one a revision. */
async function deployWithHistory(name: string, images: string[]): Promise<void> {
  await create(workload('Deployment', name, images.at(-1)!))
  const ownerReferences = await ownedBy('Deployment', name)
  const sets = images.map((image, i) => {
    const hash = { 'pod-template-hash': `hash${i + 1}` }
    const annotations = { 'deployment.kubernetes.io/revision': String(i + 1), 'kubernetes.io/change-cause': `take ${image}` }
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: `${name}-hash${i + 1}`, labels: { app: name, ...hash }, annotations, ownerReferences },
      spec: { replicas: 0, selector: { matchLabels: { app: name, ...hash } }, template: template(name, image, hash) },
    }
  })
  await create(...sets)
  await cluster.kubectl.ok(`annotate deployment ${name} deployment.kubernetes.io/revision=${images.length}`)
}

describe('kubectl rollout of a deployment', () => {
  beforeAll(() => deployWithHistory('web', ['nginx:1.25', 'nginx:1.26', 'nginx:1.27']))

  it('history lists the revisions', async () => {
    expect(await cluster.kubectl.ok('rollout history deployment/web')).toBe(
      'deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         take nginx:1.25\n2         take nginx:1.26\n3         take nginx:1.27\n\n',
    )
  })

  it('history shows one revision', async () => {
    expect(await cluster.kubectl.ok('rollout history deployment/web --revision=2')).toBe(
      [
        'deployment.apps/web with revision #2',
        'Pod Template:',
        '  Labels:\tapp=web',
        '\tpod-template-hash=hash2',
        '  Annotations:\tkubernetes.io/change-cause: take nginx:1.26',
        '  Containers:',
        '   main:',
        '    Image:\tnginx:1.26',
        '    Port:\t<none>',
        '    Host Port:\t<none>',
        '    Environment:\t<none>',
        '    Mounts:\t<none>',
        '  Volumes:\t<none>',
        '  Node-Selectors:\t<none>',
        '  Tolerations:\t<none>',
        '',
        '',
      ].join('\n'),
    )
  })

  it('undo goes back to the revision before, or to one that is named', async () => {
    expect(await cluster.kubectl.ok('rollout undo deployment/web')).toBe('deployment.apps/web rolled back\n')
    expect(await read('deployment/web', '{.spec.template.spec.containers[0].image} {.spec.template.metadata.labels}')).toBe('nginx:1.26 {"app":"web"}')
    expect(await cluster.kubectl.ok('rollout undo deployment/web --to-revision=1')).toBe('deployment.apps/web rolled back\n')
    expect(await read('deployment/web', '{.spec.template.spec.containers[0].image}')).toBe('nginx:1.25')
    expect(await cluster.kubectl.refused('rollout undo deployment/web --to-revision=9')).toBe('error: unable to find specified revision 9 in history\n')
  })

  it('pause and resume', async () => {
    const { kubectl } = cluster
    expect(await kubectl.ok('rollout pause deployment/web')).toBe('deployment.apps/web paused\n')
    expect(await kubectl.refused('rollout pause deployment/web')).toBe('error: deployments.apps "web" is already paused\n')
    expect(await kubectl.refused('rollout restart deployment/web')).toBe(`error: deployments.apps "web" can't restart paused deployment (run rollout resume first)\n`)
    expect(await kubectl.refused('rollout undo deployment/web')).toBe(
      "error: you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again\n",
    )
    expect(await kubectl.ok('rollout resume deployment/web')).toBe('deployment.apps/web resumed\n')
    expect(await kubectl.refused('rollout resume deployment/web')).toBe('error: deployments.apps "web" is not paused\n')
  })

  it('restart changes the template', async () => {
    const before = Number(await read('deployment/web', '{.metadata.generation}'))
    expect(await cluster.kubectl.ok('rollout restart deployment/web')).toBe('deployment.apps/web restarted\n')
    expect(await read('deployment/web', '{.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}')).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(Number(await read('deployment/web', '{.metadata.generation}'))).toBe(before + 1)
  })

  it('status follows the rollout to its end', async () => {
    const { kubectl } = cluster
    await create(workload('Deployment', 'followed', 'nginx:1.27', { replicas: 2 }))
    const report = (status: object) => kubectl.ok(`patch deployment followed --subresource=status -p '${JSON.stringify({ status })}'`)
    const status = kubectl.start('rollout status deployment/followed')
    expect(await status.nextLine()).toBe('Waiting for deployment spec update to be observed...')
    await report({ observedGeneration: 1 })
    expect(await status.nextLine()).toBe('Waiting for deployment "followed" rollout to finish: 0 out of 2 new replicas have been updated...')
    await report({ replicas: 3, updatedReplicas: 2, unavailableReplicas: 2 })
    expect(await status.nextLine()).toBe('Waiting for deployment "followed" rollout to finish: 1 old replicas are pending termination...')
    await report({ replicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 })
    expect(await status.nextLine()).toBe('Waiting for deployment "followed" rollout to finish: 1 of 2 updated replicas are available...')
    await report({ readyReplicas: 2, availableReplicas: 2, unavailableReplicas: 0 })
    expect(await status.nextLine()).toBe('deployment "followed" successfully rolled out')
    expect(await status.ended).toMatchObject({ code: 0 })
  })

  it('status tells that the deadline has passed', async () => {
    await create(workload('Deployment', 'late', 'nginx:1.27'))
    const status = { observedGeneration: 1, conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] }
    await cluster.kubectl.ok(`patch deployment late --subresource=status -p '${JSON.stringify({ status })}'`)
    expect(await cluster.kubectl.refused('rollout status deployment/late')).toBe('error: deployment "late" exceeded its progress deadline\n')
  })
})

/** Makes the revisions that a controller would have stored of a stateful or daemon set, one an image. */
async function storeRevisions(kind: string, name: string, images: string[]): Promise<void> {
  const ownerReferences = await ownedBy(kind, name)
  // With every default, as the controller would have read it.
  const current = await read(`${kind.toLowerCase()}/${name}`, '{.spec.template}')
  const revisions = images.map((image, i) => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: `${name}-${i + 1}`, labels: { app: name }, ownerReferences, ...(i === 0 ? { annotations: { 'kubernetes.io/change-cause': 'the first' } } : {}) },
    revision: i + 1,
    data: { spec: { template: { $patch: 'replace', ...(JSON.parse(current.replace(images.at(-1)!, image)) as object) } } },
  }))
  await create(...revisions)
}

describe.each([
  ['StatefulSet', 'db', { serviceName: 'db' }],
  ['DaemonSet', 'agent', {}],
])('kubectl rollout of a %s', (kind, name, spec) => {
  const reference = `${kind.toLowerCase()}/${name}`

  beforeAll(async () => {
    await create(workload(kind, name, 'postgres:17', spec))
    await storeRevisions(kind, name, ['postgres:16', 'postgres:17'])
  })

  it('history lists the stored revisions', async () => {
    expect(await cluster.kubectl.ok(`rollout history ${reference}`)).toBe(`${kind.toLowerCase()}.apps/${name} \nREVISION  CHANGE-CAUSE\n1         the first\n2         <none>\n\n`)
  })

  it('history shows one revision', async () => {
    const text = (await cluster.kubectl.ok(`rollout history ${reference} --revision=1`)).replaceAll('\t', ' ')
    expect(text).toContain(block`
      ${kind.toLowerCase()}.apps/${name} with revision #1
      Pod Template:
        Labels: app=${name}
        Containers:
         main:
          Image: postgres:16
    `)
  })

  it('undo goes back', async () => {
    expect(await cluster.kubectl.ok(`rollout undo ${reference} --dry-run=server`)).toBe(`${kind.toLowerCase()}.apps/${name} rolled back (server dry run)\n`)
    expect(await cluster.kubectl.ok(`rollout undo ${reference}`)).toBe(`${kind.toLowerCase()}.apps/${name} rolled back\n`)
    expect(await read(reference, '{.spec.template.spec.containers[0].image}')).toBe('postgres:16')
    expect(await cluster.kubectl.ok(`rollout undo ${reference} --to-revision=1`)).toBe(`${kind.toLowerCase()}.apps/${name} skipped rollback (current template already matches revision 1)\n`)
    expect(await cluster.kubectl.refused(`rollout undo ${reference} --to-revision=7`)).toBe('error: unable to find specified revision 7 in history\n')
  })

  it('restart changes the template', async () => {
    expect(await cluster.kubectl.ok(`rollout restart ${reference}`)).toBe(`${kind.toLowerCase()}.apps/${name} restarted\n`)
    expect(await read(reference, '{.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}')).toMatch(/^\d{4}-\d\d-\d\dT/)
  })
})

describe('kubectl rollout status of a StatefulSet', () => {
  it('follows the pods', async () => {
    const { kubectl } = cluster
    await create(workload('StatefulSet', 'cache', 'redis:7', { serviceName: 'cache', replicas: 2 }))
    const report = (status: object) => kubectl.ok(`patch statefulset cache --subresource=status -p '${JSON.stringify({ status })}'`)
    const status = kubectl.start('rollout status statefulset/cache')
    expect(await status.nextLine()).toBe('Waiting for statefulset spec update to be observed...')
    await report({ observedGeneration: 1, replicas: 1, readyReplicas: 0, updateRevision: 'cache-1', currentRevision: 'cache-1' })
    expect(await status.nextLine()).toBe('Waiting for 2 pods to be ready...')
    await report({ replicas: 2, readyReplicas: 2, updatedReplicas: 2, currentReplicas: 2 })
    expect(await status.nextLine()).toBe('partitioned roll out complete: 2 new pods have been updated...')
    expect(await status.ended).toMatchObject({ code: 0 })
  })
})

describe('kubectl and a revision beyond 2^53', () => {
  const digits = '3546343826724305833'
  beforeAll(() => cluster.kubectl.ok('create -f -', [
    'apiVersion: apps/v1',
    'kind: ControllerRevision',
    'metadata: {name: large}',
    `revision: ${digits}`,
    `data: {spec: {template: {spec: {terminationGracePeriodSeconds: ${digits}}}}}`,
  ].join('\n')))

  it.each([
    ['a table', 'get controllerrevision large --no-headers', new RegExp(`^large +<none> +${digits} `)],
    ['JSON', 'get controllerrevision large -o json', new RegExp(`"revision": ${digits}`)],
    ['YAML', 'get controllerrevision large -o yaml', new RegExp(`terminationGracePeriodSeconds: ${digits}\n`)],
    ['a column', 'get controllerrevision large -o custom-columns=N:.revision --no-headers', new RegExp(`^${digits}\n$`)],
  ])('has all its digits in %s', async (_, command, expected) => {
    expect(await cluster.kubectl.ok(command)).toMatch(expected)
  })

  it('is patched to the last digit', async () => {
    await cluster.kubectl.ok(`patch controllerrevision large --type merge -p '{"revision":3546343826724305834}'`)
    expect(await read('controllerrevision/large', '{.revision}')).toBe('3546343826724305834')
  })
})
