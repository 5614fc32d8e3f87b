import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCoxswain, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - { name: main, image: busybox, command: [sh, -c, 'exec sleep 600'], volumeMounts: [{ name: data, mountPath: /data }] }
  volumeClaimTemplates:
    - { metadata: { name: data }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Mi } } } }
`

const newDataDir = () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-up-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  return dataDir
}

it('coxswain up runs pods, and after a kill goes on where it was, with the same processes', async () => {
  const dataDir = newDataDir()
  const first = await startEverything(dataDir)
  onTestFinished(async () => void (await first.stop('SIGKILL')))
  const kubectl = new Kubectl(first.kubeconfig)
  await kubectl.ok('create deployment web --image=nginx --replicas=3')
  await kubectl.ok('expose deployment web --port=80')
  kubectl.file('set.yaml', statefulSet)
  await kubectl.ok('apply -f set.yaml')
  await kubectl.ok('wait --for=condition=Available deployment/web statefulset/db --timeout=60s')
  await kubectl.ok('wait --for=jsonpath={.status.phase}=Bound pvc/data-db-0 pvc/data-db-1 --timeout=60s')
  await kubectl.ok('wait --for=jsonpath={.subsets[0].addresses[2]} endpoints/web --timeout=60s')
  await kubectl.ok('create job once --image=busybox -- true')
  await kubectl.ok('wait --for=condition=Complete job/once --timeout=60s')
  const containers = 'get pods -l app --no-headers -o custom-columns=N:.metadata.name,C:.status.containerStatuses[*].containerID,I:.status.podIP'
  const before = await kubectl.ok(containers)
  expect(before.trim().split('\n')).toHaveLength(5)
  await first.stop('SIGKILL')

  const second = await startEverything(dataDir)
  onTestFinished(async () => void (await second.stop()))
  const again = new Kubectl(second.kubeconfig)
  await again.ok('wait --for=condition=Available deployment/web statefulset/db --timeout=60s')
  expect(await again.ok(containers)).toBe(before)
  await again.ok('scale deployment web --replicas=5')
  await again.ok('wait --for=jsonpath={.status.availableReplicas}=5 deployment/web --timeout=60s')
  await again.ok('delete deployment,statefulset,job,pvc --all --cascade=foreground --timeout=60s')
  expect(await again.ok('get replicasets,pods,pv -o name')).toBe('')
}, 120_000)

it('many nodes can be simulated', async () => {
  const everything = await startEverything(newDataDir(), ['--runtime', 'simulated', '--nodes', '3', '--node-name', 'n'])
  onTestFinished(async () => void (await everything.stop()))
  const kubectl = new Kubectl(everything.kubeconfig)
  await kubectl.ok('create deployment web --image=nginx --replicas=6')
  await kubectl.ok('wait --for=condition=Available deployment/web --timeout=60s')
  const nodes = await kubectl.ok('get pods -o jsonpath={.items[*].spec.nodeName}')
  expect([...new Set(nodes.split(' '))].sort()).toEqual(['n-0', 'n-1', 'n-2'])
})

describe('coxswain up says in one line why it cannot start', () => {
  const up = (...flags: string[]) => runCoxswain(['up', '--data-dir', newDataDir(), '--secure-port', '0', '--log-level', 'warn', ...flags])

  it.each([
    ['this machine is one node', ['--runtime', 'process', '--nodes', '2'], '--nodes: this machine is one node; only simulated ones can be many'],
    ['a flag that it does not have', ['--node'], "unknown option '--node' (Did you mean --nodes?)"],
    ['a runtime that it does not have', ['--runtime', 'docker'], "option '--runtime <name>' argument 'docker' is invalid. Allowed choices are auto, cri, process, simulated."],
    ['a catalogue that is not there', ['--image-catalogue', '/nonexistent'], "--image-catalogue: ENOENT: no such file or directory, open '/nonexistent'"],
    ['times that do not fit', ['--shutdown-grace-period', '1s', '--shutdown-grace-period-critical-pods', '2s'], '--shutdown-grace-period-critical-pods: must not be longer than --shutdown-grace-period'],
  ])('%s', async (_, flags, reason) => {
    expect(await up(...flags)).toEqual({ code: 1, out: '', err: `coxswain: ${reason}\n` })
  })

  it('a name that no node can have', async () => {
    const { code, out, err } = await up('--node-name', 'My_Machine')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^coxswain: option '--node-name <name>' argument 'My_Machine' is invalid\. a lowercase RFC 1123 subdomain [^\n]+\n$/)
  })

  it('a port and a data directory that are in use', async () => {
    const dataDir = newDataDir()
    const first = await startEverything(dataDir, ['--store', 'lmdb', '--runtime', 'simulated'])
    onTestFinished(async () => void (await first.stop()))
    const { port } = new URL(first.url)
    expect(await up('--data-dir', dataDir)).toEqual({ code: 1, out: '', err: `coxswain: the data directory ${path.join(dataDir, 'db')} is in use by process ${first.pid}\n` })
    expect(await up('--secure-port', port)).toEqual({ code: 1, out: '', err: `coxswain: port ${port} is already in use: choose another with --secure-port, or 0 for a free one\n` })
  })
})
