import { afterAll, beforeAll } from 'vitest'
import type { Pod } from '../../src/api/generated/types.ts'
import { Client, HttpTransport, loadAccess, pods } from '../../src/client/index.ts'
import type { Cluster } from './cluster.ts'

/** The runtime's error for an image whose name contains `broken`. */
const waiting = { reason: 'ErrImagePull', message: 'no such image' }

/** Does for all pods of the default namespace what a scheduler and nodes would, for the tests of a file: one with a broken image never starts. */
export function usePodRunner(cluster: Cluster, nodeOf: (pod: Pod) => string = () => 'n1'): void {
  let client: Client
  const run = async (pod: Pod): Promise<void> => {
    const { name = '', deletionTimestamp } = pod.metadata
    if (deletionTimestamp) return void (await client.delete(pods, 'default', name, { gracePeriodSeconds: 0 }))
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: nodeOf(pod) } }
    if (!pod.spec.nodeName) await client.transport.send({ method: 'POST', path: `/api/v1/namespaces/default/pods/${name}/binding`, body })
    const status = pod.spec.containers[0]!.image!.includes('broken')
      ? { phase: 'Pending', containerStatuses: [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { waiting } }] }
      : { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() }] }
    await client.patch(pods, 'default', name, { status }, { type: 'strategic', subresource: 'status' })
  }
  beforeAll(async () => {
    client = new Client(new HttpTransport(await loadAccess({ file: cluster.server.kubeconfig })))
    const handled = new Set<string>()
    client.watch(pods, 'default', {}, {
      opened: () => {},
      event({ type, object }) {
        const what = `${object.metadata.uid} ${object.metadata.deletionTimestamp ? 'goes' : 'comes'}`
        if (type === 'DELETED' || handled.has(what)) return
        handled.add(what)
        run(object).catch(() => {}) // it is gone by now
      },
      closed: () => {},
    })
  })
  afterAll(() => client?.close())
}
