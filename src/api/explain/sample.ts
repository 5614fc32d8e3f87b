import type { ContainerStatus, Node, PersistentVolumeClaim, Pod } from '../generated/types.ts'
import { timestamp } from '../object.ts'

// Pods, nodes and claims for tests of the explanation.

export const at = (seconds: number): number => Date.parse('2026-01-01T00:00:00Z') + seconds * 1000
export const timeAt = (seconds: number): string => timestamp(at(seconds))

/** The parts of a pod that a test sets. */
interface PodParts {
  metadata?: object
  spec?: object
  status?: object
}

/** Pod `web-1` of one container, made at the start, on node `n1`, with condition Ready False since second 5. */
export function podOf({ metadata = {}, spec = {}, status = {} }: PodParts = {}): Pod {
  return {
    metadata: { name: 'web-1', namespace: 'default', creationTimestamp: timeAt(0), ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1', resources: {} }], ...spec },
    status: { phase: 'Pending', conditions: [condition('Ready', 'False', 5)], ...status },
  } as unknown as Pod
}

export const condition = (type: string, status: string, seconds: number, more: object = {}) => ({
  type,
  status,
  lastTransitionTime: timeAt(seconds),
  ...more,
})

/** A pod that has been ready since second 5. */
export const readyPod = (parts: PodParts = {}): Pod =>
  podOf({
    ...parts,
    status: {
      phase: 'Running',
      conditions: [condition('Ready', 'True', 5)],
      containerStatuses: [containerOf({ running: {} }, { ready: true })],
      ...parts.status,
    },
  })

/** A pod whose container has this state. */
export const podWith = (state: object, more: object = {}, parts: PodParts = {}): Pod =>
  podOf({ ...parts, status: { containerStatuses: [containerOf(state, more)], ...parts.status } })

export const containerOf = (state: object, more: object = {}): ContainerStatus =>
  ({ name: 'main', image: 'app:1', imageID: '', ready: false, restartCount: 0, state, ...more }) as ContainerStatus

export const waiting = (reason: string, message?: string) => ({
  waiting: { reason, ...(message === undefined ? {} : { message }) },
})
export const ended = (exitCode: number, more: object = {}) => ({ terminated: { exitCode, ...more } })

/** A node whose condition Ready has this status since second 3. */
export const nodeOf = (status: string, more: object = {}): Node =>
  ({ metadata: { name: 'n1' }, status: { conditions: [condition('Ready', status, 3, more)] } }) as unknown as Node

export const claimOf = (phase: string): PersistentVolumeClaim =>
  ({ metadata: { name: 'data' }, status: { phase } }) as unknown as PersistentVolumeClaim

/** A phrase of three or more words that occurs twice in a text. Undefined if there is none. Numbers are not words. */
export function repeatedPhrase(text: string): string | undefined {
  const seen = new Set<string>()
  for (const clause of text.toLowerCase().split(/[.:;,](?:\s|$)/)) {
    const words = clause.split(/\s+/)
    for (let i = 0; i + 3 <= words.length; i++) {
      const phrase = words.slice(i, i + 3).join(' ')
      if (!/^[a-z' -]+$/.test(phrase)) continue
      if (seen.has(phrase)) return phrase
      seen.add(phrase)
    }
  }
  return undefined
}

export const dataVolume = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }
