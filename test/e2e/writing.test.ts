import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block } from '../kubectl/masks.ts'

const cluster = useCluster()

const deployment = (name: string, replicas: number, image = 'nginx:1.27') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
      - image: ${image}
        name: main
`

const replicasOf = (name: string) => cluster.kubectl.ok(`get deployment ${name} -o jsonpath={.spec.replicas}`)

describe('kubectl create -f', () => {
  it('makes every object of a file', async () => {
    cluster.kubectl.file('both.yaml', `${deployment('created', 1)}---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: made-\n`)
    expect(await cluster.kubectl.ok('create -f both.yaml')).toMatch(/^deployment\.apps\/created created\nconfigmap\/made-[a-z0-9]{5} created\n$/)
    expect(await cluster.kubectl.refused('create -f both.yaml')).toBe('Error from server (AlreadyExists): error when creating "both.yaml": deployments.apps "created" already exists\n')
  })

  it('makes nothing with --dry-run=server, but fills in what the server would', async () => {
    expect(await cluster.kubectl.ok('create -f - --dry-run=server', deployment('imagined', 1))).toBe('deployment.apps/imagined created (server dry run)\n')
    expect(await cluster.kubectl.ok('create -f - --dry-run=server -o jsonpath={.spec.strategy.type}', deployment('imagined', 1))).toBe('RollingUpdate')
    expect(await cluster.kubectl.refused('get deployment imagined')).toBe('Error from server (NotFound): deployments.apps "imagined" not found\n')
  })

  it('makes every object of a folder', async () => {
    cluster.kubectl.file('folder/a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: in-a}\n')
    cluster.kubectl.file('folder/b.json', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"in-b"}}')
    expect(await cluster.kubectl.ok('create -f folder')).toBe('configmap/in-a created\nsecret/in-b created\n')
  })
})

describe('kubectl apply', () => {
  it('creates, configures, and says what is unchanged', async () => {
    const { kubectl } = cluster
    expect(await kubectl.ok('apply -f -', deployment('applied', 2))).toBe('deployment.apps/applied created\n')
    expect(await kubectl.ok('apply -f -', deployment('applied', 2))).toBe('deployment.apps/applied unchanged\n')
    expect(await kubectl.ok('apply -f - --dry-run=server', deployment('applied', 3))).toBe('deployment.apps/applied configured (server dry run)\n')
    expect(await replicasOf('applied')).toBe('2')
    expect(await kubectl.ok('apply -f -', deployment('applied', 3))).toBe('deployment.apps/applied configured\n')
    expect(await replicasOf('applied')).toBe('3')
  })

  it('keeps what was last applied, and takes away only what it applied', async () => {
    const { kubectl } = cluster
    const labelled = (labels: string) => deployment('merged', 1).replace('  name: merged\n', `  name: merged\n  labels: {${labels}}\n`)
    await kubectl.ok('apply -f -', labelled('a: file, b: file'))
    await kubectl.ok('label deployment merged c=hand')
    expect(await kubectl.ok('apply view-last-applied deployment merged -o json').then(JSON.parse)).toMatchObject({ metadata: { labels: { a: 'file', b: 'file' } } })
    expect(await kubectl.ok('apply -f -', labelled('a: file'))).toBe('deployment.apps/merged configured\n')
    expect(await kubectl.ok('get deployment merged -o jsonpath={.metadata.labels}')).toBe('{"a":"file","c":"hand"}')
    expect(await kubectl.ok("get deployment merged -o jsonpath='{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}'")).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"a":"file"},"name":"merged","namespace":"default"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"merged"}},"template":{"metadata":{"labels":{"app":"merged"}},"spec":{"containers":[{"image":"nginx:1.27","name":"main"}]}}}}\n',
    )
  })

  it('warns about an object that it did not make', async () => {
    await cluster.kubectl.ok('create configmap foreign')
    const { code, out, err } = await cluster.kubectl.run('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign}\n')
    expect({ code, out }).toEqual({ code: 0, out: 'configmap/foreign configured\n' })
    expect(err).toMatch(/^Warning: resource configmaps\/foreign is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/)
  })

  it('refuses to change what cannot be changed', async () => {
    await cluster.kubectl.ok('apply -f -', deployment('fixed', 1))
    const other = deployment('fixed', 1).replaceAll('app: fixed', 'app: other')
    expect(await cluster.kubectl.refused('apply -f -', other)).toBe(
      'The Deployment "fixed" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable\n',
    )
  })

  it('applies on the server, tells of conflicts, and forces', async () => {
    const { kubectl } = cluster
    const file = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa}\ndata: {k: "${value}"}\n`
    expect(await kubectl.ok('apply -f - --server-side', file('1'))).toBe('configmap/ssa serverside-applied\n')
    const refused = await kubectl.refused('apply -f - --server-side --field-manager=other', file('2'))
    expect(refused).toMatch(/^error: Apply failed with 1 conflict: conflict with "kubectl": \.data\.k\n/)
    const { code, out } = await kubectl.run('diff -f - --server-side --field-manager=other --force-conflicts', file('2'))
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('+  k: "2"') })
    expect(await kubectl.ok('apply -f - --server-side --field-manager=other --force-conflicts', file('2'))).toBe('configmap/ssa serverside-applied\n')
    expect(await kubectl.ok('get configmap ssa -o yaml')).not.toContain('managedFields')
    expect(await kubectl.ok('get configmap ssa -o yaml --show-managed-fields')).toMatch(/managedFields:\n {2}- apiVersion: v1\n {4}fieldsType: FieldsV1\n {4}fieldsV1:\n {6}f:data:\n {8}f:k: {}\n {4}manager: other\n {4}operation: Apply/)
  })

  it('prunes what is labelled and no longer in the file', async () => {
    const { kubectl } = cluster
    const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  labels: {set: pruned}\n---\n`
    await kubectl.ok('create namespace pruning')
    await kubectl.ok('apply -n pruning -f -', map('one') + map('two') + map('three'))
    await kubectl.ok('create configmap other -n pruning')
    await kubectl.ok('label configmap other -n pruning set=pruned')
    expect(await kubectl.ok('apply -n pruning -f - --prune -l set=pruned --prune-allowlist=core/v1/ConfigMap', map('one') + map('two'))).toBe(
      'configmap/one unchanged\nconfigmap/two unchanged\nconfigmap/three pruned\n',
    )
    expect(await kubectl.ok('apply -n pruning -f - --prune -l set=pruned', map('one'))).toBe('configmap/one unchanged\nconfigmap/two pruned\n')
    expect(await kubectl.ok('get configmaps -n pruning -o name')).toBe('configmap/one\nconfigmap/other\n')
  })

  it('applies a kustomization', async () => {
    const { kubectl } = cluster
    kubectl.file('base/kustomization.yaml', 'resources: [deployment.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [colour=blue]\n')
    kubectl.file('base/deployment.yaml', deployment('kustomized', 1))
    kubectl.file(
      'overlay/kustomization.yaml',
      'resources: [../base]\nnamePrefix: staging-\nlabels:\n- pairs: {stage: staging}\nimages:\n- {name: nginx, newTag: "1.28"}\nreplicas:\n- {name: kustomized, count: 4}\n',
    )
    expect(await kubectl.ok('apply -k overlay')).toMatch(/^configmap\/staging-settings-[a-z0-9]{10} created\ndeployment\.apps\/staging-kustomized created\n$/)
    expect(await kubectl.ok("get deployment -l stage=staging -o jsonpath='{.items[*].spec.replicas} {.items[*].spec.template.spec.containers[0].image}'")).toBe('4 nginx:1.28')
    expect(await kubectl.run('diff -k overlay')).toMatchObject({ code: 0, out: '' })
    expect(await kubectl.ok('delete -k overlay')).toMatch(/^configmap "staging-settings-[a-z0-9]{10}" deleted from default namespace\ndeployment\.apps "staging-kustomized" deleted from default namespace\n$/)
  })
})

describe('kubectl diff', () => {
  it('shows what applying would change', async () => {
    await cluster.kubectl.ok('apply -f -', deployment('compared', 2))
    expect(await cluster.kubectl.run('diff -f -', deployment('compared', 2))).toEqual({ code: 0, out: '', err: '' })
    const { code, out } = await cluster.kubectl.run('diff -f -', deployment('compared', 5))
    expect(code).toBe(1)
    expect(out.split('\n').filter((line) => /^[+-] /.test(line))).toEqual(['-  generation: 1', '+  generation: 2', '-  replicas: 2', '+  replicas: 5'])
    expect(await replicasOf('compared')).toBe('2')
  })

  it('shows an object that does not exist yet', async () => {
    const { code, out } = await cluster.kubectl.run('diff -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unborn}\ndata: {a: b}\n')
    expect(code).toBe(1)
    expect(out.split('\n').filter((line) => line.startsWith('+')).map((line) => line.replace(/"20.*"|(uid: ).*|(\+\+\+ ).*/, '$1$2*'))).toEqual([
      '+++ *',
      '+apiVersion: v1',
      '+data:',
      '+  a: b',
      '+kind: ConfigMap',
      '+metadata:',
      '+  creationTimestamp: *',
      '+  name: unborn',
      '+  namespace: default',
      '+  uid: *',
    ])
  })
})

describe('kubectl replace', () => {
  it('puts an object in the place of another', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create -f -', deployment('replaced', 1))
    expect(await kubectl.ok('replace -f -', deployment('replaced', 4))).toBe('deployment.apps/replaced replaced\n')
    expect(await replicasOf('replaced')).toBe('4')
    expect(await kubectl.refused('replace -f -', deployment('missing', 4))).toBe('Error from server (NotFound): error when replacing "STDIN": deployments.apps "missing" not found\n')
  })

  it('refuses an object that has changed in between', async () => {
    const { kubectl } = cluster
    await kubectl.ok('create configmap raced')
    const old = await kubectl.ok('get configmap raced -o yaml')
    await kubectl.ok('label configmap raced x=y')
    expect(await kubectl.refused('replace -f -', old)).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "raced": the object has been modified; please apply your changes to the latest version and try again\n',
    )
  })

  it('deletes and creates anew with --force', async () => {
    const { kubectl } = cluster
    const uid = () => kubectl.ok('get deployment forced -o jsonpath={.metadata.uid}')
    await kubectl.ok('create -f -', deployment('forced', 1))
    const before = await uid()
    expect(await kubectl.ok('replace --force -f -', deployment('forced', 2).replaceAll('app: forced', 'app: other'))).toBe(
      'deployment.apps "forced" deleted from default namespace\ndeployment.apps/forced replaced\n',
    )
    expect(await uid()).not.toBe(before)
  })
})

describe('kubectl edit', () => {
  const editor = (script: string) => ({ EDITOR: cluster.kubectl.file('edit.sh', `#!/bin/sh\n${script}\n`, 0o755) })

  beforeAll(() => cluster.kubectl.ok('create -f -', deployment('edited', 3)))

  it('writes back what was edited', async () => {
    expect(await cluster.kubectl.ok('edit deployment edited', '', editor(`sed -i 's/replicas: 3/replicas: 5/' "$1"`))).toBe('deployment.apps/edited edited\n')
    expect(await replicasOf('edited')).toBe('5')
  })

  it('changes nothing where nothing was edited', async () => {
    expect(await cluster.kubectl.run('edit deployment edited', '', editor('exit 0'))).toEqual({ code: 0, out: '', err: 'Edit cancelled, no changes made.\n' })
  })

  it('opens the editor again with the reason why an edit was refused', async () => {
    // The second time the editor gives the file back as it is, at which kubectl gives up.
    const script = `cp "$1" seen.yaml; sed -i 's/replicas: 5/replicas: -1/' "$1"`
    const { code } = await cluster.kubectl.run('edit deployment edited', '', editor(script))
    expect(code).toBe(1)
    expect(readFileSync(path.join(cluster.kubectl.dir, 'seen.yaml'), 'utf8')).toContain(
      '# deployments.apps "edited" was not valid:\n# * spec.replicas: Invalid value: -1: must be greater than or equal to 0\n#\n',
    )
  })

  it('edits the status with --subresource', async () => {
    expect(await cluster.kubectl.ok('edit deployment edited --subresource=status', '', editor(`sed -i 's/^status: {}/status: {replicas: 5, observedGeneration: 2}/' "$1"`))).toBe(
      'deployment.apps/edited edited\n',
    )
    expect(await cluster.kubectl.ok('get deployment edited -o jsonpath={.status}')).toBe('{"observedGeneration":2,"replicas":5}')
  })
})

describe('a whole object after it was written', () => {
  it('has every default', async () => {
    await cluster.kubectl.ok('create -f -', deployment('whole', 1))
    const text = await cluster.kubectl.ok('get deployment whole -o yaml')
    expect(text.slice(text.indexOf('spec:'))).toBe(block`
      spec:
        progressDeadlineSeconds: 600
        replicas: 1
        revisionHistoryLimit: 10
        selector:
          matchLabels:
            app: whole
        strategy:
          rollingUpdate:
            maxSurge: 25%
            maxUnavailable: 25%
          type: RollingUpdate
        template:
          metadata:
            labels:
              app: whole
          spec:
            containers:
            - image: nginx:1.27
              imagePullPolicy: IfNotPresent
              name: main
              resources: {}
              terminationMessagePath: /dev/termination-log
              terminationMessagePolicy: File
            dnsPolicy: ClusterFirst
            restartPolicy: Always
            schedulerName: default-scheduler
            securityContext: {}
            terminationGracePeriodSeconds: 30
      status: {}
    `)
  })
})
