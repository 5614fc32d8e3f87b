import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
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
  await kubectl.ok('wait --for=condition=Available deployment/web statefulset/db --timeout=30s')
  await kubectl.ok('wait --for=jsonpath={.status.phase}=Bound pvc/data-db-0 pvc/data-db-1 --timeout=30s')
  await kubectl.ok('wait --for=jsonpath={.subsets[0].addresses[2]} endpoints/web --timeout=30s')
  await kubectl.ok('create job once --image=busybox -- true')
  await kubectl.ok('wait --for=condition=Complete job/once --timeout=30s')
  const containers = 'get pods -l app --no-headers -o custom-columns=N:.metadata.name,C:.status.containerStatuses[*].containerID,I:.status.podIP'
  const before = await kubectl.ok(containers)
  expect(before.trim().split('\n')).toHaveLength(5)
  await first.stop('SIGKILL')

  const second = await startEverything(dataDir)
  onTestFinished(async () => void (await second.stop()))
  const again = new Kubectl(second.kubeconfig)
  await again.ok('wait --for=condition=Available deployment/web statefulset/db --timeout=30s')
  expect(await again.ok(containers)).toBe(before)
  await again.ok('scale deployment web --replicas=5')
  await again.ok('wait --for=jsonpath={.status.availableReplicas}=5 deployment/web --timeout=30s')
  await again.ok('delete deployment,statefulset,job,pvc --all --cascade=foreground --timeout=60s')
  expect(await again.ok('get replicasets,pods,pv -o name')).toBe('')
}, 120_000)

it('many nodes can be simulated', async () => {
  const everything = await startEverything(newDataDir(), ['--runtime', 'simulated', '--nodes', '3', '--node-name', 'n'])
  onTestFinished(async () => void (await everything.stop()))
  const kubectl = new Kubectl(everything.kubeconfig)
  await kubectl.ok('create deployment web --image=nginx --replicas=6')
  await kubectl.ok('wait --for=condition=Available deployment/web --timeout=30s')
  const nodes = await kubectl.ok('get pods -o jsonpath={.items[*].spec.nodeName}')
  expect([...new Set(nodes.split(' '))].sort()).toEqual(['n-0', 'n-1', 'n-2'])
})

it('this machine is one node', async () => {
  const { code, err } = await runCoxswain(['up', '--runtime', 'process', '--nodes', '2', '--data-dir', newDataDir()])
  expect({ code, err }).toEqual({ code: 1, err: 'coxswain: --nodes: this machine is one node; only simulated ones can be many\n' })
})
