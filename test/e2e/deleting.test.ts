import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()

const deploy = (name: string) => cluster.kubectl.ok(`create deployment ${name} --image=nginx:1.27`)

/** The deployment that is being deleted, if it still exists. */
const remains = (name: string) => cluster.kubectl.ok(`get deployment ${name} -o jsonpath='{.metadata.finalizers} {.metadata.deletionGracePeriodSeconds}'`)

/** Ends the work of a finalizer, as the garbage collector would. */
const finish = (reference: string) => cluster.kubectl.ok(`patch ${reference} -p '{"metadata":{"finalizers":null}}'`)

const gone = (reference: string) => cluster.kubectl.ok(`get ${reference} --ignore-not-found -o name`).then((out) => out === '')

describe('kubectl delete', () => {
  it('deletes at once, leaving dependents to the garbage collector', async () => {
    await deploy('background')
    expect(await cluster.kubectl.ok('delete deployment background --cascade=background')).toBe('deployment.apps "background" deleted from default namespace\n')
    expect(await gone('deployment/background')).toBe(true)
  })

  it.each([
    ['orphan', '["orphan"] 0'],
    ['foreground', '["foregroundDeletion"] 0'],
  ])('waits for its dependents with --cascade=%s', async (policy, left) => {
    const name = `cascade-${policy}`
    await deploy(name)
    expect(await cluster.kubectl.ok(`delete deployment ${name} --cascade=${policy} --wait=false`)).toBe(`deployment.apps "${name}" deleted from default namespace\n`)
    expect(await remains(name)).toBe(left)
    await finish(`deployment/${name}`)
    expect(await gone(`deployment/${name}`)).toBe(true)
  })

  it('waits until the object is gone', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap held')
    await kubectl.ok(`patch configmap held -p '{"metadata":{"finalizers":["example.com/hold"]}}'`)
    const deletion = kubectl.start('delete configmap held --wait')
    expect(await deletion.nextLine()).toBe('configmap "held" deleted from default namespace')
    await deletion.watching()
    await finish('configmap/held')
    expect(await deletion.ended).toMatchObject({ code: 0 })
  })

  it('gives up waiting after --timeout', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap stuck')
    await kubectl.ok(`patch configmap stuck -p '{"metadata":{"finalizers":["example.com/hold"]}}'`)
    expect(await kubectl.refused('delete configmap stuck --timeout=300ms')).toBe('error: timed out waiting for the condition on configmaps/stuck\n')
    await finish('configmap/stuck')
  })

  it('deletes a pod without a node at once, with --now and without', async () => {
    await Promise.all([cluster.kubectl.ok('run now --image=nginx:1.27'), cluster.kubectl.ok('run soon --image=nginx:1.27')])
    expect(await cluster.kubectl.ok('delete pod now --now')).toBe('pod "now" deleted from default namespace\n')
    expect(await cluster.kubectl.ok('delete pod soon')).toBe('pod "soon" deleted from default namespace\n')
  })

  it('gives a pod on a node its time, until it is forced', async () => {
    const { kubectl } = cluster
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bound' }, spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'nginx:1.27' }] } }
    await kubectl.ok('create -f -', JSON.stringify(pod))
    await kubectl.ok('delete pod bound --wait=false')
    expect(await kubectl.ok('get pod bound -o jsonpath={.metadata.deletionGracePeriodSeconds}')).toBe('30')
    expect(await kubectl.ok('get pod bound --no-headers')).toMatch(/^bound +0\/1 +Terminating +0 +/)
    await kubectl.ok('delete pod bound --now --wait=false')
    expect(await kubectl.ok('get pod bound -o jsonpath={.metadata.deletionGracePeriodSeconds}')).toBe('1')
    expect(await kubectl.run('delete pod bound --force --grace-period=0')).toEqual({
      code: 0,
      out: 'pod "bound" force deleted from default namespace\n',
      err: 'Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n',
    })
    expect(await gone('pod/bound')).toBe(true)
  })

  it('deletes what a selector selects, and no more', async () => {
    const { kubectl } = cluster
    for (const name of ['red-1', 'red-2', 'blue-1']) await kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { colour: name.slice(0, -2) } } }))
    expect(await kubectl.ok('delete configmaps -l colour=red')).toBe('configmap "red-1" deleted from default namespace\nconfigmap "red-2" deleted from default namespace\n')
    expect(await kubectl.ok('delete configmaps,secrets --all --dry-run=server')).toBe('configmap "blue-1" deleted from default namespace (server dry run)\n')
    expect(await kubectl.ok('delete configmaps --field-selector metadata.name=blue-1')).toBe('configmap "blue-1" deleted from default namespace\n')
  })

  it('deletes what a file names, and several by name', async () => {
    const { kubectl } = cluster
    kubectl.file('two.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-file}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: from-file}\n')
    await kubectl.ok('create -f two.yaml')
    expect(await kubectl.ok('delete -f two.yaml')).toBe('configmap "from-file" deleted from default namespace\nsecret "from-file" deleted from default namespace\n')
    await kubectl.ok('create -f two.yaml')
    expect(await kubectl.ok('delete cm/from-file secret/from-file -o name')).toBe('configmap/from-file\nsecret/from-file\n')
  })

  it('says that an object does not exist, unless told to ignore it', async () => {
    expect(await cluster.kubectl.refused('delete deployment nope')).toBe('Error from server (NotFound): deployments.apps "nope" not found\n')
    expect(await cluster.kubectl.run('delete deployment nope --ignore-not-found')).toEqual({ code: 0, out: '', err: '' })
  })

  it('deletes a raw path, with its options', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap raw')
    const wrong = kubectl.file('wrong.json', JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: '11111111-2222-3333-4444-555555555555' } }))
    expect(await kubectl.refused(`delete --raw /api/v1/namespaces/default/configmaps/raw -f ${wrong}`)).toMatch(
      /^Error from server \(Conflict\): Operation cannot be fulfilled on ConfigMap "raw": the UID in the precondition \(11111111-2222-3333-4444-555555555555\) does not match the UID in record \([0-9a-f-]{36}\)\. The object might have been deleted and then recreated\n$/,
    )
    expect(JSON.parse(await kubectl.ok('delete --raw /api/v1/namespaces/default/configmaps/raw'))).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'raw', kind: 'configmaps' } })
  })
})

describe('a namespace that is deleted', () => {
  it('takes nothing new while it is terminating', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create namespace ending')
    expect(await kubectl.ok('delete namespace ending --wait=false')).toBe('namespace "ending" deleted\n')
    expect(await kubectl.ok('get namespace ending --no-headers')).toMatch(/^ending +Terminating +\d+s\n$/)
    expect(await kubectl.refused('create configmap late -n ending')).toBe(
      'error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace ending because it is being terminated\n',
    )
  })

  it('cannot be one that the cluster needs', async () => {
    expect(await cluster.kubectl.refused('delete namespace kube-system')).toBe('Error from server (Forbidden): namespaces "kube-system" is forbidden: this namespace may not be deleted\n')
  })
})
