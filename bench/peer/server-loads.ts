import { podsPath } from '../growth/api.ts'
import { http2Client } from '../load/client.ts'
import type { Bench } from '../load/figures.ts'
import { clients, createPods, http2Connections, listing, throughput, watchedCreates } from '../load/figures.ts'
import { inParallel } from '../load/measure.ts'
import { loosePodText } from '../load/pod.ts'
import type { Namespaces } from './cluster.ts'

export const serverParts = ['creates', 'list', 'watch'] as const
type ServerPart = (typeof serverParts)[number]

/** The parts to start, and the number of pods to create and list. */
export interface Wanted {
  parts: readonly ServerPart[]
  pods: number
}

/** Watchers of the part `watch`, and how many pods are created while they watch, at most. */
const fanOut = { watchers: 100, pods: 500, width: 8 }
const lists = 20

/**
 * Loads the API server alone: pods that nobody schedules are created, listed and watched. Each part has a namespace of
 * its own.
 */
export async function loadServer(bench: Bench, wanted: Wanted, namespaces: Namespaces): Promise<void> {
  const { parts, pods } = wanted
  const client = await http2Client(bench.target, http2Connections)
  try {
    if (parts.includes('creates')) {
      const namespace = await namespaces.make('creates')
      // Servers that compile as they go, and caches that fill, are slower at first.
      await inParallel(Math.ceil(pods / 4), clients, createPods(client, namespace, pods, loosePodText))
      const create = createPods(client, namespace, 0, loosePodText)
      await throughput(bench, `creates of pods, ${clients} writers, HTTP/2`, pods, create)
    }
    if (parts.includes('list')) {
      const namespace = await namespaces.make('list')
      await inParallel(pods, clients, createPods(client, namespace, 0, loosePodText))
      await listing(bench, `list of ${pods} pods`, podsPath(namespace), lists)
    }
    if (parts.includes('watch')) {
      const namespace = await namespaces.make('watch')
      const { watchers, width } = fanOut
      await watchedCreates(bench, {
        figure: `${watchers} watchers`, namespace, from: 0, count: Math.min(pods, fanOut.pods), watchers, width,
        protocol: 'HTTP/2', text: loosePodText, watched: podsPath(namespace),
      })
    }
  } finally {
    client.close()
  }
}
