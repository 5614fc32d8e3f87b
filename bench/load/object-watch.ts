import https from 'node:https'
import type { Target } from './target.ts'

/** As much of an object as the load looks at. */
export interface Seen {
  metadata: { name: string; namespace: string; uid: string; generation?: number; resourceVersion: string; deletionTimestamp?: string; ownerReferences?: { kind: string }[] }
  spec: { nodeName?: string; replicas?: number; containers?: { name: string; image: string }[]; affinity?: NodeChoice; readinessGates?: { conditionType: string }[] }
  status?: {
    phase?: string
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    readyReplicas?: number
    availableReplicas?: number
    desiredNumberScheduled?: number
    updatedNumberScheduled?: number
    numberAvailable?: number
    conditions?: { type: string; status: string }[]
    containerStatuses?: { name: string; image: string }[]
  }
}

/** The affinity of a pod that is meant for one node. */
interface NodeChoice {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: { matchFields?: { values?: string[] }[] }[] } }
}

type Tell = (type: string, object: Seen) => void

/**
 * Tells every change of a collection, from now on; resolves when it is open. The function it resolves with ends it.
 * `ended` hears of a watch that the server ends.
 */
export async function watchObjects(target: Target, path: string, tell: Tell, ended = () => {}): Promise<() => void> {
  const { url, tls, headers } = target
  const get = (query: string) => ({ host: url.hostname, port: url.port, path: `${path}?${query}`, headers, agent: false as const, ...tls })
  const resourceVersion = await new Promise<string>((resolve, reject) => {
    https.get(get('limit=1'), async (response) => resolve((JSON.parse(await textOf(response)) as { metadata: { resourceVersion: string } }).metadata.resourceVersion)).on('error', reject)
  })
  return new Promise((resolve, reject) => {
    const request = https.get(get(`watch=true&resourceVersion=${resourceVersion}`), (response) => {
      if (response.statusCode !== 200) return reject(new Error(`watch of ${path}: ${response.statusCode}`))
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop()!
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as { type: string; object: Seen }
          tell(type, object)
        }
      })
      let isWanted = true
      response.on('error', () => {})
      response.on('close', () => isWanted && ended())
      resolve(() => {
        isWanted = false
        request.destroy()
      })
    })
    request.on('error', reject)
  })
}

/** The whole of an answer. */
export async function textOf(response: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}
