import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { useEverything } from '../kubectl/cluster.ts'
import { runCoxswain } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'
import { useOwnImage } from '../kubectl/own-image.ts'

const root = path.resolve(import.meta.dirname, '../..')
const chart = path.join(root, 'deploy/helm/coxswain')

const cluster = useEverything(['--runtime', 'process', '--image-catalogue', useOwnImage(), '--dashboard', 'false'])
let helm: Kubectl
beforeAll(() => {
  helm = new Kubectl(cluster.server.kubeconfig, 'helm')
})
afterAll(() => helm?.remove())

interface Named {
  kind: string
  metadata: { name: string }
}

/** The documents of manifests by kind and name. */
const documents = (text: string): Map<string, unknown> =>
  new Map(parseAllDocuments(text).map((document) => document.toJS() as Named | null).flatMap((object) => (object ? [[`${object.kind} ${object.metadata.name}`, object] as const] : [])))

const sets = [
  ['publisher', '', ['definitions', 'publisher']],
  ['monitor', '--set publisher.enabled=false --set monitor.enabled=true', ['definitions', 'monitor']],
  ['controllers', '--set publisher.enabled=false --set controllers.enabled=true', ['definitions', 'controllers']],
  ['another port', '--set apiServerPorts[0].protocol=TCP,apiServerPorts[0].port=8443', ['definitions', 'publisher', '--api-server-ports', '8443']],
  ['everything', '--set monitor.enabled=true --set controllers.enabled=true --set serviceMonitors.enabled=true', ['definitions', 'publisher', 'monitor', 'controllers', '--service-monitors']],
] as const

it('the chart has no faults that helm knows of', async () => {
  expect(await helm.ok(`lint --strict ${chart}`)).toContain('1 chart(s) linted, 0 chart(s) failed')
})

it.each(sets)('the chart renders what `coxswain manifests` prints: %s', async (_, flags, parts) => {
  const rendered = documents(await helm.ok(`template coxswain ${chart} --namespace coxswain-system --include-crds ${flags}`))
  const { out } = await runCoxswain(['manifests', ...parts])
  expect(Object.fromEntries(rendered)).toEqual(Object.fromEntries(documents(out)))
})

it('the chart is installed, upgraded and uninstalled', async () => {
  const { kubectl } = cluster
  await helm.ok(`install coxswain ${chart} --namespace coxswain-system --create-namespace --wait --timeout 80s`)
  expect(await kubectl.ok('-n coxswain-system get pods -o jsonpath={.items[*].status.phase}')).toBe('Running Running')
  expect(await kubectl.ok('get crd workloadstatuses.coxswain.dev -o name')).toContain('workloadstatuses')
  await helm.ok(`upgrade coxswain ${chart} --namespace coxswain-system --set publisher.replicas=1 --set monitor.enabled=true --wait --timeout 80s`)
  expect(await kubectl.ok('-n coxswain-system get deployments -o jsonpath={.items[*].status.readyReplicas}')).toBe('1 1')
  // By default Helm waits for its own objects only, and their pods are still ending.
  await helm.ok('uninstall coxswain --namespace coxswain-system --cascade foreground --wait --timeout 60s')
  expect(await kubectl.ok('-n coxswain-system get deployments,pods,services,networkpolicies,poddisruptionbudgets -o name')).toBe('')
  expect(await kubectl.ok('get clusterroles,clusterrolebindings -l app.kubernetes.io/part-of=coxswain -o name')).toBe('')
}, 300_000)
