import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'

const cluster = useCluster()

const deploy = (name: string) => cluster.kubectl.ok(`create deployment ${name} --image=nginx:1.27`)
const read = (reference: string, path: string) => cluster.kubectl.ok(`get ${reference} -o jsonpath='${path}'`)

describe('kubectl patch', () => {
  beforeAll(() => deploy('patched'))

  it('merges lists by their keys, strategically', async () => {
    const patch = { spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }, { name: 'nginx', env: [{ name: 'A', value: 'b' }] }] } } } }
    expect(await cluster.kubectl.ok(`patch deployment patched -p '${JSON.stringify(patch)}'`)).toBe('deployment.apps/patched patched\n')
    expect(await read('deployment/patched', '{.spec.template.spec.containers[*].name} {.spec.template.spec.containers[*].image} {.spec.template.spec.containers[1].env}')).toBe(
      'side nginx busybox nginx:1.27 [{"name":"A","value":"b"}]',
    )
    const removal = { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }
    await cluster.kubectl.ok(`patch deployment patched -p '${JSON.stringify(removal)}'`)
    expect(await read('deployment/patched', '{.spec.template.spec.containers[*].name}')).toBe('nginx')
  })

  it('merges objects and replaces lists, with merge', async () => {
    expect(await cluster.kubectl.ok(`patch deployment patched --type=merge -p '{"metadata":{"labels":{"x":"y","app":null}}}'`)).toBe('deployment.apps/patched patched\n')
    expect(await read('deployment/patched', '{.metadata.labels}')).toBe('{"x":"y"}')
    await cluster.kubectl.ok(`patch deployment patched --type=merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"other","image":"busybox"}]}}}}'`)
    expect(await read('deployment/patched', '{.spec.template.spec.containers[*].name}')).toBe('other')
  })

  it('runs operations, with json', async () => {
    const operations = [
      { op: 'test', path: '/metadata/labels/x', value: 'y' },
      { op: 'replace', path: '/spec/replicas', value: 4 },
      { op: 'add', path: '/metadata/labels/a~1b', value: 'c' },
    ]
    expect(await cluster.kubectl.ok(`patch deployment patched --type=json -p '${JSON.stringify(operations)}'`)).toBe('deployment.apps/patched patched\n')
    expect(await read('deployment/patched', '{.spec.replicas} {.metadata.labels}')).toBe('4 {"a/b":"c","x":"y"}')
    expect(await cluster.kubectl.ok(`patch deployment patched --type=json -p '${JSON.stringify(operations)}'`)).toBe('deployment.apps/patched patched (no change)\n')
  })

  it('changes nothing with --dry-run=server', async () => {
    expect(await cluster.kubectl.ok(`patch deployment patched --dry-run=server -p '{"spec":{"replicas":9}}' -o jsonpath={.spec.replicas}`)).toBe('9')
    expect(await read('deployment/patched', '{.spec.replicas}')).toBe('4')
  })

  it('patches the status and the scale', async () => {
    await cluster.kubectl.ok(`patch deployment patched --subresource=status --type=merge -p '{"spec":{"replicas":7},"status":{"replicas":2}}'`)
    expect(await read('deployment/patched', '{.spec.replicas} {.status.replicas}')).toBe('4 2')
    expect(await cluster.kubectl.ok(`patch deployment patched --subresource=scale --type=merge -p '{"spec":{"replicas":6}}'`)).toBe('scale.autoscaling/patched patched\n')
    expect(await read('deployment/patched', '{.spec.replicas}')).toBe('6')
  })

  it.each([
    ['an operation whose test fails', `--type=json -p '[{"op":"test","path":"/spec/replicas","value":99}]'`, 'The request is invalid: the server rejected our request due to an error in our request\n'],
    ['an operation on a path that does not exist', `--type=json -p '[{"op":"remove","path":"/spec/none"}]'`, 'The request is invalid: the server rejected our request due to an error in our request\n'],
    ['a value that is not valid', `-p '{"spec":{"replicas":-1}}'`, 'The Deployment "patched" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n'],
    ['a value of another type', `-p '{"spec":{"replicas":"two"}}'`, 'The request is invalid: patch: Invalid value: "map[spec:map[replicas:two]]": unrecognized type: int32\n'],
  ])('refuses %s', async (_, flags, message) => {
    expect(await cluster.kubectl.refused(`patch deployment patched ${flags}`)).toBe(message)
  })

  it('refuses to patch what does not exist', async () => {
    expect(await cluster.kubectl.refused(`patch deployment nope -p '{}'`)).toBe('Error from server (NotFound): deployments.apps "nope" not found\n')
  })
})

describe('kubectl label', () => {
  beforeAll(() => cluster.kubectl.ok('create configmap labelled'))

  it.each([
    ['adds', 'labelled tier=front', 'configmap/labelled labeled\n'],
    ['says that nothing changed', 'labelled tier=front', 'configmap/labelled not labeled\n'],
    ['overwrites when told', 'labelled tier=back --overwrite', 'configmap/labelled labeled\n'],
    ['lists', 'labelled --list', 'tier=back\n'],
    ['removes', 'labelled tier-', 'configmap/labelled unlabeled\n'],
    ['says that there is no such label', 'labelled tier-', 'label "tier" not found.\nconfigmap/labelled not labeled\n'],
    ['labels everything that is selected', '--field-selector metadata.name=labelled seen=yes', 'configmap/labelled labeled\n'],
  ])('%s', async (_, line, output) => {
    expect(await cluster.kubectl.ok(`label configmap ${line}`)).toBe(output)
  })

  it.each([
    ['to overwrite without being told', 'labelled seen=no', "error: 'seen' already has a value (yes), and --overwrite is false\n"],
    [
      'a key that is not valid',
      "labelled 'a key=b'",
      `The ConfigMap "labelled" is invalid: metadata.labels: Invalid value: "a key": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n`,
    ],
    ['an object of another version', 'labelled a=b --resource-version=1', 'error: Operation cannot be fulfilled on configmaps "labelled": the object has been modified; please apply your changes to the latest version and try again\n'],
  ])('refuses %s', async (_, line, message) => {
    expect((await cluster.kubectl.refused(`label configmap ${line}`)).replace(/^Error from server \(Conflict\)/, 'error')).toBe(message)
  })
})

describe('kubectl annotate', () => {
  beforeAll(() => cluster.kubectl.ok('create configmap annotated'))

  it.each([
    ['adds', 'note=one more=two', 'configmap/annotated annotated\n'],
    ['overwrites when told', 'note=two --overwrite', 'configmap/annotated annotated\n'],
    ['lists', '--list', 'more=two\nnote=two\n'],
    ['removes', 'note-', 'configmap/annotated annotated\n'],
    ['no longer has what was removed', '--list', 'more=two\n'],
  ])('%s', async (_, line, output) => {
    const listed = await cluster.kubectl.ok(`annotate configmap annotated ${line}`)
    expect(line === '--list' ? `${listed.trim().split('\n').sort().join('\n')}\n` : listed).toBe(output)
  })

  it('refuses to overwrite without being told', async () => {
    expect(await cluster.kubectl.refused('annotate configmap annotated more=three')).toBe(
      "error: --overwrite is false but found the following declared annotation(s): 'more' already has a value (two)\n",
    )
  })
})

describe('kubectl scale', () => {
  beforeAll(() => deploy('scaled'))

  it('sets the replicas', async () => {
    expect(await cluster.kubectl.ok('scale deployment scaled --replicas=3')).toBe('deployment.apps/scaled scaled\n')
    expect(await cluster.kubectl.ok('scale deployment/scaled --current-replicas=3 --replicas=2')).toBe('deployment.apps/scaled scaled\n')
    expect(await read('deployment/scaled', '{.spec.replicas}')).toBe('2')
  })

  it('scales every kind that can be', async () => {
    const { kubectl } = cluster
    const template = { metadata: { labels: { app: 'sized' } }, spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] } }
    const selector = { matchLabels: { app: 'sized' } }
    const items = [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'sized' }, spec: { serviceName: 'sized', selector, template } },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'sized' }, spec: { selector, template } },
      { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'sized' }, spec: { selector: { app: 'sized' }, template } },
    ]
    await kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    expect(await kubectl.ok('scale sts/sized rs/sized rc/sized --replicas=5')).toBe('statefulset.apps/sized scaled\nreplicaset.apps/sized scaled\nreplicationcontroller/sized scaled\n')
    expect(await read('sts/sized rs/sized rc/sized', '{.items[*].spec.replicas}')).toBe('5 5 5')
  })

  it.each([
    ['where the count is another', 'deployment scaled --current-replicas=7 --replicas=1', 'error: Expected replicas to be 7, was 2\n'],
    ['what does not exist', 'deployment nope --replicas=1', 'Error from server (NotFound): deployments.apps "nope" not found\n'],
    ['what has no scale', 'configmap/labelled --replicas=1', 'Error from server (NotFound): the server could not find the requested resource\n'],
  ])('refuses to scale %s', async (_, line, message) => {
    expect(await cluster.kubectl.refused(`scale ${line}`)).toBe(message)
  })
})

describe('kubectl set', () => {
  beforeAll(async () => {
    await deploy('set')
    await cluster.kubectl.ok('create service clusterip set --tcp=80')
  })

  it.each([
    ['image deployment/set nginx=nginx:1.28', 'deployment.apps/set image updated\n', '{.image}', 'nginx:1.28'],
    ['env deployment/set A=b C=d', 'deployment.apps/set env updated\n', '{.env}', '[{"name":"A","value":"b"},{"name":"C","value":"d"}]'],
    ['env deployment/set A-', 'deployment.apps/set env updated\n', '{.env}', '[{"name":"C","value":"d"}]'],
    ['resources deployment/set --limits=cpu=200m,memory=0.5Gi', 'deployment.apps/set resource requirements updated\n', '{.resources.limits}', '{"cpu":"200m","memory":"512Mi"}'],
  ])('%s', async (line, output, path, value) => {
    expect(await cluster.kubectl.ok(`set ${line}`)).toBe(output)
    expect(await read('deployment/set', path.replace('{', '{.spec.template.spec.containers[0]'))).toBe(value)
  })

  it('serviceaccount and selector', async () => {
    expect(await cluster.kubectl.ok('set serviceaccount deployment/set robot')).toBe('deployment.apps/set serviceaccount updated\n')
    expect(await read('deployment/set', '{.spec.template.spec.serviceAccountName}')).toBe('robot')
    expect(await cluster.kubectl.ok('set selector service/set tier=front')).toBe('service/set selector updated\n')
    expect(await read('service/set', '{.spec.selector}')).toBe('{"tier":"front"}')
  })

  it('env --list shows what is set', async () => {
    expect(await cluster.kubectl.ok('set env deployment/set --list')).toBe('# Deployment set, container nginx\nC=d\n')
  })

  it('refuses a container that does not exist', async () => {
    expect(await cluster.kubectl.refused('set image deployment/set nope=nginx')).toBe('error: unable to find container named "nope"\n')
  })
})
