import { watchObjects } from '../load/object-watch.ts'
import { pause } from '../load/server.ts'
import { type Api, mergePatch, podsPath } from './api.ts'
import type { Limit } from './limit.ts'

/** The name of the simulated nodes: `n-0`, `n-1` and so on. */
export const nodePrefix = 'n'

const faultsPath = '/api/v1/namespaces/kube-system/configmaps'
const faultsName = 'coxswain-faults'

/** Silences simulated nodes through the cluster's fault plan, for good or for so long (`70s`). */
export async function silence(api: Api, nodes: readonly string[], duration?: string): Promise<void> {
  const fault = { stage: 'heartbeat', fail: true, ...(duration ? { for: duration } : {}) }
  const data = Object.fromEntries(nodes.map((node) => [`bench-${node}`, JSON.stringify({ ...fault, nodes: node })]))
  const { code, text } = await api.send('PATCH', `${faultsPath}/${faultsName}`, { data }, mergePatch)
  if (code === 404) {
    const metadata = { name: faultsName, namespace: 'kube-system' }
    await api.ask('POST', faultsPath, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
  } else if (code !== 200) {
    throw new Error(`the fault plan cannot be written: ${code} ${text}`)
  }
}

/** Takes the faults of these nodes out of the plan. */
export async function unsilence(api: Api, nodes: readonly string[]): Promise<void> {
  const data = Object.fromEntries(nodes.map((node) => [`bench-${node}`, null]))
  await api.ask('PATCH', `${faultsPath}/${faultsName}`, { data }, mergePatch)
}

/** Every twentieth of so many simulated nodes, and at least one. */
export const twentieth = (nodes: number): string[] =>
  Array.from({ length: Math.max(1, Math.floor(nodes / 20)) }, (_, i) => `${nodePrefix}-${i * 20}`)

interface PodList {
  items: { metadata: { uid: string } }[]
}

/** The uids of the pods of a namespace that are bound to these nodes. */
async function podsOn(api: Api, namespace: string, nodes: readonly string[]): Promise<Set<string>> {
  const uids = new Set<string>()
  for (const node of nodes) {
    const { items } = await api.ask<PodList>('GET', `${podsPath(namespace)}?fieldSelector=spec.nodeName%3D${node}`)
    for (const { metadata } of items) uids.add(metadata.uid)
  }
  return uids
}

/** Nodes that are lost, and whose pods are being given up. */
export interface Loss {
  /** The number of their pods. */
  pods: number
  /** The time for which pods of removed nodes were not touched: 40 seconds. */
  quarantineSeconds: number
  /** Waits until all of these pods are gone and as many others are ready. */
  untilReplaced(limit: Limit): Promise<void>
  close(): void
}

/**
 * Deletes nodes, as a cloud does with machines that are gone, and waits until the first of their pods is given up. The
 * nodes are silenced before, so that they do not register again.
 */
export async function loseNodes(api: Api, namespace: string, nodes: readonly string[], limit: Limit): Promise<Loss> {
  const lost = await podsOn(api, namespace, nodes)
  const pods = lost.size
  const added = new Set<string>()
  let ready = 0
  const close = await watchObjects(api.target, podsPath(namespace), (type, { metadata: { uid }, status }) => {
    if (type === 'ADDED') added.add(uid)
    else if (type === 'DELETED') lost.delete(uid)
    // Each of them is counted when it is first Ready.
    else if (status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') && added.delete(uid)) ready++
  })
  const began = performance.now()
  try {
    await silence(api, nodes)
    for (const node of nodes) await api.ask('DELETE', `/api/v1/nodes/${node}`)
    const what = 'pods of lost nodes are given up'
    await limit.until(() => ({ isDone: lost.size < pods || pods === 0, done: 0, wanted: pods, what }), soon)
  } catch (e) {
    close()
    throw e
  }
  const progress = () => {
    const what = `pods are ready in place of those of lost nodes, ${lost.size} of which are still there`
    return { isDone: lost.size === 0 && ready >= pods, done: ready, wanted: pods, what }
  }
  return {
    pods,
    quarantineSeconds: (performance.now() - began) / 1000,
    untilReplaced: (within) => within.until(progress, soon),
    close,
  }
}

/** Looks cost nothing here. */
const soon = () => pause(5)
